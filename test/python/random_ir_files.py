# ===- random_ir_files.py - OpenVINO IR as others might write it ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes a model to files that mean the same and look otherwise than OpenVINO's own.

Layers, edges and entries of port maps stand in any order, have any numbers, leave out what is the
default, count axes from the end, and declare shapes of ports that say nothing.
"""

from __future__ import annotations

import pathlib
import random
import xml.etree.ElementTree as ET
from typing import Any

import openvino

_DEFAULTS = {"start": "0", "stride": "1", "end": "-1", "part_size": "1"}


def write(model: openvino.Model, path: pathlib.Path, seed: int) -> None:
    """The model as `path` and the weights beside it."""
    draw = random.Random(seed)
    version = draw.choice(("UNSPECIFIED", "IR_V10", "IR_V11"))
    openvino.serialize(model, str(path), str(path.with_suffix(".bin")), version)
    root = ET.fromstring(path.read_text())
    hides = draw.random() < 0.3
    for graph in [root, *root.iter("body"), *root.iter("then_body"), *root.iter("else_body")]:
        _count_from_the_end(graph, draw)
    if draw.random() < 0.7:
        _mix(root, draw)
    if draw.random() < 0.6:
        _renumber(root, draw)
    if hides:
        for layer in root.iter("layer"):
            if layer.get("type") not in ("Const", "Parameter"):
                for dim in layer.iter("dim"):
                    dim.text = "-1"
    path.write_bytes(ET.tostring(root))


def _layers(graph: ET.Element) -> ET.Element:
    found = graph.find("layers")
    assert found is not None
    return found


def _count_from_the_end(graph: ET.Element, draw: random.Random) -> None:
    """Axes of port maps, and what is the default there."""
    for layer in _layers(graph):
        ranks = {port.get("id"): len(port.findall("dim"))
                 for side in ("input", "output") for part in layer.findall(side)
                 for port in part}  # fmt: skip
        for entry in [e for ports in layer.findall("port_map") for e in ports]:
            if entry.get("axis") is None:
                continue
            rank = ranks.get(entry.get("external_port_id"), 0)
            if draw.random() < 0.3 and rank > int(entry.attrib["axis"]):
                entry.attrib["axis"] = str(int(entry.attrib["axis"]) - rank)
            for name, value in _DEFAULTS.items():
                if entry.get(name) == value and draw.random() < 0.5:
                    del entry.attrib[name]


def _mix(graph: ET.Element, draw: random.Random) -> None:
    """Layers, edges and entries in another order; Parameters and Results keep theirs."""
    layers = list(_layers(graph))
    kept = {kind: [x for x in layers if x.get("type") == kind] for kind in ("Parameter", "Result")}
    draw.shuffle(layers)
    queues: dict[Any, Any] = {kind: iter(found) for kind, found in kept.items()}
    _layers(graph)[:] = [next(queues[x.get("type")]) if x.get("type") in queues else x
                         for x in layers]  # fmt: skip
    for edges in graph.findall("edges"):
        found = list(edges)
        draw.shuffle(found)
        edges[:] = found
    for layer in layers:
        for name in ("port_map", "back_edges", "then_port_map", "else_port_map"):
            for part in layer.findall(name):
                entries = list(part)
                draw.shuffle(entries)
                part[:] = entries
        for name in ("body", "then_body", "else_body"):
            for body in layer.findall(name):
                _mix(body, draw)


def _renumber(graph: ET.Element, draw: random.Random) -> None:
    """Other numbers of layers."""
    layers = list(_layers(graph))
    numbers = draw.sample(range(10 * len(layers) + 5), len(layers))
    new = {x.attrib["id"]: str(n) for x, n in zip(layers, numbers, strict=True)}
    for layer in layers:
        layer.attrib["id"] = new[layer.attrib["id"]]
        for name in ("body", "then_body", "else_body"):
            for body in layer.findall(name):
                inner = _renumber_body(body, draw)
                prefix = name.removesuffix("body")
                for part in (*layer.findall(f"{prefix}port_map"), *layer.findall("back_edges")):
                    for entry in part:
                        for key in ("internal_layer_id", "from-layer", "to-layer"):
                            if key in entry.attrib:
                                entry.attrib[key] = inner[entry.attrib[key]]
    for edges in graph.findall("edges"):
        for edge in edges:
            for key in ("from-layer", "to-layer"):
                edge.attrib[key] = new[edge.attrib[key]]


def _renumber_body(body: ET.Element, draw: random.Random) -> dict[str, str]:
    before = [x.attrib["id"] for x in _layers(body)]
    _renumber(body, draw)
    return dict(zip(before, (x.attrib["id"] for x in _layers(body)), strict=True))
