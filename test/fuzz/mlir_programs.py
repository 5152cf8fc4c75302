# ===- mlir_programs.py - Random programs of the loop dialect -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""MLIR as a person writes it, from a seed, and what NumPy makes of the same.

What front ends never write is what it is about: scalars beside tensors of one
element, in one loop; trip counts of any integer type; slices and collected values
on any axis, reversed, in loops that a condition ends; lengths.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir_errors import RunError, UndefinedError

Array = np.ndarray[Any, Any]
Env = dict[str, Any]
Step = Callable[[Env], None]
DTYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "index": np.int64, "i1": np.bool_}
FLOATS = {"addf": np.add, "subf": np.subtract, "maximumf": np.maximum, "minimumf": np.minimum}
INTEGERS = {"addi": np.add, "subi": np.subtract, "maxsi": np.maximum, "minsi": np.minimum}
#: More trips than any of these loops makes.
MOST_TRIPS = 300
#: How many sets of inputs a program has.
SETS = 6


@dataclasses.dataclass(frozen=True)
class Value:
    """A value: a scalar where its type is that of its elements."""

    name: str
    elem: str
    shape: tuple[int, ...]
    type: str

    @property
    def scalar(self) -> bool:
        return not self.type.startswith("tensor")

    @property
    def dims(self) -> list[str]:
        return re.findall(r"(\?|\d+)x", self.type)


@dataclasses.dataclass
class Block:
    """Lines of MLIR, what they compute, and the values that they see."""

    values: list[Value] = dataclasses.field(default_factory=list)
    lines: list[str] = dataclasses.field(default_factory=list)
    program: list[Step] = dataclasses.field(default_factory=list)

    def run(self, env: Env) -> Env:
        """What it computes, in a scope of its own."""
        inner = dict(env)
        for step in self.program:
            step(inner)
        return inner


@dataclasses.dataclass(frozen=True)
class Collected:
    """A value that a loop collects."""

    value: Value
    axis: int
    reverse: bool
    length: Value | None


@dataclasses.dataclass(frozen=True)
class Run:
    """Inputs of a program, and its outputs; None: it may end with an error."""

    feeds: dict[str, Array]
    outputs: list[Array] | None


@dataclasses.dataclass(frozen=True)
class Program:
    """A function `main`, and runs of it: extents that its types leave open are others in each."""

    text: str
    runs: tuple[Run, ...]


def tensor_type(elem: str, dims: Sequence[int | str]) -> str:
    return f"tensor<{''.join(f'{dim}x' for dim in dims)}{elem}>"


def random_program(seed: int) -> Program:
    """The program of that number."""
    return _Generator(seed).program()


