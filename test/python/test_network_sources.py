# ===- test_network_sources.py - Random networks in C and C++ -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/cxx_networks.py, and that it can fail."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import cxx_networks
import network_sources


@pytest.mark.parametrize("language", cxx_networks.LANGUAGES)
def test_networks(language: str, tmp_path: pathlib.Path) -> None:
    """Built by a program they have the bits and errors that they have in Python."""
    assert [*cxx_networks.differences(range(12), language, tmp_path)] == []


def test_can_fail(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that give another value to each reduction have other results."""
    literal = network_sources.WriterCxx.literal

    def wrong(self: network_sources.WriterCxx, kind: str, given: tuple[str, tuple]) -> str:
        return literal(self, kind, given).replace("Operation::kMAX", "Operation::kMIN")

    monkeypatch.setattr(network_sources.WriterCxx, "literal", wrong)
    assert [*cxx_networks.differences(range(4), "c++", tmp_path)]


def test_every_kind_of_layer() -> None:
    """C++ adds each kind of layers but constants and operators of ONNX."""
    assert {*network_sources.kinds()} - {"Constant", "Node"} == {*network_sources.ADDS}
