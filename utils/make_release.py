# ===- make_release.py - The files of a release -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Makes the files of a release.

    ./dev release                  build/release/
    ./dev release --wheel FILE     takes that wheel instead of making wheels
    ./dev release --bolt           as ./dev wheel --bolt

The folder then holds:

    loopc-VERSION-....whl          a wheel for the Python of .venv, and for all from 3.12 on
                                   where such a Python is found
    loopc-VERSION-linux-CPU.tar.gz the commands, libraries, headers and CMake files, for
                                   programs of C and C++ without Python
    loopc-VERSION.spdx.json        the software bill of materials (SPDX 2.3)
    RELEASE_NOTES.md               what has changed (CHANGELOG.md), and what each file is
    SHA256SUMS                     checksums (sha256sum --check SHA256SUMS)

Exit status 1 where something is missing; a folder that was there before is then as it was.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence

from make_wheel import OLDEST, PROGRAMS, choose_pythons, make_wheel
from sbom import make_sbom
from standalone import ROOT, PackError, version

#: Files of the repository that the archive has in its first folder.
TEXTS = ("LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md")
NOTES = """\
# loopc {version}

{changes}

## Files

| file | bytes | what it is |
|---|--:|---|
{files}

`pip install` takes the wheel. `sha256sum --check SHA256SUMS` checks what was downloaded.
"""


def changes(text: str, of: str) -> str:
    """The section of a version in CHANGELOG.md.

    Raises:
        PackError: the file has no such section.
    """
    found = re.search(rf"^## {re.escape(of)}\b.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found or not found[1].strip():
        raise PackError(f"CHANGELOG.md has no section '## {of}'")
    return found[1].strip()


def created_at() -> datetime.datetime:
    """SOURCE_DATE_EPOCH, or the time of the last commit, or now."""
    asked = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not asked:
        command = ["git", "log", "-1", "--format=%ct"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        asked = done.stdout.strip()
    if not asked.isdigit():
        return datetime.datetime.now(datetime.UTC)
    return datetime.datetime.fromtimestamp(int(asked), datetime.UTC)


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int, when: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(content), mode, when
    tar.addfile(entry, io.BytesIO(content))


def make_archive(wheel: pathlib.Path, out: pathlib.Path, when: int) -> pathlib.Path:
    """The archive for programs of C and C++: what a wheel holds beside Python's modules.

    The same files give the same bytes.
    """
    name = f"loopc-{version()}-linux-{platform.machine()}"
    made = out / f"{name}.tar.gz"
    share = f"loopc-{version()}.data/data/"
    with (
        zipfile.ZipFile(wheel) as packed,
        made.open("wb") as file,
        gzip.GzipFile("", "wb", 6, fileobj=file, mtime=when) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for text in TEXTS:
            _add(tar, f"{name}/{text}", (ROOT / text).read_bytes(), 0o644, when)
        for member in sorted(packed.namelist()):
            into = ""
            if member.startswith(share):
                into = member.removeprefix(share)
            elif member.startswith(("loopc/lib/", "loopc/include/")):
                into = member.removeprefix("loopc/")
            if into:
                content = packed.read(member)
                mode = 0o755 if into.removeprefix("lib/") in PROGRAMS else 0o644
                _add(tar, f"{name}/{into}", content, mode, when)
        # The programs lie beside their libraries; these find them from bin/.
        for program in PROGRAMS:
            link = tarfile.TarInfo(f"{name}/bin/{program}")
            link.type, link.linkname, link.mtime = tarfile.SYMTYPE, f"../lib/{program}", when
            tar.addfile(link)
    return made


def describe(file: pathlib.Path) -> str:
    """What a file of the release is, for its notes."""
    if file.suffix == ".whl":
        _, _, python, abi, system = file.stem.split("-")
        number = f"3.{python.removeprefix('cp3')}"
        later = " and later" if abi == "abi3" else ""
        _, two, minor, machine = system.split("_", 3)
        return f"Python {number}{later}, Linux with glibc {two}.{minor} or later, {machine}"
    if file.name.endswith(".tar.gz"):
        return "commands, libraries, headers and CMake files, for programs of C and C++"
    return "the software bill of materials (SPDX)"


def make_release(
    build: pathlib.Path, out: pathlib.Path, wheels: Sequence[pathlib.Path], reorders: bool
) -> None:
    """Makes all files in the folder `out`, which is replaced as a whole.

    Raises:
        PackError: something is missing, or the folder holds something else than a release.
    """
    if out.exists() and any(out.iterdir()) and not (out / "SHA256SUMS").is_file():
        raise PackError(f"{out} holds other files: name a new folder by --out")
    when = created_at()
    notes = changes((ROOT / "CHANGELOG.md").read_text(), version())
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".release-") as scratch:
        folder = pathlib.Path(scratch) / out.name
        folder.mkdir()
        for wheel in wheels:
            shutil.copy(wheel, folder)
        if not wheels:
            pythons = choose_pythons()
            print(f"A wheel for {' and '.join(pythons)}", flush=True)
            make_wheel(build, folder, pythons, OLDEST, reorders)
        made = sorted(folder.glob("*.whl"))
        made.append(make_archive(made[0], folder, int(when.timestamp())))
        made.append(folder / f"loopc-{version()}.spdx.json")
        made[-1].write_text(json.dumps(make_sbom(build, when), indent=2) + "\n")
        rows = [f"| {file.name} | {file.stat().st_size} | {describe(file)} |" for file in made]
        text = NOTES.format(version=version(), changes=notes, files="\n".join(rows))
        made.append(folder / "RELEASE_NOTES.md")
        made[-1].write_text(text)
        sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in made]
        (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n")
        if out.exists():
            shutil.rmtree(out)
        folder.rename(out)


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the release, and returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="./dev release", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="default: BUILD/release")
    parser.add_argument("--wheel", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="a wheel to take, instead of new ones; may be repeated")  # fmt: skip
    parser.add_argument("--bolt", action="store_true", help="write the compiler again by BOLT")
    options = parser.parse_args(argv)
    build = options.build.resolve()
    out = (options.out or build / "release").resolve()
    try:
        make_release(build, out, options.wheel, options.bolt)
    except (PackError, OSError, zipfile.BadZipFile) as error:
        print(f"make_release: {error}", file=sys.stderr)
        return 1
    for file in sorted(out.iterdir()):
        print(f"{file}: {file.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
