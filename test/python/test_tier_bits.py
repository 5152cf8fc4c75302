# ===- test_tier_bits.py - The bits of code that is made quickly --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What `SessionOptions.tier` "quick" computes is what optimised code computes, bit by bit.

MLIR's passes are the same for both, and what LLVM may choose is chosen before it works on either
(docs/Rationale/Ready.md). NaNs are NaN.
"""

from typing import Any

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
from models import all_models
from random_inputs import FORMS, form
from random_models import random_model
from random_programs import random_program

pytestmark = pytest.mark.filterwarnings("ignore:.*LC0414")
MODELS = [model for model in all_models() if model.compile_error is None]
LOOPS_CHUNK = 8
RANDOM, RANDOM_CHUNK = 60, 10


def bits(value: Any) -> Any:
    """What is to be equal of a value."""
    if isinstance(value, list):
        return [bits(one) for one in value]
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return None if value is None else np.asarray(value).tolist()
    if value.dtype.kind in "fc":
        value = np.where(np.isnan(value), np.asarray(np.nan, value.dtype), value)
    return value.dtype.str, value.shape, value.tobytes()


def with_zeros(feeds: dict[str, Any]) -> dict[str, Any]:
    """The same with zeros of both signs among the numbers."""
    changed = dict(feeds)
    for name, value in feeds.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 4:
            changed[name] = value.copy()
            changed[name].flat[::5] = 0.0
            changed[name].flat[2::5] = -0.0
    return changed


def outcomes(model: onnx.ModelProto, sets: list[dict[str, Any]], tier: str) -> list[Any]:
    """The bits of each run, or the error that it ends with."""
    options = loopc.SessionOptions(tier=tier, intra_op_num_threads=1)
    try:
        session = loopc.InferenceSession(model.SerializeToString(), options)
    except loopc.Error as error:
        return [str(error)]
    found: list[Any] = []
    for feeds in sets:
        loopc.set_seed(7)
        try:
            found.append([bits(value) for value in session.run(None, feeds)])
        except loopc.Error as error:
            found.append(str(error))
    return found


def compare(name: str, model: onnx.ModelProto, sets: list[dict[str, Any]]) -> str:
    sets = [*sets, *map(with_zeros, sets)]
    same = outcomes(model, sets, "quick") == outcomes(model, sets, "off")
    return "" if same else name


@pytest.mark.parametrize("first", range(0, len(MODELS), LOOPS_CHUNK))
def test_loop_models(first):
    wrong = [
        compare(model.name, model.model, [run.feeds for run in model.runs if run.error is None])
        for model in MODELS[first : first + LOOPS_CHUNK]
        if model.timeout is None
    ]
    assert not any(wrong), [name for name in wrong if name]


@pytest.mark.parametrize("first", range(0, RANDOM, RANDOM_CHUNK))
def test_random_programs(first):
    wrong = []
    for seed in range(first, first + RANDOM_CHUNK):
        program = form(random_program(70_000 + seed), FORMS[seed % len(FORMS)])
        wrong.append(compare(str(seed), program.proto, [dict(one) for one in program.sets]))
    assert not any(wrong), wrong


@pytest.mark.parametrize("first", range(0, RANDOM, RANDOM_CHUNK))
def test_random_models(first):
    wrong = []
    for seed in range(first, first + RANDOM_CHUNK):
        made = random_model(70_000 + seed)
        wrong.append(compare(str(seed), made.proto, [dict(made.feeds)]))
    assert not any(wrong), wrong


SUMS = """<ir_version: 10, opset_import: ["" : 21]>
sums (float[n,m] x, float[m] y) => (float[n] sums, float[n] most, float[n,m] bounded, float[m] product, float power) {
  sums = ReduceSum <keepdims = 0> (x, last)
  most = ReduceMax <keepdims = 0> (x, last)
  bounded = Max (x, y)
  product = ReduceProd <keepdims = 0> (x, first)
  two = Constant <value = float {2.0}> ()
  one = ReduceSum <keepdims = 0> (y)
  power = Pow (one, two)
}"""


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("columns", [1, 7, 70, 1000])
def test_sums_in_free_order(rows, columns):
    """Sums that LLVM may put in order, extremes of zeros, and functions of constants."""
    model = onnx.parser.parse_model(SUMS)
    for name, axis in (("last", -1), ("first", 0)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([axis]), name))
    random = np.random.default_rng(rows * columns)
    feeds = {
        "x": random.standard_normal((rows, columns), np.float32),
        "y": random.standard_normal(columns, np.float32),
    }
    assert not compare("sums", model, [feeds])
