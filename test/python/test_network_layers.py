# ===- test_network_layers.py - Layers of networks, one by one --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc.network: what each layer computes, against numpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import pytest
from loopc import network as trt

Array = np.ndarray[Any, Any]
Build = Callable[..., Any]


def run(build: Build, *arrays: Any, known: bool = True) -> list[Array]:
    """Runs the layer (or tensor, or several) that `build(network, *tensors)` returns.

    `known` says whether the extents of the inputs are.
    """
    network = trt.create_network("layer")
    feeds = {}
    tensors = []
    for number, array in enumerate(arrays):
        array = np.asarray(array)
        shape = array.shape if known else (-1,) * array.ndim
        tensors.append(network.add_input(f"x{number}", array.dtype, shape))
        feeds[f"x{number}"] = array
    made = build(network, *tensors)
    layers = made if isinstance(made, list) else [made]
    outputs = []
    for layer in layers:
        if isinstance(layer, trt.ITensor):
            outputs.append(layer)
        else:
            outputs += [layer.get_output(k) for k in range(layer.num_outputs)]
    for number, tensor in enumerate(outputs):
        tensor.name = f"y{number}"
        network.mark_output(tensor)
    results = loopc.InferenceSession(network).run(None, feeds)
    for tensor, result in zip(outputs, results, strict=True):
        assert tensor.dtype == trt.data_type(result.dtype)
        assert tensor.shape is not None and len(tensor.shape) == result.ndim
        assert all(a in (-1, b) for a, b in zip(tensor.shape, result.shape, strict=True))
    return results


