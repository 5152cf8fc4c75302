# ===- random_windows.py - Chains of windows over any extents -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random chains of windows for test/fuzz/windows.py: where they stand, and sets of inputs.

random_window_steps.py says what a chain is made of.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from random_window_steps import ELEMENT, STEPS, Chain, Feeds, Graph, elementwise
from window_arrays import MOST_ELEMENTS, Array, TooLargeError, WindowsError

#: Extents of axes: of no elements, shorter than windows, and longer than vectors.
EXTENTS = (0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 19, 33)
#: Where a chain stands.
PLACES = ("alone", "alone", "loop", "carried", "scan", "branch")


class WindowModel:
    """A random chain somewhere, and sets of inputs for it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._dice = dice = random.Random(seed)
        self._spatial = dice.choice((1, 1, 2, 2, 2, 3))
        self._dtype = np.dtype(dice.choice((np.float32, np.float32, np.float32, np.float64)))
        self._channels = dice.choice((1, 2, 3, 4, 6, 8, None))
        chain = Chain(dice, self._spatial, self._channels, self._dtype)
        self._steps = [dice.choice(STEPS)(chain) for _ in range(dice.randint(1, 3))]
        self._place = dice.choice(PLACES)
        if self._place == "carried" and chain.channels != self._channels:
            self._place = "loop"
        rank = 2 + self._spatial
        self._axes = (dice.randrange(rank + 1), dice.randrange(rank + 1), dice.randrange(2))
        self._other = dice.choice(STEPS)(Chain(dice, self._spatial, None, self._dtype))
        if self._other.inputs:
            self._other = elementwise(chain)
        self.sets = [self._draw_set(k) for k in range(6)]

    def __str__(self) -> str:
        return f"{self._place}: {', '.join(step.text for step in self._steps)}"

    # Inputs

    def _draw_set(self, number: int) -> Feeds:
        dice = random.Random(f"{self._seed} {number}")
        while True:
            try:
                feeds = self._draw_feeds(dice)
                self.compute(feeds)
            except TooLargeError:
                continue
            except WindowsError:
                # What does not fit is for some of the sets.
                if dice.random() < 0.6:
                    continue
            return feeds

    def _draw_feeds(self, dice: random.Random) -> Feeds:
        most = {1: 17, 2: 15, 3: 11}[self._spatial]
        channels = self._channels or dice.choice((1, 2, 3, 5))
        shape = [dice.choice((0, 1, 1, 2, 3)), channels]
        shape += [dice.choice(EXTENTS[:most]) for _ in range(self._spatial)]
        numbers = np.random.default_rng(dice.getrandbits(32))
        if self._place == "scan":
            shape.insert(self._axes[0], dice.choice((1, 2, 3)))
        if math.prod(shape) > MOST_ELEMENTS:
            raise TooLargeError
        feeds: Feeds = {"x": numbers.integers(-4, 5, shape).astype(self._dtype)}
        if self._place in ("loop", "carried"):
            feeds["n"] = np.array(dice.choice((0, 1, 2, 3)))
        if self._place == "branch":
            feeds["flag"] = np.array(dice.random() < 0.6)
        x: Array | None = feeds["x"]
        if self._place == "scan" and x is not None:
            x = np.take(x, 0, axis=self._axes[0])
        for step in self._steps:
            feeds |= step.draw(x, dice)
            try:
                x = None if x is None else step.compute(x, feeds)
            except WindowsError:
                x = None
        return feeds

    # Results

    def _chain(self, x: Array, feeds: Feeds) -> Array:
        for step in self._steps:
            x = step.compute(x, feeds)
            if x.size > 4 * MOST_ELEMENTS:
                raise TooLargeError
        return x

    def compute(self, feeds: Feeds) -> list[Array | None]:
        """The outputs; None for one that has no elements and unknown extents."""
        x = feeds["x"]
        if self._place == "branch":
            if feeds["flag"]:
                return [self._chain(x, feeds)]
            return [self._other.compute(x, feeds)]
        if self._place == "carried":
            for _ in range(int(feeds["n"])):
                x = self._chain(x, feeds)
            return [x]
        if self._place == "loop":
            made = [self._chain(x + x.dtype.type(k), feeds) for k in range(int(feeds["n"]))]
            last = np.array(len(made), self._dtype)
            return [np.stack(made) if made else None, last]
        if self._place == "scan":
            axis, out, backwards = self._axes
            rows = [np.take(x, k, axis=axis) for k in range(x.shape[axis])]
            made = [self._chain(row, feeds) for row in (rows[::-1] if backwards else rows)]
            return [np.stack(made, axis=out)]
        return [self._chain(x, feeds)]

    # Models

    def _emit_steps(self, g: Graph, x: str) -> str:
        for step in self._steps:
            x = step.emit(g, x)
        return x

    def _emit(self) -> tuple[Graph, list[str]]:
        g, b = Graph("g"), Graph("b")
        info, element = helper.make_tensor_value_info, ELEMENT[self._dtype]
        boolean = TensorProto.BOOL
        if self._place == "branch":
            other = Graph("e")
            ends = self._emit_steps(b, "x"), self._other.emit(other, "x")
            bodies = [
                helper.make_graph(part.nodes, name, [], [info(end, element, None)])
                for part, name, end in zip((b, other), ("yes", "no"), ends, strict=True)
            ]
            return g, [g.add("If", ["flag"], then_branch=bodies[0], else_branch=bodies[1])]
        if self._place in ("loop", "carried"):
            collects = self._place == "loop"
            head = [info("i", TensorProto.INT64, ()), info("go", boolean, ()),
                    info("state", element, () if collects else None)]  # fmt: skip
            begin = b.add("Add", ["x", "state"]) if collects else "state"
            made = self._emit_steps(b, begin)
            more = b.add("Identity", ["go"])
            tail = [info(more, boolean, ())]
            if collects:
                after = b.add("Add", ["state", b.constant(1, self._dtype)])
                tail.append(info(after, element, ()))
            tail.append(info(b.add("Identity", [made]), element, None))
            body = helper.make_graph(b.nodes, "body", head, tail)
            init = g.constant(0, self._dtype) if collects else "x"
            names = [g.fresh() for _ in tail[1:]]
            g.nodes.append(helper.make_node("Loop", ["n", "", init], names, body=body))
            return g, names[::-1]
        if self._place == "scan":
            axis, out, backwards = self._axes
            made = b.add("Identity", [self._emit_steps(b, "row")])
            body = helper.make_graph(
                b.nodes, "body", [info("row", element, None)], [info(made, element, None)]
            )
            return g, [g.add("Scan", ["x"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
                             scan_input_directions=[backwards],
                             scan_output_axes=[out])]  # fmt: skip
        return g, [self._emit_steps(g, "x")]

    def model(self, shapes: dict[str, Sequence[Any] | None] | None = None) -> onnx.ModelProto:
        """With such shapes of inputs; without a number where none is said."""
        g, names = self._emit()
        kinds = {"x": (self._dtype, self.sets[0]["x"].ndim)}
        for step in self._steps:
            kinds |= step.inputs
        if "n" in self.sets[0]:
            kinds["n"] = (np.dtype(np.int64), 0)
        if "flag" in self.sets[0]:
            kinds["flag"] = (np.dtype(bool), 0)
        inputs = []
        for name, (dtype, rank) in kinds.items():
            dims: Sequence[Any] | None = [f"{name}_{k}" for k in range(rank)]
            if dtype == np.int64 and rank == 1:
                dims = self.sets[0][name].shape
            if shapes is not None and name in shapes:
                dims = shapes[name]
            element = helper.np_dtype_to_tensor_dtype(dtype)
            inputs.append(helper.make_tensor_value_info(name, element, dims))
        outputs = [
            helper.make_tensor_value_info(name, ELEMENT[self._dtype], None) for name in names
        ]
        graph = helper.make_graph(g.nodes, "windows", inputs, outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

    def forms(self) -> list[tuple[str, bytes, list[int]]]:
        """Models by how inputs are declared, each with the sets that it can run."""
        everything = list(range(len(self.sets)))
        made = [("open", self.model().SerializeToString(), everything)]
        for number in self._dice.sample(everything, 2):
            shapes: Any = {name: value.shape for name, value in self.sets[number].items()}
            made.append((f"static {number}", self.model(shapes).SerializeToString(), [number]))
        number = self._dice.choice(everything)
        pinned = {
            name: [e if self._dice.random() < 0.5 else f"{name}_{k}"
                   for k, e in enumerate(value.shape)]
            for name, value in self.sets[number].items()
        }  # fmt: skip
        fit = [k for k in everything if all(
            isinstance(d, str) or d == e for name, dims in pinned.items()
            for d, e in zip(dims, self.sets[k][name].shape, strict=True))]  # fmt: skip
        made.append((f"partly {number}", self.model(dict(pinned)).SerializeToString(), fit))
        return made

    def setting(self, form: str) -> tuple[int, int, bool]:
        """Level, threads, and whether accesses are checked."""
        dice = random.Random(f"{self._seed} {form}")
        return dice.choice((0, 1, 2, 2, 3, 3)), dice.choice((1, 1, 2, 3)), dice.random() < 0.15
