# ===- random_ir_programs.py - Random programs of OpenVINO IR --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops, TensorIterators and Ifs within each other, of any extents, and what they compute.

`IrProgram(seed)` has a model that OpenVINO's own API builds, sets of inputs of several extents,
and NumPy's idea of how a run ends by section 6 of docs/Spec.md. Trip counts are constants, inputs,
computed, negative or none; conditions are false at once, or end the loop; parts are cut and put
together forwards and backwards, from and to anywhere; states are of any element type, change
places and their extents; a value goes into several ports, and a result to several outputs.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import openvino.opset16 as op
from openvino import Model, PartialShape
from openvino.op.util import Variable, VariableInfo
from openvino_models import Slice, const, i64, loop, model, param
from random_corners import Draw
from random_errors import (
    ExpectedError,
    MissingElementsError,
    NoValueError,
    TooLongError,
    UnclearError,
)
from random_ir_steps import (
    INDICES,
    OUT_OF_RANGE,
    TYPES,
    Array,
    Extent,
    Frame,
    Shape,
    Steps,
    Value,
    numbers,
)

MOST_TRIPS = 40
#: What loopc says of slices.
NO_SLICE = (
    r"\d+ iterations over the slices of a value with extent \d+"
    r"|slice \d+ of a value with extent \d+"
)
UNEQUAL = r"the inputs are cut into \d+ and \d+ slices"
NO_PARTS = r"not cut into parts of \d+"
OTHER_ROWS = r"has shape .*, in the iterations before"
REASONS = {NO_SLICE, UNEQUAL, NO_PARTS, OTHER_ROWS, OUT_OF_RANGE}
EXTENTS = (0, 1, 2, 3, 3, 5)
SHAPES: tuple[Shape, ...] = (
    *((), ("a",), ("b",), (3,), ("a", "b"), ("a", "a"), (2, "b"), (1,), ("a", 2), ("2a",)),
    *(("c", "a", "b"), (1, "a"), ("a|1", "b"), ("b", "a|1"), (4, "2a"), ("2a", "b", 1), (2, 2)),
)


@dataclasses.dataclass
class _Out:
    """An output of a loop: the number of a Result, and how its values are put together."""

    result: int
    how: Slice | None = None


class _Body:
    """Loops and branches of a graph. All of them may happen, whether anybody reads what they give."""

    def __init__(self) -> None:
        self.inner: list[_Loop | _Branch] = []

    def errors(self, frame: Frame) -> set[str]:
        """What a run may say that runs all of them, and all of each."""
        return set().union(*(one.errors(frame) for one in self.inner))


def _errors_of(values: Sequence[Value], frame: Frame) -> set[str]:
    """The errors of these values."""
    found: set[str] = set()
    for value in values:
        try:
            value.at(frame)
        except ExpectedError as error:
            found.add(error.reason)
        except (UnclearError, TooLongError, ValueError):
            # What comes of these values may be anything.
            found |= REASONS
    return found


class _Branch:
    """An If whose branches have loops."""

    def __init__(self, flag: Value, ports: list[dict[Value, Value]], sides: list[_Body]) -> None:
        self.flag, self.ports, self.sides = flag, ports, sides

    def frame(self, frame: Frame) -> tuple[int, Frame]:
        """The branch that is taken, and what it is given."""

        def make() -> tuple[int, Frame]:
            taken = 0 if self.flag.at(frame).item() else 1
            given = {p: partial(v.at, frame) for v, p in self.ports[taken].items()}
            return taken, Frame(given, frame.empty)

        found: tuple[int, Frame] = frame.once(self, make)
        return found

    def errors(self, frame: Frame) -> set[str]:
        """What a run may say that runs all of it."""
        if found := _errors_of([self.flag], frame):
            return found
        taken, inside = self.frame(frame)
        return _errors_of(list(self.ports[taken]), frame) | self.sides[taken].errors(inside)