def both(build: Build, *arrays: Any) -> Array:
    """The one output, the same whether extents are known or not."""
    known, open_ = (run(build, *arrays, known=known)[0] for known in (True, False))
    assert known.dtype == open_.dtype
    if known.dtype.kind == "f":
        np.testing.assert_allclose(known, open_, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(known, open_)
    return known


def constant(network: trt.INetworkDefinition, value: Any, dtype: Any = np.int64) -> trt.ITensor:
    array = np.asarray(value, dtype)
    return network.add_constant(array.shape, array).get_output(0)


def noise(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


EW = trt.ElementWiseOperation
BINARY: list[tuple[EW, Callable[[Array, Array], Array], str]] = [
    (EW.SUM, np.add, "fi"), (EW.PROD, np.multiply, "fi"), (EW.MAX, np.maximum, "fi"),
    (EW.MIN, np.minimum, "fi"), (EW.SUB, np.subtract, "fi"), (EW.DIV, np.divide, "f"),
    (EW.DIV, lambda a, b: np.trunc(a / b).astype(a.dtype), "i"),
    (EW.POW, lambda a, b: np.power(np.abs(a), b), "f"), (EW.FLOOR_DIV, np.floor_divide, "fi"),
    (EW.AND, np.logical_and, "b"), (EW.OR, np.logical_or, "b"), (EW.XOR, np.logical_xor, "b"),
    (EW.EQUAL, np.equal, "fi"), (EW.GREATER, np.greater, "fi"), (EW.LESS, np.less, "fi"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "reference", "kinds"), BINARY)
def test_elementwise(op: EW, reference: Callable[[Array, Array], Array], kinds: str) -> None:
    for kind in kinds:
        a, b = noise(3, 1, 4), noise(1, 2, 4, seed=1)
        if kind == "i":
            a, b = (a * 10).astype(np.int32), np.where(b > 0, 3, -2).astype(np.int32)
        if kind == "b":
            a, b = a > 0, b > 0
        if op == EW.POW:
            a = np.abs(a)
        got = both(lambda n, x, y: n.add_elementwise(x, y, op), a, b)
        np.testing.assert_allclose(got, reference(a, b), rtol=1e-5, atol=1e-6)


U = trt.UnaryOperation
UNARY: list[tuple[U, Callable[[Array], Array], Array]] = [
    (U.EXP, np.exp, noise(5)), (U.LOG, np.log, np.abs(noise(5))), (U.SQRT, np.sqrt, np.abs(noise(5))),
    (U.RECIP, np.reciprocal, noise(5)), (U.ABS, np.abs, noise(5)), (U.NEG, np.negative, noise(5)),
    (U.SIN, np.sin, noise(5)), (U.COS, np.cos, noise(5)), (U.TAN, np.tan, noise(5)),
    (U.SINH, np.sinh, noise(5)), (U.COSH, np.cosh, noise(5)), (U.ASIN, np.arcsin, np.tanh(noise(5))),
    (U.ACOS, np.arccos, np.tanh(noise(5))), (U.ATAN, np.arctan, noise(5)),
    (U.ASINH, np.arcsinh, noise(5)), (U.ACOSH, np.arccosh, 1 + np.abs(noise(5))),
    (U.ATANH, np.arctanh, np.tanh(noise(5))), (U.CEIL, np.ceil, noise(5)),
    (U.FLOOR, np.floor, noise(5)), (U.ERF, np.vectorize(math.erf, "f"), noise(5)),
    (U.NOT, np.logical_not, noise(5) > 0), (U.SIGN, np.sign, noise(5)),
    (U.ROUND, np.round, np.array([0.5, 1.5, -2.5, 2.4], np.float32)),
    (U.ISINF, np.isinf, np.array([1, np.inf, np.nan], np.float32)),
    (U.ISNAN, np.isnan, np.array([1, np.inf, np.nan], np.float32)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "reference", "x"), UNARY, ids=lambda one: getattr(one, "name", ""))
def test_unary(op: U, reference: Callable[[Array], Array], x: Array) -> None:
    np.testing.assert_allclose(
        both(lambda n, t: n.add_unary(t, op), x), reference(x), rtol=1e-4, atol=1e-6
    )


A = trt.ActivationType
ACTIVATIONS: list[tuple[A, float | None, float | None, Callable[[Array], Array]]] = [
    (A.RELU, None, None, lambda x: np.maximum(x, 0)),
    (A.SIGMOID, None, None, lambda x: 1 / (1 + np.exp(-x))),
    (A.TANH, None, None, np.tanh),
    (A.LEAKY_RELU, 0.3, None, lambda x: np.where(x >= 0, x, 0.3 * x)),
    (A.ELU, 0.7, None, lambda x: np.where(x >= 0, x, 0.7 * np.expm1(x))),
    (A.SELU, 1.5, 2.0, lambda x: 2 * np.where(x > 0, x, 1.5 * np.expm1(x))),
    (A.SOFTSIGN, None, None, lambda x: x / (1 + np.abs(x))),
    (A.SOFTPLUS, 2.0, 0.5, lambda x: 2 * np.log1p(np.exp(0.5 * x))),
    (A.CLIP, -0.5, 0.25, lambda x: np.clip(x, -0.5, 0.25)),
    (A.CLIP, None, 0.25, lambda x: np.minimum(x, 0.25)),
    (A.HARD_SIGMOID, 0.4, 0.3, lambda x: np.clip(0.4 * x + 0.3, 0, 1)),
    (A.SCALED_TANH, 2.0, 0.5, lambda x: 2 * np.tanh(0.5 * x)),
    (A.THRESHOLDED_RELU, 0.4, None, lambda x: np.where(x > 0.4, x, 0)),
    (A.GELU_ERF, None, None, lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    (A.GELU_TANH, None, None,
     lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "alpha", "beta", "reference"), ACTIVATIONS)
def test_activation(
    kind: A, alpha: float | None, beta: float | None, reference: Callable[[Array], Array]
) -> None:
    def build(n: trt.INetworkDefinition, x: trt.ITensor) -> Any:
        layer = n.add_activation(x, kind)
        if alpha is not None:
            layer.alpha = alpha
        if beta is not None:
            layer.beta = beta
        return layer

    x = noise(4, 5)
    np.testing.assert_allclose(both(build, x), reference(x), rtol=1e-4, atol=1e-6)


M = trt.MatrixOperation


@pytest.mark.parametrize(("op0", "op1"), list(itertools.product(M, M)))
def test_matrix_multiply(op0: M, op1: M) -> None:
    """Every pair of operations, one matrix or a batch of them."""
    for batch in ((), (1,), (2, 3)):
        a = noise(*batch, 4) if op0 == M.VECTOR else noise(*batch, 3, 4)
        b = noise(*batch, 4, seed=1) if op1 == M.VECTOR else noise(*batch, 4, 5, seed=1)
        left = a[..., None, :] if op0 == M.VECTOR else a
        right = b[..., None] if op1 == M.VECTOR else b
        want = left @ right
        if op1 == M.VECTOR:
            want = want[..., 0]
        if op0 == M.VECTOR:
            want = want[..., 0, :] if op1 != M.VECTOR else want[..., 0]
        if op0 == M.TRANSPOSE:
            a = np.ascontiguousarray(np.swapaxes(a, -1, -2))
        if op1 == M.TRANSPOSE:
            b = np.ascontiguousarray(np.swapaxes(b, -1, -2))
        got = both(lambda n, x, y: n.add_matrix_multiply(x, op0, y, op1), a, b)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_convolution_and_deconvolution() -> None:
    """Against onnxruntime: strides, paddings, dilations, groups; weights and inputs."""
    x, w, b = noise(2, 4, 7, 8), noise(6, 2, 3, 3, seed=1), noise(6, seed=2)
    options: dict[str, Any] = {"strides": [2, 1], "pads": [1, 0, 0, 2], "dilations": [1, 2], "group": 2}  # fmt: skip

    def set_up(layer: Any) -> Any:
        layer.stride_nd, layer.dilation_nd, layer.num_groups = (2, 1), (1, 2), 2
        layer.pre_padding, layer.post_padding = (1, 0), (0, 2)
        return layer

    def by_node(op: str, kernel: Array) -> Array:
        return both(lambda n, x, w, b: n.add_node(op, [x, w, b], options), x, kernel, b)

    def by_inputs(n: trt.INetworkDefinition, x: Any, w: Any, b: Any) -> Any:
        layer = set_up(n.add_convolution_nd(x, 6, (3, 3)))
        layer.set_input(1, w)
        layer.set_input(2, b)
        return layer

    want = by_node("Conv", w)
    got = both(lambda n, x: set_up(n.add_convolution_nd(x, 6, (3, 3), w, b)), x)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(both(by_inputs, x, w, b), want, rtol=1e-4, atol=1e-5)
    w = noise(4, 3, 3, 3, seed=3)
    got = both(lambda n, x: set_up(n.add_deconvolution_nd(x, 6, (3, 3), w, b)), x)
    np.testing.assert_allclose(got, by_node("ConvTranspose", w), rtol=1e-4, atol=1e-5)


def test_padding_at_both_ends() -> None:
    x = noise(1, 1, 3, 4)

    def build(n: trt.INetworkDefinition, t: trt.ITensor, both_ends: bool) -> Any:
        layer = n.add_convolution_nd(t, 1, (2, 2), np.ones((1, 1, 2, 2), np.float32))
        if both_ends:
            layer.padding_nd = (1, 2)
            assert layer.padding_nd == layer.pre_padding == layer.post_padding == (1, 2)
        else:
            layer.pre_padding = layer.post_padding = (1, 2)
        return layer

    got, want = (both(lambda n, t, k=k: build(n, t, k), x) for k in (True, False))
    assert got.shape == (1, 1, 4, 7)
    np.testing.assert_array_equal(got, want)


def test_attributes_that_a_layer_has_not() -> None:
    net = trt.create_network("attributes")
    layer = net.add_identity(net.add_input("x", np.float32, (2,)))
    with pytest.raises(AttributeError, match="IIdentityLayer has no attribute 'alhpa'"):
        layer.alhpa = 0.5  # type: ignore[attr-defined]


def test_pooling() -> None:
    x = noise(1, 2, 5, 6)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))[:, :, ::2]
    pooled = {"MAX": windows.max((-1, -2)), "AVERAGE": windows.mean((-1, -2))}
    pooled["MAX_AVERAGE_BLEND"] = 0.75 * pooled["MAX"] + 0.25 * pooled["AVERAGE"]

    for kind, want in pooled.items():

        def build(n: trt.INetworkDefinition, t: trt.ITensor, kind: str = kind) -> Any:
            layer = n.add_pooling_nd(t, trt.PoolingType[kind], (2, 3))
            layer.stride_nd, layer.blend_factor = (2, 1), 0.25
            return layer

        np.testing.assert_allclose(both(build, x), want, rtol=1e-5, atol=1e-6)

    def padded(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layers = []
        for excludes in (True, False):
            layer = n.add_pooling_nd(t, trt.PoolingType.AVERAGE, (2, 2))
            layer.padding_mode = trt.PaddingMode.EXPLICIT_ROUND_UP
            layer.pre_padding, layer.stride_nd = (1, 1), (2, 2)
            layer.average_count_excludes_padding = excludes
            layers.append(layer)
        return layers

    ones = np.ones((1, 1, 3, 3), np.float32)
    excludes, includes = run(padded, ones)
    np.testing.assert_array_equal(excludes, np.ones((1, 1, 2, 2)))
    assert includes[0, 0, 0, 0] == 0.25 and includes[0, 0, 1, 1] == 1


@pytest.mark.parametrize("op", list(trt.ReduceOperation))
def test_reduce(op: trt.ReduceOperation) -> None:
    reference = {"SUM": np.sum, "PROD": np.prod, "MAX": np.max, "MIN": np.min, "AVG": np.mean}
    x = noise(2, 3, 4)
    for axes, keep in (((0,), True), ((1, 2), False)):
        mask = sum(1 << axis for axis in axes)
        got = both(lambda n, t: n.add_reduce(t, op, mask, keep), x)  # noqa: B023
        want = reference[op.name](x, axis=axes, keepdims=keep)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_shuffle() -> None:
    x = noise(2, 3, 4)

    def build(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layer = n.add_shuffle(t)
        layer.first_transpose = (2, 0, 1)
        layer.reshape_dims = (0, -1)
        layer.second_transpose = (1, 0)
        return layer

    np.testing.assert_array_equal(both(build, x), x.transpose(2, 0, 1).reshape(4, -1).T)

    def by_tensor(n: trt.INetworkDefinition, t: trt.ITensor, shape: trt.ITensor) -> Any:
        layer = n.add_shuffle(t)
        layer.set_input(1, shape)
        return layer

    shape = np.array([6, -1], np.int32)
    np.testing.assert_array_equal(run(by_tensor, x, shape)[0], x.reshape(6, -1))

    def empty(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layer = n.add_shuffle(t)
        layer.reshape_dims, layer.zero_is_placeholder = (0, 5), False
        return layer

    assert both(empty, noise(3, 0)).shape == (0, 5)


SLICES = [
    ((0, 1), (2, 3), (1, 1)), ((1, 4), (2, 3), (2, -2)), ((3, 0), (2, 2), (-1, 3)),
    ((0, 0), (0, 2), (1, 1)), ((2, 5), (3, 1), (-1, -1)), ((1, 2), (2, 4), (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("start", "size", "stride"), SLICES)
@pytest.mark.parametrize("by", ["values", "tensors", "start"])
def test_slice(start: Any, size: Any, stride: Any, by: str) -> None:
    """Start, size and stride as values or tensors; strides backwards and of zero."""
    x = noise(4, 6)
    at = [np.array([s + k * d for k in range(n)], np.int64)
          for s, n, d in zip(start, size, stride, strict=True)]  # fmt: skip
    want = x[np.ix_(*at)]
    given = [np.array(one, np.int32) for one in (start, size, stride)]
    if by == "values":
        got = both(lambda n, t: n.add_slice(t, start, size, stride), x)
    else:

        def build(n: trt.INetworkDefinition, t: trt.ITensor, *parts: trt.ITensor) -> Any:
            layer = n.add_slice(t, start, size, stride)
            for index, part in enumerate(parts):
                layer.set_input(1 + index, part)
            return layer

        got = both(build, x, *(given if by == "tensors" else given[:1]))
    np.testing.assert_array_equal(got, want)


def test_slice_has_the_size_that_is_given() -> None:
    """A window at a place that is computed has static extents."""
    n = trt.create_network()
    x, at = n.add_input("x", trt.float32, (-1, 8)), n.add_input("at", trt.int64, (2,))
    layer = n.add_slice(x, (0, 0), (1, 3), (1, 1))
    layer.set_input(1, at)
    assert layer.get_output(0).shape == (1, 3)


@pytest.mark.parametrize("mode", ["WRAP", "CLAMP", "REFLECT"])
def test_slice_of_no_elements(mode: str) -> None:
    """There is none that an index could be brought to; a slice of nothing needs none."""
    n = trt.create_network()
    x, size = n.add_input("x", trt.float32, (-1,)), n.add_input("n", trt.int64, (1,))
    layer = n.add_slice(x, (0,), (1,), (1,))
    layer.set_input(2, size)
    layer.mode = trt.SampleMode[mode]
    n.mark_output(layer.get_output(0))
    session = loopc.InferenceSession(n)
    empty = np.zeros(0, np.float32)
    assert session.run(None, {"x": empty, "n": np.int64([0])})[0].size == 0
    with pytest.raises(loopc.RunError, match="axis 0 has no elements to slice"):
        session.run(None, {"x": empty, "n": np.int64([2])})


@pytest.mark.parametrize("known", [True, False])
def test_slice_beyond_the_bounds(known: bool) -> None:
    """kSTRICT_BOUNDS is an error, at once where the extents are known; else the modes."""
    x = noise(5)
    error = loopc.CompileError if known else loopc.RunError
    with pytest.raises(error, match=r"Slice|slice"):
        run(lambda n, t: n.add_slice(t, (3,), (3,), (1,)), x, known=known)
    at = np.arange(-3, 9)
    wants = {
        "WRAP": x[at % 5],
        "CLAMP": x[np.clip(at, 0, 4)],
        "REFLECT": np.pad(x, (3, 4), "reflect"),
        "FILL": np.pad(x, (3, 4)),
    }
    for mode, want in wants.items():

        def build(n: trt.INetworkDefinition, t: trt.ITensor, mode: str = mode) -> Any:
            layer = n.add_slice(t, (-3,), (12,), (1,))
            layer.mode = trt.SampleMode[mode]
            return layer

        np.testing.assert_array_equal(run(build, x, known=known)[0], want)

    def filled(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layer = n.add_slice(t, (4,), (3,), (1,))
        layer.mode = trt.SampleMode.FILL
        layer.set_input(4, constant(n, 7, np.float32))
        return layer

    np.testing.assert_array_equal(run(filled, x, known=known)[0], [x[4], 7, 7])


def test_slice_of_axes() -> None:
    x = noise(3, 4, 5)

    def build(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layer = n.add_slice(t, (1,), (2,), (2,))
        layer.axes = (-1,)
        return layer

    np.testing.assert_array_equal(both(build, x), x[:, :, 1:5:2])


def test_gather() -> None:
    """Along an axis, by elements, by tuples; axes that both go through together."""
    x = noise(2, 3, 4, 5)
    index = np.array([[3, 0], [1, 1]], np.int32)
    got = both(lambda n, t, i: n.add_gather(t, i, 2), x, index)
    np.testing.assert_array_equal(got, np.take(x, index, 2))

    def elements(n: trt.INetworkDefinition, t: trt.ITensor, i: trt.ITensor) -> Any:
        layer = n.add_gather_v2(t, i, trt.GatherMode.ELEMENT)
        layer.axis = 1
        return layer

    at = np.random.default_rng(0).integers(0, 3, (2, 2, 4, 5)).astype(np.int32)
    np.testing.assert_array_equal(both(elements, x, at), np.take_along_axis(x, at, 1))
    tuples = np.array([[1, 2], [0, 0]], np.int64)
    (got,) = run(lambda n, t, i: n.add_gather_v2(t, i, trt.GatherMode.ND), x, tuples)
    np.testing.assert_array_equal(got, x[tuples[:, 0], tuples[:, 1]])

    for axis, batch in ((1, 1), (3, 1), (3, 2), (2, 2)):

        def build(n: trt.INetworkDefinition, t: trt.ITensor, i: trt.ITensor,
                  axis: int = axis, batch: int = batch) -> Any:  # fmt: skip
            layer = n.add_gather(t, i, axis)
            layer.num_elementwise_dims = batch
            return layer

        places = np.random.default_rng(axis).integers(0, 3, (*x.shape[:batch], 2, 3))
        want = np.stack([
            np.take(x[b], places[b], axis - batch) for b in np.ndindex(*x.shape[:batch])
        ])  # fmt: skip
        want = want.reshape(*x.shape[:batch], *want.shape[1:])
        np.testing.assert_array_equal(both(build, x, places.astype(np.int64)), want)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_tuples_of_indices(dtype: Any) -> None:
    """TensorRT's indices are INT32, ONNX's of tuples are INT64."""
    x, rows = noise(3, 4), noise(2, 4, seed=1)
    tuples = np.array([[2], [0]], dtype)
    (got,) = run(lambda n, t, i: n.add_gather_v2(t, i, trt.GatherMode.ND), x, tuples)
    np.testing.assert_array_equal(got, x[[2, 0]])
    mode = trt.ScatterMode.ND
    (got,) = run(lambda n, d, i, u: n.add_scatter(d, i, u, mode), x, tuples, rows)
    want = x.copy()
    want[[2, 0]] = rows
    np.testing.assert_array_equal(got, want)

    def batched(n: trt.INetworkDefinition, t: trt.ITensor, i: trt.ITensor) -> Any:
        layer = n.add_gather(t, i, 1)
        layer.num_elementwise_dims = 1
        return layer

    places = np.array([[1, 0], [3, 3], [2, 0]], dtype)
    np.testing.assert_array_equal(both(batched, x, places), np.take_along_axis(x, places, 1))


@pytest.mark.parametrize("axis", [0, -1])
def test_one_hot_of_one_index(axis: int) -> None:
    got = both(lambda n, i, v: n.add_one_hot(i, v, constant(n, 3), axis),
               np.array(2, np.int32), np.float32([-1, 1]))  # fmt: skip
    np.testing.assert_array_equal(got, np.float32([-1, -1, 1]))


def test_slice_of_nothing_begins_anywhere() -> None:
    x = noise(3)
    for stride in (1, -1):
        got = both(lambda n, t, s=stride: n.add_slice(t, (-1,), (0,), (s,)), x)
        assert got.shape == (0,)

    def computed(n: trt.INetworkDefinition, t: trt.ITensor, start: Any, size: Any) -> Any:
        layer = n.add_slice(t, (0,), (0,), (-1,))
        layer.set_input(1, start)
        layer.set_input(2, size)
        return layer

    (got,) = run(computed, x, np.array([-1], np.int64), np.array([0], np.int64))
    assert got.shape == (0,)


def test_slice_fills_what_has_no_elements() -> None:
    def build(n: trt.INetworkDefinition, t: trt.ITensor) -> Any:
        layer = n.add_slice(t, (-1, 0), (2, 2), (1, 1))
        layer.mode = trt.SampleMode.FILL
        return layer

    for shape in ((0, 3), (3, 0), (0, 0)):
        got = both(build, np.ones(shape, np.float32))
        np.testing.assert_array_equal(got, np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(both(build, np.ones((2, 1), np.float32)), [[0, 0], [1, 0]])


def test_select_shape_cast_identity_concatenation() -> None:
    a, b = noise(3, 4), noise(3, 4, seed=1)
    got = both(lambda n, c, x, y: n.add_select(c, x, y), a > b, a, b)
    np.testing.assert_array_equal(got, np.maximum(a, b))
    np.testing.assert_array_equal(both(lambda n, x: n.add_shape(x), a), [3, 4])
    np.testing.assert_array_equal(both(lambda n, x: n.add_cast(x, np.int32), a * 9),
                                  (a * 9).astype(np.int32))  # fmt: skip
    np.testing.assert_array_equal(both(lambda n, x: n.add_identity(x), a), a)

    def build(n: trt.INetworkDefinition, x: trt.ITensor, y: trt.ITensor) -> Any:
        layer = n.add_concatenation([x, y, x])
        layer.axis = -1
        return layer

    np.testing.assert_array_equal(both(build, a, b), np.concatenate([a, b, a], -1))


def test_softmax_and_topk() -> None:
    x = noise(2, 3, 4, 5)

    def softmax(n: trt.INetworkDefinition, t: trt.ITensor, axes: int | None) -> Any:
        layer = n.add_softmax(t)
        if axes is not None:
            layer.axes = axes
        return layer

    for axes, axis in ((None, 1), (8, 3)):
        e = np.exp(x - x.max(axis, keepdims=True))
        got = both(lambda n, t: softmax(n, t, axes), x)  # noqa: B023
        np.testing.assert_allclose(got, e / e.sum(axis, keepdims=True), rtol=1e-5)

    order = np.argsort(-x, -1)[..., :2]
    values, indices = run(lambda n, t: n.add_topk(t, trt.TopKOperation.MAX, 2, 8), x)
    np.testing.assert_array_equal(indices, order.astype(np.int32))
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))

    def computed(n: trt.INetworkDefinition, t: trt.ITensor, k: trt.ITensor) -> Any:
        layer = n.add_topk(t, trt.TopKOperation.MIN, 0, 8, np.int64)
        layer.set_input(1, k)
        return layer

    values, indices = run(computed, x, np.array(3, np.int32))
    np.testing.assert_array_equal(indices, np.argsort(x, -1)[..., :3])


def test_fill() -> None:
    """Lines over one axis or several, of given or computed shapes; random values."""

    def line(n: trt.INetworkDefinition) -> Any:
        layer = n.add_fill((4,), trt.FillOperation.LINSPACE)
        layer.alpha, layer.beta = 1.5, 0.5
        return layer

    np.testing.assert_array_equal(run(line)[0], np.float32([1.5, 2, 2.5, 3]))

    def plane(n: trt.INetworkDefinition, s: trt.ITensor, a: trt.ITensor, d: trt.ITensor) -> Any:
        layer = n.add_fill((), trt.FillOperation.LINSPACE, np.int32)
        for index, tensor in enumerate((s, a, d)):
            layer.set_input(index, tensor)
        return layer

    i32 = np.int32
    (got,) = run(plane, np.array([2, 3], i32), np.array(5, i32), np.array([10, 1], i32))
    np.testing.assert_array_equal(got, i32([[5, 6, 7], [15, 16, 17]]))

    def uniform(n: trt.INetworkDefinition) -> Any:
        layer = n.add_fill((1000,), trt.FillOperation.RANDOM_UNIFORM)
        layer.alpha, layer.beta = 2, 4
        return layer

    (got,) = run(uniform)
    assert got.min() >= 2 and got.max() <= 4 and abs(got.mean() - 3) < 0.2

    def normal(n: trt.INetworkDefinition, mean: trt.ITensor, deviation: trt.ITensor) -> Any:
        layer = n.add_fill((2000,), trt.FillOperation.RANDOM_NORMAL)
        layer.set_input(1, mean)
        layer.set_input(2, deviation)
        return layer

    (got,) = run(normal, np.float32(5), np.float32(2))
    assert abs(got.mean() - 5) < 0.5 and abs(got.std() - 2) < 0.5


def test_scatter_one_hot_non_zero_einsum() -> None:
    x, updates = np.zeros((3, 4), np.float32), noise(1, 4)
    index = np.array([[2, 0, 1, 1]], np.int64)
    mode = trt.ScatterMode.ELEMENT
    got = both(lambda n, d, i, u: n.add_scatter(d, i, u, mode), x, index, updates)
    want = x.copy()
    np.put_along_axis(want, index, updates, 0)
    np.testing.assert_array_equal(got, want)
    tuples, rows = np.array([[2], [0]], np.int64), noise(2, 4)
    mode = trt.ScatterMode.ND
    (got,) = run(lambda n, d, i, u: n.add_scatter(d, i, u, mode), x, tuples, rows)
    want = x.copy()
    want[[2, 0]] = rows
    np.testing.assert_array_equal(got, want)

    got = both(lambda n, i, v: n.add_one_hot(i, v, constant(n, 3), -1),
               np.array([0, 2]), np.float32([-1, 1]))  # fmt: skip
    np.testing.assert_array_equal(got, np.float32([[1, -1, -1], [-1, -1, 1]]))
    flags = np.array([[1, 0, 2], [0, 3, 0]], np.float32)
    got = both(lambda n, t: n.add_non_zero(t), flags)
    np.testing.assert_array_equal(got, np.array(np.nonzero(flags), np.int32))
    a, b = noise(2, 3, 4), noise(2, 4, 5, seed=1)
    got = both(lambda n, x, y: n.add_einsum([x, y], "bij,bjk->bik"), a, b)
    np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_normalization(dtype: Any) -> None:
    """Over the last axes, over space, and by groups with a scale a group or a channel."""
    x = (3 * noise(2, 4, 5, 3) + 1).astype(dtype)
    wide = x.astype(np.float32)

    def normalized(values: Array, axes: Any) -> Array:
        mean, var = values.mean(axes, keepdims=True), values.var(axes, keepdims=True)
        return (values - mean) / np.sqrt(var + 1e-3)

    cases = [((2, 3), 1, (1, 4, 1, 1)), ((3,), 1, (1, 1, 1, 3)),
             ((2, 3), 2, (1, 4, 1, 1)), ((2, 3), 2, (1, 2, 1, 1))]  # fmt: skip
    for axes, groups, shape in cases:
        scale, bias = noise(*shape).astype(dtype), noise(*shape, seed=1).astype(dtype)
        y = wide
        if groups > 1:
            y = normalized(wide.reshape(2, groups, -1, 5, 3), (2, 3, 4)).reshape(x.shape)
        else:
            y = normalized(wide, axes)
        repeat = 4 // shape[1] if groups > 1 else 1
        want = y * np.repeat(scale, repeat, 1) + np.repeat(bias, repeat, 1)

        def build(n: trt.INetworkDefinition, t: Any, s: Any, b: Any,
                  axes: Any = axes, groups: int = groups) -> Any:  # fmt: skip
            layer = n.add_normalization(t, s, b, sum(1 << axis for axis in axes))
            layer.epsilon, layer.num_groups = 1e-3, groups
            return layer

        (got,) = run(build, x, scale, bias)
        assert got.dtype == dtype
        tolerance = 1e-4 if dtype == np.float32 else 1e-2
        np.testing.assert_allclose(got.astype(np.float32), want, rtol=tolerance, atol=tolerance)


def test_squeeze_unsqueeze_cumulative_prelu_reverse_sequence() -> None:
    x = noise(3, 1, 4)
    got = both(lambda n, t: n.add_squeeze(t, constant(n, [1])), x)
    np.testing.assert_array_equal(got, x[:, 0])
    got = both(lambda n, t: n.add_unsqueeze(t, constant(n, [0, -1])), x)
    assert got.shape == (1, 3, 1, 4, 1)
    op = trt.CumulativeOperation.SUM
    got = both(lambda n, t: n.add_cumulative(t, constant(n, 2), op, True, False), x)
    np.testing.assert_allclose(got, np.cumsum(x, 2) - x, rtol=1e-5, atol=1e-6)
    got = both(lambda n, t, s: n.add_parametric_relu(t, s), x, np.float32([[[0.5]]]))
    np.testing.assert_array_equal(got, np.where(x >= 0, x, np.float32(0.5) * x))
    y = noise(4, 2)
    got = both(lambda n, t, i: n.add_reverse_sequence(t, i), y, np.array([3, 2], np.int32))
    want = y.copy()
    want[:3, 0], want[:2, 1] = y[:3, 0][::-1], y[:2, 1][::-1]
    np.testing.assert_array_equal(got, want)


def test_assertion() -> None:
    """An assertion ends the run; one in a loop that gives nothing does not."""
    n = trt.create_network("asserted")
    x = n.add_input("x", trt.float32, (-1,))
    zero = constant(n, [0], np.float32)
    positive = n.add_elementwise(x, zero, EW.GREATER).get_output(0)
    n.add_assertion(positive, "x must be {positive}").name = "guard"
    loop = n.add_loop()
    loop.add_trip_limit(constant(n, 1, np.int32), trt.TripLimit.COUNT)
    item = loop.add_iterator(positive).get_output(0)
    n.add_assertion(n.add_unary(item, U.NOT).get_output(0), "never")
    y = n.add_elementwise(x, x, EW.SUM).get_output(0)
    n.mark_output(y)
    session = loopc.InferenceSession(n)
    np.testing.assert_array_equal(session.run(None, {"x": np.float32([1, 2])})[0], [2, 4])
    with pytest.raises(loopc.RunError, match=r"Assertion 'guard'.*x must be \{ ?positive"):
        session.run(None, {"x": np.float32([1, -2])})


def test_braces_in_an_assertion() -> None:
    """Braces in names and messages stand for no values."""
    n = trt.create_network("braces")
    x = n.add_input("x", trt.bool, ())
    n.add_assertion(x, "not {*}, not {}").name = "guard {*}{}"
    n.mark_output(n.add_identity(x).get_output(0))
    with pytest.raises(
        loopc.RunError, match=r"Assertion 'guard \{ ?\*\}\{ ?\}'.*not \{ ?\*\}, not"
    ):
        loopc.InferenceSession(n).run(None, {"x": np.array(False)})


@pytest.mark.parametrize(
    "dtype",
    [np.float16, np.float64, np.int8, np.int16, np.uint8, np.uint16, np.uint32, np.uint64,
     np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
     ml_dtypes.int4, ml_dtypes.uint4],
)  # fmt: skip
def test_data_types(dtype: Any) -> None:
    """Inputs, constants (packed where narrow), casts and carried values of every type."""
    values = np.array([0, 1, 1, 0, 1], np.float32)
    n = trt.create_network("types")
    x = n.add_input("x", dtype, (5,))
    loop = n.add_loop()
    loop.add_trip_limit(n.add_input("n", trt.int32, ()), trt.TripLimit.COUNT)
    rec = loop.add_recurrence(constant(n, values, dtype))
    rec.set_input(1, x)
    last = loop.add_loop_output(rec.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)
    n.mark_output(last)
    n.mark_output(n.add_cast(last, np.float32).get_output(0))
    session = loopc.InferenceSession(n)
    other = (1 - values).astype(dtype)
    for trips, want in ((0, values), (2, 1 - values)):
        got, wide = session.run(None, {"x": other, "n": np.array(trips, np.int32)})
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got.astype(np.float32), want)
        np.testing.assert_array_equal(wide, want)


def test_large_weights_and_strings() -> None:
    """Weights of more than a kilobyte are resources; constants of strings."""
    w = noise(64, 64)
    got = both(lambda n, x: n.add_matrix_multiply(x, M.VECTOR, constant(n, w, np.float32), M.NONE),
               w[0])  # fmt: skip
    np.testing.assert_allclose(got, w[0] @ w, rtol=1e-3, atol=1e-4)
    texts = np.array([["a", "bc"], ["", "é"]], object)
    n = trt.create_network("texts")
    n.mark_output(n.add_constant((2, 2), texts).get_output(0))
    np.testing.assert_array_equal(loopc.InferenceSession(n).run(None, {})[0], texts)


def test_node() -> None:
    """An operator of ONNX by name: attributes of every kind, inputs left out."""
    x = noise(2, 6)
    got = both(lambda n, t: n.add_node("Clip", [t, None, constant(n, 0.5, np.float32)]), x)
    np.testing.assert_array_equal(got, np.minimum(x, np.float32(0.5)))
    parts = run(lambda n, t: n.add_node("Split", [t], {"axis": 1, "num_outputs": 3}, 3), x)
    np.testing.assert_array_equal(np.concatenate(parts, 1), x)
    with pytest.raises(loopc.CompileError, match="NoSuch"):
        run(lambda n, t: n.add_node("NoSuch", [t]), x)
