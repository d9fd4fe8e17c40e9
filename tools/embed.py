#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one self-contained page of an HTML file and its style sheet and scripts, as C.

usage: embed.py PAGE.html OUT.c

In the page:
  <link rel="stylesheet" href="x.css">         becomes <style> with the content of x.css
  <script type="module" src="x.js"></script>   becomes <script> with x.js and all it imports
  {{hashes:script}}, {{hashes:style}}          become the sha256 sources for a Content-Security-Policy
  {{slot:NAME}}                                is where the program writes NAME

ES modules are joined by leaving out `import` and `export`, so names at the top level of all modules
must differ; two of the same name make the browser refuse the script, which the browser tests see.
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r"^import\s*\{[^}]*\}\s*from\s*'(\./[\w.-]+\.js)';\n", re.M)
EXPORT = re.compile(r"^export (?=(const|let|function|class) )", re.M)
LEFT_OVER = re.compile(r"^(import|export)\b.*", re.M)
STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">')
SCRIPT = re.compile(r'<script type="module" src="([\w.-]+)"></script>')
SLOT = re.compile(r"\{\{slot:(\w+)\}\}")


def read(path):
    # The browser makes every line end a newline before it hashes; so must we.
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def join_modules(path, seen):
    """The text of a module after the text of those it imports, each once."""
    if path in seen:
        return ""
    seen.add(path)
    text = read(path)
    before = "".join(join_modules(path.parent / m, seen) for m in IMPORT.findall(text))
    text = EXPORT.sub("", IMPORT.sub("", text))
    if left := LEFT_OVER.search(text):
        sys.exit(f"{path}: cannot embed this form: {left.group()}")
    return before + text


def checked(path, text, end_tag):
    if re.search(r"</(script|style)|<!--", text, re.I):
        sys.exit(f"{path}: {end_tag} or a comment's beginning would end the element early")
    if SLOT.search(text):
        sys.exit(f"{path}: a slot can only stand in the page itself")
    return text


def source(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def inline(page):
    hashes = {"style": [], "script": []}

    def style(match):
        path = page.parent / match.group(1)
        text = "\n" + checked(path, read(path), "</style")
        hashes["style"].append(source(text))
        return f"<style>{text}</style>"

    def script(match):
        path = page.parent / match.group(1)
        text = "\n" + checked(path, join_modules(path, set()), "</script")
        hashes["script"].append(source(text))
        return f'<script type="module">{text}</script>'

    html = SCRIPT.sub(script, STYLE.sub(style, read(page)))
    for kind, sources in hashes.items():
        html = html.replace("{{hashes:%s}}" % kind, " ".join(sources))
    if re.search(r'<(script|link|img)\b[^>]*\b(src|href)="(?!data:)', html):
        sys.exit(f"{page}: something is left that the page would have to load")
    return html


def c_literal(text):
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "?": "\\?"}

    def char(c):
        if c in escapes:
            return escapes[c]
        # Octal: a hexadecimal escape would swallow a digit that follows.
        return c if " " <= c <= "~" else "".join(f"\\{b:03o}" for b in c.encode())

    lines = re.findall(r"[^\n]*\n|[^\n]+", text) or [""]
    return "\n".join('\t  "' + "".join(map(char, line)) + '"' for line in lines)


def main():
    page, out = map(Path, sys.argv[1:])
    parts = SLOT.split(inline(page))
    pieces = zip(parts[0::2], parts[1::2] + [None])
    c = "// Made by tools/embed.py. Do not edit.\n"
    c += '#include "format/page.h"\n\nconst struct page_piece page_pieces[] = {\n'
    for text, slot in pieces:
        slot = f'"{slot}"' if slot else "NULL"
        c += f"\t{{ // {len(text.encode())} bytes\n{c_literal(text)},\n\t  {len(text.encode())}, {slot} }},\n"
    c += "};\nconst size_t page_piece_count = sizeof(page_pieces) / sizeof(page_pieces[0]);\n"
    out.write_text(c, encoding="utf-8")


if __name__ == "__main__":
    main()
