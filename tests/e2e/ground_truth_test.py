#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with a known split of CPU time: wick must measure that split, with whole call chains.

The targets burn up to deadlines on their thread's CPU clock, so the split is exact by construction.
At 999 Hz 5 s of CPU time give 4,995 samples. (On a busy machine it may be fewer, for no more than
10 s are recorded.) Drawn independently, a share of 50 % would then have a standard error of 0.71
percentage points, one of 20 % 0.57; regular sampling does better. The tolerance of 3 points is
more than four standard errors.
"""

import contextlib
import functools
import re

from support import (Target, case, check, check_chain, compile_c, compile_go, compile_rust, percent,
                     record, record_cpu, run_cases)

HZ, SECONDS, TOLERANCE = 999, 5, 0.03  # of CPU time

LAMBDA = r"shop::scan\(.*\)::\{lambda\(.*\)#1\}"
CPP_VISIT = re.compile(r"shop::Table<std::.*basic_string<char.*>, 4>::visit<" + LAMBDA + r" ?>")
CPP_LAMBDA = re.compile(LAMBDA + r"::operator\(\)")
RUST_COOK = re.compile(r"<rust_known_split::kitchen::Soup as rust_known_split::kitchen::Dish>::cook")
RUST_EACH = re.compile(r"rust_known_split::each_order(::<.*>)?")
RUST_ROOT = ["rust_known_split::main", "rust_known_split::serve_all"]

# Name of the program → how it is built, and (share, chain from the outermost frame to the leaf) ...
PROGRAMS = {
    "c_split": (lambda: compile_c("c_split", "c_known_split.c"), [
        (0.5, ["main", "handle_read", "decode_page", "inflate_block", "copy_bytes"]),
        (0.3, ["main", "handle_write", "checksum"]),
        (0.2, ["main", "housekeeping"]),
    ]),
    "cpp_split": (lambda: compile_c("cpp_split", "cpp_known_split.cpp"), [
        (0.4, ["main", "shop::SteamEngine::run", "shop::SteamEngine::stoke"]),
        (0.4, ["main", "shop::scan", CPP_VISIT, CPP_LAMBDA]),
        (0.2, ["main", "shop::fail_often"]),
    ]),
    "rust_v0": (lambda: compile_rust("rust_v0", "rust_known_split.rs", "-C", "symbol-mangling-version=v0"), [
        (0.5, [*RUST_ROOT, RUST_COOK, "rust_known_split::kitchen::boil"]),
        (0.3, [*RUST_ROOT, "rust_known_split::lunch", RUST_EACH, "rust_known_split::grill"]),
        (0.2, [*RUST_ROOT, "rust_known_split::kitchen::wash"]),
    ]),
    "go_split": (lambda: compile_go("go_split", "go_known_split.go"), [
        (0.5, ["runtime.main", "main.main", "main.Soup.Cook", "main.boil"]),
        (0.3, ["runtime.main", "main.main", "main.lunch", "main.eachOrder", "main.lunch.func1"]),
        (0.2, ["runtime.main", "main.main", "main.wash"]),
    ]),
}
# To land in the handler of an exception libgcc writes the handler's registers over those it has saved
# in its own frames, and then changes stacks by hand: for that moment nothing tells who called it.
KNOWN_GAPS = {"shop::fail_often": 0.97}
# Recorded together: each of the two has a CPU to itself on a machine with two.
PAIRS = [("c_split", "cpp_split"), ("rust_v0", "go_split")]


@functools.cache
def recording(pair, engine):
    """One recording of the programs of a pair that can be built here; and the CPU time of each."""
    with contextlib.ExitStack() as stack:
        targets = {}
        for name in pair:
            with contextlib.suppress(Exception):  # told by the case that needs it
                targets[name] = stack.enter_context(Target(PROGRAMS[name][0]()))
        result, used = record_cpu(targets.values(), SECONDS, engine=engine, hz=HZ, limit=2 * SECONDS)
        return result, {name: used[target.pid] for name, target in targets.items()}


def check_program(name, engine):
    build, expected = PROGRAMS[name]
    build()
    result, used = recording(next(pair for pair in PAIRS if name in pair), engine)
    folded = result.folded.process(name)
    # More was recorded than was measured: the moment before `used` began to be counted.
    notes = [f"{folded.total} samples, {used[name]:.2f} s of CPU time"]
    check(folded.total + result.lost > 0.95 * HZ * used[name], notes[0], str(result))
    for share, chain in expected:
        measured = folded.share(chain[-1])
        notes.append(f"{percent(measured)} instead of {percent(share)} in {chain[-1]}")
        check(abs(measured - share) <= TOLERANCE, notes[-1] + "; most often:", *folded.most_common())
        notes.append(check_chain(folded, *chain, samples=100, at_least=KNOWN_GAPS.get(chain[-1], 0.99),
                                 contiguous=not name.startswith("rust")))  # it may inline a closure
    return "\n".join(notes)


@case("C: shares of CPU time within 3 points, whole chains", engines=True)
def c(engine):
    return check_program("c_split", engine)


@case("C++: shares of CPU time within 3 points, whole chains", engines=True)
def cpp(engine):
    return check_program("cpp_split", engine)


@case("C++: whole chains while an exception is thrown", engines=True)
def cpp_exceptions(engine):
    folded = recording(PAIRS[0], engine)[0].folded.process("cpp_split")
    place, refuse = (f"shop::(anonymous namespace)::{name}" for name in ("place", "refuse"))
    thrown = folded.having("shop::fail_often")
    check_chain(thrown, "main", "shop::fail_often", place, refuse, "__cxa_throw", samples=50)
    return check_chain(thrown, "main", "shop::fail_often", place, refuse, "__cxa_throw",
                       "_Unwind_RaiseException", samples=50, at_least=0.95)


@case("Rust: shares of CPU time within 3 points, whole chains", engines=True)
def rust(engine):
    return check_program("rust_v0", engine)


@case("Go: shares of CPU time within 3 points, whole chains", engines=True)
def go(engine):
    return check_program("go_split", engine)


@case("Rust: names of both manglings, without hashes")
def rust_legacy():
    program = compile_rust("rust_legacy", "rust_known_split.rs", "-Z", "unstable-options",
                           "-C", "symbol-mangling-version=legacy")
    with Target(program) as target:
        folded = record("-p", target.pid, seconds=1).folded
    for _, chain in PROGRAMS["rust_v0"][1]:
        check_chain(folded, *chain, contiguous=False)
    hashes = sorted(name for name in folded.names() if re.search(r"::h[0-9a-f]{16}$", name))
    check(not hashes, "names end in a hash:", *hashes[:5])


if __name__ == "__main__":
    run_cases()
