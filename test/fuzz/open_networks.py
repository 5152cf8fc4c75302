# ===- open_networks.py - Random networks of open extents -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Builds random networks of open extents and runs each with many inputs, beside NumPy.

    open_networks.py --seeds 0:1000
    open_networks.py --seeds 77:78 --print    prints the network as MLIR

Loops in loops and conditionals, recurrences that change their extents, lengths and counts that
are computed, slices in every mode, indices out of nowhere. Each network runs with extents of 0
to 5, equal and unequal, and, every second one, with its inputs' shapes known as well. A line is
printed for each failure; what is counted and no failure is said by random_networks.py. Exit
status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import random
import re
import sys
from collections.abc import Iterator, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import loopc
import numpy as np
from loopc import network as trt
from network_layers import Array, Trips, Value, loops_of
from network_programs import AND, LESS, TOO_MANY, RandomLoop, is_due
from open_layer_more import MoreKinds
from open_layers import EW, INTEGERS, TYPES, numbers
from random_errors import ExpectedError, MissingElementsError, TooLongError, UnclearError

GOOD = ("same", "same error", "eager error", "no trip", "too long", "unclear", "unread error")
EXTENTS = (0, 1, 1, 2, 3, 4, 5)


class OpenLoop(RandomLoop):
    """A loop over values of open extents."""

    layers: MoreKinds  # type: ignore[assignment]

    def forget(self) -> None:
        """Another set of inputs comes."""
        self.runs.clear()
        self.is_empty = False

    def collect_open(self, value: Value, length: Value, axis: int, reverse: bool) -> Value:
        kind = trt.LoopOutput.REVERSE if reverse else trt.LoopOutput.CONCATENATE
        layer = self.loop.add_loop_output(value.tensor, kind, axis)
        layer.set_input(1, length.tensor)

        def work(at: Trips) -> Array:
            trips, most = self.trips(at), int(length.at(at))
            if most < 0:
                # Whether the value has elements that anybody reads is not looked at.
                self.fail(MissingElementsError("the length -?\\d+ of"), value, at)
            if trips > most:
                self.fail(ExpectedError(TOO_MANY), value, at)
            rows = self.rows(value, at)
            if not rows:
                self.is_empty = True
                known = [e if isinstance(e, int) else 0 for e in value.shape]
                return np.zeros((*known[:axis], most, *known[axis:]), value.dtype)
            if any(row.shape != rows[0].shape for row in rows):
                raise ExpectedError("has shape .*, in the iterations before")
            zeros = np.zeros_like(rows[0])
            return np.stack([*rows[:: -1 if reverse else 1], *[zeros] * (most - trips)], axis)

        known = self.layers.renamed(value.shape)
        shape = (*known[:axis], self.layers.fresh(), *known[axis:])
        return self.layers.made(layer.get_output(0), self.around, shape, value.dtype, work)


