# ===- independence.py - Proofs of independence, tried -------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Marks random loops on buffers as parallel, and runs those that nest-retract-unproved believes.

    independence.py --seeds 0:1000
    independence.py --seeds 77:78 --keep FOLDER    writes what fails, as independence-77.mlir

Each function is a loop with loops, branches and views in it, whose indices are sums, products,
quotients, remainders, choices, and integers of few bits. Some have a buffer that is said to be each
iteration's own. It is run here for several extents. No mark may be left on a loop of which two
iterations access one element and one of them writes it, or one reads what it has not written of
memory of its own. A line is printed for each that is; at the end, how many loops kept their mark.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import pathlib
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

from compiling import seed_range

TOOLS = pathlib.Path(__file__).parents[2] / "build/bin"

#: Values by their names: numbers, and views.
Env = dict[str, "int | View"]
Step = Callable[[Env, "Trace"], None]


class UndefinedError(Exception):
    """The function divides by zero, or leaves a buffer: nothing is proved of it."""


@dataclasses.dataclass(frozen=True)
class View:
    """Elements of a buffer, by their places in it."""

    buffer: str
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_whole: bool = False  #: no view of another one

    def place(self, indices: Sequence[int]) -> int:
        """Where an element lies in the buffer, which has no first and no last row."""
        bounded = list(zip(indices, self.sizes, strict=True))[self.is_whole :]
        if any(not 0 <= index < size for index, size in bounded):
            raise UndefinedError
        steps = zip(indices, self.strides, strict=True)
        return self.offset + sum(index * stride for index, stride in steps)


@dataclasses.dataclass
class Trace:
    """What each iteration of the outermost loop accesses."""

    iteration: int = 0
    steps: int = 0
    written: set[int] = dataclasses.field(default_factory=set)  #: of %p, by this iteration
    stale: str = ""  #: what an iteration reads of %p that it has not written
    reads: dict[tuple[str, int], set[int]] = dataclasses.field(default_factory=dict)
    writes: dict[tuple[str, int], set[int]] = dataclasses.field(default_factory=dict)

    def access(self, view: View, indices: Sequence[int], *, writes: bool) -> None:
        """Notes an access."""
        self.steps += 1
        if self.steps > 20000:
            raise UndefinedError
        place = (view.buffer, view.place(indices))
        if view.buffer == "%p":
            if writes:
                self.written.add(place[1])
            elif place[1] not in self.written:
                self.stale = f"iteration {self.iteration} reads element {place[1]} of its own"
        table = self.writes if writes else self.reads
        table.setdefault(place, set()).add(self.iteration)

    def begin(self, iteration: int) -> None:
        """Goes on with an iteration."""
        self.iteration, self.written = iteration, set()

    def conflict(self, *, is_private: bool) -> str:
        """Two iterations that are not independent; empty if all are.

        Args:
            is_private: each iteration has a %p of its own.
        """
        if is_private and self.stale and any(buffer == "%p" for buffer, _ in self.writes):
            return self.stale
        for place, writers in self.writes.items():
            if is_private and place[0] == "%p":
                continue
            others = writers | self.reads.get(place, set())
            if len(others) > 1:
                return f"iterations {sorted(others)[:2]} access element {place[1]} of {place[0]}"
        return ""


def _wrap(value: int, bits: int = 64) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _divided(op: str, x: int, y: int) -> int:
    if y == 0:
        raise UndefinedError
    if op.endswith("ui"):
        x, y = x % (1 << 64), y % (1 << 64)
    quotient = x // y if op.startswith("floor") or op.endswith("ui") else int(abs(x) // abs(y))
    if not op.startswith("floor") and not op.endswith("ui") and (x < 0) != (y < 0):
        quotient = -quotient
    return _wrap(x - quotient * y if op.startswith("rem") else quotient)


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "addi": lambda x, y: _wrap(x + y),
    "subi": lambda x, y: _wrap(x - y),
    "muli": lambda x, y: _wrap(x * y),
    "minsi": min,
    "maxsi": max,
    **{
        op: lambda x, y, op=op: _divided(op, x, y)  # type: ignore[misc]
        for op in ("divsi", "divui", "floordivsi", "remsi", "remui")
    },
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "slt": lambda x, y: x < y,
    "sge": lambda x, y: x >= y,
    "ult": lambda x, y: x % (1 << 64) < y % (1 << 64),
}


