# ===- random_checks.py - Whether a random model ran right --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compares outputs of random models with the reference's.

Not every difference is a fault. A model can be chaotic: where the reference's own
results move when every float of the model is rounded a little differently, they
say nothing. And what a loop that made no trip has collected has no elements, but
maybe extents that nobody knows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import re
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference.ops import op_resize
from random_models import RandomModel
from random_operators import Array

#: How far results may be off, relative and absolute, by element type.
TOLERANCE = {"bfloat16": 5e-2, "float16": 2e-2, "float32": 2e-3, "float64": 2e-5}
#: What another rounding of each operation may amount to, by element type.
NOISE = {"bfloat16": 8e-3, "float16": 1e-3, "float32": 2e-6, "float64": 2e-9}
#: More trips than any of these models makes.
MOST_TRIPS = 2000

#: More nodes than any of these models runs, and a value of more elements than any has.
MOST_STEPS, MOST_ELEMENTS = 10_000, 1_000_000
TOO_LARGE = "the model is not worth its time"


class Verdict(enum.Enum):
    """How a model ended."""

    SAME = "same"
    # Both end in an error, of one kind, which the model asks for.
    ERROR = "error"
    # Both end in an error, but not for the same reason.
    OTHER_ERROR = "other error"
    # The reference says that the model is wrong, or ends with an error.
    REFUSED = "refused"
    # Only extents that nobody knows differ, of results without elements, and what they decide.
    EXTENTS = "extents"
    # Only what another rounding changes too differs.
    CHAOTIC = "chaotic"
    # Only what other engines compute as loopc does differs.
    DISPUTED = "disputed"
    WRONG = "wrong"
    FAILED = "failed"
    CRASHED = "crashed"

    @property
    def bad(self) -> bool:
        """Whether it is loopc's fault."""
        return self in (Verdict.WRONG, Verdict.FAILED, Verdict.CRASHED)


@dataclasses.dataclass(frozen=True)
class Finding:
    """How a model ended, and why; where it ended wrong, what came out and which outputs are."""

    verdict: Verdict
    reason: str = ""
    outputs: list[Any] | None = None
    places: tuple[int, ...] = ()


class NotForEngineError(Exception):
    """What was to bring the model to loopc cannot: this says nothing of loopc."""


Run = Callable[[RandomModel], Sequence[Any]]
#: The reference: takes a model, and maybe what extents are that nobody knows.
Expect = Callable[..., list[Any]]

#: What errors of the reference's say, and those of loopc, by the reason that both have.
REASONS = {
    "zero": r"division by zero",
    "rank": r"ranks? |same number of dimensions",
    "collected": r"shape \[.*in iteration|collected value .* has shape",
    "index": r"out of (data )?(range|bounds)|non-empty take|index \S+ is|not in the range|position",
    "shapes": r"broadcast|dimensions? .*match|shape|do not fit|mismatch|extents?|einsum|Einsum"
    r"|elements|lengths|incompatible|repeats|reshape|sizes?|squeeze|axis",
    "sequence": r"sequence|empty",
}


def check(model: RandomModel, engine: Run, expect: Expect | None = None) -> Finding:
    """Runs a model by an engine, which gives its outputs or raises, and by the reference.

    Args:
        model: what to run.
        engine: runs it, or raises.
        expect: how the reference runs it; `expected` by default.
    """
    expect = expect or expected
    try:
        want = expect(model)
    except Exception as error:
        return Finding(Verdict.REFUSED, _line(error))
    try:
        got = list(engine(model))
    except NotForEngineError as error:
        return Finding(Verdict.REFUSED, _line(error))
    except Exception as error:
        verdict = Verdict.FAILED if _stands_with_other_extents(model, expect) else Verdict.EXTENTS
        return Finding(verdict, _line(error))
    if len(got) != len(want):
        return Finding(Verdict.WRONG, f"{len(got)} outputs, expected {len(want)}")
    problems = {k: text for k in range(len(want)) if (text := difference(got[k], want[k]))}
    if not problems:
        return Finding(Verdict.SAME)
    reason = "; ".join(f"output {k}: {text}" for k, text in problems.items())
    places = tuple(k for k in problems if not _knows_less(got[k], want[k]))
    if not set(places) - moved_by_extents(model, want, expect):
        return Finding(Verdict.EXTENTS, reason)
    if not set(places) - moved_by_rounding(model, want, places, expect):
        return Finding(Verdict.CHAOTIC, reason)
    return Finding(Verdict.WRONG, reason, got, places)


