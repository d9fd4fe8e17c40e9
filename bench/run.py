#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures wick against its peers on one program, in one run, and prints one table for each rate.

The program computes 30 calls below main and watches the clock: where it jumps, something else had
the CPU. It runs alone for a while, then with the profiler, then alone again; milliseconds in which
another task took its CPU are left out. So

    slowdown    the part of the program's time that is gone with the profiler and was not without
                it: all that happens in the program's own time, in the kernel too
    in target   the same for each sample
    profiler    CPU time of the profiler's own process for each sample, while it records
    memory      the most the profiler's process held (VmHWM); + what its BPF maps hold in the kernel
    no stacks   what the sampling interrupt alone costs on this machine: nobody can do with less
    picture     from the end of the recording to the flame graph (perf: to folded stacks)
    complete    samples with the whole chain from main to the leaf

Numbers are medians of the rounds, with the least and the greatest in brackets.
"""

import argparse
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from profilers import Perf, Samply, Wick

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("WICK_BUILD") or ROOT / "build").resolve()
WICK = Path(os.environ.get("WICK") or BUILD / "wick").resolve()
PEERS = BUILD / "peers"
WARM_UP = 1.0  # seconds that a profiler has to read symbols and what else it does once
BUILDS = {"omit-frame-pointer": "depth30", "no-omit-frame-pointer": "depth30-fp"}


@dataclass
class Outcome:
    """One recording of one round."""
    slowdown: float
    target_us: float  # for each sample
    profiler_us: float
    total_cpu: float  # seconds, of the profiler's process from its start to its end
    memory: float  # MB
    kernel_memory: float
    sample_bytes: float
    picture: float  # seconds
    complete: float  # share, or None if the picture was not looked into
    samples: int


# ---- set-up ------------------------------------------------------------------------------------

def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def prepare_peers():
    """Installs what can be installed; what is missing then is left out of the table."""
    if not shutil.which("perf") and shutil.which("apt-get") and os.geteuid() == 0:
        say("installing linux-perf")
        subprocess.run(["apt-get", "-y", "-q", "install", "--no-install-recommends", "linux-perf"],
                       stdout=subprocess.DEVNULL, check=False)
    samply = PEERS / "bin/samply"
    if not samply.exists() and shutil.which("cargo"):
        say("building samply (some minutes, once)")
        PEERS.mkdir(parents=True, exist_ok=True)
        with open(PEERS / "samply.log", "wb") as log:
            subprocess.run(["cargo", "install", "--locked", "--root", PEERS, "samply"], stdout=log,
                           stderr=log, check=False)
    return samply


def build_programs():
    """{frame pointer option: program}"""
    directory = BUILD / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    programs = {}
    for option, name in BUILDS.items():
        programs[option] = directory / name
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", f"-f{option}", "-o", programs[option],
                        ROOT / "bench/depth30.c"], check=True)
    return programs


def profilers(samply, programs):
    return [
        Wick(WICK, "bpf"),
        Wick(WICK, "perf"),
        Perf("perf record, no stacks at all", "omit-frame-pointer", None),
        Perf("perf record -g, program with frame pointers", "no-omit-frame-pointer", "fp"),
        Perf("perf record -g", "omit-frame-pointer", "fp"),
        Perf("perf record --call-graph dwarf", "omit-frame-pointer", "dwarf", ["--no-inline"]),
        Samply(samply, programs),
    ]


# ---- one measurement ---------------------------------------------------------------------------

def descriptors(pid):
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            yield path.name, os.readlink(path)


def wait_until_recording(process):
    """Until the profiler has events open."""
    for _ in range(1000):
        if process.poll() is not None:
            raise RuntimeError(f"it ended with exit code {process.returncode}")
        with contextlib.suppress(OSError):
            links = {link.removeprefix("anon_inode:") for _, link in descriptors(process.pid)}
            if "[perf_event]" in links and ("bpf-map" not in links or "bpf_link" in links):
                return
        time.sleep(0.01)
    raise RuntimeError("it did not begin to record")


def cpu_ns(pid):
    """CPU time of all threads that a process has now."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in Path(f"/proc/{pid}/task").iterdir())


def map_megabytes(pid):
    """What a process's BPF maps hold in the kernel."""
    total = 0
    for fd, link in descriptors(pid):
        if link == "anon_inode:bpf-map":
            for line in Path(f"/proc/{pid}/fdinfo/{fd}").read_text().splitlines():
                if line.startswith("memlock:"):
                    total += int(line.split()[1])
    return total / 1e6


