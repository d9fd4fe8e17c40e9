#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interruptions, refusals, full disks and other people's processes: wick ends well or says why."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from folded import Folded
from support import (WICK, Recording, Skip, Target, case, check, check_chain, compile_c, need_root,
                     need_tool, record, run_cases, scratch_directory)

CHAIN = ["main", "chain_first", "chain_second", "chain_third"]
NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]


def plain(name="plain"):
    return compile_c(name, "c_plain_chain.c")


def check_refused(result, *words, code=1):
    """It failed with one sentence that has all of the words, and left no file."""
    check(result.code == code, f"exit code {code} expected:", str(result))
    for word in words:
        check(result.said(word), f"the message does not say {word!r}:", str(result))
    check(result.text is None, "there is a file all the same:", str(result))
    check("Traceback" not in result.errors and "Sanitizer" not in result.errors, "it crashed:", str(result))


# ---- interruptions -----------------------------------------------------------------------------

def interrupted_by(number, engine):
    with Target(plain()) as target:
        recording = Recording("-p", target.pid, engine=engine, seconds=60).wait_until_started(settle=1)
        begin = time.monotonic()
        result = recording.signal(number).finish(timeout=15)
        check(time.monotonic() - begin < 5, f"it took {time.monotonic() - begin:.1f} s to end")
        check(target.process.poll() is None, "the target has died of it")
    return check_chain(result.folded, *CHAIN)


@case("SIGINT: what was recorded is written, exit code 0", engines=True)
def sigint(engine):
    return interrupted_by(signal.SIGINT, engine)


@case("SIGTERM: what was recorded is written, exit code 0", engines=True)
def sigterm(engine):
    return interrupted_by(signal.SIGTERM, engine)


@case("SIGHUP: what was recorded is written, exit code 0")
def sighup():
    return interrupted_by(signal.SIGHUP, None)


@case("SIGINT without -d: until then", engines=True)
def without_duration(engine):
    with Target(plain()) as target:
        recording = Recording("-p", target.pid, engine=engine).wait_until_started(settle=0.7)
        result = recording.signal(signal.SIGINT).finish(timeout=15)
    return check_chain(result.folded, *CHAIN)


def kill_all(name):
    """Ends every process of that name; how many there were."""
    pids = subprocess.run(["pgrep", "-x", name], stdout=subprocess.PIPE, text=True).stdout.split()
    for pid in map(int, pids):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


@case("-- CMD that is still running at the end: written, and the command is not left behind")
def command_is_ended():
    try:
        result = Recording("--", plain("outlives"), seconds=1).finish(timeout=15)
    finally:
        left = kill_all("outlives")
    check(left == 0, "the command still runs:", str(result))
    return check_chain(result.folded, *CHAIN)


@case("SIGINT while -- CMD runs: written, and the command is not left behind")
def sigint_command():
    try:
        recording = Recording("--", plain("interrupted"), seconds=60)
        result = recording.wait_until_started(settle=1).signal(signal.SIGINT).finish(timeout=15)
    finally:
        left = kill_all("interrupted")
    check(left == 0, "the command still runs:", str(result))
    return check_chain(result.folded, *CHAIN)


@case("the target is killed half-way: what was recorded is written, at once", engines=True)
def target_killed(engine):
    with Target(plain()) as target:
        recording = Recording("-p", target.pid, engine=engine, seconds=60).wait_until_started(settle=2)
        target.kill()
        target.process.wait()
        begin = time.monotonic()
        result = recording.finish(timeout=15)
        check(time.monotonic() - begin < 3, f"it took {time.monotonic() - begin:.1f} s to notice")
    return check_chain(result.folded, *CHAIN)


@case("one of two targets ends: the other one is recorded on")
def one_of_two():
    with Target(plain("stays")) as stays, Target(plain("leaves")) as leaves:
        recording = Recording("-p", f"{stays.pid},{leaves.pid}", seconds=3).wait_until_started(settle=0.5)
        leaves.kill()
        begin = time.monotonic()
        folded = recording.finish().folded
        check(time.monotonic() - begin > 1.5, "it ended with the first of them")
    check_chain(folded.process("leaves"), *CHAIN)
    return check_chain(folded.process("stays"), *CHAIN)


@case("-- CMD that ends early: the recording ends with it", engines=True)
def command_ends(engine):
    begin = time.monotonic()
    result = record("--", compile_c("brief", "c_short_lived.c"), engine=engine, seconds=30)
    check(time.monotonic() - begin < 10, f"it took {time.monotonic() - begin:.1f} s")
    return check_chain(result.folded, "main", "brief_life", "brief_work", samples=10)


# ---- outputs -----------------------------------------------------------------------------------

