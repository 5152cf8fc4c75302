# ===- test_openvino.py - OpenVINO IR, written and run -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that OpenVINO writes, run by loopc and by OpenVINO's CPU runtime."""

from __future__ import annotations

import pathlib
from typing import Any

import loopc
import numpy as np
import openvino
import openvino.opset16 as op
import openvino_peer
import pytest
from engines import openvino_outcome
from openvino_models import MODELS, IrModel, Slice, const, f32, i64, loop, model, param


def save(made: openvino.Model, folder: pathlib.Path) -> str:
    """Writes the IR and returns the path of the XML."""
    path = folder / "model.xml"
    openvino.save_model(made, str(path), compress_to_fp16=False)
    return str(path)


def by_loopc(path: str, feeds: dict[str, Any]) -> list[np.ndarray]:
    return loopc.InferenceSession(path).run(None, feeds)


def by_openvino(path: str, feeds: dict[str, Any]) -> list[np.ndarray]:
    outcome = openvino_outcome(path, feeds)
    assert outcome.values is not None, outcome.error
    return outcome.values


def assert_same(got: list[Any], want: list[Any], tolerance: float = 1e-5) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def check(made: openvino.Model, feeds: dict[str, Any], folder: pathlib.Path,
          tolerance: float = 1e-5) -> None:  # fmt: skip
    """loopc gives what OpenVINO gives."""
    path = save(made, folder)
    assert_same(by_loopc(path, feeds), by_openvino(path, feeds), tolerance)


# ===- Loops ------------------------------------------------------------------===#


def test_models_cover() -> None:
    """Thirty models at least, and names that are unique."""
    assert len(MODELS) >= 30
    assert len({m.name for m in MODELS}) == len(MODELS)


def _id(one: IrModel) -> str:
    """The rules that a model is about, and its name."""
    return "-".join((*one.labels, one.name))


@pytest.mark.parametrize("one", MODELS, ids=_id)
def test_loop(one: IrModel, tmp_path: pathlib.Path) -> None:
    """loopc gives the values worked out by hand."""
    made, runs = one.build()
    session = loopc.InferenceSession(save(made, tmp_path))
    assert [port.name for port in session.get_outputs()] == [
        f"y{k}" for k in range(len(made.outputs))
    ]
    for feeds, want in runs:
        assert_same(session.run(None, feeds), want)


@pytest.mark.parametrize("one", [m for m in MODELS if m.peer], ids=_id)
def test_loop_by_openvino(one: IrModel, tmp_path: pathlib.Path) -> None:
    """OpenVINO's runtime gives them, too."""
    made, runs = one.build()
    path = save(made, tmp_path)
    for feeds, want in runs:
        assert_same(by_openvino(path, feeds), want)


@pytest.mark.parametrize("name", ["pairs", "braces {*}{}"])
def test_counts_that_differ(name: str, tmp_path: pathlib.Path) -> None:
    """All sliced inputs of a TensorIterator have as many slices."""
    x, y = param([-1, 1], "x"), param([-1, 1], "y")
    a, b = param([1, 1]), param([1, 1])
    outs = loop(None, None, results=[op.add(a, b)],
                sliced=[(a, x, Slice()), (b, y, Slice())], outs=[(0, Slice())])  # fmt: skip
    outs[0].get_node().set_friendly_name(name)
    session = loopc.InferenceSession(save(model(outs, [x, y]), tmp_path))
    x3 = f32([[1], [2], [3]])
    assert_same(session.run(None, {"x": x3, "y": x3}), [2 * x3])
    with pytest.raises(loopc.RunError, match="cut into 3 and 2 slices"):
        session.run(None, {"x": x3, "y": x3[:2]})


def test_slice_past_the_end(tmp_path: pathlib.Path) -> None:
    """A Loop with more trips than slices ends with an error."""
    m, x = param([], "m", np.int64), param([2, 1], "x")
    a = param([1, 1])
    outs = loop(m, True, results=[a], sliced=[(a, x, Slice())], outs=[(0, Slice())])
    session = loopc.InferenceSession(save(model(outs, [m, x]), tmp_path))
    with pytest.raises(loopc.RunError):
        session.run(None, {"m": i64(3), "x": f32([[1], [2]])})


