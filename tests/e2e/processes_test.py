#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes, files and code that come, go, move and hide while they are recorded."""

import os
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path

from group import Group
from support import (Recording, Skip, Target, case, check, check_chain, check_rooted, compile_c,
                     compile_library, descendants, need_engine, need_root, need_tool, percent, record,
                     record_cpu, run_cases)

CHAIN = ["main", "chain_first", "chain_second", "chain_third"]
group = Group(cpu=0.25, hz=999)


class MovedTarget(Target):
    """A target that runs from a directory of its own, gone when it ends."""

    def __init__(self, program, *args, **options):
        self._directory = tempfile.TemporaryDirectory(prefix="wick-e2e-")
        self.path = Path(self._directory.name) / program.name
        shutil.copy(program, self.path)
        super().__init__(self.path, *args, **options)

    def __exit__(self, *error):
        super().__exit__(*error)
        self._directory.cleanup()


def plain_chain(name, **options):
    return compile_c(name, "c_plain_chain.c", **options)


# ---- files that are not where they were --------------------------------------------------------

@group.starter("deleted")
def start_deleted():
    target = MovedTarget(plain_chain("deleted"))
    target.path.unlink()
    return target


@group.case("deleted", "a program that was deleted while it runs")
def deleted(folded, engine):
    need_root()
    check_rooted(folded)
    return check_chain(folded, *CHAIN)


@group.starter("replaced")
def start_replaced():
    target = MovedTarget(plain_chain("replaced"))
    # The same program, except for the names of its functions: whoever reads it is found out.
    os.replace(shutil.copy(compile_c("impostor", "c_plain_chain.c", "-DPREFIX=impostor"),
                           target.path.with_suffix(".new")), target.path)
    return target


@group.case("replaced", "a program whose file was replaced by another while it runs")
def replaced(folded, engine):
    need_root()
    check(not any("impostor" in name for name in folded.names()), "names of the new file:",
          *folded.most_common())
    check_rooted(folded)
    return check_chain(folded, *CHAIN)


@group.starter("from_memory")
def start_from_memory():
    loader = compile_c("memfd_exec", "c_memfd_exec.c")
    return Target(loader, plain_chain("in_memory"), "from_memory")


@group.case("from_memory", "a program that was started from memory")
def from_memory(folded, engine):
    check_rooted(folded)
    return check_chain(folded, *CHAIN)


class NamespaceTarget(Target):
    """In pid and mount namespaces of its own, on a file system that only it sees."""

    SCRIPT = 'mount -t tmpfs tmpfs "$1" && cp "$2" "$1/" && exec "$1/${2##*/}"'

    def __init__(self, program):
        need_root()
        need_tool("unshare", "mount")
        self._mount_point = tempfile.TemporaryDirectory(prefix="wick-e2e-")
        super().__init__("sh", "-c", self.SCRIPT, "sh", self._mount_point.name, program,
                         wrapper=["unshare", "--pid", "--mount", "--fork"])
        self.pid = descendants(self.process.pid)[0]
        check(not list(Path(self._mount_point.name).iterdir()), "the file system is seen from outside")

    def __exit__(self, *error):
        super().__exit__(*error)
        self._mount_point.cleanup()


group.starter("in_namespace")(lambda: NamespaceTarget(plain_chain("in_namespace")))


@group.case("in_namespace", "a program in pid and mount namespaces, on a file system seen only there")
def in_namespace(folded, engine):
    need_root()
    check_rooted(folded)
    return check_chain(folded, *CHAIN)


@group.starter("lost_cwd")
def start_lost_cwd():
    directory = Path(tempfile.mkdtemp(prefix="wick-e2e-"))
    target = Target(plain_chain("lost_cwd"), cwd=directory)
    directory.rmdir()
    return target


@group.case("lost_cwd", "a program whose working directory is gone")
def lost_cwd(folded, engine):
    check_rooted(folded)
    return check_chain(folded, *CHAIN)


# ---- code that comes and goes ------------------------------------------------------------------

@case("libraries that are opened and closed again, the second where the first was", engines=True)
def dlopen(engine):
    plugins = [compile_library(f"libplugin_{name}.so", "c_plugin.c", f"-DLEAF=leaf_of_{name}")
               for name in ("one", "two")]
    with Target(compile_c("dlopen", "c_dlopen.c", "-ldl"), *plugins) as target:
        # 120 ms in each of them, then its own work.
        folded = record_cpu([target], 0.35, engine=engine, during=target.go)[0].folded
    check_rooted(folded)
    check_chain(folded, "main", "own_work")
    for name in ("one", "two"):
        check_chain(folded, "main", "call_plugin", "plugin_work", f"leaf_of_{name}", samples=60)


