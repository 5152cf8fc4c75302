# ===- test_loop_structure.py - That compiled loops stay what they are ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""No model of loop_structure.tsv loses threads, vector code, or storage in place."""

import dataclasses

import pytest
from loop_structure import Counts, count, measure, models, read_table

MODELS = dict(models())
TABLE = read_table()
#: Tests, each of some models.
SHARES = 16


def test_each_model_has_a_row():
    assert set(MODELS) == set(TABLE), "loop_structure.py --write makes the table anew"


@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_is_lost(share):
    lost = {}
    for name in sorted(TABLE)[share::SHARES]:
        if worse := measure(MODELS[name]()).worse(TABLE[name]):
            lost[name] = worse
    assert not lost, "more than in loop_structure.tsv, which loop_structure.py --write makes anew"


#: A loop over time, and in it what each row of the table counts.
GOOD = """
module {
  func.func @main(%n: index) {
    %buffer = memref.alloc() : memref<64xf32>
    scf.for %t = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c64 step %c16 {
        %0 = vector.load %buffer[%i] : memref<64xf32>, vector<16xf32>
        %1 = arith.addf %0, %0 : vector<16xf32>
        vector.store %1, %buffer[%i] : memref<64xf32>, vector<16xf32>
      } {loopc.parallel}
    }
    return
  }
}
"""
SCALAR = """
        %0 = memref.load %buffer[%i] : memref<64xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %buffer[%i] : memref<64xf32>"""
COPY = """
        %0 = memref.load %buffer[%i] : memref<64xf32>
        memref.store %0, %other[%i] : memref<64xf32>"""
BODY = GOOD[GOOD.index("\n        %0 = vector") : GOOD.index("\n      } {loopc.parallel}")]


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("      scf.for %i", "      %own = memref.alloc() : memref<64xf32>\n      scf.for %i", "allocations"),
        ("      scf.for %i", "      memref.copy %a, %b : memref<64xf32> to memref<64xf32>\n      scf.for %i", "copies"),
        (BODY, COPY, "copies"),
        (BODY, SCALAR, "scalar"),
        (" {loopc.parallel}", "", "serial"),
    ],
)  # fmt: skip
def test_each_loss_is_seen(old, new, lost):
    assert old in GOOD
    good, bad = count(GOOD), count(GOOD.replace(old, new))
    assert good == Counts(serial=1)
    assert bad == dataclasses.replace(good, **{lost: getattr(good, lost) + 1})
    assert bad.worse(good) == [f"{lost} {getattr(good, lost)} -> {getattr(good, lost) + 1}"]
    assert not good.worse(bad)


def test_retracted_assumptions_are_counted():
    remark = "m.onnx: main/#0 Add: remark: its iterations are said to be independent, and that is not proved: it holds 'x'"
    assert count(GOOD, remark).unproved == 1
    assert count(GOOD, f"{remark} (3 times)\n{remark}").unproved == 4
