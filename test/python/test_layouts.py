# ===- test_layouts.py - Networks whose tensors change the order of their axes -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Convolutions with what stands around them, in networks, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Callable

import loopc
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

# What stands between the convolutions f, [n, 32, ...] to as many channels, and g.
BODIES = {
    "relu": "a = Relu(f) z = g(a)",
    "residual": "a = Relu(f) b = g(a) c = Add(b, f) z = g(c)",
    "two_readers": "a = Sigmoid(f) b = Mul(a, f) c = g(b) d = g(f) z = Add(c, d)",
    "max_pool": "a = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(f) "
    "z = g(a)",
    "max_indices": "a, i = MaxPool<kernel_shape = [2, 2]>(f) b = g(a) c = Cast<to = 1>(i) "
    "z = Add(b, c)",
    "average": "a = AveragePool<kernel_shape = [2, 2], pads = [0, 0, 1, 1]>(f) z = g(a)",
    "concat": "a = Relu(f) b = g(a) c = Concat<axis = 1>(a, b) d = Slice(c, i16, i48, i1) z = g(d)",
    "split": "a, b = Split<axis = 1, num_outputs = 2>(f) c = Concat<axis = 1>(b, a) z = g(c)",
    "squeeze_excite": "a = GlobalAveragePool(f) b = h(a) c = Sigmoid(b) d = Mul(f, c) z = g(d)",
    "pad": 'a = Relu(f) p = Pad<mode = "reflect">(a, pads) z = g(p)',
    "resize": 's = Resize<mode = "nearest">(f, , scales) z = g(s)',
    "linear": 's = Resize<mode = "linear">(f, , scales) z = g(s)',
    "rows": "a = Softmax<axis = 1>(f) b = g(a) z = Softmax<axis = 3>(b)",
    "moments": "a = ReduceMean<keepdims = 1>(f, i1) b = Sub(f, a) z = g(b)",
    "instance": "a = InstanceNormalization(f, ones, zeros) z = g(a)",
    "batch": "a = BatchNormalization(f, ones, zeros, zeros, ones) z = g(a)",
    "last": "a = Transpose<perm = [0, 2, 3, 1]>(f) b = Add(a, ones) "
    "c = Transpose<perm = [0, 3, 1, 2]>(b) z = g(c)",
    "turned": "a = Transpose<perm = [0, 1, 3, 2]>(f) b = Relu(a) z = g(b)",
    "shuffle": "a = DepthToSpace<blocksize = 2>(f) b = SpaceToDepth<blocksize = 2>(a) z = g(b)",
    "flat": "s = Shape(f) a = Reshape(f, flat) b = Relu(a) c = Reshape(b, s) z = g(c)",
    "products": "a = Transpose<perm = [0, 1, 3, 2]>(f) b = MatMul(f, a) c = Relu(b) z = g(c)",
    "constant": "a = Add(f, channels) z = g(a)",
    "transposed": "a = ConvTranspose<strides = [2, 2], kernel_shape = [2, 2]>(f, t) z = g(a)",
    "branch": "m = ReduceMax<keepdims = 0>(f) o = Constant<value_float = 1.0>() y = Greater(m, o) "
    "a = If(y) <then_branch = p () => (float[n1, 32, h1, w1] q) { q = Relu(f) }, "
    "else_branch = r () => (float[n2, 32, h2, w2] s) { s = Neg(f) }> z = g(a)",
    "loop": "k = Constant<value_int = 3>() y = Constant<value_int = 1>() e = Cast<to = 9>(y) "
    "a = Loop(k, e, f) <body = p (int64 it, bool c, float[n3, 32, h3, w3] u) => "
    "(bool d, float[n4, 32, h4, w4] o) { d = Identity(c) t1 = g(u) o = Tanh(t1) }> z = g(a)",
}
CONVOLUTION = "Conv<kernel_shape = [{k}, {k}], pads = [{p}, {p}, {p}, {p}], group = {group}>"


