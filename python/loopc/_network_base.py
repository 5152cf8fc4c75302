# ===- _network_base.py - What all tensors and layers have -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tensors, what layers of all kinds have, and the values of layers as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from loopc import _loopc
from loopc import _network_types as t
from loopc._arguments import array as as_array
from loopc._arguments import flag, index_of, integer, integers, number, string
from loopc._errors import InvalidArgument
from loopc._network_enums import DataType, LayerType

if TYPE_CHECKING:
    from loopc._network_scopes import IIfConditional, ILoop
    from loopc.network import INetworkDefinition

E = TypeVar("E", bound=IntEnum)


class ITensor:
    """A value of a network: an input, or what a layer computes."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def _raw(self) -> _loopc.Network:
        return self._network._raw

    @property
    def name(self) -> str:
        """Its name; that of an input or output is what sessions call it."""
        return self._raw.tensor_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._raw.set_tensor_name(self._number, string("name", text))

    @property
    def dtype(self) -> DataType:
        """The element type that follows from the network as it is by now."""
        return DataType(self._raw.tensor_type(self._number)[0])

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The extents, -1 where one is not known; None where the rank is not.

        They follow from the network as it is by now: a recurrence is what its
        initial value is, until it is closed.
        """
        extents = self._raw.tensor_type(self._number)[1]
        return None if extents is None else tuple(extents)

    @property
    def is_network_input(self) -> bool:
        """Whether it is an input of the network."""
        return self._number in self._raw.inputs()

    @property
    def is_network_output(self) -> bool:
        """Whether it is an output of the network."""
        return self._number in self._raw.outputs()

    def set_dimension_name(self, index: int, name: str) -> None:
        """Names an extent of an input that is not known."""
        self._raw.set_dimension_name(self._number, index_of("index", index), string("name", name))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ITensor)
            and other._network is self._network
            and other._number == self._number
        )

    def __hash__(self) -> int:
        return hash((id(self._network), self._number))

    def __repr__(self) -> str:
        return f"<ITensor '{self.name}'>"


class Value:
    """A value of a layer, by name."""

    def __init__(self, name: str, doc: str) -> None:
        self._name = name
        self.__doc__ = doc