def check_strictly(model: RandomModel, engine: Run) -> Finding:
    """The same for a model that may end in an error: so it must then by both.

    An error of what nobody reads may be left out.
    """
    from loopc import reference

    try:
        want = run_reference(model)
    except reference.ModelError as error:
        return Finding(Verdict.REFUSED, _line(error))
    except reference.ReferenceError_ as error:
        says_nothing = (f"than {MOST_TRIPS} trips", TOO_LARGE, *FAULTS_OF_LIBRARY)
        if any(text in str(error) for text in says_nothing):
            return Finding(Verdict.REFUSED, _line(error))
        due = error
    else:

        def expect(other: RandomModel, unknown_extent: int = 0) -> list[Any]:
            again = other is not model or unknown_extent
            return run_reference(other, unknown_extent) if again else want

        return check(model, engine, expect)
    try:
        got = list(engine(model))
    except Exception as error:
        # What nobody reads is removed, with its error: any that the model has may be the first.
        errors = [str(due)]
        with contextlib.suppress(reference.ReferenceError_, ShapeOfLostError):
            run_without_errors(model, errors)
        same = reason_of(str(error)) in {reason_of(text) for text in errors}
        verdict = Verdict.ERROR if same else Verdict.OTHER_ERROR
        return Finding(verdict, f"{_line(error)}, expected {_line(due)}")
    try:
        want = run_without_errors(model)
    except (reference.ReferenceError_, ShapeOfLostError) as error:
        return Finding(Verdict.REFUSED, _line(error))
    if any(value is LOST for value in want):
        places = tuple(range(len(got)))
        verdict = Verdict.EXTENTS if _lost_by_extents(model, want) else Verdict.WRONG
        return Finding(verdict, f"no error, expected {_line(due)}", got, places)

    def expect_lost(other: RandomModel, unknown_extent: int = 0) -> list[Any]:
        if other is model and not unknown_extent:
            return want
        try:
            return run_without_errors(other, unknown_extent=unknown_extent)
        except ShapeOfLostError as error:
            raise reference.ReferenceError_(str(error)) from error

    finding = check(model, lambda _: got, expect_lost)
    return Finding(finding.verdict, f"{finding.reason} without {_line(due)}")


_place_in_input_of_library = op_resize._compute_x_ori

#: onnx's evaluator adds the operands of Mean in the place of the first one, and its
#: ConvTranspose does not take every group and padding.
FAULTS_OF_LIBRARY = ("non-broadcastable output operand", "ConvTranspose '': cannot reshape")


class ShapeOfLostError(BaseException):
    """Of a value that has failed only the extents are read, which others may know.

    No `Exception`: the reference makes errors of the model of those.
    """


class _Lost:
    """No value: who asks whether it is true fails; its rows, in any order, are none either."""

    ndim = 32

    def __getitem__(self, index: object) -> _Lost:
        return self

    def transpose(self, order: object) -> _Lost:
        return self

    def __bool__(self) -> bool:
        from loopc import reference

        raise reference.ReferenceError_("a condition depends on what has failed")


#: What a node gives that has failed, and every node that reads it.
LOST = _Lost()


