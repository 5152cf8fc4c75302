# ===- mlir_generics.py - Random chains of linalg.generic -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random chains of linalg.generic through loopc, beside NumPy.

    mlir_generics.py --seeds 0:1000
    mlir_generics.py --seeds 77:78 --write /tmp    writes what fails, as generics-77.mlir

Operands are read along some of four axes in any order, axes are kept or summed up, results are made
of what an init holds or not, one or two at once, and are read again. Rows are short and long, extents
open in part: each program is run with several of them. Numbers are small integers, so that nothing is
rounded. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import random
import sys
from collections.abc import Callable, Iterator, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import engines
import numpy as np
from mlir_loops import answer, difference
from mlir_programs import Array

AXES = 4
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 70, 100)
OPEN_EXTENTS = (0, 1, 2, 3, 5, 16, 33, 64, 65)
MOST_ELEMENTS = 60_000
TYPES = ("f32", "f32", "f32", "f64", "i32", "i64", "i16", "i8")
ELEMENTS = {"f32": "float32", "f64": "float64", "i64": "int64", "i32": "int32", "i16": "int16",
            "i8": "int8"}  # fmt: skip
UFUNCS = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum,
          "mul": np.multiply}  # fmt: skip
NAMES = {"max": ("maximumf", "maxsi"), "min": ("minimumf", "minsi")}
NEUTRAL = {"add": 0, "mul": 1, "max": -100, "min": 100}


def _shifted(x: Array, by: Array) -> Array:
    """The bits of `x` moved down, zeros above them."""
    return np.right_shift(x.view(f"u{x.itemsize}"), by.view(f"u{x.itemsize}"))


def _rest(x: Array, by: Array) -> Array:
    return x - np.floor_divide(x, by) * by


def _quotient(x: Array, by: Array) -> Array:
    """The quotient without what is behind the point."""
    return np.floor_divide(x, by) + ((_rest(x, by) != 0) & ((x < 0) != (by < 0)))


#: Operations on {x} and the constant {c}, with names for what they give.
INTEGER_OPERATIONS: tuple[tuple[str, Callable[[Array, Array], Array]], ...] = (
    ("{r} = arith.divsi {x}, {c} : {kind}", _quotient),
    ("{r} = arith.remsi {x}, {c} : {kind}", lambda x, c: x - _quotient(x, c) * c),
    ("{r} = arith.floordivsi {x}, {c} : {kind}", np.floor_divide),
    (
        "{r} = arith.ceildivsi {x}, {c} : {kind}",
        lambda x, c: np.floor_divide(x, c) + (_rest(x, c) != 0),
    ),
    (
        "{r} = arith.divui {x}, {c} : {kind}",
        lambda x, c: np.floor_divide(x.view(f"u{x.itemsize}"), c.view(f"u{c.itemsize}")),
    ),
    (
        "{r} = arith.remui {x}, {c} : {kind}",
        lambda x, c: np.remainder(x.view(f"u{x.itemsize}"), c.view(f"u{c.itemsize}")),
    ),
    ("{r} = arith.shli {x}, {c} : {kind}", np.left_shift),
    ("{r} = arith.shrsi {x}, {c} : {kind}", np.right_shift),
    ("{r} = arith.shrui {x}, {c} : {kind}", _shifted),
    ("{r} = arith.andi {x}, {c} : {kind}", np.bitwise_and),
    ("{r} = arith.xori {x}, {c} : {kind}", np.bitwise_xor),
    ("{r} = math.absi {x} : {kind}", lambda x, c: np.abs(x)),
    (
        "{r} = arith.maxui {x}, {c} : {kind}",
        lambda x, c: np.maximum(x.view(f"u{x.itemsize}"), c.view(f"u{c.itemsize}")),
    ),
    (
        "{t} = arith.cmpi slt, {x}, {c} : {kind}; {r} = arith.select {t}, {c}, {x} : {kind}",
        lambda x, c: np.where(x < c, c, x),
    ),
    (
        "{t} = arith.cmpi ult, {x}, {c} : {kind}; {r} = arith.extui {t} : i1 to {kind}",
        lambda x, c: x.view(f"u{x.itemsize}") < c.view(f"u{c.itemsize}"),
    ),
    (
        "{t} = arith.cmpi eq, {x}, {c} : {kind}; {r} = arith.extsi {t} : i1 to {kind}",
        lambda x, c: -(x == c).astype(x.dtype),
    ),
)
FLOAT_OPERATIONS: tuple[tuple[str, Callable[[Array, Array], Array]], ...] = (
    ("{r} = arith.divf {x}, {c} : {kind}; {t} = math.floor {r} : {kind}",
     lambda x, c: np.floor(x / c)),
    ("{r} = arith.divf {x}, {c} : {kind}; {t} = math.ceil {r} : {kind}",
     lambda x, c: np.ceil(x / c)),
    ("{r} = arith.divf {x}, {c} : {kind}; {t} = math.roundeven {r} : {kind}",
     lambda x, c: np.rint(x / c)),
    ("{r} = arith.divf {x}, {c} : {kind}; {t} = math.trunc {r} : {kind}",
     lambda x, c: np.trunc(x / c)),
    ("{r} = math.absf {x} : {kind}", lambda x, c: np.abs(x)),
    ("{r} = arith.negf {x} : {kind}", lambda x, c: -x),
    ("{r} = math.copysign {c}, {x} : {kind}", lambda x, c: np.copysign(c, x)),
    ("{r} = arith.maxnumf {x}, {c} : {kind}", np.fmax),
    ("{r} = arith.minnumf {x}, {c} : {kind}", np.fmin),
    (
        "{t} = arith.cmpf olt, {x}, {c} : {kind}; {r} = arith.select {t}, {c}, {x} : {kind}",
        lambda x, c: np.where(x < c, c, x),
    ),
    (
        "{t} = arith.cmpf ult, {x}, {c} : {kind}; {r} = arith.uitofp {t} : i1 to {kind}",
        lambda x, c: ~(x >= c),
    ),
    ("{t} = arith.truncf {x} : {kind} to f16; {r} = arith.extf {t} : f16 to {kind}",
     lambda x, c: x.astype(np.float16)),
)  # fmt: skip