def _text(body: str, group: int, shape: str) -> str:
    wide = CONVOLUTION.format(k=3, p=1, group=group)
    for name, call in [("g", wide), ("h", CONVOLUTION.format(k=1, p=0, group=1))]:
        weights = "v, c0" if name == "g" else "p0, c0"
        while f" {name}(" in body:
            begin = body.index(f" {name}(")
            end = body.index(")", begin)
            inner = body[begin + len(name) + 2 : end]
            body = f"{body[:begin]} {call}({inner}, {weights}{body[end:]}"
    return (
        f'<ir_version: 10, opset_import: ["": 21]> test (float[{shape}] x) => (float[p,q,r,s] z) '
        f"{{ f = {CONVOLUTION.format(k=3, p=1, group=1)}(x, w, c0) {body} }}"
    )


def _model(body: str, group: int, shape: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(_text(body, group, shape))
    random = np.random.default_rng(2)
    values = {
        "w": random.standard_normal((32, 5, 3, 3)) / 6,
        "v": random.standard_normal((32, 32 // group, 3, 3)) * (group / 300) ** 0.5,
        "p0": random.standard_normal((32, 32, 1, 1)) / 5,
        "t": random.standard_normal((32, 32, 2, 2)) / 5,
        "c0": random.standard_normal(32),
        "ones": 1 + random.random(32),
        "zeros": random.standard_normal(32),
        "channels": random.standard_normal((32, 1, 1)),
        "scales": np.array([1, 1, 2, 2]),
    }
    for name, value in values.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value.astype(np.float32), name))
    integers = {
        "i1": [1],
        "i16": [16],
        "i48": [48],
        "pads": [0, 0, 1, 1, 0, 0, 1, 1],
        "flat": [0, -1],
    }
    for name, numbers in integers.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(numbers), name))
    return model


def _inputs(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def _compare(model: onnx.ModelProto, inputs: list[np.ndarray]) -> None:
    data = model.SerializeToString()
    session = loopc.InferenceSession(data)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    for x in inputs:
        (want,) = peer.run(None, {"x": x})
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4, err_msg=str(x.shape))


@pytest.mark.parametrize("group", [1, 2, 32])
@pytest.mark.parametrize("name", BODIES)
def test_networks(name: str, group: int) -> None:
    """Sizes that are open, and sizes that are known."""
    square = name in ("products", "turned")
    shapes = [(1, 5, 6, 6), (2, 5, 20, 20)] if square else [(1, 5, 4, 6), (2, 5, 18, 34)]
    _compare(_model(BODIES[name], group, "n,5,h,w"), _inputs(shapes))
    _compare(_model(BODIES[name], group, ",".join(map(str, shapes[1]))), _inputs(shapes[1:]))


@pytest.mark.parametrize("cpu", ["x86-64-v3", "generic"])
@pytest.mark.parametrize("name", ["residual", "concat", "max_pool"])
def test_other_vectors(name: str, cpu: str) -> None:
    """Vectors of other widths, and without masks."""
    model = _model(BODIES[name], 1, "n,5,h,w")
    (x,) = _inputs([(2, 5, 11, 19)])
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (want,) = peer.run(None, {"x": x})
    options = loopc.SessionOptions(cpu=cpu)
    (got,) = loopc.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


