# ===- test_network_translation.py - ONNX models onto networks --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loop models built through the network builder answer as through the importer."""

from __future__ import annotations

import re

import loopc
import pytest
from engines import assert_same
from models import LoopModel, all_models
from onnx_to_network import translate

NAMES = (
    "while_form do_while_form for_form for_and_while condition_argument trip_count_negative "
    "condition_read_from_table swap old_state_collected sixteen_rotate invariant_carried "
    "grows_by_concat shape_alternates kv_cache dtype_float16 dtype_uint64 collect_matrices "
    "collect_three_types captures input_shadows_outer yields_own_iteration_number "
    "body_without_nodes loop_in_if if_in_loop_collected nested_ifs scan_inner_axes "
    "scan_negative_output_axes scan_reversed_both_inputs scan_rnn_cell scan_in_scan scan_in_loop "
    "three_deep while_in_while ten_deep fibonacci torch_while index_error_in_late_iteration"
).split()
MODELS = [model for model in all_models() if model.name in NAMES]


def test_models() -> None:
    """All of them are there, and more than twenty."""
    assert {model.name for model in MODELS} == set(NAMES)
    assert len(NAMES) >= 20


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_translated(model: LoopModel) -> None:
    """The same values, or an error in both."""
    built = loopc.InferenceSession(translate(model.model))
    imported = loopc.InferenceSession(model.model)
    names = [output.name for output in model.model.graph.output]
    for run in model.runs:
        if run.error is not None:
            for session in (built, imported):
                with pytest.raises(loopc.Error) as caught:
                    session.run(None, run.feeds)
                assert re.search(run.error, str(caught.value))
            continue
        want = imported.run(None, run.feeds)
        assert_same(built.run(None, run.feeds), want, names, model.rtol, model.atol)