@case("libraries that take turns at one address: whole, or marked as truncated, never mixed up", engines=True)
def taking_turns(engine):
    plugins = [compile_library(f"libturn_{name}.so", "c_plugin.c", f"-DLEAF=leaf_of_{name}",
                               f"-DFRAME_BYTES={size}") for name, size in (("one", 0), ("two", 4000))]
    with Target(compile_c("turns", "c_dlopen.c", "-DPLUGIN_MS=15", "-ldl"), *plugins * 20) as target:
        recording = Recording("-p", target.pid, engine=engine, seconds=2).wait_until_started()
        target.go()
        # Stopped, wick learns of a library too late: the kernel goes by what was there before.
        for _ in range(6):
            recording.signal(signal.SIGSTOP)
            time.sleep(0.06)
            recording.signal(signal.SIGCONT)
            time.sleep(0.04)
        folded = recording.finish().folded
    inside = folded.having(re.compile("leaf_of_(one|two)"))
    whole = sum(inside.having("main", "call_plugin", "plugin_work", f"leaf_of_{name}").total
                for name in ("one", "two"))
    cut = inside.truncated().total
    check(inside.total >= 300, f"only {inside.total} samples in the libraries")
    check(whole + cut == inside.total, f"{inside.total - whole - cut} of {inside.total} are false:",
          *inside.where(lambda s: s.frames[:1] != ["[truncated]"]).most_common(8))
    check(whole > 0, "all of them are truncated")
    return f"{percent(cut / inside.total)} truncated"


@group.starter("late_thread")
def start_late_thread():
    return Target(compile_c("late_thread", "c_threads.c", "-pthread"), "late")


@group.case("late_thread", "a thread that is created after the start")
def late_thread(folded, engine):
    check_rooted(folded)
    return check_chain(folded, "late_thread", "late_leaf")


@case("500 threads: all of them are seen, with whole chains", engines=True)
def many_threads(engine):
    program = compile_c("many_threads", "c_threads.c", "-pthread")
    with Target(program, wrapper=["nice"]) as target:
        folded = record("-p", target.pid, "--threads", engine=engine, hz=4999, seconds=5).folded
    check_rooted(folded)
    note = check_chain(folded, "thread_main", "thread_work", "thread_leaf")
    # Each works for some 1 ms meanwhile: 5 samples expected, none with a chance of 0.7 %.
    threads = {found[0] for name in folded.names() if (found := re.search(r"worker-\d+", name))}
    check(len(threads) >= 450, f"{len(threads)} threads of 500 are there", *folded.most_common())
    return f"{len(threads)} threads, {note}"


# ---- processes that come and go ----------------------------------------------------------------

@case("processes that live for 20 ms: in the picture by name, with whole chains", engines=True)
def short_lived(engine):
    brief = compile_c("brief", "c_short_lived.c")
    spawner = compile_c("spawner", "c_spawner.c")
    with Target(spawner, "fork", 3000, brief) as target:
        folded = record("-p", target.pid, engine=engine, seconds=5, during=target.go).folded
        started = int(target.line())
    own = folded.process("brief")
    check_rooted(own)
    note = check_chain(own, "main", "brief_life", "brief_work")
    # 20 ms each, of which a part goes to fork, exec and the loader.
    expected = started * 20 * 0.999
    seen = own.having("brief_work").total / expected
    check(seen > 0.85, f"{percent(seen)} of the samples that {started} processes must have given")
    return f"{percent(seen)} of {started} × 20 samples, {note}"


@case("a vfork child that works on its parent's memory, then becomes another program", engines=True)
def vfork_exec(engine):
    last = compile_c("exec_last", "c_exec_chain.c", "-DSTAGE=last_stage")
    middle = compile_c("exec_middle", "c_exec_chain.c", "-DSTAGE=middle_stage")
    first = compile_c("exec_first", "c_exec_chain.c", "-DSTAGE=first_stage")
    with Target(compile_c("vforker", "c_spawner.c"), "vfork", 2000, first, middle, last) as target:
        folded = record("-p", target.pid, engine=engine, seconds=3, during=target.go).folded
    check_rooted(folded)
    check_chain(folded.process("vforker"), "main", "start_and_wait", "before_exec", samples=30)
    for name in ("first", "middle", "last"):
        own = folded.process(f"exec_{name}")
        check_chain(own, "main", f"{name}_stage", samples=30)
        wrong = own.having(re.compile("first_stage|middle_stage|last_stage")).without(f"{name}_stage")
        check(wrong.total == 0, f"functions of another program in exec_{name}:", *wrong.most_common())


FAMILY = {"parent_work", "child_work", "grandchild_work", "late_child_work", "late_grandchild_work"}