class OpenNetwork(MoreKinds):
    """Of a seed: `net`, `sets()` of inputs and `expected()`, a value for each output."""

    def __init__(self, seed: int, static: dict[str, int] | None = None) -> None:
        super().__init__(seed, static)
        dice = self.dice
        self.seed, self.budget = seed, dice.randint(6, 30)
        self.loops: list[OpenLoop] = []
        self.outputs: list[Value] = []
        pool = []
        for _ in range(dice.randint(2, 5)):
            shape = dice.choice([(), ("a",), ("b",), (3,), ("a", "b"), ("a", "a"), (2, "b"),
                                 ("a", 3), ("c", "a", "b"), (1, "a"), ("a", "b", "c", 2), ("a", 2, "b", 3)])  # fmt: skip
            pool.append(self.input(shape, dice.choice(TYPES)))
        first = len(pool)
        while self.budget > 0:
            self.fill(pool, 0, 4)
        self.results = pool[first:] or [self.constant(np.float32(1))]
        collections = [v for v in self.results if "Output" in v.tensor.name and dice.random() < 0.7]
        others = dice.sample(self.results, min(len(self.results), dice.randint(1, 6)))
        for value in dict.fromkeys([*collections, *others]):
            same = self.net.add_identity(value.tensor).get_output(0)
            same.name = f"y{len(self.outputs)}"
            self.net.mark_output(same)
            self.outputs.append(value)

    def sets(self, count: int) -> Iterator[tuple[dict[str, int], dict[str, Array]]]:
        """Extents by name, and the inputs."""
        dice = random.Random(self.seed + 1)
        for _ in range(count):
            extents = {name: dice.choice(EXTENTS) for name in "abc"}
            if dice.random() < 0.3:
                extents["b"] = extents["a"]
            feeds = {}
            for name, (shape, dtype, least, most) in self.inputs.items():
                known = [extents[e] if isinstance(e, str) else e for e in shape]
                feeds[name] = numbers(dice, known, dtype, least, most)
            yield extents, feeds

    def expected(self, feeds: dict[str, Array]) -> list[Array]:
        for loop in self.loops:
            loop.forget()
        self.use(feeds)
        with np.errstate(all="ignore"):
            self.check()
            return [value.at({}) for value in self.outputs]

    def has_empty(self) -> bool:
        """True if some loop collects rows and has no trip, whether anybody reads them or not."""
        for value in self.results:
            try:
                with np.errstate(all="ignore"):
                    value.at({})
            except (ExpectedError, TooLongError, UnclearError, ValueError):
                continue
        return any(loop.is_empty for loop in self.loops)

    def fill(self, pool: list[Value], depth: int, steps: int) -> None:
        for _ in range(min(steps, self.budget)):
            self.budget -= 1
            chance = self.dice.random()
            if chance < 0.2 and depth < 3:
                self.make_loop(pool, depth)
            elif chance < 0.27 and depth < 3:
                self.make_conditional(pool, depth)
            elif made := self.layer(pool):
                pool.append(made)

    def make_loop(self, pool: list[Value], depth: int) -> None:
        dice = self.dice
        loop = OpenLoop(self, len(self.loops), list(pool))  # type: ignore[arg-type]
        self.loops.append(loop)
        kind = dice.choice(["count", "count", "count", "while", "both"])
        row = self.pick(pool, lambda v: v.shape != ()) if dice.random() < 0.7 else None
        axis = dice.randrange(len(row.shape)) if row else 0
        if kind != "while":
            loop.count = self.count_of(pool, row, axis)
            loop.loop.add_trip_limit(loop.count.tensor, trt.TripLimit.COUNT)
        if row:
            loop.iterate(row, axis, kind != "while" and dice.random() < 0.3)
            other = self.pick(pool, lambda v: row.shape[axis] in v.shape)
            if other and dice.random() < 0.4:
                again = other.shape.index(row.shape[axis])
                loop.iterate(other, again, kind != "while" and dice.random() < 0.3)
        if kind != "count":
            counter = loop.recur(self.constant(dice.randint(-1, 3), np.int32))
        for _ in range(dice.randint(0, 2)):
            loop.recur(self.begin(pool))
        self.values.extend(loop.entered)
        inner = [*pool, *loop.entered]
        self.fill(inner, depth + 1, dice.randint(1, 6))
        inside = inner[len(pool) :]
        for layer, carried in loop.recurrences:
            if kind != "count" and carried is counter:
                after = self.binary(counter, self.constant(1, np.int32), EW.SUM)
            else:
                after = self.next_of(carried, inside)
            loop.close(layer, carried, after)
        if kind != "count":
            loop.condition = self.condition_of(counter, inside)
            loop.loop.add_trip_limit(loop.condition.tensor, trt.TripLimit.WHILE)
        self.add_outputs(loop, inside or inner, pool)

    def begin(self, pool: Sequence[Value]) -> Value:
        """What a recurrence begins with; half of them have extents that may change."""
        made = self.pick(pool)
        if not made or self.dice.random() < 0.3:
            shape = self.dice.choice([(), (0,), (1,), (0, 2), (2, 2)])
            made = self.constant(self.numbers(shape, self.dice.choice([np.int32, np.float32])))
        if self.dice.random() < 0.5:
            open_shape = tuple(self.fresh() if self.dice.random() < 0.6 else e for e in made.shape)
            made = self.made(made.tensor, made.loops, open_shape, made.dtype, made.at)
        return made

    def next_of(self, carried: Value, inside: Sequence[Value]) -> Value:
        def fits(v: Value) -> bool:
            return (
                v.dtype == carried.dtype
                and len(v.shape) == len(carried.shape)
                and all(b == a or (isinstance(b, str) and b.startswith("?"))
                        for a, b in zip(v.shape, carried.shape, strict=True))
            )  # fmt: skip

        found = [v for v in inside if v is not carried and fits(v)]
        return self.clip(self.dice.choice(found) if found else carried)

    def count_of(self, pool: Sequence[Value], row: Value | None, axis: int) -> Value:
        if row and self.dice.random() < 0.8:
            extent = self.extent_of(row, axis)
            if self.dice.random() < 0.7:
                return extent
            return self.binary(extent, self.constant(self.dice.randint(0, 3), np.int64), EW.MIN)
        found = self.pick(pool, lambda v: v.shape == () and v.dtype in INTEGERS)
        if found and self.dice.random() < 0.5:
            return self.between(found, -1, 4)
        dtype = self.dice.choice(INTEGERS)
        if self.dice.random() < 0.5:
            return self.input((), dtype, -1, 4)
        return self.constant(self.dice.choice([0, 1, 2, 3, 3, 4, -2]), dtype)

    def condition_of(self, counter: Value, inside: Sequence[Value]) -> Value:
        limit = self.constant(self.dice.randint(-1, 5), np.int32)
        condition = self.binary(counter, limit, LESS)
        flag = self.pick(inside, lambda v: v.shape == () and not v.is_number)
        return self.binary(condition, flag, AND) if flag else condition

    def add_outputs(self, loop: OpenLoop, inside: list[Value], pool: list[Value]) -> None:
        dice = self.dice
        lasts = [carried for _, carried in loop.recurrences if dice.random() < 0.7]
        for carried in lasts:
            last = loop.last(carried)
            pool.append(self.made(last.tensor, last.loops, self.renamed(last.shape), last.dtype,
                                  last.at))  # fmt: skip
            self.values.append(last)
        for _ in range(dice.randint(0 if lasts else 1, 2)):
            value = self.pick(inside)
            if not value:
                continue
            if loop.count and dice.random() < 0.5:
                length = loop.count
                if length.tensor.name and dice.random() < 0.7:
                    zero = self.constant(0, length.dtype)
                    length = self.binary(length, zero, EW.MAX)
            elif dice.random() < 0.5:
                length = self.input((), dice.choice(INTEGERS), 3, 6)
            else:
                length = self.constant(dice.choice([6, 6, 4, 1]), dice.choice(INTEGERS))
            axis = dice.randint(0, len(value.shape))
            pool.append(loop.collect_open(value, length, axis, dice.random() < 0.4))

    def make_conditional(self, pool: list[Value], depth: int) -> None:
        flag = self.pick(pool, lambda v: not v.is_number and v.shape == ())
        flag = flag or self.input((), bool)
        conditional = self.net.add_if_conditional()
        conditional.set_condition(flag.tensor)
        loops = loops_of([flag, *pool])
        entered = []
        for value in self.dice.sample(pool, min(len(pool), self.dice.randint(1, 3))):
            tensor = conditional.add_input(value.tensor).get_output(0)
            entered.append(self.made(tensor, loops, value.shape, value.dtype, value.at))
        sides = []
        for _ in range(2):
            inner = [*pool, *entered]
            self.fill(inner, depth + 1, self.dice.randint(1, 4))
            sides.append(inner[len(pool) :])
        one = self.dice.choice(sides[0])
        fitting = [v for v in sides[1] if v.dtype == one.dtype and len(v.shape) == len(one.shape)]
        if not fitting:
            return
        other = self.dice.choice(fitting)
        layer = conditional.add_output(one.tensor, other.tensor)
        shape = tuple(
            a if a == b else self.fresh() for a, b in zip(one.shape, other.shape, strict=True)
        )

        def work(at: Trips) -> Array:
            return (one if flag.at(at) else other).at(at)

        pool.append(self.made(layer.get_output(0), loops, shape, one.dtype, work))