class Int(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Int: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> int: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Int | int:
        if layer is None:
            return self
        return layer._raw.get_int(layer._number, self._name)

    def __set__(self, layer: ILayer, value: int) -> None:
        layer._raw.set_int(layer._number, self._name, integer(value, self._name))


class Bool(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Bool: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> bool: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Bool | bool:
        if layer is None:
            return self
        return layer._raw.get_int(layer._number, self._name) != 0

    def __set__(self, layer: ILayer, value: bool) -> None:
        layer._raw.set_int(layer._number, self._name, int(flag(self._name, value)))


class Float(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Float: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> float: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Float | float:
        if layer is None:
            return self
        return layer._raw.get_float(layer._number, self._name)

    def __set__(self, layer: ILayer, value: float) -> None:
        layer._raw.set_float(layer._number, self._name, number(self._name, value))


class Ints(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Ints: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> tuple[int, ...]: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Ints | tuple[int, ...]:
        if layer is None:
            return self
        return tuple(layer._raw.get_ints(layer._number, self._name))

    def __set__(self, layer: ILayer, value: Sequence[int]) -> None:
        layer._raw.set_ints(layer._number, self._name, integers(self._name, value))


class Paddings(Ints):
    """The padding in front; it is set at both ends."""

    def __set__(self, layer: ILayer, value: Sequence[int]) -> None:
        for name in ("pre_padding", "post_padding"):
            layer._raw.set_ints(layer._number, name, integers("padding_nd", value))


class Text(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Text: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> str: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Text | str:
        if layer is None:
            return self
        return layer._raw.get_string(layer._number, self._name)

    def __set__(self, layer: ILayer, value: str) -> None:
        layer._raw.set_string(layer._number, self._name, string(self._name, value))


class Choice(Value, Generic[E]):
    def __init__(self, name: str, kind: type[E], doc: str) -> None:
        super().__init__(name, doc)
        self._kind = kind

    @overload
    def __get__(self, layer: None, owner: type) -> Choice[E]: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> E: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Choice[E] | E:
        if layer is None:
            return self
        return self._kind(layer._raw.get_int(layer._number, self._name))

    def __set__(self, layer: ILayer, value: E) -> None:
        layer._raw.set_int(layer._number, self._name, integer(value, self._name))


class Array(Value):
    @overload
    def __get__(self, layer: None, owner: type) -> Array: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> np.ndarray[Any, Any]: ...
    def __get__(self, layer: ILayer | None, owner: type) -> Array | np.ndarray[Any, Any]:
        if layer is None:
            return self
        dtype, count, data = layer._raw.get_weights(layer._number, self._name)
        return t.unpacked(DataType(dtype), count, data)

    def __set__(self, layer: ILayer, value: Any) -> None:
        array = as_array(self._name, value)
        dtype, data = t.packed(array)
        extents = [array.size]
        if layer.TYPE == LayerType.CONSTANT:
            # A constant's values change, its shape does not.
            extents = list(layer.get_output(0).shape or ())
            if int(np.prod(extents, dtype=object)) != array.size:
                raise InvalidArgument(f"{array.size} values do not fill the shape {tuple(extents)}")
        layer._raw.set_weights(layer._number, self._name, int(dtype), extents, data)


class ILayer:
    """A layer of a network."""

    #: Its kind in loopc_network_add_layer().
    KIND = ""
    TYPE: LayerType
    #: Taken and not used: notes, and a permission to round.
    metadata: str = ""
    precision: Any = None

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    def __setattr__(self, name: str, value: Any) -> None:
        """What a layer does not have is an error, as in TensorRT, and not kept unheeded."""
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        super().__setattr__(name, value)

    @property
    def _raw(self) -> _loopc.Network:
        return self._network._raw

    @property
    def type(self) -> Any:
        """The LayerType; an activation's or a pooling's own type."""
        return self.TYPE

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._raw.layer_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._raw.set_layer_name(self._number, string("name", text))

    @property
    def num_inputs(self) -> int:
        """Number of inputs, those left out in the middle included."""
        return len(self._raw.layer_inputs(self._number))

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._raw.layer_outputs(self._number))

    def get_input(self, index: int) -> ITensor | None:
        """Input `index`; None where there is none."""
        inputs = self._raw.layer_inputs(self._number)
        at = integer(index, "index")
        if not 0 <= at < len(inputs) or inputs[at] < 0:
            return None
        return ITensor(self._network, inputs[at])

    def get_output(self, index: int) -> ITensor:
        """Output `index`."""
        outputs = self._raw.layer_outputs(self._number)
        at = integer(index, "index")
        if not 0 <= at < len(outputs):
            raise InvalidArgument(f"{self!r} has no output {at}")
        return ITensor(self._network, outputs[at])

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Connects input `index`; a recurrence is closed by ``set_input(1, next)``."""
        (number,) = self._network._numbers([tensor])
        self._raw.set_input(self._number, index_of("index", index), number)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ILayer)
            and other._network is self._network
            and other._number == self._number
        )

    def __hash__(self) -> int:
        return hash((id(self._network), self._number, "layer"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>"


class ILoopBoundaryLayer(ILayer):
    """What loops have at their border."""

    def __init__(self, network: INetworkDefinition, number: int, loop: ILoop | None = None) -> None:
        super().__init__(network, number)
        self._loop = loop

    @property
    def loop(self) -> ILoop:
        """Its loop."""
        assert self._loop is not None
        return self._loop


class IIfConditionalBoundaryLayer(ILayer):
    """What conditionals have at their border."""

    def __init__(
        self, network: INetworkDefinition, number: int, conditional: IIfConditional | None = None
    ) -> None:
        super().__init__(network, number)
        self._conditional = conditional

    @property
    def conditional(self) -> IIfConditional:
        """Its conditional."""
        assert self._conditional is not None
        return self._conditional
