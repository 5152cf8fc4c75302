# ===- test_machine_code.py - What LLVM makes of models for several CPUs ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""LLVM's verifier takes the code of models: of some; test/conformance/machine_code.py asks for all."""

from __future__ import annotations

import multiprocessing
import pathlib
import sys

import loopc
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import machine_code

FLIP = pathlib.Path(__file__).parents[1] / "Target/Inputs/flip_sequences.onnxtxt"


@pytest.mark.parametrize("cpu", machine_code.CPUS)
def test_flip_sequences(cpu: str) -> None:
    """A mask was read before it was written, on Zen 4 and 5."""
    assert machine_code.complaint(FLIP, cpu) == ""


@pytest.mark.parametrize("pattern", ["^suite/", "^bench/", "^models/", "^operators/"])
def test_some_models(pattern: str) -> None:
    """Another few of each kind would do as well; a release has all of them."""
    share = (5, {"^suite/": 800, "^bench/": 12, "^models/": 150, "^operators/": 120}[pattern])
    assert list(machine_code.wrong(share, machine_code.CPUS, pattern)) == []


def test_what_is_wrong_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = tmp_path / "loopc"
    stub.write_text(
        "#!/bin/sh\necho '# After All passes' >&2\n"
        "echo '*** Bad machine code: Using an undefined physical register ***' >&2\n"
        "echo '- function:    f' >&2\nexit 134\n"
    )
    stub.chmod(0o755)
    monkeypatch.setattr(machine_code, "LOOPC", stub)
    why = machine_code.complaint(FLIP, "znver4")
    assert "All passes" in why
    assert "Using an undefined physical register" in why


def _first_runs(cpu: str) -> list[bool]:
    """Whether each run of flip_sequences gives what NumPy does."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 2, 3))
    lengths = np.array([3, 5], np.int32)
    # Row t of sequence b comes from (t + lengths[b]) % 5 of the reversed one.
    places = (np.arange(4, -1, -1)[:, None] + lengths) % 5
    expected = np.take_along_axis(x, places[:, :, None], 0)
    options = loopc.SessionOptions()
    options.cpu = cpu
    session = loopc.InferenceSession(str(FLIP), options)
    return [
        np.array_equal(session.run(None, {"in_0": x, "in_1": lengths})[0], expected)
        for _ in range(3)
    ]


def test_first_run() -> None:
    """What a register holds before the first run of a process is nobody's number."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_first_runs, ("native",)) == [True] * 3