CANNOT = openvino_peer.listed()
CONVERTED = openvino_peer.candidates()


def test_list_of_what_openvino_cannot() -> None:
    """Names of models that are there, in order, each with a reason."""
    rows = [(reason, name) for name, reason in CANNOT.items()]
    assert rows == sorted(rows)
    assert CANNOT.keys() <= CONVERTED.keys()
    assert set(CANNOT.values()) <= openvino_peer.REASONS.keys()


@pytest.mark.parametrize("name", CANNOT)
def test_openvino_cannot(name: str, tmp_path: pathlib.Path) -> None:
    """A model that OpenVINO converts and gets right by now must leave the list."""
    one, run = CONVERTED[name]
    assert openvino_peer.obstacle(one, run, tmp_path), "run openvino_peer.py --write"


@pytest.mark.parametrize("name", [name for name in CONVERTED if name not in CANNOT])
def test_converted_loop(name: str, tmp_path: pathlib.Path) -> None:
    """The ONNX loop models that OpenVINO converts and gets right come back through IR."""
    one, run = CONVERTED[name]
    reason = openvino_peer.obstacle(one, run, tmp_path)
    assert reason is None, f"{openvino_peer.REASONS[reason]}: run openvino_peer.py --write"
    made = openvino.convert_model(str(tmp_path / "model.onnx"))
    path = pathlib.Path(save(made, tmp_path))
    # The converter writes that integers are divided rounding down, where ONNX truncates.
    path.write_text(path.read_text().replace('m_pythondiv="true"', 'm_pythondiv="false"'))
    session = loopc.InferenceSession(str(path))
    names = {port.name for port in session.get_inputs()}
    feeds = {name: value for name, value in run.feeds.items() if name in names}
    assert_same(session.run(None, feeds), list(run.expect or []), openvino_peer.tolerance_of(one))


# ===- Recurrent layers -------------------------------------------------------===#

RNG = np.random.default_rng(7)


def random(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "GRU-linear", "RNN"])
def test_sequence(kind: str, direction: str, tmp_path: pathlib.Path) -> None:
    """Sequences of different lengths in a batch."""
    batch, steps, size, hidden = 2, 4, 3, 5
    directions = 2 if direction == "bidirectional" else 1
    x, lengths = param([batch, steps, size], "x"), param([batch], "n", np.int32)
    h = param([batch, directions, hidden], "h")
    feeds = {"x": random(batch, steps, size), "n": np.int32([4, 2]),
             "h": random(batch, directions, hidden)}  # fmt: skip
    gates = {"LSTM": 4, "RNN": 1}.get(kind, 3)
    w = const(random(directions, gates * hidden, size))
    r = const(random(directions, gates * hidden, hidden))
    b = const(random(directions, (4 if kind == "GRU-linear" else gates) * hidden))
    if kind == "LSTM":
        c = param([batch, directions, hidden], "c")
        feeds["c"] = random(batch, directions, hidden)
        node = op.lstm_sequence(x, h, c, lengths, w, r, b, hidden, direction)
        inputs = [x, lengths, h, c]
    elif kind == "RNN":
        node = op.rnn_sequence(x, h, lengths, w, r, b, hidden, direction)
        inputs = [x, lengths, h]
    else:
        node = op.gru_sequence(x, h, lengths, w, r, b, hidden, direction,
                               linear_before_reset=kind == "GRU-linear")  # fmt: skip
        inputs = [x, lengths, h]
    check(model(list(node.outputs()), inputs), feeds, tmp_path)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "GRU-linear", "RNN"])
