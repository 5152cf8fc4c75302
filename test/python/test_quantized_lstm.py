# ===- test_quantized_lstm.py - LSTM on integers of 8 bits -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""DynamicQuantizeLSTM beside its definition in NumPy, and beside onnxruntime.

onnxruntime takes the range of the states over the batch rows of one thread, so that it has one
thread here. It was measured to differ by 1e-3 from itself with two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest
from exact_peer import weight_range
from onnx import TensorProto, helper, numpy_helper

F32 = np.float32
NAMES = "X W R B sequence_lens initial_h initial_c P W_scale W_zero_point R_scale R_zero_point"
NAMES = NAMES.split()
CONSTANTS = ("W", "R", "B", "P", "W_scale", "W_zero_point", "R_scale", "R_zero_point")
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]


# ===------------------------------------------------------------------------===#
# The definition
# ===------------------------------------------------------------------------===#


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "sigmoid": lambda x, a, b: sigmoid(x),
    "tanh": lambda x, a, b: np.tanh(x),
    "relu": lambda x, a, b: np.maximum(x, 0),
    "affine": lambda x, a, b: a * x + b,
    "leakyrelu": lambda x, a, b: np.where(x < 0, a * x, x),
    "thresholdedrelu": lambda x, a, b: np.where(x > a, x, 0),
    "scaledtanh": lambda x, a, b: a * np.tanh(b * x),
    "hardsigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x), x),
    "softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "softplus": lambda x, a, b: np.logaddexp(x, 0),
}
PARAMETERS = {
    "affine": 2,
    "leakyrelu": 1,
    "thresholdedrelu": 1,
    "scaledtanh": 2,
    "hardsigmoid": 2,
    "elu": 1,
}