def difference(got: Array, want: Array) -> str:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if np.allclose(got, want, rtol=2e-3, atol=2e-3, equal_nan=True):
        return ""
    return f"{got.ravel()[:8]}, expected {want.ravel()[:8]}"


def expectation(made: OpenNetwork, feeds: dict[str, Array]) -> tuple[str, list[Array]]:
    """How a run ends, and with what where that is "same"."""
    try:
        return "same", made.expected(feeds)
    except TooLongError:
        return "too long", []
    except UnclearError:
        return "unclear", []
    except MissingElementsError:
        return "unread error", []
    except ExpectedError:
        return "same error", []
    except ValueError:
        # Extents that only a trip would tell do not fit.
        if made.has_empty():
            return "unclear", []
        raise


def run(session: loopc.InferenceSession, made: OpenNetwork, feeds: dict[str, Array]) -> str:
    """One of `GOOD`, else what is wrong."""
    wanted, expected = expectation(made, feeds)
    if wanted in ("too long", "unclear"):
        return wanted
    fails = wanted != "same"
    names = {port.name for port in session.get_inputs()}
    try:
        got = session.run(None, {k: v for k, v in feeds.items() if k in names})
    except loopc.RunError as error:
        if " of a buffer of " in str(error):
            return f"access: {error}"
        if fails:
            isgood = is_due(str(error), made.values, made.loops, made.followers)
            if not isgood and made.has_empty():
                return "no trip"
            return "same error" if isgood else f"another error: {error}"
        if made.has_empty():
            return "no trip"
        words = ("iteration", "length", "row", "the slice", "index", "divi", "extent", "elements")
        eager = any(word in str(error) for word in words)
        return "eager error" if eager else f"fails: {error}"
    if wanted == "unread error":
        return wanted
    if fails:
        return "no trip" if made.has_empty() else "does not fail"
    faults = [difference(np.asarray(one), other) for one, other in zip(got, expected, strict=True)]
    faults = [f"output {k}: {text}" for k, text in enumerate(faults) if text]
    if faults and made.has_empty():
        return "no trip"
    return "; ".join(faults) or "same"


