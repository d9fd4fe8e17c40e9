# SPDX-License-Identifier: Apache-2.0
"""What the checks of the source share: the list of files, TAP, and a place to break the rules in."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def source_files(root):
    """Paths below root, relative to it: all that git would track. Without git: all but build/."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root,
                             capture_output=True, text=True)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, files in os.walk(root) for name in files]
        names = [n for n in names if not n.startswith(("build/", ".git/")) and "/node_modules/"
                 not in n and "__pycache__" not in n]
    return sorted(Path(name) for name in names if (Path(root) / name).is_file())


class Tap:
    """Prints a test line for each check, and the plan at the end."""

    def __init__(self):
        self.count = 0
        self.failed = False

    def check(self, name, complaints):
        """Passes if there is nothing to complain about."""
        self.count += 1
        for complaint in complaints:
            print(f"# {complaint}")
        print(f"{'not ' if complaints else ''}ok {self.count} - {name}", flush=True)
        self.failed |= bool(complaints)

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


class Tree:
    """A small source tree of its own, to show that a check notices what it is for."""

    def __init__(self, files):
        self.files = files

    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="wick-lint-")
        for name, text in self.files.items():
            path = Path(self.dir.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Path(self.dir.name)

    def __exit__(self, *exc):
        self.dir.cleanup()


def self_test(tap, name, check, files, expected):
    """The check must complain about this tree once for each of the expected texts, and no more."""
    with Tree(files) as root:
        complaints = check(root)
    wrong = [f"not noticed: {text}" for text in expected
             if not any(text in complaint for complaint in complaints)]
    if len(complaints) != len(expected):
        wrong += [f"expected {len(expected)} complaints, got {len(complaints)}:"] + complaints
    tap.check(f"self-test: {name}", wrong)