def product(x: np.ndarray, weights: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """x [..., K], all of it rounded to bytes of one range, times weights [K, N]."""
    least, most = min(x.min(initial=0), 0), max(x.max(initial=0), 0)
    step = F32(1) if most == least else F32(F32(most - least) / F32(255))
    step = step if most != least else F32(1) / F32(255)
    origin = np.clip(np.rint(-F32(least) / step), 0, 255)
    numbers = np.clip(np.rint(x / step) + origin, 0, 255).astype(np.int64)
    exact = (numbers - int(origin)) @ (weights.astype(np.int64) - zero.astype(np.int64))
    return exact.astype(F32) * (step * scale)


def chosen(attributes: dict[str, Any], directions: int) -> list[Any]:
    names = attributes.get("activations", ["Sigmoid", "Tanh", "Tanh"] * directions)
    alphas, betas = (iter(attributes.get(f"activation_{k}", [])) for k in ("alpha", "beta"))
    functions = []
    for name in (n.lower() for n in names):
        count = PARAMETERS.get(name, 0)
        alpha = next(alphas) if count > 0 else 0
        beta = next(betas) if count > 1 else 0
        functions.append(
            lambda x, n=name, a=alpha, b=beta: ACTIVATIONS[n](x, F32(a), F32(b)).astype(F32)
        )
    return functions


def one_direction(given: dict[str, Any], d: int, back: bool, f: Any, a: dict, has_y: bool) -> Any:
    """Y [T, B, H] of direction `d`, its last state and its last cell."""
    x, size = given["X"], given["R"].shape[1]
    steps, batch = x.shape[:2]
    lens = given.get("sequence_lens", np.full(batch, steps))
    longest = max(lens.max(initial=0), 0)
    order = np.tile(np.arange(steps)[:, None], (1, batch))
    for row, length in enumerate(lens if back else []):
        order[:length, row] = order[:length, row][::-1]
    part = [np.take(given[n], d, 0) for n in CONSTANTS[4:]]
    gates = product(x[:longest], given["W"][d], part[0], part[1])
    gates = np.take_along_axis(gates, order[:longest, :, None], 0)
    if "B" in given:
        gates = gates + given["B"][d, : 4 * size] + given["B"][d, 4 * size :]
    h = given["initial_h"][d] if "initial_h" in given else np.zeros((batch, size), F32)
    c = given["initial_c"][d] if "initial_c" in given else np.zeros((batch, size), F32)
    pi, po, pf = np.split(given["P"][d] if "P" in given else np.zeros(3 * size, F32), 3)
    clip = F32(a.get("clip", np.inf))
    known, y = h, np.zeros((steps, batch, size), F32)
    for t in range(longest):
        sums = gates[t] + product(known, given["R"][d], part[2], part[3])
        i, o, forget, cell = np.split(sums, 4, 1)
        i = f[0](np.clip(i + pi * c, -clip, clip))
        forget = 1 - i if a.get("input_forget") else f[0](np.clip(forget + pf * c, -clip, clip))
        now = forget * c + i * f[1](np.clip(cell, -clip, clip))
        out = f[0](np.clip(o + po * now, -clip, clip)) * f[2](now)
        alive = (t < lens)[:, None]
        h, c = np.where(alive, out, h), np.where(alive, now, c)
        y[t] = np.where(alive, out, 0)
        # Rows that are done: zero in Y; without Y, the state that they ended with.
        known = y[t] if has_y else np.where((lens > 0)[:, None], h, 0)
    ended = (lens > 0)[:, None]
    for row, length in enumerate(lens if back else []):
        y[:length, row] = y[:length, row][::-1]
    return y, np.where(ended, h, 0), np.where(ended, c, 0)


def defined(given: dict[str, Any], attributes: dict[str, Any], has_y: bool) -> list[np.ndarray]:
    direction = attributes.get("direction", "forward")
    backs = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    functions = chosen(attributes, len(backs))
    parts = [
        one_direction(given, d, back, functions[3 * d : 3 * d + 3], attributes, has_y)
        for d, back in enumerate(backs)
    ]
    y, h, c = (list(p) for p in zip(*parts, strict=True))
    results = [np.stack(y, 1), np.stack(h), np.stack(c)]
    return results if has_y else results[1:]


# ===------------------------------------------------------------------------===#
# Models
# ===------------------------------------------------------------------------===#


@dataclass
class Case:
    steps: int = 5
    batch: int = 3
    inputs: int = 7
    size: int = 6
    dtype: Any = np.int8
    zero: int = 0
    each: bool = False
    lens: Any = None
    bias: bool = True
    states: bool = False
    peepholes: bool = False
    has_y: bool = True
    x: Any = None
    seed: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)

    def operands(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        count = 1 + (self.attributes.get("direction") == "bidirectional")
        low, high = weight_range(self.dtype)

        def floats(*shape: int) -> np.ndarray:
            return rng.standard_normal(shape).astype(F32)

        def bytes_of(rows: int) -> np.ndarray:
            shape = (count, rows, 4 * self.size)
            return rng.integers(low, high + 1, shape).astype(self.dtype)

        shape = (count, 4 * self.size) if self.each else (count,)
        given = {"X": floats(self.steps, self.batch, self.inputs) if self.x is None else self.x}
        given |= {"W": bytes_of(self.inputs), "R": bytes_of(self.size)}
        for name in "WR":
            given[f"{name}_scale"] = np.abs(floats(*shape)) * F32(0.01) + F32(0.001)
            given[f"{name}_zero_point"] = np.full(shape, self.zero, self.dtype)
        if self.bias:
            given["B"] = floats(count, 8 * self.size)
        if self.lens is not None:
            given["sequence_lens"] = np.array(self.lens, np.int32)
        if self.states:
            given["initial_h"] = floats(count, self.batch, self.size)
            given["initial_c"] = floats(count, self.batch, self.size)
        if self.peepholes:
            given["P"] = floats(count, 3 * self.size)
        return given


def node_of(case: Case, given: dict[str, np.ndarray], outputs: list[str]) -> onnx.NodeProto:
    names = [name if name in given else "" for name in NAMES]
    attributes = {"hidden_size": case.size} | case.attributes
    return helper.make_node("DynamicQuantizeLSTM", names, outputs, domain="com.microsoft",
                            **attributes)  # fmt: skip


def make(case: Case, is_open: bool) -> tuple[bytes, dict[str, np.ndarray], dict[str, Any]]:
    given = case.operands()
    feeds = {n: v for n, v in given.items() if n not in CONSTANTS}
    extents = {
        "X": ["T", "N", "I"],
        "sequence_lens": ["N"],
        "initial_h": ["D", "N", "H"],
        "initial_c": ["D", "N", "H"],
    }
    inputs = [
        helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(v.dtype), extents[n] if is_open else v.shape
        )
        for n, v in feeds.items()
    ]
    outputs = ["Y" if case.has_y else "", "Y_h", "Y_c"]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs if n]
    constants = [numpy_helper.from_array(given[n], n) for n in CONSTANTS if n in given]
    graph = helper.make_graph([node_of(case, given, outputs)], "lstm", inputs, infos, constants)
    made = helper.make_model(graph, opset_imports=OPSETS, ir_version=10)
    return made.SerializeToString(), feeds, given