#: What an operation computes with: arrays along the loops.
Environment = dict[str, Array]
Step = Callable[[Environment, Sequence[int]], None]


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor, and the axes that it has."""

    name: str
    axes: tuple[int, ...]


class Writer:
    """Writes operations on numbers of one type."""

    random: random.Random

    def __init__(self, element: str) -> None:
        self.element = element
        self.is_float = element.startswith("f")
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def number(self, value: int) -> str:
        return f"{value}.0" if self.is_float else str(value)

    def draw(self, numbers: np.random.Generator, shape: Sequence[int]) -> Array:
        """Small numbers; some of floats are infinite, or none."""
        made = numbers.integers(-2, 3, shape).astype(ELEMENTS[self.element])
        if self.is_float and made.size and self.random.random() < 0.3:
            for value in (np.nan, np.inf, -np.inf, -0.0):
                if self.random.random() < 0.5:
                    made.flat[self.random.randrange(made.size)] = value
        return made

    def call(self, name: str) -> str:
        of_float, of_integer = NAMES.get(name, (f"{name}f", f"{name}i"))
        return f"arith.{of_float if self.is_float else of_integer}"


class Program(Writer):
    """A random function, and what it computes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        super().__init__(self.random.choice(TYPES))
        self.extents = [self.random.choice(EXTENTS) for _ in range(AXES)]
        while np.prod(self.extents) > MOST_ELEMENTS:
            self.extents[self.extents.index(max(self.extents))] = self.random.choice(EXTENTS[:5])
        self.inputs = [
            Operand(f"%a{k}", tuple(self.random.sample(range(AXES), self.random.randint(1, 3))))
            for k in range(self.random.randint(2, 3))
        ]
        given = {axis for operand in self.inputs for axis in operand.axes}
        self.is_open = [axis in given and self.random.random() < 0.35 for axis in range(AXES)]
        self.lines: list[str] = []
        self.steps: list[Step] = []
        self.write_extents()
        values, made = list(self.inputs), []
        for _ in range(self.random.randint(1, 5)):
            results = self.write_generic(values)
            values = (values + results)[-4:]
            made += results
        self.outputs = made[-4:]

    def type(self, axes: Sequence[int]) -> str:
        dims = "".join("?x" if self.is_open[k] else f"{self.extents[k]}x" for k in axes)
        return f"tensor<{dims}{self.element}>"

    def write_extents(self) -> None:
        """Extents that a run knows, as %d0 to %d3."""
        for axis in range(AXES):
            if not self.is_open[axis]:
                continue
            one = next(operand for operand in self.inputs if axis in operand.axes)
            place = self.fresh()
            self.lines += [
                f"{place} = arith.constant {one.axes.index(axis)} : index",
                f"%d{axis} = tensor.dim {one.name}, {place} : {self.type(one.axes)}",
            ]

    def write_init(self, axes: Sequence[int], value: int) -> str:
        """A tensor of one number."""
        empty, number, filled = (self.fresh() for _ in range(3))
        sizes = ", ".join(f"%d{axis}" for axis in axes if self.is_open[axis])
        kind = self.type(axes)
        self.lines += [
            f"{empty} = tensor.empty({sizes}) : {kind}",
            f"{number} = arith.constant {self.number(value)} : {self.element}",
            f"{filled} = linalg.fill ins({number} : {self.element}) outs({empty} : {kind}) -> {kind}",
        ]
        return filled

    def write_generic(self, values: Sequence[Operand]) -> list[Operand]:
        chance = self.random
        inputs = [chance.choice(values) for _ in range(chance.choice((1, 2, 2, 3)))]
        loops = sorted({axis for operand in inputs for axis in operand.axes})
        chance.shuffle(loops)
        reduced = [axis for axis in loops if chance.random() < 0.4]
        kept = [axis for axis in loops if axis not in reduced]
        if chance.random() < 0.3:
            chance.shuffle(kept)
        how = chance.choice(("add", "add", "max", "min") if reduced else ("add", "max", "mul"))
        outs = [self.write_init(kept, NEUTRAL[how]) for _ in range(chance.choice((1, 1, 1, 2)))]
        body = Body(self, len(inputs), loops)
        yields = [(body.choose(), bool(reduced) or chance.random() < 0.5) for _ in outs]
        yielded = [
            body.combine(how, f"%o{k}", value) if combines else value
            for k, (value, combines) in enumerate(yields)
        ]
        result = self.fresh()
        self.lines += self.operation(result, inputs, outs, loops, kept, body, yielded)
        names = [result] if len(outs) == 1 else [f"{result}#{k}" for k in range(len(outs))]

        def step(known: Environment, extents: Sequence[int]) -> None:
            shape = tuple(extents[axis] for axis in loops)
            local = {f"%b{k}": _aligned(known[x.name], x.axes, loops)
                     for k, x in enumerate(inputs)}  # fmt: skip
            body.run(local, shape)
            axes = tuple(loops.index(axis) for axis in reduced)
            order = [[axis for axis in loops if axis in kept].index(axis) for axis in kept]
            for name, (value, combines) in zip(names, yields, strict=True):
                whole = np.broadcast_to(local[value], shape)
                if combines:
                    start = whole.dtype.type(NEUTRAL[how])
                    whole = UFUNCS[how].reduce(whole, axis=axes, initial=start,
                                               dtype=whole.dtype) if axes else UFUNCS[how](
                        start, whole)  # fmt: skip
                known[name] = np.array(whole.transpose(order), order="C")

        self.steps.append(step)
        return [Operand(name, tuple(kept)) for name in names]

    def operation(
        self,
        result: str,
        inputs: Sequence[Operand],
        outs: Sequence[str],
        loops: Sequence[int],
        kept: Sequence[int],
        body: Body,
        yielded: Sequence[str],
    ) -> list[str]:
        """The lines of a linalg.generic."""
        dims = ", ".join(f"d{k}" for k in range(len(loops)))

        def read(axes: Sequence[int]) -> str:
            return f"affine_map<({dims}) -> ({', '.join(f'd{loops.index(k)}' for k in axes)})>"

        maps = ", ".join([read(x.axes) for x in inputs] + [read(kept)] * len(outs))
        kinds = ", ".join('"parallel"' if axis in kept else '"reduction"' for axis in loops)
        types = ", ".join([self.type(kept)] * len(outs))
        args = ", ".join(
            f"{name}: {self.element}"
            for name in (*(f"%b{k}" for k in range(len(inputs))),
                         *(f"%o{k}" for k in range(len(outs))))
        )  # fmt: skip
        return [
            f"{result}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic "
            f"{{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"ins({', '.join(x.name for x in inputs)} : "
            f"{', '.join(self.type(x.axes) for x in inputs)}) "
            f"outs({', '.join(outs)} : {types}) {{",
            f"^bb0({args}):",
            *body.lines,
            f"linalg.yield {', '.join(yielded)} : {', '.join([self.element] * len(outs))}",
            f"}} -> {f'({types})' if len(outs) > 1 else types}",
        ]

    @property
    def text(self) -> str:
        given = ", ".join(f"{x.name}: {self.type(x.axes)}" for x in self.inputs)
        types = ", ".join(self.type(x.axes) for x in self.outputs)
        names = ", ".join(x.name for x in self.outputs)
        body = "\n".join(self.lines)
        return f"func.func @main({given}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"

    def runs(self) -> Iterator[tuple[dict[str, Array], list[Array]]]:
        """Inputs, and what comes of them."""
        numbers = np.random.default_rng(self.random.randrange(2**32))
        for _ in range(3 if any(self.is_open) else 1):
            extents = [
                self.random.choice(OPEN_EXTENTS) if is_open else extent
                for is_open, extent in zip(self.is_open, self.extents, strict=True)
            ]
            if np.prod([max(extent, 1) for extent in extents]) > 4 * MOST_ELEMENTS:
                continue
            known: Environment = {
                x.name: self.draw(numbers, [extents[axis] for axis in x.axes]) for x in self.inputs
            }
            feeds = {f"input{k}": known[x.name] for k, x in enumerate(self.inputs)}
            for step in self.steps:
                step(known, extents)
            yield feeds, [known[x.name] for x in self.outputs]


class Body:
    """What an operation computes of one element of each operand."""

    def __init__(self, program: Writer, inputs: int, loops: Sequence[int]) -> None:
        self.program = program
        self.lines: list[str] = []
        self.steps: list[Callable[[Environment, tuple[int, ...]], None]] = []
        self.values = [f"%b{k}" for k in range(inputs)]
        if loops and program.random.random() < 0.3:
            self.write_index(program.random.randrange(len(loops)))
        for _ in range(program.random.randint(0, 4) if self.values else 0):
            self.write_operation()

    def choose(self) -> str:
        return self.program.random.choice(self.values[-3:])

    def combine(self, how: str, one: str, other: str) -> str:
        name = self.program.fresh()
        self.lines.append(
            f"{name} = {self.program.call(how)} {one}, {other} : {self.program.element}"
        )
        return name

    def write_operation(self) -> None:
        if self.program.random.random() < 0.3:
            return self.write_other()
        how = self.program.random.choice(("add", "sub", "max", "min"))
        one, other = (self.program.random.choice(self.values) for _ in range(2))
        name = self.combine(how, one, other)
        self.values.append(name)
        self.steps.append(_setter(name, lambda known: UFUNCS[how](known[one], known[other])))

    def write_other(self) -> None:
        """An operation that the target may have, or not have, for vectors of these elements."""
        program = self.program
        operations = FLOAT_OPERATIONS if program.is_float else INTEGER_OPERATIONS
        text, compute = program.random.choice(operations)
        kind, one = program.element, program.random.choice(self.values)
        width = int(kind[1:])
        number = program.random.choice((1, width - 1) if "sh" in text else (2, -2, 3, -7, 16))
        names = {name: program.fresh() for name in ("c", "t", "u", "r")}
        lines = text.format(x=one, kind=kind, **names).split("; ")
        self.lines += [
            f"{names['c']} = arith.constant {program.number(number)} : {kind}",
            *lines,
        ]
        name = lines[-1].split(" = ")[0]
        self.values.append(name)
        constant = np.array(number, ELEMENTS[kind])
        self.steps.append(
            _setter(name, lambda known: compute(known[one], constant).astype(constant.dtype))
        )

    def multiply(self, one: str, other: str) -> None:
        """The product of two values is what the operation goes on with."""
        name = self.combine("mul", one, other)
        self.values.append(name)
        self.steps.append(_setter(name, lambda known: known[one] * known[other]))

    def write_constant(self) -> None:
        """The number 5."""
        name = self.program.fresh()
        self.lines.append(
            f"{name} = arith.constant {self.program.number(5)} : {self.program.element}"
        )
        self.values.append(name)
        five = np.array(5, ELEMENTS[self.program.element])
        self.steps.append(_setter(name, lambda _: five))

    def write_index(self, dim: int) -> None:
        """The number of a loop, or 3."""
        program = self.program
        place, word, number, three = (program.fresh() for _ in range(4))
        kind = program.element
        if program.is_float:
            cast = f"arith.sitofp {word} : i64 to {kind}"
        elif kind == "i64":
            cast = f"arith.addi {word}, {word} : i64"
        else:
            cast = f"arith.trunci {word} : i64 to {kind}"
        self.lines += [
            f"{place} = linalg.index {dim} : index",
            f"{word} = arith.index_cast {place} : index to i64",
            f"{number} = {cast}",
            f"{three} = arith.constant {program.number(3)} : {kind}",
        ]
        least = self.combine("min", number, three)
        self.values.append(least)

        def step(known: Environment, shape: tuple[int, ...]) -> None:
            at = np.arange(shape[dim]) * (2 if kind == "i64" else 1)
            along = [shape[dim] if k == dim else 1 for k in range(len(shape))]
            known[least] = np.minimum(at, 3).astype(ELEMENTS[kind]).reshape(along)

        self.steps.append(step)

    def run(self, known: Environment, shape: tuple[int, ...]) -> None:
        for step in self.steps:
            step(known, shape)


def _setter(
    name: str, value: Callable[[Environment], Array]
) -> Callable[[Environment, tuple[int, ...]], None]:
    return lambda known, shape: known.__setitem__(name, value(known))


def _aligned(tensor: Array, axes: Sequence[int], loops: Sequence[int]) -> Array:
    """A tensor along the loops, of one element where it does not vary."""
    order = sorted(range(len(axes)), key=lambda k: loops.index(axes[k]))
    shape = [tensor.shape[axes.index(axis)] if axis in axes else 1 for axis in loops]
    return tensor.transpose(order).reshape(shape)


def wrong_runs(text: str, runs: Sequence[tuple[dict[str, Array], list[Array]]]) -> Iterator[str]:
    """How a program ends wrong, with the level of the compiler."""
    for level in (0, 2, 3):
        sets = [feeds for feeds, _ in runs]
        outcome = engines.worker(answer, 120).ask((text, level, sets))
        if outcome.values is None:
            yield f"-O{level} {outcome.error}"
            continue
        for number, ((_, wanted), got) in enumerate(zip(runs, outcome.values, strict=True)):
            if isinstance(got, str):
                yield f"-O{level} run {number} ends with {got}"
                continue
            for k, (one, other) in enumerate(zip(got, wanted, strict=True)):
                if problem := difference(one, other):
                    yield f"-O{level} run {number}, output {k}: {problem}"


def problems(seed: int) -> Iterator[str]:
    """How the program of a seed ends wrong."""
    program = Program(seed)
    with np.errstate(all="ignore"):
        runs = list(program.runs())
    yield from wrong_runs(program.text, runs)


def run_seeds(
    argv: Sequence[str] | None,
    description: str | None,
    name: str,
    problems: Callable[[int], Iterator[str]],
    text: Callable[[int], str],
) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="programs A to B - 1")  # fmt: skip
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    failures = 0
    for seed in options.seeds:
        found = list(problems(seed))
        failures += bool(found)
        for problem in found:
            print(f"{seed}: {problem}", flush=True)
        if found and options.write:
            (options.write / f"{name}-{seed}.mlir").write_text(text(seed))
    print(f"{len(options.seeds)} programs, {failures} failures")
    return int(failures > 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    return run_seeds(argv, __doc__, "generics", problems, lambda seed: Program(seed).text)


if __name__ == "__main__":
    sys.exit(main())