def test_cell_in_iterator(kind: str, tmp_path: pathlib.Path) -> None:
    """The way in which exporters write recurrent networks."""
    batch, steps, size, hidden = 2, 4, 3, 5
    x, h0 = param([batch, steps, size], "x"), param([batch, hidden], "h")
    part, h = param([batch, 1, size]), param([batch, hidden])
    flat = op.squeeze(part, const(i64([1])))
    gates = {"LSTM": 4, "RNN": 1}.get(kind, 3)
    w, r = const(random(gates * hidden, size)), const(random(gates * hidden, hidden))
    b = const(random((4 if kind == "GRU-linear" else gates) * hidden))
    carried = [(h, h0, 0)]
    feeds = {"x": random(batch, steps, size), "h": random(batch, hidden)}
    inputs = [x, h0]
    results: list[Any] = []
    if kind == "LSTM":
        c0, c = param([batch, hidden], "c"), param([batch, hidden])
        cell = op.lstm_cell(flat, h, c, w, r, b, hidden)
        carried.append((c, c0, 1))
        inputs.append(c0)
        feeds["c"] = random(batch, hidden)
        results = [cell.output(0), cell.output(1)]
    elif kind == "RNN":
        results = [op.rnn_cell(flat, h, w, r, b, hidden, ["tanh"], [], []).output(0)]
    else:
        cell = op.gru_cell(flat, h, w, r, b, hidden, linear_before_reset=kind == "GRU-linear")
        results = [cell.output(0)]
    results.append(op.unsqueeze(results[0], const(i64([1]))))
    outs = loop(None, None, results=results, carried=carried,
                sliced=[(part, x, Slice(axis=1, start=-1, stride=-1, end=0))],
                outs=[0, (len(results) - 1, Slice(axis=1))])  # fmt: skip
    check(model(outs, inputs), feeds, tmp_path)


# ===- Other layers -----------------------------------------------------------===#

X = param([2, 3, 4], "x")
N = param([2, 3, 4], "n", np.int32)
B = param([2, 3, 4], "b", bool)
IMAGE = param([1, 4, 6, 6], "i")


