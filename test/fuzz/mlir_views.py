# ===- mlir_views.py - Buffers and views of them in random programs -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Buffers, and views that cut, turn and choose them: what random programs on buffers consist of.

Each is written as MLIR, and as a NumPy array or view, which is the same memory where the view is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from mlir_generics import ELEMENTS, Environment, Writer
from mlir_programs import Array

AXES = 4

#: An extent: of which axis (-1: none), and how many elements more.
Dim = tuple[int, int]
Step = Callable[[Environment, Sequence[int]], None]


@dataclasses.dataclass(frozen=True)
class View:
    """A buffer, or a part of it."""

    name: str
    dims: tuple[Dim, ...]
    type: str
    #: What it may be of: the buffer, and which elements of it.
    places: frozenset[tuple[str, str]]
    is_writable: bool

    @property
    def roots(self) -> set[str]:
        return {root for root, _ in self.places}

    def may_meet(self, other: View, *, alike: bool) -> bool:
        """True if an element may be one of `other`'s; that at the same place does not count."""
        return any(
            root == its and not (alike and part == of)
            for root, part in self.places
            for its, of in other.places
        )


@dataclasses.dataclass
class Block:
    """Lines in their order, and which buffers each uses."""

    lines: list[tuple[list[str], set[str]]] = dataclasses.field(default_factory=list)
    steps: list[Step] = dataclasses.field(default_factory=list)
    views: list[View] = dataclasses.field(default_factory=list)
    allocs: list[View] = dataclasses.field(default_factory=list)

    def run(self, known: Environment, extents: Sequence[int]) -> None:
        for step in self.steps:
            step(known, extents)


