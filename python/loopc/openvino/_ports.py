# ===- _ports.py - Inputs, outputs and results -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The inputs and outputs of models, and how programs name them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from loopc._errors import InvalidArgument, InvalidType
from loopc._network_types import data_type, numpy_type
from loopc._session import NodeArg
from loopc.openvino._layout import Layout
from loopc.openvino._names import PortNames
from loopc.openvino._types import Dimension, PartialShape, Shape, Type

#: Names of element types that NumPy has another name of.
_NUMPY = {"float": "float32", "double": "float64"}


def inner_type(port: NodeArg) -> str:
    """The element type of a session's port, "float"."""
    return port.type.removeprefix("tensor(").removesuffix(")")


def shape_of(port: NodeArg) -> PartialShape:
    """The extents of a session's port."""
    if port.shape is None:
        return PartialShape.dynamic()
    return PartialShape([one if isinstance(one, int) else Dimension() for one in port.shape])


class Node:
    """A layer of a model.

    Attributes:
        friendly_name: its name.
        type_name: "Parameter", "Result", or its operator.
        output_names: the names of what it computes, a set for each output.
    """

    def __init__(
        self,
        friendly_name: str,
        type_name: str,
        output_names: Sequence[Sequence[str]] = (),
        layouts: dict[str, Layout] | None = None,
        port: str = "",
    ) -> None:
        self.friendly_name = friendly_name
        self.type_name = type_name
        self.output_names = [set(one) for one in output_names]
        self._layouts = layouts
        self._port = port

    @property
    def name(self) -> str:
        """Its name."""
        return self.friendly_name

    @property
    def layout(self) -> Layout:
        """What the axes of an input or an output stand for; empty where nobody has said it."""
        return (self._layouts or {}).get(self._port, Layout())

    @layout.setter
    def layout(self, layout: Layout | str) -> None:
        if self._layouts is None:
            raise InvalidArgument(
                f"'{self.friendly_name}': layouts are those of inputs and outputs of a model "
                "that is not compiled"
            )
        self._layouts[self._port] = layout if isinstance(layout, Layout) else Layout(layout)

    def get_layout(self) -> Layout:
        """As `layout`."""
        return self.layout

    def set_layout(self, layout: Layout | str) -> None:
        """Sets `layout`."""
        self.layout = layout

    def get_friendly_name(self) -> str:
        """Its name."""
        return self.friendly_name

    def get_name(self) -> str:
        """Its name."""
        return self.friendly_name

    def get_type_name(self) -> str:
        """Its kind."""
        return self.type_name

    def get_output_size(self) -> int:
        """The number of its outputs."""
        return len(self.output_names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self.friendly_name, self.type_name) == (
            other.friendly_name,
            other.type_name,
        )

    def __hash__(self) -> int:
        return hash((self.friendly_name, self.type_name))

    def __repr__(self) -> str:
        return f"<{self.type_name}: '{self.friendly_name}'>"


class Output:
    """An input or an output of a model."""

    def __init__(
        self,
        port: NodeArg,
        names: PortNames,
        index: int,
        kind: str = "Parameter",
        layouts: dict[str, Layout] | None = None,
    ) -> None:
        self._layouts = layouts
        self._port = port
        self._names = names
        self._kind = kind
        self.index = index

    def get_index(self) -> int:
        """Its place among the model's inputs or outputs."""
        return self.index

    @property
    def node(self) -> Node:
        """The layer that it belongs to."""
        name = self._names.node or self._port.name
        return Node(name, self._kind, [list(self.names)], self._layouts, self._port.name)

    def get_node(self) -> Node:
        """The layer that it belongs to."""
        return self.node

    @property
    def any_name(self) -> str:
        """One of its names."""
        return self._names.tensor[0] if self._names.tensor else self._port.name

    def get_any_name(self) -> str:
        """One of its names."""
        return self.any_name

    @property
    def names(self) -> set[str]:
        """All names of its tensor."""
        return set(self._names.tensor) or {self._port.name}

    def get_names(self) -> set[str]:
        """All names of its tensor."""
        return self.names

    @property
    def partial_shape(self) -> PartialShape:
        """Its extents; open where the run chooses one."""
        return shape_of(self._port)

    def get_partial_shape(self) -> PartialShape:
        """As `partial_shape`."""
        return self.partial_shape

    @property
    def shape(self) -> Shape:
        """Its extents.

        Raises:
            InvalidArgument: the run chooses one of them.
        """
        shape = self.partial_shape
        if shape.is_dynamic:
            raise InvalidArgument(f"'{self.any_name}' has no fixed shape: {shape}")
        return shape.to_shape()

    def get_shape(self) -> Shape:
        """As `shape`."""
        return self.shape

    @property
    def element_type(self) -> Type:
        """The type of its elements."""
        try:
            return Type(inner_type(self._port))
        except InvalidType:
            return Type("dynamic")

    def get_element_type(self) -> Type:
        """As `element_type`."""
        return self.element_type

    def _knows(self, name: str) -> bool:
        return name == self._port.name or name in self._names.tensor or name == self._names.node

    def __repr__(self) -> str:
        names = ", ".join(sorted(self.names))
        kind = type(self).__name__
        return f"<{kind}: names[{names}] shape{self.partial_shape} type: {self.element_type}>"


