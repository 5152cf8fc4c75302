# ===- random_twins.py - One program over two element types -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random programs that move elements and compute none, over any type, beside one over int64.

What moves elements does the same for every type: an element of a type is known by its code, its
bits as a rule, and a program over int64 moves the codes. So onnxruntime's results of that one are
those of programs over types that it lacks: integers of 2 and 4 bits, floats of 4 and 8, bfloat16,
complex numbers, texts. The programs are Loops, Scans along any axis, and Ifs, in each other;
values are carried, cut, collected, captured, and go out as they came in.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]

#: Element types, and how many codes each has.
TYPES: dict[int, int] = {
    TensorProto.INT2: 4, TensorProto.UINT2: 4, TensorProto.INT4: 16, TensorProto.UINT4: 16,
    TensorProto.FLOAT4E2M1: 16, TensorProto.FLOAT8E4M3FN: 256, TensorProto.FLOAT8E4M3FNUZ: 256,
    TensorProto.FLOAT8E5M2: 256, TensorProto.FLOAT8E5M2FNUZ: 256, TensorProto.FLOAT8E8M0: 256,
    TensorProto.BFLOAT16: 65536, TensorProto.FLOAT16: 65536, TensorProto.INT16: 65536,
    TensorProto.UINT8: 256, TensorProto.INT8: 256, TensorProto.UINT32: 65536,
    TensorProto.BOOL: 2, TensorProto.DOUBLE: 256, TensorProto.COMPLEX64: 256,
    TensorProto.COMPLEX128: 256, TensorProto.STRING: 99,
}  # fmt: skip

#: Types whose codes are small integers and not bits.
_VALUES = {
    TensorProto.DOUBLE: lambda c: c.astype(np.float64) / 4,
    TensorProto.COMPLEX64: lambda c: (c - 1j * (c % 7) * (c > 0)).astype(np.complex64),
    TensorProto.COMPLEX128: lambda c: (c / 3 + 1j * (c % 5)).astype(np.complex128),
    TensorProto.STRING: lambda c: np.array(
        ["" if one == 0 else f"t{one}" * (1 + one % 3) for one in c.ravel()], dtype=object
    ).reshape(c.shape),
    TensorProto.UINT32: lambda c: c.astype(np.uint32) << 15,
    TensorProto.BOOL: lambda c: c.astype(np.bool_),
    TensorProto.INT2: lambda c: _signed(c, 2).astype(ml_dtypes.int2),
    TensorProto.UINT2: lambda c: c.astype(ml_dtypes.uint2),
    TensorProto.INT4: lambda c: _signed(c, 4).astype(ml_dtypes.int4),
    TensorProto.UINT4: lambda c: c.astype(ml_dtypes.uint4),
    TensorProto.INT64: lambda c: c,
}


def _signed(codes: Array, bits: int) -> Array:
    return np.where(codes >= 1 << (bits - 1), codes - (1 << bits), codes).astype(np.int8)


def elements(codes: Any, elem: int) -> Array:
    """The elements of these codes."""
    codes = np.asarray(codes, np.int64)
    if elem in _VALUES:
        return np.asarray(_VALUES[elem](codes))
    dtype = helper.tensor_dtype_to_np_dtype(elem)
    return codes.astype(np.uint8 if dtype.itemsize == 1 else np.uint16).view(dtype)


@functools.cache
def _takes(op: str, elem: int, opset: int) -> bool:
    """Whether ONNX's operator takes such elements."""
    schema = onnx.defs.get_schema(op, opset)
    name = f"tensor({TensorProto.DataType.Name(elem).lower()})"
    return any(name in port.types for port in schema.outputs) and all(
        name in port.types for port in schema.inputs if port.type_str == schema.outputs[0].type_str
    )


@dataclasses.dataclass
class Value:
    """A tensor by its name and extents; None: they are the run's."""

    name: str
    shape: tuple[int, ...] | None


@dataclasses.dataclass
class Twin:
    """A program as a function of the element type, and sets of inputs by their codes."""

    elem: int
    opset: int
    make: Callable[[int, bool], onnx.ModelProto]
    sets: list[dict[str, Array]]
    given: dict[str, bool]  # inputs, and whether their elements are codes

    def feeds(self, one: dict[str, Array], elem: int) -> dict[str, Array]:
        """A set of inputs with elements of a type."""
        return {k: elements(v, elem) if self.given[k] else v for k, v in one.items()}