class _Loop:
    """A Loop or TensorIterator: what goes in, its body, and what NumPy makes of it.

    Only what somebody reads is computed: the conditions of each iteration, and what they and the
    outputs ask for. A slice that is missing is an error where it is read.
    """

    def __init__(self, is_hidden: bool) -> None:
        self.body = _Body()
        #: Whether an input has extents that are known here and not declared.
        self.is_hidden = is_hidden
        #: A Loop's trip count and first condition; a TensorIterator has none.
        self.trips: Value | None = None
        self.condition: Value | None = None
        self.counter: Value | None = None
        self.go: Value | None = None
        self.carried: list[tuple[Value, Value, int]] = []
        self.sliced: list[tuple[Value, Value, Slice]] = []
        self.fixed: list[tuple[Value, Value]] = []
        self.results: list[Value] = []

    def iterations(self, frame: Frame) -> list[Frame]:
        """All that there are."""
        found: list[Frame] = frame.once(self, lambda: self._iterations(frame))
        return found

    def errors(self, frame: Frame) -> set[str]:
        """What a run may say that runs all of it."""
        outer = [value for _, value, *_ in (*self.fixed, *self.sliced, *self.carried)]
        found = _errors_of(outer, frame)
        try:
            bodies = self.iterations(frame)
        except ExpectedError as error:
            return found | {error.reason}
        except (UnclearError, TooLongError, ValueError):
            return found | REASONS
        for body in bodies:
            found |= _errors_of([*body.given, *self.results], body) | self.body.errors(body)
        return found

    @staticmethod
    def _places(extent: int, how: Slice) -> list[list[int]]:
        """The places along an axis that each part has."""
        first, last = (how.start, how.end) if how.stride > 0 else (how.end, how.start)
        first, last = (k + extent if k < 0 else k for k in (first, last))
        places = list(range(max(first, 0), min(last + 1, extent)))
        if len(places) % how.part:
            raise ExpectedError(NO_PARTS)
        parts = [places[k : k + how.part] for k in range(0, len(places), how.part)]
        return parts[::-1] if how.stride < 0 else parts

    def _part(self, value: Value, how: Slice, frame: Frame, at: int) -> Array:
        whole = value.at(frame)
        places = self._places(whole.shape[how.axis], how)
        if at >= len(places):
            rest = whole.shape[: how.axis] + whole.shape[how.axis + 1 :]
            raise (MissingElementsError if 0 in rest else ExpectedError)(NO_SLICE)
        return np.take(whole, places[at], how.axis)

    def _limit(self, frame: Frame) -> tuple[int, bool]:
        """How many iterations there are at most, and whether there is one."""
        if self.trips and self.condition:
            limit, goes = int(self.trips.at(frame).item()), bool(self.condition.at(frame).item())
            return MOST_TRIPS + 1 if limit < 0 else limit, goes
        counts = [
            len(self._places(value.extents_at(frame)[how.axis], how))
            for _, value, how in self.sliced
        ]
        if len(set(counts)) > 1:
            raise ExpectedError(UNEQUAL)
        return counts[0] if counts else 1, True

    def _iterations(self, frame: Frame) -> list[Frame]:
        limit, goes = self._limit(frame)
        given = {inner: partial(outer.at, frame) for inner, outer in self.fixed}
        given.update({inner: partial(init.at, frame) for inner, init, _ in self.carried})
        found: list[Frame] = []
        while goes and len(found) < limit:
            at = len(found)
            if at == MOST_TRIPS:
                raise TooLongError
            parts = {p: partial(self._part, v, how, frame, at) for p, v, how in self.sliced}
            body = Frame({**given, **parts}, frame.empty)
            if self.counter:
                number = np.full(self.counter.shape, at, self.counter.dtype)
                body.given[self.counter] = partial(np.copy, number)
            for *_, result in self.carried:
                # Now, as the last iteration's would ask for those of all before it.
                with contextlib.suppress(NoValueError, ValueError):
                    self.results[result].at(body)
            given.update({p: partial(self.results[k].at, body) for p, _, k in self.carried})
            goes = bool(self.go.at(body).item()) if self.go else True
            found.append(body)
        return found

    def last(self, frame: Frame, out: int) -> Array:
        inits = [init for _, init, k in self.carried if k == out]
        try:
            bodies = self.iterations(frame)
        except ExpectedError as error:
            if any(self._stays(p, init, k) for p, init, k in self.carried if k == out):
                # Nobody asks how often it is carried.
                raise MissingElementsError(error.reason) from error
            raise
        if bodies:
            return self.results[out].at(bodies[-1])
        if len(inits) > 1:
            raise UnclearError
        if inits:
            return inits[0].at(frame)
        value = self.results[out]
        if value.shape and (self.is_hidden or any(isinstance(e, str) for e in value.shape)):
            raise UnclearError
        return np.full(value.shape, "" if value.dtype.kind == "U" else 0, value.dtype)

    def _stays(self, state: Value, init: Value, result: int) -> bool:
        """Whether a state is its init in every iteration."""
        value = self.results[result]
        return value is state or any(value is p and outer is init for p, outer in self.fixed)

    def collected(self, frame: Frame, out: _Out, axis: int) -> Array:
        assert out.how
        parts = [self.results[out.result].at(body) for body in self.iterations(frame)]
        if not parts:
            value = self.results[out.result]
            rest = [0 if k == axis else e for k, e in enumerate(value.shape)]
            if any(isinstance(e, str) for e in rest) or (self.is_hidden and any(rest)):
                raise UnclearError
            return np.zeros(rest, object if value.dtype.kind == "U" else value.dtype)  # type: ignore[arg-type]
        sides = {one.shape[:axis] + one.shape[axis + 1 :] for one in parts}
        if len(sides) > 1:
            raise ExpectedError(OTHER_ROWS)
        return np.concatenate(parts[::-1] if out.how.stride < 0 else parts, axis)


