#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks that are hard to walk. All of these programs run in one recording for each engine."""

import re

from group import Group
from support import (Target, case, check, check_chain, check_rooted, compile_c, compile_library,
                     need_processor, percent, run, run_cases, symbols)

group = Group(cpu=0.25, hz=999)


# ---- shapes of frames --------------------------------------------------------------------------

group.program("deep", "c_deep_recursion.c")


@group.case("deep", "1,500 calls deep: every frame is there")
def deep(folded, engine):
    check_rooted(folded)
    depth = folded.where(lambda s: s.frames.count("descend") == 1500)
    check(depth.total >= 0.99 * folded.total, f"{percent(depth.total / folded.total)} have 1,500 frames:",
          *folded.most_common(3))
    return check_chain(folded, "main", *["descend"] * 1500, "bottom")


group.program("deep_and_wide", "c_deep_recursion.c", "-DFRAME_BYTES=100")


@group.case("deep_and_wide", "200 KB of stack: whole, or marked as truncated where only a copy is walked")
def deep_and_wide(folded, engine):
    whole = folded.having("main").where(lambda s: s.frames.count("descend") == 1500)
    if engine == "bpf":
        check(whole.total >= 0.99 * folded.total, f"{whole.total} of {folded.total} are whole:",
              *folded.most_common(3))
    honest = whole.total + folded.truncated().without("main").total
    check(honest >= 0.99 * folded.total, f"{honest} of {folded.total} are whole or say that they are not:",
          *folded.most_common(3))
    check_chain(folded, "descend", "descend", "bottom")
    return f"{percent(whole.total / folded.total)} whole"


group.program("alloca", "c_alloca_and_vla.c")


@group.case("alloca", "alloca and variable-length arrays")
def alloca(folded, engine):
    check_rooted(folded)
    return check_chain(folded, "main", "with_alloca", "with_vla", "under_both")


group.program("realigned", "c_realigned_stack.c")


@group.case("realigned", "realigned stacks, described by DWARF expressions")
def realigned(folded, engine):
    frames = run("readelf", "--debug-dump=frames", compile_c("realigned", "c_realigned_stack.c"))
    check("DW_CFA_def_cfa_expression" in frames, "the target has no such frame")
    check_rooted(folded)
    return check_chain(folded, "main", "realigned_outer", "realigned_inner", "under_realigned")


group.program("tail_calls", "c_tail_calls.c", "-falign-functions=1")


@group.case("tail_calls", "tail calls: the frame that jumped away is missing, the chain holds")
def tail_calls(folded, engine):
    check_rooted(folded)
    check(folded.share("pass_on") < 0.01, "pass_on() is shown as a caller", *folded.most_common())
    return check_chain(folded, "never_back", "take_off", "land")


@case("a call that is its function's last instruction: not the function after it is shown", engines=True)
def call_at_the_end(engine):
    folded = group.recording(engine).folded.process("tail_calls")
    check("the_function_after" not in folded.names(), "the wrong function is shown:", *folded.most_common())
    return check_chain(folded, "main", "calls_at_its_end", "never_back")


# ---- signals -----------------------------------------------------------------------------------

group.program("altstack", "c_signal_on_altstack.c")
group.program("same_stack", "c_signal_on_altstack.c", "-DSAME_STACK")

ANY = re.compile(".*")


@group.case("same_stack", "a signal handler: called by the signal frame, the interrupted function, main")
def signal_on_same_stack(folded, engine):
    check_rooted(folded)
    check(0.1 < folded.share("in_handler") < 0.9, f"{percent(folded.share('in_handler'))} in the handler")
    check_chain(folded, "main", "call_interrupted", "interrupted")
    return check_chain(folded, "main", "call_interrupted", "interrupted", ANY, "on_signal", "in_handler")


@group.case("altstack", "a signal handler on an alternate stack: across it to main, or marked as truncated")
def signal_on_altstack(folded, engine):
    check(0.1 < folded.share("in_handler") < 0.9, f"{percent(folded.share('in_handler'))} in the handler")
    check_chain(folded.without("in_handler"), "main", "call_interrupted", "interrupted")
    if engine == "perf":  # its copy of the stack ends where the alternate stack does
        handler = folded.having("in_handler")
        whole = handler.having("main", "call_interrupted", "interrupted", ANY, "on_signal", "in_handler")
        cut = handler.having("on_signal", "in_handler").truncated().without("main")
        check(whole.total + cut.total >= 0.99 * handler.total, "neither whole nor truncated:",
              *handler.most_common())
        return f"{percent(whole.total / handler.total)} whole"
    check_rooted(folded)
    return check_chain(folded, "main", "call_interrupted", "interrupted", ANY, "on_signal", "in_handler")


# ---- how a program is linked -------------------------------------------------------------------

def start_plt(name, *flags):
    need_processor("x86_64", "aarch64")
    library = compile_library(f"lib{name}.so", "c_plt_library.c")
    return Target(compile_c(name, "c_plt_calls.c", library, f"-Wl,-rpath,{library.parent}", *flags))


group.starter("plt_lazy")(lambda: start_plt("plt_lazy", "-fplt", "-Wl,-z,lazy"))
group.starter("plt_now")(lambda: start_plt("plt_now", "-fplt", "-Wl,-z,now"))
group.starter("plt_ibt")(lambda: start_plt("plt_ibt", "-fplt", "-fcf-protection=full", "-Wl,-z,lazy",
                                           "-Wl,-z,ibtplt"))