def layers() -> dict[str, Any]:
    """Layers that ONNX's suite does not reach, or that differ there."""
    two = const(f32(2))
    return {
        "floor_mod": op.floor_mod(X, const(f32(-0.3))),
        "floor_mod_integer": op.floor_mod(N, const(np.int32(-3))),
        "mod_integer": op.mod(N, const(np.int32(-3))),
        "squared_difference": op.squared_difference(X, two),
        "add_boolean": op.logical_xor(B, op.greater(X, const(f32(0)))),
        "swish_beta": op.swish(X, two),
        "hswish": op.hswish(op.multiply(X, const(f32(5)))),
        "hsigmoid": op.hsigmoid(op.multiply(X, const(f32(5)))),
        "gelu_tanh": op.gelu(X, "tanh"),
        "clamp_integer": op.clamp(N, -2.5, 3.5),
        "round_away": op.round(op.multiply(X, const(f32(4))), "half_away_from_zero"),
        "reduce_or": op.reduce_logical_or(B, const(i64([1])), False),
        "reduce_and_scalar_axis": op.reduce_logical_and(B, const(i64(-1)), True),
        "mvn_outside": op.mvn(X, const(i64([2])), True, 1e-3, "outside_sqrt"),
        "normalize_l2_max": op.normalize_l2(X, const(i64([1, 2])), 1.5, "max"),
        "lrn_spatial": op.lrn(IMAGE, const(i64([2, 3])), 0.1, 0.7, 1.0, 3),
        "fake_quantize": op.fake_quantize(
            X, const(f32(-0.5)), const(f32(0.7)), const(f32(-1)), const(f32(1)), 16
        ),
        "grn": op.grn(IMAGE, 0.5) if hasattr(op, "grn") else op.relu(IMAGE),
        "gather_batch": op.gather(X, const(i64([[0, -1], [1, 2]])), const(i64(2)), 1),
        "scatter_update": op.scatter_update(
            X, const(i64([2, 0])), const(f32(np.ones((2, 2, 4)))), const(i64(1))
        ),
        "scatter_mean": op.scatter_elements_update(
            X, const(i64(np.zeros((1, 3, 4)))), const(f32(np.ones((1, 3, 4)))), const(i64(0)),
            "mean", False,
        ),
        "strided_slice": op.strided_slice(
            X, const(i64([0, 1, 0, 0])), const(i64([0, 0, 3, 9])), const(i64([1, 1, 2, 1])),
            [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0],
        ),
        "strided_slice_ellipsis": op.strided_slice(
            X, const(i64([0, 3])), const(i64([0, 0])), const(i64([1, -1])),
            [0, 0], [0, 0], [0, 0], [0, 0], [1, 0],
        ),
        "pad_symmetric": op.pad(
            X, const(i64([1, 0, 2])), const(i64([0, 2, 1])), "symmetric"
        ),
        "broadcast_explicit": op.broadcast(
            const(f32([1, 2, 3])), const(i64([2, 3, 4])), const(i64([1])), "EXPLICIT"
        ),
        "tile_more": op.tile(X, const(i64([2, 1, 2, 1]))),
        "roll": op.roll(X, const(i64([1, -2])), const(i64([0, 2]))),
        "reverse_sequence": op.reverse_sequence(X, const(np.int32([2, 4])), 0, 2),
        "shuffle_channels": op.shuffle_channels(IMAGE, 1, 2),
        "space_to_depth": op.space_to_depth(IMAGE, "depth_first", 3),
        "variadic_split": op.variadic_split(X, const(i64(2)), const(i64([1, -1]))).output(1),
        "one_hot": op.one_hot(N, const(i64(4)), const(f32(2)), const(f32(-1)), 1),
        "cum_sum": op.cum_sum(X, const(i64(-1)), True, True),
        "topk_by_index": op.topk(X, const(i64(2)), 2, "max", "index").output(0),
        "max_pool_indices": op.max_pool(
            IMAGE, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], axis=2
        ).output(1),
        "avg_pool_exclude": op.avg_pool(
            IMAGE, [2, 2], [1, 1], [1, 1], [3, 3], True, dilations=[1, 1]
        ),
        "adaptive_avg_pool": op.adaptive_avg_pool(IMAGE, const(i64([4, 5]))),
        "adaptive_avg_pool_many": op.adaptive_avg_pool(IMAGE, const(i64([40, 100]))),
        "group_convolution": op.group_convolution(
            IMAGE, const(random(2, 3, 2, 3, 3)), [1, 1], [1, 1], [1, 1], [1, 1]
        ),
        "convolution_same": op.convolution(
            IMAGE, const(random(3, 4, 2, 3)), [2, 2], [0, 0], [0, 0], [1, 1], "same_lower"
        ),
        "deconvolution_shape": op.convolution_backprop_data(
            IMAGE, const(random(4, 2, 3, 3)), [2, 2], const(i64([12, 11])), auto_pad="same_upper"
        ),
        "interpolate": op.interpolate(
            IMAGE, const(i64([9, 4])), "linear_onnx", "sizes", axes=const(i64([2, 3]))
        ),
        "einsum": op.einsum([X, const(random(4, 5))], "abc,cd->adb"),
        "eye": op.eye(const(i64(3)), const(i64(4)), const(i64(1)), "f32"),
        "bucketize": op.bucketize(X, const(f32([-0.5, 0, 0.5])), "i32", True),
        "non_zero": op.non_zero(B, "i32"),
    }  # fmt: skip


LAYERS = layers()


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str, tmp_path: pathlib.Path) -> None:
    """One layer, as OpenVINO computes it."""
    values = {
        "x": random(2, 3, 4),
        "n": RNG.integers(-6, 7, (2, 3, 4)).astype(np.int32),
        "b": RNG.integers(0, 2, (2, 3, 4)).astype(bool),
        "i": random(1, 4, 6, 6),
    }
    inputs = [X, N, B, IMAGE]
    made = model([LAYERS[name]], inputs)
    check(made, values, tmp_path, 2e-5)


