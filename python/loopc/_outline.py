# ===- _outline.py - Shapes that follow from those of inputs -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Shapes of outputs before a run.

An engine keeps an outline of its model: the operators as MLIR, in which large weights are
arguments, so that their types are known and their values are not. The compiler infers the
types of its results for given shapes of inputs. What depends on values stays open.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from loopc._compile import compile as _compile
from loopc._errors import Error
from loopc._options import Model


def outline(model: Model, base_directory: str | None = None) -> str:
    """The outline of a model.

    Returns:
        The outline; "" where no extent of an input is open.

    Raises:
        CompileError: the model is invalid.
    """
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        file = Path(folder) / "outline.mlir"
        _compile(model, file, emit="outline", base_directory=base_directory)
        return file.read_text()


def shapes_of(outlined: str, inputs: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shapes of outputs for shapes of the inputs, -1 where values decide an extent.

    Returns:
        What `shapes_of_file` returns; nothing where the inputs do not fit together.
    """
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        model = Path(folder) / "outline.mlir"
        model.write_text(outlined)
        try:
            return shapes_of_file(model, inputs)
        except Error:
            return {}


def shapes_of_file(
    model: str | Path,
    inputs: Mapping[str, Sequence[int | None]],
    base_directory: str | None = None,
) -> dict[str, tuple[int, ...]]:
    """The same of a model's file, without code being made of it.

    Returns:
        The shapes by name; nothing of outputs that are no tensors, or whose rank is open.

    Raises:
        CompileError: the model is invalid, or the shapes do not fit it.
    """
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        file = Path(folder) / "shapes.json"
        _compile(model, file, emit="shapes", shapes=inputs, base_directory=base_directory)
        found: dict[str, list[int | None] | None] = json.loads(file.read_text())
    return {
        name: tuple(-1 if extent is None else extent for extent in shape)
        for name, shape in found.items()
        if shape is not None
    }
