# SPDX-License-Identifier: Apache-2.0
"""Running wick and looking at what it says: shared by the tests of the command line."""

import contextlib
import re
import subprocess
import time
from pathlib import Path

from support import WICK, Skip, check

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
COMMANDS = ["record", "list", "doctor", "completion", "help"]


def wick(*args, wrapper=(), wick_path=WICK, **options):
    """Runs wick and waits for it; standard input is empty."""
    return subprocess.run([*wrapper, str(wick_path), *map(str, args)], text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=60,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


def told(done):
    return f"{' '.join(map(str, done.args))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"


def check_ends(done, code, *patterns):
    """It ended with that code, said all of the patterns on standard error, and did not crash."""
    check(done.returncode == code, f"exit code {code} expected:", told(done))
    check("Sanitizer" not in done.stderr, "it crashed:", told(done))
    for pattern in patterns:
        check(re.search(pattern, done.stderr), f"{pattern!r} expected in:", told(done))
    if code != 0:
        lines = done.stderr.splitlines()
        check(lines and lines[0].startswith("wick: "), "no sentence of wick's:", told(done))
        check(len(lines) <= 2 and all(line.startswith("  hint: ") for line in lines[1:]),
              "more than a sentence and a hint:", told(done))


@contextlib.contextmanager
def sleeper(*wrapper):
    """A process that is there and does nothing; its pid."""
    process = subprocess.Popen([*wrapper, "sleep", "1000"])
    try:
        # Until the wrapper has become it.
        end = time.monotonic() + 5
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n" and time.monotonic() < end:
            time.sleep(0.01)
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def busy(*command):
    """A process that computes; its pid."""
    process = subprocess.Popen(command or ["sh", "-c", "while :; do :; done"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def need_recording():
    """A case below records for a moment, as anybody who may."""
    if wick("doctor").returncode != 0:
        raise Skip("no engine works here")
