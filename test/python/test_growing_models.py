# ===- test_growing_models.py - Many of one thing ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of many of one thing: they compile, to code that grows as they do, and are right."""

import pathlib
import re

import loopc
import numpy as np
import onnxruntime
import pytest
from growing_models import GROWING, inputs_of

# Functions that call each other are written out: 2^n copies.
FEW = {"functions_called_twice": 4}
# Operations of LLVM's dialect that a function may have, of any number of parts.
LARGEST = 8000
# Graphs that protobuf reads are nested at most 33 deep.
LINEAR = sorted(GROWING.keys() - {"functions_called_twice", "nested_branches", "nested_loops"})


@pytest.mark.parametrize("extent", ["N", "8"])
@pytest.mark.parametrize("name", sorted(GROWING))
def test_results_are_right(name: str, extent: str) -> None:
    model = GROWING[name](FEW.get(name, 20), extent)
    feeds = inputs_of(model)
    data = model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    want = onnxruntime.InferenceSession(data, options).run(None, feeds)
    got = loopc.InferenceSession(data).run(None, feeds)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def largest_function(text: str) -> int:
    """Lines of the largest function in LLVM's dialect."""
    bodies = re.findall(r"^ *llvm\.func [^\n]*\{\n(.*?)^  \}\n", text, re.M | re.S)
    return max(body.count("\n") for body in bodies)


@pytest.mark.parametrize("name", LINEAR)
def test_code_is_linear(name: str, tmp_path: pathlib.Path) -> None:
    """What is handed to LLVM; a chain of 48 branches that is walked 2^48 times does not end.

    LLVM's work grows faster than a function does, so that functions stay below a size.
    """
    texts = []
    for count in (12, 48):
        file = tmp_path / f"{count}.mlir"
        loopc.compile(GROWING[name](count, "N").SerializeToString(), file, emit="llvm")
        texts.append(file.read_text())
    assert texts[1].count("\n") <= 4.4 * texts[0].count("\n")
    assert largest_function(texts[1]) <= LARGEST
