#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file is forgotten: each C file is named in the meson.build that should build it, and each
fuzzer has seeds. A test that is not built cannot fail."""
import re

from _support import ROOT, Tap, self_test, source_files

# A C file that matches must be named (as the group, quoted) in the meson.build of that folder.
BUILT = [
    (re.compile(r"src/cli/(main\.c)"), "."),
    (re.compile(r"src/(\w+)/(?!bpf/).*\.c"), None),
    (re.compile(r"src/(\w+)/bpf/.*\.bpf\.c"), None),
    (re.compile(r"tests/unit/(\w+)/.*\.c"), None),
    (re.compile(r"tests/fuzz/fuzz_(\w+)\.c"), "tests/fuzz"),
]


def place_of(path):
    """(folder of the meson.build, text that must be in it) for a C file; None if it is nobody's."""
    for pattern, folder in BUILT:
        if match := pattern.fullmatch(str(path)):
            if folder == ".":
                return folder, f"'{path}'"
            if folder:
                return folder, f"'{match.group(1)}'"
            depth = 3 if path.parts[0] == "tests" else 2
            return "/".join(path.parts[:depth]), f"'{'/'.join(path.parts[depth:])}'"
    return None


def check_built(root):
    complaints = []
    for path in source_files(root):
        place = place_of(path) if path.suffix == ".c" else None
        if not place:
            continue
        listing = root / place[0] / "meson.build"
        if not listing.is_file() or place[1] not in listing.read_text(encoding="utf-8"):
            complaints.append(f"{path} is not built: {place[0]}/meson.build does not name it")
    return complaints


def check_seeds(root):
    files = source_files(root)
    return [f"{path} has no seeds in tests/fuzz/corpus/{match.group(1)}/" for path in files
            if (match := re.fullmatch(r"tests/fuzz/fuzz_(\w+)\.c", str(path)))
            and not any(str(f).startswith(f"tests/fuzz/corpus/{match.group(1)}/") for f in files)]


def main():
    tap = Tap()
    tap.check("every C file is built", check_built(ROOT))
    tap.check("every fuzzer has seeds", check_seeds(ROOT))
    self_test(tap, "files that are not built", check_built, {
        "meson.build": "executable('wick', 'src/cli/main.c')", "src/cli/main.c": "",
        "src/base/meson.build": "files('a.c')", "src/base/a.c": "", "src/base/b.c": "",
        "src/sampler/meson.build": "'bpf/x.bpf.c'", "src/sampler/bpf/x.bpf.c": "",
        "tests/unit/base/meson.build": "files('a_test.c')", "tests/unit/base/a_test.c": "",
        "tests/unit/base/b_test.c": "", "tests/unit/cli/c_test.c": "",
        "tests/fuzz/meson.build": "['one']", "tests/fuzz/fuzz_one.c": "",
        "tests/fuzz/fuzz_two.c": "", "tests/fuzz/main.c": "",
    }, ["src/base/b.c", "base/b_test.c", "cli/c_test.c", "fuzz_two.c"])
    self_test(tap, "a fuzzer without seeds", check_seeds, {
        "tests/fuzz/fuzz_one.c": "", "tests/fuzz/fuzz_two.c": "", "tests/fuzz/corpus/one/a": "",
    }, ["fuzz_two.c has no seeds"])
    tap.done()


if __name__ == "__main__":
    main()
