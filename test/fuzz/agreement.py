# ===- agreement.py - Whether two ways through loopc agree ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs models in other processes and compares what two of them gave, bit by bit.

What rounds otherwise is compared with a tolerance; where that is not enough the reference says
whether the model is chaotic, or its error that of a value that nobody reads.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import engines
import numpy as np
import onnx
from random_checks import (
    Verdict,
    check_strictly,
    difference,
    graphs,
    moved_by_rounding,
    reason_of,
    run_reference,
)
from random_models import RandomModel

#: What a run gave: its outputs, or the text of its error.
Result = list[Any] | str


class Agreement(enum.Enum):
    """How two results compare."""

    SAME = "same"
    # Floats differ, and no more than roundings do.
    ROUNDED = "rounded"
    # Both are errors, for one reason.
    ERROR = "error"
    # Both are errors, and each is one that is due.
    OTHER_ERROR = "other error"
    # Floats differ by more, but another rounding makes the reference's differ as well.
    CHAOTIC = "chaotic"
    # One is an error of a value that nobody reads, which may be left out.
    UNREAD = "unread error"
    # The reference has no answer, or extents that nobody knows decide.
    UNKNOWN = "unknown"
    DIFFERENT = "different"
    CRASHED = "crashed"

    @property
    def bad(self) -> bool:
        """Whether it is loopc's fault."""
        return self in (Agreement.DIFFERENT, Agreement.CRASHED)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How two results compare, and in what they differ."""

    agreement: Agreement
    reason: str = ""


def results(
    content: bytes, sets: Sequence[dict[str, Any]], options: dict[str, Any], limit: float = 60.0
) -> list[Result] | str:
    """What a model gives for each set of inputs; text where its process died or hung.

    Args:
        content: the model.
        sets: the inputs of each run.
        options: loopc.SessionOptions of the same names.
        limit: seconds for all of it.
    """
    outcome = engines.worker(_results, limit).ask((content, list(sets), options))
    return str(outcome.error) if outcome.values is None else list(outcome.values)


def _results(
    content: bytes, sets: Sequence[dict[str, Any]], options: dict[str, Any]
) -> engines.Outcome:
    import loopc

    try:
        session = loopc.InferenceSession(content, loopc.SessionOptions(**options))
    except loopc.Error as error:
        return engines.Outcome(values=[str(error)] * len(sets))
    found: list[Result] = []
    for feeds in sets:
        try:
            found.append(list(session.run(None, feeds)))
        except loopc.Error as error:
            found.append(str(error))
    return engines.Outcome(values=found)


def with_types(proto: onnx.ModelProto, seed: int = 0) -> RandomModel:
    """A model with the element types that it tells, without inputs."""
    try:
        inferred = onnx.shape_inference.infer_shapes(proto)
    except Exception:  # Inference is the library's, and not asked for all that it knows.
        inferred = proto
    types = {
        value.name: value.type.tensor_type.elem_type
        for graph in graphs(inferred.graph)
        for value in (*graph.value_info, *graph.output)
        if value.type.HasField("tensor_type")
    }
    return RandomModel(seed, proto, {}, types)


def same_bits(one: Any, other: Any) -> bool:
    """Whether two values are of one kind, type and shape, and have the same bits.

    Any two NaN are the same: nothing says which one comes out.
    """
    if one is None or other is None:
        return one is other
    if isinstance(one, list) or isinstance(other, list):
        return (
            isinstance(one, list)
            and isinstance(other, list)
            and len(one) == len(other)
            and all(map(same_bits, one, other))
        )
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind in "OUS":
        return bool(one.tolist() == other.tolist())
    if one.tobytes() == other.tobytes():
        return True
    if one.dtype.kind not in "fcV":
        return False
    width = one.dtype.itemsize
    differs = (one.reshape(-1).view(f"V{width}") != other.reshape(-1).view(f"V{width}")).nonzero()
    with np.errstate(all="ignore"):
        left, right = (np.asarray(v.reshape(-1)[differs], np.complex128) for v in (one, other))
    return bool((np.isnan(left) & np.isnan(right)).all())


def far(one: Any, other: Any) -> str:
    """How two values differ by more than a rounding does; empty where they do not."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return "; ".join(text for pair in zip(one, other, strict=True) if (text := far(*pair)))
    if isinstance(one, list) or isinstance(other, list) or one is None or other is None:
        return "" if same_bits(one, other) else "of another kind, or another length"
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind == "V" and one.dtype == other.dtype:  # NumPy compares no ml_dtypes.
        one, other = one.astype(np.float32), other.astype(np.float32)
        return difference(one.astype(np.float16), other.astype(np.float16))
    return difference(one, other)