class _Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.depth = 0
        # What the loops of `main` have collected.
        self.rows: list[Value] = []

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, block: Block, fits: Callable[[Value], bool]) -> Value | None:
        """A value that fits, of the later ones rather."""
        some = [value for value in block.values if fits(value)]
        if not some:
            return None
        return self.random.choice(some[-8:] if self.chance(0.7) else some)

    def emit(
        self,
        block: Block,
        line: str,
        elem: str,
        shape: Sequence[int],
        kind: str,
        compute: Callable[..., Any],
        *operands: Value,
    ) -> Value:
        """A line that computes one value of others; `{}` stands for the operands."""
        made = Value(self.fresh(), elem, tuple(shape), kind)
        names = (value.name for value in operands)
        block.lines.append(f"{made.name} = {line.format(*names)}")

        def step(env: Env) -> None:
            env[made.name] = compute(*(env[value.name] for value in operands))

        block.program.append(step)
        return made

    # -- Scalars and tensors of one element ---------------------------------------

    def constant(self, block: Block, number: float | bool, elem: str) -> Value:
        text = str(number).lower() if elem == "i1" else f"{number} : {elem}"
        value = DTYPES[elem](number)
        return self.emit(block, f"arith.constant {text}", elem, (), elem, lambda: value)

    def scalar(self, block: Block, value: Value) -> Value:
        """A value of one element as a scalar."""
        if value.scalar:
            return value
        at = ", ".join(self.constant(block, 0, "index").name for _ in value.shape)
        line = f"tensor.extract {{}}[{at}] : {value.type}"

        def first(tensor: Array) -> Any:
            if tensor.size == 0:
                raise UndefinedError("an element of nothing")
            return _first(tensor)

        return self.emit(block, line, value.elem, (), value.elem, first, value)

    def in_form(self, block: Block, value: Value) -> Value:
        """A scalar as it is, or as a tensor of rank 0 or 1."""
        value = self.scalar(block, value)
        shape: tuple[int, ...] = self.random.choice(((), (1,)))
        if self.chance(0.4):
            return value
        kind = tensor_type(value.elem, shape)
        line = f"tensor.from_elements {{}} : {kind}"
        return self.emit(block, line, value.elem, shape, kind, lambda x: np.full(shape, x), value)

    def flag(self, block: Block) -> Value:
        """A condition of data."""
        value = self.pick(block, lambda v: v.shape == ())
        if value is None:
            return self.constant(block, self.chance(0.5), "i1")
        value = self.scalar(block, value)
        if value.elem == "f32":
            # No number that sums of halves, or functions that have a limit, come to.
            bound = self.constant(block, round(self.random.choice((-2, 0, 1, 4)) + 0.3, 1), "f32")
            line = "arith.cmpf olt, {}, {} : f32"
        else:
            bound = self.constant(block, self.random.randrange(5), "i64")
            line = "arith.cmpi slt, {}, {} : i64"

        def less(one: Any, other: Any) -> Any:
            if value.elem == "f32" and np.abs(one - other) < 1e-3:
                raise UndefinedError("two numbers that a rounding orders")
            return np.less(one, other)

        return self.emit(block, line, "i1", (), "i1", less, value, bound)

    # -- Operations ---------------------------------------------------------------

    def fill(self, block: Block, count: int) -> None:
        """So many operations of any kind, where there is something for them."""
        steps = [self.combine] * 6 + [self.halve, self.insert, self.insert, self.reduce]
        steps += [self.as_scalar, self.product, self.transpose, self.move, self.number]
        steps += [self.divide]
        if self.depth < 3:
            steps += [self.loop, self.loop, self.branch]
        for step in self.random.choices(steps, k=count):
            step(block)

    def combine(self, block: Block) -> None:
        # MLIR's own folds of integers do not know tensors of open shape.
        x = self.pick(block, lambda v: v.elem == "f32" or "?" not in v.type)
        if x is None:
            return
        kind, shape = x.type, x.shape
        y = self.pick(block, lambda v: v.type == kind and v.shape == shape) or x
        names = FLOATS if x.elem == "f32" else INTEGERS
        name = self.random.choice(list(names))
        line = f"arith.{name} {{}}, {{}} : {kind}"

        def both(one: Any, other: Any) -> Any:
            if np.shape(one) != np.shape(other):
                raise UndefinedError("two shapes element by element")
            return names[name](one, other)

        block.values.append(self.emit(block, line, x.elem, shape, kind, both, x, y))

    def node(
        self,
        block: Block,
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        kind: str,
        compute: Callable[..., Any],
    ) -> None:
        """An operator of ONNX, and one that keeps its results small."""
        types = ", ".join(value.type for value in operands)
        marks = ", ".join("{}" for _ in operands)
        head, _, attributes = name.partition(" ")
        line = f'onnx.node "{head}"({marks}) {attributes} : ({types}) -> {kind}'
        # Braces of attributes are none of marks.
        line = line.replace(attributes, attributes.replace("{", "{{").replace("}", "}}"))
        made = self.emit(block, line, "f32", shape, kind, compute, *operands)
        line = f'onnx.node "Tanh"({{}}) since 13 : ({kind}) -> {kind}'
        block.values.append(self.emit(block, line, "f32", shape, kind, np.tanh, made))

    def halve(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.elem == "f32" and not v.scalar)
        if x is not None:
            half = self.in_form(block, self.constant(block, 0.5, "f32"))
            if half.scalar or half.shape:
                return
            self.node(block, "Mul since 14", [x, half], x.shape, x.type, np.multiply)

    def reduce(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.elem == "f32" and v.shape != ())
        if x is not None:
            name = "ReduceSum since 13 {keepdims = 0 : i64}"
            self.node(block, name, [x], (), "tensor<f32>", lambda v: np.float32(v.sum()))

    def transpose(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.elem == "f32" and len(v.shape) == 2)
        if x is not None:
            kind = tensor_type("f32", x.dims[::-1])
            name = "Transpose since 13 {perm = array<i64: 1, 0>}"
            self.node(block, name, [x], x.shape[::-1], kind, np.transpose)

    def product(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.elem == "f32" and len(v.shape) in (1, 2))
        if x is None:
            return
        depth = x.shape[-1]
        y = self.pick(
            block, lambda v: v.elem == "f32" and len(v.shape) == 2 and v.shape[0] == depth
        )
        if y is not None:
            kind = tensor_type("f32", x.dims[:-1] + y.dims[1:])
            shape = x.shape[:-1] + y.shape[1:]
            self.node(block, "MatMul since 13", [x, y], shape, kind, _product)

    def as_scalar(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.shape == ())
        if x is not None:
            block.values.append(self.in_form(block, x) if x.scalar else self.scalar(block, x))
            if block.values[-1].shape:  # A one-element tensor of rank 1 is not what states are.
                block.values.pop()

    def divide(self, block: Block) -> None:
        """A quotient of numbers, behind a check of the divisor."""
        x, y = (self.pick(block, lambda v: v.shape == () and v.elem == "i64") for _ in range(2))
        if x is None or y is None:
            return
        more = self.constant(block, self.random.choice((0, 1, 2, 5)), "i64")
        add = "arith.addi {}, {} : i64"
        y = self.emit(block, add, "i64", (), "i64", np.add, self.scalar(block, y), more)
        zero = self.constant(block, 0, "i64")
        fine = self.emit(
            block, "arith.cmpi ne, {}, {} : i64", "i1", (), "i1", np.not_equal, y, zero
        )
        block.lines.append(f'loop.check {fine.name}, "zero"')

        def check(env: Env) -> None:
            if not env[fine.name]:
                raise RunError("zero")

        def quotient(one: Any, other: Any) -> Any:
            floor, rest = np.divmod(one, other)
            return floor + np.int64(rest != 0 and (one < 0) != (other < 0))

        block.program.append(check)
        line = "arith.divsi {}, {} : i64"
        x = self.scalar(block, x)
        block.values.append(self.emit(block, line, "i64", (), "i64", quotient, x, y))

    def number(self, block: Block) -> None:
        x = self.pick(block, lambda v: v.shape == () and v.elem == "i64")
        if x is not None:
            line = "arith.sitofp {} : i64 to f32"
            x = self.scalar(block, x)
            block.values.append(self.emit(block, line, "f32", (), "f32", np.float32, x))

    def insert(self, block: Block) -> None:
        """One element of a tensor is another one."""
        x = self.pick(block, lambda v: v.shape != ())
        if x is None:
            return
        y = self.pick(block, lambda v: v.shape == () and v.elem == x.elem)
        if y is None:
            return
        y = self.scalar(block, y)
        at = tuple(self.random.randrange(extent) for extent in x.shape)
        places = ", ".join(self.constant(block, place, "index").name for place in at)

        def put(element: Any, tensor: Array) -> Array:
            if any(place >= extent for place, extent in zip(at, tensor.shape, strict=True)):
                raise UndefinedError("an element behind the extent")
            made = tensor.copy()
            made[at] = element
            return made

        line = f"tensor.insert {{}} into {{}}[{places}] : {x.type}"
        block.values.append(self.emit(block, line, x.elem, x.shape, x.type, put, y, x))

    def place(
        self, shape: Sequence[int], sizes: Sequence[int], repeats: bool = False
    ) -> tuple[tuple[Array, ...], str]:
        """Where a part of `sizes` elements is in a tensor: forwards, backwards or again and again."""
        begins, steps = [], []
        for extent, size in zip(shape, sizes, strict=True):
            step = self.random.choice([1, 1, 1, 1, 2, 3, -1, -2, *([0, 0, 0] if repeats else [])])
            if abs(step) * (size - 1) >= extent:
                step = 1 if step >= 0 else -1
            reach = abs(step) * (size - 1)
            begins.append(self.random.randrange(extent - reach) + (reach if step < 0 else 0))
            steps.append(step)
        places = np.ix_(
            *(
                begin + step * np.arange(size)
                for begin, size, step in zip(begins, sizes, steps, strict=True)
            )
        )
        return places, f"{begins} {list(sizes)} {steps}"

    def move(self, block: Block) -> None:
        """A part of a tensor stands at another place in another one."""
        x = self.pick(block, lambda v: v.shape != () and "?" not in v.type)
        if x is None:
            return
        kind = x.type
        y = self.pick(block, lambda v: v.type == kind) or x
        sizes, cut_from = self.cutting(x, repeats=self.chance(0.2))
        target, put_at = self.place(x.shape, sizes)

        def put(some: Array, tensor: Array) -> Array:
            made = tensor.copy()
            made[target] = some.reshape(sizes)
            return made

        cut = cut_from(block, x)
        if self.chance(0.5):
            block.values.append(cut)
        line = f"tensor.insert_slice {{}} into {{}}{put_at} : {cut.type} into {kind}"
        block.values.append(self.emit(block, line, x.elem, x.shape, kind, put, cut, y))

    def cutting(
        self, x: Value, repeats: bool = False
    ) -> tuple[list[int], Callable[[Block, Value], Value]]:
        """The extents of a part, and what cuts it out of a tensor as `x` is in a block."""
        sizes = [self.random.randrange(1, extent + 1) for extent in x.shape]
        kept = [size for size in sizes if size != 1 or self.chance(0.5)]
        part = tensor_type(x.elem, kept)
        source, at = self.place(x.shape, sizes, repeats)
        line = f"tensor.extract_slice {{}}{at} : {x.type} to {part}"
        take: Callable[[Array], Array] = lambda y: y[source].reshape(kept)  # noqa: E731
        return sizes, lambda block, y: self.emit(block, line, x.elem, kept, part, take, y)

    def cast(self, block: Block, x: Value, dims: Sequence[int | str]) -> Value:
        """The tensor with other dimensions said."""
        kind = tensor_type(x.elem, dims)
        if x.scalar or kind == x.type:
            return x
        line = f"tensor.cast {{}} : {x.type} to {kind}"

        def same(tensor: Array) -> Array:
            if any(d not in ("?", n) for d, n in zip(dims, tensor.shape, strict=True)):
                raise UndefinedError("a cast to another extent")
            return tensor

        return self.emit(block, line, x.elem, x.shape, kind, same, x)

    def said(self, x: Value) -> list[int | str]:
        """Dimensions for a cast: less is said of them, and seldom more."""
        loose = self.dims(x.shape)
        return [
            "?" if dim == "?" and self.chance(0.9) else other
            for dim, other in zip(x.dims, loose, strict=True)
        ]

    def dims(self, shape: Sequence[int]) -> list[int | str]:
        """A shape as a type says it: sometimes not all of it."""
        doubt = 0.5 if self.chance(0.5) else 0.0
        return ["?" if self.chance(doubt) else extent for extent in shape]

    def branch(self, block: Block) -> None:
        """An scf.if of one or two results, and at times a part of one."""
        condition = self.flag(block)
        wanted = [v for _ in range(2) if (v := self.pick(block, lambda v: True))]
        if not wanted:
            return
        sides: list[tuple[Block, list[Value]]] = []
        self.depth += 1
        for _ in range(2):
            inner = Block(list(block.values))
            self.fill(inner, self.random.randrange(3))
            sides.append((inner, [self.alike(inner, value) for value in wanted]))
        self.depth -= 1
        known = [k for k, v in enumerate(wanted) if v.shape and "?" not in v.type]
        if known and self.chance(0.3):
            cut = self.cutting(wanted[number := self.random.choice(known)])[1]
            for inner, yields in sides:
                yields.append(cut(inner, yields[number]))
            wanted.append(sides[0][1][-1])
        name = self.fresh()
        results = [dataclasses.replace(v, name=f"{name}#{k}") for k, v in enumerate(wanted)]
        kinds = ", ".join(value.type for value in wanted)
        texts = [
            "\n".join((*inner.lines, f"scf.yield {', '.join(v.name for v in yields)} : {kinds}"))
            for inner, yields in sides
        ]
        block.lines.append(
            f"{name}:{len(results)} = scf.if {condition.name} -> ({kinds}) {{\n{texts[0]}\n}}"
            f" else {{\n{texts[1]}\n}}"
        )

        def step(env: Env) -> None:
            inner, yields = sides[0 if env[condition.name] else 1]
            found = inner.run(env)
            env.update({r.name: found[y.name] for r, y in zip(results, yields, strict=True)})

        block.program.append(step)
        block.values += results

    def alike(self, block: Block, value: Value) -> Value:
        """Some value of the same type and shape."""
        kind, shape = value.type, value.shape
        found = self.pick(block, lambda v: v.type == kind and v.shape == shape)
        assert found is not None
        return found

    # -- Loops --------------------------------------------------------------------

    def trips(self, block: Block, most: int) -> Value:
        """A trip count of any integer type."""
        number = self.random.choice((-1, 0, 1, 2, most, most, most))
        count = self.constant(block, min(number, most), "i64")
        if self.chance(0.6):  # One that is not known before the run.
            zero = Value("%zero", "i64", (), "i64")
            count = self.emit(
                block, "arith.addi {}, {} : i64", "i64", (), "i64", np.add, count, zero
            )
        other = self.random.choice(("index", "i32", "", "", ""))
        if not other:
            return self.in_form(block, count)
        line = f"arith.{'index_cast' if other == 'index' else 'trunci'} {{}} : i64 to {other}"
        return self.emit(block, line, other, (), other, lambda n: n, count)

    def loop(self, block: Block) -> None:
        """A loop.loop: see _Loop."""
        self.depth += 1
        _Loop(self, block).make()
        self.depth -= 1

    # -- The program --------------------------------------------------------------

    def program(self) -> Program:
        """Some inputs, a loop or two, and what else there is around them."""
        block = Block()
        for k in range(self.random.randrange(2, 5)):
            elem = self.random.choice(("f32", "f32", "f32", "i64"))
            rank = self.random.choice((0, 1, 1, 2, 2, 3, 4))
            extents = (1, 2, 3, 4, 5, 8) if rank < 3 else (1, 2, 3, 4)
            shape = tuple(self.random.choice(extents) for _ in range(rank))
            kind = tensor_type(elem, self.dims(shape))
            block.values.append(Value(f"%x{k}", elem, shape, kind))
        inputs = [*block.values, Value("%x9", "i64", (), "tensor<i64>")]
        block.lines.append("%zero = tensor.extract %x9[] : tensor<i64>")
        self.fill(block, self.random.randrange(4))
        for _ in range(self.random.randrange(1, 3)):
            self.loop(block)
            self.fill(block, self.random.randrange(3))
        names = {value.name for value in inputs}
        outputs = [v for v in block.values if not v.scalar and v.name not in names][-7:]
        outputs = [*outputs, *self.rows] or inputs[:1]
        given = ", ".join(f'{v.name}: {v.type} {{loopc.name = "{v.name[1:]}"}}' for v in inputs)
        made = ", ".join(f'{v.type} {{loopc.name = "y{k}"}}' for k, v in enumerate(outputs))
        body = "\n".join(block.lines)
        returns = f"{', '.join(v.name for v in outputs)} : {', '.join(v.type for v in outputs)}"
        text = f"func.func @main({given}) -> ({made}) {{\n{body}\nreturn {returns}\n}}\n"
        data = np.random.default_rng(self.random.randrange(1 << 30))
        runs = []
        for number in range(SETS):
            feeds = self.feeds(inputs, data, number)
            with contextlib.suppress(UndefinedError):
                runs.append(Run(feeds, self.outputs(block, feeds, outputs)))
        return Program(text, tuple(runs))

    def feeds(
        self, inputs: Sequence[Value], data: np.random.Generator, number: int
    ) -> dict[str, Array]:
        """Inputs of a run: of the first, as the program was made for them."""
        extents = (0, 1, 2, 3, 5, 9)
        equal = {extent: self.random.choice(extents) for extent in range(9)}
        if number % 2 and self.chance(0.5):  # All the same but one.
            kept = self.random.choice([*equal])
            equal = {extent: new if extent == kept else extent for extent, new in equal.items()}
        apart = number and self.chance(0.2)

        def extent_of(said: str, extent: int) -> int:
            if said != "?" or number == 0:
                return extent
            return self.random.choice(extents) if apart else equal[extent]

        made = {}
        for value in inputs:
            shape = [extent_of(*pair) for pair in zip(value.dims, value.shape, strict=True)]
            made[value.name[1:]] = data.integers(-3, 5, shape).astype(DTYPES[value.elem])
        # What trip counts are more than their constants say.
        more = self.random.choice((0, 0, 0, -1, -3, 1)) if number else 0
        made["x9"] = np.asarray(more, np.int64)
        return made

    @staticmethod
    def outputs(
        block: Block, feeds: dict[str, Array], outputs: Sequence[Value]
    ) -> list[Array] | None:
        """What NumPy makes of some inputs; None where the program ends with an error."""
        env: Env = {f"%{name}": value for name, value in feeds.items()}
        env["%zero"] = feeds["x9"][()]
        with np.errstate(all="ignore"):
            try:
                env = block.run(env)
            except RunError:
                return None
        return [np.asarray(env[value.name]) for value in outputs]


