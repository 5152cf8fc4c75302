# ===- test_check_accesses.py - Models that check their accesses ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""check_accesses: an access beyond a buffer is an error, and nothing else changes.

`./dev test sanitize` runs other tests with it (checked_accesses.py).
"""

from __future__ import annotations

import dataclasses
import pathlib

import checked_accesses
import loopc
import numpy as np
import onnx.parser
import pytest
from random_engines import judge, settings_of
from random_models import random_model

CHECKED = loopc.SessionOptions(check_accesses=True)

#: Writes one element too many where n is 5, as a fault of the compiler would.
BEYOND = """
func.func @main(%n: memref<i64> {loopc.name = "n", loopc.type = tensor<i64>})
    -> (memref<4xf32> {loopc.name = "y", loopc.type = tensor<4xf32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 7.0 : f32
  %trips = memref.load %n[] : memref<i64>
  %end = arith.index_cast %trips : i64 to index
  %b = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %end step %c1 {
    memref.store %f, %b[%i] : memref<4xf32>
  }
  return %b : memref<4xf32>
}
"""


@pytest.mark.parametrize("opt_level", [0, 3])
def test_check_accesses_stop_the_run(tmp_path: pathlib.Path, opt_level: int) -> None:
    path = tmp_path / "beyond.mlir"
    path.write_text(BEYOND)
    options = loopc.SessionOptions(check_accesses=True, opt_level=opt_level)
    session = loopc.InferenceSession(path, options)
    np.testing.assert_array_equal(session.run(None, {"n": np.int64(4)})[0], np.full(4, 7, "f4"))
    with pytest.raises(loopc.Error, match=r"memref.store at \[4\] of a buffer of \[4\]"):
        session.run(None, {"n": np.int64(5)})
    # The session goes on.
    session.run(None, {"n": np.int64(4)})


def test_check_accesses_in_a_library(tmp_path: pathlib.Path) -> None:
    source, library = tmp_path / "beyond.mlir", tmp_path / "beyond.so"
    source.write_text(BEYOND)
    loopc.compile(source, library, emit="shared", check_accesses=True)
    session = loopc.load(library)
    with pytest.raises(loopc.Error, match=r"memref.store at \[4\] of a buffer of \[4\]"):
        session.run(None, {"n": np.int64(5)})


def test_check_accesses_of_a_good_model() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x, int64[K] i) => (float[K] y) { y = Gather (x, i) }""")
    session = loopc.InferenceSession(model, CHECKED)
    feeds = {"x": np.arange(4, dtype="f4"), "i": np.array([3, -4])}
    np.testing.assert_array_equal(session.run(None, feeds)[0], np.array([3, 0], "f4"))
    with pytest.raises(loopc.Error, match="index"):
        session.run(None, feeds | {"i": np.array([4])})


def test_check_accesses_is_not_for_kernels() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x) => (float[N] y) { y = Neg (x) }""")
    with pytest.raises(loopc.CompileError, match="--check-accesses"):
        loopc.InferenceSession(model, CHECKED, device="cuda:0", chip="sm_80")


@pytest.mark.parametrize("first", range(3000, 3020, 10))
def test_check_accesses_of_random_models(first: int) -> None:
    """Their results are the reference's, on one thread and on two."""
    wrong = []
    for seed in range(first, first + 10):
        settings = dataclasses.replace(settings_of(seed), check_accesses=True)
        finding = judge(random_model(seed), settings=settings)
        if finding.verdict.bad:
            wrong.append(f"seed {seed}: {finding.verdict.value}: {finding.reason}")
    assert not wrong, "\n".join(wrong)


def test_check_accesses_are_the_default_where_asked_for() -> None:
    """`./dev test sanitize` asks for them, other runs do not."""
    assert loopc.SessionOptions().check_accesses == checked_accesses.enabled()
    assert not loopc.SessionOptions(check_accesses=False).check_accesses
    assert loopc.SessionOptions(check_accesses=True).check_accesses
