#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What wick shows on a terminal; and its commands list and doctor."""

import contextlib
import ctypes
import errno
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import time
from pathlib import Path

from command import AS_NOBODY, busy, check_ends, need_recording, sleeper, told, wick
from support import WICK, Skip, case, check, need_processor, need_root, need_tool, run_cases, scratch_directory


# ---- terminals ---------------------------------------------------------------------------------

def on_terminal(*args, columns=80, environment=None, keys=None, timeout=30, cwd="."):
    """Runs wick on a terminal of its own; (exit status, all that was shown)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(WICK, [str(WICK), *map(str, args)],
                  {"TERM": "xterm", "PATH": os.environ["PATH"], **(environment or {})})
    shown, end = b"", time.monotonic() + timeout
    with os.fdopen(fd, "rb+", buffering=0) as terminal:
        while time.monotonic() < end:
            if keys and re.search(keys[0], shown.decode(errors="replace")):
                terminal.write(keys[1])
                keys = None
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                data = terminal.read(65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data
        else:
            os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(errors="replace")


@case("help is as wide as the terminal")
def terminal_width():
    lengths = {}
    for columns in (80, 140):
        code, shown = on_terminal("record", "--help", columns=columns)
        plain = re.sub(r"\x1b\[\d*m", "", shown)
        lengths[columns] = max(len(line.rstrip()) for line in plain.splitlines())
        check(code == 0 and lengths[columns] <= columns, f"{lengths[columns]} columns of {columns}:", plain)
    check(lengths[140] > 110, f"only {lengths[140]} columns of 140 are used")


@case("colour only on a terminal, and not with NO_COLOR")
def colour():
    check("\x1b" in on_terminal("recrod")[1], "no colour on a terminal")
    check("\x1b" not in on_terminal("recrod", environment={"NO_COLOR": "1"})[1], "coloured despite NO_COLOR")
    check("\x1b" not in on_terminal("recrod", environment={"TERM": "dumb"})[1], "coloured on a dumb terminal")
    for args in [("recrod",), ("help", "record"), ("doctor",)]:
        done = wick(*args)
        check("\x1b" not in done.stdout + done.stderr, "coloured in a pipe:", repr(told(done)))


@case("a progress line on a terminal, and none when piped")
def progress_line():
    need_recording()
    with scratch_directory() as directory, sleeper() as pid:
        out = directory / "a.folded"
        code, shown = on_terminal("record", "-p", pid, "-d", 60, "-o", out,
                                  keys=(rf"recording pid {pid} \(sleep\)  [\d.]+ s of 1 m 00 s  0 samples  0 lost", b"\x03"))
        check(code == 0, f"exit code {code}:", shown)
        check("\r" in shown and "recording pid" not in shown.rpartition("\r ")[2].split("no samples")[1],
              "the line is not cleared:", repr(shown))
        check(out.exists(), "Ctrl-C lost the recording:", shown)
        done = wick("record", "-p", pid, "-d", "0.5", "-o", directory / "b.folded")
        check(not done.stderr and "\r" not in done.stdout, "not silent in a pipe:", repr(told(done)))
        code, shown = on_terminal("record", "-q", "-p", pid, "-d", "0.5", "-o", directory / "c.folded")
        check(code == 0 and shown.strip() == str(directory / "c.folded"), "not quiet:", repr(shown))


def shown_lines(shown):
    """What stood on each line of the terminal, without colours."""
    return [line.rpartition("\r")[2] for line in re.sub(r"\x1b\[\d*m", "", shown).replace("\r\n", "\n").split("\n")]


@case("a terminal of 40 columns: no line of a recording or of the list is wider")
def narrow_terminal():
    need_recording()
    script = "while :; do :; done; # " + "a/long/path/" * 10 + "script.sh"
    with scratch_directory() as directory, busy("sh", "-c", script) as pid:
        _, shown = on_terminal("record", "-F", "999", "-p", pid, "-d", "1", "-o", "a.html", columns=40, cwd=directory)
        check(re.search(r"\r[\d.]+/1 s  [\d,]+ samples  0 lost +\r", shown), "no short progress line:", repr(shown))
        check(re.search(r"   self    total  function\r$", shown, re.M), "no narrow table:", shown)
        _, listed = on_terminal("list", columns=40)
        check(re.search(rf"^ *{pid} +[\d.]+ .*….*script\.sh\r$", listed, re.M), "the script does not show:", listed)
        for text in (shown, listed):
            wide = [part for line in shown_lines(text) for part in line.split("\r") if len(part) > 40]
            check(not wide, "wider than the terminal:", *wide)


@case("Ctrl-C goes to the program too, which has the terminal to itself")
def interrupted_program():
    need_recording()
    with scratch_directory() as directory:
        out = directory / "a.folded"
        code, shown = on_terminal("record", "-o", out, "--", "sh", "-c", "echo started $$; exec sleep 100",
                                  keys=(r"started \d+\r\n", b"\x03"))
        check(code == 0 and out.exists(), f"exit code {code}:", shown)
        check("recording" not in shown, "a progress line on the program's terminal:", repr(shown))
        program = Path(f"/proc/{re.search(r'started (.*)', shown)[1].strip()}/comm")
        end = time.monotonic() + 5
        with contextlib.suppress(FileNotFoundError):
            while program.read_text() == "sleep\n":
                check(time.monotonic() < end, "the program did not get the Ctrl-C:", shown)
                time.sleep(0.05)


# ---- list and doctor ---------------------------------------------------------------------------

@case("list shows what runs, busiest first, and hides the kernel's threads")
def list_processes():
    with busy() as busy_pid:
        with sleeper() as pid:
            done = wick("list")
            check_ends(done, 0)
            rows = {int(line.split()[0]): line for line in done.stdout.splitlines() if line.split()[:1] and
                    line.split()[0].isdigit()}
            check(pid in rows and rows[pid].endswith("sleep 1000"), done.stdout)
            order = list(rows)
            check(order.index(busy_pid) < order.index(pid), "the busy one is below the idle one:", done.stdout)
            check(float(rows[busy_pid].split()[2]) > 10, rows[busy_pid])
            check(2 not in rows or Path("/proc/2/maps").read_text(), "a kernel thread is listed")
            named = wick("list", "--name", "^sleep 1000$")
            check(named.returncode == 0 and re.search(rf"^ *{pid} ", named.stdout, re.M), told(named))


@case("list -k shows the kernel's threads")
def list_kernel():
    if Path("/proc/2/comm").read_text() != "kthreadd\n":
        raise Skip("no kernel threads are visible here")
    check(re.search(r"^ +2 root .* kernel .*\[kthreadd\]$", wick("list", "-k").stdout, re.M), "no kthreadd")
    check("kthreadd" not in wick("list").stdout, "kthreadd is listed")


@case("list marks what this user may not profile")
def list_forbidden():
    need_root()
    need_tool("setpriv")
    with scratch_directory() as directory, sleeper() as others, sleeper(*AS_NOBODY) as own:
        program = Path(shutil.copy(WICK, directory))
        done = wick("list", wrapper=AS_NOBODY, wick_path=program)
        check_ends(done, 0)
        check(re.search(rf"^ *{others} root .* no \* ", done.stdout, re.M), told(done))
        check(re.search(r"^\* may not be profiled", done.stdout, re.M), told(done))
        if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) <= 2:
            check(re.search(rf"^ *{own} nobody .* cpu +sleep", done.stdout, re.M), told(done))


def check_doctor(done):
    """Every row that is not ok says what it costs and what changes it; the last sentence is the sum."""
    rows = re.findall(r"^(\S.*?) {2,}(ok|limited|no) +(\S.*)\n((?: .*\n)*)", done.stdout, re.M)
    check(len(rows) > 15, f"{len(rows)} rows:", told(done))
    for name, state, _, details in rows:
        for label in ("costs", "change"):
            check((re.search(rf"^    {label} +\S", details, re.M) is not None) == (state != "ok"),
                  f"{name} is {state}, {label}:", details)
    verdict = done.stdout.rstrip("\n").rpartition("\n\n")[2]
    check(verdict.startswith("`wick record` "), "no verdict:", told(done))
    return {name: state for name, state, *_ in rows}, " ".join(verdict.split())


@case("doctor says what is permitted, what it costs and what changes it")
def doctor():
    done = wick("doctor")
    rows, verdict = check_doctor(done)
    works = rows["engine bpf"] == "ok" or "ok" in (rows["engine perf"], rows["engine perf for -a"])
    check(done.returncode == (0 if works else 1), told(done))
    check(("cannot work" in verdict) == (not works), verdict)
    return verdict


@case("doctor for an unprivileged user")
def doctor_unprivileged():
    need_root()
    need_tool("setpriv")
    with scratch_directory() as directory:
        program = Path(shutil.copy(WICK, directory))
        done = wick("doctor", wrapper=AS_NOBODY, wick_path=program)
    rows, verdict = check_doctor(done)
    check(rows["engine bpf"] == "no" and rows["capabilities"] == "limited", told(done))
    check("bpf" not in verdict, verdict)
    return verdict


def forbid_sampling():
    """As a container's seccomp filter does: bpf() and perf_event_open() are refused from here on."""
    libc = ctypes.CDLL(None, use_errno=True)
    refuse = 0x00050000 | errno.EPERM
    instructions = [(0x20, 0, 0, 0),  # the number of the call
                    (0x15, 2, 0, 321), (0x15, 1, 0, 298),  # bpf, perf_event_open
                    (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, refuse)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code)))
    for option, *args in [(38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)]:
        if libc.prctl(option, *map(ctypes.c_ulong, args)) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


@case("no engine at all: doctor says so and ends with 1, record says why, list marks everything")
def nothing_works():
    need_processor("x86_64")
    done = wick("doctor", preexec_fn=forbid_sampling)
    rows, verdict = check_doctor(done)
    check(done.returncode == 1 and "cannot work here" in verdict, told(done))
    for name, state in [("engine bpf", "no"), ("engine perf", "no"), ("seccomp", "limited")]:
        check(rows[name] == state, f"{name} is {rows[name]}:", told(done))
    with scratch_directory() as directory, sleeper() as pid:
        refused = wick("record", "-p", pid, "-d", 1, "-o", directory / "a.html", preexec_fn=forbid_sampling)
        check_ends(refused, 1, "[Nn]ot permitted")
        check(not os.listdir(directory), f"left: {os.listdir(directory)}")
        listed = wick("list", preexec_fn=forbid_sampling)
        check(re.search(rf"^ *{pid} .* no \* ", listed.stdout, re.M), told(listed))
        check("no engine works here" in listed.stdout, told(listed))
    return verdict


if __name__ == "__main__":
    run_cases()
