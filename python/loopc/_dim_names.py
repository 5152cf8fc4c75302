# ===- _dim_names.py - Runs that contradict names of dimensions -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs that give one name of a dimension several extents.

The compiler takes dimensions of one name for one extent. Exporters are told the names by
hand, and some models give one name to what is not equal; onnxruntime ignores the names of
inputs. The option `dims={name: None}` makes a model of such names.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from loopc import _loopc
from loopc._metadata import NodeArg

#: Larger models are not asked whether shapes fit: the answer has all of their weights in it.
_LARGEST = 64 << 20


def _shaped(
    ports: Iterable[NodeArg], feeds: Mapping[str, Any]
) -> Iterator[tuple[NodeArg, tuple[int, ...]]]:
    """The tensors of a run with their shapes."""
    for port in ports:
        shape = getattr(feeds.get(port.name), "shape", None)
        # An OrtValue tells it by a function.
        shape = shape() if callable(shape) else shape
        if shape is not None and port.type.startswith("tensor("):
            yield port, tuple(shape)


def contradicted(ports: Iterable[NodeArg], feeds: Mapping[str, Any]) -> frozenset[str]:
    """The names that stand for more than one extent in what a run is given."""
    first: dict[str, Any] = {}
    names = set()
    for port, shape in _shaped(ports, feeds):
        for name, extent in zip(port.shape or (), shape, strict=False):
            if isinstance(name, str) and first.setdefault(name, extent) != extent:
                names.add(name)
    return frozenset(names)


def is_refused(
    path: bytes | None,
    data: bytes | None,
    options: Mapping[str, Any],
    ports: Iterable[NodeArg],
    feeds: Mapping[str, Any],
) -> bool:
    """Whether the types of the model alone tell that its operators do not take these shapes.

    This takes a small part of the time that a compilation takes. False where the model is so
    large that writing it takes longer.
    """
    size = len(data) if data is not None else os.stat(path or b"").st_size
    if size > _LARGEST:
        return False
    shapes = {port.name: list(shape) for port, shape in _shaped(ports, feeds)}
    asked = {**options, "shapes": {**options["shapes"], **shapes}, "weights": None}
    if asked["base_directory"] is None and path is not None:
        asked["base_directory"] = os.path.dirname(os.fsdecode(path)) or "."
    for name in ("cache", "strict_cache", "tier", "timeout", "cancel"):
        asked.pop(name, None)
    stage = _loopc.emit_from_name("onnx")
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        file = os.fsencode(os.path.join(folder, "model.mlir"))
        if data is not None:
            status, _ = _loopc.compile_bytes(data, stage, file, asked)
        else:
            status, _ = _loopc.compile_file(path or b"", stage, file, asked)
    return status != 0


def without_advice(error: Exception) -> Exception:
    """The error without what it says of models that are compiled without the name."""
    error.args = (str(error).partition("; if '")[0],)
    return error
