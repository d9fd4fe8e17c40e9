#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of frames: kernel functions, inlined functions, lines, and where symbols are found."""

import re

from support import (SOURCES, Skip, Target, case, check, check_chain, check_rooted, compile_c,
                     cpu_seconds, make, need_root, need_tool, percent, record, run, run_cases)

KERNEL = re.compile(r".+_\[k\]")
CHAIN = ["main", "chain_first", "chain_second", "chain_third"]


# ---- the kernel --------------------------------------------------------------------------------

@case("a program that works in the kernel: its frames stand on top of the user's", engines=True)
def kernel_frames(engine):
    need_root()
    with Target(compile_c("syscalls", "c_syscalls.c")) as target:
        folded = record("-p", target.pid, engine=engine, seconds=1.5).folded
    check_rooted(folded)
    share = folded.share("main", "read_zeroes", KERNEL, contiguous=False)
    check(share > 0.8, f"{percent(share)} in the kernel below read_zeroes", *folded.most_common())
    mixed = folded.where(lambda s: any(a.endswith("_[k]") and not b.endswith("_[k]")
                                       for a, b in zip(s.frames, s.frames[1:])))
    check(mixed.total == 0, "user frames on top of kernel frames:", *mixed.most_common())
    read = folded.share(re.compile(r"(__x64_sys|ksys|vfs)_read_\[k\]"))
    check(read > 0.5, f"{percent(read)} in the read system call", *folded.most_common())
    return check_chain(folded, "main", "read_zeroes")


@case("--no-kernel: no kernel frames, as many samples", engines=True)
def no_kernel(engine):
    with Target(compile_c("syscalls", "c_syscalls.c")) as target:
        before = cpu_seconds(target.pid)
        folded = record("-p", target.pid, "--no-kernel", engine=engine, seconds=1.5).folded
        used = cpu_seconds(target.pid) - before
    kernel = folded.having(KERNEL)
    check(kernel.total == 0, f"{kernel.total} samples with kernel frames", *kernel.most_common())
    # More CPU time than was recorded: wick takes a moment to begin and to end.
    check(folded.total > 0.4 * used * 999, f"{folded.total} samples in {used} s of CPU time")
    return check_chain(folded, "main", "read_zeroes")


# ---- debug information -------------------------------------------------------------------------

def inlined():
    return compile_c("inlined", "c_inlined.c", "-g")


INLINED_CHAIN = ["main", "real_function", "inlined_middle_[i]", "inlined_leaf_[i]"]


@case("inlined functions are shown where there is debug information", engines=True)
def inlined_functions(engine):
    with Target(inlined()) as target:
        folded = record("-p", target.pid, engine=engine, seconds=1.5).folded
    return check_chain(folded, *INLINED_CHAIN)


@case("--no-inline: only functions that were called")
def no_inline():
    with Target(inlined()) as target:
        folded = record("-p", target.pid, "--no-inline", seconds=1).folded
    shown = sorted(name for name in folded.names() if name.endswith("_[i]"))
    check(not shown, f"inlined functions: {', '.join(shown)}")
    return check_chain(folded, "main", "real_function")


@case("--lines: source lines of frames")
def lines():
    source = (SOURCES / "c_inlined.c").read_text().splitlines()
    hot = next(number for number, line in enumerate(source, 1) if "the hot line" in line)
    with Target(inlined()) as target:
        folded = record("-p", target.pid, "--lines", seconds=1).folded
    leaf = re.compile(rf"inlined_leaf\b.*\b{hot}\b.*_\[i\]")
    share = folded.share(leaf)
    check(share > 0.9, f"{percent(share)} have inlined_leaf at line {hot}", *folded.most_common())


# ---- where symbols are found -------------------------------------------------------------------

def stripped_with(name, *commands):
    """c_plain_chain, stripped after its debug file was made as OUT.debug."""
    keep = [["objcopy", "--only-keep-debug", "OUT", f"../{name}.debug"], ["strip", "OUT"]]
    return compile_c(name, "c_plain_chain.c", "-g", "-Wl,--build-id", after=[*keep, *commands])


# /usr/lib/debug as an empty directory that only the script sees; the machine's own stays untouched.
PRIVATE_DEBUG = """
if test -d /usr/lib/debug; then
	mount -t tmpfs tmpfs /usr/lib/debug
else
	mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work &&
	mount -t overlay -o lowerdir=/usr/lib,upperdir=/mnt/upper,workdir=/mnt/work overlay /usr/lib
fi || exit 125
mkdir -p "$(dirname "$2")" && cp "$1" "$2" && shift 2 && exec "$@"
"""


def record_with_debug_file(program, place):
    """A recording by a wick that finds the program's debug file at `place` in /usr/lib/debug."""
    need_root()
    need_tool("unshare", "mount")
    debug = program.with_name(program.name + ".debug")
    wrapper = ["unshare", "--mount", "sh", "-c", PRIVATE_DEBUG, "sh", debug, f"/usr/lib/debug/{place}"]
    with Target(program) as target:
        result = record("-p", target.pid, "--no-inline", seconds=1, wrapper=wrapper)
    if result.code == 125:
        raise Skip("nothing can be mounted over /usr/lib/debug here")
    return result.folded


@case("a debug file found by build id in /usr/lib/debug/.build-id")
def by_build_id():
    program = stripped_with("build_id")
    notes = run("readelf", "-n", program)
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    folded = record_with_debug_file(program, f".build-id/{build_id[:2]}/{build_id[2:]}.debug")
    return check_chain(folded, *CHAIN)


@case("a debug file found by .gnu_debuglink below /usr/lib/debug")
def by_debuglink():
    link = ["objcopy", "--add-gnu-debuglink=../debuglink.debug", "--remove-section=.note.gnu.build-id", "OUT"]
    program = stripped_with("debuglink", link)
    folded = record_with_debug_file(program, f"{str(program.parent).lstrip('/')}/debuglink.debug")
    return check_chain(folded, *CHAIN)


@case("symbols in .gnu_debugdata")
def by_minidebuginfo():
    need_tool("xz", "objcopy")
    plain = compile_c("minidebug_full", "c_plain_chain.c")
    program = make("minidebug", SOURCES / "c_plain_chain.c", plain, command=lambda out: [
        ["cp", plain, "mini"],
        ["objcopy", "--strip-debug", "mini"],
        ["xz", "-f", "mini"],
        ["cp", plain, out],
        ["strip", out],
        ["objcopy", "--add-section", ".gnu_debugdata=mini.xz", out]])
    with Target(program) as target:
        folded = record("-p", target.pid, seconds=1).folded
    return check_chain(folded, *CHAIN)


@case("names that only .dynsym has")
def by_dynsym():
    program = compile_c("dynsym", "c_plain_chain.c", "-rdynamic", after=[["strip", "OUT"]])
    with Target(program) as target:
        folded = record("-p", target.pid, seconds=1).folded
    return check_chain(folded, *CHAIN)


if __name__ == "__main__":
    run_cases()
