#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All C files are laid out as .clang-format says (`make format` does it)."""
import shutil
import subprocess

from _support import ROOT, Tap, self_test, source_files


def check_format(root):
    files = [str(p) for p in source_files(root) if p.suffix in (".c", ".h")]
    if not files:
        return ["there are no C files"]
    style = ROOT / ".clang-format"
    run = subprocess.run(["clang-format", f"--style=file:{style}", "--dry-run", "-Werror", *files],
                         cwd=root, capture_output=True, text=True)
    lines = run.stderr.splitlines()
    complaints = [line for line in lines if ": error: " in line or ": warning: " in line]
    return complaints or (lines[:5] if run.returncode != 0 else [])


def main():
    tap = Tap()
    if not shutil.which("clang-format"):
        tap.skip("all C files have the project's layout", "clang-format is not installed")
        tap.done()
    tap.check("all C files have the project's layout", check_format(ROOT))
    self_test(tap, "a well and a badly laid out file", check_format, {
        "good.c": "int f(void)\n{\n\treturn 1;\n}\n", "bad.c": "int f(void)\n{\n  return 1;\n}\n",
    }, ["bad.c:2"])
    tap.done()


if __name__ == "__main__":
    main()
