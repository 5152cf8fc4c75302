# ===- _description.py - Ports of a model that is not compiled ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What a model's file says of its inputs and outputs, read without its weights."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from loopc._metadata import NodeArg
from loopc._onnx_ports import Ports, ports_of_file
from loopc.openvino._names import port_names
from loopc.openvino._types import Type


def described(path: str) -> Ports | None:
    """Inputs and outputs of a file of IR or ONNX, its own names; None where it does not tell."""
    read: Callable[[str], Ports] = _of_ir if path.endswith(".xml") else ports_of_file
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
