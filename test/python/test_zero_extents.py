# ===- test_zero_extents.py - Axes without elements --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/zero_extents.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import pytest
import zero_extents

#: Models whose results have extents that are computed of those of their operands.
CASES = ("maxpool_2d_same_upper", "averagepool_2d_ceil", "convtranspose_pads", "reduce_max_do_not",
         "top_k_smallest", "slice_neg_steps", "edge_pad", "layer_normalization_2d_axis1$")  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_forms_agree(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = zero_extents.main(["--seeds", "0:1", "--filter", name, "--most", "3"])
    assert status == 0, capsys.readouterr().out
    assert "runs" in capsys.readouterr().out