def run_without_errors(
    model: RandomModel, errors: list[str] | None = None, unknown_extent: int = 0
) -> list[Any]:
    """What the reference computes where nobody reads what failed: `LOST` is what depends on it.

    What nobody reads is removed, with the errors that it would have given: these are added to
    `errors`.
    """
    from loopc import _reference_base as base
    from loopc import reference

    step, stack = reference._Evaluator._step, base.stack
    check_kind, check_same_kind = base.check_kind, base.check_same_kind
    flag, as_argument = base.flag, reference._as_argument

    def careless(node: Any, results: Any, attributes: Any) -> Sequence[Any]:
        control = node.op_type in ("Loop", "Scan", "If")
        if node.op_type in ("Shape", "Size") and results[node.input[0]] is LOST:
            raise ShapeOfLostError(f"{node.op_type} of what has failed")
        if not control and any(results[name] is LOST for name in node.input):
            return [LOST] * len(node.output)
        try:
            return step(node, results, attributes)
        except reference.ReferenceError_ as error:
            if errors is not None:
                errors.append(str(error))
            return [LOST] * len(node.output)

    def stacked(values: list[Any], what: str, axis: int = 0) -> Any:
        if any(value is LOST for value in values):
            return LOST
        try:
            return stack(values, what, axis)
        except reference.ReferenceError_ as error:
            if errors is not None:
                errors.append(str(error))
            return LOST

    def truth(value: Any, what: str) -> Any:
        return value if value is LOST else flag(value, what)

    def argument(declared: Any, given: Any, value: Any, dtype: Any) -> Any:
        return value if value is LOST else as_argument(declared, given, value, dtype)

    def kind(declared: Any, value: Any, what: str) -> None:
        if value is not LOST:
            check_kind(declared, value, what)

    def same_kind(before: Any, after: Any, what: str) -> None:
        if before is not LOST and after is not LOST:
            check_same_kind(before, after, what)

    with (
        unittest.mock.patch.multiple(
            reference,
            stack=stacked,
            check_kind=kind,
            check_same_kind=same_kind,
            flag=truth,
            _as_argument=argument,
        ),
        unittest.mock.patch.object(reference._Evaluator, "_step", staticmethod(careless)),
    ):
        return run_reference(model, unknown_extent)


def reason_of(message: str) -> str:
    """Why a run ended, of `REASONS`."""
    return next((k for k, text in REASONS.items() if re.search(text, message)), message)


def _place_in_input(mode: str, y: Any, scale: Any, width: int, *more: Any) -> Any:
    """Where the elements `y` of an axis that Resize makes are in its input, and which are outside.

    "if coordinate_transformation_mode is "pytorch_half_pixel", x_original = length_resized > 1 ?
    (x_resized + 0.5) / scale - 0.5 : 0", says the operator of the one element of an axis. onnx's
    evaluator has -0.5 in the place of 0.
    """
    if mode == "pytorch_half_pixel" and len(y) == 1:
        return np.zeros(1), None
    return _place_in_input_of_library(mode, y, scale, width, *more)


def run_reference(model: RandomModel, unknown_extent: int = 0) -> list[Any]:
    """What the reference computes of a model that may declare no ranks, which ONNX's checker wants."""
    from loopc import reference

    step = reference._Evaluator._step
    steps = 0

    def measured(node: Any, results: Any, attributes: Any) -> Sequence[Any]:
        nonlocal steps
        made = step(node, results, attributes)
        steps += 1
        if steps > MOST_STEPS or any(getattr(value, "size", 0) > MOST_ELEMENTS for value in made):
            raise reference.ReferenceError_(TOO_LARGE)
        return made

    with (
        unittest.mock.patch.object(reference._Evaluator, "_step", staticmethod(measured)),
        unittest.mock.patch.object(op_resize, "_compute_x_ori", _place_in_input),
    ):
        return reference.run(
            model.proto,
            model.feeds,
            ort_compat=model.ort_compat,
            max_trips=MOST_TRIPS,
            unknown_extent=unknown_extent,
        )


def compare_with_peer(finding: Finding, theirs: Sequence[Any] | None) -> Finding:
    """A wrong result is disputed where another engine has computed the same."""
    got = finding.outputs
    if got is None or theirs is None or len(theirs) != len(got):
        return finding
    if any(difference(got[k], theirs[k]) for k in finding.places):
        return finding
    return Finding(Verdict.DISPUTED, finding.reason)


def expected(model: RandomModel, unknown_extent: int = 0) -> list[Any]:
    """What the reference computes; its errors go on."""
    onnx.checker.check_model(model.proto)
    return run_reference(model, unknown_extent)


def difference(got: Any, want: Any) -> str:
    """How two tensors differ in type, shape or values; empty where they do not."""
    one, other = np.asarray(got), np.asarray(want)
    if one.dtype.kind in "OU" and other.dtype.kind in "OU":  # NumPy has several types of texts.
        one, other = one.astype(object), other.astype(object)
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype}{list(one.shape)}, expected {other.dtype}{list(other.shape)}"
    tolerance = TOLERANCE.get(str(one.dtype))
    if tolerance is None:
        count = int((one != other).sum())
        return f"{count} of {one.size} elements differ" if count else ""
    with np.errstate(all="ignore"):
        close = np.isclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)
        if close.all():
            return ""
        off = np.abs(one.astype(np.float64) - other.astype(np.float64))[~close].max()
    return f"{int((~close).sum())} of {one.size} elements differ, by up to {off:.3g}"


