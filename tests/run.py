#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test there is and counts. Each suite is a program that prints TAP:

    build/asan unit-* and fuzz-*   unit tests and fuzz corpora, with sanitizers
    tests/lint/*.py                rules about the source
    tests/e2e/*_test.py            the finished binary on real programs; one at a time: they measure
    tests/browser/*_test.mjs       the page in a real browser; one at a time

A crash, a timeout, a missing or wrong plan counts as a failure. Nothing found counts as a failure.
The last line is: N passed, N failed, N skipped
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLAYWRIGHT = "playwright-core@1.49.1"
EXIT_SKIPPED = 77

TEST_LINE = re.compile(r"(not )?ok\b(?: +\d+)?(?: *-)? *([^#]*)(?:# *(.*))?")
PLAN_LINE = re.compile(r"1\.\.(\d+)(?: *# *(.*))?")
SKIP_NOTE = re.compile(r"skip\S*:?\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Suite:
    name: str
    command: tuple
    timeout: float
    alone: bool = False  # nothing else may run meanwhile
    missing: str = ""  # why it cannot run here


@dataclass
class Result:
    passed: int = 0
    failed: list = field(default_factory=list)  # names or sentences
    skipped: list = field(default_factory=list)  # (name, reason)
    output: str = ""
    seconds: float = 0.0


def skip_reason(note):
    """The reason of a "# SKIP reason" note; None if the note is something else."""
    match = SKIP_NOTE.fullmatch(note or "")
    return (match.group(1) or "no reason given") if match else None


def read_tap(output, status):
    """What a suite's output says; status is its exit status (negative: the signal it died of)."""
    result = Result(output=output)
    plan, count = None, 0
    for line in output.splitlines():
        if match := PLAN_LINE.fullmatch(line.rstrip()):
            if plan is not None:
                result.failed.append("two plans")
            plan = int(match.group(1))
            reason = skip_reason(match.group(2))
            if plan == 0 and reason:
                result.skipped.append(("all of it", reason))
        elif match := TEST_LINE.fullmatch(line.rstrip()):
            count += 1
            name, reason = match.group(2).strip(), skip_reason(match.group(3))
            if match.group(1):
                result.failed.append(name)
            elif reason:
                result.skipped.append((name, reason))
            else:
                result.passed += 1
        elif line.startswith("Bail out!"):
            result.failed.append(line)
    if status == EXIT_SKIPPED and plan is None and count == 0:
        lines = output.strip().splitlines() or ["no reason given"]
        result.skipped.append(("all of it", lines[-1].lstrip("# ")))
        return result
    if status < 0:
        result.failed.append(f"died of {signal.Signals(-status).name}")
    elif status != 0 and not result.failed:
        result.failed.append(f"exited with status {status} although no test failed")
    if plan is None:
        result.failed.append("no plan: it did not reach its end")
    elif plan != count:
        result.failed.append(f"planned {plan} tests and ran {count}")
    elif plan == 0 and not result.skipped:
        result.failed.append("has no tests")
    return result


class Runner:
    def __init__(self, build, out=sys.stdout):
        self.build, self.out = build, out
        self.logs = build / "test-logs"
        self.running, self.lock = set(), threading.Lock()
        self.env = dict(os.environ, WICK=str(build / "wick"), WICK_BUILD=str(build),
                        PYTHONDONTWRITEBYTECODE="1",
                        ASAN_OPTIONS="detect_stack_use_after_return=1",
                        UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
        self.env["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"

    def run(self, suite):
        if suite.missing:
            return Result(skipped=[("all of it", suite.missing)])
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.logs / f"{suite.name}.log"
        start = time.monotonic()
        # A file, not a pipe: a process left behind by a test cannot keep us waiting.
        with open(log, "wb") as out:
            child = subprocess.Popen(suite.command, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, cwd=ROOT, env=self.env,
                                     start_new_session=True)
        with self.lock:
            self.running.add(child)
        try:
            status = child.wait(suite.timeout)
        except subprocess.TimeoutExpired:
            status = None
        self.end(child)
        output = log.read_text(errors="replace")
        result = read_tap(output, 0 if status is None else status)
        if status is None:
            result.failed.append(f"did not end within {suite.timeout:g} s")
        result.seconds = time.monotonic() - start
        return result

    def end(self, child):
        """Ends the suite and everything it left running."""
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        child.wait()
        with self.lock:
            self.running.discard(child)

    def end_all(self):
        for child in list(self.running):
            self.end(child)

    def report(self, suite, result):
        counts = f"{result.passed} passed"
        if result.failed:
            counts += f", {len(result.failed)} failed"
        if result.skipped:
            counts += f", {len(result.skipped)} skipped"
        word = "FAIL" if result.failed else "skip" if not result.passed else "ok"
        print(f"{word:5}{suite.name:26} {result.seconds:6.1f} s  {counts}", file=self.out)
        if result.failed:
            for line in result.output.splitlines():
                print(f"     | {line}", file=self.out)
            for name in result.failed:
                print(f"     failed: {name}", file=self.out)
        self.out.flush()

    def run_all(self, suites):
        """Runs the suites; returns [(suite, result)]."""
        done = []

        def one(suite):
            result = self.run(suite)
            with self.lock:
                self.report(suite, result)
                done.append((suite, result))

        try:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(one, [s for s in suites if not s.alone]))
            for suite in suites:
                if suite.alone:
                    one(suite)
        finally:
            self.end_all()
        return done


def summarize(done, out=sys.stdout):
    """Prints what was skipped and the count; returns the exit code."""
    passed = sum(r.passed for _, r in done)
    failed = sum(len(r.failed) for _, r in done)
    skipped = [(s.name, name, reason) for s, r in done for name, reason in r.skipped]
    for suite, name, reason in sorted(skipped):
        print(f"skipped: {suite}: {name}: {reason}", file=out)
    for suite, result in done:
        if result.failed:
            more = f" and {len(result.failed) - 3} more" if len(result.failed) > 3 else ""
            print(f"failed: {suite.name}: {'; '.join(result.failed[:3])}{more}", file=out)
    if passed + failed == 0:
        print("nothing was tested", file=out)
        failed = 1
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped", file=out)
    return 1 if failed else 0


def built_programs(build):
    """Unit tests and fuzz programs that the sanitized build knows of (not left-overs of it)."""
    targets = build / "asan" / "meson-info" / "intro-targets.json"
    if not targets.exists():
        sys.exit("there is no sanitized build in build/asan: run `make check`")
    for target in sorted(json.loads(targets.read_text()), key=lambda t: t["name"]):
        name, program = target["name"], target["filename"][0]
        if name.startswith("unit-"):
            yield Suite(name, (program,), 120)
        elif name.startswith("fuzz-"):
            corpus = ROOT / "tests/fuzz/corpus" / name.removeprefix("fuzz-")
            yield Suite(name, (program, str(corpus)), 120)


def prepare_browser(build):
    """Fetches playwright-core, once. Tests that need it and do not find it skip themselves."""
    home = build / "browser"
    if (home / "node_modules/playwright-core/package.json").exists():
        return
    if not shutil.which("npm"):
        print(f"{PLAYWRIGHT} cannot be fetched: npm is not installed", flush=True)
        return
    print(f"fetching {PLAYWRIGHT} into {home.relative_to(ROOT)}", flush=True)
    home.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["npm", "install", "--prefix", str(home), "--no-audit", "--no-fund",
                               "--ignore-scripts", "--loglevel=error", PLAYWRIGHT],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
        reason = "" if done.returncode == 0 else (done.stderr.strip() or "no message").splitlines()[0]
    except subprocess.TimeoutExpired:
        reason = "npm did not answer within 180 s"
    if reason:
        print(f"{PLAYWRIGHT} cannot be fetched: {reason}", flush=True)


def find_suites(build):
    yield from built_programs(build)
    for script in sorted(ROOT.glob("tests/lint/[!_]*.py")):
        yield Suite(f"lint-{script.stem}", (sys.executable, str(script)), 180)
    for script in sorted(ROOT.glob("tests/e2e/*_test.py")):
        name = f"e2e-{script.stem.removesuffix('_test')}"
        yield Suite(name, (sys.executable, str(script)), 600, alone=True)
    for script in sorted(ROOT.glob("tests/browser/*_test.mjs")):
        name = f"browser-{script.stem.removesuffix('_test')}"
        missing = "" if shutil.which("node") else "node is not installed"
        yield Suite(name, ("node", str(script)), 180, alone=True, missing=missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", action="append",
                        help="suites whose name contains or matches this; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the suites, run nothing")
    args = parser.parse_args()
    build = ROOT / "build"
    suites = list(find_suites(build))
    if args.only:
        suites = [s for s in suites
                  if any(p in s.name or fnmatch.fnmatch(s.name, p) for p in args.only)]
    if args.list:
        print("\n".join(s.name for s in suites))
        return 0
    if any(s.name.startswith("browser-") and not s.missing for s in suites):
        prepare_browser(build)
    return summarize(Runner(build).run_all(suites))


if __name__ == "__main__":
    sys.exit(main())
