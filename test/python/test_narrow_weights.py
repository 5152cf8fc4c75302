# ===- test_narrow_weights.py - Weights that become floats ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Weights of f16, bf16 and 8 bits behind Cast, Mul and DequantizeLinear.

The results are those of the same model with the floats that NumPy makes of them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT
KINDS = ["f16", "bf16", "f8", "scaled", "channels", "zeros", "inner", "blocks"]


class Weights(NamedTuple):
    """How a model stores weights `w`: nodes, constants, and the floats that they are."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, np.ndarray]
    floats: np.ndarray


def _weights(kind: str, shape: tuple[int, ...], axis: int, name: str = "w") -> Weights:
    """`axis` is that of the output channels; `inner` has its scales along the next one."""
    random = np.random.default_rng(0)
    cast = helper.make_node("Cast", [f"{name}_q"], [name], to=FLOAT)
    if kind in ("f16", "bf16"):
        small = np.float16 if kind == "f16" else ml_dtypes.bfloat16
        values = random.standard_normal(shape).astype(small)
        values.flat[:3] = [0.0, -0.0, np.finfo(np.float16).tiny / 4]
        return Weights([cast], {f"{name}_q": values}, values.astype(np.float32))
    if kind == "inner":
        axis = (axis + 1) % len(shape)
    by_axis = [-1 if k == axis else 1 for k in range(len(shape))]
    scale = np.linspace(0.001, 0.02, shape[axis], dtype=np.float32)
    if kind == "f8":
        values = random.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn)
        node = helper.make_node("DequantizeLinear", [f"{name}_q", f"{name}_s"], [name], axis=axis)
        floats = values.astype(np.float32) * scale.reshape(by_axis)
        return Weights([node], {f"{name}_q": values, f"{name}_s": scale}, floats)
    if kind == "blocks":
        # Along the inputs, of which the last block is not whole.
        inner = (axis + 1) % len(shape) if len(shape) == 2 else axis
        blocks = [-(-size // 4) if k == inner else size for k, size in enumerate(shape)]
        values = random.integers(-8, 8, shape).astype(ml_dtypes.int4)
        scale = random.uniform(0.001, 0.02, blocks).astype(np.float32)
        zero = random.integers(-8, 8, blocks).astype(ml_dtypes.int4)
        names = [f"{name}_q", f"{name}_s", f"{name}_z"]
        node = helper.make_node("DequantizeLinear", names, [name], axis=inner, block_size=4)
        of_block = np.arange(shape[inner]) // 4
        wide = values.astype(np.float32) - np.take(zero.astype(np.float32), of_block, inner)
        floats = wide * np.take(scale, of_block, inner)
        return Weights([node], dict(zip(names, (values, scale, zero), strict=True)), floats)
    if kind == "scaled":
        values = random.integers(-128, 128, shape).astype(np.int8)
        cast.output[0] = f"{name}_c"
        nodes = [cast, helper.make_node("Mul", [f"{name}_c", f"{name}_s"], [name])]
        scale = scale.reshape(by_axis)
        constants = {f"{name}_q": values, f"{name}_s": scale}
        return Weights(nodes, constants, values.astype(np.float32) * scale)
    kind_of = np.uint8 if kind == "zeros" else np.int8
    zero = (np.arange(shape[axis]) % 7 + (120 if kind == "zeros" else -3)).astype(kind_of)
    values = random.integers(0, 256, shape).astype(np.uint8).view(kind_of)
    names = [f"{name}_q", f"{name}_s", f"{name}_z"]
    node = helper.make_node("DequantizeLinear", names, [name], axis=axis)
    wide = values.astype(np.int32) - zero.astype(np.int32).reshape(by_axis)
    floats = wide.astype(np.float32) * scale.reshape(by_axis)
    return Weights([node], dict(zip(names, (values, scale, zero), strict=True)), floats)


def _model(
    nodes: list[onnx.NodeProto],
    constants: dict[str, np.ndarray],
    x: np.ndarray,
    shape: list[int | str],
) -> bytes:
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    return bytes(model.SerializeToString())


def _check(
    weights: Weights,
    nodes: list[onnx.NodeProto],
    x: np.ndarray,
    constants: dict[str, np.ndarray] | None = None,
    shape: list[int | str] | None = None,
) -> None:
    """The model with stored weights computes what that with floats does."""
    constants = constants or {}
    shape = list(x.shape) if shape is None else shape
    stored = _model([*weights.nodes, *nodes], constants | weights.constants, x, shape)
    plain = _model(nodes, constants | {"w": weights.floats}, x, shape)
    got = loopc.InferenceSession(stored).run(None, {"x": x})[0]
    want = loopc.InferenceSession(plain).run(None, {"x": x})[0]
    # Floats that are not in panels may be summed up in another order.
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=0, atol=scale * 1e-5)


@pytest.mark.parametrize("rows", [1, 7, 16, 40, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: str, rows: int) -> None:
    """A known and an unknown number of rows, whole and other vectors of columns."""
    x = np.random.default_rng(1).standard_normal((rows, 90)).astype(np.float32)
    for columns in (96, 75):
        weights = _weights(kind, (90, columns), 1)
        product = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        _check(weights, product, x)
        _check(weights, product, x, shape=["n", 90])


@pytest.mark.parametrize("kind", KINDS)
def test_long_sums(kind: str) -> None:
    """Of more than a block of the sum."""
    weights = _weights(kind, (1100, 48), 1)
    for rows in (1, 33):
        x = np.random.default_rng(1).standard_normal((rows, 1100)).astype(np.float32)
        product = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        _check(weights, product, x)
        _check(weights, product, x, shape=["n", 1100])


@pytest.mark.parametrize("form", ["transpose", "gemm", "reshape", "batch", "vector"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_products(kind: str, form: str) -> None:
    """Weights with other axes, behind a Transpose or a Reshape, of several matrices."""
    random = np.random.default_rng(1)
    x = random.standard_normal((3, 35, 64)).astype(np.float32)
    constants: dict[str, np.ndarray] = {}
    multiply = helper.make_node("MatMul", ["x", "v"], ["y"])
    if form == "transpose":
        weights = _weights(kind, (96, 64), 0)
        nodes = [helper.make_node("Transpose", ["w"], ["v"], perm=[1, 0]), multiply]
    elif form == "gemm":
        x = x[0]
        weights = _weights(kind, (96, 64), 0)
        constants["b"] = np.linspace(-1, 1, 96, dtype=np.float32)
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    elif form == "reshape":
        weights = _weights(kind, (1, 8, 8, 96), 3)
        constants["to"] = np.array([64, 96])
        nodes = [helper.make_node("Reshape", ["w", "to"], ["v"]), multiply]
    elif form == "batch":
        weights = _weights(kind, (3, 64, 96), 2)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    else:
        weights = _weights(kind, (64, 96), 1)
        x = x[0, 0]
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    _check(weights, nodes, x, constants)


@pytest.mark.parametrize("group", [1, 2, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_convolutions(kind: str, group: int) -> None:
    """Convolutions, with groups and one filter a channel."""
    x = np.random.default_rng(1).standard_normal((1, 32, 9, 9)).astype(np.float32)
    weights = _weights(kind, (64, 32 // group, 3, 3), 0)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4, group=group)]
    _check(weights, nodes, x)
    _check(weights, nodes, x, shape=["n", 32, "h", "w"])
    transposed = _weights(kind, (32, 16, 3, 3), 1)
    nodes = [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])]
    _check(transposed, nodes, x)


@pytest.mark.parametrize("kind", KINDS)
def test_recurrent(kind: str) -> None:
    """The recurrent weights of an LSTM, and those of a loop's body."""
    x = np.random.default_rng(1).standard_normal((5, 2, 24)).astype(np.float32)
    weights = _weights(kind, (1, 128, 32), 1)
    constants = {"u": np.random.default_rng(2).standard_normal((1, 128, 24)).astype(np.float32) / 5}
    node = helper.make_node("LSTM", ["x", "u", "w"], ["y"], hidden_size=32)
    _check(weights, [node], x, constants)


