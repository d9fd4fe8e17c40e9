# SPDX-License-Identifier: Apache-2.0
"""The profilers that are compared: how each is started, how its picture is made, what it saw."""

import gzip
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

CHAIN = ["main", *(f"level_{number}" for number in range(1, 31))]


class Picture:
    """What came out of a recording."""

    def __init__(self, stacks, size):
        self.samples = sum(stacks.values())
        self.complete = sum(count for stack, count in stacks.items() if is_complete(stack))
        self.size = size  # bytes on disk for the whole recording


def is_complete(stack):
    """Whether all 31 functions are there, one called by the other."""
    names = [name.removesuffix("_[i]") for name in stack]
    if "main" not in names:
        return False
    start = names.index("main")
    return names[start:start + len(CHAIN)] == CHAIN


class Wick:
    build = "omit-frame-pointer"

    def __init__(self, wick, engine):
        self.name, self._wick, self._engine = f"wick, engine {engine}", wick, engine

    def missing(self):
        return None if Path(self._wick).exists() else f"{self._wick} is not built"

    def command(self, pid, rate, directory, round_number):
        # Folded the first time, to look into the stacks; after that the page that people look at.
        self._out = directory / ("out.folded" if round_number == 0 else "out.html")
        return [self._wick, "record", "--engine", self._engine, "-p", pid, "-F", rate, "-o", self._out,
                "--force"]

    def make_picture(self, directory):
        """It is there already."""

    def picture(self, directory, output):
        size = self._out.stat().st_size
        if self._out.suffix == ".folded":
            return Picture(read_folded(self._out.read_text()), size)
        found = re.search(r"samples +([0-9][0-9,]*)", output)
        picture = Picture({}, size)
        picture.samples = int(found[1].replace(",", "")) if found else 0
        picture.complete = None
        return picture


def read_folded(text):
    stacks = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";")[1:])] += int(count)
    return stacks


class Perf:
    def __init__(self, name, build, call_graph, script_options=()):
        self.name, self.build = name, build
        self._call_graph, self._script_options = call_graph, list(script_options)

    def missing(self):
        return None if shutil.which("perf") else "perf is not installed (Debian: linux-perf)"

    def command(self, pid, rate, directory, round_number):
        stacks = ["--call-graph", self._call_graph] if self._call_graph else []
        return ["perf", "record", "-q", "-N", "-F", rate, *stacks, "-p", pid, "-o", directory / "perf.data"]

    def make_picture(self, directory):
        """To folded stacks; drawing them would come on top."""
        script = ["perf", "script", "-i", str(directory / "perf.data"), *self._script_options]
        inferno = shutil.which("inferno-collapse-perf")
        with open(directory / "perf.folded", "wb") as out:
            reader = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if inferno:
                subprocess.run([inferno, "-q"], stdin=reader.stdout, stdout=out, check=True)
            else:
                out.write(collapse(reader.stdout).encode())
            reader.stdout.close()
            if reader.wait() != 0:
                raise RuntimeError("perf script failed")

    def picture(self, directory, output):
        size = (directory / "perf.data").stat().st_size
        return Picture(read_folded((directory / "perf.folded").read_text()), size)


def collapse(script):
    """The text of `perf script` as folded stacks."""
    stacks, process, frames = Counter(), "", []
    for line in script:
        if line[:1] not in b"\t\n":
            # Without stacks the frame stands behind the colon, and no empty line follows.
            process, rest = line.split()[0].decode(), line.rpartition(b": ")[2].strip()
            if rest:
                stacks[";".join([process, rest.split()[-2].partition(b"+0x")[0].decode()])] += 1
                process = ""
        elif line == b"\n":
            if process:
                stacks[";".join([process, *reversed(frames)])] += 1
            process, frames = "", []
        else:
            name = line.split(None, 1)[1].rpartition(b" (")[0]
            frames.append(name.partition(b"+0x")[0].decode(errors="replace"))
    return "".join(f"{stack} {count}\n" for stack, count in stacks.items())


# samply gives up where perf_event_paranoid is above 1 and there is no hardware counter, root or not.
# It gets a mount namespace in which the setting reads 1; what the kernel permits does not change.
UNAFRAID = ["unshare", "--mount", "sh", "-c",
            'echo 1 > "$1" && mount --bind "$1" /proc/sys/kernel/perf_event_paranoid && '
            'shift && exec "$@"', "sh"]


class Samply:
    name, build = "samply (names not looked up)", "omit-frame-pointer"

    def __init__(self, samply, programs):
        self._samply, self._programs = samply, programs

    def missing(self):
        return None if self._samply.exists() else "samply is not installed (cargo install samply)"

    def command(self, pid, rate, directory, round_number):
        wrapper = [*UNAFRAID, directory / "paranoid"] if os.geteuid() == 0 else []
        return [*wrapper, self._samply, "record", "-p", pid, "-r", rate, "--save-only", "--no-open",
                "-o", directory / "samply.json.gz"]

    def make_picture(self, directory):
        """Its picture is made when the file is opened in a browser."""

    def picture(self, directory, output):
        path = directory / "samply.json.gz"
        with gzip.open(path) as file:
            profile = json.load(file)
        functions = read_functions(self._programs[self.build])
        stacks = Counter()
        for thread in profile["threads"]:
            stacks += samply_stacks(profile, thread, self._programs[self.build].name, functions)
        return Picture(stacks, path.stat().st_size)


def read_functions(program):
    """[(start, end, name)] of a program's functions."""
    output = subprocess.run(["nm", "-S", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    fields = (line.split() for line in output.splitlines())
    return [(int(f[0], 16), int(f[0], 16) + int(f[1], 16), f[3]) for f in fields
            if len(f) == 4 and f[2] in "tT"]


def samply_stacks(profile, thread, program, functions):
    """A thread's stacks, with the names that its addresses have in our program."""
    frames, funcs, stacks = thread["frameTable"], thread["funcTable"], thread["stackTable"]
    resources = thread["resourceTable"]["lib"]

    def name(frame):
        resource = funcs["resource"][frames["func"][frame]]
        lib = resources[resource] if resource is not None and resource >= 0 else None
        if lib is None or profile["libs"][lib]["name"] != program:
            return "?"
        address = frames["address"][frame]
        return next((n for start, end, n in functions if start <= address < end), "?")

    names = [name(frame) for frame in range(frames["length"])]
    whole = []
    for prefix, frame in zip(stacks["prefix"], stacks["frame"]):
        whole.append((*(whole[prefix] if prefix is not None else ()), names[frame]))
    counts = Counter()
    weights = thread["samples"].get("weight") or [1] * thread["samples"]["length"]
    for stack, weight in zip(thread["samples"]["stack"], weights):
        counts[whole[stack] if stack is not None else ()] += weight
    return counts
