#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the text of the source: nothing left for later, nothing too long to read, nothing
invisible, a licence line in each file, and no functions that invite overruns."""
import re

from _support import ROOT, Tap, self_test, source_files

CODE = {".c", ".h", ".py", ".js", ".mjs", ".css", ".sh", ".S"}
TEXT = CODE | {".md", ".html", ".build", ".txt", ".yml", ".yaml", ".json", ""}
NOT_OURS = re.compile(r"LICENSE|tests/fuzz/corpus/.*|.*/?package-lock\.json")

FILE_LINES = 700
FUNCTION_LINES = 60

# Written so that this file does not break its own rule.
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|strtok|strtok_r|atoi|atol|alloca|gets)\s*\(")
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                               re.DOTALL)


def texts(root):
    """(path, text) of every text file of ours."""
    for path in source_files(root):
        if NOT_OURS.fullmatch(str(path)) or path.suffix not in TEXT:
            continue
        data = (root / path).read_bytes()
        if b"\0" not in data:
            yield path, data.decode("utf-8", errors="replace")


def is_code(path, text):
    return path.suffix in CODE or text.startswith("#!")


def lines_matching(root, pattern, select=lambda path: True):
    return [f"{path}:{number}: {line.strip()[:80]}"
            for path, text in texts(root) if select(path)
            for number, line in enumerate(text.split("\n"), 1) if pattern.search(line)]


def check_later(root):
    return lines_matching(root, LATER)


def check_trailing_blanks(root):
    return lines_matching(root, re.compile(r"[ \t\r]+$"))


def check_file_length(root):
    return [f"{path} has {text.count(chr(10))} lines, more than {FILE_LINES}"
            for path, text in texts(root) if text.count("\n") > FILE_LINES]


def check_function_length(root):
    """In the project's layout a function's braces are the first on their lines. A test may be a
    long table."""
    complaints = []
    for path, text in texts(root):
        if path.suffix not in (".c", ".h") or path.parts[0] == "tests":
            continue
        start = None
        for number, line in enumerate(text.split("\n"), 1):
            if line == "{":
                start = number
            elif line == "}" and start is not None:
                if number - start - 1 > FUNCTION_LINES:
                    complaints.append(f"{path}:{start}: a function of {number - start - 1} lines, "
                                      f"more than {FUNCTION_LINES}")
                start = None
    return complaints


def check_licence(root):
    return [f"{path}: no SPDX-License-Identifier in the first three lines"
            for path, text in texts(root) if is_code(path, text)
            and "SPDX-License-Identifier: " not in "\n".join(text.split("\n", 3)[:3])]


def check_banned(root):
    complaints = []
    for path, text in texts(root):
        if path.suffix not in (".c", ".h") or path.parts[0] != "src":
            continue
        # Blank out comments and strings, but keep the line numbers.
        bare = COMMENT_OR_STRING.sub(lambda m: "\n" * m.group(0).count("\n"), text)
        complaints += [f"{path}:{bare.count(chr(10), 0, m.start()) + 1}: {m.group(1)}() is banned"
                       for m in BANNED.finditer(bare)]
    return complaints


def test_the_checks(tap):
    later = "TO" + "DO"
    self_test(tap, "work left for later", check_later, {
        "a.c": f"int a; // {later}: b\n", "b.md": "FIX" + "ME\n", "c.c": '"/tmp/a-XXXXXX"\n',
        "tests/fuzz/corpus/x/y.txt": later + "\n"}, ["a.c:1", "b.md:1"])
    self_test(tap, "trailing blanks", check_trailing_blanks, {
        "a.c": "int a; \nint b;\n", "Makefile": "x:\n\t\n", "b.py": "x\r\n"},
        ["a.c:1", "Makefile:2", "b.py:1"])
    self_test(tap, "a long file", check_file_length, {
        "a.c": "\n" * 701, "b.c": "\n" * 700}, ["a.c has 701"])
    body = "\tx();\n"
    self_test(tap, "a long function", check_function_length, {
        "a.c": "void f(void)\n{\n" + body * 61 + "}\n", "b.c": "void f(void)\n{\n" + body * 60
        + "}\n\nint t[] = {\n" + "\t1,\n" * 90 + "};\n",
        "tests/c.c": "void f(void)\n{\n" + body * 61 + "}\n"}, ["a.c:2: a function of 61 lines"])
    licence = "// SPDX-License-Identifier: Apache-2.0\n"
    self_test(tap, "a file without its licence", check_licence, {
        "a.c": "int a;\n", "b.c": licence, "tool": "#!/bin/sh\n", "c.md": "text\n",
        "d.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n"},
        ["a.c", "tool"])
    self_test(tap, "a banned function", check_banned, {
        "src/a.c": 'int a = atoi("1");\n// strcpy(a, b)\n/* gets(\n) */ char *s = "sprintf(";\n'
                   "  my_gets(); fgets(); strcat (x, y);\n", "tests/b.c": "atoi(x);\n"},
        ["src/a.c:1: atoi()", "src/a.c:5: strcat()"])


def main():
    tap = Tap()
    tap.check("nothing is left for later", check_later(ROOT))
    tap.check("no trailing blanks", check_trailing_blanks(ROOT))
    tap.check(f"no file is longer than {FILE_LINES} lines", check_file_length(ROOT))
    tap.check(f"no function is longer than {FUNCTION_LINES} lines", check_function_length(ROOT))
    tap.check("every source file names its licence", check_licence(ROOT))
    tap.check("no banned function is called", check_banned(ROOT))
    test_the_checks(tap)
    tap.done()


if __name__ == "__main__":
    main()
