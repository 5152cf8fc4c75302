# ===- test_tier_bits.py - The bits of code that is made quickly --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/tiers.py, and models whose bits LLVM may choose.

What LLVM may choose is chosen before it works on either code (docs/Rationale/Ready.md).
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import numpy as np
import onnx
import onnx.parser
import pytest
import tiers
from models import all_models

pytestmark = pytest.mark.filterwarnings("ignore:.*LC0414")
MODELS = [model for model in all_models() if model.compile_error is None and model.timeout is None]
CHUNK = 8
#: Seeds of each kind; models of the conformance suite for a test, and from one to the next.
SEEDS, CONFORMANCE, STRIDE = 6, 30, 250


def difference(case: tiers.Case) -> str:
    """Where both tiers differ, in this process."""
    return tiers.difference(*(tiers.outcomes(case, tier, 1, 3) for tier in ("quick", "off")))


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", [kind for kind in tiers.KINDS if kind != "conformance"])
def test_random_models(kind, seed):
    count: collections.Counter[str] = collections.Counter()
    assert tiers.problems(kind, seed, count) == []
    assert count["runs"]


@pytest.mark.parametrize("part", range(8))
def test_conformance_models(part):
    first = part * STRIDE
    count: collections.Counter[str] = collections.Counter()
    found = tiers.problems("conformance", 0, count, part=(first, first + CONFORMANCE))
    assert found == []


@pytest.mark.parametrize("first", range(0, len(MODELS), CHUNK))
def test_loop_models(first):
    wrong = []
    for model in MODELS[first : first + CHUNK]:
        sets = [run.feeds for run in model.runs if run.error is None]
        case = tiers.Case(model.name, model.model.SerializeToString(), sets)
        if text := difference(case):
            wrong.append(f"{model.name}: {text}")
    assert wrong == []


def test_what_differs_is_told():
    """One unit in the last place, another error; not another NaN or another zero."""
    nan = np.array([np.nan, 1], np.float32)
    other_nan = (nan.view(np.uint32) ^ np.array([0x80000001, 0], np.uint32)).view(np.float32)
    assert tiers.bits(nan) == tiers.bits(other_nan)
    assert tiers.bits(np.float32([0.0])) == tiers.bits(np.float32([-0.0]))
    for a, b in ((0.0, 1e-45), (1.0, 1 + 2.0**-23), (np.nan, 1.0)):
        runs = [[[tiers.bits(np.array([x], np.float32))]] for x in (a, b)]
        assert tiers.difference(*runs) == "run 0, output 0"
    assert "an error" in tiers.difference(["an error"], [[tiers.bits(nan)]])


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
    assert difference(tiers.Case("sums", model.SerializeToString(), [feeds])) == ""
