# ===- test_compile_time.py - How much code models become -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What compile time follows: the code of nested loops and of repeated layers; what objects hold."""

import itertools
import os
import pathlib
import re
import struct
import time
from collections.abc import Callable

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from test_real_models import SILERO

MIB = 1 << 20


def llvm_text(model: onnx.ModelProto, folder: pathlib.Path) -> str:
    """The model in MLIR's LLVM dialect: what LLVM gets to do."""
    file = folder / "model.mlir"
    loopc.compile(model.SerializeToString(), file, emit="llvm")
    return file.read_text()


def nested(depth: int) -> onnx.ModelProto:
    """Loops in one another, each with a sine before the next one."""

    def body(level: int) -> onnx.GraphProto:
        inner = (
            helper.make_node("Loop", ["two", "", f"s{level}"], [f"w{level}"], body=body(level - 1))
            if level > 1
            else helper.make_node("Add", [f"s{level}", "x"], [f"w{level}"])
        )
        return helper.make_graph(
            [helper.make_node("Sin", [f"v{level}"], [f"s{level}"]), inner,
             helper.make_node("Identity", [f"c{level}"], [f"d{level}"])],
            f"body{level}",
            [helper.make_tensor_value_info(f"i{level}", TensorProto.INT64, []),
             helper.make_tensor_value_info(f"c{level}", TensorProto.BOOL, []),
             helper.make_tensor_value_info(f"v{level}", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info(f"d{level}", TensorProto.BOOL, []),
             helper.make_tensor_value_info(f"w{level}", TensorProto.FLOAT, [4])],
        )  # fmt: skip

    graph = helper.make_graph(
        [helper.make_node("Loop", ["two", "", "x"], ["y"], body=body(depth))],
        "nested",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        [helper.make_tensor("two", TensorProto.INT64, [], [2])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_code_is_linear_in_the_depth_of_loops(tmp_path: pathlib.Path) -> None:
    lines = [llvm_text(nested(depth), tmp_path).count("\n") for depth in (6, 12, 24)]
    # Twice the depth, twice the growth.
    assert lines[2] - lines[1] <= 2.2 * (lines[1] - lines[0])


def branches_in_a_chain(count: int) -> str:
    """Each decides how long the next one's vector is, as far as types tell."""
    lines = " ".join(
        f"v{k + 1} = If (c) <then_branch = some{k} () => (float[p{k}] a{k})"
        f" {{ a{k} = ScatterElements (v{k}, at, u) }}, else_branch = other{k} () => (float[q{k}]"
        f" b{k}) {{ b{k} = Neg (v{k}) }}>"
        for k in range(count)
    )
    inputs = "bool c, int64[1] at, float[1] u, float[n] v0"
    return f"({inputs}) => (float[m] v{count}) {{ {lines} }}"


def views_of_views(count: int) -> str:
    """Parts of parts, seen from another side each time."""
    lines = " ".join(
        f"s{k} = Slice (v{k}, from, to, axis) v{k + 1} = Transpose <perm = [1, 0]> (s{k})"
        for k in range(count)
    )
    inputs = "int64[1] from, int64[1] to, int64[1] axis, float[n, m] v0"
    return f"({inputs}) => (float[p, q] v{count}) {{ {lines} }}"


def processor_seconds() -> float:
    """Of this process and of those that have ended: a compiler is one of its own."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.mark.parametrize("write", [branches_in_a_chain, views_of_views])
def test_chains_take_linear_time(write: Callable[[int], str], tmp_path: pathlib.Path) -> None:
    """Four times as many take less than ten times as long: what is known is not asked anew."""
    seconds = []
    for count in (50, 200):
        model = onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["" : 21]> chain {write(count)}'
        )
        begin = processor_seconds()
        loopc.compile(model.SerializeToString(), tmp_path / f"{count}.mlir", emit="llvm")
        seconds.append(processor_seconds() - begin)
    assert seconds[1] < 10 * seconds[0], seconds


def layers(sizes: list[int]) -> onnx.ModelProto:
    """Matrix products of different sizes one behind the other, each with what is often between."""
    rng = np.random.default_rng(0)
    weights, lines, last = [], [], "x"
    for k, (rows, columns) in enumerate(itertools.pairwise(sizes)):
        values = (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(values, f"w{k}"))
        lines.append(f"m{k} = MatMul ({last}, w{k}) n{k} = Softmax (m{k}) t{k} = Tanh (n{k})")
        last = f"t{k}"
    text = (
        f'<ir_version: 10, opset_import: ["" : 21]>\nlayers (float[64, {sizes[0]}] x)'
        f" => (float[64, {sizes[-1]}] {last}) {{ {' '.join(lines)} }}"
    )
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(weights)
    return model


def test_layers_of_several_sizes_share_their_code(tmp_path: pathlib.Path) -> None:
    """Functions grow with the kinds of layers, not with their number; results stay right."""
    sizes = [128 + 64 * k for k in range(13)]
    model = layers(sizes)
    text = llvm_text(model, tmp_path)
    functions = re.findall(
        r"^ *llvm\.func internal @loopc_entry_(?:nest|parallel)\w*\(", text, re.M
    )
    bodies = [f for f in functions if "_piece(" not in f]
    assert 0 < len(bodies) < 20, bodies
    x = np.random.default_rng(1).standard_normal((64, sizes[0])).astype(np.float32)
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    want = x.astype(np.float64)
    for weight in model.graph.initializer:
        want = want @ onnx.numpy_helper.to_array(weight).astype(np.float64)
        want = np.exp(want - want.max(axis=1, keepdims=True))
        want = np.tanh(want / want.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(got, want, rtol=1e-4)


def sums_in_a_loop(count: int) -> onnx.ModelProto:
    """Sums in a loop of values whose extents may be the same or 1: each may have to be expanded."""
    inputs = ", ".join(f"float[a{k}, b{k}] x{k}" for k in range(count))
    lines = " ".join(f"v{k + 1} = Add (v{k}, x{k})" for k in range(count))
    return onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        sums (int64 M, float[m, n] s, {inputs}) => (float[p, q] y) {{
            y = Loop (M, "", s) <body = step (int64 i, bool go, float[o, r] v0) => (bool go, float[o2, r2] v{count}) {{
                {lines}
            }}>
        }}"""
    )


def test_equal_nests_in_a_loop_share_their_code(tmp_path: pathlib.Path) -> None:
    """Those that fill new memory, with what shares them out on threads; results stay right."""
    few, many = (llvm_text(sums_in_a_loop(count), tmp_path) for count in (4, 12))
    for call in ("loopc_rt_try_parallel_for", "loopc_rt_num_threads"):
        assert few.count(f"llvm.call @{call}(") == many.count(f"llvm.call @{call}(") > 0
    random = np.random.default_rng(0)
    feeds = {
        f"x{k}": random.standard_normal((1 + 4 * (k % 2), 3)).astype(np.float32) for k in range(12)
    }
    feeds["s"] = np.zeros((5, 3), np.float32)
    session = loopc.InferenceSession(sums_in_a_loop(12).SerializeToString())
    (got,) = session.run(None, {"M": np.array(2), **feeds})
    want = 2 * sum(value.astype(np.float64) for value in feeds.values())
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def weight_bytes(object_file: bytes) -> int:
    """The size of the section of weights in an ELF object of 64 bits."""
    (table,) = struct.unpack_from("<Q", object_file, 0x28)
    entry, count, names = struct.unpack_from("<HHH", object_file, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", object_file, table + k * entry) for k in range(count)]
    strings = headers[names][4]
    for name, _, _, _, _, size in headers:
        if object_file[strings + name :].startswith((b".rodata.loopc.", b".lrodata.loopc.")):
            return size
    return 0


@pytest.mark.parametrize("path", SILERO[:2], ids=lambda p: p.stem)
def test_silero_is_its_weights_and_little_more(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "vad.o"
    loopc.compile(path, file)
    content = file.read_bytes()
    weights = weight_bytes(content)
    assert weights > MIB // 2
    assert len(content) - weights <= MIB


def test_silero_starts_at_once(tmp_path: pathlib.Path) -> None:
    """A compiled model is there in under 5 ms: the best of some, as the machine may be busy."""
    library = tmp_path / "vad.so"
    loopc.compile(SILERO[0], library, emit="shared")
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        session = loopc.load(library)
        times.append(time.perf_counter() - begin)
        del session
    assert min(times) < 0.005, times