@case("a full disk: a message, exit code 1, no file under the final name and no other")
def disk_full():
    need_root()
    need_tool("unshare", "mount")
    script = ('point=$1; shift; mount -t tmpfs -o size=4k tmpfs "$point" && "$@"; code=$?; '
              'echo "left:" $(ls -A "$point") >&2; exit $code')
    with scratch_directory() as directory, Target(compile_c("deep", "c_deep_recursion.c")) as target:
        wrapper = ["unshare", "--mount", "sh", "-c", script, "sh", directory]
        result = Recording("-p", target.pid, seconds=1, out=directory / "out.folded",
                           wrapper=wrapper).finish()
    check_refused(result, r"no space|full")
    check(re.search(r"^left:$", result.errors, re.MULTILINE), "something is left:", str(result))


@case("the directory of the output is missing: refused before anything is recorded")
def no_directory():
    with Target(plain()) as target:
        begin = time.monotonic()
        result = Recording("-p", target.pid, seconds=5, out="/nonexistent/out.folded").finish()
    check(time.monotonic() - begin < 3, "it recorded first")
    check_refused(result, "/nonexistent", code=result.code)
    check(result.code in (1, 2), f"exit code {result.code}")


@case("an existing file is left alone without --force and replaced with it")
def existing_file():
    with scratch_directory() as directory, Target(plain()) as target:
        out = directory / "out.folded"
        out.write_text("mine\n")
        refused = Recording("-p", target.pid, seconds=1, out=out).finish()
        check(refused.code != 0 and out.read_text() == "mine\n", "it was overwritten:", str(refused))
        check(refused.said("--force"), "the message does not say --force:", str(refused))
        result = Recording("-p", target.pid, "--force", seconds=1, out=out).finish()
        check(sorted(os.listdir(directory)) == ["out.folded"], f"left: {os.listdir(directory)}")
    return check_chain(result.folded, *CHAIN)


@case("standard output is a closed pipe: the file is written all the same")
def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    with Target(plain()) as target:
        recording = Recording("-p", target.pid, seconds=1, stdout=writing)
        os.close(writing)
        result = recording.finish()
    check(result.text is not None, "there is no file:", str(result))
    check(result.code >= 0, f"it died of signal {-result.code}")
    return check_chain(Folded.parse(result.text), *CHAIN)


@case("a second SIGINT while the file is written does not harm it")
def two_sigints():
    with Target(compile_c("deep", "c_deep_recursion.c")) as target:
        recording = Recording("-p", target.pid, seconds=60).wait_until_started(settle=1)
        recording.signal(signal.SIGINT)
        time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            recording.signal(signal.SIGINT)
        result = recording.finish(timeout=15)
    if result.text is not None:
        Folded.parse(result.text)
    check(result.code in (0, 1, -signal.SIGINT), f"exit code {result.code}:", str(result))
    check(result.text is not None or result.code != 0, "no file, but exit code 0:", str(result))


# ---- permissions -------------------------------------------------------------------------------

@contextlib.contextmanager
def nobodys_world():
    """A directory of nobody's with a wick and a target that nobody may run; (directory, wick, target)."""
    need_root()
    need_tool("setpriv")
    with scratch_directory() as directory:
        wick, target = (Path(shutil.copy(path, directory)) for path in (WICK, plain("nobodys")))
        home = directory / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        yield home, wick, target


def paranoia():
    return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())


@case("an unprivileged user's own process: engine perf serves, and wick says why not bpf")
def own_process():
    if paranoia() > 2:
        raise Skip(f"perf_event_paranoid is {paranoia()}: unprivileged users may not sample")
    with nobodys_world() as (home, wick, program), Target(program, wrapper=AS_NOBODY) as target:
        result = Recording("-p", target.pid, seconds=1.5, wick=wick, wrapper=AS_NOBODY,
                           out=home / "out.folded").finish()
        note = check_chain(result.folded, *CHAIN)
    check(result.said(r"perf"), "it does not name the engine:", str(result))
    check(result.said(r"bpf.*(CAP_|capab|root|privileg|permit)|(CAP_|root|privileg|permit).*bpf"),
          "it does not say why not bpf:", str(result))
    return note


@case("an unprivileged user's -- CMD")
def own_command():
    if paranoia() > 2:
        raise Skip(f"perf_event_paranoid is {paranoia()}: unprivileged users may not sample")
    with nobodys_world() as (home, wick, program):
        try:
            result = Recording("--", program, seconds=1.5, wick=wick, wrapper=AS_NOBODY,
                               out=home / "out.folded").finish()
        finally:
            kill_all(program.name)
        return check_chain(result.folded, *CHAIN)


