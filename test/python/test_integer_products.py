# ===- test_integer_products.py - Products of integers of 8 bits -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products of integers of 8 bits are those of NumPy, bit by bit.

All signs, the ends of their ranges, zero points, sizes around those of groups,
vectors and tiles, open shapes, loops; by instructions that take bytes, pairs of
16 bits, or neither.
"""

from __future__ import annotations

import itertools
import platform
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest

Kind = Any
SIGNS = list(itertools.product((np.uint8, np.int8), repeat=2))
SIZES = [
    (1, 8, 16),
    (3, 5, 7),
    (1, 1, 1),
    (2, 3, 100),
    (5, 0, 9),
    (0, 4, 4),
    (9, 257, 4),
    (17, 33, 45),
    (70, 1030, 65),
]
#: What this machine's features are less, so that other instructions are chosen.
TARGETS = {
    "own": "",
    "avx512": "-avx512vnni,-avxvnni",
    "avx2": "-avx512f,-avxvnni",
    "sse": "-avx512f,-avx2,-avx,-avxvnni",
}
if platform.machine() != "x86_64":
    TARGETS = {"own": ""}


def _bytes(kind: Kind, *shape: int, seed: int = 0) -> np.ndarray:
    """Random ones, with the ends of the range among them."""
    random = np.random.default_rng([seed, *shape])
    ends = np.iinfo(kind)
    values = random.integers(ends.min, ends.max + 1, shape).astype(kind)
    values[random.random(shape) < 0.1] = ends.min
    values[random.random(shape) < 0.1] = ends.max
    return values


def _run(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, np.ndarray],
    constants: dict[str, np.ndarray],
    *,
    is_open: bool = False,
    features: str = "",
) -> np.ndarray:
    ports = []
    for name, value in inputs.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        shape = [None] * value.ndim if is_open else value.shape
        ports.append(onnx.helper.make_tensor_value_info(name, kind, shape))
    graph = onnx.helper.make_graph(
        nodes,
        "product",
        ports,
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    model.ir_version = 10
    options = loopc.SessionOptions(features=features) if features else None
    session = loopc.InferenceSession(model.SerializeToString(), sess_options=options)
    return session.run(None, inputs)[0]


def _wide(value: np.ndarray) -> np.ndarray:
    return value.astype(np.int64)


def _product(
    size: tuple[int, int, int],
    kinds: tuple[Kind, Kind],
    *,
    constant: bool,
    zeros: tuple[Any, Any] = (None, None),
    **options: Any,
) -> None:
    """MatMulInteger of random matrices against NumPy."""
    rows, terms, columns = size
    a, b = _bytes(kinds[0], rows, terms), _bytes(kinds[1], terms, columns, seed=1)
    inputs, constants = {"a": a}, {}
    (constants if constant else inputs)["b"] = b
    x, w = _wide(a), _wide(b)
    names = ["a", "b", "", ""]
    if zeros[0] is not None:
        zero = np.asarray(zeros[0]).astype(kinds[0])
        names[2], constants["az"] = "az", zero
        x = x - (_wide(zero)[:, None] if zero.ndim else _wide(zero))
    if zeros[1] is not None:
        zero = np.asarray(zeros[1]).astype(kinds[1])
        names[3], constants["bz"] = "bz", zero
        w = w - _wide(zero)
    while not names[-1]:
        names.pop()
    node = onnx.helper.make_node("MatMulInteger", names, ["y"])
    got = _run([node], inputs, constants, **options)
    np.testing.assert_array_equal(got, (x @ w).astype(np.int32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("kinds", SIGNS)
def test_sizes(kinds: tuple[Kind, Kind], constant: bool, target: str) -> None:
    """Without zero points, static and open."""
    # All of them once; of what differs by target some.
    is_own = target == "own"
    for size in SIZES if is_own else SIZES[1::4]:
        for is_open in (False, True) if is_own else (size[0] > 2,):
            _product(size, kinds, constant=constant, is_open=is_open, features=TARGETS[target])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", SIGNS)
def test_zero_points(kinds: tuple[Kind, Kind], target: str) -> None:
    """One for all, at the ends of the range; one for each row or column."""
    size = (6, 37, 35)
    ends = [(np.iinfo(kind).min, 3, np.iinfo(kind).max) for kind in kinds]
    every = [*zip(*ends, strict=True), (None, 0), (0, None), (0, ends[1][2])]
    every += [(2, _bytes(kinds[1], 35)), (_bytes(kinds[0], 6), 1)]
    every += [(_bytes(kinds[0], 6), _bytes(kinds[1], 35, seed=2)), (1, np.zeros(35))]
    if kinds[1] == np.uint8:
        every += [(5, 128), (None, 128)]
    is_own = target == "own"
    for k, zeros in enumerate(every if is_own else every[::4]):
        for constant in (True, False) if is_own and k < 4 else (k % 2 == 0,):
            _product(size, kinds, constant=constant, zeros=zeros, features=TARGETS[target])


@pytest.mark.parametrize("kinds", SIGNS)
def test_ends_only(kinds: tuple[Kind, Kind]) -> None:
    """Where sums saturate if pairs are summed up in 16 bits."""
    for ends in itertools.product(*[(np.iinfo(kind).min, np.iinfo(kind).max) for kind in kinds]):
        a = np.full((8, 64), ends[0], kinds[0])
        b = np.full((64, 32), ends[1], kinds[1])
        node = onnx.helper.make_node("MatMulInteger", ["a", "b"], ["y"])
        for inputs, constants in (({"a": a}, {"b": b}), ({"a": a, "b": b}, {})):
            got = _run([node], inputs, constants)
            np.testing.assert_array_equal(got, _wide(a) @ _wide(b))


@pytest.mark.parametrize("kinds", SIGNS)
def test_transposed_and_batched(kinds: tuple[Kind, Kind]) -> None:
    """Keys of attention: batches of matrices, the second one transposed."""
    for terms in (5, 16, 35):
        a, b = _bytes(kinds[0], 2, 3, 9, terms), _bytes(kinds[1], 2, 3, 21, terms, seed=1)
        nodes = [
            onnx.helper.make_node("Transpose", ["b"], ["t"], perm=[0, 1, 3, 2]),
            onnx.helper.make_node("MatMulInteger", ["a", "t", "az"], ["y"]),
        ]
        constants = {"az": np.array(7, kinds[0])}
        want = (_wide(a) - 7) @ _wide(b).swapaxes(2, 3)
        for is_open in (False, True):
            got = _run(nodes, {"a": a, "b": b}, constants, is_open=is_open)
            np.testing.assert_array_equal(got, want)


def _requantized(sums: np.ndarray, scale: np.float32, zero: np.ndarray) -> np.ndarray:
    ends = np.iinfo(zero.dtype)
    moved = np.rint(sums.astype(np.float32) * scale) + zero.astype(np.float32)
    return np.clip(moved, ends.min, ends.max).astype(zero.dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", SIGNS)
def test_qlinear_matmul(kinds: tuple[Kind, Kind], target: str) -> None:
    """Rounded half to even and saturated."""
    for rows, terms, columns in ((1, 30, 40), (19, 64, 33)):
        a, b = _bytes(kinds[0], rows, terms), _bytes(kinds[1], terms, columns, seed=1)
        scales = {"as": 0.5, "bs": 0.25, "ys": 64.0}
        constants = {name: np.array(value, np.float32) for name, value in scales.items()}
        constants |= {"az": np.array(5, kinds[0]), "bz": np.array(2, kinds[1]), "b": b}
        constants["yz"] = np.array(3, kinds[0])
        names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
        node = onnx.helper.make_node("QLinearMatMul", names, ["y"])
        sums = (_wide(a) - 5) @ (_wide(b) - 2)
        want = _requantized(sums, np.float32(0.5 * 0.25 / 64), constants["yz"])
        for is_open in (False, True):
            got = _run([node], {"a": a}, constants, is_open=is_open, features=TARGETS[target])
            np.testing.assert_array_equal(got, want)


def _convolved(x: np.ndarray, w: np.ndarray, group: int, pad: int, stride: int) -> np.ndarray:
    """[N, C, H, W] by [M, C / group, h, w]; `x` is around 0."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, group, 1), np.split(w, group), strict=True)
    return np.concatenate(
        [np.einsum("nchwij,mcij->nmhw", part, own) for part, own in parts], axis=1
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kinds", SIGNS)
def test_convolutions(kinds: tuple[Kind, Kind], target: str) -> None:
    """Few and many channels, groups, borders, zero points of channels."""
    shapes = (
        (3, 16, 3, 1, 2),
        (18, 20, 3, 1, 1),
        (16, 32, 1, 1, 1),
        (32, 32, 3, 2, 1),
        (16, 16, 3, 16, 1),
    )
    is_own = target == "own"
    for channels, results, kernel, group, stride in shapes if is_own else shapes[:2]:
        x = _bytes(kinds[0], 2, channels, 9, 11)
        w = _bytes(kinds[1], results, channels // group, kernel, kernel, seed=1)
        own = _bytes(kinds[1], results, seed=3)
        every = ((4, 0), (3, own), (np.iinfo(kinds[0]).max, 9), (0, own))
        for zero, zeros in every if is_own else every[:2]:
            constants = {
                "w": w,
                "xz": np.array(zero, kinds[0]),
                "wz": np.asarray(zeros, kinds[1]),
            }
            node = onnx.helper.make_node(
                "ConvInteger",
                ["x", "w", "xz", "wz"],
                ["y"],
                pads=[kernel // 2] * 4,
                strides=[stride] * 2,
                group=group,
            )
            less = _wide(constants["wz"]).reshape(-1, 1, 1, 1)
            want = _convolved(_wide(x) - zero, _wide(w) - less, group, kernel // 2, stride)
            got = _run([node], {"x": x}, constants, features=TARGETS[target])
            np.testing.assert_array_equal(got, want)


def test_qlinear_conv() -> None:
    """With a bias and a scale for each channel."""
    for kinds in SIGNS:
        x, w = _bytes(kinds[0], 1, 24, 8, 8), _bytes(kinds[1], 32, 24, 3, 3, seed=1)
        scales = np.linspace(0.25, 1, 32, dtype=np.float32)
        constants = {
            "xs": np.array(0.5, np.float32),
            "xz": np.array(7, kinds[0]),
            "w": w,
            "ws": scales,
            "wz": np.zeros(32, kinds[1]),
            "ys": np.array(512, np.float32),
            "yz": np.array(1, np.uint8),
            "b": np.arange(-16, 16, dtype=np.int32) * 999,
        }
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
        node = onnx.helper.make_node("QLinearConv", names, ["y"], pads=[1] * 4)
        sums = _convolved(_wide(x) - 7, _wide(w), 1, 1, 1) + constants["b"].reshape(-1, 1, 1)
        scale = (np.float32(0.5) * scales / np.float32(512)).reshape(-1, 1, 1)
        want = _requantized(sums, scale, constants["yz"])
        np.testing.assert_array_equal(_run([node], {"x": x}, constants), want)


def test_cell_in_a_loop() -> None:
    """A quantized recurrent cell: weights are brought together once."""
    text = """<ir_version: 10, opset_import: ["": 21]>
    cell (uint8[1, 48] h0, int64 n) => (uint8[1, 48] y) {
        yes = Constant<value = bool {1}>()
        y = Loop(n, yes, h0)<body = step (int64 i, bool c, uint8[1, 48] h)
            => (bool d, uint8[1, 48] g) {
            d = Identity(c)
            p = MatMulInteger(h, w, hz)
            q = Cast<to = 1>(p)
            s = Constant<value = float {0.002}>()
            r = Mul(q, s)
            one = Constant<value = float {1.0}>()
            g = QuantizeLinear(r, one, hz)
        }>
    }"""
    model = onnx.parser.parse_model(text)
    w = _bytes(np.int8, 48, 48)
    for name, value in (("w", w), ("hz", np.array(128, np.uint8))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    session = loopc.InferenceSession(model.SerializeToString())
    state = _bytes(np.uint8, 1, 48)
    for steps in (0, 1, 7):
        want = state
        for _ in range(steps):
            sums = (_wide(want) - 128) @ _wide(w)
            moved = np.rint(sums.astype(np.float32) * np.float32(0.002)) + 128
            want = np.clip(moved, 0, 255).astype(np.uint8)
        got = session.run(None, {"h0": state, "n": np.array(steps)})[0]
        np.testing.assert_array_equal(got, want)


def _dequantize(
    name: str, kind: Kind, scale: Any, zero: Any, axis: int | None = None
) -> tuple[onnx.NodeProto, dict[str, np.ndarray]]:
    """A node that makes `name`f of `name`, and its constants."""
    constants = {name + "s": np.asarray(scale, np.float32)}
    constants[name + "z"] = np.asarray(zero, kind)
    attributes = {} if axis is None else {"axis": axis}
    inputs = [name, name + "s", name + "z"]
    node = onnx.helper.make_node("DequantizeLinear", inputs, [name + "f"], **attributes)
    return node, constants


@pytest.mark.parametrize("columns", [24, 96])
@pytest.mark.parametrize("kinds", SIGNS)
@pytest.mark.parametrize("form", ["MatMul", "Transpose", "Gemm", "Conv"])
def test_dequantized_products(form: str, kinds: tuple[Kind, Kind], columns: int) -> None:
    """Products of what was dequantized, and their quantized results.

    The scales of few columns are in the text of the program, those of many a resource.
    """
    scales = np.linspace(0.01, 0.03, columns)
    for per_axis in (False, True):
        scale = scales if per_axis else np.array(0.02)
        zero = (3 if kinds[1] == np.uint8 else 0) + np.arange(scale.size) % 5
        bias = np.linspace(-2, 2, columns, dtype=np.float32)
        shape = {"MatMul": (40, columns), "Conv": (columns, 20, 3, 3)}.get(form, (columns, 40))
        axis = 1 if form == "MatMul" else 0
        x = _bytes(kinds[0], *((1, 20, 7, 6) if form == "Conv" else (5, 40)))
        w = _bytes(kinds[1], *shape, seed=1)
        left, constants = _dequantize("x", kinds[0], 0.05, 4)
        right, more = _dequantize(
            "w", kinds[1], scale, zero.reshape(scale.shape), axis if per_axis else None
        )
        constants |= more | {"w": w, "ys": np.array(0.5, np.float32)}
        constants["yz"] = np.array(100, np.uint8)
        attributes: dict[str, Any] = {"Gemm": {"transB": 1}, "Conv": {"pads": [1] * 4}}.get(
            form, {}
        )
        names, nodes = ["xf", "wf"], [left, right]
        if form in ("Gemm", "Conv"):
            names, constants["b"] = ["xf", "wf", "b"], bias
        if form == "Transpose":
            names = ["xf", "wt"]
            nodes.append(onnx.helper.make_node("Transpose", ["wf"], ["wt"], perm=[1, 0]))
        product = "MatMul" if form == "Transpose" else form
        nodes.append(onnx.helper.make_node(product, names, ["p"], **attributes))
        last = onnx.helper.make_node("QuantizeLinear", ["p", "ys", "yz"], ["y"])
        real_x = (_wide(x) - 4) * np.float64(np.float32(0.05))
        factors = np.broadcast_to(scale.astype(np.float32).astype(np.float64), columns)
        by_axis = [-1 if k == axis else 1 for k in range(w.ndim)]
        real_w = _wide(w) - np.broadcast_to(zero, columns).reshape(by_axis)
        real_w = real_w * factors.reshape(by_axis)
        if form == "Conv":
            want = _convolved(real_x, real_w, 1, 1, 1) + bias.reshape(-1, 1, 1)
        else:
            want = real_x @ (real_w if form == "MatMul" else real_w.T)
            want = want + bias if form == "Gemm" else want
        for is_open in (False, True):
            got = _run(nodes, {"x": x}, constants, is_open=is_open)
            # Rounded three times at most.
            np.testing.assert_allclose(got, want, rtol=4e-7, atol=1e-5)

            got = _run([*nodes, last], {"x": x}, constants, is_open=is_open)
            exact = want / 0.5 + 100
            assert np.all(np.abs(np.clip(exact, 0, 255) - got.astype(np.float64)) <= 0.5001)


@pytest.mark.parametrize("kinds", SIGNS)
def test_dequantized_products_of_open_depth(kinds: tuple[Kind, Kind]) -> None:
    """Of as many terms as a run has, as in attention: integers where sums fit into 32 bits."""
    left, constants = _dequantize("x", kinds[0], 0.05, 4)
    right, more = _dequantize("w", kinds[1], 0.02, 3)
    nodes = [left, right, onnx.helper.make_node("MatMul", ["xf", "wf"], ["p"])]
    for terms in (1, 40, 40_000):
        x, w = _bytes(kinds[0], 2, 3, terms), _bytes(kinds[1], 2, terms, 8, seed=1)
        if terms == 40_000:  # whose sums do not fit
            x[:], w[:] = np.iinfo(kinds[0]).max, np.iinfo(kinds[1]).max
        scales = float(np.float32(0.05)) * float(np.float32(0.02))
        want = (_wide(x) - 4) @ (_wide(w) - 3) * scales
        got = _run(nodes, {"x": x, "w": w}, constants | more, is_open=True)
        np.testing.assert_allclose(got, want, rtol=1e-3 if terms > 100 else 1e-6, atol=1e-4)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="bytes are multiplied as differences")
def test_weights_are_ordered_by_the_compiler(tmp_path: Path) -> None:
    """What sums them up for a zero point is no reason to transpose them in each run."""
    constants = {
        "w": _bytes(np.int8, 600, 40, 1, 1),
        "s": np.array(0.5, np.float32),
        "xz": np.array(7, np.uint8),
        "wz": np.array(0, np.int8),
    }
    node = onnx.helper.make_node("QLinearConv", ["x", "s", "xz", "w", "s", "wz", "s", "xz"], ["y"])
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [1, 40, 9, 9])],
        [onnx.ValueInfoProto(name="y")],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    model.ir_version = 10
    loopc.compile(
        model, tmp_path / "g.mlir", emit="linalg", cpu="x86-64-v4", features="+avx512vnni"
    )
    text = (tmp_path / "g.mlir").read_text()
    assert "tensor<600x40x1x1xi8>" not in text
    # The result is transposed as bytes.
    assert "linalg.transpose" in text and "tensor<1x600x9x9xi32>" not in text
