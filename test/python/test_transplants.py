# ===- test_transplants.py - Nodes of ONNX's own tests in other places --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/transplants.py, and that it can fail."""

from __future__ import annotations

import pathlib
import random
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import donors
import places
import transplants


@pytest.mark.parametrize("seed", [7, 8])
def test_transplants(seed: int) -> None:
    """Some nodes of the suite do in loops, scans and branches what they do alone."""
    assert transplants.main(["--seeds", f"{seed}:{seed + 1}", "--some", "20"]) == 0


@pytest.mark.parametrize("control", places.CONTROLS)
def test_each_control(control: str) -> None:
    """Each control repeats a node; a result that differs is seen."""
    [case] = [case for case in donors.all_cases() if case.name == "test_clip"]
    donor = donors.donor(case, random.Random(0), transplants._alone)
    assert len(donor.sets) > 1
    for seed in range(3):
        host = places.Host(donor, random.Random(seed), places.FORMS[seed])
        places.Place(host, control).make()
        request = (host.model().SerializeToString(), host.given, 3)
        got = transplants.engines.worker(transplants._run, 180.0).ask(request).values
        assert got is not None
        assert transplants.problem_of(host, list(got)) is None
        for k, value in enumerate(got):
            if value.size and value.dtype == np.float32:
                other = [*got[:k], value + 1, *got[k + 1 :]]
                assert transplants.problem_of(host, other)