def outcomes(seed: int, sets: int = 5) -> Iterator[str]:
    """One for each run of this network."""
    made = OpenNetwork(seed)
    # An error that is due must not hide accesses that are out of place.
    options = loopc.SessionOptions(opt_level=seed % 4, check_accesses=seed % 3 == 0)
    try:
        session = loopc.InferenceSession(made.net, options)
    except loopc.CompileError as error:
        ends = {expectation(made, feeds)[0] for _, feeds in made.sets(sets)}
        yield "same error" if not ends & {"same"} else f"refused: {error}"
        return
    for k, (extents, feeds) in enumerate(made.sets(sets)):
        found = run(session, made, feeds)
        yield found if found in GOOD else f"set {k}: {found}"
        if seed % 2 and k < 2:
            closed = OpenNetwork(seed, extents)
            try:
                fixed = loopc.InferenceSession(closed.net, options)
            except loopc.CompileError as error:
                eager = found in ("same error", "eager error", "no trip", "unclear", "unread error")
                yield "eager error" if eager else f"static {k}: refused: {error}"
                continue
            found = run(fixed, closed, feeds)
            yield found if found in GOOD else f"static {k}: {found}"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", required=True, metavar="A:B", help="networks A to B - 1")
    parser.add_argument("--print", action="store_true", help="print each network as MLIR")
    options = parser.parse_args(argv)
    match = re.fullmatch(r"(\d+):(\d+)", options.seeds)
    if not match:
        parser.error(f"'{options.seeds}' is not FIRST:END")
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(int(match[1]), int(match[2])):
        if options.print:
            print(OpenNetwork(seed).net.to_mlir())
        for found in outcomes(seed):
            isgood = found in GOOD
            counts[found if isgood else "failures"] += 1
            if not isgood:
                print(f"{seed}: {found}", flush=True)
    print(f"{counts.total()} runs: {', '.join(f'{n} {what}' for what, n in counts.items())}")
    return int(counts["failures"] > 0)


if __name__ == "__main__":
    sys.exit(main())
