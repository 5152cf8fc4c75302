# ===- large_extents.py - Random nodes of long axes, with threads ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random models whose axes are longer than tiles, strips, vectors and parts of threads.

    large_extents.py --seeds 0:300
    large_extents.py --seeds 77:78 --keep /tmp    writes what differs, as large-77.onnx and its inputs

Other random models have axes of a few elements, which most products, copies and sums take in one
tile, with one thread. Here extents lie around powers of two up to some thousands; products,
convolutions, sums, copies and what is elementwise are put together, half of them in a Loop or a
Scan; inputs are declared with all extents, with some and with none. All elements are integers, small
enough that no order of a sum rounds. A model runs with one thread or some; onnxruntime says what
comes out.

A line is printed for each failure, and at the end how many were the same. Exit status: 0; 1 with a
failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import pathlib
import random
import sys
from collections.abc import Sequence
from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

#: What an axis has, more or less by one.
EXTENTS = (1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256, 300, 512, 768, 1024, 2048)
MOST_ELEMENTS = 200_000
MOST_PRODUCTS = 20_000_000
#: No element of a value is farther from 0 than that.
LIMIT = 2
TYPES = {np.float32: 6, np.float64: 1, np.int32: 1}


class UnfitError(Exception):
    """A node that cannot be made of the values that there are."""


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: Shape