@case("engine bpf without the privilege: refused, naming the capabilities and the other engine")
def bpf_denied():
    with nobodys_world() as (home, wick, program), Target(program, wrapper=AS_NOBODY) as target:
        result = Recording("-p", target.pid, seconds=1, engine="bpf", wick=wick, wrapper=AS_NOBODY,
                           out=home / "out.folded").finish()
        check_refused(result, "CAP_BPF", "CAP_PERFMON", "perf")


@case("another user's process: refused, naming the capability or the sysctl")
def anothers_process():
    with nobodys_world() as (home, wick, _), Target(plain()) as target:
        result = Recording("-p", target.pid, seconds=1, wick=wick, wrapper=AS_NOBODY,
                           out=home / "out.folded").finish()
        check_refused(result, r"CAP_\w+|perf_event_paranoid", str(target.pid))


@case("-a as an unprivileged user: refused, naming the capability or the sysctl")
def machine_denied():
    if paranoia() < 1:
        raise Skip(f"perf_event_paranoid is {paranoia()}: everybody may sample the machine")
    with nobodys_world() as (home, wick, _):
        result = Recording("-a", seconds=1, wick=wick, wrapper=AS_NOBODY, out=home / "out.folded").finish()
        check_refused(result, r"CAP_\w+|perf_event_paranoid")


@case("no such process: refused in one sentence")
def no_such_process():
    child = subprocess.Popen(["true"])
    child.wait()
    check_refused(Recording("-p", child.pid, seconds=1).finish(), "no (such )?process", str(child.pid))


@case("no process of that name: refused in one sentence")
def no_such_name():
    check_refused(Recording("--name", "^no-such-name-anywhere$", seconds=1).finish(), "no-such-name-anywhere")


@case("a command that cannot be started: refused in one sentence")
def no_such_command():
    check_refused(Recording("--", "/nonexistent/program", seconds=1).finish(), "/nonexistent/program")


@case("wick's own working directory is gone: recorded all the same")
def own_cwd_gone():
    with scratch_directory() as directory, Target(plain()) as target:
        gone = directory / "gone"
        gone.mkdir()
        recording = Recording("-p", target.pid, seconds=1, out=directory / "out.folded", cwd=gone)
        gone.rmdir()
        return check_chain(recording.finish().folded, *CHAIN)


# ---- what it leaves, and how it stands load ----------------------------------------------------

def traces(pid):
    """What a profiler could change in its target."""
    process = Path(f"/proc/{pid}")
    status = (process / "status").read_text()
    return {
        "mappings": (process / "maps").read_text(),
        "threads": sorted(os.listdir(process / "task")),
        "descriptors": {fd: os.readlink(process / "fd" / fd) for fd in os.listdir(process / "fd")},
        "signals": re.findall(r"^Sig(?:Cgt|Ign|Blk):.*", status, re.M),
        "tracer": re.findall(r"^TracerPid:.*", status, re.M),
    }


@case("nothing is left behind in the target, in /tmp or in the directory", engines=True)
def nothing_left(engine):
    with scratch_directory() as directory, Target(plain()) as target:
        before, files = traces(target.pid), set(os.listdir("/tmp"))
        record("-p", target.pid, engine=engine, seconds=1, out=directory / "out.folded")
        after = traces(target.pid)
        left = {name for name in set(os.listdir("/tmp")) - files if "wick" in name or str(target.pid) in name}
        check(not left, f"left in /tmp: {', '.join(left)}")
        check(os.listdir(directory) == ["out.folded"], f"left: {os.listdir(directory)}")
    for what, value in before.items():
        check(after[what] == value, f"the target's {what} changed:", str(value), str(after[what]))


@case("two recordings of one process at the same time", engines=True)
def two_recordings(engine):
    with Target(plain()) as target:
        both = [Recording("-p", target.pid, engine=engine, seconds=2) for _ in range(2)]
        results = [recording.finish().folded for recording in both]
    return "\n".join(check_chain(folded, *CHAIN, samples=200) for folded in results)


@case("a ring buffer that overruns: lost samples are counted and shown", engines=True)
def overrun(engine):
    limit = int(Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text())
    with Target(compile_c("deep", "c_deep_recursion.c")) as one, \
            Target(compile_c("deep_too", "c_deep_recursion.c")) as two:
        recording = Recording("-p", f"{one.pid},{two.pid}", engine=engine, seconds=6, hz=min(limit, 4000))
        recording.wait_until_started(settle=0.5)
        recording.signal(signal.SIGSTOP)
        time.sleep(4)
        recording.signal(signal.SIGCONT)
        result = recording.finish(timeout=60)
    check_chain(result.folded, "main", "descend")
    check(result.lost > 0, "it does not say that samples were lost:", str(result))
    return f"{result.lost} lost"


if __name__ == "__main__":
    run_cases()
