# ===- test_window_models.py - Random windows over any extents ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/windows.py."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import pytest
import windows
from random_window_steps import STEPS
from random_windows import WindowModel
from window_arrays import WindowsError


@pytest.mark.parametrize("seed", range(20))
def test_windows(seed: int) -> None:
    assert windows.problems(WindowModel(seed), collections.Counter()) == []


def test_models_are_of_many_kinds() -> None:
    models = [WindowModel(seed) for seed in range(60)]
    kinds = {node.op_type for made in models for node in made.model().graph.node}
    assert {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "Slice", "Pad", "Loop"} <= kinds
    assert len({str(made).split(":")[0] for made in models}) == 5
    assert any(0 in feeds["x"].shape for made in models for feeds in made.sets)
    assert len(STEPS) > 15
    errors = 0
    for made in models:
        for feeds in made.sets:
            try:
                made.compute(feeds)
            except WindowsError:
                errors += 1
    assert errors > 5
