# ===- _dim_names.py - Runs that contradict names of dimensions -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A model without the names of dimensions that a run gives different extents.

The compiler takes dimensions of one name for one extent. Exporters are told the names by
hand, and some models give one name to what is not equal; onnxruntime ignores the names of
inputs.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from loopc._metadata import NodeArg
from loopc._wire import fields, rewrite

# Numbers of fields in onnx.proto.
_MODEL_GRAPH = 7
_GRAPH_INPUT = 11
_GRAPH_OUTPUT = 12
_GRAPH_VALUE = 13
_VALUE_TYPE = 2
_TYPE_TENSOR = 1
_TENSOR_SHAPE = 2
_SHAPE_DIM = 1
_DIM_NAME = 2


def contradicted(ports: Iterable[NodeArg], feeds: Mapping[str, Any]) -> frozenset[str]:
    """The names that stand for more than one extent in what a run is given."""
    first: dict[str, Any] = {}
    names = set()
    for port in ports:
        shape = getattr(feeds.get(port.name), "shape", None)
        # An OrtValue tells it by a function.
        shape = shape() if callable(shape) else shape
        for name, extent in zip(port.shape or (), shape or (), strict=False):
            if isinstance(name, str) and first.setdefault(name, extent) != extent:
                names.add(name)
    return frozenset(names)


def without(names: frozenset[str], path: bytes | None, data: bytes | None) -> bytes | None:
    """The model without these names; None where it is no ONNX model that has them."""
    wanted = {name.encode() for name in names}

    def dimension(message: memoryview) -> bytes | None:
        has_name = any(
            number == _DIM_NAME and isinstance(value, memoryview) and bytes(value) in wanted
            for number, value, _ in fields(message)
        )
        return b"" if has_name else None

    def inside(number: int, rule: Callable[[memoryview], bytes | None]) -> Any:
        return lambda message: rewrite(message, {number: rule})

    shape = inside(_TYPE_TENSOR, inside(_TENSOR_SHAPE, inside(_SHAPE_DIM, dimension)))
    value = inside(_VALUE_TYPE, shape)
    ports = dict.fromkeys((_GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_VALUE), value)
    if data is None:
        assert path is not None
        data = Path(os.fsdecode(path)).read_bytes()
    try:
        return rewrite(memoryview(data), {_MODEL_GRAPH: lambda message: rewrite(message, ports)})
    except (ValueError, IndexError):
        return None
