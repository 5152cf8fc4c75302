# ===- test_odd_numbers.py - Infinities, NaN, zeros and subnormals --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/odd_numbers.py."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import numpy as np
import odd_numbers
import pytest
from number_steps import BINARY, UNARY, Choices
from random_numbers import NumberModel


@pytest.mark.parametrize("seed", range(20))
def test_odd_numbers(seed: int) -> None:
    assert odd_numbers.problems(NumberModel(seed), collections.Counter()) == []


def test_models_are_of_many_kinds() -> None:
    models = [NumberModel(seed) for seed in range(60)]
    kinds = {op for made in models for op in str(made).replace(":", "").split()}
    assert {"MatMul", "Softmax", "ReduceSum", "ReduceMax", "Where", "IsNaN", "Gather"} <= kinds
    assert len({node.op for node in (*UNARY, *BINARY)} & kinds) > 20
    assert len({str(made).split(":")[0] for made in models}) == 5
    every = np.concatenate([feeds["x"].ravel().astype(np.float64)
                            for made in models for feeds in made.sets])  # fmt: skip
    assert np.isnan(every).any()
    assert np.isinf(every).any()
    assert (np.signbit(every) & (every == 0)).any()
    assert any(0 in feeds["x"].shape for made in models for feeds in made.sets)


def test_what_differs_is_told() -> None:
    """A zero of the other sign, NaN for a number, and one unit in the last place."""
    want = np.array([0.0, 1.0, 1.0], np.float32)
    wrong = (np.array([-0.0, 1, 1]), np.array([0, np.nan, 1]), np.array([0, 1, 1 + 2.0**-23]))
    for got in (want, *(value.astype(np.float32) for value in wrong)):
        problem = odd_numbers.difference(got, [want, want], collections.Counter())
        assert bool(problem) == (got is not want)


def test_choices_of_zeros() -> None:
    """Either zero may be the largest one, and no other element is touched."""
    x, y = np.array([0.0, 2.0], np.float32), np.array([-0.0, 1.0], np.float32)
    made = [Choices(number, np.float32).zeros(np.maximum(x, y), x, y) for number in (1, 2)]
    assert np.signbit(made[0][0]) != np.signbit(made[1][0])
    assert made[0][1] == made[1][1] == 2
