# ===- random_chains.py - Chains of nodes in loops and branches ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random chains of steps, each of which makes a value [batch, steps, size] of one.

Batch and steps are open. The chain stands alone, in a Loop that carries the value, in a Loop that
takes one of the steps after the other, in a Scan over them, or in a branch. Attention may have a
past, which loops carry and let grow. What comes out is what onnxruntime gives. random_contrib.py
and random_idioms.py have steps.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx
from exact_peer import weight_range
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Feeds = dict[str, Array]

F32, I32, I64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
MS = "com.microsoft"
PLACES = ("alone", "loop", "decode", "scan", "branch")


class Block:
    """A graph under construction; constants are initializers of the outermost one."""

    def __init__(self, model: ChainModel, prefix: str) -> None:
        self.model, self.dice = model, model.dice
        self.size, self.heads = model.size, model.heads
        self.nodes: list[onnx.NodeProto] = []
        self._prefix, self._numbers = prefix, itertools.count()
        #: Earlier values of the same shape.
        self.earlier: list[str] = []

    def fresh(self) -> str:
        return f"{self._prefix}{next(self._numbers)}"

    def add(self, op: str, inputs: Sequence[str], domain: str = MS, **attributes: Any) -> str:
        return self.several(op, inputs, 1, domain, **attributes)[0]

    def several(
        self, op: str, inputs: Sequence[str], count: int, domain: str = MS, **attributes: Any
    ) -> list[str]:
        names = [self.fresh() for _ in range(count)]
        node = helper.make_node(op, list(inputs), names, domain=domain, **attributes)
        self.nodes.append(node)
        return names

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.model.constants)}"
        self.model.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weights(self, *shape: int, scale: float = 0.5) -> str:
        return self.constant(self.model.numbers.standard_normal(shape) * scale)

    def near_one(self, *shape: int) -> str:
        return self.constant(1 + self.model.numbers.standard_normal(shape) * 0.1)

    def maybe(self, make: Callable[[], str], chance: float = 0.5) -> str:
        return make() if self.dice.random() < chance else ""

    def other(self, x: str) -> str:
        """A value of the same shape."""
        return self.dice.choice([*self.earlier, x])

    def bytes(self, *shape: int, dtype: Any = np.uint8) -> str:
        low, high = weight_range(dtype)
        return self.constant(self.model.numbers.integers(low, high + 1, shape), dtype)


#: Nodes of a block that make a value of one of the same shape.
Step = Callable[[Block, str], str]


