# ===- donors.py - Nodes whose results somebody else has written down -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models of ONNX's backend tests as nodes to be put elsewhere, each with several operands.

The suite has one set of operands for each. Others are made of it: the elements of some operands
in another order. What these give is asked of onnxruntime, or else of ONNX's own evaluator.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import pathlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import engines
import numpy as np
import onnx

Feeds = dict[str, Any]

#: Results that are drawn, and not computed.
_DRAWN = ("Bernoulli", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
          "Multinomial", "Dropout")  # fmt: skip
#: The most elements that an operand has: what is larger takes its time and shows nothing else.
_LARGEST = 20_000


@dataclasses.dataclass(frozen=True)
class Donor:
    """A model whose nodes are put elsewhere; operands of one shape, and what each of them give."""

    name: str
    model: onnx.ModelProto
    sets: list[Feeds]
    results: list[list[Any]]
    rtol: float
    atol: float

    def differs(self, name: str) -> bool:
        """Whether an operand is not the same in all sets."""
        first = self.sets[0][name]
        return any(other[name] is not first for other in self.sets)


class UnfitError(Exception):
    """Why a case is no donor."""


def is_tensor(value: Any) -> bool:
    """Whether a value is neither a sequence nor an optional without an element."""
    return isinstance(value, np.ndarray)


def opset_of(model: onnx.ModelProto) -> int:
    """The version of ONNX's own operators; 0 where there is none."""
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)


@functools.cache
def all_cases() -> list[Any]:
    """The suite's cases, in the order of their names."""
    found: list[Any] = cases.load()
    return found


def _run_reference(content: bytes, feeds: Feeds) -> engines.Outcome:
    from onnx.reference import ReferenceEvaluator

    warnings.simplefilter("ignore")
    try:
        evaluator = ReferenceEvaluator(onnx.load_model_from_string(content))
        return engines.Outcome(values=list(evaluator.run(None, feeds)))
    except Exception as error:  # an evaluator of NumPy's: errors of any kind
        return engines.Outcome(error=f"{type(error).__name__}: {error}")


def _shuffled(value: Any, draw: random.Random) -> Any:
    if not is_tensor(value) or value.size < 2:
        return value
    flat = value.ravel()
    if draw.random() < 0.5:
        return flat[::-1].reshape(value.shape).copy()
    order = np.random.default_rng(draw.getrandbits(32)).permutation(flat.size)
    return flat[order].reshape(value.shape)


def _like(one: list[Any], other: list[Any]) -> bool:
    """Whether results have the same kinds, types and shapes."""
    return len(one) == len(other) and all(
        is_tensor(a) == is_tensor(b)
        and (
            not is_tensor(a)
            or (a.shape == b.shape and (a.dtype == b.dtype or a.dtype.kind in "OSU"))
        )
        for a, b in zip(one, other, strict=True)
    )


def _other_sets(model: onnx.ModelProto, feeds: Feeds, draw: random.Random) -> Iterator[Feeds]:
    names = [name for name, value in feeds.items() if is_tensor(value) and value.size > 1]
    for chosen in (names[:1], [name for name in names if draw.random() < 0.7]):
        if chosen:
            yield {k: _shuffled(v, draw) if k in chosen else v for k, v in feeds.items()}


def _answer(content: bytes, feeds: Feeds) -> list[Any] | None:
    for run in (engines.run_ort, _run_reference):
        outcome = engines.worker(run, 30.0).ask((content, feeds))
        if outcome.values is not None:
            return list(outcome.values)
    return None


def donor(case: Any, draw: random.Random, alone: Callable[[bytes, Feeds], list[Any]]) -> Donor:
    """The donor of a case of the suite.

    Args:
        case: one of `all_cases`.
        draw: what chooses the other operands.
        alone: what the engine under test computes of the model as it is.

    Raises:
        UnfitError: loops cannot have the model's nodes, or the engine has other results.
    """
    model = _newer(cases.loaded(case))
    _refuse_unfit(model)
    model = copy.deepcopy(model)
    del model.graph.value_info[:]
    feeds, want = next(iter(cases.data_sets(case)))
    for tensor in model.graph.initializer:
        feeds.setdefault(tensor.name, onnx.numpy_helper.to_array(tensor))
    if any(is_tensor(v) and v.size > _LARGEST for v in (*feeds.values(), *want)):
        raise UnfitError("large")
    content = model.SerializeToString()
    given = {info.name for info in model.graph.input}
    problem = cases.compare(
        alone(content, {k: v for k, v in feeds.items() if k in given}), want, case.rtol, case.atol
    )
    if problem:
        raise UnfitError(f"by itself: {problem}")
    found = Donor(case.name, model, [feeds], [want], case.rtol, case.atol)
    for other in _other_sets(model, feeds, draw):
        asked = {k: v for k, v in other.items() if k in given}
        result = _answer(content, asked)
        if result is None or not _like(result, want):
            continue
        if cases.compare(alone(content, asked), result, case.rtol, case.atol):
            continue  # what is not defined, or of another rounding: not a question of places
        found.sets.append(other)
        found.results.append(result)
    return found


def _newer(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same under the newest version in which its operators are what they were."""
    version = opset_of(model)
    own = [op for domain, op in cases.operators(model) if domain in ("", "ai.onnx")]
    since = [onnx.defs.get_schema(op, version).since_version for op in own] if version else []
    for newer in range(23, version, -1):
        if version and since == [onnx.defs.get_schema(op, newer).since_version for op in own]:
            made = copy.deepcopy(model)
            for imported in made.opset_import:
                if imported.domain in ("", "ai.onnx"):
                    imported.version = newer
            return made
    return model


def _refuse_unfit(model: onnx.ModelProto) -> None:
    if 0 < opset_of(model) < 13:
        raise UnfitError("an old version")
    if any(op in _DRAWN for _, op in cases.operators(model)):
        raise UnfitError("drawn")
    if len(model.graph.node) > 200:
        raise UnfitError("large")