@dataclasses.dataclass
class Ending:
    """How a run ends.

    `verdict` is "same", and there are values; "same error", which must come; "unread error", which
    may, as nobody reads an element of what fails; "unclear", "too long". `errors` are what a run
    may say of loops that nobody reads, and of all that fails.
    """

    verdict: str
    values: list[Array]
    errors: set[str]


def _verdict(faults: Sequence[NoValueError]) -> str:
    """Of what an output or a variable that is assigned needs: an error that is due comes."""
    if any(isinstance(one, TooLongError) for one in faults):
        return "too long"
    if any(
        isinstance(o, ExpectedError) and not isinstance(o, MissingElementsError) for o in faults
    ):
        return "same error"
    if any(isinstance(one, UnclearError) for one in faults):
        return "unclear"
    return "unread error"


class IrProgram(Steps):
    """Of a seed: `model`, `sets()` of inputs, `ending()`, and `kinds` of what it has.

    With `static` extents: the same program, whose inputs are declared with them.
    """

    def __init__(self, seed: int, static: dict[str, int] | None = None) -> None:
        super().__init__(seed)
        self.seed, self.static = seed, static
        self.budget = self.draw.randint(5, 26)
        self.inputs: list[tuple[Value, tuple[int, int]]] = []
        self.is_hidden = False
        self.body = _Body()
        self.kinds: set[str] = set()
        pool = [self.input(self.draw.choice(SHAPES), self.draw.choice(TYPES))
                for _ in range(self.draw.randint(1, 4))]  # fmt: skip
        first = len(pool)
        self.variables: list[tuple[Any, Value, Value | None]] = []
        self.states: dict[Value, Array] = {}
        if self.draw.random() < 0.2:
            self.read_variable(pool)
        self.fill(pool, 0, self.budget)
        sinks = self.assign_variables(pool)
        made = pool[first:] or pool
        loops = [v for v in made if "." in v.node.get_node().get_friendly_name()]
        self.outputs = list(dict.fromkeys([
            *(v for v in loops if self.draw.random() < 0.9),
            *(read for _, read, _ in self.variables),
            *self.draw.sample(made, min(len(made), self.draw.randint(1, 5))),
        ]))  # fmt: skip
        made_of: Model = model(
            [op.reshape(v.node, const(i64([-1])), False) if v.rank == 0 and v.dtype.kind == "U"
             else v.node for v in self.outputs],
            [v.node.get_node() for v, _ in self.inputs],
        )  # fmt: skip
        self.model = Model(made_of.get_results(), sinks, made_of.get_parameters(), "model")

    # ===- Inputs ---------------------------------------------------------------===#

    def input(self, shape: Shape, dtype: Any, least: int = -4, most: int = 4) -> Value:
        declared = []
        for extent in shape:
            hidden = self.draw.random() < 0.1
            if isinstance(extent, int):
                self.is_hidden |= hidden and not self.static
                declared.append(-1 if hidden and not self.static else extent)
            else:
                declared.append(-1 if not self.static else self.static[extent])
        node = param(declared, f"x{len(self.inputs)}", np.dtype(dtype).type)
        made = Value(node.output(0), shape, np.dtype(dtype))
        self.inputs.append((made, (least, most)))
        return made

    def sets(self, count: int) -> Iterator[tuple[dict[str, int], dict[str, Array]]]:
        """Extents by name, and the inputs."""
        draw = Draw(self.seed + 1)
        for _ in range(count):
            extents = {name: draw.choice(EXTENTS) for name in "abc"}
            if draw.random() < 0.3:
                extents["b"] = extents["a"]
            extents["2a"] = 2 * extents["a"]
            extents["a|1"] = draw.choice((1, extents["a"]))
            feeds = {}
            for k, (value, limits) in enumerate(self.inputs):
                known = [extents[e] if isinstance(e, str) else e for e in value.shape]
                feeds[f"x{k}"] = numbers(draw, known, value.dtype, *limits)
            yield extents, feeds

    def ending(self, feeds: dict[str, Array]) -> Ending:
        """What comes out of a run, or why nothing does; the next run's variables are others."""
        given = {value: partial(np.asarray, feeds[f"x{k}"])
                 for k, (value, _) in enumerate(self.inputs)}  # fmt: skip
        empty = {extent for k, (value, _) in enumerate(self.inputs)
                 for extent, n in zip(value.shape, feeds[f"x{k}"].shape, strict=True) if n == 0}  # fmt: skip
        frame = Frame(given, {0, *empty})
        assigned = {made: after for _, made, after in self.variables if after}
        with np.errstate(all="ignore"):
            errors = self.body.errors(frame)
            faults = []
            for value in (*self.outputs, *assigned.values()):
                try:
                    value.at(frame)
                except NoValueError as error:
                    faults.append(error)
            if faults:
                errors |= {one.reason for one in faults if isinstance(one, ExpectedError)}
                return Ending(_verdict(faults), [], errors)
            self.states.update({made: after.at(frame) for made, after in assigned.items()})
        values = [np.reshape(v.at(frame), -1) if v.rank == 0 and v.dtype.kind == "U"
                  else v.at(frame) for v in self.outputs]  # fmt: skip
        return Ending("same", values, errors)

    # ===- Variables --------------------------------------------------------------===#

    @staticmethod
    def layer_of(value: Value) -> Any:
        """The layer that has it as its only output: OpenVINO's builders of variables want that."""
        if value.node.get_index() or len(value.node.get_node().outputs()) > 1:
            return op.convert(value.node, value.node.get_element_type().get_type_name())
        return value.node.get_node()

    def read_variable(self, pool: list[Value]) -> None:
        """A variable of any extents, which begins with a value, and goes from run to run."""
        init = self.pick(pool, lambda v: v.is_number)
        if not init:
            return
        self.kinds.add("variable")
        shape = tuple(self.fresh() for _ in init.shape)
        kind = init.node.get_element_type()
        info = VariableInfo()
        info.data_shape, info.data_type = PartialShape([-1] * init.rank), kind
        info.variable_id = "state"
        variable = Variable(info)

        def work(frame: Frame) -> Array:
            return self.states[made] if made in self.states else init.at(frame)

        made = Value(
            op.read_value(self.layer_of(init), variable).output(0), shape, init.dtype, work
        )
        self.variables.append((variable, made, None))
        pool.append(made)

    def assign_variables(self, pool: list[Value]) -> list[Any]:
        """What the next run reads."""
        sinks = []
        for k, (variable, made, _) in enumerate(self.variables):
            after = self.pick(pool, lambda v: v.dtype == made.dtype and v.rank == made.rank)  # noqa: B023
            after = after or made
            sinks.append(op.assign(self.layer_of(after), variable))
            self.variables[k] = (variable, made, after)
        return sinks

    # ===- Control flow ----------------------------------------------------------===#

    def fill(self, pool: list[Value], depth: int, steps: int, iterated: bool = False) -> None:
        """Adds layers, loops and branches to the values of a graph.

        OpenVINO refuses a TensorIterator in a TensorIterator: `iterated`.
        """
        for _ in range(steps):
            if self.budget <= 0:
                return
            self.budget -= 1
            chance = self.draw.random()
            if chance < (0.3 if depth == 0 else 0.14) and depth < 3:
                self.make_loop(pool, depth, iterated)
            elif chance < (0.38 if depth == 0 else 0.22) and depth < 3:
                self.make_branch(pool, depth)
            elif made := self.step(pool):
                pool.append(made)

    def parameter(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A body's own, whose extents are written down or not."""
        declared = [e if isinstance(e, int) and self.draw.random() < 0.8 else -1 for e in shape]
        return Value(param(declared, kind=dtype.type).output(0), shape, dtype)

    def scalar(self, pool: Sequence[Value], depth: int, dtype: Any) -> Value:
        """A value of one element: one of the pool, an input, a constant."""
        found = self.pick(pool, lambda v: v.dtype == dtype and v.shape in ((), (1,), (1, 1)))
        if found and self.draw.random() < 0.6:
            return found
        if depth == 0:
            return self.input((), dtype)
        return self.constant(np.array(self.draw.randint(1, 4)), dtype)

    def trip_count(self, made: _Loop, pool: Sequence[Value], depth: int, ends: bool) -> Value:
        """How often at most; negative ones only where the body's condition ends the loop.

        Not never by a constant, whose outputs OpenVINO's inference gives shapes of their own.
        """
        dtype = np.dtype(self.draw.choice(INDICES))
        shape = (1,) if self.draw.random() < 0.3 else ()
        kind = self.draw.choice(("constant", "constant", "input", "pool", "endless"))
        if made.sliced and self.draw.random() < 0.7:
            self.kinds.add("trips of an extent")
            lengths = []
            for _, value, how in made.sliced:
                first, last = (how.start, how.end) if how.stride > 0 else (how.end, how.start)
                lengths.append(self.extent_of(value, how.axis))
                cut = max(first, 0) + -1 - min(last, -1)
                lengths[-1] = self.value(
                    op.subtract(lengths[-1].node, const(i64(cut))), lengths[-1:],
                    lambda n, cut=cut: n - cut, (), np.int64,
                )  # fmt: skip
            least = lengths[0]
            for other in lengths[1:]:
                least = self.value(op.minimum(least.node, other.node), [least, other], np.minimum,
                                   (), np.int64)  # fmt: skip
            return self.as_scalar(self.clamp(least, 0), shape)
        if kind == "endless" and ends:
            self.kinds.add("endless")
            return self.constant(np.full(shape, -1), dtype)
        if kind == "input" and depth == 0:
            self.kinds.add("trips of an input")
            return self.input(shape, dtype, -2 if ends else 0, 4)
        if kind == "pool":
            found = self.clamp(self.scalar(pool, depth, dtype), -1 if ends else 0, 4)
            return self.as_scalar(found, shape)
        return self.constant(np.full(shape, self.draw.choice((1, 2, 3, 3, 5))), dtype)

    def make_loop(self, pool: list[Value], depth: int, iterated: bool) -> None:
        """A Loop or a TensorIterator."""
        draw, made = self.draw, _Loop(self.is_hidden)
        is_loop = draw.random() < 0.6 or iterated
        self.kinds.add("Loop" if is_loop else "TensorIterator")
        ends = is_loop and draw.random() < 0.5
        self.add_slices(made, pool, is_loop)
        if is_loop:
            made.trips = self.trip_count(made, pool, depth, ends)
            made.condition = self.constant(np.full((1,) if draw.random() < 0.2 else (), True), bool)
            if draw.random() < 0.35:
                flag = self.scalar(pool, depth, np.dtype(bool))
                made.condition = self.as_scalar(flag, (1,) if draw.random() < 0.3 else ())
                self.kinds.add("condition at first")
            if ends or draw.random() < 0.5:
                shape = (1,) if draw.random() < 0.3 else ()
                made.counter = self.parameter(shape, np.dtype(draw.choice(INDICES)))
        self.add_states(made, pool)
        for value in draw.sample(pool, min(len(pool), draw.randint(0, 3))):
            made.fixed.append((self.parameter(value.shape, value.dtype), value))
        inner = [p for p, *_ in (*made.fixed, *made.sliced, *made.carried)]
        inner += [made.counter] if made.counter else []
        before = len(inner)
        if depth and not inner:
            return
        self.body.inner.append(made)
        outside, self.body = self.body, made.body
        self.fill(inner, depth + 1, draw.randint(1, 6), not is_loop)
        self.body = outside
        self.add_results(made, inner, before)
        if is_loop:
            made.go = self.condition_of(made, inner, ends)
            made.results.append(made.go)
        self.add_outputs(made, pool, is_loop)

    def add_slices(self, made: _Loop, pool: Sequence[Value], is_loop: bool) -> None:
        """Ports that are cut."""
        draw = self.draw
        first: tuple[Extent, Slice] | None = None
        for _ in range(draw.choice((0, 1, 1, 2)) if is_loop else draw.choice((0, 1, 1, 1, 2, 3))):
            value = self.pick(pool, lambda v: v.rank)
            if first and not is_loop:
                # Now and then another extent, which in some sets of inputs is as long.
                extent, is_other = first[0], draw.random() < 0.25
                value = self.pick(pool, lambda v: v.rank and (extent in v.shape) != is_other)  # noqa: B023
            if not value:
                return
            axis = draw.randrange(value.rank)
            if first and not is_loop and first[0] in value.shape:
                axis = value.shape.index(first[0])
                how = dataclasses.replace(first[1], axis=axis)
                if how.start == 0 and how.end == -1 and draw.random() < 0.4:
                    how = Slice(axis, -1, -how.part, how.part, 0)
            else:
                how = self.cut(value, axis, is_loop)
            first = first or (value.shape[axis], how)
            self.kinds.add("backwards" if how.stride < 0 else "forwards")
            shape = (*value.shape[:axis], how.part, *value.shape[axis + 1 :])
            made.sliced.append((self.parameter(shape, value.dtype), value, how))

    def cut(self, value: Value, axis: int, is_loop: bool) -> Slice:
        """How an axis is cut into parts that have no rest."""
        extent, draw = value.shape[axis], self.draw
        part = 2 if not is_loop and extent in (4, "2a", 2) and draw.random() < 0.6 else 1
        start, end = 0, -1
        if draw.random() < (0.15 if is_loop else 0.3):
            start, end = draw.choice(((part, -1), (0, -1 - part), (part, -1 - part), (0, -1)))
            if isinstance(extent, int) and extent >= 2 * part and draw.random() < 0.5:
                start, end = draw.choice(((-extent, -1), (0, extent - 1), (-2 * part, -1)))
            self.kinds.add("from anywhere")
        if draw.random() < 0.35:
            return Slice(axis, end, -part, part, start)
        return Slice(axis, start, part, part, end)

    def add_states(self, made: _Loop, pool: Sequence[Value]) -> None:
        for _ in range(self.draw.choice((0, 1, 1, 2, 3))):
            init = self.pick(pool)
            if not init or self.draw.random() < 0.3:
                extents = self.draw.choice(((), (1,), (2,), (0, 2), (1, 1)))
                # OpenVINO dies of some constants of texts.
                init = self.numbers(extents, self.draw.choice(TYPES[:-1]))
            shape = self.renamed(init.shape)
            if self.draw.random() < 0.4:
                shape = tuple(self.fresh() if self.draw.random() < 0.5 else e for e in shape)
            declared = [e if isinstance(e, int) else -1 for e in shape]
            inner = Value(param(declared, kind=init.dtype.type).output(0), shape, init.dtype)
            made.carried.append((inner, init, -1))

    def add_results(self, made: _Loop, inner: list[Value], before: int) -> None:
        """What the body yields: a next value for each state, and others."""

        def becomes(v: Value, state: Value) -> bool:
            return v.dtype == state.dtype and v.rank == state.rank and all(
                str(b)[0] == "?" or (b == a and "|" not in str(a))
                for a, b in zip(v.shape, state.shape, strict=True)
            )  # fmt: skip

        carried = []
        for state, init, _ in made.carried:
            others = [v for v in inner if v is not state and becomes(v, state)]
            later = [v for v in others if v in inner[before:]] or others
            value = (
                self.draw.choice(later if self.draw.random() < 0.8 else others) if others else state
            )
            if value in made.results and self.draw.random() < 0.7:
                at = made.results.index(value)
                self.kinds.add("one result, several states")
            else:
                at = len(made.results)
                made.results.append(value)
            if value in [p for p, *_ in made.carried] and value is not state:
                self.kinds.add("states change places")
            carried.append((state, init, at))
        made.carried = carried
        for _ in range(self.draw.randint(0 if carried else 1, 3)):
            made.results.append(
                self.pick(inner[before:]) or self.pick(inner) or self.numbers((1,), np.int32)
            )

    def condition_of(self, made: _Loop, inner: Sequence[Value], ends: bool) -> Value:
        """The body's condition."""
        draw = self.draw
        shape = (1,) if draw.random() < 0.25 else ()
        flag = self.pick(inner, lambda v: v.dtype == bool and v.shape in ((), (1,), (1, 1)))
        if not ends or not made.counter:
            if flag and draw.random() < 0.5:
                return self.as_scalar(flag, shape)
            return self.constant(np.full(shape, draw.random() < 0.9), bool)
        self.kinds.add("condition of the body")
        counter = self.as_scalar(made.counter)
        limit = np.array(draw.randint(-1, 4), counter.dtype)
        go = self.value(
            op.less(counter.node, const(limit)), [counter], lambda k: k < limit, (), bool
        )
        if flag and draw.random() < 0.5:
            other = self.as_scalar(flag)
            go = self.value(
                op.logical_and(go.node, other.node), [go, other], np.logical_and, (), bool
            )
        return self.as_scalar(go, shape)

    def add_outputs(self, made: _Loop, pool: list[Value], is_loop: bool) -> None:
        """Last values and concatenations."""
        draw = self.draw
        outs = []
        for k, value in enumerate(made.results):
            axes = [a for a, e in enumerate(value.shape) if isinstance(e, int) and (
                e == 1 if is_loop else e > 0)]  # fmt: skip
            sides = [a for a in axes if all(
                str(e)[0] != "?" for n, e in enumerate(value.shape) if n != a)] or (
                axes if draw.random() < 0.1 else [])  # fmt: skip
            if sides and draw.random() < 0.5:
                axis = draw.choice(sides)
                part = int(value.shape[axis])
                back = not is_loop and draw.random() < 0.4
                how = Slice(axis, -1, -part, part, 0) if back else Slice(axis, 0, part, part, -1)
                outs.append(_Out(k, how))
                self.kinds.add("concatenated backwards" if back else "concatenated")
            if draw.random() < 0.5:
                outs.append(_Out(k))
        outs = outs or [_Out(0)]
        draw.shuffle(outs)
        nodes = loop(
            made.trips.node if made.trips else None,
            made.condition.node if made.condition else None,
            results=[v.node for v in (made.results[:-1] if is_loop else made.results)],
            counter=made.counter.node.get_node() if made.counter else None,
            go=made.go.node if made.go else None,
            carried=[(p.node.get_node(), i.node, k) for p, i, k in made.carried],
            sliced=[(p.node.get_node(), v.node, how) for p, v, how in made.sliced],
            fixed=[(p.node.get_node(), v.node) for p, v in made.fixed],
            outs=[out.result if out.how is None else (out.result, out.how) for out in outs],
        )
        for node, out in zip(nodes, outs, strict=True):
            pool.append(self.output(made, node, out))

    def output(self, made: _Loop, node: Any, out: _Out) -> Value:
        value = made.results[out.result]
        if out.how is None:
            shape = list(self.renamed(value.shape))
            for _, init, result in made.carried:
                if result == out.result:
                    # After no iteration it is the first of these inits.
                    shape = [a if a == b and "|" not in str(a) else self.fresh()
                             for a, b in zip(shape, init.shape, strict=True)]  # fmt: skip
            return Value(
                node, tuple(shape), value.dtype, lambda frame: made.last(frame, out.result)
            )
        axis = out.how.axis
        shape = [*self.renamed(value.shape)]
        shape[axis] = self.fresh()
        return Value(
            node, tuple(shape), value.dtype, lambda frame: made.collected(frame, out, axis)
        )

    def make_branch(self, pool: list[Value], depth: int) -> None:
        """An If, each of whose branches gets some of the values."""
        self.kinds.add("If")
        draw = self.draw
        flag = self.as_scalar(self.scalar(pool, depth, np.dtype(bool)),
                              (1,) if draw.random() < 0.3 else ())  # fmt: skip
        node = op.if_op(flag.node)
        shared = draw.sample(pool, min(len(pool), draw.randint(1, 4)))
        ports: list[dict[Value, Value]] = [{}, {}]
        sides: list[list[Value]] = []
        bodies = [_Body(), _Body()]
        made = _Branch(flag, ports, bodies)
        self.body.inner.append(made)
        outside = self.body
        for side, self.body in zip(ports, bodies, strict=True):
            for value in shared:
                if draw.random() < 0.75 or value is shared[0]:
                    side[value] = self.parameter(value.shape, value.dtype)
            inner = [*side.values()]
            self.fill(inner, depth + 1, draw.randint(0, 4))
            sides.append(inner)
        self.body = outside
        pairs = []
        for _ in range(draw.randint(1, 3)):
            if not sides[0]:
                break
            one = draw.choice(sides[0])
            others = [v for v in sides[1] if v.dtype == one.dtype and v.rank == one.rank]
            if others:
                pairs.append((one, draw.choice(others)))
        if not pairs:
            return
        results = [[op.result(pair[k].node) for pair in pairs] for k in (0, 1)]
        inner_nodes = [[p.node.get_node() for p in side.values()] for side in ports]
        node.set_then_body(Model(results[0], inner_nodes[0], "then"))
        node.set_else_body(Model(results[1], inner_nodes[1], "else"))
        for value in shared:
            inner_ports = [side[value].node.get_node() if value in side else None for side in ports]
            if inner_ports == [None, None]:
                continue
            node.set_input(value.node, *inner_ports)
        for k, (one, other) in enumerate(pairs):
            shape = tuple(a if a == b and "|" not in str(a) else self.fresh()
                          for a, b in zip(self.renamed(one.shape), other.shape, strict=True))  # fmt: skip

            def work(frame: Frame, one: Value = one, other: Value = other) -> Array:
                taken, inside = made.frame(frame)
                return (one, other)[taken].at(inside)

            pool.append(
                Value(node.set_output(results[0][k], results[1][k]), shape, one.dtype, work)
            )
