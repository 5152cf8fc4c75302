# ===- test_independence.py - Proofs of independence --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/independence.py, and that it sees what is not independent."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import independence


def test_what_is_believed_is_true():
    found = independence.outcomes(range(400))
    wrong = {seed: problem for seed, _, problem, _ in found if problem}
    assert not wrong
    assert sum("kept" in mark for *_, mark in found) > 10


def test_conflicts_are_seen():
    """Of what the pass retracts, some runs show why."""
    shown = 0
    for seed in range(200):
        generator = independence._Generator(seed)
        generator.function()
        shown += bool(independence.conflict(generator.steps))
    assert shown > 20