@case("-p PARENT: its descendants too, from before the start and from after it", engines=True)
def process_tree(engine):
    with Target(compile_c("family", "c_process_tree.c")) as target:
        folded = record("-p", target.pid, engine=engine, seconds=3, during=target.go).folded
    check_rooted(folded)
    missing = FAMILY - folded.names()
    check(not missing, f"missing: {', '.join(sorted(missing))}", *folded.most_common())
    for name in FAMILY:
        check_chain(folded, "main", name, contiguous=False)


@case("children born at any moment while wick starts to record", engines=True)
def births(engine):
    need_engine(engine)
    with Target(compile_c("births", "c_births.c")) as target:
        recording = Recording("-p", target.pid, engine=engine, seconds=2.5)
        target.go()
        folded = recording.finish().folded
    missing = {f"born-{number}" for number in range(40)} - folded.processes()
    check(not missing, f"{len(missing)} of 40 are missing: {', '.join(sorted(missing))}")
    check_rooted(folded)
    return check_chain(folded, "main", "live", "child_work")


@case("-p PARENT --no-children: the parent alone", engines=True)
def no_children(engine):
    with Target(compile_c("family", "c_process_tree.c")) as target:
        folded = record("-p", target.pid, "--no-children", engine=engine, seconds=2, during=target.go).folded
    seen = FAMILY & folded.names()
    check(seen == {"parent_work"}, f"there are {', '.join(sorted(seen))}", *folded.most_common())


@case("-- CMD: from before main to after it, with all of its CPU time", engines=True)
def from_the_start(engine):
    program = compile_c("constructor", "c_constructor.c")
    result = record("--", program, engine=engine, seconds=20)
    own = result.folded.process("constructor")
    # 900 ms: 899 samples. On a busy machine engine perf may lose some while it reads symbols.
    count = own.total + result.lost
    check(870 <= count <= 960, f"{count} samples of 900 ms of CPU time", str(result))
    check(result.lost < 300, f"{result.lost} of them are lost", str(result))
    check_rooted(own)
    for name, caller in (("before", "constructor"), ("in", "main"), ("after", "destructor")):
        count = own.having(f"work_{name}_main").total
        check(280 - result.lost < count < 320, f"{count} samples {name} main instead of 300", str(result))
        check_chain(own, caller, f"work_{name}_main")
    return f"{own.total} samples, {result.lost} lost"


@case("--name REGEX: the processes of that name and no others")
def by_name():
    alike = [Target(plain_chain(f"alike_{letter}")) for letter in "abc"]
    try:
        folded = record("--name", "^alike_[ab]$", seconds=1).folded
    finally:
        for target in alike:
            target.__exit__()
    check(folded.processes() == {"alike_a", "alike_b"}, f"there are {', '.join(sorted(folded.processes()))}")


@case("-p A -p B,C: all three")
def several_pids():
    targets = [Target(plain_chain(f"alike_{letter}")) for letter in "abc"]
    try:
        a, b, c = (target.pid for target in targets)
        folded = record("-p", a, "-p", f"{b},{c}", seconds=1).folded
    finally:
        for target in targets:
            target.__exit__()
    check(folded.processes() == {"alike_a", "alike_b", "alike_c"},
          f"there are {', '.join(sorted(folded.processes()))}")


# ---- the whole machine -------------------------------------------------------------------------

def process_times():
    """{(pid, start time): (name, CPU seconds)} of every process there is, kernel threads too."""
    times = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        times[int(entry.name), fields[19]] = (name, seconds)
    return times


@case("-a at 99 Hz for 10 s: every process that used 1 % of a CPU is there by name", engines=True)
def whole_machine(engine):
    need_root()
    loads = {"load_2": (2, 0), "load_4": (4, 0), "load_8": (8, 5), "load_20": (20, 10),
             "load_100": (100, 19)}
    targets = [Target(compile_c(name, "c_light_load.c"), percentage, wrapper=["nice", "-n", nice])
               for name, (percentage, nice) in loads.items()]
    try:
        before, begin = process_times(), time.monotonic()
        folded = record("-a", engine=engine, hz=99, seconds=10).folded
        after, elapsed = process_times(), time.monotonic() - begin
    finally:
        for target in targets:
            target.__exit__()
    busy = {name for key, (name, seconds) in after.items()
            if key in before and seconds - before[key][1] >= 0.01 * elapsed}
    if not set(loads) <= busy:
        raise Skip(f"the machine was too busy: {', '.join(sorted(set(loads) - busy))} got less than 1 %")
    missing = busy - folded.processes()
    check(not missing, f"missing: {', '.join(sorted(missing))}; there are {', '.join(folded.processes())}")
    for name in loads:
        check_chain(folded.process(name), "main", "light_work", samples=5)
    return f"{len(busy)} busy processes, {folded.total} samples"


if __name__ == "__main__":
    run_cases()
