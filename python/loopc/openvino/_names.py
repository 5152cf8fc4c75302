# ===- _names.py - All names of a model's ports -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""In OpenVINO IR a port has several names; a session knows it by one of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class PortNames:
    """An input's or an output's names."""

    port: str  # a session's
    node: str  # the Parameter's or the Result's
    tensor: tuple[str, ...]

    def knows(self, name: str) -> bool:
        """Whether it is one of them."""
        return name in (self.port, self.node) or name in self.tensor


@dataclass(frozen=True)
class ModelNames:
    """Those of all inputs and outputs; nothing of a model that is no IR."""

    inputs: Sequence[PortNames]
    outputs: Sequence[PortNames]
    model: str = ""


def split_names(names: str | None) -> tuple[str, ...]:
    """Names with commas between them, of which those in a name have a backslash."""
    if not names:
        return ()
    return tuple(one.replace("\\,", ",") for one in re.split(r"(?<!\\),", names))


def port_names(path: str) -> ModelNames:
    """Reads the names of a file, which the compiler says more about where it is wrong."""
    if not path.endswith(".xml"):
        return ModelNames((), ())
    try:
        net = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return ModelNames((), ())
    layers = net.findall("layers/layer")
    tensors = {
        (layer.get("id"), port.get("id")): split_names(port.get("names"))
        for layer in layers
        for port in layer.findall("output/port")
    }
    sources = {
        edge.get("to-layer"): (edge.get("from-layer"), edge.get("from-port"))
        for edge in net.findall("edges/edge")
    }
    inputs, outputs = [], []
    for layer in layers:
        name = layer.get("name") or ""
        if layer.get("type") == "Parameter":
            found = next(
                (names for (own, _), names in tensors.items() if own == layer.get("id")), ()
            )
            inputs.append(PortNames(name if name in found or not found else found[0], name, found))
        elif layer.get("type") == "Result":
            found = tensors.get(sources.get(layer.get("id"), (None, None)), ())
            named = split_names(layer.get("output_names"))
            chosen = (*named, *found, name)[0]
            outputs.append(PortNames(chosen, name, tuple(dict.fromkeys((*named, *found)))))
    return ModelNames(inputs, outputs, net.get("name") or "")
