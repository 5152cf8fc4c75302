# ===- _ir_graph.py - Changes of OpenVINO IR ------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A model of IR with layers before its inputs and behind its outputs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from loopc._errors import InvalidArgument
from loopc.openvino._layout import Layout
from loopc.openvino._names import port_names, split_names
from loopc.openvino._ports import Node
from loopc.openvino._types import ROWS, Type

Extents = list[int | None]
#: Constants that are added begin at a multiple of it.
_ALIGNMENT = 64


@dataclass(frozen=True)
class Value:
    """What a layer computes.

    Attributes:
        layer: the number of the layer.
        port: the number of its port.
        type: the elements.
        shape: the extents, None where one is open.
    """

    layer: str
    port: str
    type: Type
    shape: Extents


def _texts(shape: Sequence[int | None]) -> list[str]:
    return ["-1" if one is None else str(one) for one in shape]


class IrGraph:
    """A file of IR; `write` makes another one of it."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._net = ElementTree.parse(path).getroot()
        self._names = port_names(path)
        layers, edges = self._net.find("layers"), self._net.find("edges")
        assert layers is not None
        if edges is None:
            edges = ElementTree.SubElement(self._net, "edges")
        self._layers, self._edges = layers, edges
        self._added: list[bytes] = []
        weights = self._path.with_suffix(".bin")
        self._size = weights.stat().st_size if weights.is_file() else 0
        self._next = 1 + max((int(one.get("id", 0)) for one in self._layers), default=0)
        # Where new layers go: they must not come between inputs or between outputs.
        self._at = 0

    # ----- What there is ---------------------------------------------------

    def nodes(self) -> list[Node]:
        """The layers, each behind those that it reads."""
        return [
            Node(
                layer.get("name") or "",
                layer.get("type") or "",
                [split_names(one.get("names")) for one in layer.findall("output/port")],
            )
            for layer in self._sorted()
        ]

    def _sorted(self) -> Iterator[Any]:
        layers = {layer.get("id"): layer for layer in self._layers}
        reads: dict[str | None, list[str | None]] = {}
        for edge in self._edges:
            reads.setdefault(edge.get("to-layer"), []).append(edge.get("from-layer"))
        done: set[str | None] = set()
        for layer in self._layers:
            waiting = [layer.get("id")]
            while waiting:
                new = [one for one in reads.get(waiting[-1], ()) if one not in done]
                if waiting[-1] not in done and new:
                    waiting += new
                    continue
                found = waiting.pop()
                if found not in done:
                    done.add(found)
                    yield layers[found]

    def rt_info(self) -> Any:
        """What the model tells of itself, as XML; None where that is nothing."""
        return self._net.find("rt_info")

    def layouts(self) -> dict[str, Layout]:
        """The layouts of inputs and outputs, by the name of the port."""
        found: dict[str, Layout] = {}
        for kind, ports in (("Parameter", self._names.inputs), ("Result", self._names.outputs)):
            for layer, port in zip(self._of_kind(kind), ports, strict=True):
                for one in layer.iter("attribute"):
                    if one.get("name") == "layout" and one.get("layout"):
                        found[port.port] = Layout(one.get("layout", ""))
        return found

    def _of_kind(self, kind: str) -> list[Any]:
        return [layer for layer in self._layers if layer.get("type") == kind]

    # ----- Layers that are added ---------------------------------------------

    def _add(
        self, kind: str, opset: int, data: dict[str, str], inputs: Sequence[Value], made: Value
    ) -> Value:
        layer = ElementTree.Element("layer", id=made.layer, type=kind, version=f"opset{opset}")
        layer.set("name", f"{kind}_{made.layer}")
        ElementTree.SubElement(layer, "data", data)
        if inputs:
            into = ElementTree.SubElement(layer, "input")
            for number, value in enumerate(inputs):
                self._port(into, str(number), value)
                self._connect(value.layer, value.port, made.layer, str(number))
        self._port(ElementTree.SubElement(layer, "output"), made.port, made)
        self._layers.insert(self._at, layer)
        self._at += 1
        return made

    @staticmethod
    def _port(parent: Any, number: str, value: Value) -> Any:
        port = ElementTree.SubElement(parent, "port", id=number, precision=ROWS[str(value.type)][0])
        for extent in _texts(value.shape):
            ElementTree.SubElement(port, "dim").text = extent
        return port

    def _connect(self, layer: str, port: str, to_layer: str, to_port: str) -> None:
        names = {"from-layer": layer, "from-port": port, "to-layer": to_layer, "to-port": to_port}
        ElementTree.SubElement(self._edges, "edge", names)

    def _new(self, inputs: int, type: Type, shape: Extents) -> Value:
        self._next += 1
        return Value(str(self._next - 1), str(inputs), type, list(shape))

    def constant(self, array: np.ndarray[Any, Any]) -> Value:
        """An array."""
        self._size += -self._size % _ALIGNMENT
        data = {
            "element_type": str(Type(array.dtype)),
            "shape": ",".join(map(str, array.shape)),
            "offset": str(self._size),
            "size": str(array.nbytes),
        }
        self._added.append(array.tobytes())
        self._size += array.nbytes
        return self._add("Const", 1, data, [], self._new(0, Type(array.dtype), list(array.shape)))

    def cast(self, value: Value, type: Type) -> Value:
        """Elements of another type."""
        data = {"destination_type": str(type)}
        return self._add("Convert", 1, data, [value], self._new(1, type, value.shape))

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Axes in another order."""
        axes = self.constant(np.array(order, np.int64))
        shape = [value.shape[axis] for axis in order]
        return self._add("Transpose", 1, {}, [value, axes], self._new(2, value.type, shape))

    def arithmetic(self, kind: str, value: Value, array: np.ndarray[Any, Any]) -> Value:
        """Subtracts, multiplies or divides by an array that broadcasts to the value."""
        other = self.constant(array)
        made = self._new(2, value.type, value.shape)
        return self._add(kind, 1, {"auto_broadcast": "numpy"}, [value, other], made)

    def take(self, value: Value, axis: int, indices: Sequence[int]) -> Value:
        """Some places of an axis."""
        shape = [*value.shape[:axis], len(indices), *value.shape[axis + 1 :]]
        inputs = [value, self.constant(np.array(indices, np.int64))]
        inputs.append(self.constant(np.array(axis, np.int64)))
        made = self._new(3, value.type, shape)
        return self._add("Gather", 8, {"batch_dims": "0"}, inputs, made)

    def resize(self, value: Value, sizes: dict[int, int], mode: str) -> Value:
        """Other extents of some axes."""
        shape = [sizes.get(axis, extent) for axis, extent in enumerate(value.shape)]
        inputs = [value, self.constant(np.array(list(sizes.values()), np.int64))]
        inputs.append(self.constant(np.array(list(sizes), np.int64)))
        zeros = ",".join("0" for _ in value.shape)
        data = {
            "mode": mode,
            "shape_calculation_mode": "sizes",
            "coordinate_transformation_mode": "half_pixel",
            "nearest_mode": "round_prefer_floor",
            "antialias": "false",
            "pads_begin": zeros,
            "pads_end": zeros,
            # Pillow's, which OpenVINO's CPU runtime takes without looking at the attribute.
            "cube_coeff": "-0.5" if mode == "bicubic_pillow" else "-0.75",
        }
        return self._add("Interpolate", 11, data, inputs, self._new(3, value.type, shape))

    def slice(self, value: Value, begins: Sequence[int], ends: Sequence[int]) -> Value:
        """A part of all axes."""
        shape = [
            len(range(*slice(begin, end).indices(extent))) if extent is not None else None
            for begin, end, extent in zip(begins, ends, value.shape, strict=True)
        ]
        ones = np.ones(len(begins), np.int64)
        arrays = [np.array(begins, np.int64), np.array(ends, np.int64), ones]
        inputs = [value, *map(self.constant, arrays)]
        return self._add("Slice", 8, {}, inputs, self._new(4, value.type, shape))

    def pad(
        self, value: Value, begins: Sequence[int], ends: Sequence[int], fill: float, mode: str
    ) -> Value:
        """More elements before and behind those of each axis."""
        shape = [
            None if extent is None else extent + begin + end
            for begin, end, extent in zip(begins, ends, value.shape, strict=True)
        ]
        inputs = [value, *(self.constant(np.array(one, np.int64)) for one in (begins, ends))]
        inputs.append(self.constant(np.array(fill, value.type.to_dtype())))
        made = self._new(4, value.type, shape)
        return self._add("Pad", 12, {"pad_mode": mode}, inputs, made)

    def sum(self, value: Value, axis: int) -> Value:
        """The sum along an axis, which stays with one element."""
        shape = [*value.shape[:axis], 1, *value.shape[axis + 1 :]]
        inputs = [value, self.constant(np.array([axis], np.int64))]
        made = self._new(2, value.type, shape)
        return self._add("ReduceSum", 1, {"keep_dims": "true"}, inputs, made)

    def round(self, value: Value) -> Value:
        """The nearest integers; of two the even one."""
        made = self._new(1, value.type, value.shape)
        return self._add("Round", 5, {"mode": "half_to_even"}, [value], made)

    def video(self, planes: Sequence[Value], kind: str, shape: Extents) -> Value:
        """An image of a frame of video; `kind` is the layer, as "NV12toRGB"."""
        made = self._new(len(planes), planes[0].type, shape)
        return self._add(kind, 8, {}, planes, made)

    # ----- Inputs and outputs ------------------------------------------------

    def begin_input(
        self, index: int, type: Type, shapes: Sequence[Extents], names: Sequence[str]
    ) -> list[Value]:
        """New Parameters in the place of number `index`, with its names.

        Where there are several, `names` stand behind its names; without them numbers stand
        behind the name of the layer, and the tensors have no names.
        """
        old = self._of_kind("Parameter")[index]
        self._at = list(self._layers).index(old) + 1
        source = old.find("output/port")
        tensors = split_names(source.attrib.pop("names", "") if source is not None else "")
        new = []
        for at, shape in enumerate(shapes):
            made = self._new(0, type, shape)
            text = ",".join("?" if one is None else str(one) for one in shape)
            self._add("Parameter", 1, {"shape": text, "element_type": str(type)}, [], made)
            layer = self._layers[self._at - 1]
            behind = "" if len(shapes) == 1 else f"/{names[at] if names else at}"
            layer.set("name", (old.get("name") or "") + behind)
            if tensors and (names or not behind):
                own = ",".join(one.replace(",", "\\,") + behind for one in tensors)
                layer.find("output/port").set("names", own)  # type: ignore[union-attr]
            new.append(made)
        return new

    def end_input(self, index: int, value: Value, new: Sequence[Value]) -> None:
        """Feeds what read the old Parameter."""
        del new
        old = self._of_kind("Parameter")[index]  # it stands before the new one
        for edge in self._edges:
            if edge.get("from-layer") == old.get("id"):
                edge.set("from-layer", value.layer)
                edge.set("from-port", value.port)
        self._layers.remove(old)

    def begin_output(self, index: int, type: Type, shape: Extents) -> Value:
        """What the Result of number `index` reads."""
        result = self._of_kind("Result")[index]
        self._at = list(self._layers).index(result)
        edge = self._edge_of(result)
        return Value(edge.get("from-layer") or "", edge.get("from-port") or "", type, shape)

    def end_output(self, index: int, value: Value) -> None:
        """Feeds the Result of number `index`; the names of its tensor go along."""
        result = self._of_kind("Result")[index]
        edge = self._edge_of(result)
        before = self._port_of(edge.get("from-layer"), edge.get("from-port"))
        after = self._port_of(value.layer, value.port)
        if before is not after and before.get("names"):
            after.set("names", before.attrib.pop("names"))
        edge.set("from-layer", value.layer)
        edge.set("from-port", value.port)

    def _edge_of(self, layer: Any) -> Any:
        return next(edge for edge in self._edges if edge.get("to-layer") == layer.get("id"))

    def _port_of(self, layer: str | None, port: str | None) -> Any:
        found = next(one for one in self._layers if one.get("id") == layer)
        return next(one for one in found.findall("output/port") if one.get("id") == port)

    def add_output(self, node: str | None, output: int, tensor: str | None) -> str:
        """A Result of a layer's output, or of a tensor; its name as a port.

        Raises:
            InvalidArgument: there is none.
        """
        for layer in self._layers:
            for at, port in enumerate(layer.findall("output/port")):
                names = split_names(port.get("names"))
                if (layer.get("name") == node and at == output) or tensor in names:
                    return self._add_result(layer, port, names)
        wanted = repr(tensor) if node is None else f"{node!r}, output {output}"
        raise InvalidArgument(f"outputs: the model has no tensor {wanted}")

    def _add_result(self, layer: Any, port: Any, names: Sequence[str]) -> str:
        known = {edge.get("to-layer") for edge in self._edges
                 if (edge.get("from-layer"), edge.get("from-port"))
                 == (layer.get("id"), port.get("id"))}  # fmt: skip
        for result, own in zip(self._of_kind("Result"), self._names.outputs, strict=True):
            if result.get("id") in known:
                return own.port
        number, self._next = str(self._next), self._next + 1
        made = ElementTree.SubElement(
            self._layers,
            "layer",
            {"id": number, "name": f"{layer.get('name')}/result", "type": "Result",
             "version": "opset1"},
        )  # fmt: skip
        into = ElementTree.SubElement(made, "input")
        copied = ElementTree.SubElement(into, "port", id="0", precision=port.get("precision") or "")
        copied.extend(port.findall("dim"))
        self._connect(layer.get("id") or "", port.get("id") or "", number, "0")
        return names[0] if names else f"{layer.get('name')}/result"

    # ----- Files -------------------------------------------------------------

    def fix(self, shapes: dict[str, list[int | None]]) -> None:
        """Writes the extents of inputs down."""
        for layer, names in zip(self._of_kind("Parameter"), self._names.inputs, strict=True):
            if names.port not in shapes:
                continue
            shape = shapes[names.port]
            data, port = layer.find("data"), layer.find("output/port")
            data.set("shape", ",".join("?" if one is None else str(one) for one in shape))
            for dim in port.findall("dim"):
                port.remove(dim)
            for at, extent in enumerate(_texts(shape)):
                dim = ElementTree.Element("dim")
                dim.text = extent
                port.insert(at, dim)

    def set_layouts(self, layouts: dict[str, Layout]) -> None:
        """Writes layouts of inputs down."""
        for layer, names in zip(self._of_kind("Parameter"), self._names.inputs, strict=True):
            layout = layouts.get(names.port)
            if layout is None or layout.empty:
                continue
            port = layer.find("output/port")
            for info in port.findall("rt_info"):
                port.remove(info)
            info = ElementTree.SubElement(port, "rt_info")
            ElementTree.SubElement(
                info, "attribute", name="layout", version="0", layout=str(layout)
            )

    def write(self, path: Path, weights: Path | None = None, *, links: bool = False) -> None:
        """Writes the model, with its weights beside it.

        Args:
            path: the file.
            weights: the file of weights; None for the one beside it.
            links: whether that may be a link to the weights that there are.
        """
        beside = path.with_suffix(".bin") if weights is None else weights
        own = self._path.with_suffix(".bin")
        if links and not self._added and own.is_file():
            beside.symlink_to(own.resolve())
        elif not own.is_file():
            beside.write_bytes(b"")
        elif not beside.exists() or not own.samefile(beside):
            shutil.copyfile(own, beside)
        if self._added:
            with beside.open("ab") as file:
                for one in self._added:
                    file.write(b"\0" * (-file.tell() % _ALIGNMENT) + one)
        ElementTree.ElementTree(self._net).write(path, encoding="utf-8", xml_declaration=True)
