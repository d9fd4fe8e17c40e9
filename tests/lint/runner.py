#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/run.py itself: what it must count as failed, and what not."""
import io
import sys
import tempfile
import time
from pathlib import Path

from _support import ROOT, Tap

sys.path.insert(0, str(ROOT / "tests"))
import run  # noqa: E402

# shell text → (passed, failed, skipped)
CASES = {
    "a good suite": ("echo 1..2; echo ok 1 - a; echo ok 2 - b", (2, 0, 0)),
    "the plan may come last": ("echo ok 1 - a; echo 1..1", (1, 0, 0)),
    "a failed test": ("echo ok 1; echo not ok 2 - b; echo 1..2; exit 1", (1, 1, 0)),
    "a failed test in a program that exits with 0": ("echo not ok 1 - b; echo 1..1", (0, 1, 0)),
    "a skipped test": ("echo 'ok 1 - a # SKIP no root'; echo 1..1", (0, 0, 1)),
    "a skipped suite": ("echo '1..0 # SKIP no root'", (0, 0, 1)),
    "exit status 77": ("echo needs root; exit 77", (0, 0, 1)),
    "77 after a test is a failure": ("echo ok 1; echo 1..1; exit 77", (1, 1, 0)),
    "no output": ("true", (0, 1, 0)),
    "no plan": ("echo ok 1 - a", (1, 1, 0)),
    "too few tests": ("echo 1..3; echo ok 1 - a", (1, 1, 0)),
    "too many tests": ("echo 1..1; echo ok 1; echo ok 2", (2, 1, 0)),
    "a plan of nothing": ("echo 1..0", (0, 1, 0)),
    "a crash": ("echo ok 1 - a; echo 1..1; kill -SEGV $$", (1, 1, 0)),
    "a non-zero exit": ("echo ok 1 - a; echo 1..1; exit 3", (1, 1, 0)),
    "a hang": ("echo ok 1 - a; echo 1..1; sleep 60", (1, 1, 0)),
    "a process left behind": ("echo ok 1 - a; echo 1..1; sleep 60 &", (1, 0, 0)),
    "a bail out": ("echo 'Bail out! no disk'; echo 1..0 ; exit 1", (0, 2, 0)),
    "bytes that are not text": (r"printf '\377\n'; echo ok 1 - a; echo 1..1", (1, 0, 0)),
}


def try_case(runner, script, expected):
    suite = run.Suite("case", ("sh", "-c", script), 1.0)
    result = runner.run(suite)
    got = (result.passed, len(result.failed), len(result.skipped))
    return [] if got == expected else [f"expected {expected}, got {got}: {result}"]


def last_line(done):
    out = io.StringIO()
    code = run.summarize(done, out)
    return code, out.getvalue().splitlines()[-1]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="wick-runner-") as build:
        runner = run.Runner(Path(build), out=io.StringIO())
        for name, (script, expected) in CASES.items():
            start = time.monotonic()
            complaints = try_case(runner, script, expected)
            if time.monotonic() - start > 10:
                complaints.append("took over 10 s")
            tap.check(name, complaints)
        suite = run.Suite("s", ("true",), 1.0)
        done = runner.run_all([run.Suite("one", ("sh", "-c", "echo not ok 1 - b; echo 1..1"), 9)])
        tap.check("the output of a failed suite is shown",
                  [] if "| not ok 1 - b" in runner.out.getvalue() else [runner.out.getvalue()])
    for name, results, expected in [
            ("failures decide the exit code", done, (1, "0 passed, 1 failed, 0 skipped")),
            ("success", [(suite, run.Result(passed=3))], (0, "3 passed, 0 failed, 0 skipped")),
            ("nothing ran", [], (1, "0 passed, 1 failed, 0 skipped")),
            ("all was skipped", [(suite, run.Result(skipped=[("a", "b")]))],
             (1, "0 passed, 1 failed, 1 skipped"))]:
        got = last_line(results)
        tap.check(f"the last line: {name}", [] if got == expected else [str(got)])
    tap.done()


if __name__ == "__main__":
    main()
