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
from typing import Any, Self

from loopc._arguments import integer, integers, member
from loopc._errors import InvalidArgument
from loopc._network_types import data_type
from loopc._onnx_ports import ports_of_bytes
from loopc._session import InferenceSession, NodeArg
from loopc._tensorrt_run import element_of
from loopc.network import (
    DataType,
    INetworkDefinition,
    ITensor,
)


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
        self._outline = ""
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


def _at(kind: str, ports: Sequence[ParsedTensor], index: int) -> ParsedTensor:
    at = integer(index, "index")
    if not -len(ports) <= at < len(ports):
        raise InvalidArgument(f"the network has no {kind} {at}; it has {len(ports)}")
    return ports[at]