ELEMENTS = ("f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64",
            "i4", "u4", "u1", "nf4", "f8e4m3", "f8e5m2", "boolean")  # fmt: skip


@pytest.mark.parametrize("shape", [[1, 2, 6], [-1, -1, -1]])
def test_pool_rounds_into_padding(shape: list[int], tmp_path: pathlib.Path) -> None:
    """OpenVINO infers these shapes; its runtime crashes on some of them."""
    x = param(shape, "x")
    pooled = [
        op.avg_pool(x, [3], [0], [1], [1], False, "ceil").output(0),
        op.avg_pool(x, [3], [0], [1], [1], False, "ceil_torch").output(0),
        *op.max_pool(x, [3], [1], [0], [1], [1], "ceil").outputs(),
    ]
    if shape[0] > 0:
        assert [out.shape[2] for out in pooled] == [3, 2, 3, 3]
    path = save(openvino.Model([op.result(out) for out in pooled], [x]), tmp_path)
    feeds = {"x": np.arange(12, dtype=np.float32).reshape(1, 2, 6)}
    average, torch, largest, places = by_loopc(path, feeds)
    np.testing.assert_array_equal(average, [[[0, 3, 0], [6, 9, 0]]])
    np.testing.assert_array_equal(torch, [[[0, 3], [6, 9]]])
    # Of nothing the largest is the least number at place 0, as in OpenVINO's runtime.
    least = np.finfo(np.float32).min
    np.testing.assert_array_equal(largest, [[[0, 3, least], [6, 9, least]]])
    np.testing.assert_array_equal(places, [[[0, 3, 0], [6, 9, 0]]])


@pytest.mark.parametrize("windows", [0, -2, 2_000_000_000])
def test_adaptive_pool_refuses(windows: int, tmp_path: pathlib.Path) -> None:
    x = param([1, 2, 7], "x")
    path = save(
        openvino.Model([op.result(op.adaptive_avg_pool(x, const(i64([123]))))], [x]), tmp_path
    )
    weights = pathlib.Path(path).with_suffix(".bin")
    given, wanted = (np.array([n], np.int64).tobytes() for n in (123, windows))
    weights.write_bytes(weights.read_bytes().replace(given, wanted))
    with pytest.raises(loopc.CompileError, match=f"the output shape has the extent {windows}"):
        loopc.InferenceSession(path)


@pytest.mark.parametrize("element", ELEMENTS)
def test_constant_type(element: str, tmp_path: pathlib.Path) -> None:
    """Constants of every element type, converted to f32."""
    x = param([3], "x")
    constant = op.constant(f32([1, 0, 1]), getattr(openvino.Type, element))
    made = model([op.add(x, op.convert(constant, "f32"))], [x])
    (got,) = by_loopc(save(made, tmp_path), {"x": f32([0, 10, 20])})
    np.testing.assert_allclose(got, f32([1, 10, 21]))


def test_compressed_weights(tmp_path: pathlib.Path) -> None:
    """save_model's default: weights as f16, and a Convert."""
    x = param([2, 64], "x")
    weights = random(64, 32)
    path = str(tmp_path / "model.xml")
    openvino.save_model(model([op.matmul(x, const(weights), False, False)], [x]), path)
    feeds = {"x": random(2, 64)}
    want = feeds["x"] @ weights.astype(np.float16).astype(np.float32)
    assert_same(by_loopc(path, feeds), [want], 1e-4)


def test_shapes_given(tmp_path: pathlib.Path) -> None:
    """Open dimensions stay open, or are pinned."""
    x = param([-1, 3], "x")
    path = save(model([op.reshape(x, const(i64([0, 3, 1])), True)], [x]), tmp_path)
    session = loopc.InferenceSession(path)
    for n in (0, 1, 4):
        (got,) = session.run(None, {"x": np.ones((n, 3), np.float32)})
        assert got.shape == (n, 3, 1)
