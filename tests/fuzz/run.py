#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets libFuzzer work on every fuzzer of build/fuzz. What it finds interesting is kept in
build/fuzz/corpus/NAME for the next time; an input that does harm in build/fuzz/found/NAME-*."""
import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "fuzz"


def fuzz(name, program, seconds):
    """True if nothing was found."""
    known, seeds = BUILD / "corpus" / name, ROOT / "tests/fuzz/corpus" / name
    found, log = BUILD / "found", BUILD / f"{name}.log"
    known.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    with open(log, "wb") as out:
        status = subprocess.run([program, f"-max_total_time={seconds}", "-timeout=10",
                                 "-rss_limit_mb=2048", f"-artifact_prefix={found}/{name}-",
                                 str(known), str(seeds)], stdout=out, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL).returncode
    lines = log.read_text(errors="replace").splitlines()
    last = next((line for line in reversed(lines) if line.startswith("Done ")), "ended early")
    print(f"{'ok' if status == 0 else 'FAIL':5}{name:16} {last}", flush=True)
    if status != 0:
        print("\n".join(f"     | {line}" for line in lines[-60:]))
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each fuzzer")
    parser.add_argument("--only", metavar="NAME", help="just this one")
    args = parser.parse_args()
    targets = json.loads((BUILD / "meson-info/intro-targets.json").read_text())
    fuzzers = sorted((t["name"].removeprefix("fuzz-"), t["filename"][0]) for t in targets
                     if t["name"].startswith("fuzz-"))
    fuzzers = [f for f in fuzzers if args.only in (None, f[0])]
    if not fuzzers:
        sys.exit("there are no fuzzers")
    print(f"== {len(fuzzers)} fuzzers, {args.seconds} s each", flush=True)
    failed = [name for name, program in fuzzers if not fuzz(name, program, args.seconds)]
    sys.exit(f"harm was found by: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