class LargeModel:
    """A random model, and inputs for it."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.type = self.dice.choices(list(TYPES), list(TYPES.values()))[0]
        #: Some elements are infinite or no numbers: none of them may get into another's result.
        self.has_specials = self.type != np.int32 and self.dice.random() < 0.3
        self.threads = self.dice.choice((1, 1, 2, 3, 4))
        self.level = self.dice.choice((2, 2, 2, 3, 1))
        some = [
            max(1, self.dice.choice(EXTENTS) + self.dice.choice((-1, 0, 0, 1))) for _ in range(3)
        ]
        #: Few different ones, so that values fit each other.
        self.extents = [*some, self.dice.randint(1, 5)]
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.feeds: dict[str, Array] = {}
        self.numbered = 0
        self.declared = self.dice.choice(("all", "all", "some", "none"))
        self.model = self.make()

    # Values

    def fresh(self) -> str:
        self.numbered += 1
        return f"v{self.numbered}"

    def shape(self, rank: int) -> Shape:
        for _ in range(20):
            shape = tuple(self.dice.choice(self.extents) for _ in range(rank))
            if math.prod(shape) <= MOST_ELEMENTS:
                return shape
        raise UnfitError

    def source(self, shape: Shape) -> Value:
        """A new input or constant."""
        if math.prod(shape) > MOST_ELEMENTS:
            raise UnfitError
        name = self.fresh()
        array = self.numbers.integers(-1, 2, shape).astype(self.type)
        if self.has_specials and self.dice.random() < 0.7:
            for _ in range(self.dice.randint(1, 3)):
                place = tuple(self.dice.randrange(extent) for extent in shape)
                array[place] = self.dice.choice((np.inf, -np.inf, np.nan))
        if self.dice.random() < 0.3:
            self.initializers.append(numpy_helper.from_array(array, name))
            return Value(name, shape)
        keep = {"all": 1.0, "some": 0.5, "none": 0.0}[self.declared]
        dims = [e if self.dice.random() < keep else f"{name}_{k}" for k, e in enumerate(shape)]
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.type))
        self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        self.feeds[name] = array
        return Value(name, shape)

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        name = self.fresh()
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def pick(self, pool: Sequence[Value], least: int = 0, most: int = 4) -> Value:
        fit = [v for v in pool if least <= len(v.shape) <= most]
        if fit and self.dice.random() < 0.8:
            return self.dice.choice(fit[-4:])
        return self.source(self.shape(self.dice.randint(max(1, least), most)))

    def other(self, pool: Sequence[Value], shape: Shape) -> Value:
        fit = [v for v in pool if v.shape == shape]
        return self.dice.choice(fit) if fit and self.dice.random() < 0.6 else self.source(shape)

    def add(self, kind: str, inputs: Sequence[str], shape: Shape, **attributes: Any) -> Value:
        if math.prod(shape) > MOST_ELEMENTS or 0 in shape:
            raise UnfitError
        name = self.fresh()
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return Value(name, shape)

    def bounded(self, value: Value) -> Value:
        """Within the limit; in one of two ways, as what comes behind a product is fused with it."""
        if self.has_specials:
            size = self.add("Abs", [value.name], value.shape)
            fits = self.add(
                "LessOrEqual", [size.name, self.constant(LIMIT, self.type)], value.shape
            )
            if self.dice.random() < 0.3:
                most = self.constant(2**20, self.type)
                finite = self.add("Less", [size.name, most], value.shape)
                special = self.add("Not", [finite.name], value.shape)
                fits = self.add("Or", [fits.name, special.name], value.shape)
            one = self.constant(1, self.type)
            return self.add("Where", [fits.name, value.name, one], value.shape)
        limits = [self.constant(x, self.type) for x in (-LIMIT, LIMIT)]
        if self.dice.random() < 0.5:
            return self.add("Clip", [value.name, *limits], value.shape)
        low = self.add("Max", [value.name, limits[0]], value.shape)
        return self.add("Min", [low.name, limits[1]], value.shape)

    # Nodes

    def make_elementwise(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool)
        shape = tuple(e if self.dice.random() < 0.7 else 1 for e in x.shape)
        y = self.other(pool, shape[self.dice.randint(0, len(shape)) if shape else 0 :])
        kinds = ("Add", "Sub", "Mul") if self.has_specials else ("Add", "Sub", "Mul", "Max", "Min")
        kind = self.dice.choice(kinds)
        operands = [x.name, y.name]
        self.dice.shuffle(operands)
        return self.bounded(self.add(kind, operands, x.shape))

    def make_product(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 2, 4)
        *batch, rows, inner = x.shape
        columns = self.dice.choice(self.extents)
        if math.prod((*x.shape, columns)) > MOST_PRODUCTS:
            raise UnfitError
        kept = batch[self.dice.randint(0, len(batch)) :]
        kept = [e if self.dice.random() < 0.7 else 1 for e in kept]
        if self.dice.random() < 0.4:
            y = self.other(pool, (*kept, columns, inner))
            order = [*range(len(kept)), len(kept) + 1, len(kept)]
            y = self.add("Transpose", [y.name], (*kept, inner, columns), perm=order)
        else:
            y = self.other(pool, (*kept, inner, columns))
        made = self.add("MatMul", [x.name, y.name], (*batch, rows, columns))
        return self.ended(pool, made)

    def ended(self, pool: Sequence[Value], made: Value) -> Value:
        """With a bias, a residual or neither."""
        if self.dice.random() < 0.5:
            shape = made.shape if self.dice.random() < 0.5 else made.shape[-1:]
            made = self.add("Add", [made.name, self.other(pool, shape).name], made.shape)
        return self.bounded(made)

    def make_einsum(self, pool: Sequence[Value]) -> Value:
        labels = dict(zip("abcd", (self.dice.choice(self.extents) for _ in range(4)), strict=True))
        left, right = ("".join(self.dice.sample("abcd", self.dice.randint(1, 3))) for _ in "xy")
        used = sorted({*left, *right})
        out = "".join(self.dice.sample(used, self.dice.randint(0, len(used))))
        if math.prod(labels[name] for name in used) > MOST_PRODUCTS:
            raise UnfitError
        x, y = (self.other(pool, tuple(labels[n] for n in names)) for names in (left, right))
        shape = tuple(labels[name] for name in out)
        made = self.add("Einsum", [x.name, y.name], shape, equation=f"{left},{right}->{out}")
        return self.bounded(made)

    def convolved(self, pool: Sequence[Value], x: Value) -> Value:
        axes = len(x.shape) - 2
        channels = x.shape[1]
        group = self.dice.choice([g for g in (1, 1, 1, 1, 2, 3, channels) if channels % g == 0])
        outs = group * max(1, self.dice.choice((*self.extents, 64, 96)) // group)
        kernel = [self.dice.choice((1, 2, 3, 5)) for _ in range(axes)]
        if self.dice.random() < 0.5:
            kernel = axes * [self.dice.choice((1, 3))]
        steps = [self.dice.choice((1, 1, 2, 3)) for _ in range(axes)]
        gaps = [self.dice.choice((1, 1, 2)) for _ in range(axes)]
        # Whether a padded 0 times an infinite weight is no number, or nothing, nobody has said.
        most = 0 if self.has_specials else 2
        pads = [self.dice.randint(0, most) for _ in range(2 * axes)]
        sizes = []
        for k, extent in enumerate(x.shape[2:]):
            span = extent + pads[k] + pads[k + axes] - (kernel[k] - 1) * gaps[k] - 1
            if span < 0:
                raise UnfitError
            sizes.append(span // steps[k] + 1)
        shape = (x.shape[0], outs, *sizes)
        if math.prod(shape) * channels // group * math.prod(kernel) > MOST_PRODUCTS:
            raise UnfitError
        if self.type != np.float32:
            raise UnfitError
        weights = self.other(pool, (outs, channels // group, *kernel))
        operands = [x.name, weights.name]
        if self.dice.random() < 0.5:
            operands.append(self.other(pool, (outs,)).name)
        return self.add(
            "Conv", operands, shape,
            group=group, strides=steps, dilations=gaps, pads=pads, kernel_shape=kernel,
        )  # fmt: skip

    def make_convolution(self, pool: Sequence[Value]) -> Value:
        rank = self.dice.choice((3, 4))
        return self.bounded(self.convolved(pool, self.pick(pool, rank, rank)))

    def transposed(self, x: Value, order: Sequence[int]) -> Value:
        return self.add("Transpose", [x.name], tuple(x.shape[k] for k in order), perm=order)

    def make_channels_last(self, pool: Sequence[Value]) -> Value:
        """A convolution of an image whose channels come last, as exporters of TensorFlow write it."""
        height, width = self.dice.randint(5, 20), self.dice.randint(5, 20)
        channels = self.dice.choice((3, 64, 100, 256, 300, 512))
        x = self.source((self.dice.randint(1, 3), height, width, channels))
        made = self.convolved(pool, self.transposed(x, (0, 3, 1, 2)))
        made = self.bounded(self.transposed(made, (0, 2, 3, 1)))
        return self.transposed(made, (0, 3, 1, 2)) if self.dice.random() < 0.7 else made

    def make_reduction(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axes = self.dice.sample(range(len(x.shape)), self.dice.randint(1, len(x.shape)))
        keep = self.dice.random() < 0.5
        shape = tuple(1 if k in axes else e for k, e in enumerate(x.shape) if keep or k not in axes)
        kinds = ["ReduceSum", "ReduceSum"]
        if not self.has_specials:
            kinds += ["ReduceMax", "ReduceMin"]
        kind = self.dice.choice(kinds)
        made = self.add(kind, [x.name, self.constant(axes)], shape, keepdims=int(keep))
        return self.bounded(made)

    def make_transpose(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 2)
        return self.transposed(x, self.dice.sample(range(len(x.shape)), len(x.shape)))

    def make_slice(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.dice.randrange(len(x.shape))
        start, step = self.dice.randint(0, x.shape[axis] // 2), self.dice.choice((1, 1, 2, 3))
        end = self.dice.randint(start + 1, x.shape[axis])
        size = (end - start + step - 1) // step
        bounds = [start], [end], [axis], [step]
        if self.dice.random() < 0.2:
            bounds = [end - 1], [start - 1 - x.shape[axis]], [axis], [-step]
        shape = tuple(size if k == axis else e for k, e in enumerate(x.shape))
        return self.add("Slice", [x.name, *map(self.constant, bounds)], shape)

    def make_gather(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.dice.randrange(len(x.shape))
        extent, count = x.shape[axis], self.dice.choice(self.extents)
        places = self.numbers.integers(-extent, extent, count)
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        return self.add("Gather", [x.name, self.constant(places)], shape, axis=axis)

    def make_concatenation(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.dice.randrange(len(x.shape))
        y = self.other(pool, x.shape)
        shape = tuple(2 * e if k == axis else e for k, e in enumerate(x.shape))
        return self.add("Concat", [x.name, y.name], shape, axis=axis)

    def make_running_sum(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.constant(self.dice.randrange(len(x.shape)))
        flags = {"reverse": self.dice.randint(0, 1), "exclusive": self.dice.randint(0, 1)}
        return self.bounded(self.add("CumSum", [x.name, axis], x.shape, **flags))

    def make_reshape(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 2)
        k = self.dice.randrange(len(x.shape) - 1)
        shape = (*x.shape[:k], x.shape[k] * x.shape[k + 1], *x.shape[k + 2 :])
        return self.add("Reshape", [x.name, self.constant(shape)], shape)

    def make_integer_product(self, pool: Sequence[Value]) -> Value:
        """Of bytes with zero points, or of halves."""
        x = self.pick(pool, 2, 3)
        columns = self.dice.choice(self.extents)
        if math.prod((*x.shape, columns)) > MOST_PRODUCTS:
            raise UnfitError
        y = self.other(pool, (x.shape[-1], columns))
        shape = (*x.shape[:-1], columns)
        if self.dice.random() < 0.3:
            halves = [
                self.add("Cast", [v.name], v.shape, to=TensorProto.FLOAT16).name for v in (x, y)
            ]
            made = self.add("MatMul", halves, shape)
        else:
            operands, zeros = [], []
            for v in (x, y):
                signed = self.dice.random() < 0.5
                wide = self.add("Add", [v.name, self.constant(LIMIT, self.type)], v.shape)
                to = TensorProto.INT8 if signed else TensorProto.UINT8
                operands.append(self.add("Cast", [wide.name], v.shape, to=to).name)
                zeros.append(self.constant(LIMIT, np.int8 if signed else np.uint8))
            made = self.add("MatMulInteger", [*operands, *zeros], shape)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.type))
        return self.bounded(self.add("Cast", [made.name], shape, to=element))

    def make_pool(self, pool: Sequence[Value]) -> Value:
        axes = self.dice.choice((1, 2))
        x = self.pick(pool, axes + 2, axes + 2)
        kernel = [self.dice.randint(1, min(4, e)) for e in x.shape[2:]]
        steps = [self.dice.randint(1, 3) for _ in kernel]
        sizes = [(e - k) // s + 1 for e, k, s in zip(x.shape[2:], kernel, steps, strict=True)]
        if self.type == np.int32:
            raise UnfitError
        shape = (*x.shape[:2], *sizes)
        return self.add("MaxPool", [x.name], shape, kernel_shape=kernel, strides=steps)

    def make_padding(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        mode = self.dice.choice(("constant", "edge", "reflect", "wrap"))
        pads = [self.dice.randint(0, min(3, e - 1)) for _ in "xy" for e in x.shape]
        rank = len(x.shape)
        shape = tuple(e + pads[k] + pads[k + rank] for k, e in enumerate(x.shape))
        return self.add("Pad", [x.name, self.constant(pads)], shape, mode=mode)

    def make_scattering(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.dice.randrange(len(x.shape))
        updates = self.other(pool, x.shape)
        places = self.numbers.integers(-x.shape[axis], x.shape[axis], x.shape)
        made = self.add(
            "ScatterElements", [x.name, self.constant(places), updates.name], x.shape,
            axis=axis, reduction=self.dice.choice(("add", "max", "min")),
        )  # fmt: skip
        return self.bounded(made)

    def make_choice(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool)
        y, z = self.other(pool, x.shape), self.other(pool, x.shape[1:])
        kind = self.dice.choice(("Less", "Greater", "Equal"))
        asks = self.add(kind, [x.name, z.name], x.shape)
        return self.add("Where", [asks.name, x.name, y.name], x.shape)

    def make_best(self, pool: Sequence[Value]) -> Value:
        x = self.pick(pool, 1)
        axis = self.dice.randrange(len(x.shape))
        shape = tuple(1 if k == axis else e for k, e in enumerate(x.shape))
        kind = self.dice.choice(("ArgMax", "ArgMin"))
        last = self.dice.randint(0, 1)
        made = self.add(kind, [x.name], shape, axis=axis, select_last_index=last)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.type))
        made = self.add("Mod", [made.name, self.constant(LIMIT + 1)], shape)
        return self.add("Cast", [made.name], shape, to=element)

    def grow(self, pool: list[Value], count: int) -> None:
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("make_")]
        if self.has_specials:
            # What they make of what is no number is a matter of its own.
            for kind in (self.make_best, self.make_pool, self.make_scattering):
                kinds.remove(kind)
            kinds.remove(self.make_integer_product)
        kinds += 3 * [self.make_product] + [self.make_convolution, self.make_reduction]
        kinds += 3 * [self.make_channels_last] if self.type == np.float32 else []
        for _ in range(count):
            for _ in range(20):
                before = len(self.nodes)
                try:
                    pool.append(self.dice.choice(kinds)(pool))
                    break
                except UnfitError:
                    del self.nodes[before:]

    # Models

    def add_loop(self, pool: list[Value]) -> None:
        """A Loop or a Scan whose body has such nodes; what is carried keeps its shape."""
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.type))
        outer, self.nodes = self.nodes, []
        init = self.pick(pool)
        state = Value(self.fresh(), init.shape)
        trips = self.dice.randint(1, 4)
        scans = self.dice.random() < 0.4
        row = Value(self.fresh(), self.shape(self.dice.randint(1, 3)))
        inner = [*pool, state] + ([row] if scans else [])
        begin = len(inner)
        self.grow(inner, self.dice.randint(2, 7))
        made = inner[begin:]
        if not made or math.prod(row.shape) * trips > MOST_ELEMENTS:
            self.nodes = outer
            return
        following = [v for v in made if v.shape == state.shape]
        after = following[-1] if following else self.add("Neg", [state.name], state.shape)
        collected = made[-1]
        info = [
            helper.make_tensor_value_info(v.name, element, None)
            for v in (state, row, after, collected)
        ]
        names = [self.fresh(), self.fresh()]
        both = self.add("Identity", [after.name], after.shape)
        info[2] = helper.make_tensor_value_info(both.name, element, None)
        one_more = self.add("Identity", [collected.name], collected.shape)
        info[3] = helper.make_tensor_value_info(one_more.name, element, None)
        if scans:
            rows = self.source((trips, *row.shape))
            body = helper.make_graph(self.nodes, "body", info[:2], info[2:])
            node = helper.make_node(
                "Scan", [init.name, rows.name], names, body=body, num_scan_inputs=1
            )
        else:
            head = [
                helper.make_tensor_value_info(self.fresh(), TensorProto.INT64, ()),
                helper.make_tensor_value_info(self.fresh(), TensorProto.BOOL, ()),
            ]
            self.nodes.append(helper.make_node("Identity", [head[1].name], [go := self.fresh()]))
            tail = [helper.make_tensor_value_info(go, TensorProto.BOOL, ()), *info[2:]]
            body = helper.make_graph(self.nodes, "body", [*head, info[0]], tail)
            node = helper.make_node("Loop", [self.constant(trips), "", init.name], names, body=body)
        self.nodes = [*outer, node]
        pool.append(Value(names[0], state.shape))
        if math.prod(collected.shape) * trips <= MOST_ELEMENTS:
            pool.append(Value(names[1], (trips, *collected.shape)))

    def make(self) -> onnx.ModelProto:
        pool: list[Value] = []
        self.grow(pool, self.dice.randint(2, 6))
        if self.dice.random() < 0.6:
            before = list(self.nodes)
            try:
                self.add_loop(pool)
            except UnfitError:
                self.nodes = before
            self.grow(pool, self.dice.randint(0, 3))
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.type))
        count = min(len(pool), 4)
        outputs = [helper.make_tensor_value_info(v.name, element, None) for v in pool[-count:]]
        graph = helper.make_graph(self.nodes, "large", self.inputs, outputs, self.initializers)
        opset = helper.make_opsetid("", 21)
        return helper.make_model(graph, opset_imports=[opset], ir_version=10)


def problem(made: LargeModel) -> str:
    """What is wrong with the results of loopc; nothing where they are right."""
    data = made.model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        wanted = onnxruntime.InferenceSession(data, options).run(None, made.feeds)
    except Exception as error:
        return f"reference: {str(error)[:300]}"
    try:
        settings = loopc.SessionOptions(opt_level=made.level, intra_op_num_threads=made.threads)
        session = loopc.InferenceSession(data, settings)
        for _ in range(2):
            got = session.run(None, made.feeds)
    except loopc.Error as error:
        return f"fails: {error}"
    for k, (one, other) in enumerate(zip(got, wanted, strict=True)):
        if one.shape != other.shape:
            return f"output {k}: shape {one.shape}, expected {other.shape}"
        if not np.array_equal(one, other, equal_nan=True):
            places = np.argwhere((one != other) & ~(np.isnan(one) & np.isnan(other)))
            return f"output {k}: {len(places)} of {one.size} differ, the first at {places[0]}"
    return ""


def main() -> int:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", required=True, metavar="A:B", help="models A to B - 1")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    options = parser.parse_args()
    begin, end = map(int, options.seeds.split(":"))
    failures = unfit = 0
    for seed in range(begin, end):
        made = LargeModel(seed)
        text = problem(made)
        if text.startswith("reference: "):
            unfit += 1
        elif text:
            failures += 1
        if text:
            setting = f"-O{made.level}, {made.threads} threads, extents {made.declared}"
            setting += ", specials" if made.has_specials else ""
            print(f"{seed} ({setting}): {text}", flush=True)
            if options.keep:
                onnx.save(made.model, options.keep / f"large-{seed}.onnx")
                arrays: dict[str, Any] = dict(made.feeds)
                np.savez(options.keep / f"large-{seed}.npz", **arrays)
    print(f"{end - begin} models: {failures} failures, {unfit} that the reference refuses")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
