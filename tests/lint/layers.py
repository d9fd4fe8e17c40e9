#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering of ARCHITECTURE.md: includes point downwards only, folders of one rank do not know
each other, each library is seen by one folder, includes are written from src/, and every header
compiles alone."""
import concurrent.futures
import os
import re
import shutil
import subprocess

from _support import ROOT, Tap, self_test, source_files

RANKS = [
    ("base", "wire"),
    ("profile", "object", "target"),
    ("unwind", "symbolize", "sampler", "store", "format"),
    ("runtime",),
    ("recording",),
    ("server",),
    ("cli",),
]
RANK = {folder: rank for rank, folders in enumerate(RANKS) for folder in folders}

# Which folder may see a library's headers.
LIBRARIES = [
    (re.compile(r"(libelf|gelf|nlist)\.h$"), "object"),
    (re.compile(r"(elfutils/.*|libdw|libdwfl|dwarf|libdebuginfod)(\.h)?$"), "object"),
    (re.compile(r"lzma(/.*)?\.h$"), "object"),
    (re.compile(r"(libiberty/.*|libiberty|demangle|ansidecl)(\.h)?$"), "object"),
    (re.compile(r"bpf/.*"), "sampler"),
    (re.compile(r"zlib\.h$"), "format"),
]

# The walker is compiled into the BPF programs, which live in the sampler.
EXCEPTIONS = [(re.compile(r"sampler/bpf/[^/]*\.bpf\.c"), re.compile(r"unwind/walk\.h"))]

GENERATED = re.compile(r".*\.skel\.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """(line number, quote, file) of every #include."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                yield number, match.group(1), match.group(2)


def library_folder(header):
    return next((folder for pattern, folder in LIBRARIES if pattern.match(header)), None)


def check_own(inside, folder, header, root):
    """What is wrong with `#include "header"` in src/<inside>, of the given folder."""
    other = header.split("/")[0]
    if other not in RANK or "/" not in header:
        return f'"{header}" is not written from src/'
    if not GENERATED.fullmatch(header) and not (root / "src" / header).is_file():
        return f"there is no src/{header}"
    if any(f.fullmatch(inside) and h.fullmatch(header) for f, h in EXCEPTIONS):
        return None
    if other == folder:
        return None
    if RANK[other] > RANK[folder]:
        return f"{folder}/ may not use {other}/, which stands above it"
    if RANK[other] == RANK[folder]:
        return f"{folder}/ may not use {other}/, which stands beside it"
    return None


def check_src_file(path, root):
    inside = str(path.relative_to("src"))
    folder = inside.split("/")[0]
    if folder not in RANK:
        yield f"{path}: no rank is given to the folder {folder}/"
        return
    for number, quote, header in includes(root / path):
        owner = library_folder(header)
        if quote == '"' and not owner:
            wrong = check_own(inside, folder, header, root)
        else:
            wrong = owner and owner != folder and f"<{header}> is for {owner}/ only"
        if wrong:
            yield f"{path}:{number}: {wrong}"


def check_agent_file(path, root):
    for number, quote, header in includes(root / path):
        if library_folder(header) or (quote == '"' and not header.startswith(("wire/", "agent/"))):
            yield f"{path}:{number}: agent/ may use wire/ and libc only, not {header}"


def check_layers(root):
    complaints = []
    for path in source_files(root):
        if path.suffix not in (".c", ".h"):
            continue
        if path.parts[0] == "src":
            complaints += check_src_file(path, root)
        elif path.parts[0] == "agent":
            complaints += check_agent_file(path, root)
    return complaints


