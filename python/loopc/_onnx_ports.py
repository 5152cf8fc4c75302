# ===- _onnx_ports.py - Ports of a model that is not compiled ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The inputs and outputs that an ONNX model declares, read without its weights."""

import mmap
from typing import Any

from loopc._metadata import NodeArg
from loopc._wire import fields

Ports = tuple[list[NodeArg], list[NodeArg]]

#: ONNX's numbers of element types.
_ONNX = dict(
    enumerate(
        "float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 "
        "complex64 complex128 bfloat16".split(),
        1,
    )
)


def ports_of_file(path: str) -> Ports:
    """Inputs and outputs of a file.

    Raises:
        OSError, ValueError, IndexError, KeyError: it cannot be read, or has other ports
            than tensors.
    """
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as view,
    ):
        return ports_of_bytes(view)


def ports_of_bytes(view: memoryview) -> Ports:
    """Inputs and outputs of a model; raises as `ports_of_file`."""
    graphs = [value for number, value, _ in fields(view) if number == 7]
    inputs: list[NodeArg] = []
    outputs: list[NodeArg] = []
    initialised: set[str] = set()
    for number, value, _ in fields(_message(graphs[-1])):
        if number == 5:
            initialised |= {_text(one) for key, one, _ in fields(_message(value)) if key == 8}
        elif number in (11, 12):
            (inputs if number == 11 else outputs).append(_port(_message(value)))
    return [one for one in inputs if one.name not in initialised], outputs


def _message(value: int | memoryview) -> memoryview:
    if not isinstance(value, memoryview):
        raise ValueError("no message")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_message(value)).decode()


def _port(data: memoryview) -> NodeArg:
    """An input or output of an ONNX graph, a tensor."""
    found: dict[int, Any] = {number: value for number, value, _ in fields(data)}
    tensor = {number: value for number, value, _ in fields(_message(found[2]))}[1]
    parts: dict[int, Any] = {number: value for number, value, _ in fields(_message(tensor))}
    shape: list[int | str | None] | None = None
    if 2 in parts:
        shape = []
        for number, dim, _ in fields(_message(parts[2])):
            if number == 1:
                known = {key: value for key, value, _ in fields(_message(dim))}
                extent, name = known.get(1), known.get(2)
                if isinstance(extent, int) and extent < 2**63:
                    shape.append(extent)
                else:
                    shape.append(_text(name) if name is not None else None)
    return NodeArg(_text(found[1]), f"tensor({_ONNX[parts[1]]})", shape)
