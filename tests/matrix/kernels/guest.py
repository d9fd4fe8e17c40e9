# SPDX-License-Identifier: Apache-2.0
"""A machine that runs another kernel: an archive of files for its memory, and the emulator."""

import gzip
import re
import stat
import subprocess
from pathlib import Path

from fetch import HOME, fetch
from support import ROOT, WICK, Failure, Skip, check, compile_c, need_processor, need_tool, run

HERE = Path(__file__).resolve().parent
TIMEOUT, TIMED_OUT = 300, 124  # seconds; what timeout(1) then exits with
# qemu's emulation of interrupts is not perfect: now and then a kernel dies before it has booted.
ATTEMPTS = 3


class Archive:
    """An initial file system: cpio's "newc" format."""

    def __init__(self):
        self.data, self.names = bytearray(), {""}

    def add(self, name, mode, content=b""):
        name = name.lstrip("/")
        if name in self.names:
            return
        self.names.add(name)
        if "/" in name:
            self.add(name.rpartition("/")[0], stat.S_IFDIR | 0o755)
        self._append(len(self.names), name, mode, content)

    def add_file(self, path, name=None):
        self.add(name or str(path), stat.S_IFREG | 0o755, Path(path).read_bytes())

    def add_program(self, path):
        """Into /bin, and its libraries where they are here."""
        self.add_file(path, f"bin/{Path(path).name}")
        listing = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listing):
            self.add_file(library)

    def finish(self):
        self._append(0, "TRAILER!!!", 0, b"")
        return gzip.compress(self.data, 1)

    def _append(self, inode, name, mode, content):
        fields = [inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        for part in (b"070701" + b"".join(b"%08X" % field for field in fields)
                     + name.encode() + b"\0", content):
            self.data += part + bytes(-len(part) % 4)


def build_verify():
    """A program that loads the kernel programs and tells how much work the verifier had."""
    need_tool("gcc")
    generated = WICK.resolve().parent / "src/sampler"
    check((generated / "sample.skel.h").exists(), f"{generated}/sample.skel.h is not built")
    out = HOME / "verify"
    run("gcc", "-O1", "-Wall", "-I", ROOT / "src", "-I", generated, "-o", out, HERE / "verify.c", "-lbpf")
    return out


def file_system():
    check(WICK.exists(), f"{WICK} is not built")
    archive = Archive()
    for folder in ("proc", "sys", "dev", "tmp"):
        archive.add(folder, stat.S_IFDIR | 0o755)
    need_tool("busybox")
    archive.add_program(run("which", "busybox").strip())
    for name in ("c_known_split", "c_syscalls", "c_process_tree"):
        archive.add_program(compile_c(name, f"{name}.c"))
    archive.add_program(build_verify())
    archive.add_program(WICK)
    archive.add_file(HERE / "init", "init")
    path = HOME / "initramfs.gz"
    path.write_bytes(archive.finish())
    return path


class Guest:
    """What happened in a machine with that kernel: the sections that init wrote."""

    def __init__(self, kernel):
        need_processor("x86_64")
        need_tool("qemu-system-x86_64")
        HOME.mkdir(parents=True, exist_ok=True)
        self.kernel = kernel
        image, self.label = fetch(kernel)
        files = file_system()
        self.sections = {}
        for _ in range(ATTEMPTS):
            console = self._boot(image, files)
            if "booted" in self.sections:
                break
        else:
            last = (console.strip().splitlines() or ["nothing on the console"])[-1]
            raise Skip(f"{self.label} does not boot in the emulator: {last}")
        if "end" not in self.sections:
            raise Failure("\n".join([f"the machine died after {list(self.sections)[-1]!r}:",
                                     *console.splitlines()[-30:]]))

    def _boot(self, image, files):
        console, results = self.kernel.home / "console.log", self.kernel.home / "results.log"
        # Software emulation: what a virtual machine can do within another differs too much.
        done = subprocess.run(
            ["timeout", "--kill-after=5", str(TIMEOUT), "nice", "qemu-system-x86_64", "-accel", "tcg",
             "-cpu", "max", "-smp", "2", "-m", "1G", "-kernel", image, "-initrd", files,
             "-append", "console=ttyS0 panic=-1 quiet", "-display", "none", "-monitor", "none",
             "-nic", "none", "-no-reboot", "-serial", f"file:{console}", "-serial", f"file:{results}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(done.returncode in (0, TIMED_OUT), "qemu failed:", done.stderr)
        self.sections = {}
        for text in re.split(r"^@@ ", results.read_text(errors="replace"), flags=re.M)[1:]:
            name, _, body = text.partition("\n")
            self.sections[name] = body
        return console.read_text(errors="replace")

    def __getitem__(self, name):
        check(name in self.sections, f"the machine has told nothing of {name!r}")
        return self.sections[name]
