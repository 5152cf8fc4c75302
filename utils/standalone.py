# ===- standalone.py - The compiler as one library --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The compiler with LLVM in it, for machines that have no LLVM; used by what packs loopc."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: What the build makes, and what it is called in a package: sessions, and the compiler.
BUILT_API = "lib/libloopc.so.0.1.0"
API = "libloopc.so.0"
BUILT = "lib/libloopc_compiler.so.0.1.0"
LIBRARY = "libloopc_compiler.so.0"
#: The C++ library goes into what is linked: that of a machine may be older. Nobody sees it.
STATIC = ("-static-libstdc++", "-Wl,--exclude-libs,libstdc++.a")
#: Libraries of C++ that are linked into programs with it. Debian's archives of them are not
#: for libraries, which have them beside them; they take the C++ library of GCC 11.
OF_CXX = re.compile(r"^(/.*/lib(?:protobuf|pugixml))\.so[.\d]*$")
#: Libraries that every machine has.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|pthread|rt)\.so)")


class PackError(Exception):
    """Something that is needed is missing."""


def run(command: Sequence[str], folder: pathlib.Path) -> str:
    """What a program prints; its errors end this one."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shown = shlex.join(command)
        raise PackError(f"{shown[:300]}\n{(done.stderr or done.stdout)[-3000:]}")
    return done.stdout


def version() -> str:
    """The version of loopc."""
    found = re.search(r"project\(\w+\s+VERSION\s+(\S+)", (ROOT / "CMakeLists.txt").read_text())
    if not found:
        raise PackError("CMakeLists.txt gives no version")
    return found[1]


def link_command(build: pathlib.Path, target: str) -> list[str]:
    """How the build links a target."""
    last = run(["ninja", "-t", "commands", target], build).strip().splitlines()[-1]
    return shlex.split(last.removeprefix(": && ").removesuffix(" && :"))


def link_program(build: pathlib.Path, name: str, folder: pathlib.Path) -> pathlib.Path:
    """A program of the build, which finds the libraries beside it."""
    made = folder / name
    arguments = [
        str(made) if argument == f"bin/{name}" else argument
        for argument in link_command(build, f"bin/{name}")
        if not argument.startswith("-Wl,-rpath")
    ]
    for k, argument in enumerate(arguments):
        archive = OF_CXX.sub(r"\1.a", argument)
        if archive != argument and pathlib.Path(archive).exists():
            arguments[k] = archive
    run([*arguments, *STATIC, "-lz", "-Wl,-s", "-Wl,-rpath,$ORIGIN"], build)
    return made


def link_library(build: pathlib.Path, built: str, made: pathlib.Path) -> None:
    """A library of the build, which finds those beside it and has the C++ library in it."""
    command = [
        str(made) if argument == built else argument
        for argument in link_command(build, built)
        if not argument.startswith("-Wl,-rpath")
    ]
    run([*command, *STATIC, "-Wl,-s", "-Wl,-rpath,$ORIGIN"], build)


def link_compiler(
    build: pathlib.Path, folder: pathlib.Path, options: Sequence[str] = ("-Wl,-s",)
) -> pathlib.Path:
    """libloopc.so.0, and the compiler with LLVM in it, which it loads or starts.

    The compiler is linked by the build's own command, and made small.

    Args:
        build: the build tree.
        folder: where the libraries go.
        options: the linker's, for the compiler; without symbols if none are given.

    Returns:
        The compiler.

    Raises:
        PackError: the build links LLVM's shared libraries.
    """
    command = link_command(build, BUILT)
    if not any(argument.endswith("/libLLVMCore.a") for argument in command):
        raise PackError(
            f"{build} is configured without LLVM's archives (LOOPC_STATIC_LLVM; "
            "libmlir-22-dev, llvm-22-dev)"
        )
    made = folder / LIBRARY
    folder.mkdir(parents=True, exist_ok=True)
    link_library(build, BUILT_API, folder / API)
    # Not with packed relocations, which glibc has from 2.36 on.
    arguments = [
        str(made) if argument == BUILT else argument
        for argument in command
        if not argument.startswith(("-Wl,-rpath", "-Wl,-z,pack-relative-relocs"))
    ]
    small = ["-Wl,--as-needed", "-Wl,--icf=all"]
    run([*arguments, *STATIC, *small, *options, "-Wl,-rpath,$ORIGIN"], build)
    return made


def needed_libraries(library: pathlib.Path) -> list[tuple[str, pathlib.Path]]:
    """Names and files of what a library or a program needs beside the C library and ours."""
    lines = run(["ldd", str(library)], ROOT)
    found = re.findall(r"^\s*(\S+) => (/\S+)", lines, re.M)
    return [
        (name, pathlib.Path(path))
        for name, path in found
        if not SYSTEM.match(name) and not name.startswith("libloopc")
    ]


def is_common(name: str) -> bool:
    """Whether a library is one that each machine has, as a rule, and others want that, too."""
    return name.startswith(("libstdc++", "libgcc_s"))


def link_operators(build: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """The libraries of operators that the build has, and beside them what they need.

    Returns:
        The libraries of others, for their licences.
    """
    others: dict[str, pathlib.Path] = {}
    for name, link in (("libloopc_images.so", _link_images), ("libloopc_text.so", link_library)):
        made = folder / name
        if not (build / "lib" / name).exists():
            continue
        link(build, f"lib/{name}", made)
        for other, path in needed_libraries(made):
            if not is_common(other):
                others[other] = path.resolve()
    for other, path in others.items():
        if not (folder / other).exists():
            shutil.copy(path, folder / other)
    return sorted(others.values())


def _link_images(build: pathlib.Path, built: str, made: pathlib.Path) -> None:
    """The decoder of images, without TIFF: libtiff takes JBIG-KIT, whose licence is the GPL's."""
    sources = ROOT / "lib/Operators/Images"
    command = [shutil.which("clang++-22") or "c++", "-std=c++20", "-O2", "-fPIC", "-shared",
               "-fno-exceptions", "-fno-rtti", "-Wno-missing-designated-field-initializers",
               f"-I{ROOT}/include", str(sources / "ImageDecoder.cpp"), str(sources / "Plain.cpp"),
               f"-Wl,--version-script={ROOT}/lib/Operators/exports.map", *STATIC,
               "-Wl,--gc-sections", "-Wl,-s", "-Wl,-rpath,$ORIGIN", "-o", str(made)]  # fmt: skip
    linked = link_command(build, built)
    packages = {"JPEG": ("Jpeg", "libjpeg"), "PNG": ("Png", "libpng"), "WEBP": ("WebP", "libwebp"),
                "JPEG2000": ("Jpeg2000", "libopenjp2")}  # fmt: skip
    for form, (source, package) in packages.items():
        if any(f"/{source}.cpp.o" in argument for argument in linked):
            flags = run(["pkg-config", "--cflags", "--libs", package], ROOT)
            command += [f"-DLOOPC_WITH_{form}", str(sources / f"{source}.cpp"), *flags.split()]
    run(command, build)
    # What those take in turn is found beside this one only if this one names it, too.
    indirect = [str(path) for name, path in needed_libraries(made) if not is_common(name)]
    run([*command, "-Wl,--no-as-needed", *indirect], build)


