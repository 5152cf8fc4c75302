# ===- test_large_extents.py - Random nodes of long axes ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/large_extents.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import large_extents
import numpy as np
import pytest


@pytest.mark.parametrize("seed", range(16))
def test_long_axes(seed):
    text = large_extents.problem(large_extents.LargeModel(seed))
    assert not text or text.startswith("reference: ")


def test_models_are_of_many_kinds():
    models = [large_extents.LargeModel(seed) for seed in range(60)]
    kinds = {node.op_type for made in models for node in made.model.graph.node}
    assert {"MatMul", "Conv", "Loop", "Scan", "MatMulInteger", "CumSum", "Einsum"} <= kinds
    sizes = [v.size for made in models for v in made.feeds.values()]
    assert max(sizes) > 50_000
    assert any(made.threads > 1 for made in models)
    assert any(not np.isfinite(v).all() for m in models for v in m.feeds.values())