class ConstOutput(Output):
    """An input or an output of a compiled model."""


Key = int | str | Output


def zeros(port: Output) -> np.ndarray[Any, Any]:
    """An array of the port's type and shape; of extent 0 where the shape is open."""
    inner = inner_type(port._port)
    shape = [one if isinstance(one, int) else 0 for one in port._port.shape or []]
    if inner == "string":
        return np.full(shape, "", object)
    try:
        return np.zeros(shape, numpy_type(data_type(_NUMPY.get(inner, inner))))
    except (TypeError, InvalidArgument, MemoryError):
        raise InvalidArgument(
            f"'{port.any_name}' of shape {port.partial_shape} and type {inner} has no array "
            "here: set_tensor() gives it one"
        ) from None


def converted(array: np.ndarray[Any, Any], port: Output) -> np.ndarray[Any, Any]:
    """`array` with the port's type of numbers, as OpenVINO takes arrays."""
    inner = inner_type(port._port)
    if array.dtype.kind not in "fiub" or not inner.startswith(("float", "double", "int", "uint")):
        return array
    try:
        return array.astype(numpy_type(data_type(_NUMPY.get(inner, inner))), copy=False)
    except (TypeError, InvalidArgument):
        return array


def find(ports: Sequence[Output], key: Key, kind: str) -> int:
    """The place of the port that has a name or a number.

    Raises:
        InvalidArgument: there is none.
    """
    if isinstance(key, Output):
        key = key._port.name
    if isinstance(key, str):
        for port in ports:
            if port._knows(key):
                return port.index
        known = ", ".join(repr(name) for port in ports for name in sorted(port.names))
        raise InvalidArgument(f"the model has no {kind} {key!r}; it has: {known or 'none'}")
    try:
        at = operator.index(key)
    except (TypeError, ValueError):
        given = type(key).__qualname__
        raise InvalidType(f"{kind}: expected a name, a number or an {kind}, got {given}") from None
    if not -len(ports) <= at < len(ports):
        raise InvalidArgument(f"the model has no {kind} {at}; it has {len(ports)}")
    return at % len(ports)


def only(ports: Sequence[Output], kind: str) -> int:
    """The place of the only port.

    Raises:
        InvalidArgument: there are several, or none.
    """
    if len(ports) != 1:
        raise InvalidArgument(f"the model has {len(ports)} {kind}s: name one")
    return 0


class Results(Mapping[Key, Any]):
    """The outputs of a run, by number, by any name, or by the output itself."""

    def __init__(self, outputs: Sequence[Output], values: Sequence[Any]) -> None:
        self._outputs = outputs
        self._values = values

    def __getitem__(self, key: Key) -> Any:
        try:
            return self._values[find(self._outputs, key, "output")]
        except InvalidArgument as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def names(self) -> tuple[set[str], ...]:
        """The names of each output."""
        return tuple(port.names for port in self._outputs)

    def __repr__(self) -> str:
        return repr(self.to_dict())

    def to_dict(self) -> dict[Key, Any]:
        """The same as a dict."""
        return dict(zip(self._outputs, self._values, strict=True))

    def to_tuple(self) -> tuple[Any, ...]:
        """The values in their order."""
        return tuple(self._values)
