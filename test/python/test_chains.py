# ===- test_chains.py - Random chains of what exporters write ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/chains.py."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import chains
import pytest


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", sorted(chains.KINDS))
def test_chains(kind: str, seed: int) -> None:
    count: collections.Counter[str] = collections.Counter()
    assert chains.problems(chains.KINDS[kind](seed), count) == []
    assert count["runs"] > 0


@pytest.mark.parametrize("kind", sorted(chains.KINDS))
def test_all_steps_are_drawn(kind: str) -> None:
    models = [chains.KINDS[kind](seed) for seed in range(60)]
    drawn = {name for made in models for name in made.kinds}
    assert drawn == {step.__name__ for step in chains.KINDS[kind].STEPS}