# Axes of the kernel, steps, groups, dilation.
SHAPES = [
    ((5,), 1, 1, 1),
    ((5,), 2, 48, 1),
    ((1,), 3, 1, 1),
    ((3, 1), 1, 1, 2),
    ((1, 1), 2, 1, 1),
    ((1, 7), 1, 3, 1),
    ((3, 3), 2, 48, 2),
    ((2, 3, 2), 1, 1, 1),
    ((2, 1, 3), 2, 48, 1),
]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16], ids=lambda t: t.__name__)
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_axes(case: tuple[tuple[int, ...], int, int, int], kind: Callable[..., np.generic]) -> None:
    """One to three axes, other element types, weights from the run."""
    kernel, stride, group, dilation = case
    rank = len(kernel)
    random = np.random.default_rng(4)
    names = {np.float32: "float", np.float64: "double", np.float16: "float16"}[kind]
    open_axes = ",".join("abc"[:rank])
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> test ({names}[n,48,{open_axes}] x, '
        f"{names}[48,{48 // group},{','.join(map(str, kernel))}] w) => ({names}[] z) "
        f"{{ f = Conv<strides = {[stride] * rank}, group = {group}, "
        f"dilations = {[dilation] * rank}, pads = {[1] * rank * 2}>(x, w) z = Relu(f) }}"
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    x = random.standard_normal((2, 48, *(9, 11, 8)[:rank])).astype(kind)
    w = (random.standard_normal((48, 48 // group, *kernel)) / 10).astype(kind)
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x, "w": w})
    (want,) = ReferenceEvaluator(model).run(None, {"x": x, "w": w})
    tolerance = 1e-2 if kind is np.float16 else 1e-4
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_truth_values_in_products() -> None:
    """Tables looked up by a product with truth values (one-hot)."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> test (int64[n,t,1] x) => (float[n,t,24] z) '
        "{ e = Equal(x, k) c = Cast<to = 1>(e) z = MatMul(c, w) }"
    )
    random = np.random.default_rng(5)
    table = random.standard_normal((40, 24)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(40), "k"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(table, "w"))
    session = loopc.InferenceSession(model.SerializeToString())
    for shape in [(1, 1, 1), (2, 33, 1)]:
        x = random.integers(0, 40, shape)
        (got,) = session.run(None, {"x": x})
        np.testing.assert_array_equal(got, table[x[..., 0]])


@pytest.mark.parametrize("op", ["Div", "Mod"])
@pytest.mark.parametrize("shape", [(37, 53), (3, 5), (16, 16), (1, 7)])
def test_division_by_what_is_transposed(op: str, shape: tuple[int, int]) -> None:
    """Lanes beside the edge of a tile divide by nothing."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        divide (int32[N,M] x, int32[M,N] y) => (int32[N,M] z) {{
          t = Transpose <perm = [1, 0]> (y)
          z = {op} (x, t)
        }}"""
    )
    random = np.random.default_rng(1)
    x = random.integers(1, 100, shape).astype(np.int32)
    y = random.integers(1, 9, shape[::-1]).astype(np.int32)
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x, "y": y})
    np.testing.assert_array_equal(got, x // y.T if op == "Div" else x % y.T)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_part_of_what_is_transposed(axis: int) -> None:
    """A slice has the extents that it has in the model's order of axes."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]> model (float[A, A, A] x)
        => (float[?, ?, ?] part, float[?, ?, ?] all)
        <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] axis = {{{axis}}}> {{
            t = Transpose<perm = [1, 0, 2]>(x)
            u = Transpose<perm = [1, 0, 2]>(t)
            all = Neg(u)
            part = Slice(t, one, two, axis)
        }}"""
    )
    [x] = _inputs([(3, 3, 3)])
    part, everything = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_array_equal(part, np.take(x.transpose(1, 0, 2), [1], axis))
    np.testing.assert_array_equal(everything, -x)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("length", [32, 45, 211])
def test_rows_of_one_layer(length: int, is_open: bool) -> None:
    """A layer of few channels, the positions last: whole tiles and what is left of them."""
    shape = "N, 2, L" if is_open else f"2, 2, {length}"
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
    model (float[{shape}] x, float[32, 2, 7] w, float[32] b, float[1, 32, 1] c) => (float[A, B, C] y) {{
        t = Conv<strides = [3], pads = [2, 1], kernel_shape = [7]>(x, w, b)
        u = Relu(t)
        y = Mul(u, c)
    }}"""
    model = onnx.parser.parse_model(text)
    x, *constants = _inputs([(2, 2, length), (32, 2, 7), (32,), (1, 32, 1)])
    names = ("w", "b", "c")
    for name, value in zip(names, constants, strict=True):
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    for port in [port for port in model.graph.input if port.name in names]:
        model.graph.input.remove(port)
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