def compile_alone(root, header):
    """Headers of BPF programs are compiled for BPF, as their only users are."""
    bpf = "src/sampler/bpf/" in str(header)
    compiler = ["clang", "-target", "bpf", "-D__TARGET_ARCH_x86"] if bpf else ["gcc"]
    # In a BPF program the kernel's types come first, always.
    first = '#include "sampler/bpf/vmlinux.h"\n#include <bpf/bpf_helpers.h>\n' if bpf else ""
    name = os.path.relpath(header, "src") if header.parts[0] == "src" else str(header)
    run = subprocess.run([*compiler, "-fsyntax-only", "-std=gnu17", "-D_GNU_SOURCE", "-Wall",
                          "-Wextra", "-Werror", "-Wno-unused-function", "-Isrc", "-I.", "-x", "c",
                          "-"], cwd=root, input=f'{first}#include "{name}"\n', text=True,
                         capture_output=True)
    if run.returncode == 0:
        return []
    return [f"{header} does not compile alone:"] + run.stderr.splitlines()[:5]


def check_headers(root):
    headers = [p for p in source_files(root)
               if p.suffix == ".h" and p.parts[0] in ("src", "agent", "tests")
               and p.name != "vmlinux.h" and p.parts[:2] != ("tests", "targets")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(lambda h: compile_alone(root, h), headers), [])


def test_the_check(tap):
    empty = "#pragma once\n"
    self_test(tap, "an upward, a sideward and a correct include", check_layers, {
        "src/base/a.h": empty, "src/target/t.h": empty, "src/cli/c.h": empty,
        "src/object/x.c": '#include "cli/c.h"\n#include "target/t.h"\n#include "base/a.h"\n',
    }, ["x.c:1: object/ may not use cli/", "x.c:2: object/ may not use target/"])
    self_test(tap, "base and wire do not know each other", check_layers, {
        "src/base/a.h": empty, "src/wire/w.h": '#include "base/a.h"\n',
    }, ["wire/ may not use base/"])
    self_test(tap, "includes not written from src/, or of nothing", check_layers, {
        "src/base/a.h": empty, "src/base/b.c": '#include "a.h"\n#include "../base/a.h"\n'
        '#include "base/gone.h"\n#include "sampler/x.skel.h"\n',
    }, ['"a.h" is not written', '"../base/a.h" is not written', "no src/base/gone.h",
        "may not use sampler/"])
    self_test(tap, "a library outside of its folder", check_layers, {
        "src/object/o.c": "#include <libelf.h>\n#include <zlib.h>\n#include <stdio.h>\n",
        "src/sampler/s.c": "#include <bpf/libbpf.h>\n#include <lzma.h>\n",
        "src/cli/c.c": "#include <elfutils/libdw.h>\n#include <linux/bpf.h>\n",
    }, ["<zlib.h> is for format/", "<lzma.h> is for object/", "<elfutils/libdw.h> is for object/"])
    self_test(tap, "only a BPF program may use the walker from the sampler", check_layers, {
        "src/unwind/walk.h": empty, "src/unwind/other.h": empty,
        "src/sampler/bpf/p.bpf.c": '#include "unwind/walk.h"\n#include "unwind/other.h"\n',
        "src/sampler/s.c": '#include "unwind/walk.h"\n',
    }, ["p.bpf.c:2: sampler/ may not use unwind/", "s.c:1: sampler/ may not use unwind/"])
    self_test(tap, "the agent", check_layers, {
        "src/wire/w.h": empty, "src/base/a.h": empty,
        "agent/a.c": '#include "wire/w.h"\n#include <stdio.h>\n#include "base/a.h"\n',
    }, ["agent/a.c:3"])
    self_test(tap, "a folder nobody ranked", check_layers, {"src/util/u.c": ""}, ["util/"])
    self_test(tap, "a header that needs another one before it", lambda root: check_headers(root)[:1],
              {"src/base/a.h": "#pragma once\nsize_t a(void);\n",
               "src/base/b.h": "#pragma once\n#include <stddef.h>\nsize_t b(void);\n"},
              ["a.h does not compile alone"])


def main():
    tap = Tap()
    tap.check("includes follow the layers", check_layers(ROOT))
    if shutil.which("gcc") and shutil.which("clang"):
        tap.check("every header compiles alone", check_headers(ROOT))
    else:
        tap.skip("every header compiles alone", "gcc or clang is not installed")
    test_the_check(tap)
    tap.done()


if __name__ == "__main__":
    main()