def peer(made: bytes, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(made, options).run(None, feeds)


def check(beside_peer: bool = True, **parts: Any) -> None:
    case = Case(**parts)
    for is_open in (True, False):
        made, feeds, given = make(case, is_open)
        expected = defined(given, case.attributes, case.has_y)
        got = loopc.InferenceSession(made).run(None, feeds)
        others = peer(made, feeds) if beside_peer else expected
        for want, other, value in zip(expected, others, got, strict=True):
            assert value.shape == want.shape and value.dtype == want.dtype
            np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)


DIRECTIONS = ("forward", "reverse", "bidirectional")


# ===------------------------------------------------------------------------===#
# Tests
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("lens", [None, [5, 2, 3], [4, 0, 2], [0, 0, 0]])
def test_sequences(direction, lens):
    check(lens=lens, states=lens != [5, 2, 3], attributes={"direction": direction})


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("lens", [None, [5, 2, 3], [4, 0, 2]])
def test_without_the_steps(direction, lens):
    """onnxruntime reads what nobody wrote for the rows of no steps."""
    check(lens=lens, states=True, has_y=False, attributes={"direction": direction},
          beside_peer=lens is None or 0 not in lens)  # fmt: skip


@pytest.mark.parametrize("dtype, zero", [(np.int8, 0), (np.int8, 5), (np.uint8, 128),
                                         (np.uint8, 0), (np.uint8, 77)])  # fmt: skip
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("batch, size", [(1, 33), (9, 6)])
def test_weights(dtype, zero, each, batch, size):
    # onnxruntime has no other zero points for signed weights of many scales.
    beside = not (each and dtype == np.int8 and zero)
    check(dtype=dtype, zero=zero, each=each, batch=batch, size=size, beside_peer=beside)


@pytest.mark.parametrize("attributes", [{"clip": 0.7}, {"input_forget": 1},
                                        {"clip": 1.5, "input_forget": 1}])  # fmt: skip
@pytest.mark.parametrize("peepholes", [False, True])
def test_gates(attributes, peepholes):
    check(bias=not peepholes, peepholes=peepholes, states=True,
          attributes=attributes | {"direction": "bidirectional"})  # fmt: skip


@pytest.mark.parametrize("names, alpha, beta", [
    (["Sigmoid", "Relu", "Tanh"], [], []),
    (["HardSigmoid", "Softsign", "LeakyRelu"], [0.3, 0.02], [0.4]),
    (["sigmoid", "Elu", "ScaledTanh"], [0.7, 1.2], [0.8]),
    (["Sigmoid", "ThresholdedRelu", "Softplus"], [0.25], []),
    (["Affine", "Tanh", "tanh"], [0.2], [0.5]),
])  # fmt: skip
def test_activations(names, alpha, beta):
    given: dict[str, Any] = {"activations": names}
    given |= {"activation_alpha": alpha} if alpha else {}
    given |= {"activation_beta": beta} if beta else {}
    # onnxruntime's Softplus and some others are no last activations.
    check(attributes=given, beside_peer=names[2].lower() in ("tanh", "relu"))