def taken(windows, begin, end, rate):
    """How much of the time for one sample is typically taken from the program: nanoseconds. The median,
    for the machine itself takes more now and then; of spans in which no other task had the CPU."""
    count = max(1, round(1000 / rate))  # windows of a millisecond
    spans = [windows[i:i + count] for i in range(0, len(windows) - count + 1, count)]
    calm = [sum(w[2] for w in span) for span in spans
            if begin <= span[0][0] and span[-1][0] + span[-1][1] <= end and all(w[4] == 0 for w in span)]
    if len(calm) < 30:
        raise RuntimeError("the machine is too busy to measure on")
    return statistics.median(calm)


class Program:
    """The running program; its windows can be had once it has ended."""

    def __init__(self, path, directory):
        self._file = directory / "windows"
        self._process = subprocess.Popen([path, self._file], stdout=subprocess.PIPE)
        self._process.stdout.readline()
        self.pid = self._process.pid

    def windows(self):
        self._process.terminate()
        self._process.wait()
        return [tuple(map(int, line.split())) for line in self._file.read_text().splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def measure(profiler, programs, rate, seconds, round_number, directory):
    """One recording, with time for the program alone before and after it."""
    pause = max(1.0, seconds / 3)
    with Program(programs[profiler.build], directory) as program, \
            open(directory / "output", "wb+") as output:
        first = time.monotonic_ns()
        time.sleep(pause)
        start = time.monotonic_ns()
        command = list(map(str, profiler.command(program.pid, rate, directory, round_number)))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            wait_until_recording(process)
            opened = time.monotonic_ns()
            time.sleep(WARM_UP)
            steady, cpu_before = time.monotonic_ns(), cpu_ns(process.pid)
            time.sleep(seconds)
            stopped, cpu = time.monotonic_ns(), cpu_ns(process.pid) - cpu_before
            kernel_memory = map_megabytes(process.pid)
            process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            profiler.make_picture(directory)
        except BaseException:
            process.kill()
            process.wait()
            raise
        done = time.monotonic_ns()
        time.sleep(pause)
        last = time.monotonic_ns()
        windows = program.windows()
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode not in (0, -signal.SIGINT):
        raise RuntimeError(f"exit code {process.returncode}: {text.strip()[-300:]}")
    picture = profiler.picture(directory, text)
    alone = (taken(windows, first, start, rate) + taken(windows, done, last, rate)) / 2
    loss = (taken(windows, steady, stopped, rate) - alone) / 1e9 * rate
    a_second = picture.samples / ((stopped - opened) / 1e9) or 1
    return Outcome(
        slowdown=loss, target_us=loss * 1e6 / rate,
        profiler_us=cpu / 1e3 / (a_second * (stopped - steady) / 1e9),
        total_cpu=usage.ru_utime + usage.ru_stime, memory=usage.ru_maxrss / 1e3,
        kernel_memory=kernel_memory, sample_bytes=picture.size / (picture.samples or 1),
        picture=(done - stopped) / 1e9, samples=picture.samples,
        complete=None if picture.complete is None else picture.complete / (picture.samples or 1))


# ---- the tables --------------------------------------------------------------------------------

def spread(values, text):
    """Median, and from where to where."""
    middle = text.format(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} [{text.format(min(values))} … {text.format(max(values))}]"


COLUMNS = [
    ("slowdown %", lambda o: 100 * o.slowdown, "{:.2f}"),
    ("in target µs/sample", lambda o: o.target_us, "{:.1f}"),
    ("profiler µs/sample", lambda o: o.profiler_us, "{:.1f}"),
    ("CPU µs/sample", lambda o: o.target_us + o.profiler_us, "{:.1f}"),
    ("profiler CPU s, all", lambda o: o.total_cpu, "{:.2f}"),
    ("memory MB", lambda o: o.memory, "{:.0f}"),
    ("+ BPF maps MB", lambda o: o.kernel_memory, "{:.0f}"),
    ("bytes/sample", lambda o: o.sample_bytes, "{:.0f}"),
    ("picture s", lambda o: o.picture, "{:.2f}"),
    ("complete %", lambda o: None if o.complete is None else 100 * o.complete, "{:.1f}"),
    ("samples", lambda o: o.samples, "{:.0f}"),
]


def row(name, outcomes):
    cells = [name]
    for _, value, text in COLUMNS:
        values = [v for v in map(value, outcomes) if v is not None]
        cells.append(spread(values, text) if values else "–")
    return cells


def markdown(rows):
    header = ["", *(name for name, _, _ in COLUMNS)]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def table(rate, results, seconds):
    rows = [row(name, outcomes) for name, outcomes in results.items() if outcomes]
    return f"### {rate} Hz, {seconds:g} s\n\n{markdown(rows)}\n"


def verdict(results_by_rate, long_results):
    """The goals beside what was measured."""
    name, lines = "wick, engine bpf", []
    fast = results_by_rate.get(999, {}).get(name)
    if fast:
        cost = statistics.median(o.target_us + o.profiler_us for o in fast)
        loss = 100 * statistics.median(o.slowdown for o in fast)
        bare = [100 * o.slowdown for o in results_by_rate[999].get("perf record, no stacks at all", [])]
        floor = f", {statistics.median(bare):.2f} % without stacks" if bare else ""
        memory = max(o.memory + o.kernel_memory for o in fast)
        lines += [("CPU per sample at depth 30", f"{cost:.1f} µs", "≤ 25 µs", cost <= 25),
                  ("slowdown at 999 Hz", f"{loss:.2f} %{floor}", "≤ 1 %", loss <= 1),
                  ("memory, BPF maps included", f"{memory:.0f} MB", "≤ 80 MB", memory <= 80)]
    long = long_results.get(name)
    if long:
        wait = statistics.median(o.picture for o in long)
        lines.append(("picture after 60 s at 999 Hz", f"{wait:.2f} s", "≤ 0.5 s", wait <= 0.5))
    rows = ["| goal for engine bpf | measured | wanted | |", "| --- | --- | --- | --- |"]
    rows += [f"| {what} | {measured} | {wanted} | {'reached' if good else 'missed'} |"
             for what, measured, wanted, good in lines]
    return "\n".join(rows)


def run_round(chosen, programs, rate, seconds, round_number, results):
    for profiler in chosen:
        with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
            try:
                outcome = measure(profiler, programs, rate, seconds, round_number, Path(directory))
                results.setdefault(profiler.name, []).append(outcome)
                say(f"{rate} Hz, round {round_number + 1}, {profiler.name}: "
                    f"slowdown {100 * outcome.slowdown:.2f} %, {outcome.samples} samples")
            except (RuntimeError, OSError, ValueError) as error:
                say(f"{rate} Hz, round {round_number + 1}, {profiler.name}: left out: {error}")


def choose(only):
    """The profilers that can be measured; and the programs they are measured on."""
    programs = build_programs()
    chosen = []
    for profiler in profilers(prepare_peers(), programs):
        reason = profiler.missing()
        if reason:
            say(f"{profiler.name} is left out: {reason}")
        elif only in profiler.name:
            chosen.append(profiler)
    return chosen, programs


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="recordings in each row")
    parser.add_argument("--seconds", type=float, default=3, help="of each recording")
    parser.add_argument("--rates", default="99,999", help="in Hz")
    parser.add_argument("--only", default="", metavar="NAME", help="profilers whose name has this in it")
    parser.add_argument("--long", action="store_true", help="60 s at 999 Hz as well, once")
    return parser.parse_args()


def main():
    options = arguments()
    chosen, programs = choose(options.only)
    by_rate, long_results = {}, {}
    for round_number in range(options.rounds):
        for rate in map(int, options.rates.split(",")):
            results = by_rate.setdefault(rate, {})
            run_round(chosen, programs, rate, options.seconds, round_number, results)
    if options.long:
        # Round 1: wick writes the page, for that is its picture.
        patient = [p for p in chosen if p.name.startswith("wick") or "-g" in p.name]
        run_round(patient, programs, 999, 60, 1, long_results)
    parts = [f"Program: 30 calls deep, one thread. {os.uname().sysname} {os.uname().release}, "
             f"{os.cpu_count()} CPUs, {options.rounds} rounds.\n"]
    parts += [table(rate, results, options.seconds) for rate, results in by_rate.items()]
    parts += [table(999, long_results, 60)] if long_results else []
    parts.append(verdict(by_rate, long_results))
    report = "\n".join(parts) + "\n"
    (BUILD / "bench.md").write_text(report)
    print(report)
    say(f"written to {BUILD / 'bench.md'}")


if __name__ == "__main__":
    main()