def licence(library: pathlib.Path) -> pathlib.Path | None:
    """The licence that a Debian package gives for its library."""
    command = ["dpkg-query", "-S", f"*/{library.name}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    file = pathlib.Path("/usr/share/doc", done.stdout.split(":")[0], "copyright")
    return file if file.is_file() else None


def build_extension(
    build: pathlib.Path, python: str, package: pathlib.Path, library: pathlib.Path
) -> str:
    """The package's extension module in `package`, which loads `library`, for Python `python`.

    Returns:
        The version of that Python, "3.11". From 3.12 on the module is good for all after it.
    """
    ask = (
        "import sys, sysconfig; print(sysconfig.get_paths()['include'], "
        "sysconfig.get_config_var('EXT_SUFFIX'), '%d.%d' % sys.version_info[:2])"
    )
    include, suffix, of_python = run([python, "-c", ask], ROOT).split()
    if not pathlib.Path(include, "Python.h").is_file():
        raise PackError(f"{python} has no headers in {include}")
    package.mkdir(parents=True, exist_ok=True)
    modules = ROOT / "python/loopc"
    for file in sorted(modules.rglob("*.py")):
        target = package / file.relative_to(modules)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    binding = pathlib.Path(run([sys.executable, "-m", "nanobind", "--cmake_dir"], ROOT).strip())
    binding = binding.parent
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-w", "-fvisibility=hidden",
             "-fno-strict-aliasing", "-DNDEBUG", "-DNB_COMPACT_ASSERTIONS", f"-I{include}",
             f"-I{binding}/include", f"-I{binding}/ext/robin_map/include", f"-I{ROOT}/include",
             f"-I{build}/include", f'-DLOOPC_VERSION="{version()}"']  # fmt: skip
    if is_stable(of_python):
        flags.append("-DPy_LIMITED_API=0x030C0000")
        suffix = ".abi3.so"
    sources = sorted(map(str, (ROOT / "python/src").glob("*.cpp")))
    sources.append(str(ROOT / "lib/Support/OldLibc.cpp"))
    to_library = os.path.relpath(library.parent, package)
    run([shutil.which("clang++-22") or "c++", *flags, *sources, f"{binding}/src/nb_combined.cpp",
         *STATIC, str(library), f"-Wl,-rpath,$ORIGIN/{to_library}", "-Wl,-s",
         "-o", str(package / f"_loopc{suffix}")], ROOT)  # fmt: skip
    return of_python


def is_stable(of_python: str) -> bool:
    """Whether extensions for this Python are good for all after it."""
    return tuple(map(int, of_python.split("."))) >= (3, 12)


def find_python() -> str:
    """A Python of 3.12 or later with headers, whose extensions fit those after it; else ours."""
    # What pyenv puts on the path starts the one that is chosen at the moment, or nothing.
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    for version in ("3.12", "3.13", "3.14"):
        name = f"python{version}"
        found = [shutil.which(name), *sorted(pyenv.glob(f"versions/{version}*/bin/{name}"))]
        for path in map(str, filter(None, found)):
            code = "import os, sysconfig; os.stat(sysconfig.get_paths()['include'] + '/Python.h')"
            if subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
                return path
    return sys.executable
