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
import onnx
import onnxruntime
import pytest
from growing_models import GROWING, inputs_of
from growing_parts import parse

# Functions that call each other are written out: 2^n copies.
FEW = {"functions_called_twice": 4}
# Operations of LLVM's dialect that a function may have, of any number of parts.
LARGEST = 8000
# The extents of all layers are computed and checked in front of them, and are alive in all of a
# function, which a run passes through once: LLVM leaves it as it is.
CALLED_ONCE = {"convolutions"}
# So many parts have sections that look alike, or more buffers than stand in front of a loop.
MANY = {"attention_blocks": 96, "steps_of_a_decoder": 200}
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
    if name in MANY:
        loopc.compile(GROWING[name](MANY[name], "N").SerializeToString(), file, emit="llvm")
        texts[1] = file.read_text()
    if name not in CALLED_ONCE:
        assert largest_function(texts[1]) <= LARGEST


def sections(model: onnx.ModelProto, file: pathlib.Path) -> int:
    """How many functions hold sections of the model's code."""
    loopc.compile(model.SerializeToString(), file, emit="llvm")
    return len(re.findall(r"^ *llvm\.func internal .*_section", file.read_text(), re.M))


def loops_that_pick(count: int) -> onnx.ModelProto:
    """Loops in a row, named by their numbers, each of which reads an element that an input says."""
    lines, last = ["axes = Constant <value = int64[1] {0}> ()"], "x"
    for k in range(count):
        lines.append(
            f"""k{k} = Constant <value = int64 {{{k}}}> () at{k} = Gather <axis = 0> (where, k{k})
            l{k}, all{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[N] s{k})
                => (bool again{k}, float[N] t{k}, float[N] c{k}) {{
                again{k} = Identity (go{k}) e{k} = Gather <axis = 0> (s{k}, at{k})
                a{k} = Add (s{k}, e{k}) t{k} = Tanh (a{k}) c{k} = Identity (s{k})
            }}>
            most{k} = ReduceMax <keepdims = 0> (all{k}, axes) v{k} = Add (l{k}, most{k})"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    model = parse(f"picks (float[N] x, int64[W] where, int64 m) => (float[N] {last}) {{ {nodes} }}")
    loops = (node for node in model.graph.node if node.op_type == "Loop")
    for k, loop in enumerate(loops):
        loop.name = f"loop {k}"
    return model


def test_equal_sections_are_compiled_once(tmp_path: pathlib.Path) -> None:
    """Code of any number of equal loops has few functions, though each loop has its messages.

    Sections whose loops each have numbers of their own beside these are too different to be shared:
    of loops that pick there is one for each six.
    """
    file = tmp_path / "model.mlir"
    few, many = (sections(GROWING["loops_in_a_row"](count, "N"), file) for count in (48, 96))
    assert 1 <= few <= 6
    assert 1 <= many <= 6
    assert 1 <= sections(loops_that_pick(48), file) <= 48 // 6
    # So has code without loops of its own.
    assert 1 <= sections(GROWING["slices_of_any_rank"](192, "N"), file) <= 6


@pytest.mark.parametrize("extent", ["N", "8"])
def test_equal_layers_are_compiled_once(extent: str, tmp_path: pathlib.Path) -> None:
    """Each further block of attention is a few calls and names: its code is one that is there."""
    file = tmp_path / "model.mlir"
    lines = []
    for count in (96, 192):
        assert 1 <= sections(GROWING["attention_blocks"](count, extent), file) <= 3
        lines.append(file.read_text().count("\n"))
    assert lines[1] <= lines[0] + 4 * 96


def test_errors_name_the_loop_of_a_shared_section() -> None:
    count = 48
    session = loopc.InferenceSession(loops_that_pick(count).SerializeToString())
    feeds = {"x": np.arange(5, dtype=np.float32), "m": np.int64(3)}
    session.run(None, {**feeds, "where": np.zeros(count, np.int64)})
    for failing in range(0, count, 3):
        where = np.zeros(count, np.int64)
        where[failing] = 9
        with pytest.raises(Exception, match=rf"main/Loop 'loop {failing}'.* index 9 "):
            session.run(None, {**feeds, "where": where})