@pytest.mark.parametrize("kind", KINDS)
def test_loop_body(kind: str) -> None:
    """Weights that a body expands itself: 0, 1 and more iterations."""
    weights = _weights(kind, (96, 96), 1)
    for is_stored in (True, False):
        inner = weights.nodes if is_stored else []
        constants = weights.constants if is_stored else {"w": weights.floats}
        body = helper.make_graph(
            [
                *inner,
                helper.make_node("MatMul", ["h", "w"], ["p"]),
                helper.make_node("Tanh", ["p"], ["g"]),
                helper.make_node("Identity", ["c"], ["d"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
                helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []),
                helper.make_tensor_value_info("h", FLOAT, [1, 96]),
            ],
            [onnx.ValueInfoProto(name="d"), onnx.ValueInfoProto(name="g")],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        )
        loop = helper.make_node("Loop", ["n", "yes", "h0"], ["y"], body=body)
        model = _model([loop], {"h0": np.ones((1, 96), np.float32), "yes": np.array(True)},
                       np.array(0), [])  # fmt: skip
        text = onnx.load_from_string(model)
        text.graph.input[0].name = "n"
        session = loopc.InferenceSession(text.SerializeToString())
        results = [session.run(None, {"n": np.array(n)})[0] for n in (0, 1, 4)]
        if is_stored:
            stored = results
    for got, want in zip(stored, results, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_looked_up(kind: str) -> None:
    """Rows of a table, which a product reads as well: the same bits."""
    weights = _weights(kind, (500, 40), 0)
    x = np.array([[0, 499, 3], [-1, 7, 7]])
    gather = helper.make_node("Gather", ["w", "x"], ["y"])
    stored = _model([*weights.nodes, gather], weights.constants, x, ["n", "m"])
    got = loopc.InferenceSession(stored).run(None, {"x": x})[0]
    np.testing.assert_array_equal(got, weights.floats[x])
    nodes = [
        helper.make_node("Gather", ["w", "x"], ["e"]),
        helper.make_node("Transpose", ["w"], ["v"], perm=[1, 0]),
        helper.make_node("MatMul", ["e", "v"], ["y"]),
    ]
    _check(weights, nodes, x)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_one_row_is_looked_up(tmp_path: Path, kind: str, shape: tuple[int, ...]) -> None:
    """A row that is a slice of the table: it is expanded alone."""
    weights = _weights(kind, (500, 40), 0)
    gather = helper.make_node("Gather", ["w", "x"], ["y"])
    x = np.full(shape, 499)
    stored = _model([*weights.nodes, gather], weights.constants, x, [*shape])
    session = loopc.InferenceSession(stored)
    for index in (0, 499, -3):
        got = session.run(None, {"x": np.full(shape, index)})[0]
        np.testing.assert_array_equal(got, weights.floats[np.full(shape, index)])
    text = _linalg(tmp_path, weights, [gather], x)
    # Scales of blocks are looked up with the elements, but not by slices.
    assert kind == "blocks" or not re.search(r"arith.constant .*: tensor<500x40xf32>", text)


def _linalg(path: Path, weights: Weights, nodes: list[onnx.NodeProto], x: np.ndarray) -> str:
    model = onnx.load_from_string(
        _model([*weights.nodes, *nodes], weights.constants, x, [*x.shape])
    )
    loopc.compile(model, path / "g.mlir", emit="linalg", cpu="x86-64-v4")
    return (path / "g.mlir").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_expanded_in_a_run(tmp_path: Path, kind: str) -> None:
    """Weights become floats in products alone; those of a convolution are floats."""
    x = np.zeros((40, 90), np.float32)
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    text = _linalg(tmp_path, _weights(kind, (90, 96), 1), [product], x)
    # To take floats of 8 bits apart is too much for a product.
    narrow = {"f16": "f16", "bf16": "bf16", "f8": "f32"}.get(kind, "i8")
    assert re.search(
        rf"arith.constant dense_resource<loopc_packed> : tensor<3x90x32x{narrow}>", text
    )
    generics = re.findall(r"linalg.generic.*", text)
    assert len(generics) == 1
    assert '"reduction"' in generics[0]

    image = np.zeros((1, 32, 9, 9), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    text = _linalg(tmp_path, _weights(kind, (64, 32, 3, 3), 0), [node], image)
    assert not re.search(r"arith\.(extf|extsi|extui|sitofp|uitofp)", text)
    assert not re.search(r"tensor<[x0-9]*x(f16|bf16|i8)>", text)


@pytest.mark.parametrize("rows", [1, 9, 40])
def test_half_floats(rows: int) -> None:
    """Integers that become f16, which a product of f16 reads: rounded before it is."""
    random = np.random.default_rng(0)
    values = random.integers(-128, 128, (64, 96)).astype(np.int8)
    scale = np.linspace(0.001, 0.02, 96).astype(np.float16)
    node = helper.make_node("DequantizeLinear", ["w_q", "w_s"], ["w"], axis=1)
    floats = (values.astype(np.float32) * scale.astype(np.float32)).astype(np.float16)
    weights = Weights([node], {"w_q": values, "w_s": scale}, floats)
    x = random.standard_normal((rows, 64)).astype(np.float16)
    product = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    stored = _model([node, *product], weights.constants, x, [*x.shape])
    plain = _model(product, {"w": floats}, x, [*x.shape])
    got = loopc.InferenceSession(stored).run(None, {"x": x})[0]
    want = loopc.InferenceSession(plain).run(None, {"x": x})[0]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("columns", [31, 64, 100, 144, 257])
def test_two_vectors_at_a_time(columns: int) -> None:
    """Even and odd columns are summed up apart: whole tiles, rests, what follows, any rows."""
    random = np.random.default_rng(columns)
    floats = random.standard_normal((70, columns)).astype(np.float32)
    narrow = floats.astype(ml_dtypes.bfloat16)
    floats = narrow.astype(np.float32)
    bias = random.standard_normal(columns).astype(np.float32)
    node = helper.make_node("Cast", ["w_q"], ["w"], to=FLOAT)
    follow = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "bias"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    x = random.standard_normal((40, 70)).astype(np.float32)
    stored = _model([node, *follow], {"w_q": narrow, "bias": bias}, x, ["N", 70])
    plain = _model(follow, {"w": floats, "bias": bias}, x, ["N", 70])
    sessions = [loopc.InferenceSession(model) for model in (stored, plain)]
    for rows in (1, 2, 3, 7, 40):
        got, want = (session.run(None, {"x": x[:rows]})[0] for session in sessions)
        np.testing.assert_array_equal(got, want)