def compare(model: RandomModel, got: Result, want: Result, *, exact: bool) -> Comparison:
    """How `got` compares with `want`, which another way through loopc gave.

    Args:
        model: with the inputs of this run.
        got: what came out.
        want: what came out of the other.
        exact: floats must have the same bits.
    """
    if isinstance(got, str) or isinstance(want, str):
        return _compare_errors(model, got, want)
    if len(got) != len(want):
        return Comparison(Agreement.DIFFERENT, f"{len(got)} outputs, expected {len(want)}")
    other = [k for k in range(len(want)) if not same_bits(got[k], want[k])]
    if not other:
        return Comparison(Agreement.SAME)
    wide = {k: text for k in other if (text := far(got[k], want[k]))}
    if all(_empty(got[k]) and _empty(want[k]) for k in other):
        return Comparison(Agreement.UNKNOWN, _listed(wide))
    if exact:
        shown = {k: wide.get(k) or _nearest(got[k], want[k]) for k in other}
        return Comparison(Agreement.DIFFERENT, _listed(shown))
    if not wide:
        return Comparison(Agreement.ROUNDED)
    return _explain(model, got, want, wide)


def _empty(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size == 0


def _nearest(got: Any, want: Any) -> str:
    one, other = np.asarray(got).ravel(), np.asarray(want).ravel()
    if one.dtype.kind not in "fc":
        return "differs in its bits"
    at = next(k for k in range(one.size) if not same_bits(one[k], other[k]))
    return f"differs in its bits: element {at} is {one[at]!r}, expected {other[at]!r}"


def _listed(problems: dict[int, str]) -> str:
    return "; ".join(f"output {k}: {text}" for k, text in problems.items())


def _explain(
    model: RandomModel, got: list[Any], want: list[Any], wide: dict[int, str]
) -> Comparison:
    reason = _listed(wide)
    try:
        expected = run_reference(model)
        if not set(wide) - moved_by_rounding(
            model, expected, list(wide), lambda one, unknown_extent=0: run_reference(one)
        ):
            return Comparison(Agreement.CHAOTIC, reason)
        other = run_reference(model, unknown_extent=2)
    except Exception as error:
        return Comparison(Agreement.UNKNOWN, f"{reason} (the reference: {error})"[:300])
    if all(far(one, two) for k, (one, two) in enumerate(zip(other, expected, strict=True))
           if k in wide):  # fmt: skip
        return Comparison(Agreement.UNKNOWN, f"{reason} (extents that nobody knows)")
    wrong = [k for k in wide if far(got[k], expected[k])]
    whose = "of this one" if wrong else "of the other one"
    return Comparison(Agreement.DIFFERENT, f"{reason} ({whose}, says the reference)")


def _compare_errors(model: RandomModel, got: Result, want: Result) -> Comparison:
    if isinstance(got, str) and isinstance(want, str):
        same = reason_of(got) == reason_of(want)
        if same:
            return Comparison(Agreement.ERROR)
    text = f"{_text(got)}, expected {_text(want)}"
    verdicts = [_verdict(model, result) for result in (got, want)]
    if any(verdict.bad for verdict in verdicts):
        return Comparison(Agreement.DIFFERENT, text)
    if Verdict.REFUSED in verdicts or Verdict.EXTENTS in verdicts:
        return Comparison(Agreement.UNKNOWN, text)
    both = isinstance(got, str) and isinstance(want, str)
    return Comparison(Agreement.OTHER_ERROR if both else Agreement.UNREAD, text)


def _text(result: Result) -> str:
    return result.splitlines()[0][:200] if isinstance(result, str) else "no error"


def _verdict(model: RandomModel, result: Result) -> Verdict:
    """What the reference says of one result."""

    def run(_: RandomModel) -> list[Any]:
        if isinstance(result, str):
            raise RuntimeError(result)
        return result

    return check_strictly(model, run).verdict
