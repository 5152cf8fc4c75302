# ===- _network_scopes.py - Loops and conditionals of networks -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops and conditionals: what adds the layers at their border."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from loopc import _network_enums as t
from loopc._arguments import string
from loopc._network_base import IIfConditionalBoundaryLayer, ILoopBoundaryLayer, ITensor
from loopc._network_layers import (
    IConditionLayer,
    IIfConditionalInputLayer,
    IIfConditionalOutputLayer,
    IIteratorLayer,
    ILoopOutputLayer,
    IRecurrenceLayer,
    ITripLimitLayer,
)

if TYPE_CHECKING:
    from loopc.network import INetworkDefinition

B = TypeVar("B", bound=ILoopBoundaryLayer)


class ILoop:
    """A loop: the layers at its border. What else is in it follows from who uses what."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._network._raw.loop_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._network._raw.set_loop_name(self._number, string("name", text))

    def _add(self, kind: type[B], tensor: ITensor, /, **values: Any) -> B:
        number = self._network._add_number(kind.KIND, [tensor], self._number)
        return self._network._set_up(kind(self._network, number, self), values)

    def add_trip_limit(self, tensor: ITensor, kind: t.TripLimit) -> ITripLimitLayer:
        """COUNT: an integer scalar from outside. WHILE: a bool, tested before each trip."""
        return self._add(ITripLimitLayer, tensor, kind=kind)

    def add_iterator(self, tensor: ITensor, axis: int = 0, reverse: bool = False) -> IIteratorLayer:
        """The slices of `tensor` along `axis`; `reverse` begins at the count."""
        return self._add(IIteratorLayer, tensor, axis=axis, reverse=reverse)

    def add_recurrence(self, initial_value: ITensor) -> IRecurrenceLayer:
        """A value that a trip hands to the next; closed by ``set_input(1, next)``."""
        return self._add(IRecurrenceLayer, initial_value)

    def add_loop_output(
        self, tensor: ITensor, kind: t.LoopOutput, axis: int = 0
    ) -> ILoopOutputLayer:
        """What leaves the loop; ``set_input(1, length)`` for all but LAST_VALUE."""
        return self._add(ILoopOutputLayer, tensor, kind=kind, axis=axis)


C = TypeVar("C", bound=IIfConditionalBoundaryLayer)


class IIfConditional:
    """An if: layers that depend on its inputs run where their branch is taken."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._network._raw.conditional_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._network._raw.set_conditional_name(self._number, string("name", text))

    def _add(self, kind: type[C], tensors: list[ITensor]) -> C:
        number = self._network._add_number(kind.KIND, tensors, self._number)
        layer = kind(self._network, number, self)
        self._network._layers[number] = layer
        return layer

    def set_condition(self, condition: ITensor) -> IConditionLayer:
        """The condition: a bool of one element."""
        return self._add(IConditionLayer, [condition])

    def add_input(self, input: ITensor) -> IIfConditionalInputLayer:
        """`input` as the branches see it."""
        return self._add(IIfConditionalInputLayer, [input])

    def add_output(
        self, true_subgraph_output: ITensor, false_subgraph_output: ITensor
    ) -> IIfConditionalOutputLayer:
        """The one or the other."""
        return self._add(IIfConditionalOutputLayer, [true_subgraph_output, false_subgraph_output])
