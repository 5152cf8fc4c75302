# ===- _tensorrt_network.py - Networks of TensorRT's builder -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Networks that a builder makes: those of layers, and models that a parser has read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Self, TypeVar

import numpy as np

from loopc._arguments import extents, instance, integer, integers, member, number
from loopc._errors import InvalidArgument
from loopc._network_types import data_type
from loopc._onnx_ports import ports_of_bytes
from loopc._session import InferenceSession, NodeArg
from loopc._tensorrt_run import element_of
from loopc.network import (
    DataType,
    ElementWiseOperation,
    ILayer,
    INetworkDefinition,
    INodeLayer,
    InterpolationMode,
    ITensor,
)

#: Types that numbers are rounded to, and ONNX's numbers of them.
_QUANTISED = {DataType.INT8: 3, DataType.FP8: 17, DataType.INT4: 22}
_Node = TypeVar("_Node", bound=INodeLayer)


class Dims(tuple[int, ...]):
    """Extents."""

    MAX_DIMS = 32

    def __new__(cls, shape: Sequence[int] = ()) -> Self:
        """Those of a list."""
        return super().__new__(cls, integers("shape", shape))


class Dims2(Dims):
    """Two of them."""

    def __new__(cls, *shape: Any) -> Self:
        """Of a list, or one behind the other."""
        return super().__new__(cls, shape[0] if len(shape) == 1 else shape)


class Dims3(Dims2):
    """Three of them."""


class Dims4(Dims2):
    """Four of them."""


class DimsHW(Dims2):
    """A height and a width."""

    @property
    def h(self) -> int:
        """The height."""
        return self[0]

    @property
    def w(self) -> int:
        """The width."""
        return self[1]


class Permutation(Dims):
    """Axes in another order."""


class NetworkDefinitionCreationFlag(IntEnum):
    """Both are how every network is here."""

    EXPLICIT_BATCH = 0
    STRONGLY_TYPED = 1


class ParsedTensor(ITensor):
    """An input or output of a model that a parser has read; an input's shape can be set."""

    def __init__(self, network: Network, port: NodeArg, is_input: bool) -> None:
        self._network = network
        self._parsed = network
        self._port = port
        self._is_input = is_input

    @property
    def _number(self) -> int:  # type: ignore[override]
        raise InvalidArgument(
            f"'{self._port.name}' belongs to a model that was parsed, which takes no more layers"
        )

    @property
    def name(self) -> str:
        """Its name, that of the model."""
        return self._port.name

    @name.setter
    def name(self, text: str) -> None:
        raise InvalidArgument(f"'{self.name}': a model that was parsed keeps its names")

    @property
    def dtype(self) -> DataType:
        """The type of its elements."""
        return data_type(element_of(self._port))

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Its extents, -1 where one is not known; an input's can be set."""
        fixed = self._parsed._shapes.get(self._port.name)
        if fixed is not None or self._port.shape is None:
            return None if fixed is None else tuple(-1 if one is None else one for one in fixed)
        return tuple(one if isinstance(one, int) else -1 for one in self._port.shape)

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        given = integers("shape", shape)
        if not self._is_input:
            raise InvalidArgument(f"'{self.name}' is an output: its shape follows")
        self._parsed._shapes[self._port.name] = [None if one == -1 else one for one in given]

    @property
    def is_network_input(self) -> bool:
        """Whether it is an input."""
        return self._is_input

    @property
    def is_network_output(self) -> bool:
        """Whether it is an output."""
        return not self._is_input

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParsedTensor) and other._port is self._port

    def __hash__(self) -> int:
        return hash(self._port.name)

    def __repr__(self) -> str:
        return f"<ITensor '{self.name}'>"