@pytest.mark.parametrize("steps, batch", [(0, 3), (1, 1), (40, 1), (3, 0)])
def test_extents(steps, batch):
    for lens in (None, [steps] * batch):
        check(steps=steps, batch=batch, lens=lens, states=True, beside_peer=steps * batch > 0,
              attributes={"direction": "reverse"})  # fmt: skip


@pytest.mark.parametrize("value", [0.0, 1e-42, 1e30, -1e30, 1.0])
def test_values(value):
    """A range of one number: all zeros have the scale 1 / 255."""
    x = np.full((4, 2, 6), value, F32)
    x[1:2] *= F32(-0.5)
    check(x=x, steps=4, batch=2, inputs=6)


def test_in_a_loop():
    """The states of one trip are the first ones of the next; extents are open."""
    case = Case(states=True)
    given = case.operands()
    node = node_of(case, given, ["Y", "next_h", "next_c"])
    value = helper.make_tensor_value_info
    states = [value(n, TensorProto.FLOAT, None) for n in ("initial_h", "initial_c")]
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["stay"]), node],
        "body",
        [value("trip", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), *states],
        [
            value("stay", TensorProto.BOOL, []),
            *(value(n, TensorProto.FLOAT, None) for n in ("next_h", "next_c", "Y")),
        ],
    )
    loop = helper.make_node("Loop", ["M", "", "h0", "c0"], ["h", "c", "all"], body=body)
    constants = [numpy_helper.from_array(given[n], n) for n in CONSTANTS if n in given]
    extents = [value("X", TensorProto.FLOAT, ["T", "N", "I"]), value("M", TensorProto.INT64, [])]
    extents += [value(n, TensorProto.FLOAT, ["D", "N", "H"]) for n in ("h0", "c0")]
    graph = helper.make_graph(
        [loop], "loop", extents,
        [value(n, TensorProto.FLOAT, None) for n in ("h", "c", "all")], constants,
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=OPSETS, ir_version=10).SerializeToString()
    feeds = {"X": given["X"], "h0": given["initial_h"], "c0": given["initial_c"]}
    session = loopc.InferenceSession(made)
    for trips in (1, 3):
        feeds["M"] = np.array(trips)
        now, all_steps = dict(given), []
        for _ in range(trips):
            y, now["initial_h"], now["initial_c"] = defined(now, {}, True)
            all_steps.append(y)
        got = session.run(None, feeds)
        expected = [now["initial_h"], now["initial_c"], np.stack(all_steps)]
        for want, other, found in zip(expected, peer(made, feeds), got, strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(found, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lens", [[6, 1, 1], [-1, 2, 2]])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_lengths_out_of_range(lens, direction):
    made, feeds, _ = make(Case(lens=lens, attributes={"direction": direction}), True)
    with pytest.raises(loopc.Error, match=r"DynamicQuantizeLSTM.*out of range"):
        loopc.InferenceSession(made).run(None, feeds)


@pytest.mark.parametrize("name, shape", [("W", (1, 7, 20)), ("R", (1, 5, 24)), ("B", (1, 40)),
                                         ("W", (2, 7, 24)), ("P", (1, 17))])  # fmt: skip
def test_shapes_that_do_not_fit(name, shape):
    case = Case(peepholes=True)
    given = case.operands()
    given[name] = np.zeros(shape, given[name].dtype)
    case.operands = lambda: given
    made, feeds, _ = make(case, True)
    with pytest.raises(loopc.Error, match="DynamicQuantizeLSTM"):
        loopc.InferenceSession(made).run(None, feeds)