class _Generator:
    """Writes a function, and what it does."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.indent = 2
        self.numbers = ["%n", "%m"]
        self.views: dict[str, tuple[str, int]] = {
            "%x": ("memref<?xf32>", 1),
            "%y": ("memref<?x?xf32>", 2),
        }
        self.has_private = self.random.random() < 0.4
        if self.has_private:
            self.views["%p"] = ("memref<8xf32>", 1)
        self.steps: list[Step] = []

    def line(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def define(self, text: str, compute: Callable[[Env], int]) -> str:
        """A number, which is one of those to choose from."""
        name = self.name()
        self.line(f"{name} = {text}")

        def step(env: Env, _: Trace) -> None:
            env[name] = compute(env)

        self.steps.append(step)
        self.numbers.append(name)
        return name

    def constant(self, value: int) -> str:
        return self.define(f"arith.constant {value} : index", lambda _: value)

    def pick(self) -> str:
        """A number, most often one of the last, which vary the most."""
        if self.random.random() < 0.25:
            return self.constant(self.random.choice((0, 1, 1, 2, 3, 4, 5, 8)))
        if "%i" in self.numbers and self.random.random() < 0.3:
            return "%i"
        if self.random.random() < 0.6:
            return self.random.choice(self.numbers[-4:])
        return self.random.choice(self.numbers)

    def number(self) -> str:
        """A number that is computed."""
        kind = self.random.random()
        if kind < 0.25:
            return self.pick()
        x, y = self.pick(), self.pick()
        if kind < 0.75:
            op = self.random.choice(("addi", "addi", "addi", "subi", "muli", "muli", *ARITHMETIC))
            return self.define(
                f"arith.{op} {x}, {y} : index", lambda env: ARITHMETIC[op](env[x], env[y])
            )
        if kind < 0.83:
            return self.few_bits(x)
        if kind < 0.93:
            return self.affine(x, y)
        return self.choice(x, y)

    def place(self) -> str:
        """A number that is often one of 0 to 7."""
        if self.random.random() < 0.5:
            return self.constant(self.random.choice((0, 0, 1, 2, 7)))
        return self.pick()

    def few_bits(self, x: str) -> str:
        bits = self.random.choice((8, 16, 32))
        narrow = self.name()
        self.line(f"{narrow} = arith.index_cast {x} : index to i{bits}")
        op = self.random.choice(("index_cast", "index_castui"))

        def compute(env: Env) -> int:
            value = _wrap(env[x], bits)
            return value % (1 << bits) if op.endswith("ui") else value

        return self.define(f"arith.{op} {narrow} : i{bits} to index", compute)

    def affine(self, x: str, y: str) -> str:
        a, b, d = (self.random.choice((1, 2, 3, 4)) for _ in range(3))
        form, compute = self.random.choice(
            (
                (f"(d0 * {a} + d1 + {b})", lambda p, q: p * a + q + b),
                (f"(d0 floordiv {d} + d1)", lambda p, q: p // d + q),
                (f"(d0 mod {d} + d1)", lambda p, q: p % d + q),
                (f"((d0 floordiv {d}) * {d} + d1)", lambda p, q: p // d * d + q),
            )
        )
        text = f"affine.apply affine_map<(d0, d1) -> {form}>({x}, {y})"
        return self.define(text, lambda env: _wrap(compute(env[x], env[y])))

    def choice(self, x: str, y: str) -> str:
        condition, holds = self.comparison()
        text = f"arith.select {condition}, {x}, {y} : index"
        return self.define(text, lambda env: env[x] if holds(env) else env[y])

    def comparison(self) -> tuple[str, Callable[[Env], bool]]:
        x, y, op = self.pick(), self.pick(), self.random.choice(list(COMPARISONS))
        name = self.name()
        self.line(f"{name} = arith.cmpi {op}, {x}, {y} : index")
        return name, lambda env: COMPARISONS[op](env[x], env[y])

    def view(self) -> None:
        """A view of a buffer or of a view."""
        source, (kind, rank) = self.random.choice(list(self.views.items()))
        name = self.name()
        if rank == 1 and source == "%x" and self.random.random() < 0.4:
            size, stride = self.random.choice((1, 2, 3, 4)), self.random.choice((1, 1, 2, -1))
            at = self.number()
            made = f"memref<{size}xf32, strided<[{stride}], offset: ?>>"
            self.line(
                f"{name} = memref.reinterpret_cast {source} to offset: [{at}], sizes: [{size}], "
                f"strides: [{stride}] : {kind} to {made}"
            )

            def cast(env: Env, _: Trace) -> None:
                env[name] = View("%x", env[at], (size,), (stride,))

            self.steps.append(cast)
            self.views[name] = (made, 1)
            return
        at = [self.number() for _ in range(rank)]
        sizes = [self.random.choice((1, 2, 3, 4)) for _ in range(rank)]
        strides = [self.random.choice((1, 1, 1, 2)) for _ in range(rank)]
        result = ", ".join(["?"] * rank)
        shape = "x".join(map(str, sizes))
        made = f"memref<{shape}xf32, strided<[{result}], offset: ?>>"
        cast_from = self.name()
        # The source by strides that nobody knows, so that all views have one type.
        dims = re.match(r"memref<([\dx?]*)xf32", kind)
        assert dims
        general = f"memref<{dims[1]}xf32, strided<[{result}], offset: ?>>"
        self.line(f"{cast_from} = memref.cast {source} : {kind} to {general}")
        parts = "] [".join(", ".join(map(str, part)) for part in (at, sizes, strides))
        self.line(f"{name} = memref.subview {cast_from}[{parts}] : {general} to {made}")

        def cut(env: Env, _: Trace) -> None:
            whole = env[source]
            first = [env[number] for number in at]
            last = [f + (n - 1) * s for f, n, s in zip(first, sizes, strides, strict=True)]
            offset = whole.place(first)
            whole.place(last)
            steps = tuple(a * b for a, b in zip(strides, whole.strides, strict=True))
            env[name] = View(whole.buffer, offset, tuple(sizes), steps)

        self.steps.append(cut)
        self.views[name] = (made, rank)

    def access(self, *, writes: bool) -> None:
        view, (kind, rank) = self.random.choice(list(self.views.items()))
        indices = [self.place() if view == "%p" else self.number() for _ in range(rank)]
        at = f"{view}[{', '.join(indices)}] : {kind}"
        self.line(f"memref.store %f, {at}" if writes else f"{self.name()} = memref.load {at}")

        def step(env: Env, trace: Trace) -> None:
            trace.access(env[view], [env[index] for index in indices], writes=writes)

        self.steps.append(step)

    def within(self, write: Callable[[], None]) -> list[Step]:
        """What `write` adds, in a region: nobody else sees it."""
        kept = self.steps, list(self.numbers), dict(self.views)
        self.steps = []
        self.indent += 1
        write()
        self.indent -= 1
        body = self.steps
        self.steps, self.numbers, self.views = kept
        return body

    def body(self, depth: int) -> None:
        for _ in range(self.random.choice((1, 2, 3))):
            kind = self.random.random()
            if kind < 0.5 or depth == 0:
                self.access(writes=self.random.random() < 0.6)
            elif kind < 0.6:
                self.view()
            elif kind < 0.75:
                self.branch(depth)
            else:
                self.loop(depth)

    def branch(self, depth: int) -> None:
        condition, holds = self.comparison()
        self.line(f"scf.if {condition} {{")
        body = self.within(lambda: self.body(depth - 1))
        self.line("}")
        self.steps.append(lambda env, trace: _run(body, env, trace) if holds(env) else None)

    def loop(self, depth: int) -> None:
        """A loop, which may carry a number."""
        zero, one = self.constant(0), self.constant(self.random.choice((1, 1, 1, 2)))
        first = zero if self.random.random() < 0.7 else self.number()
        end, step = self.number(), one
        name, carried = self.name(), self.name()
        carries = self.random.random() < 0.3
        init, result = self.pick(), self.name()
        head = f"scf.for {name} = {first} to {end} step {step}"
        typed = f" iter_args({carried} = {init}) -> (index)" if carries else ""
        self.line(f"{result} = {head}{typed} {{" if carries else f"{head} {{")
        after = ""

        def write() -> None:
            nonlocal after
            self.numbers += [name, carried] if carries else [name]
            self.body(depth - 1)
            if carries:
                after = self.number()
                self.line(f"scf.yield {after} : index")

        body = self.within(write)
        self.line("}")

        def run(env: Env, trace: Trace) -> None:
            value = env[init]
            for number in range(env[first], env[end], env[step])[:200]:
                inner = {**env, name: number, carried: value}
                _run(body, inner, trace)
                value = inner[after] if carries else value
            if env[end] - env[first] > 200 * env[step]:
                raise UndefinedError
            env[result] = value

        self.steps.append(run)
        if carries:
            self.numbers.append(result)

    def function(self) -> str:
        if self.has_private:
            self.line("%p = memref.alloc() {loopc.private} : memref<8xf32>")
        self.line("%first = arith.constant 0 : index")
        self.line("%step = arith.constant 1 : index")
        self.line("scf.for %i = %first to %n step %step {")

        def write() -> None:
            self.numbers.append("%i")
            self.body(3)
            self.access(writes=True)

        self.steps = self.within(write)
        self.line("} {loopc.parallel}")
        arguments = "%x: memref<?xf32>, %y: memref<?x?xf32>, %n: index, %m: index, %f: f32"
        body = "\n".join(line[2:] for line in self.lines)
        return f"func.func @main({arguments}) {{\n{body}\n  return\n}}\n"


def _run(body: Sequence[Step], env: Env, trace: Trace) -> None:
    for step in body:
        step(env, trace)


#: Trips of the outermost loop, another number, columns.
RUNS = ((2, 1, 5), (3, 3, 17), (7, 2, 40), (300, 4, 3000), (600, 0, 5000))


def conflict(steps: Sequence[Step], *, is_private: bool = False) -> str:
    """Why iterations are not independent; empty where no run shows it."""
    for n, m, columns in RUNS:
        trace = Trace()
        env: Env = {
            "%n": n,
            "%m": m,
            "%x": View("%x", 0, (0,), (1,), is_whole=True),
            "%y": View("%y", 0, (0, columns), (columns, 1), is_whole=True),
            "%p": View("%p", 0, (8,), (1,)),
        }
        try:
            for iteration in range(n):
                trace.begin(iteration)
                _run(steps, {**env, "%i": iteration}, trace)
        except UndefinedError:
            continue
        if found := trace.conflict(is_private=is_private):
            return f"n = {n}, m = {m}: {found}"
    return ""


def outcomes(seeds: Sequence[int], tools: pathlib.Path = TOOLS) -> list[tuple[int, str, str, str]]:
    """For each seed its function, what is wrong with it, and what became of its mark."""
    made = []
    for seed in seeds:
        generator = _Generator(seed)
        made.append((seed, generator.function(), generator.steps))
    text = "\n// -----\n".join(function for _, function, _ in made)
    command = [tools / "loopc-opt", "-", "--split-input-file", "--nest-retract-unproved"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"loopc-opt ends with {done.returncode}: {done.stderr[:2000]}")
    parts = done.stdout.split("// -----")
    found = []
    for (seed, function, steps), part in zip(made, parts, strict=True):
        kept = "loopc.parallel" in part
        is_private = "loopc.private" in part
        problem = conflict(steps, is_private=is_private) if kept else ""
        mark = "kept, with memory of its own" if is_private else "kept"
        found.append((seed, function, problem, mark if kept else "retracted"))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=seed_range, default=range(1000), metavar="A:B")
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    counts: collections.Counter[str] = collections.Counter()
    failures = 0
    for first in range(0, len(options.seeds), 200):
        for seed, function, problem, mark in outcomes(
            options.seeds[first : first + 200], options.tools
        ):
            counts[mark] += 1
            if problem:
                failures += 1
                print(f"{seed}: {problem}", flush=True)
                if options.keep:
                    (options.keep / f"independence-{seed}.mlir").write_text(function)
    print(f"{len(options.seeds)} loops, {failures} failures: {dict(counts)}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
