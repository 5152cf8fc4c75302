# ===- make_wheel.py - loopc as a Python wheel ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Packs loopc as a wheel, which `pip install` takes on machines without LLVM.

    ./dev wheel                       build/wheels/loopc-VERSION-....whl
    ./dev wheel --python python3.12   for that Python (3.12 and later: and all after it)
    ./dev wheel --bolt                the compiler is written again by LLVM's BOLT

Without `--python` the wheel is for the Python of .venv and, where a Python of 3.12 or later
is found, for all that come after both: it has an extension module for the first one and one
with the stable ABI, which begins with 3.12.

With `--bolt`, LLVM's BOLT (apt-get install bolt-22) writes the compiler again, in the order
in which its code runs. It then takes 0.89 of the CPU time; making the wheel takes six minutes
of CPU time more, and 6 GB of free memory at least (bolt.py).

In it are the package `loopc`, the commands `loopc` and `loopc-run`, the runtimes that
compiled models link with (for x86-64 and AArch64), the headers (`loopc.get_include()`), and
the libraries of ImageDecoder (without TIFF) and Tokenizer. It takes Linux with glibc
2.34 or later and the C++ library of GCC 11 (Ubuntu 22.04, RHEL 9, Debian 12). Exit status 1
where something is missing, or would take a newer glibc.
"""

from __future__ import annotations

import argparse
import pathlib
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence

import bolt
import training
from standalone import (
    API,
    ROOT,
    PackError,
    build_extension,
    find_python,
    is_common,
    is_stable,
    licence,
    link_compiler,
    link_library,
    link_operators,
    link_program,
    needed_libraries,
    run,
    version,
)

#: What onnxruntime loads.
PROVIDER = "libloopc_ort.so"
RUNTIMES = ("libloopc_rt.a", "libloopc_rt_threads.a", "libloopc_rt_cuda.a")
#: The machines whose runtimes lie in a folder of that name, where loopc runs on another one.
OTHER_MACHINES = ("aarch64-linux-gnu", "x86_64-linux-gnu")
#: The commands, which loopc/_commands.py starts, as libloopc does the first one.
PROGRAMS = ("loopc", "loopc-run")

METADATA = """\
Metadata-Version: 2.1
Name: loopc
Version: {version}
Summary: Compiles models with control flow to native code
License: Apache-2.0 WITH LLVM-exception
License-File: LICENSE
Requires-Python: {python}
Requires-Dist: numpy
Requires-Dist: ml_dtypes
Provides-Extra: reference
Requires-Dist: onnx; extra == "reference"
Provides-Extra: onnxruntime
Requires-Dist: onnxruntime >= 1.27; extra == "onnxruntime"
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: loopc
Root-Is-Purelib: false
Tag: {tag}
"""


#: The oldest glibc that a wheel takes: 2.34 made libpthread and libdl part of libc.
OLDEST = 34


def needed_symbols(table: str) -> dict[str, int]:
    """Symbols of glibc in what objdump -T prints, and the 2.N that each came with."""
    found = re.findall(r"\bGLIBC_2\.(\d+)(?:\.\d+)?\)?\s+(\S+)$", table, re.M)
    return {symbol: int(minor) for minor, symbol in found}


def is_program(file: pathlib.Path) -> bool:
    """Whether a file is a program or a library."""
    with file.open("rb") as content:
        return content.read(4) == b"\x7fELF"


def platform_tag(files: Sequence[pathlib.Path], oldest: int) -> str:
    """The oldest C library with which all of these files load, as a platform of pip.

    Raises:
        PackError: one needs a symbol that is newer than glibc 2.`oldest`.
    """
    newest = 0
    for file in filter(is_program, files):
        symbols = needed_symbols(run(["objdump", "-T", str(file)], ROOT))
        if "GLIBC_ABI_DT_RELR" in run(["objdump", "-p", str(file)], ROOT):
            symbols["packed relocations"] = 36
        late = sorted(name for name, minor in symbols.items() if minor > oldest)
        if late:
            raise PackError(f"{file.name} needs a glibc after 2.{oldest}: {', '.join(late)}")
        newest = max([newest, *symbols.values()])
    return f"manylinux_2_{newest}_{platform.machine()}"


def reorder_compiler(library: pathlib.Path) -> None:
    """Writes a compiler again, in its place, in the order in which its code runs.

    Args:
        library: linked with bolt.LINK_OPTIONS; beside it lies all that it needs.

    Raises:
        PackError: BOLT fails, or what it wrote compiles anything to something else.
    """
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        models = training.write_models(scratch / "models")

        trainer = scratch / "training"
        training.link_trainer(library.parent / API, trainer)
        linked, made = scratch / "linked" / library.name, scratch / "made" / library.name
        linked.parent.mkdir()
        made.parent.mkdir()
        shutil.move(library, linked)

        def compile_with(other: pathlib.Path) -> dict[str, str]:
            for file in (trainer, *filter(pathlib.Path.is_file, library.parent.iterdir())):
                shutil.copy(file, other.parent)
            program = other.parent / trainer.name
            return training.compile_models(program, models, scratch / "results")

        before = compile_with(linked)
        bolt.rewrite(linked, made, compile_with, scratch / "counts")
        after = compile_with(made)
        if wrong := [name for name in before if before[name] != after[name]]:
            raise PackError(f"rewritten by BOLT the compiler makes something else of {wrong[0]}")
        shutil.move(made, library)


def build_package(
    build: pathlib.Path, package: pathlib.Path, pythons: Sequence[str], reorders: bool
) -> list[str]:
    """The package `loopc` with all that it loads. Returns the versions of `pythons`."""
    folder = package / "lib"
    compiler = link_compiler(build, folder, bolt.LINK_OPTIONS if reorders else ("-Wl,-s",))
    programs = [link_program(build, name, folder) for name in PROGRAMS]
    for file in (compiler, *programs):
        for name, path in needed_libraries(file):
            if not is_common(name) and not (folder / name).exists():
                shutil.copy(path, folder / name)
    link_library(build, f"lib/{PROVIDER}", folder / PROVIDER)
    for library in link_operators(build, folder):
        if text := licence(library):
            (folder / "licences").mkdir(exist_ok=True)
            shutil.copy(text, folder / "licences" / f"{text.parent.name}.txt")
    for name in RUNTIMES:
        shutil.copy(build / "lib" / name, folder)
        for other in OTHER_MACHINES:
            if (archive := build / "lib" / other / name).exists():
                (folder / other).mkdir(exist_ok=True)
                shutil.copy(archive, folder / other)
    if reorders:
        reorder_compiler(compiler)
    copy_for_programs(build, package)
    for name in ("_loopc.pyi", "py.typed"):
        shutil.copy(ROOT / "python/loopc" / name, package)
    return [build_extension(build, python, package, folder / API) for python in pythons]


def copy_for_programs(build: pathlib.Path, package: pathlib.Path) -> None:
    """Headers, and what -lloopc, pkg-config and CMake look for, for programs of C and C++."""
    include, folder = package / "include", package / "lib"
    for name in ("loopc-c", "loopc-rt"):
        shutil.copytree(ROOT / "include" / name, include / name)
    (include / "loopc").mkdir()
    shutil.copy(ROOT / "include/loopc/loopc.hpp", include / "loopc")
    # A wheel cannot hold links: this is a script of the linker's.
    (folder / "libloopc.so").write_text(f"INPUT({API})\n")
    (folder / "pkgconfig").mkdir()
    for name in ("loopc.pc", "loopc-rt.pc"):
        shutil.copy(build / name, folder / "pkgconfig")
    config = folder / "cmake/loopc"
    config.mkdir(parents=True)
    shutil.copy(ROOT / "cmake/loopc-wheel-config.cmake", config / "loopc-config.cmake")
    for name in ("LoopcAddModel.cmake", "LoopcCross.cmake"):
        shutil.copy(ROOT / "cmake" / name, config)
    shutil.copy(build / "loopc-config-version.cmake", config)


def copy_shell(build: pathlib.Path, data: pathlib.Path) -> None:
    """Man pages and completions, which pip puts into share/ of the environment.

    Raises:
        PackError: they were not built.
    """
    share = build / "share"
    if not share.is_dir():
        raise PackError(f"{share} is missing: build first (./dev build)")
    shutil.copytree(share, data / "data" / "share")


def choose_pythons() -> list[str]:
    """This Python, and one whose extensions fit all after it if that is another one."""
    return list(dict.fromkeys((sys.executable, find_python())))


def describe_pythons(versions: Sequence[str]) -> tuple[str, str]:
    """The tag of a wheel with extensions for these versions, and the Pythons that it takes.

    Of Pythons up to 3.11 each needs its own extension, and one of 3.12 or later is good for
    all after it. Python looks for its own one first.

    >>> describe_pythons(["3.11", "3.12"])
    ('cp311-abi3', '>=3.11')
    >>> describe_pythons(["3.11", "3.13"])
    ('cp311-abi3', '>=3.11, !=3.12.*')
    >>> describe_pythons(["3.11"])
    ('cp311-cp311', '==3.11.*')
    """
    numbers = sorted({int(text.removeprefix("3.")) for text in versions})
    first, last = numbers[0], numbers[-1]
    name = f"cp3{first}"
    if not is_stable(f"3.{last}"):
        return f"{name}-{name}", f"==3.{first}.*"
    gaps = [f"!=3.{k}.*" for k in range(first, last) if k not in numbers]
    return f"{name}-abi3", ", ".join([f">=3.{first}", *gaps])


def make_wheel(
    build: pathlib.Path,
    out: pathlib.Path,
    pythons: Sequence[str],
    oldest: int,
    reorders: bool = False,
) -> pathlib.Path:
    """Makes the wheel in the folder `out`, for glibc 2.`oldest` and later.

    Args:
        build: the build tree.
        out: where the wheel goes.
        pythons: what it has extension modules for.
        oldest: the C library that it takes, 2.`oldest` and later.
        reorders: whether the compiler is written again by BOLT.

    Raises:
        PackError: something is missing or fails, BOLT where it is wanted among them.
    """
    if reorders and (reason := bolt.why_not()):
        raise PackError(reason)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch)
        name, wanted = describe_pythons(build_package(build, tree / "loopc", pythons, reorders))
        files = sorted(file for file in tree.rglob("*") if file.is_file())
        tag = f"{name}-{platform_tag(files, oldest)}"
        info = tree / f"loopc-{version()}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            METADATA.format(
                version=version(), python=wanted, readme=(ROOT / "README.md").read_text()
            )
        )
        (info / "WHEEL").write_text(WHEEL.format(tag=tag))
        copy_shell(build, tree / f"{info.stem}.data")
        for file in ("python/entry_points.txt", "LICENSE"):
            shutil.copy(ROOT / file, info)
        for old in out.glob(f"loopc-{version()}-{tag}.whl"):
            old.unlink()
        run([sys.executable, "-m", "wheel", "pack", str(tree), "-d", str(out)], out)
        return out / f"loopc-{version()}-{tag}.whl"


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the wheel, and returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="./dev wheel", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="default: BUILD/wheels")
    parser.add_argument("--python", help="with headers; default: .venv's, and one after 3.11")
    parser.add_argument("--glibc", type=int, default=OLDEST, metavar="N",
                        help=f"oldest glibc that it may take, 2.N (default: {OLDEST})")  # fmt: skip
    parser.add_argument("--bolt", action="store_true", help="write the compiler again by BOLT")
    options = parser.parse_args(argv)
    build = options.build.resolve()
    print("Linking the compiler with LLVM, some minutes", flush=True)
    try:
        out = (options.out or build / "wheels").resolve()
        pythons = [options.python] if options.python else choose_pythons()
        made = make_wheel(build, out, pythons, options.glibc, options.bolt)
    except (PackError, OSError) as error:
        print(f"make_wheel: {error}", file=sys.stderr)
        return 1
    print(f"{made}: {made.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
