# ===- _ort_tools.py - Tools of onnxruntime's that change models -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``onnxruntime.quantization`` and the like where ``sys.modules["onnxruntime"]`` is loopc.

These are programs in Python, which read models and write others. Where onnxruntime is installed
they come from there, and the sessions that they make are loopc's.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any


def find_tool(name: str) -> Path:
    """The ``__init__.py`` of a package of the onnxruntime that is installed.

    Raises:
        ModuleNotFoundError: it is not installed, or without that package.
    """
    spec = PathFinder.find_spec("onnxruntime", sys.path)
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        file = Path(folder) / name / "__init__.py"
        if file.is_file():
            return file
    raise ModuleNotFoundError(
        f"onnxruntime.{name} is a part of onnxruntime that changes models, and loopc has none of "
        "its own: install onnxruntime beside loopc (pip install onnxruntime), and it is taken "
        "from there",
        name=f"onnxruntime.{name}",
    )


def become(values: dict[str, Any]) -> None:
    """Makes a package of loopc's, by its globals, the one of the same name of onnxruntime's.

    Raises:
        ModuleNotFoundError: there is none, or the package was not imported as onnxruntime's.
    """
    name: str = values["__name__"]
    parent, _, last = name.rpartition(".")
    if parent != "onnxruntime":
        raise ModuleNotFoundError(
            f"{name!r} does not exist: import onnxruntime.{last}, which is onnxruntime's own, or "
            "runs with loopc's sessions after sys.modules['onnxruntime'] = loopc",
            name=name,
        )
    file = find_tool(last)
    values["__path__"] = [str(file.parent)]
    values["__file__"] = str(file)
    exec(compile(file.read_bytes(), str(file), "exec"), values)