class _Program:
    """Makes the nodes once: they are the same for every type."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.elem = list(TYPES)[seed % len(TYPES)]
        self.opset = 25
        self.count = 0
        self.codes: dict[str, Array] = {}  # constants of the element type
        self.numbers: dict[str, Array] = {}  # of other types

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def takes(self, *ops: str) -> bool:
        return all(_takes(op, self.elem, self.opset) for op in ops)

    def number(self, value: Any) -> str:
        name = self.name()
        self.numbers[name] = np.asarray(value)
        return name

    def shape(self, least: int = 0) -> tuple[int, ...]:
        rank = self.random.randint(least, 3)
        return tuple(0 if self.random.random() < 0.03 else self.random.choice((1, 2, 3, 3, 4, 5))
                     for _ in range(rank))  # fmt: skip

    def node(
        self, block: _Block, op: str, inputs: Sequence[str], shape: Any, **flags: Any
    ) -> Value:
        name = self.name()
        block.nodes.append(helper.make_node(op, inputs, [name], **flags))
        made = Value(name, None if shape is None else tuple(shape))
        block.values.append(made)
        return made

    def constant(self, block: _Block) -> Value:
        shape = self.shape()
        name = self.name()
        self.codes[name] = self.draw(shape)
        made = Value(name, shape)
        block.values.append(made)
        return made

    def draw(self, shape: Sequence[int]) -> Array:
        pick = np.random.default_rng(self.random.getrandbits(32))
        return pick.integers(0, TYPES[self.elem], shape)

    # -- What every type has ---------------------------------------------------------------

    def transpose(self, block: _Block, v: Value) -> Value:
        order = self.random.sample(range(len(v.shape)), len(v.shape))
        flags = {"perm": order} if order else {}
        return self.node(block, "Transpose", [v.name], [v.shape[k] for k in order], **flags)

    def reshaped(self, block: _Block, v: Value, shape: Sequence[int]) -> Value:
        zero = {"allowzero": 1} if 0 in shape else {}
        return self.node(block, "Reshape", [v.name, self.number(np.array(shape, np.int64))], shape,
                         **zero)  # fmt: skip

    def reshape(self, block: _Block, v: Value) -> Value:
        total, shape = math.prod(v.shape), []
        while total > 1 and len(shape) < 3 and self.random.random() < 0.8:
            part = self.random.choice([d for d in range(1, total + 1) if total % d == 0])
            shape.append(part)
            total //= part
        return self.reshaped(block, v, [*shape, total])

    def shuffle(self, block: _Block, v: Value) -> Value:
        """Other elements in the same places."""
        if self.random.random() < 0.5:
            v = self.reshaped(block, self.reshape(block, v), v.shape)
        return self.reshaped(block, self.transpose(block, v), v.shape)

    def pad(self, block: _Block, v: Value) -> Value:
        if not v.shape or 0 in v.shape:
            return self.unsqueeze(block, v)
        mode = self.random.choice(("constant", "constant", "edge", "reflect", "wrap"))
        low = -1 if mode == "constant" else 0
        high = [min(2, d - 1) if mode in ("reflect", "wrap") else 2 for d in v.shape]
        pads = [[self.random.randint(low, h) for h in high] for _ in range(2)]
        for k, d in enumerate(v.shape):
            if d + pads[0][k] + pads[1][k] < 1:
                pads[0][k] = 0
        shape = [d + a + b for d, a, b in zip(v.shape, *pads, strict=True)]
        inputs = [v.name, self.number(np.array([*pads[0], *pads[1]], np.int64))]
        if mode == "constant" and self.random.random() < 0.6:
            filler = self.name()
            self.codes[filler] = self.draw(())
            inputs.append(filler)
        return self.node(block, "Pad", inputs, shape, mode=mode)

    def unsqueeze(self, block: _Block, v: Value) -> Value:
        at = self.random.randint(0, len(v.shape))
        shape = [*v.shape[:at], 1, *v.shape[at:]]
        return self.node(block, "Unsqueeze", [v.name, self.number(np.int64([at]))], shape)

    def squeeze(self, block: _Block, v: Value) -> Value:
        ones = [k for k, d in enumerate(v.shape) if d == 1]
        if not ones:
            return self.transpose(block, v)
        at = self.random.choice(ones)
        shape = [d for k, d in enumerate(v.shape) if k != at]
        return self.node(block, "Squeeze", [v.name, self.number(np.int64([at]))], shape)

    def identity(self, block: _Block, v: Value) -> Value:
        return self.node(block, "Identity", [v.name], v.shape)

    # -- What only some have -----------------------------------------------------------------

    def cut(self, block: _Block, v: Value) -> Value:
        if not v.shape or not self.takes("Slice", "Concat"):
            return self.pad(block, v)
        axis = self.random.randrange(len(v.shape))
        at = self.random.randint(0, v.shape[axis])
        one, other = list(v.shape), list(v.shape)
        one[axis], other[axis] = v.shape[axis] - at, at
        numbers = [self.number(np.int64([k])) for k in (at, 2**62, axis, 0)]
        back = self.node(block, "Slice", [v.name, *numbers[:3]], one)
        front = self.node(block, "Slice", [v.name, numbers[3], numbers[0], numbers[2]], other)
        return self.node(block, "Concat", [back.name, front.name], v.shape, axis=axis)

    def flip(self, block: _Block, v: Value) -> Value:
        if not v.shape or not self.takes("Slice"):
            return self.reshape(block, v)
        axis = self.random.randrange(len(v.shape))
        numbers = [self.number(np.int64([k])) for k in (-1, -(2**62), axis, -1)]
        return self.node(block, "Slice", [v.name, *numbers], v.shape)

    def gather(self, block: _Block, v: Value) -> Value:
        if not v.shape or 0 in v.shape or not self.takes("Gather"):
            return self.transpose(block, v)
        axis = self.random.randrange(len(v.shape))
        indices = self.shape()
        places = np.random.default_rng(self.random.getrandbits(32)).integers(
            -v.shape[axis], v.shape[axis], indices)  # fmt: skip
        shape = [*v.shape[:axis], *indices, *v.shape[axis + 1 :]]
        return self.node(block, "Gather", [v.name, self.number(places)], shape, axis=axis)

    def scatter(self, block: _Block, v: Value) -> Value:
        if not v.shape or 0 in v.shape or not self.takes("ScatterElements"):
            return self.shuffle(block, v)
        axis = self.random.randrange(len(v.shape))
        order = self.random.sample(range(v.shape[axis]), v.shape[axis])
        places = np.broadcast_to(
            np.array(order).reshape([-1 if k == axis else 1 for k in range(len(v.shape))]), v.shape)  # fmt: skip
        other = self.like(block, v.shape)
        return self.node(block, "ScatterElements", [v.name, self.number(places), other.name],
                         v.shape, axis=axis)  # fmt: skip

    def where(self, block: _Block, v: Value) -> Value:
        if not self.takes("Where"):
            return self.shuffle(block, v)
        mask = np.random.default_rng(self.random.getrandbits(32)).random(v.shape) < 0.5
        return self.node(block, "Where", [self.number(mask), v.name, self.like(block, v.shape).name],
                         v.shape)  # fmt: skip

    def tile(self, block: _Block, v: Value) -> Value:
        if not v.shape or not self.takes("Tile") or math.prod(v.shape) > 60:
            return self.squeeze(block, v)
        times = [self.random.randint(1, 2) for _ in v.shape]
        return self.node(block, "Tile", [v.name, self.number(np.int64(times))],
                         [a * b for a, b in zip(v.shape, times, strict=True)])  # fmt: skip

    def like(self, block: _Block, shape: Sequence[int]) -> Value:
        """A value of that shape."""
        shape = tuple(shape)
        same = [v for v in block.known() if v.shape == shape]
        if same and self.random.random() < 0.8:
            return self.random.choice(same)
        fitting = [v for v in block.known() if math.prod(v.shape) == math.prod(shape)]
        if fitting and self.random.random() < 0.7:
            return self.reshaped(block, self.random.choice(fitting), shape)
        name = self.name()
        self.codes[name] = self.draw(shape)
        return Value(name, shape)

    # -- Control -------------------------------------------------------------------------------

    def fill(self, block: _Block, count: int, depth: int) -> None:
        steps = (self.transpose, self.reshape, self.shuffle, self.pad, self.unsqueeze, self.squeeze,
                 self.identity, self.cut, self.flip, self.gather, self.scatter, self.where,
                 self.tile)  # fmt: skip
        for _ in range(count):
            v = self.random.choice(block.known())
            if depth and self.random.random() < 0.3:
                self.random.choice((self.loop, self.scan, self.branch))(block, depth - 1)
            elif len(v.shape) < 5 and math.prod(v.shape) < 400:
                self.random.choice(steps)(block, v)

    def some(self, block: _Block, least: int, most: int) -> list[Value]:
        return [self.random.choice(block.known()) for _ in range(self.random.randint(least, most))]

    def changed(self, block: _Block, v: Value) -> Value:
        """A value of the shape of another one, as a rule made of it."""
        step = self.random.choice((self.shuffle, self.where, self.scatter, self.cut, None))
        if step is None:
            return self.like(block, v.shape)
        made = step(block, v)
        return made if made.shape == v.shape else self.shuffle(block, v)

    def graph(self, name: str, nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[str],
              ) -> _Graph:  # fmt: skip
        return _Graph(name, list(nodes), list(inputs), list(outputs))

    def loop(self, block: _Block, depth: int) -> None:
        states = self.some(block, 0, 3)
        body = _Block(block)
        arguments = [Value(self.name(), s.shape) for s in states]
        body.values += arguments
        number, going = self.name(), self.name()
        self.fill(body, self.random.randint(1, 4), depth)
        yields = [self.changed(body, a) for a in arguments]
        if self.random.random() < 0.3:
            yields.sort(key=lambda v: (v.shape, self.random.random()))
            places = sorted(range(len(yields)), key=lambda k: arguments[k].shape)
            yields = [yields[places.index(k)] for k in range(len(yields))]
        collected = self.some(body, 0 if states else 1, 2)
        results = [Value(self.name(), v.shape) for v in states]
        stacks = [Value(self.name(), None) for _ in collected]
        ends = self.name()
        nodes = [*body.nodes, helper.make_node("Identity", [going], [ends])]
        outputs = [self.own(nodes, v) for v in (*yields, *collected)]
        block.nodes.append(_Control(
            "Loop", ["n", "go", *(s.name for s in states)], [v.name for v in (*results, *stacks)],
            {"body": self.graph("body", nodes, [(number, TensorProto.INT64, ()),
                                                (going, TensorProto.BOOL, ()),
                                                *((a.name, 0, a.shape) for a in arguments)],
                                [(ends, TensorProto.BOOL), *((o, 0) for o in outputs)])}))  # fmt: skip
        block.values += [*results, *stacks]

    def own(self, nodes: list[Any], v: Value) -> str:
        """The value under a name of its own."""
        name = self.name()
        nodes.append(helper.make_node("Identity", [v.name], [name]))
        return name

    def scan(self, block: _Block, depth: int) -> None:
        whole = [v for v in block.known() if v.shape]
        if not whole:
            return
        first = self.random.choice(whole)
        axes = [self.random.randrange(len(first.shape))]
        extent = first.shape[axes[0]]
        cuts = [first]
        for v in self.random.sample(whole, min(2, len(whole))):
            fitting = [k for k, d in enumerate(v.shape) if d == extent]
            if fitting:
                cuts.append(v)
                axes.append(self.random.choice(fitting))
        states = self.some(block, 0, 2)
        body = _Block(block)
        arguments = [Value(self.name(), v.shape) for v in states]
        parts = [Value(self.name(), tuple(d for k, d in enumerate(v.shape) if k != a))
                 for v, a in zip(cuts, axes, strict=True)]  # fmt: skip
        body.values += [*arguments, *parts]
        self.fill(body, self.random.randint(1, 4), depth)
        yields = [self.changed(body, a) for a in arguments]
        collected = self.some(body, 1, 2)
        out_axes = [self.random.randint(0, len(v.shape)) for v in collected]
        results = [Value(self.name(), v.shape) for v in states]
        stacks = [Value(self.name(), (*v.shape[:a], extent, *v.shape[a:]))
                  for v, a in zip(collected, out_axes, strict=True)]  # fmt: skip
        nodes = list(body.nodes)
        outputs = [self.own(nodes, v) for v in (*yields, *collected)]
        block.nodes.append(_Control(
            "Scan", [*(s.name for s in states), *(v.name for v in cuts)],
            [v.name for v in (*results, *stacks)],
            {"body": self.graph("body", nodes, [(a.name, 0, a.shape) for a in (*arguments, *parts)],
                                [(o, 0, [None] * len(v.shape))
                                 for o, v in zip(outputs, (*yields, *collected), strict=True)]),
             "num_scan_inputs": len(cuts), "scan_input_axes": axes, "scan_output_axes": out_axes,
             "scan_input_directions": [self.random.randrange(2) for _ in cuts],
             "scan_output_directions": [self.random.randrange(2) for _ in collected]}))  # fmt: skip
        block.values += results
        # Of a Scan without trips onnxruntime has no results.
        block.values += stacks

    def branch(self, block: _Block, depth: int) -> None:
        graphs = []
        first: list[Value] = []
        for k in range(2):
            body = _Block(block)
            self.fill(body, self.random.randint(1, 3), depth)
            chosen = self.some(body, 1, 2) if k == 0 else [self.like(body, v.shape) for v in first]
            first = first or chosen
            nodes = list(body.nodes)
            graphs.append(
                self.graph("branch", nodes, [], [(self.own(nodes, v), 0) for v in chosen])
            )
        results = [Value(self.name(), v.shape) for v in first]
        block.nodes.append(_Control("If", [self.random.choice(("go", "other"))],
                                    [v.name for v in results],
                                    {"then_branch": graphs[0], "else_branch": graphs[1]}))  # fmt: skip
        block.values += results


class _Block:
    """Nodes and the values that may be used among them."""

    def __init__(self, outer: _Block | None = None) -> None:
        self.nodes: list[Any] = []
        self.values: list[Value] = []
        self.outer = outer

    def known(self) -> list[Value]:
        """Values of known extents, those of this block more often than what it captures."""
        own = [v for v in self.values if v.shape is not None]
        return own + own + (self.outer.known()[-4:] if self.outer else [])


@dataclasses.dataclass
class _Graph:
    name: str
    nodes: list[Any]
    inputs: list[tuple[str, int, Any]]  # element type 0: the program's
    outputs: list[Any]  # name, element type, and extents where they are said

    def proto(self, elem: int) -> onnx.GraphProto:
        return helper.make_graph(
            [n.proto(elem) if isinstance(n, _Control) else n for n in self.nodes], self.name,
            [helper.make_tensor_value_info(n, k or elem, () if k else None)
             for n, k, _ in self.inputs],
            [helper.make_tensor_value_info(n, k or elem, *(shape or [None]))
             for n, k, *shape in self.outputs],
        )  # fmt: skip


@dataclasses.dataclass
class _Control:
    op: str
    inputs: list[str]
    outputs: list[str]
    flags: dict[str, Any]

    def proto(self, elem: int) -> onnx.NodeProto:
        flags = {k: v.proto(elem) if isinstance(v, _Graph) else v for k, v in self.flags.items()}
        return helper.make_node(self.op, self.inputs, self.outputs, **flags)


def random_twin(seed: int) -> Twin:
    """The program of that number."""
    program = _Program(seed)
    block = _Block()
    shapes = {
        f"x{k}": program.shape(1 if k == 0 else 0) for k in range(program.random.randint(1, 3))
    }
    block.values += [Value(k, s) for k, s in shapes.items()]
    program.constant(block)
    program.fill(block, program.random.randint(1, 3), 2)
    program.random.choice((program.loop, program.scan, program.branch))(block, 2)
    program.loop(block, 1)
    program.fill(block, 2, 1)
    given = dict.fromkeys(shapes, True) | {"n": False, "go": False, "other": False}
    made = [v.name for v in block.values if v.name not in given and v.name not in program.codes]
    nodes = list(block.nodes)
    outputs = [program.own(nodes, Value(name, None)) for name in made[-8:]]
    if program.random.random() < 0.2:
        outputs.append(program.own(nodes, Value("x0", None)))

    def make(elem: int, is_open: bool) -> onnx.ModelProto:
        kinds = {"n": TensorProto.INT64, "go": TensorProto.BOOL, "other": TensorProto.BOOL}
        inputs = [helper.make_tensor_value_info(
            k, kinds.get(k, elem),
            [f"{k}_{a}" if is_open else d for a, d in enumerate(shapes.get(k, ()))])
            for k in given]  # fmt: skip
        constants = []
        for name, value in (program.numbers | program.codes).items():
            held = elements(value, elem) if name in program.codes else value
            constants.append(numpy_helper.from_array(held, name))
        graph = helper.make_graph(
            [n.proto(elem) if isinstance(n, _Control) else n for n in nodes], "twin", inputs,
            [helper.make_tensor_value_info(n, elem, None) for n in outputs], constants,
        )  # fmt: skip
        version = (21, 10) if elem == TensorProto.INT64 else (program.opset, 13)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version[0])],
                                 ir_version=version[1])  # fmt: skip

    sets = [
        {k: program.draw(s) for k, s in shapes.items()}
        | {"n": np.array(n, np.int64), "go": np.array(go), "other": np.array(other)}
        for n, go, other in ((2, True, False), (3, True, True), (0, True, False), (1, False, True))
    ]
    return Twin(program.elem, program.opset, make, sets, given)