class ChainModel:
    """A random chain somewhere, and sets of inputs of other extents for it."""

    STEPS: ClassVar[tuple[Step, ...]]
    #: Whether all numbers are whole and small.
    ARE_WHOLE: ClassVar[bool] = False
    MOST_STEPS: ClassVar[int] = 4

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.dice = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.constants: list[onnx.TensorProto] = []
        self.heads = self.dice.choice((2, 4))
        self.size = self.heads * 16
        #: Some step rounds to bytes: what differs by one of these is no failure.
        self.rounds = False
        self.place = self.dice.choice(PLACES)
        #: Pasts of the graph's inputs: name, heads, width; of presents: the names.
        self.pasts: list[tuple[str, int, int]] = []
        self.presents: list[str] = []
        self.kinds: list[str] = []
        self._grows = self.place in ("alone", "loop", "decode") and self.dice.random() < 0.6
        self._needs: dict[str, tuple[int, list[Any]]] = {}
        self._graph = self._make()
        self.sets = [self._draw(k) for k in range(5)]

    def __str__(self) -> str:
        return f"{self.place}: {', '.join(self.kinds)}"

    # What steps ask for

    def past(self, b: Block, kind: str, heads: int, width: int) -> list[str]:
        """Keys and values of before, where this model has them."""
        if not self._grows or (self.pasts and self.dice.random() < 0.5):
            return []
        names = [f"{kind}{len(self.pasts) + k}" for k in range(2)]
        self.pasts += [(name, heads, width) for name in names]
        return list(names)

    def present(self, b: Block, names: Sequence[str]) -> None:
        self.presents += names

    def mask(self, b: Block, x: str) -> str:
        """Ones and zeros [batch, steps], the first of which is one."""
        sums = b.add("ReduceSum", [x, b.constant([2], np.int64)], "", keepdims=0)
        steps = b.add("Shape", [x], "", start=1, end=2)
        last = b.add("Squeeze", [steps], "")
        places = b.add("Range", [b.constant(0, np.int64), last, b.constant(1, np.int64)], "")
        first = b.add("Equal", [places, b.constant(0, np.int64)], "")
        kept = b.add("Or", [b.add("Less", [sums, b.constant(0.5)], ""), first], "")
        return b.add("Cast", [kept], "", to=I32)

    def total(self, b: Block, x: str, past: Sequence[str]) -> list[str]:
        """Places of the last keys of each row, and how many keys there are."""
        shape = b.add("Shape", [x], "")
        axis0, axis1 = b.constant([0], np.int64), b.constant([1], np.int64)
        count = b.add("Gather", [shape, axis1], "")
        if past:
            shapes = b.add("Shape", [past[0]], "", start=2, end=3)
            count = b.add("Add", [count, shapes], "")
        last = b.add("Sub", [count, axis1], "")
        rows = b.add("Gather", [shape, axis0], "")
        each = b.add("Expand", [last, rows], "")
        return [b.add("Cast", [each], "", to=I32),
                b.add("Cast", [b.add("Squeeze", [count], "")], "", to=I32)]  # fmt: skip

    # The graph

    def _chain(self, b: Block, x: str) -> str:
        for _ in range(self.dice.randint(1, self.MOST_STEPS)):
            step = self.dice.choice(self.STEPS)
            self.kinds.append(step.__name__)
            made = step(b, x)
            b.earlier.append(x)
            x = made
        if self.place == "alone" or self.ARE_WHOLE:
            return x
        # What is carried stays of one size.
        return b.add("Tanh", [x], "")

    def _make(self) -> onnx.GraphProto:
        info = helper.make_tensor_value_info
        g = Block(self, "g")
        x_shape: list[Any] = ["batch", "steps", self.size]
        inputs: list[tuple[str, int, list[Any] | None]] = [("x", F32, x_shape)]
        body = Block(self, "b")
        if self.place == "alone":
            results = [self._chain(g, "x")]
        elif self.place == "branch":
            inputs.append(("flag", TensorProto.BOOL, []))
            other = Block(self, "e")
            ends = self._chain(body, "x"), self._chain(other, "x")
            graphs = [helper.make_graph(p.nodes, n, [], [info(e, F32, None)])
                      for p, n, e in zip((body, other), ("yes", "no"), ends, strict=True)]  # fmt: skip
            results = [g.add("If", ["flag"], "", then_branch=graphs[0], else_branch=graphs[1])]
        elif self.place == "scan":
            # One step of all rows after the other.
            row = body.add("Unsqueeze", ["row", body.constant([1], np.int64)], "")
            made = self._chain(body, row)
            state = body.add("Add", ["state", made], "")
            out = body.add("Squeeze", [made, body.constant([1], np.int64)], "")
            graph = helper.make_graph(
                body.nodes, "body", [info("state", F32, None), info("row", F32, None)],
                [info(state, F32, None), info(out, F32, None)],
            )  # fmt: skip
            inputs.append(("init", F32, ["batch", 1, self.size]))
            results = g.several("Scan", ["init", "x"], 2, "", body=graph, num_scan_inputs=1,
                                scan_input_axes=[1], scan_output_axes=[1])  # fmt: skip
        else:
            results = self._loop(g, body, inputs)
        inputs += [
            (name, F32, ["batch", heads, "past", width]) for name, heads, width in self.pasts
        ]
        if self.place == "alone":
            results += self.presents
        self.inputs = inputs
        graph = helper.make_graph(
            g.nodes, "chain", [info(n, e, s) for n, e, s in inputs],
            [info(name, F32, None) for name in results], self.constants,
        )  # fmt: skip
        return graph

    def _loop(self, g: Block, body: Block, inputs: list[Any]) -> list[str]:
        """Carries the value, or takes one step after the other; what is past grows."""
        info = helper.make_tensor_value_info
        begin = "state"
        trips = "n"
        if self.place == "decode":
            one = body.constant([1], np.int64)
            at = body.add("Unsqueeze", ["i", body.constant([0], np.int64)], "")
            token = body.add("Slice", ["x", at, body.add("Add", [at, one], ""), one], "")
            begin = body.add("Add", ["state", token], "")
            inputs.append(("init", F32, ["batch", 1, self.size]))
            trips = g.add("Squeeze", [g.add("Shape", ["x"], "", start=1, end=2)], "")
        else:
            inputs.append(("n", I64, []))
        made = self._chain(body, begin)
        more = body.add("Identity", ["go"], "")
        ports = [name for name, _, _ in self.pasts]
        head = [info("i", I64, ()), info("go", TensorProto.BOOL, ()),
                *(info(name, F32, None) for name in ("state", *(f"in_{p}" for p in ports)))]  # fmt: skip
        for node in body.nodes:
            for k, name in enumerate(node.input):
                if name in ports:
                    node.input[k] = f"in_{name}"
        out = body.add("Identity", [made], "")
        tail = [info(more, TensorProto.BOOL, ()),
                *(info(name, F32, None) for name in (made, *self.presents, out))]  # fmt: skip
        graph = helper.make_graph(body.nodes, "body", head, tail)
        init = "init" if self.place == "decode" else "x"
        return g.several("Loop", [trips, "", init, *ports], len(tail) - 1, "", body=graph)

    # Models and inputs

    def _draw(self, number: int) -> Feeds:
        dice = random.Random(f"{self._seed} {number}")
        numbers = np.random.default_rng(dice.getrandbits(32))
        extents = {"batch": dice.choice((1, 1, 2, 3)), "steps": dice.choice((1, 2, 3, 5, 9, 17)),
                   "past": dice.choice((0, 1, 3, 6))}  # fmt: skip
        if self.ARE_WHOLE and dice.random() < 0.15:
            extents[dice.choice(("batch", "steps"))] = 0
        if self.pasts and "grouped" in self.kinds and extents["steps"] > 1:
            # Several tokens behind a past are of one row of the batch.
            extents["batch"] = 1
        made: Feeds = {}
        for name, elem, shape in self.inputs:
            dtype = helper.tensor_dtype_to_np_dtype(elem)
            dims = [extents.get(d, d) for d in shape or ()]
            if name == "n":
                made[name] = np.array(dice.choice((1, 2, 3)))
            elif name == "flag":
                made[name] = np.array(dice.random() < 0.5)
            else:
                drawn = numbers.standard_normal(dims)
                made[name] = (np.rint(2 * drawn) if self.ARE_WHOLE else drawn).astype(dtype)
        return made

    def model(self, number: int | None = None, names: Sequence[str] = ()) -> onnx.ModelProto:
        """With open extents, or with those of a set of inputs but for dimensions of such names."""
        graph = onnx.GraphProto()
        graph.CopyFrom(self._graph)
        if number is not None:
            for port in graph.input:
                for dim, extent in zip(
                    port.type.tensor_type.shape.dim, self.sets[number][port.name].shape, strict=True
                ):
                    if dim.dim_param not in names:
                        dim.dim_value = extent
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)
