# ===- networks.py - What tests of networks share --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A network with short names for what the tests need again and again."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
from loopc import network as trt

EW = trt.ElementWiseOperation
MM = trt.MatrixOperation
ACT = trt.ActivationType
OUT = trt.LoopOutput
COUNT, WHILE = trt.TripLimit.COUNT, trt.TripLimit.WHILE


class Net:
    """A network with short names for what the tests need again and again."""

    def __init__(self, name: str = "test") -> None:
        self.network = trt.create_network(name)

    def input(self, name: str, shape: Any, dtype: Any = np.float32) -> trt.ITensor:
        return self.network.add_input(name, dtype, shape)

    def const(self, value: Any, dtype: Any = np.float32) -> trt.ITensor:
        array = np.asarray(value, dtype)
        return self.network.add_constant(array.shape, array).get_output(0)

    def ew(self, a: trt.ITensor, b: trt.ITensor, op: EW, name: str = "") -> trt.ITensor:
        layer = self.network.add_elementwise(a, b, op)
        if name:
            layer.name = name
        return layer.get_output(0)

    def act(self, x: trt.ITensor, kind: ACT) -> trt.ITensor:
        return self.network.add_activation(x, kind).get_output(0)

    def mv(self, matrix: trt.ITensor, vector: trt.ITensor) -> trt.ITensor:
        layer = self.network.add_matrix_multiply(matrix, MM.NONE, vector, MM.VECTOR)
        return layer.get_output(0)

    def loop(self, count: trt.ITensor | None = None, name: str = "loop") -> trt.ILoop:
        loop = self.network.add_loop()
        loop.name = name
        if count is not None:
            loop.add_trip_limit(count, COUNT)
        return loop

    def out(self, tensor: trt.ITensor, name: str) -> None:
        tensor.name = name
        self.network.mark_output(tensor)

    def last(self, loop: trt.ILoop, recurrence: trt.IRecurrenceLayer, name: str) -> None:
        layer = loop.add_loop_output(recurrence.get_output(0), OUT.LAST_VALUE)
        self.out(layer.get_output(0), name)

    def collect(
        self,
        loop: trt.ILoop,
        tensor: trt.ITensor,
        length: trt.ITensor,
        name: str,
        axis: int = 0,
        kind: OUT = OUT.CONCATENATE,
    ) -> trt.ITensor:
        layer = loop.add_loop_output(tensor, kind, axis)
        layer.name = name + "_layer"
        layer.set_input(1, length)
        self.out(layer.get_output(0), name)
        return layer.get_output(0)

    def session(self, level: int | None = None) -> loopc.InferenceSession:
        return loopc.InferenceSession(self.network, loopc.SessionOptions(opt_level=level))

    def run(self, **feeds: Any) -> list[Any]:
        return self.session().run(None, feeds)


def i32(value: Any) -> np.ndarray[Any, Any]:
    return np.array(value, np.int32)


def f32(value: Any) -> np.ndarray[Any, Any]:
    return np.array(value, np.float32)


def counting(n: Net, name: str = "loop") -> tuple[trt.ILoop, trt.IRecurrenceLayer]:
    """A loop of three trips with a recurrence that is closed, and an output."""
    loop = n.loop(n.const(3, np.int32), name)
    rec = loop.add_recurrence(n.const(0))
    rec.name = name + "_rec"
    rec.set_input(1, n.ew(rec.get_output(0), n.const(1), EW.SUM, name + "_next"))
    n.last(loop, rec, name + "_last")
    return loop, rec