def check_plt(folded):
    """The callee and the stub alike are called by the loop."""
    check_rooted(folded)
    share = folded.share("main", "call_through_plt")
    check(share >= 0.99, f"main → call_through_plt in {percent(share)}; the others, most often:",
          *folded.without("main", "call_through_plt").most_common())
    check_chain(folded, "main", "call_through_plt", "tick", samples=5)
    stubs = folded.where(lambda s: s.frames[-1] not in ("tick", "tock", "call_through_plt")
                         and not s.frames[-1].endswith("_[k]"))
    check(stubs.total > 0, "no sample fell into a stub:", *folded.most_common())
    names = sorted({stack.frames[-1] for stack in stubs.stacks})
    return f"{percent(stubs.total / folded.total)} in stubs, as {', '.join(names)}"


@group.case("plt_lazy", "calls through a lazily bound PLT")
def plt_lazy(folded, engine):
    return check_plt(folded)


@group.case("plt_now", "calls through a PLT bound at the start")
def plt_now(folded, engine):
    return check_plt(folded)


@group.case("plt_ibt", "calls through a PLT with indirect branch tracking")
def plt_ibt(folded, engine):
    need_processor("x86_64")
    return check_plt(folded)


CHAIN = ["main", "chain_first", "chain_second", "chain_third"]
NO_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer"]
DROP_TABLES = ["objcopy", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", "OUT"]

group.program("pie", "c_plain_chain.c", "-pie", "-fPIE")
group.program("non_pie", "c_plain_chain.c", "-no-pie", "-fno-pie")
group.program("static", "c_plain_chain.c", "-static")
group.program("static_pie", "c_plain_chain.c", "-static-pie", "-fPIE")
group.program("fp_only", "c_plain_chain.c", *NO_TABLES, after=[DROP_TABLES])
group.program("hdr_only_gone", "c_plain_chain.c",
              after=[["objcopy", "--remove-section=.eh_frame_hdr", "OUT"]])
group.program("debug_frame", "c_plain_chain.c", "-g", *NO_TABLES[:2], after=[DROP_TABLES])
group.program("moved_text", "c_plain_chain.c", "-pie", "-fPIE", "-Wl,-Ttext=0x812340")


def plain_chain(name, sentence, root=True):
    @group.case(name, sentence)
    def plain_chain_case(folded, engine):
        if root:
            check_rooted(folded)
        return check_chain(folded, *CHAIN)


plain_chain("pie", "a position-independent program")
plain_chain("non_pie", "a program at a fixed address")
plain_chain("static", "a static program")
plain_chain("static_pie", "a static position-independent program")
plain_chain("fp_only", "no .eh_frame at all, but frame pointers")
plain_chain("hdr_only_gone", "an .eh_frame without its index")
plain_chain("debug_frame", "no .eh_frame, no frame pointers, but .debug_frame")
plain_chain("moved_text", "text that lies at another place in memory than in the file")

group.program("stripped", "c_plain_chain.c", "-pie", "-fPIE", after=[["strip", "OUT"]])


@group.case("stripped", "a stripped program: frames are module+0xOFFSET, in the right functions")
def stripped(folded, engine):
    check_rooted(folded)
    ranges = symbols(compile_c("pie", "c_plain_chain.c", "-pie", "-fPIE"))

    def function(frame):
        found = re.fullmatch(r"stripped\+0x([0-9a-f]+)", frame)
        return next((name for name, (start, size) in ranges.items()
                     if found and start <= int(found[1], 16) < start + size), None)

    right = folded.where(lambda s: [f for f in map(function, s.frames) if f in CHAIN] == CHAIN)
    check(right.total >= 0.99 * folded.total, f"{percent(right.total / folded.total)} have the chain:",
          *folded.most_common())


# ---- code that is not in a program's file ------------------------------------------------------

group.program("vdso", "c_vdso.c")


@group.case("vdso", "the vDSO: named, with its callers")
def vdso(folded, engine):
    check_rooted(folded)
    in_vdso = re.compile(r"__vdso_clock_gettime|\[?vdso\]?\+0x[0-9a-f]+")
    check(folded.share(in_vdso) > 0.3, "too few samples in the vDSO:", *folded.most_common())
    check_chain(folded, "main", "ask_the_time")
    return check_chain(folded, "main", "ask_the_time", in_vdso, contiguous=False)


@group.starter("jit_map")
def start_jit_map():
    need_processor("x86_64")
    return Target(compile_c("jit_map", "c_jit.c"), "map")


@group.case("jit_map", "JIT code named by /tmp/perf-PID.map")
def jit_map(folded, engine):
    need_processor("x86_64")
    check_rooted(folded)
    return check_chain(folded, "main", "call_jit", "jit outer <with blanks>_[j]", "jit_inner_[j]")


@group.starter("jit_nameless")
def start_jit_nameless():
    need_processor("x86_64")
    return Target(compile_c("jit_nameless", "c_jit.c"))


@group.case("jit_nameless", "anonymous machine code with frame pointers: two frames under main")
def jit_nameless(folded, engine):
    need_processor("x86_64")
    check_rooted(folded)
    unnamed = re.compile(r"(?!\[unknown\]).+\+0x[0-9a-f]+(_\[j\])?")
    check(folded.share("main", "call_jit", unnamed, unnamed) >= 0.99, "the two frames are not there:",
          *folded.most_common())


if __name__ == "__main__":
    run_cases()
