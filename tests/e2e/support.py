# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: test cases that print TAP, compiled targets, recordings.

    WICK=build/wick WICK_BUILD=build tests/e2e/stacks_test.py [PART OF A SENTENCE]...

Each test file is a program. Without arguments it runs all of its cases.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from folded import Folded

# Whoever started the tests may ignore these, and what we start would inherit that.
for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parents[2]
WICK = Path(os.environ.get("WICK") or ROOT / "build/wick").resolve()
BUILD = Path(os.environ.get("WICK_BUILD") or ROOT / "build").resolve()
SOURCES = ROOT / "tests/targets"
TARGETS = BUILD / "targets"
ENGINES = tuple((os.environ.get("WICK_ENGINES") or "bpf,perf").split(","))
BASE_FLAGS = ["-O2", "-fomit-frame-pointer", "-D_GNU_SOURCE"]


class Skip(Exception):
    """The case cannot be run here, and why."""


class Failure(Exception):
    """What was expected and what came instead."""


def check(condition, message, *details):
    if not condition:
        raise Failure("\n".join([message, *details]))


# ---- cases -------------------------------------------------------------------------------------

_cases = []


def case(sentence, engines=False):
    """Registers a function as a test. With `engines` it runs once for each and is told which."""

    def register(function):
        if not engines:
            _cases.append((sentence, function))
        for engine in ENGINES if engines else ():
            _cases.append((f"{sentence} (engine {engine})", lambda e=engine: _serve(function, e)))
        return function

    return register


def _serve(function, engine):
    need_engine(engine)
    return function(engine)


def selected(sentence):
    return len(sys.argv) < 2 or any(part in sentence for part in sys.argv[1:])


def run_cases():
    """Runs what was registered; prints TAP; the exit code says whether all of it passed."""
    cases = [(sentence, function) for sentence, function in _cases if selected(sentence)]
    failed = 0
    for number, (sentence, function) in enumerate(cases, 1):
        begin = time.monotonic()
        outcome, diagnostics = _run_case(function)
        failed += outcome.startswith("not ok")
        note = f" # SKIP {diagnostics}" if outcome == "skip" else ""
        print(f"{outcome.replace('skip', 'ok')} {number} - {sentence}{note}")
        if outcome != "skip":
            for line in filter(None, diagnostics.splitlines()):
                print(f"#   {line}")
            print(f"#   {time.monotonic() - begin:.1f} s")
        sys.stdout.flush()
    print(f"1..{len(cases)}")
    sys.exit(1 if failed else 0)


def _run_case(function):
    try:
        return "ok", function() or ""
    except Skip as reason:
        return "skip", str(reason)
    except Failure as failure:
        return "not ok", str(failure)
    except Exception:  # a broken test is a failed test; the others still run
        return "not ok", traceback.format_exc()


# ---- what a case needs -------------------------------------------------------------------------

def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


def need_engine(engine):
    if engine == "bpf":
        need_root()


