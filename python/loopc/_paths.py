# ===- _paths.py - Where headers and libraries are --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Where the programs are, and what programs with compiled models are built with."""

import os
import shutil
import sys
from pathlib import Path

from loopc._errors import Error

# As it was imported: in a build tree the files are links.
_PACKAGE = Path(__file__).parent


def _find(folders: list[Path], file: str) -> Path:
    for folder in folders:
        if (folder / file).exists():
            return folder.resolve()
    raise Error(f"'{file}' is not beside the package loopc in '{_PACKAGE}'")


def get_include() -> str:
    """The folder with loopc-rt/loopc_rt.h and loopc-c/loopc.h: ``cc -I...``.

    Raises:
        Error: the package was installed without headers.
    """
    source = Path(__file__).resolve().parents[2]
    # Of a wheel, of an installed prefix, of the repository.
    folders = [_PACKAGE / "include", *(p / "include" for p in _PACKAGE.parents[3:4])]
    return str(_find([*folders, source / "include"], "loopc-rt/loopc_rt.h"))


def get_library_dirs() -> list[str]:
    """Folders with libloopc_rt.a, _threads and _cuda, and libloopc.so.0: ``cc -L...``.

    Raises:
        Error: the package was installed without libraries.
    """
    # Of a wheel, of an installed prefix, of a build tree.
    folders = [_PACKAGE / "lib", *(p for p in _PACKAGE.parents[2:3])]
    return [str(_find([*folders, _PACKAGE.parents[1] / "lib"], "libloopc_rt.a"))]


def get_cmake_dir() -> str:
    """The folder that CMake's find_package(loopc) takes: ``cmake -Dloopc_DIR=...``.

    Raises:
        Error: the package is not of a wheel or an installed prefix.
    """
    folders = [_PACKAGE / "lib", *(p for p in _PACKAGE.parents[2:3])]
    return str(_find([p / "cmake/loopc" for p in folders], "loopc-config.cmake"))


def get_ep_library() -> str:
    """The library that onnxruntime loads as an execution provider (`loopc.onnxruntime`).

    ``onnxruntime.register_execution_provider_library("loopc", loopc.get_ep_library())``

    Raises:
        Error: the package was installed without it.
    """
    name = "libloopc_ort.so"
    return str(
        _find([_PACKAGE / "lib", _PACKAGE.parents[1] / "lib", *_PACKAGE.parents[2:3]], name) / name
    )


def find_program(name: str) -> str:
    """The program ``loopc`` or ``loopc-run``: of this package, of this Python, or on PATH.

    Raises:
        Error: there is none.
    """
    # Of a build tree, of a wheel, of an installed prefix. In a build tree the package's
    # files are links: their own folder counts, not the target's.
    folders = [_PACKAGE.parent.parent / "bin", _PACKAGE / "lib"]
    folders += [prefix / "bin" for prefix in _PACKAGE.parents[3:4]]
    for folder in (*folders, Path(sys.executable).parent):
        if os.access(folder / name, os.X_OK) and (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if not found:
        raise Error(f"the command '{name}' was not found: it belongs beside the package or on PATH")
    return found