class Network(INetworkDefinition):
    """A network of layers, or the model that a parser has read."""

    def __init__(self) -> None:
        super().__init__("network")
        self._model: bytes | None = None
        self._folder: str | None = None
        self._shapes: dict[str, list[int | None]] = {}
        self._parsed: tuple[list[ParsedTensor], list[ParsedTensor]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def _ports(self) -> tuple[list[ParsedTensor], list[ParsedTensor]] | None:
        """Inputs and outputs of a model that was parsed."""
        if self._model is None:
            return None
        if self._parsed is None:
            try:
                ports = ports_of_bytes(memoryview(self._model))
            except (ValueError, IndexError, KeyError):
                session = InferenceSession(self._model)
                ports = session.get_inputs(), session.get_outputs()
            self._parsed = (
                [ParsedTensor(self, one, True) for one in ports[0]],
                [ParsedTensor(self, one, False) for one in ports[1]],
            )
        return self._parsed

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        ports = self._ports()
        return super().num_inputs if ports is None else len(ports[0])

    def get_input(self, index: int) -> ITensor:
        """Input `index`."""
        ports = self._ports()
        if ports is None:
            return super().get_input(index)
        return _at("input", ports[0], index)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        ports = self._ports()
        return super().num_outputs if ports is None else len(ports[1])

    def get_output(self, index: int) -> ITensor:
        """Output `index`."""
        ports = self._ports()
        if ports is None:
            return super().get_output(index)
        return _at("output", ports[1], index)

    @property
    def flags(self) -> int:
        """Strongly typed, of one explicit batch."""
        return sum(1 << one for one in NetworkDefinitionCreationFlag)

    def get_flag(self, flag: NetworkDefinitionCreationFlag) -> bool:
        """True."""
        member("flag", flag, NetworkDefinitionCreationFlag)
        return True

    @property
    def has_implicit_batch_dimension(self) -> bool:
        """False."""
        return False

    # ----- Layers that are others together ---------------------------------

    def add_quantize(self, input: ITensor, scale: ITensor, output_type: Any = None) -> IAxisLayer:
        """Numbers divided by a scale and rounded, to INT8 or another type."""
        kind = DataType.INT8 if output_type is None else data_type(output_type)
        if kind not in _QUANTISED:
            known = ", ".join(one.name for one in _QUANTISED)
            raise InvalidArgument(f"output_type: {kind.name}: it is one of {known}")
        values = {"axis": 1, "output_dtype": _QUANTISED[kind]}
        return self._node("QuantizeLinear", [input, scale], values, IAxisLayer)

    def add_dequantize(self, input: ITensor, scale: ITensor, output_type: Any = None) -> IAxisLayer:
        """Rounded numbers times their scale."""
        return self._node("DequantizeLinear", [input, scale], {"axis": 1}, IAxisLayer)

    def add_resize(self, input: ITensor) -> IResizeLayer:
        """Interpolates; `shape` or `scales` of the layer say to what."""
        values = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
        values["nearest_mode"] = "floor"
        return self._node("Resize", [input, None, None, None], values, IResizeLayer)

    def add_padding_nd(
        self, input: ITensor, pre_padding: Sequence[int], post_padding: Sequence[int]
    ) -> INodeLayer:
        """Zeros before and behind the last axes; negative numbers cut."""
        before, behind = (
            integers("pre_padding", pre_padding),
            integers("post_padding", post_padding),
        )
        rank = len(_known_rank(input))
        if len(before) != len(behind) or len(before) > rank:
            raise InvalidArgument(f"paddings {before} and {behind} do not fit a rank of {rank}")
        open_axes = [0] * (rank - len(before))
        pads = np.array([*open_axes, *before, *open_axes, *behind], np.int64)
        amounts = self.add_constant((2 * rank,), pads).get_output(0)
        return self.add_node("Pad", [input, amounts])

    def add_scale(
        self,
        input: ITensor,
        mode: ScaleMode,
        shift: Any = None,
        scale: Any = None,
        power: Any = None,
    ) -> ILayer:
        """(x scale + shift) to the power; by channels axis 1 has the channels."""
        return self.add_scale_nd(input, mode, shift, scale, power, 1)

    def add_scale_nd(
        self,
        input: ITensor,
        mode: ScaleMode,
        shift: Any = None,
        scale: Any = None,
        power: Any = None,
        channel_axis: int = 1,
    ) -> ILayer:
        """The same with another axis of channels."""
        shape = _known_rank(input)
        rank, axis = len(shape), integer(channel_axis, "channel_axis")
        kind = member("mode", mode, ScaleMode)
        if not 0 <= axis < max(rank, 1):
            raise InvalidArgument(f"channel_axis: {axis} is no axis of a rank of {rank}")
        layer: ILayer = self.add_identity(input)
        steps = (
            (scale, ElementWiseOperation.PROD),
            (shift, ElementWiseOperation.SUM),
            (power, ElementWiseOperation.POW),
        )
        for weights, operation in steps:
            values = np.asarray(weights if weights is not None else [])
            if values.size == 0:
                continue
            extents = [1] * rank
            if kind == ScaleMode.CHANNEL:
                extents[axis] = values.size
            elif kind == ScaleMode.ELEMENTWISE:
                extents[axis:] = shape[axis:]
            constant = self.add_constant(extents, values.reshape(-1)).get_output(0)
            layer = self.add_elementwise(layer.get_output(0), constant, operation)
        return layer

    def _node(
        self,
        op_type: str,
        inputs: Sequence[ITensor | None],
        values: dict[str, Any],
        kind: type[_Node],
    ) -> _Node:
        """An operator of ONNX, as a layer whose values can be set."""
        added = self.add_node(op_type, inputs, values)
        made = kind(self, added._number)
        vars(made)["_values"] = dict(values)
        self._layers[added._number] = made
        return made


def _at(kind: str, ports: Sequence[ParsedTensor], index: int) -> ParsedTensor:
    at = integer(index, "index")
    if not -len(ports) <= at < len(ports):
        raise InvalidArgument(f"the network has no {kind} {at}; it has {len(ports)}")
    return ports[at]


def _known_rank(tensor: ITensor) -> tuple[int, ...]:
    shape = instance("input", tensor, ITensor).shape
    if shape is None:
        raise InvalidArgument(f"{tensor!r} is of no rank that is known")
    return shape


class IAxisLayer(INodeLayer):
    """A layer that quantises, or its opposite."""

    @property
    def axis(self) -> int:
        """The axis of a scale that is a vector."""
        return int(vars(self)["_values"]["axis"])

    @axis.setter
    def axis(self, value: int) -> None:
        vars(self)["_values"]["axis"] = integer(value, "axis")
        self._network._set_attribute(self._number, "axis", integer(value, "axis"))


class ResizeCoordinateTransformation(IntEnum):
    """Which place of the input one of the output is."""

    ALIGN_CORNERS = 0
    ASYMMETRIC = 1
    HALF_PIXEL = 2


class ResizeRoundMode(IntEnum):
    """Which neighbour is the nearest."""

    HALF_UP = 0
    HALF_DOWN = 1
    FLOOR = 2
    CEIL = 3


class ScaleMode(IntEnum):
    """How many scales there are."""

    UNIFORM = 0
    CHANNEL = 1
    ELEMENTWISE = 2


#: ONNX's names of how to round.
_ROUNDS = ("round_prefer_ceil", "round_prefer_floor", "floor", "ceil")


class IResizeLayer(INodeLayer):
    """A layer that interpolates."""

    def _keep(self, name: str, value: str) -> None:
        vars(self)["_values"][name] = value
        self._network._set_attribute(self._number, name, value)

    @property
    def resize_mode(self) -> InterpolationMode:
        """How values between are found; without it the nearest."""
        return InterpolationMode[vars(self)["_values"]["mode"].upper()]

    @resize_mode.setter
    def resize_mode(self, value: InterpolationMode) -> None:
        self._keep("mode", member("resize_mode", value, InterpolationMode).name.lower())

    @property
    def coordinate_transformation(self) -> ResizeCoordinateTransformation:
        """Which place is which; without it ASYMMETRIC."""
        name = vars(self)["_values"]["coordinate_transformation_mode"]
        return ResizeCoordinateTransformation[name.upper()]

    @coordinate_transformation.setter
    def coordinate_transformation(self, value: ResizeCoordinateTransformation) -> None:
        given = member("coordinate_transformation", value, ResizeCoordinateTransformation)
        self._keep("coordinate_transformation_mode", given.name.lower())

    @property
    def nearest_rounding(self) -> ResizeRoundMode:
        """Which neighbour is the nearest; without it FLOOR."""
        return ResizeRoundMode(_ROUNDS.index(vars(self)["_values"]["nearest_mode"]))

    @nearest_rounding.setter
    def nearest_rounding(self, value: ResizeRoundMode) -> None:
        self._keep("nearest_mode", _ROUNDS[member("nearest_rounding", value, ResizeRoundMode)])

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the result."""
        return tuple(vars(self).get("_shape", ()))

    @shape.setter
    def shape(self, value: Sequence[int]) -> None:
        vars(self)["_shape"] = given = extents("shape", value)
        constant = self._network.add_constant((len(given),), np.array(given, np.int64))
        self.set_input(3, constant.get_output(0))

    @property
    def scales(self) -> list[float]:
        """The factors of the extents."""
        return list(vars(self).get("_scales", ()))

    @scales.setter
    def scales(self, value: Sequence[float]) -> None:
        vars(self)["_scales"] = given = [number("scales", one) for one in value]
        constant = self._network.add_constant((len(given),), np.array(given, np.float32))
        self.set_input(2, constant.get_output(0))
