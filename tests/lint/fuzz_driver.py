#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/fuzz/main.c itself: a parser with a planted fault must not survive its corpus."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from _support import ROOT, Tap

HEAD = '#include <stdlib.h>\n#include "tests/fuzz/fuzz.h"\n' \
       "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n"
TAIL = "\treturn 0;\n}\n"

# name: (body, exit is 0, what the output has in it)
FUZZERS = {
    "a parser without fault": ("\t(void)data; (void)size;\n", True, "ok 2 - 2000 mutations"),
    "a read behind the end, on a cut input":
        ("\tif (size == 3 && data[3] == 'x') abort();\n", False, "heap-buffer-overflow"),
    "an undefined shift, on one flipped bit":
        ("\tif (size && data[0] == 'c') { volatile int n = 40; return (1 << n) & 0; }\n", False,
         "shift exponent"),
    "a leak": ("\tif (size > 1) { char *volatile p = malloc(size); p = NULL; }\n"
               "\t(void)data;\n", False, "LeakSanitizer"),
    "an endless loop": ("\tif (size != 8) for (volatile int i = 0;; i++) ;\n\t(void)data;\n", False,
                        "takes too long"),
}


def build(folder, body):
    fuzzer, program = Path(folder) / "fuzz.c", Path(folder) / "fuzz-planted"
    fuzzer.write_text(HEAD + body + TAIL)
    sources = [ROOT / "tests/fuzz/main.c", *(ROOT / "src/base").glob("*.c")]
    subprocess.run(["gcc", "-g", "-std=gnu17", "-D_GNU_SOURCE", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", "-fno-strict-aliasing", "-DHANG_SECONDS=1",
                    f"-I{ROOT}/src", f"-I{ROOT}", *map(str, sources), str(fuzzer), "-o",
                    str(program)], check=True)
    return program


def try_fuzzer(body, ends_well, text):
    with tempfile.TemporaryDirectory(prefix="wick-fuzz-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        (corpus / "seed").write_bytes(b"bcdefghi")
        run = subprocess.run([str(build(folder, body)), str(corpus)], capture_output=True,
                             env=dict(os.environ, WICK_BUILD=folder), timeout=60)
        output = (run.stdout + run.stderr).decode(errors="replace")
        kept = (Path(folder) / "crash-fuzz-planted").exists()
    complaints = [] if (run.returncode == 0) == ends_well else [f"exit status {run.returncode}"]
    complaints += [] if text in output else [f"no “{text}” in the output"]
    if not ends_well and text != "LeakSanitizer" and not kept:
        complaints.append("the input was not kept")
    return complaints + (output.splitlines()[:20] if complaints else [])


def main():
    tap = Tap()
    for name, (body, ends_well, text) in FUZZERS.items():
        if shutil.which("gcc"):
            tap.check(name, try_fuzzer(body, ends_well, text))
        else:
            tap.skip(name, "gcc is not installed")
    tap.done()


if __name__ == "__main__":
    main()
