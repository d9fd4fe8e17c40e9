# SPDX-License-Identifier: Apache-2.0
"""Kernels of Debian, fetched by apt from the mirrors of this machine and taken out of their packages.

Nothing is installed: apt works in a directory of its own, with its own package lists, and of a
package only the one file that is wanted is read."""

import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from support import BUILD, Failure, Skip, need_tool

HOME = BUILD / "matrix/kernels"
KEEP_SECONDS = 7 * 24 * 3600
DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Kernel:
    name: str
    suite: str
    engine: str = "bpf"  # the best that works with it

    @property
    def home(self):
        return HOME / self.name.lower().replace(" ", "-")


# Always depends on the newest kernel.
PACKAGE = "linux-image-cloud-amd64"


def sources_of(kernel):
    """"URL SUITE" lines for the kernel's suite, on the mirrors that this machine takes Debian from."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(LABEL)|$(REPO_URI)",
                             "Created-By: Packages", "Origin: Debian"],
                            capture_output=True, text=True).stdout
    mirrors = dict(line.split("|", 1) for line in sorted(set(listed.splitlines())))
    if "Debian" not in mirrors:
        raise Skip("apt has no list of Debian's packages here")
    sources = [f"{mirrors['Debian']} {kernel.suite}"]
    if "Debian-Security" in mirrors and kernel.suite != "sid":
        sources.append(f"{mirrors['Debian-Security']} {kernel.suite}-security")
    return sources


class Apt:
    """apt-get and apt-cache in a directory of their own."""

    def __init__(self, home, sources, keys):
        self.home = home
        for folder in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d",
                       "etc/apt/trusted.gpg.d", "var/lib/apt/lists/partial", "var/lib/dpkg",
                       "var/cache/apt/archives/partial", "packages"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "var/lib/dpkg/status").touch()
        (home / "etc/apt/sources.list").write_text(
            "".join(f"deb [arch=amd64 signed-by={keys}] {source} main\n" for source in sources))
        self.run("apt-get", "update")

    def run(self, tool, *args):
        done = subprocess.run(
            [tool, "-q", "-o", f"Dir={self.home}", "-o", "APT::Architecture=amd64",
             "-o", f"Dir::State::status={self.home}/var/lib/dpkg/status",
             "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none",
             "-o", "Acquire::http::Timeout=30", "-o", "APT::Update::Error-Mode=any", *args],
            cwd=self.home / "packages", capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            reason = [line for line in done.stderr.splitlines() if line.startswith("E: ")]
            raise Skip(f"{tool} {args[0]}: {(reason or ['failed'])[0].removeprefix('E: ')}")
        return done.stdout

    def needs(self, package, *prefixes):
        """The first package that this one depends on and whose name begins with one of these."""
        for line in self.run("apt-cache", "depends", "--important", package).splitlines():
            name = line.strip().removeprefix("Depends: ")
            if name != line.strip() and name.startswith(prefixes):
                return name
        return None

    def read(self, package, part):
        """The file whose path has this part, out of the package; and the package's version."""
        for old in (self.home / "packages").glob("*.deb"):
            old.unlink()
        self.run("apt-get", "download", package)
        archive = next((self.home / "packages").glob("*.deb"))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as tar:
            with tarfile.open(fileobj=tar.stdout, mode="r|") as members:
                data = next((members.extractfile(m).read() for m in members
                             if m.isfile() and part in m.name), None)
            tar.stdout.read()
        version = archive.name.split("_")[1]
        archive.unlink()
        if not data:
            raise Failure(f"{package} {version} has no {part}")
        return data, f"{package} {version}"


def fetch(kernel):
    """The kernel's image and which one it is. Fetched again when it is a week old."""
    image, label = kernel.home / "vmlinuz", kernel.home / "package"
    if label.exists() and time.time() - label.stat().st_mtime < KEEP_SECONDS:
        return image, label.read_text()
    if not DEBIAN_KEYS.exists():
        raise Skip("Debian's keys are not here (debian-archive-keyring)")
    need_tool("apt-get", "dpkg-deb")
    sources = sources_of(kernel)
    apt = Apt(kernel.home / "apt", sources, DEBIAN_KEYS)
    package = apt.needs(PACKAGE, *(f"linux-image-{digit}" for digit in "456789"))
    if not package:
        raise Skip(f"{PACKAGE} is not in {sources[0]}")
    # Newer packages of that name only name the one with the image.
    package = apt.needs(package, "linux-binary-") or package
    data, name = apt.read(package, "/vmlinuz")
    image.write_bytes(data)
    label.write_text(name)
    return image, name
