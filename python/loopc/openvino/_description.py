# ===- _description.py - Ports of a model that is not compiled ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What a model's file says of its inputs and outputs, read without its weights."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from loopc._session import NodeArg
from loopc._wire import fields
from loopc.openvino._names import port_names
from loopc.openvino._types import Type

Ports = tuple[list[NodeArg], list[NodeArg]]

#: ONNX's numbers of element types.
_ONNX = dict(
    enumerate(
        "float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 "
        "complex64 complex128 bfloat16".split(),
        1,
    )
)


def described(path: str) -> Ports | None:
    """Inputs and outputs of a file of IR or ONNX, its own names; None where it does not tell."""
    read: Callable[[str], Ports] = _of_ir if path.endswith(".xml") else _of_onnx
    try:
        return read(path)
    except (OSError, ValueError, IndexError, BufferError, KeyError, ElementTree.ParseError):
        return None


def _extent(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _of_ir(path: str) -> Ports:
    net = ElementTree.parse(path).getroot()
    layers = {layer.get("id"): layer for layer in net.findall("layers/layer")}
    sources = {
        edge.get("to-layer"): (edge.get("from-layer"), edge.get("from-port"))
        for edge in net.findall("edges/edge")
    }
    inputs: list[tuple[str, list[int | str | None] | None]] = []
    outputs: list[tuple[str, list[int | str | None] | None]] = []
    for layer in layers.values():
        kind = layer.get("type")
        if kind == "Parameter":
            data = layer.find("data")
            assert data is not None
            text = data.get("shape", "")
            parts = text.split(",") if text else []
            shape: list[int | str | None] = [_extent(one.strip()) for one in parts]
            inputs.append((str(Type(data.get("element_type"))), None if text == "..." else shape))
        elif kind == "Result":
            source, number = sources[layer.get("id")]
            port = next(one for one in layers[source].findall("output/port")
                        if one.get("id") == number)  # fmt: skip
            outputs.append(
                (
                    str(Type(port.get("precision"))),
                    [_extent(one.text) for one in port.findall("dim")],
                )
            )
    names = port_names(path)
    made = [
        [NodeArg(name.port, kind, shape) for name, (kind, shape) in zip(known, found, strict=True)]
        for known, found in ((names.inputs, inputs), (names.outputs, outputs))
    ]
    return made[0], made[1]


def _of_onnx(path: str) -> Ports:
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as view,
    ):
        return _of_model(view)


def _of_model(view: memoryview) -> Ports:
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
                extent = known.get(1)
                shape.append(extent if isinstance(extent, int) and extent < 2**63 else None)
    return NodeArg(_text(found[1]), f"tensor({_ONNX[parts[1]]})", shape)
