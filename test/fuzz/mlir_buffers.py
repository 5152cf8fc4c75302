# ===- mlir_buffers.py - Random programs on buffers -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random MLIR on buffers through loopc, beside NumPy.

    mlir_buffers.py --seeds 0:1000
    mlir_buffers.py --seeds 77:78 --write /tmp    writes what fails, as buffers-77.mlir

Buffers are written over and over: whole, in parts, through views that cut, turn, join and split
axes, and by another name, which a branch or a select gives them. Sums begin with what is there,
bodies look elements up in other buffers, what was written is read where it is written again. Buffers
are freed behind their last use, at once or later. Numbers are small integers, so that nothing is
rounded. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from mlir_generics import ELEMENTS, NEUTRAL, TYPES, UFUNCS, Body, Environment, run_seeds, wrong_runs
from mlir_programs import Array
from mlir_views import AXES, Block, Buffers, Dim, Step, View

EXTENTS = (1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 70)
OPEN_EXTENTS = (0, 1, 2, 3, 5, 16, 33, 65)
#: Of a program that has products of matrices and what is computed of their rows.
LARGE_EXTENTS = (1, 2, 8, 40, 64, 100, 130)
MOST_ELEMENTS = 60_000
MOST_LARGE = 2_000_000


class Program(Buffers):
    """A random function, and what it computes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        chance = self.random
        self.is_large = chance.random() < 0.15
        choices = LARGE_EXTENTS if self.is_large else EXTENTS
        self.most = MOST_LARGE if self.is_large else MOST_ELEMENTS
        extents = [chance.choice(choices) for _ in range(AXES)]
        while np.prod(extents) > self.most:
            extents[extents.index(max(extents))] = chance.choice(choices[:4])
        are_open = [chance.random() < (0.5 if self.is_large else 0.3) for _ in range(AXES)]
        super().__init__("f32" if self.is_large else chance.choice(TYPES), extents, are_open)
        self.write_inputs()
        for _ in range(chance.randint(2, 7)):
            self.write_statement()
        mine = [alloc for alloc in self.block.allocs if alloc.dims is not None]
        if not mine:
            mine = [self.write_alloc(self.inputs[0].dims)]
        self.outputs = chance.sample(mine, min(len(mine), 3))
        self.body = self.close(self.block, {view.name for view in self.outputs})

    def writable(self) -> View:
        views = [view for view in self.visible() if view.is_writable]
        if not views or self.random.random() < 0.25:
            return self.write_alloc(self.some_dims())
        return self.random.choice(views[-6:])

    def some_dims(self) -> tuple[Dim, ...]:
        return self.random.choice(self.visible()).dims

    def write_statement(self) -> None:
        chance = self.random
        kinds: list[tuple[Callable[[], object], int]] = [
            (self.write_elementwise, 6),
            (self.write_sums, 4),
            (self.write_view, 4),
            (lambda: self.write_fill(self.writable()), 1),
            (self.write_copy, 2),
            (self.write_store, 1),
            (self.write_select, 2),
            (self.write_padded, 1),
            (self.write_chain, 4 if self.is_large else 1),
        ]
        if len(self.stack) < 3:
            kinds += [(self.write_loop, 2), (self.write_branch, 1)]
        chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()

    def fits(self, dims: Sequence[Dim]) -> bool:
        count = 1
        for dim in dims:
            known = self.extent(dim)
            count *= max(OPEN_EXTENTS) if known is None else max(known, 1)
        return count <= 2 * self.most

    def matching(self, dims: Sequence[Dim], loops: Sequence[Dim]) -> list[int] | None:
        """Which loop each axis goes along; none where they are of other extents."""
        free = list(range(len(loops)))
        found = []
        for dim in dims:
            fitting = [k for k in free if loops[k] == dim]
            if not fitting:
                return None
            found.append(self.random.choice(fitting))
            free.remove(found[-1])
        return found

    def write_elementwise(self, out: View | None = None, first: View | None = None) -> None:
        chance = self.random
        out = out or self.writable()
        loops = list(out.dims)
        to = list(range(len(loops)))
        candidates = chance.sample(self.visible(), len(self.visible()))
        inputs: list[tuple[View, list[int]]] = []
        wanted = chance.choice((1, 2, 2, 3))
        for view in ([first] if first else []) + candidates:
            at = self.matching(view.dims, loops)
            if at is None and len(view.dims) == 1 and len(loops) == 0:
                continue
            if at is not None and not view.may_meet(out, alike=at == to):
                inputs.append((view, at))
            if len(inputs) == wanted:
                break
        if chance.random() < 0.25:
            order = chance.sample(range(len(loops)), len(loops))
            loops = [loops[k] for k in order]
            to = [order.index(k) for k in to]
            inputs = [(view, [order.index(k) for k in at]) for view, at in inputs]
        self.write_generic(inputs, [(out, to)], loops, [], chance.random() < 0.3)

    def write_sums(self) -> View | None:
        chance = self.random
        views = self.visible()
        first = chance.choice(views)
        loops = list(first.dims)
        inputs = [(first, list(range(len(loops))))]
        for _ in range(chance.choice((0, 1, 1))):
            other = chance.choice(views)
            at: list[int] = []
            for dim in other.dims:
                free = [k for k, it in enumerate(loops) if it == dim and k not in at]
                if free and chance.random() < 0.7:
                    at.append(chance.choice(free))
                else:
                    at.append(len(loops))
                    loops.append(dim)
            inputs.append((other, at))
        if not self.fits(loops) or len(loops) > 5 or not loops:
            return None
        kept = [k for k in range(len(loops)) if chance.random() < 0.6]
        if chance.random() < 0.3:
            chance.shuffle(kept)
        dims = tuple(loops[k] for k in kept)
        outs = [
            view
            for view in views
            if view.is_writable
            and view.dims == dims
            and not any(it.may_meet(view, alike=False) for it, _ in inputs)
        ]
        out = chance.choice(outs) if outs and chance.random() < 0.6 else self.write_alloc(dims)
        reduced = [k for k in range(len(loops)) if k not in kept]
        self.write_generic(inputs, [(out, kept)], loops, reduced, True)
        if chance.random() < 0.4:
            self.write_elementwise(first=out)
        return out

    def write_generic(
        self,
        inputs: Sequence[tuple[View, list[int]]],
        outs: Sequence[tuple[View, list[int]]],
        loops: Sequence[Dim],
        reduced: Sequence[int],
        combines: bool,
        how: str = "",
        table: View | None = None,
    ) -> None:
        chance = self.random
        if chance.random() < 0.15:
            inputs = [*inputs, (self.write_number(), [])]
        how = how or chance.choice(("add", "add", "max", "min"))
        body = Body(self, len(inputs), range(len(loops)))
        looked: list[View] = []
        if loops and (table or chance.random() < 0.2):
            looked = self.write_lookup(body, [view for view, _ in outs], len(loops), table)
        if len(inputs) > 1 and reduced and chance.random() < 0.5:
            body.multiply("%b0", "%b1")
        if not body.values:
            body.write_index(0) if loops else body.write_constant()
        value = body.choose()
        yielded = [body.combine(how, "%o0", value) if combines else value]
        self.add(
            self.operation(inputs, outs, loops, reduced, body, yielded),
            [view for view, _ in (*inputs, *outs)] + looked,
            self.step_of(inputs, outs, loops, reduced, body, (value, how if combines else "")),
        )

    def write_number(self) -> View:
        """An operand that is no buffer."""
        name, value = self.fresh(), self.random.choice((0, 1, 3))
        view = View(name, (), self.element, frozenset(), False)

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[name] = np.array(value, ELEMENTS[self.element])

        self.add([f"{name} = arith.constant {self.number(value)} : {self.element}"], [], step)
        return view

    def write_lookup(
        self, body: Body, outs: Sequence[View], loops: int, table: View | None
    ) -> list[View]:
        """An element of a buffer that is no operand, at the number of a loop."""
        rows = [
            view
            for view in ([table] if table else self.visible())
            if len(view.dims) == 1
            and (self.extent(view.dims[0]) or 0) > 0
            and not any(view.may_meet(out, alike=False) for out in outs)
        ]
        if not rows:
            return []
        view = self.random.choice(rows)
        extent = self.extent(view.dims[0]) or 1
        dim = self.random.randrange(loops)
        place, number, rest, value = (self.fresh() for _ in range(4))
        body.lines += [
            f"{place} = linalg.index {dim} : index",
            f"{number} = arith.constant {extent} : index",
            f"{rest} = arith.remui {place}, {number} : index",
            f"{value} = memref.load {view.name}[{rest}] : {view.type}",
        ]

        def step(known: Environment, shape: tuple[int, ...]) -> None:
            along = [shape[dim] if k == dim else 1 for k in range(len(shape))]
            known[value] = known[view.name][np.arange(shape[dim]) % extent].reshape(along)

        body.steps.append(step)
        body.values.append(value)
        return [view]

    def operation(
        self,
        inputs: Sequence[tuple[View, list[int]]],
        outs: Sequence[tuple[View, list[int]]],
        loops: Sequence[Dim],
        reduced: Sequence[int],
        body: Body,
        yielded: Sequence[str],
    ) -> list[str]:
        dims = ", ".join(f"d{k}" for k in range(len(loops)))
        maps = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(f'd{k}' for k in at)})>"
            for _, at in (*inputs, *outs)
        )
        kinds = ", ".join(
            '"reduction"' if k in reduced else '"parallel"' for k in range(len(loops))
        )
        names = [f"%b{k}" for k in range(len(inputs))] + [f"%o{k}" for k in range(len(outs))]
        ins = (
            f"ins({', '.join(view.name for view, _ in inputs)} : "
            f"{', '.join(view.type for view, _ in inputs)}) "
            if inputs
            else ""
        )
        return [
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}"
            f"outs({', '.join(view.name for view, _ in outs)} : "
            f"{', '.join(view.type for view, _ in outs)}) {{",
            f"^bb0({', '.join(f'{name}: {self.element}' for name in names)}):",
            *body.lines,
            f"linalg.yield {', '.join(yielded)} : {', '.join([self.element] * len(outs))}",
            "}",
        ]

    def step_of(
        self,
        inputs: Sequence[tuple[View, list[int]]],
        outs: Sequence[tuple[View, list[int]]],
        loops: Sequence[Dim],
        reduced: Sequence[int],
        body: Body,
        result: tuple[str, str],
    ) -> Step:
        value, how = result
        (out, to) = outs[0]
        kept = [k for k in range(len(loops)) if k not in reduced]

        def step(known: Environment, extents: Sequence[int]) -> None:
            shape = tuple(self.run_extent(dim, extents) for dim in loops)
            local = dict(known)
            for k, (view, at) in enumerate(inputs):
                local[f"%b{k}"] = _aligned(known[view.name].copy(), at, len(loops))
            body.run(local, shape)
            whole = np.broadcast_to(local[value], shape)
            made = whole.transpose([*to, *reduced])
            target = known[out.name]
            if reduced:
                axes = tuple(range(len(to), len(loops)))
                start = whole.dtype.type(NEUTRAL[how])
                made = UFUNCS[how].reduce(made, axis=axes, initial=start, dtype=whole.dtype)
            elif not how:
                target[...] = made
                return
            target[...] = UFUNCS[how](target, made)

        assert len(kept) == len(to)
        return step

    def write_copy(self) -> None:
        out = self.writable()
        sources = [
            view
            for view in self.visible()
            if view.dims == out.dims and not view.may_meet(out, alike=False)
        ]
        if not sources:
            return
        source = self.random.choice(sources)

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[out.name][...] = known[source.name]

        line = f"memref.copy {source.name}, {out.name} : {source.type} to {out.type}"
        self.add([line], [source, out], step)

    def write_store(self) -> None:
        out, source = self.writable(), self.random.choice(self.visible())
        if any(not self.extent(dim) for dim in (*out.dims, *source.dims)):
            return
        value = self.fresh()
        there, here = (
            [self.random.randrange(min(9, self.extent(dim) or 1)) for dim in view.dims]
            for view in (source, out)
        )

        def at(place: Sequence[int]) -> str:
            return ", ".join(f"%c{k}" for k in place)

        def step(known: Environment, extents: Sequence[int]) -> None:
            known[out.name][tuple(here)] = known[source.name][tuple(there)]

        lines = [
            f"{value} = memref.load {source.name}[{at(there)}] : {source.type}",
            f"memref.store {value}, {out.name}[{at(here)}] : {out.type}",
        ]
        self.add(lines, [source, out], step)

    def write_view(self) -> None:
        source = self.random.choice(self.visible()[-8:])
        if not source.dims:
            return
        self.random.choice((self.write_part, self.write_part, self.write_turned, self.write_cast))(
            source
        )

    def write_padded(self) -> None:
        """A copy with a border, and windows of it."""
        chance = self.random
        sources = [v for v in self.visible() if 1 < len(v.dims) < 4
                   and all(more == 0 for _, more in v.dims[-1:])]  # fmt: skip
        if not sources:
            return
        source = chance.choice(sources)
        dims = [*source.dims[:-1], (source.dims[-1][0], 2)]
        if source.dims[-1][0] < 0 or not self.fits([*dims, (-1, 3)]):
            return
        padded = self.write_alloc(dims)
        name = self.fresh()
        first = chance.randint(0, 2)
        rank = len(dims)
        kind = self.dynamic(source.dims)
        opened = self.fresh()
        self.add(
            [f"{opened} = memref.cast {padded.name} : {padded.type} to {self.dynamic(dims)}"],
            [padded],
        )
        inside = self.add_view(
            f"{name} = memref.subview {opened}[{', '.join(['0'] * (rank - 1) + [str(first)])}] "
            f"[{', '.join(self.sized(dim) for dim in source.dims)}] "
            f"[{', '.join(['1'] * rank)}] : {self.dynamic(dims)} to {kind}",
            padded, source.dims, kind,
            lambda known, extents: known[padded.name][
                ..., first : first + self.run_extent(source.dims[-1], extents)], name,
        )  # fmt: skip
        all_axes = list(range(rank))
        self.write_copy_of(source, inside, all_axes)
        for _ in range(chance.choice((0, 0, 1))):
            self.write_statement()
        self.write_windows(padded, source.dims)
        if chance.random() < 0.5:
            self.write_elementwise()

    def write_copy_of(self, source: View, out: View, at: list[int]) -> None:
        body = Body(self, 0, range(0))
        body.values = ["%b0"]
        self.add(
            self.operation([(source, at)], [(out, at)], out.dims, [], body, ["%b0"]),
            [source, out],
            self.step_of([(source, at)], [(out, at)], out.dims, [], body, ("%b0", "")),
        )

    def write_windows(self, padded: View, dims: Sequence[Dim]) -> None:
        out = self.write_alloc(dims)
        how = self.random.choice(("add", "max"))
        rank = len(dims)
        loops = ", ".join(f"d{k}" for k in range(rank + 1))
        read = ", ".join([f"d{k}" for k in range(rank - 1)] + [f"d{rank - 1} + d{rank}"])
        write = ", ".join(f"d{k}" for k in range(rank))
        window, result = self.fresh(), self.fresh()
        kinds = ", ".join(['"parallel"'] * rank + ['"reduction"'])
        lines = [
            f"{window} = memref.alloc() : memref<3x{self.element}>",
            f"linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({read})>, "
            f"affine_map<({loops}) -> (d{rank})>, affine_map<({loops}) -> ({write})>], "
            f"iterator_types = [{kinds}]}} "
            f"ins({padded.name}, {window} : {padded.type}, memref<3x{self.element}>) "
            f"outs({out.name} : {out.type}) {{",
            f"^bb0(%b0: {self.element}, %b1: {self.element}, %o0: {self.element}):",
            f"{result} = {self.call(how)} %o0, %b0 : {self.element}",
            f"linalg.yield {result} : {self.element}",
            "}",
            f"memref.dealloc {window} : memref<3x{self.element}>",
        ]

        def step(known: Environment, extents: Sequence[int]) -> None:
            source, target = known[padded.name], known[out.name]
            count = target.shape[-1]
            for k in range(3):
                target[...] = UFUNCS[how](target, source[..., k : k + count])

        self.add(lines, [padded, out], step)

    def write_chain(self) -> None:
        """A product, what is computed of its rows, and a product with these."""
        chance = self.random
        axes = chance.sample(range(AXES), AXES)
        batch, rows, columns, inner = ((axis, 0) for axis in axes)
        loops = [batch, rows, columns, inner]
        if not self.fits(loops):
            return
        left = self.write_random([batch, rows, inner])
        right = self.write_random([batch, columns, inner])
        scores = self.write_alloc([batch, rows, columns])
        self.write_generic([(left, [0, 1, 3]), (right, [0, 2, 3])], [(scores, [0, 1, 2])], loops,
                           [3], True, "add")  # fmt: skip
        if chance.random() < 0.5:
            self.write_statement()
        if chance.random() < 0.5:
            self.write_elementwise(out=scores)
        sums = self.write_alloc([batch, rows])
        self.write_generic([(scores, [0, 1, 2])], [(sums, [0, 1])], loops[:3], [2], True)
        if chance.random() < 0.5:
            self.write_statement()
        table = self.write_random([columns]) if chance.random() < 0.4 else None
        self.write_generic([(scores, [0, 1, 2]), (sums, [0, 1])], [(scores, [0, 1, 2])], loops[:3],
                           [], False, table=table)  # fmt: skip
        if table and table.is_writable:
            self.write_fill(table)
        if chance.random() < 0.5:
            self.write_statement()
        result = self.write_alloc([batch, rows, inner])
        self.write_generic([(scores, [0, 1, 2]), (right, [0, 2, 3])], [(result, [0, 1, 3])], loops,
                           [2], True, "add")  # fmt: skip

    def write_random(self, dims: Sequence[Dim]) -> View:
        found = [view for view in self.visible() if list(view.dims) == list(dims)]
        if found and self.random.random() < 0.7:
            return self.random.choice(found)
        view = self.write_alloc(dims)
        self.write_elementwise(out=view)
        return view

    def write_inner(self, statements: int) -> tuple[Block, list[str]]:
        """What is written in a block of its own: the block and its lines."""
        block = self.stack[-1]
        for _ in range(statements):
            self.write_statement()
        self.stack.pop()
        return block, self.close(block, set())

    def write_loop(self) -> None:
        """A loop along an axis, whose iterations see rows of some buffers."""
        chance = self.random
        axis = chance.randrange(AXES)
        if not self.is_open[axis] and self.extents[axis] > 16:
            return
        number, end = self.fresh(), self.fresh()
        views = [v for v in self.visible() if (axis, 0) in v.dims]
        self.stack.append(Block())
        for view in chance.sample(views, min(len(views), 3)):
            self.write_row(view, view.dims.index((axis, 0)), number)
        block, lines = self.write_inner(chance.randint(1, 3))
        bound = self.sized((axis, 0))
        if not bound.startswith("%"):
            lines = [f"{end} = arith.constant {bound} : index", "", *lines]
            bound = end
            lines[1] = f"scf.for {number} = %c0 to {bound} step %c1 {{"
        else:
            lines = [f"scf.for {number} = %c0 to {bound} step %c1 {{", *lines]

        def step(known: Environment, extents: Sequence[int]) -> None:
            for k in range(extents[axis]):
                known[number] = np.array(k)
                block.run(known, extents)

        self.add_region([*lines, "}"], [block], step)

    def write_branch(self) -> None:
        lines, used, holds, condition = self.condition()
        self.stack.append(Block())
        then, inner = self.write_inner(self.random.randint(1, 2))

        def step(known: Environment, extents: Sequence[int]) -> None:
            if holds(known):
                then.run(known, extents)

        self.add(lines, used)
        self.add_region([f"scf.if {condition} {{", *inner, "}"], [then], step)

    def runs(self) -> Iterator[tuple[dict[str, Array], list[Array]]]:
        """Inputs, and what comes of them."""
        numbers = np.random.default_rng(self.random.randrange(2**32))
        for _ in range(4 if any(self.is_open) else 1):
            extents = [
                self.random.choice(OPEN_EXTENTS) if is_open else extent
                for is_open, extent in zip(self.is_open, self.extents, strict=True)
            ]
            known: Environment = {
                x.name: self.draw(numbers, [self.run_extent(dim, extents) for dim in x.dims])
                for x in self.inputs
            }
            known |= {f"%d{axis}": np.array(extent) for axis, extent in enumerate(extents)}
            feeds = {f"input{k}": known[x.name].copy() for k, x in enumerate(self.inputs)}
            self.block.run(known, extents)
            yield feeds, [known[x.name].copy() for x in self.outputs]


def _aligned(tensor: Array, at: Sequence[int], loops: int) -> Array:
    """A tensor along the loops, of one element where it does not vary."""
    order = sorted(range(len(at)), key=lambda k: at[k])
    shape = [tensor.shape[at.index(k)] if k in at else 1 for k in range(loops)]
    return tensor.transpose(order).reshape(shape)


def problems(seed: int) -> Iterator[str]:
    """How the program of a seed ends wrong."""
    program = Program(seed)
    with np.errstate(all="ignore"):
        runs = list(program.runs())
    yield from wrong_runs(program.text, runs)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    return run_seeds(argv, __doc__, "buffers", problems, lambda seed: Program(seed).text)


if __name__ == "__main__":
    sys.exit(main())