def _knows_less(got: Any, want: Any) -> bool:
    """Whether two results without elements differ in extents that are 0 where nothing tells them."""
    one, other = np.asarray(got), np.asarray(want)
    if one.size or other.size or one.ndim != other.ndim:
        return False
    text = one.dtype.kind in "OU" and other.dtype.kind in "OU"
    return (text or one.dtype == other.dtype) and all(
        a in (0, b) for a, b in zip(one.shape, other.shape, strict=True)
    )


def _stands_with_other_extents(model: RandomModel, expect: Expect) -> bool:
    """Whether the reference runs the model too where extents that nobody knows are others."""
    try:
        expect(model, unknown_extent=2)
    except Exception:
        return False
    return True


def _lost_by_extents(model: RandomModel, want: Sequence[Any]) -> bool:
    """Whether other outputs are lost, or by other errors, where extents that nobody knows are others.

    It may be, too, where nobody knows how many extents there are. The first error of the model says
    nothing of that: it may be that of a value that nobody reads.
    """
    from loopc import _reference_base, reference

    empty, has_unknown_rank = reference._empty, False

    def noted(node: Any, index: int, axis: int = 0) -> Array:
        nonlocal has_unknown_rank
        made: Array = empty(node, index, axis)
        _, dims = reference._options.get().collected[reference.key_of(node)][index]
        has_unknown_rank |= dims is None
        return made

    errors: list[str] = []
    others: list[str] = []
    with unittest.mock.patch.object(reference, "_empty", noted):
        try:
            run_without_errors(model, errors)
            other = run_without_errors(model, others, unknown_extent=2)
        except (_reference_base.ReferenceError_, ShapeOfLostError):
            return True
    lost = [value is LOST for value in want]
    return has_unknown_rank or errors != others or lost != [value is LOST for value in other]


def moved_by_extents(model: RandomModel, want: Sequence[Any], expect: Expect) -> set[int]:
    """The outputs that depend on extents, of results without elements, that nobody knows."""
    try:
        other = expect(model, unknown_extent=2)
    except Exception:  # Two shapes that do not fit any more.
        return set(range(len(want)))
    return {k for k in range(len(want)) if difference(other[k], want[k])}


def moved_by_rounding(
    model: RandomModel, want: Sequence[Any], places: Sequence[int], expect: Expect
) -> set[int]:
    """Those of some outputs that the reference gives otherwise when all floats are a little off."""
    still = set(places)
    for seed in range(10):
        try:
            with noise(seed):
                other = expect(dataclasses.replace(model))
        except Exception:  # An index out of range, an endless loop: as chaotic as can be.
            return set(places)
        still -= {k for k in still if difference(other[k], want[k])}
        if not still:
            break
    return set(places) - still


@contextlib.contextmanager
def noise(seed: int) -> Iterator[None]:
    """In here the reference multiplies each element of the floats that a node makes by almost 1.

    Each by another number: all by the same would keep the order of elements, and what is equal.
    """
    from loopc import reference

    step, draw = reference._Evaluator._step, np.random.default_rng(seed)

    def noised(node: Any, results: Any, attributes: Any) -> Sequence[Any]:
        made = step(node, results, attributes)
        if node.op_type == "Constant":
            return made
        return [_noised(value, draw) for value in made]

    with unittest.mock.patch.object(reference._Evaluator, "_step", staticmethod(noised)):
        yield


def _noised(value: Any, draw: np.random.Generator) -> Any:
    most = NOISE.get(str(value.dtype)) if isinstance(value, np.ndarray) else None
    if most is None:
        return value
    with np.errstate(all="ignore"):
        factor = (1 + most * draw.uniform(-1, 1, value.shape)).astype(value.dtype)
        return np.asarray(value * factor)


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and all those within its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs(attribute.g)


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(lines)[:300]}"