class _Loop:
    """A loop that is being written."""

    def __init__(self, maker: _Generator, block: Block) -> None:
        self.maker, self.block, self.random = maker, block, maker.random
        self.slices: list[tuple[Value, int, bool]] = []
        for _ in range(self.random.choice((0, 0, 1, 1, 2, 3))):
            value = maker.pick(block, lambda v: v.shape != ())
            if value is not None:
                axis = self.random.randrange(len(value.shape))
                self.slices.append((value, axis, maker.chance(0.4)))
        self.most = min([v.shape[axis] for v, axis, _ in self.slices], default=5)
        how = self.random.choice(("t", "t", "t", "w", "tw", "tw"))
        self.count = maker.trips(block, self.most) if "t" in how else None
        self.condition: Value | None = None
        if "w" in how:
            first = maker.chance(0.3)
            go = maker.flag(block) if first else maker.constant(block, True, "i1")
            self.condition = maker.in_form(block, go)
        some = (maker.pick(block, lambda v: True) for _ in range(self.random.randrange(4)))
        self.inits = [maker.cast(block, v, maker.said(v)) for v in some if v is not None]
        if self.inits and maker.chance(0.4):
            self.inits.append(self.random.choice(self.inits))
        self.number, self.go = self.header("i64"), self.header("i1")
        self.states = [dataclasses.replace(v, name=maker.fresh()) for v in self.inits]
        self.parts = [self.part(value, axis) for value, axis, _ in self.slices]

    def header(self, elem: str) -> Value:
        """The number of the iteration, or its condition."""
        shape, kind = self.random.choice(
            (((), elem), ((), elem), ((), f"tensor<{elem}>"), ((1,), f"tensor<1x{elem}>"))
        )
        return Value(self.maker.fresh(), elem, shape, kind)

    def part(self, value: Value, axis: int) -> Value:
        shape = value.shape[:axis] + value.shape[axis + 1 :]
        kind = tensor_type(value.elem, value.dims[:axis] + value.dims[axis + 1 :])
        if not shape and self.maker.chance(0.5):
            kind = value.elem
        return Value(self.maker.fresh(), value.elem, shape, kind)

    def yielded_condition(self, inner: Block) -> Value:
        """One that ends the loop before a slice does."""
        if self.count is not None and self.maker.chance(0.3):
            return self.go
        number = self.maker.scalar(inner, self.number)
        limit = self.random.choice((1, 2, 3, 5))
        bound = self.maker.constant(inner, min(limit, self.most - 1), "i64")
        line = "arith.cmpi slt, {}, {} : i64"
        go = self.maker.emit(inner, line, "i1", (), "i1", np.less, number, bound)
        if self.maker.chance(0.3):
            line, flag = "arith.andi {}, {} : i1", self.maker.flag(inner)
            go = self.maker.emit(inner, line, "i1", (), "i1", np.logical_and, go, flag)
        return self.maker.in_form(inner, go)

    def collected(self, inner: Block) -> list[Collected]:
        some = (self.maker.pick(inner, lambda v: True) for _ in range(self.random.randrange(3)))
        made = []
        for value in some:
            if value is None:
                continue
            # With a length, extents that no trip tells would be seen.
            length = None
            if self.maker.chance(0.2) and "?" not in value.type:
                length = self.maker.constant(self.block, self.random.choice((5, 6, 7)), "i64")
            axis = self.random.randrange(len(value.shape) + 1)
            made.append(Collected(value, axis, self.maker.chance(0.4), length))
        return made

    def make(self) -> None:
        maker = self.maker
        inner = Block([*self.block.values, *self.states, *self.parts])
        if not self.number.shape:
            inner.values.append(self.number)
        maker.fill(inner, self.random.randrange(1, 7))
        following = [maker.alike(inner, state) for state in self.states]
        go = self.yielded_condition(inner)
        rows = self.collected(inner)
        if not following and not rows:
            return
        name = maker.fresh()
        states = [dataclasses.replace(v, name=f"{name}#{k}") for k, v in enumerate(self.states)]
        kinds = [
            tensor_type(r.value.elem, [*r.value.dims[: r.axis], "?", *r.value.dims[r.axis :]])
            for r in rows
        ]
        results = [f"{name}#{len(states) + k}" for k in range(len(rows))]
        total = len(states) + len(rows)
        self.block.lines.append(f"{name}:{total} = {self.text(inner, go, following, rows, kinds)}")
        self.block.program.append(
            lambda env: env.update(
                zip(
                    [*(v.name for v in states), *results],
                    self.run(env, inner, go, following, rows),
                    strict=True,
                )
            )
        )
        self.block.values += states
        for row, result, kind in zip(rows, results, kinds, strict=True):
            if row.length is None and maker.chance(0.3) and not self.condition:
                self.read_again(row, result, kind)
        if maker.depth == 1:
            # How long they are the run knows: they are outputs, and no operands.
            maker.rows += [
                Value(result, row.value.elem, (), kind)
                for row, result, kind in zip(rows, results, kinds, strict=True)
            ]

    def read_again(self, row: Collected, result: str, kind: str) -> None:
        """Another loop, as often as this one, reads the rows and has them at an end anew."""
        assert self.count
        name, x, axis = self.maker.fresh(), row.value, f"axis {row.axis}"
        n, part = name[1:], tensor_type(x.elem, x.dims)
        self.block.lines.append(
            f"{name} = loop.loop (%i{n} : i64, %c{n} : i1) trips({self.count.name} : "
            f"{self.count.type}) slices(%p{n} = {result} : {kind} {axis} -> {part}) "
            f"collect({kind} {axis} reverse) {{\n"
            f"loop.yield while(%c{n} : i1) collect(%p{n} : {part})\n}}"
        )
        self.block.program.append(lambda env: env.update({name: np.flip(env[result], row.axis)}))
        if self.maker.depth == 1:
            self.maker.rows.append(Value(name, x.elem, (), kind))

    def text(
        self,
        inner: Block,
        go: Value,
        following: Sequence[Value],
        rows: Sequence[Collected],
        kinds: Sequence[str],
    ) -> str:
        """The operation."""
        n, c = self.number, self.go
        text = f"loop.loop ({n.name} : {n.type}, {c.name} : {c.type})"
        if self.count is not None:
            text += f" trips({self.count.name} : {self.count.type})"
        if self.condition is not None:
            text += f" while({self.condition.name} : {self.condition.type})"
        pairs = zip(self.states, self.inits, strict=True)
        text += _clause("carried", (f"{s.name} = {v.name} : {v.type}" for s, v in pairs))
        text += _clause(
            "slices",
            (
                f"{p.name} = {v.name} : {v.type} axis {axis}{' reverse' * reverse} -> {p.type}"
                for p, (v, axis, reverse) in zip(self.parts, self.slices, strict=True)
            ),
        )
        text += _clause(
            "collect",
            (
                f"{kind} axis {row.axis}{' reverse' * row.reverse}"
                + (f" length({row.length.name} : i64)" if row.length else "")
                for row, kind in zip(rows, kinds, strict=True)
            ),
        )
        end = f"loop.yield while({go.name} : {go.type})"
        for word, values in (("carried", following), ("collect", [row.value for row in rows])):
            if values:
                types = ", ".join(value.type for value in values)
                end += f" {word}({', '.join(value.name for value in values)} : {types})"
        return text + " {\n" + "\n".join((*inner.lines, end)) + "\n}"

    def run(
        self,
        env: Env,
        inner: Block,
        go: Value,
        following: Sequence[Value],
        rows: Sequence[Collected],
    ) -> list[Any]:
        """The results, as docs/Spec.md has them."""
        count = None if self.count is None else int(_first(env[self.count.name]))
        goes_on = self.condition is None or bool(_first(env[self.condition.name]))
        told = True
        states = [env[value.name] for value in self.inits]
        found: list[list[Array]] = [[] for _ in rows]
        trip = 0
        while (count is None or trip < count) and (self.condition is None or goes_on):
            if trip > MOST_TRIPS:
                raise RunError("endless")
            now = env | {
                self.number.name: np.full(self.number.shape, trip, np.int64),
                self.go.name: np.full(self.go.shape, told),
            }
            now |= {s.name: value for s, value in zip(self.states, states, strict=True)}
            for part, (value, axis, reverse) in zip(self.parts, self.slices, strict=True):
                extent = env[value.name].shape[axis]
                at = (extent if count is None else count) - 1 - trip if reverse else trip
                if not 0 <= at < extent:
                    raise RunError("a slice behind the extent")
                now[part.name] = np.take(env[value.name], at, axis)
            now = inner.run(now)
            states = [now[value.name] for value in following]
            for row, values in zip(rows, found, strict=True):
                values.append(np.asarray(now[row.value.name]))
            told = goes_on = bool(_first(now[go.name]))
            trip += 1
        return [*states, *(self.stack(env, *pair) for pair in zip(rows, found, strict=True))]

    @staticmethod
    def stack(env: Env, row: Collected, values: list[Array]) -> Array:
        shape = [0 if dim == "?" else int(dim) for dim in row.value.dims]
        empty = np.zeros([*shape[: row.axis], 0, *shape[row.axis :]], DTYPES[row.value.elem])
        if len({value.shape for value in values}) > 1:
            raise RunError("collected values of several shapes")
        made = np.stack(values, row.axis) if values else empty
        if row.reverse:
            made = np.flip(made, row.axis)
        if row.length is None:
            return made
        if (missing := int(env[row.length.name]) - len(values)) < 0:
            raise RunError("more trips than the length")
        return np.pad(made, [(0, missing * (k == row.axis)) for k in range(made.ndim)])


def _first(value: Any) -> Any:
    return np.asarray(value).reshape(-1)[0]


def _product(one: Array, other: Array) -> Array:
    if one.shape[-1] != other.shape[0]:
        raise RunError("matrices that do not fit")
    return np.matmul(one, other)


def _clause(word: str, parts: Any) -> str:
    return f" {word}({text})" if (text := ", ".join(parts)) else ""