def need_tool(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")


def need_processor(*names):
    if os.uname().machine not in names:
        raise Skip(f"written for {' and '.join(names)}")


# ---- targets -----------------------------------------------------------------------------------

def run(*command, **options):
    """Runs a command that must succeed; returns its output."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    check(done.returncode == 0, f"{command[0]} failed:", " ".join(map(str, command)), done.stdout)
    return done.stdout


def make(name, *inputs, command):
    """TARGETS/name, made by `command` (a function of the output's path) unless it is up to date."""
    TARGETS.mkdir(parents=True, exist_ok=True)
    result, stamp = TARGETS / name, TARGETS / f"{name}.made-by"
    with tempfile.TemporaryDirectory(dir=TARGETS) as scratch:
        made = Path(scratch) / name
        commands = command(made)
        digest = hashlib.sha256()
        for path in [*inputs, SOURCES / "target.h"]:
            digest.update(Path(path).read_bytes())
        text = "\n".join(" ".join(map(str, each)) for each in commands).replace(scratch, "")
        digest.update(text.encode())
        if not (result.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest()):
            for each in commands:
                run(*each, cwd=scratch)
            made.replace(result)
            stamp.write_text(digest.hexdigest())
    return result


def compile_c(name, source, *flags, after=()):
    """Builds tests/targets/`source` as build/targets/`name`; `after` are commands that change it,
    with OUT for the file."""
    compiler = os.environ.get("CXX", "g++") if source.endswith(".cpp") else os.environ.get("CC", "gcc")
    need_tool(compiler.split()[0])
    path = SOURCES / source

    def command(out):
        first = [*compiler.split(), *BASE_FLAGS, "-o", out, path, *flags]
        return [first, *[[out if part == "OUT" else part for part in each] for each in after]]

    return make(name, path, command=command)


def compile_library(name, source, *flags):
    return compile_c(name, source, "-shared", "-fPIC", *flags)


def compile_rust(name, source, *flags):
    need_tool("rustc")
    path = SOURCES / source
    return make(name, path, command=lambda out: [
        # To ask for the mangling that is not the default, some versions must believe to be unstable.
        ["env", "RUSTC_BOOTSTRAP=1", "rustc", "-O", "-C", "force-frame-pointers=no",
         "--edition", "2021", *flags, "-o", out, path]])


def compile_go(name, source):
    need_tool("go")
    path = SOURCES / source
    settings = ["env", "GO111MODULE=off", "GOFLAGS=", f"GOCACHE={TARGETS}/go-cache"]
    return make(name, path, command=lambda out: [[*settings, "go", "build", "-o", out, path]])


def symbols(path):
    """The functions of a file: {name: (address, size)}."""
    found = {}
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tT":
            found[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
    return found


class Target:
    """A running target. It has said that it is ready; it is killed when the `with` block ends. It is
    nice, so that many of them leave wick the time to keep up."""

    def __init__(self, *command, wrapper=(), expect_ready=True, **options):
        self.process = subprocess.Popen([*map(str, wrapper), *map(str, command)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=lambda: os.nice(5), **options)
        self.pid = self.process.pid
        if expect_ready:
            line = self.process.stdout.readline()
            check(line == "ready\n", f"{command[0]} did not start: {line!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in reversed([self.process.pid, *descendants(self.process.pid)]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        Path(f"/tmp/perf-{self.pid}.map").unlink(missing_ok=True)

    def go(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("g")
            self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)


def descendants(pid):
    """All of them, parents before their children."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def cpu_seconds(pid):
    """What the process and the children it waited for have used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def scratch_directory():
    """A directory that everybody may enter, gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="wick-e2e-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


# ---- recordings --------------------------------------------------------------------------------

class Recording:
    """`wick record` while it runs."""

    def __init__(self, *args, engine=None, seconds=None, hz=999, out=None, wrapper=(), wick=WICK,
                 **options):
        check(Path(wick).exists(), f"{wick} is not built")
        self._directory = None if out else tempfile.TemporaryDirectory(prefix="wick-e2e-")
        self.out = Path(out) if out else Path(self._directory.name) / "out.folded"
        command = [*wrapper, wick, "record", "-F", hz, "-o", self.out]
        command += ["--engine", engine] if engine else []
        command += ["-d", seconds] if seconds else []
        command += args
        self.command = " ".join(map(str, command))
        # Files, not pipes: a command that wick has started and that goes on would keep a pipe open.
        self._output, self._errors = (tempfile.TemporaryFile("w+", errors="replace") for _ in range(2))
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL,
            **{"stdout": self._output, "stderr": self._errors, **options})

    def wait_until_started(self, timeout=20, settle=0.3):
        """Until wick has its events open, and for a moment more."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and self.process.poll() is None:
            if self._records():
                time.sleep(settle)
                if self._records():
                    return self
            time.sleep(0.02)
        raise Failure(f"it did not begin to record: {self.command}\n{self.finish(timeout=1)}")

    def _records(self):
        # With a wrapper it may be a child that is wick.
        return any(map(is_recording, [self.process.pid, *descendants(self.process.pid)]))

    def signal(self, number):
        self.process.send_signal(number)
        return self

    def finish(self, timeout=60):
        try:
            self.process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"it did not end: {self.command}\n{self._said()}") from None
        result = Result(self, *self._said())
        if self._directory:
            self._directory.cleanup()
        return result

    def _said(self):
        """What it printed: standard output, standard error."""
        texts = []
        for file in (self._output, self._errors):
            file.seek(0)
            texts.append(file.read())
        return texts


class Result:
    """What a recording left behind."""

    def __init__(self, recording, output, errors):
        self.code = recording.process.returncode
        self.output, self.errors, self.command = output, errors, recording.command
        self.path = recording.out
        self.text = self.path.read_text(errors="replace") if self.path.exists() else None
        self._folded = None

    def __str__(self):
        return f"{self.command}\nexit code {self.code}\n{self.output}{self.errors}"

    @property
    def folded(self):
        if self._folded is None:
            check(self.code == 0, "the recording failed:", str(self))
            check(self.text is not None, "there is no file:", str(self))
            self._folded = Folded.parse(self.text)
        return self._folded

    @property
    def lost(self):
        """How many samples could not be kept up with, as the summary says."""
        found = self.said(r"\blost ([0-9,]+)")
        check(found, "the summary does not say how many samples were lost:", str(self))
        return int(found[1].replace(",", ""))

    def said(self, pattern):
        return re.search(pattern, self.output + self.errors, re.IGNORECASE | re.MULTILINE)


def is_recording(pid):
    """It has perf events; and if it uses BPF, programs are attached."""
    links = set()
    with contextlib.suppress(OSError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                links.add(os.readlink(fd).removeprefix("anon_inode:"))
    return "[perf_event]" in links and ("bpf-map" not in links or "bpf_link" in links)


def record(*args, during=None, **options):
    """A whole recording; `during` is called once it has begun."""
    if options.get("engine"):
        need_engine(options["engine"])
    recording = Recording(*args, **options)
    if during:
        recording.wait_until_started()
        during()
    return recording.finish()


def record_cpu(targets, seconds, *args, limit=40, during=None, **options):
    """A recording that goes on until each of the targets has used so many seconds of CPU time: on a
    busy machine that takes longer. Returns its result and {target's pid: CPU seconds meanwhile}."""
    need_engine(options["engine"])
    pids = [target.pid for target in targets]
    recording = Recording("-p", ",".join(map(str, pids)), *args, **options).wait_until_started()
    if during:
        during()
    before, end = {pid: cpu_seconds(pid) for pid in pids}, time.monotonic() + limit
    while time.monotonic() < end and recording.process.poll() is None:
        used = {pid: cpu_seconds(pid) - before[pid] for pid in pids}
        if min(used.values()) >= seconds:
            break
        time.sleep(0.1)
    return recording.signal(signal.SIGINT).finish(), used


# ---- what is expected of stacks ----------------------------------------------------------------

def percent(share):
    return f"{100 * share:.2f} %"


def check_chain(folded, *chain, at_least=0.99, samples=20, contiguous=True):
    """Almost all samples that have the chain's last frame have the whole chain."""
    leaf = folded.having(chain[-1])
    check(leaf.total >= samples, f"{leaf.total} samples have {chain[-1]}, expected {samples} or more; "
          f"{folded.total} in all, most often:", *folded.most_common())
    share = leaf.share(*chain, contiguous=contiguous)
    check(share >= at_least, f"{percent(share)} of {leaf.total} samples in {chain[-1]} have the chain "
          f"{' → '.join(map(str, chain))}; the others, most often:",
          *leaf.without(*chain, contiguous=contiguous).most_common())
    return f"chain in {percent(share)} of {leaf.total} samples"


def check_rooted(folded, at_least=0.99):
    """Almost all samples reach the root of their stack."""
    share = 1 - folded.truncated().total / max(folded.total, 1)
    check(share >= at_least, f"{percent(1 - share)} of {folded.total} samples are cut off, most often:",
          *folded.truncated().most_common())