class Buffers(Writer):
    """Buffers of a program, by the blocks of operations that they are known in."""

    def __init__(self, element: str, extents: Sequence[int], is_open: Sequence[bool]) -> None:
        super().__init__(element)
        self.extents = list(extents)
        self.is_open = list(is_open)
        self.block = Block()
        self.stack: list[Block] = [self.block]
        self.heads: list[str] = []
        self.body: list[str] = []
        self.inputs: list[View] = []
        self.outputs: list[View] = []

    def extent(self, dim: Dim) -> int | None:
        axis, more = dim
        if axis < 0:
            return more
        return None if self.is_open[axis] else self.extents[axis] + more

    def sized(self, dim: Dim) -> str:
        """An extent where an operation is told it."""
        known = self.extent(dim)
        return f"%d{dim[0]}_{dim[1]}" if known is None else str(known)

    def type_of(self, dims: Sequence[Dim]) -> str:
        return f"memref<{self.shape_of(dims)}{self.element}>"

    def shape_of(self, dims: Sequence[Dim]) -> str:
        known = [self.extent(dim) for dim in dims]
        return "".join("?x" if extent is None else f"{extent}x" for extent in known)

    @staticmethod
    def run_extent(dim: Dim, extents: Sequence[int]) -> int:
        return dim[1] + (extents[dim[0]] if dim[0] >= 0 else 0)

    def add(self, lines: list[str], used: Sequence[View], step: Step | None = None) -> None:
        roots = {root for view in used for root in view.roots}
        self.stack[-1].lines.append((lines, roots))
        if step:
            self.stack[-1].steps.append(step)

    def visible(self) -> list[View]:
        return [view for block in self.stack for view in block.views]

    def write_inputs(self) -> None:
        for k in range(self.random.randint(2, 3)):
            # Squares, too.
            few = range(AXES) if self.random.random() < 0.5 else (0, 1)
            axes = self.random.choices(few, k=self.random.randint(1, 3))
            dims = tuple((axis, 0) for axis in axes)
            name = f"%a{k}"
            view = View(name, dims, self.type_of(dims), frozenset({(name, "")}), False)
            self.inputs.append(view)
            self.block.views.append(view)
        for axis in range(AXES):
            one = next((x for x in self.inputs if (axis, 0) in x.dims), None)
            if not one:
                self.is_open[axis] = False
        self.inputs = [dataclasses.replace(x, type=self.type_of(x.dims)) for x in self.inputs]
        self.block.views = list(self.inputs)
        self.heads += [f"%c{k} = arith.constant {k} : index" for k in range(9)]
        for axis in range(AXES):
            if self.is_open[axis]:
                one = next(x for x in self.inputs if (axis, 0) in x.dims)
                at = one.dims.index((axis, 0))
                self.heads.append(f"%d{axis}_0 = memref.dim {one.name}, %c{at} : {one.type}")
                self.heads += [
                    f"%d{axis}_{k} = arith.addi %d{axis}_0, %c{k} : index" for k in (1, 2, 3)
                ]

    def write_alloc(self, dims: Sequence[Dim]) -> View:
        """A buffer that is filled."""
        name = self.fresh()
        kind = self.type_of(dims)
        sizes = ", ".join(self.sized(dim) for dim in dims if self.extent(dim) is None)
        view = View(name, tuple(dims), kind, frozenset({(name, "")}), True)

        def step(known: Environment, extents: Sequence[int]) -> None:
            shape = [self.run_extent(dim, extents) for dim in dims]
            known[name] = np.zeros(shape, ELEMENTS[self.element])

        self.add([f"{name} = memref.alloc({sizes}) : {kind}"], [view], step)
        self.stack[-1].views.append(view)
        self.stack[-1].allocs.append(view)
        self.write_fill(view)
        return view

    def write_fill(self, view: View) -> None:
        value = self.random.choice((0, 0, 1, -100, 100))
        number = self.fresh()
        lines = [
            f"{number} = arith.constant {self.number(value)} : {self.element}",
            f"linalg.fill ins({number} : {self.element}) outs({view.name} : {view.type})",
        ]

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[view.name][...] = value

        self.add(lines, [view], step)

    def add_view(
        self,
        line: str,
        source: View,
        dims: Sequence[Dim],
        kind: str,
        get: Callable[[Environment, Sequence[int]], Array],
        name: str,
        part: str | None = None,
    ) -> View:
        places = frozenset(
            (root, of if part == "" else f"{of}/{name}") for root, of in source.places
        )
        view = View(name, tuple(dims), kind, places, source.is_writable)

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[name] = get(known, extents)

        self.add([line], [source], step)
        self.stack[-1].views.append(view)
        return view

    def layout(self, rank: int) -> str:
        return f"strided<[{', '.join(['?'] * rank)}], offset: ?>"

    def dynamic(self, dims: Sequence[Dim]) -> str:
        """A type of any strides."""
        return f"memref<{self.shape_of(dims)}{self.element}, {self.layout(len(dims))}>"

    def write_turned(self, source: View) -> None:
        order = self.random.sample(range(len(source.dims)), len(source.dims))
        dims = [source.dims[k] for k in order]
        given, taken = (", ".join(f"d{k}" for k in ks) for ks in (range(len(order)), order))
        name, open_name = self.fresh(), self.fresh()
        opened = self.dynamic(source.dims)
        self.add([f"{open_name} = memref.cast {source.name} : {source.type} to {opened}"], [source])
        self.add_view(
            f"{name} = memref.transpose {open_name} ({given}) -> ({taken}) : {opened} to "
            f"{self.dynamic(dims)}",
            source, dims, self.dynamic(dims),
            lambda known, _: known[source.name].transpose(order), name,
        )  # fmt: skip

    def write_cast(self, source: View) -> None:
        name, kind = self.fresh(), self.dynamic(source.dims)
        self.add_view(
            f"{name} = memref.cast {source.name} : {source.type} to {kind}",
            source, source.dims, kind, lambda known, _: known[source.name], name, "",
        )  # fmt: skip

    def write_part(self, source: View) -> None:
        """A part: whole along open axes, of fixed extents, or one element along others."""
        chance = self.random
        name, open_name = self.fresh(), self.fresh()
        offsets, sizes, strides, cuts, dims = [], [], [], [], []
        for dim in source.dims:
            known = self.extent(dim)
            what = chance.choice(("all", "all", "some", "one", "steps"))
            if known is None and dim[1] > 0 and what == "some":
                first = chance.randint(0, dim[1])
                size: Dim = (dim[0], 0)
                cut: tuple[int, int, int] | int = (first, 1, 0)
            elif not known or what == "all":
                first, size, cut = 0, dim, (0, 1, 0)
            elif what == "one":
                first = chance.randrange(min(known, 9))
                size, cut = (-1, 1), first
            else:
                step = chance.choice((2, 3)) if what == "steps" else 1
                first = chance.randrange(known)
                most = (known - first + step - 1) // step
                count = chance.randint(1, most)
                options = [d for d in self.all_dims() if 0 < (self.extent(d) or 0) <= most]
                size = chance.choice(options) if options else (-1, count)
                cut = (first, step, 0)
            offsets.append(first)
            sizes.append(self.sized(size))
            strides.append(cut[1] if isinstance(cut, tuple) else 1)
            cuts.append((cut, size))
            if isinstance(cut, tuple):
                dims.append(size)
        if not self.is_clear(len(source.dims), dims):
            return
        opened = self.dynamic(source.dims)
        self.add([f"{open_name} = memref.cast {source.name} : {source.type} to {opened}"], [source])

        def get(known: Environment, extents: Sequence[int]) -> Array:
            at: list[int | slice] = []
            for cut, size in cuts:
                if isinstance(cut, int):
                    at.append(cut)
                    continue
                count = self.run_extent(size, extents)
                at.append(slice(cut[0], cut[0] + (count - 1) * cut[1] + 1 if count else cut[0],
                                cut[1]))  # fmt: skip
            return known[source.name][(*at, ...)]

        self.add_view(
            f"{name} = memref.subview {open_name}[{', '.join(map(str, offsets))}] "
            f"[{', '.join(sizes)}] [{', '.join(map(str, strides))}] : {opened} to "
            f"{self.dynamic(dims)}",
            source, dims, self.dynamic(dims), get, name,
        )  # fmt: skip

    def is_clear(self, rank: int, dims: Sequence[Dim]) -> bool:
        """Where axes of one element stay, MLIR does not say which one is left out."""
        return rank == len(dims) or all(self.extent(dim) != 1 for dim in dims)

    def all_dims(self) -> list[Dim]:
        return [(axis, 0) for axis in range(AXES) if not self.is_open[axis]]

    def condition(self) -> tuple[list[str], list[View], Callable[[Environment], bool], str]:
        """A truth value that a run knows."""
        test, name = self.fresh(), self.fresh()
        number = self.random.choice((1, 2, 3, 8))
        if any(self.is_open):
            axis = self.random.choice([k for k in range(AXES) if self.is_open[k]])
            line = f"{name} = arith.cmpi slt, %d{axis}_0, %c{number} : index"
            return [line], [], lambda known: bool(known[f"%d{axis}"] < number), name
        fitting = [v for v in self.inputs if all(self.extent(dim) for dim in v.dims)]
        view = self.random.choice(fitting or self.inputs)
        at = ", ".join(["%c0"] * len(view.dims))
        zero = self.fresh()
        compare = "cmpf ogt" if self.is_float else "cmpi sgt"
        lines = [
            f"{test} = memref.load {view.name}[{at}] : {view.type}",
            f"{zero} = arith.constant {self.number(0)} : {self.element}",
            f"{name} = arith.{compare}, {test}, {zero} : {self.element}",
        ]
        return lines, [view], lambda known: bool(known[view.name].ravel()[0] > 0), name

    def write_select(self) -> None:
        """One of two buffers, or another name of one."""
        one = self.random.choice(self.visible())
        alike = [v for v in self.visible() if v.type == one.type and v.dims == one.dims]
        other = self.random.choice(alike)
        lines, used, holds, condition = self.condition()
        name = self.fresh()
        if self.random.random() < 0.5:
            lines += [f"{name} = arith.select {condition}, {one.name}, {other.name} : {one.type}"]
        else:
            lines += [
                f"{name} = scf.if {condition} -> ({one.type}) {{",
                f"scf.yield {one.name} : {one.type}",
                "} else {",
                f"scf.yield {other.name} : {one.type}",
                "}",
            ]
        view = View(name, one.dims, one.type, one.places | other.places,
                    one.is_writable and other.is_writable)  # fmt: skip

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[name] = known[one.name] if holds(known) else known[other.name]

        self.add(lines, [one, other, *used], step)
        self.stack[-1].views.append(view)

    def write_row(self, view: View, at: int, number: str) -> None:
        rank = len(view.dims)
        dims = [dim for k, dim in enumerate(view.dims) if k != at]
        if not self.is_clear(rank, dims):
            return
        name, opened = self.fresh(), self.fresh()
        kind = self.dynamic(view.dims)
        offsets = ", ".join(number if k == at else "0" for k in range(rank))
        sizes = ", ".join("1" if k == at else self.sized(dim) for k, dim in enumerate(view.dims))
        self.add([f"{opened} = memref.cast {view.name} : {view.type} to {kind}"], [view])
        self.add_view(
            f"{name} = memref.subview {opened}[{offsets}] [{sizes}] [{', '.join(['1'] * rank)}] : "
            f"{kind} to {self.dynamic(dims)}",
            view, dims, self.dynamic(dims),
            lambda known, _: known[view.name][(slice(None),) * at + (int(known[number]), ...)], name,
        )  # fmt: skip

    def add_region(self, lines: list[str], blocks: Sequence[Block], step: Step) -> None:
        roots = {root for block in blocks for _, used in block.lines for root in used}
        own = {alloc.name for block in blocks for alloc in block.allocs}
        self.stack[-1].lines.append((lines, roots - own))
        self.stack[-1].steps.append(step)

    def close(self, block: Block, kept: set[str]) -> list[str]:
        """The lines of a block, with what frees its buffers."""
        frees: dict[int, list[str]] = {}
        for alloc in block.allocs:
            if alloc.name in kept:
                continue
            last = max(k for k, (_, used) in enumerate(block.lines) if alloc.name in used)
            if self.random.random() < 0.5:
                last = self.random.randint(last, len(block.lines) - 1)
            frees.setdefault(last, []).append(f"memref.dealloc {alloc.name} : {alloc.type}")
        return [
            line for k, (lines, _) in enumerate(block.lines) for line in (*lines, *frees.get(k, ()))
        ]

    @property
    def text(self) -> str:
        def port(view: View, name: str) -> str:
            kind = f"tensor<{self.shape_of(view.dims)}{self.element}>"
            return f'{view.type} {{loopc.name = "{name}", loopc.type = {kind}}}'

        given = ", ".join(f"{x.name}: {port(x, f'input{k}')}" for k, x in enumerate(self.inputs))
        types = ", ".join(port(x, f"output{k}") for k, x in enumerate(self.outputs))
        names = ", ".join(x.name for x in self.outputs)
        body = "\n".join((*self.heads, *self.body))
        return (
            f"func.func @main({given}) -> ({types}) {{\n{body}\n"
            f"return {names} : {', '.join(x.type for x in self.outputs)}\n}}\n"
        )
