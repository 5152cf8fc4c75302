# ===- test_ptxas.py - Kernels by the toolkit's assembler ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""ptxas takes the kernels of models: of some; test/conformance/ptxas.py asks about all."""

from __future__ import annotations

import pathlib
import re
import sys

import onnx.parser
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import ptxas

FOUND = ptxas.find_ptxas()
CHIPS = ptxas.chips_of(FOUND) if FOUND else list(ptxas.FORMS)
needs_ptxas = pytest.mark.skipif(
    not FOUND, reason="there is no ptxas: set LOOPC_PTXAS or CUDA_HOME to run it"
)

LOOP = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
m (int64 M, float[1, 300] x, float[300, 300] w) => (float[1, 300] y) {
  cond = Constant<value: tensor = bool {1}>()
  y = Loop(M, cond, x) <body = b (int64 i, bool c, float[1, 300] s) => (bool g, float[1, 300] t) {
    g = Identity(c)
    p = MatMul(s, w)
    t = Tanh(p)
  }>
}""")


@needs_ptxas
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("form", ["auto", "kernel", "cluster", "graph", "host"])
def test_forms_of_a_loop(chip: str, form: str) -> None:
    assert FOUND
    with ptxas.Assembler(FOUND) as assembler:
        assert assembler.refuse(LOOP, chip, form) == ""
        assert assembler.calls() == {chip: 1}


@needs_ptxas
@pytest.mark.parametrize("pattern", ["^suite/", "^models/", "^operators/"])
def test_some_models(pattern: str) -> None:
    """Another few of each kind would do as well; a release has all of them."""
    assert FOUND
    share = (7, {"^suite/": 100, "^models/": 60, "^operators/": 150}[pattern])
    with ptxas.Assembler(FOUND) as assembler:
        assert list(ptxas.refused(share, CHIPS, assembler, pattern)) == []
        assert set(assembler.calls()) == set(CHIPS)


def test_what_is_refused_is_told(tmp_path: pathlib.Path) -> None:
    refusing = tmp_path / "ptxas"
    refusing.write_text("#!/bin/sh\necho 'Unknown modifier' >&2\nexit 255\n")
    refusing.chmod(0o755)
    with ptxas.Assembler(str(refusing)) as assembler:
        assert re.search("Unknown modifier", assembler.refuse(LOOP, "sm_90", "auto"))
        assert assembler.calls() == {"sm_90": 1}


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("LOOPC_PTXAS", "")
    assert ptxas.find_ptxas() is None
    assert ptxas.main([]) == 2
    monkeypatch.delenv("LOOPC_PTXAS")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ptxas").write_text("#!/bin/sh\n")
    (tmp_path / "bin/ptxas").chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert ptxas.find_ptxas() == str(tmp_path / "bin/ptxas")
