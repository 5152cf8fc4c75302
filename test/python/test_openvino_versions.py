# ===- test_openvino_versions.py - Old and rare forms of OpenVINO's layers -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Forms that OpenVINO's Python API does not write any more, or that its CPU runtime ignores.

The former are made of newer ones in the XML, the latter are worked out by NumPy.
"""

from __future__ import annotations

import pathlib
from typing import Any

import loopc
import numpy as np
import openvino
import openvino.opset1 as opset1
import openvino.opset16 as op
import pytest
from engines import openvino_outcome
from openvino_models import const, f32, i64, model, param

RNG = np.random.default_rng(5)


def random(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def save(made: openvino.Model, folder: pathlib.Path, *pairs: tuple[str, str]) -> str:
    """Writes the IR, with texts of its XML replaced, and returns the path."""
    path = folder / "model.xml"
    openvino.save_model(made, str(path), compress_to_fp16=False)
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return str(path)


def assert_close(got: list[Any], want: list[Any], tolerance: float = 1e-5) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


# ===- Divide ------------------------------------------------------------------===#

DIVISORS = (4, -4, 3, -3, 1, -1, 7)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("python", [True, False])
def test_divide_integers(python: bool, kind: Any, tmp_path: pathlib.Path) -> None:
    """m_pythondiv, the default, rounds down; without it the quotient is truncated."""
    x, y = param([-1, 1], "x", kind), param([-1], "y", kind)
    changes = [] if python else [('m_pythondiv="true"', 'm_pythondiv="false"')]
    session = loopc.InferenceSession(save(model([op.divide(x, y)], [x, y]), tmp_path, *changes))
    signed = np.issubdtype(kind, np.signedinteger)
    info = np.iinfo(kind)
    values = [0, 1, 2, 6, 7, 8, 9, info.max] + ([-1, -2, -7, -8, -9, info.min + 1] * signed)
    a = np.array(values, kind)[:, None]
    b = np.array([d for d in DIVISORS if signed or d > 0], kind)
    exact = a.astype(object) / b.astype(object)
    assert exact.shape == (len(a), len(b))
    down = np.array([[int(p) // int(q) for q in b] for p in a[:, 0]], kind)
    rest = np.array([[int(p) % int(q) != 0 for q in b] for p in a[:, 0]])
    negative = np.array([[(int(p) < 0) != (int(q) < 0) for q in b] for p in a[:, 0]])
    truncated = down + (rest & negative).astype(kind)
    assert_close(session.run(None, {"x": a, "y": b}), [down if python else truncated])


def test_divide_lowest(tmp_path: pathlib.Path) -> None:
    """The lowest number by -1 wraps; by zero is an error."""
    x, y = param([1], "x", np.int32), param([1], "y", np.int32)
    session = loopc.InferenceSession(save(model([op.divide(x, y)], [x, y]), tmp_path))
    lowest = np.int32([-(2**31)])
    assert_close(session.run(None, {"x": lowest, "y": np.int32([-1])}), [lowest])
    with pytest.raises(loopc.RunError, match="zero"):
        session.run(None, {"x": lowest, "y": np.int32([0])})


def test_divide_floats(tmp_path: pathlib.Path) -> None:
    """Floats are not rounded."""
    x = param([3], "x")
    session = loopc.InferenceSession(save(model([op.divide(x, const(f32(2)))], [x]), tmp_path))
    assert_close(session.run(None, {"x": f32([-3, 3, 5])}), [f32([-1.5, 1.5, 2.5])])


# ===- LSTM of version 1 -------------------------------------------------------===#

FORMATS = ("fico", "icof", "ifco", "ifoc", "iofc")


def lstm_step(
    x: Any, h: Any, c: Any, w: Any, r: Any, b: Any, peepholes: Any, order: str, coupled: bool
) -> tuple[np.ndarray, np.ndarray]:
    """One step of an LSTM whose weights have the gates in `order`; peepholes i, o, f."""

    def sigmoid(value: Any) -> Any:
        return 1 / (1 + np.exp(-value))

    gates = dict(zip(order, np.split(x @ w.T + h @ r.T + b, 4, 1), strict=True))
    pi, po, pf = np.split(peepholes, 3) if peepholes is not None else (0, 0, 0)
    i = sigmoid(gates["i"] + pi * c)
    f = 1 - i if coupled else sigmoid(gates["f"] + pf * c)
    state = f * c + i * np.tanh(gates["c"])
    return sigmoid(gates["o"] + po * state) * np.tanh(state), state


def with_input(path: str, layer: str, values: np.ndarray, port: int) -> str:
    """Gives the only layer of a type an input of its own, a constant."""
    file = pathlib.Path(path)
    weights = file.with_suffix(".bin")
    offset = len(weights.read_bytes())
    weights.write_bytes(weights.read_bytes() + values.tobytes())
    dims = "".join(f"<dim>{extent}</dim>" for extent in values.shape)
    described = f'<port id="{port}" precision="FP32">{dims}</port>'
    shape = ",".join(map(str, values.shape))
    constant = (
        '<layer id="900" name="P" type="Const" version="opset1">'
        f'<data element_type="f32" shape="{shape}" offset="{offset}" size="{values.nbytes}"/>'
        f'<output><port id="0" precision="FP32">{dims}</port></output></layer>'
    )
    before, after = file.read_text().split(f'type="{layer}"')
    after = after.replace("</input>", described + "</input>", 1)
    text = f'{before}type="{layer}"{after}'
    number = before[before.rindex('<layer id="') + 11 :].split('"')[0]
    edge = f'<edge from-layer="900" from-port="0" to-layer="{number}" to-port="{port}"/>'
    file.write_text(
        text.replace("<layers>", "<layers>" + constant).replace("</edges>", edge + "</edges>")
    )
    return path


@pytest.mark.parametrize("peeps", [False, True], ids=["", "peepholes"])
@pytest.mark.parametrize("coupled", [False, True], ids=["", "input_forget"])
@pytest.mark.parametrize("order", FORMATS)
def test_lstm_cell(order: str, coupled: bool, peeps: bool, tmp_path: pathlib.Path) -> None:
    batch, size, hidden = 2, 3, 5
    x, h, c = param([batch, size], "x"), param([batch, hidden], "h"), param([batch, hidden], "c")
    w, r, b = random(4 * hidden, size), random(4 * hidden, hidden), random(4 * hidden)
    cell = opset1.lstm_cell(x, h, c, const(w), const(r), const(b), hidden)
    changes = [('weights_format="fico"', f'weights_format="{order}"')]
    if coupled:
        changes.append(('input_forget="false"', 'input_forget="true"'))
    path = save(model([cell.output(0), cell.output(1)], [x, h, c]), tmp_path, *changes)
    p = random(3 * hidden) if peeps else None
    if p is not None:
        path = with_input(path, "LSTMCell", p, 6)
    feeds = {"x": random(batch, size), "h": random(batch, hidden), "c": random(batch, hidden)}
    want = lstm_step(*feeds.values(), w, r, b, p, order, coupled)
    assert_close(loopc.InferenceSession(path).run(None, feeds), list(want))


@pytest.mark.parametrize("peeps", [False, True], ids=["", "peepholes"])
@pytest.mark.parametrize("coupled", [False, True], ids=["", "input_forget"])
@pytest.mark.parametrize("order", FORMATS)
def test_lstm_sequence(order: str, coupled: bool, peeps: bool, tmp_path: pathlib.Path) -> None:
    """Version 1 of the sequence, which OpenVINO itself does not have any more; both directions."""
    batch, steps, size, hidden = 2, 3, 3, 4
    x = param([batch, steps, size], "x")
    h, c = param([batch, 2, hidden], "h"), param([batch, 2, hidden], "c")
    w, r = random(2, 4 * hidden, size), random(2, 4 * hidden, hidden)
    b = random(2, 4 * hidden)
    lengths = const(np.int32([steps] * batch))
    node = op.lstm_sequence(x, h, c, lengths, const(w), const(r), const(b), hidden, "bidirectional")
    made = model(list(node.outputs()), [x, h, c])
    forget = ' input_forget="true"' if coupled else ""
    path = save(
        made,
        tmp_path,
        ('type="LSTMSequence" version="opset5"', 'type="LSTMSequence" version="opset1"'),
        (
            'direction="bidirectional"',
            f'direction="bidirectional" weights_format="{order}"{forget}',
        ),
    )
    p = random(2, 3 * hidden) if peeps else None
    if p is not None:
        path = with_input(path, "LSTMSequence", p, 7)
    feeds = {"x": random(batch, steps, size), "h": random(batch, 2, hidden),
             "c": random(batch, 2, hidden)}  # fmt: skip
    y = np.zeros((batch, 2, steps, hidden), np.float32)
    last = [np.zeros((batch, 2, hidden), np.float32) for _ in range(2)]
    for d in range(2):
        ht, ct = feeds["h"][:, d], feeds["c"][:, d]
        for t in range(steps)[:: -1 if d else 1]:
            ht, ct = lstm_step(feeds["x"][:, t], ht, ct, w[d], r[d], b[d],
                               None if p is None else p[d], order, coupled)  # fmt: skip
            y[:, d, t] = ht
        last[0][:, d], last[1][:, d] = ht, ct
    assert_close(loopc.InferenceSession(path).run(None, feeds), [y, *last])


def test_lstm_format_is_refused(tmp_path: pathlib.Path) -> None:
    x, h, c = param([1, 2], "x"), param([1, 3], "h"), param([1, 3], "c")
    cell = opset1.lstm_cell(x, h, c, const(random(12, 2)), const(random(12, 3)),
                            const(random(12)), 3)  # fmt: skip
    path = save(model([cell.output(0)], [x, h, c]), tmp_path, ('"fico"', '"ficu"'))
    with pytest.raises(loopc.CompileError, match="'weights_format' is 'ficu'"):
        loopc.InferenceSession(path)


# ===- Interpolate -------------------------------------------------------------===#

IMAGE = random(1, 2, 5, 6)
SIZES = {"larger": [8, 9], "smaller": [3, 4], "both": [8, 3]}


def check_peer(node: Any, inputs: list[Any], feeds: dict[str, Any],
               folder: pathlib.Path) -> None:  # fmt: skip
    """loopc gives what OpenVINO gives."""
    path = save(model([node], inputs), folder)
    peer = openvino_outcome(path, feeds)
    assert peer.values is not None, peer.error
    assert_close(loopc.InferenceSession(path).run(None, feeds), peer.values)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("corners", [False, True], ids=["", "align_corners"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_interpolate_1(mode: str, corners: bool, size: str, tmp_path: pathlib.Path) -> None:
    x = param([1, 2, 5, 6], "x")
    attributes = {"axes": [2, 3], "mode": mode, "align_corners": corners, "antialias": False,
                  "pads_begin": [0], "pads_end": [0]}  # fmt: skip
    node = opset1.interpolate(x, const(i64(SIZES[size])), attributes)
    check_peer(node, [x], {"x": IMAGE}, tmp_path)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("coordinates", ["asymmetric", "tf_half_pixel_for_nn", "half_pixel"])
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
def test_interpolate_simple(
    is_open: bool, coordinates: str, size: str, tmp_path: pathlib.Path
) -> None:
    """Rounding that depends on whether an axis shrinks, which only a run may tell."""
    x = param([-1] * 4 if is_open else [1, 2, 5, 6], "x")
    wanted = param([2], "n", np.int64) if is_open else const(i64(SIZES[size]))
    node = op.interpolate(x, wanted, "nearest", "sizes", axes=const(i64([2, 3])),
                          coordinate_transformation_mode=coordinates,
                          nearest_mode="simple")  # fmt: skip
    inputs = [x, wanted] if is_open else [x]
    feeds = {"x": IMAGE, **({"n": i64(SIZES[size])} if is_open else {})}
    check_peer(node, inputs, feeds, tmp_path)


@pytest.mark.parametrize("mode", ["linear_onnx", "cubic", "nearest"])
@pytest.mark.parametrize("size", SIZES)
def test_interpolate_tf_half_pixel(mode: str, size: str, tmp_path: pathlib.Path) -> None:
    x = param([1, 2, 5, 6], "x")
    node = op.interpolate(x, const(i64(SIZES[size])), mode, "sizes", axes=const(i64([2, 3])),
                          coordinate_transformation_mode="tf_half_pixel_for_nn",
                          nearest_mode="floor")  # fmt: skip
    check_peer(node, [x], {"x": IMAGE}, tmp_path)


@pytest.mark.parametrize("mode", ["bilinear_pillow", "bicubic_pillow"])
@pytest.mark.parametrize("size", SIZES)
def test_interpolate_pillow(mode: str, size: str, tmp_path: pathlib.Path) -> None:
    x = param([1, 2, 5, 6], "x")
    node = op.interpolate(x, const(i64(SIZES[size])), mode, "sizes", axes=const(i64([2, 3])),
                          cube_coeff=-0.5)  # fmt: skip
    check_peer(node, [x], {"x": IMAGE}, tmp_path)


def test_interpolate_simple_scales(tmp_path: pathlib.Path) -> None:
    x = param([1, 2, 5, 6], "x")
    node = op.interpolate(x, const(f32([1.6, 0.5])), "nearest", "scales", axes=const(i64([2, 3])),
                          coordinate_transformation_mode="asymmetric",
                          nearest_mode="simple")  # fmt: skip
    check_peer(node, [x], {"x": IMAGE}, tmp_path)


# ===- Blocks, regions, bags ---------------------------------------------------===#


def bags() -> dict[str, Any]:
    """Embeddings: rows of a table, summed by bag; some bags are empty."""
    table = const(random(5, 3))
    indices, weights = const(i64([0, 2, 3, 4, 1])), const(random(5))
    offsets, segments = const(i64([0, 2, 2, 3])), const(i64([0, 0, 2, 3, 3]))
    packed, five = const(i64([[0, 2], [1, 4], [3, 3]])), const(i64(5))
    return {
        "packed_sum": op.embedding_bag_packed_sum(table, packed),
        "packed_sum_weights": op.embedding_bag_packed_sum(table, packed, const(random(3, 2))),
        "packed_mean": op.embedding_bag_packed(table, packed, reduction="mean"),
        "offsets_sum": op.embedding_bag_offsets_sum(table, indices, offsets),
        "offsets_sum_default": op.embedding_bag_offsets_sum(
            table, indices, offsets, const(i64(1)), weights
        ),
        "offsets_mean": op.embedding_bag_offsets(table, indices, offsets, reduction="mean"),
        "segments_sum": op.embedding_segments_sum(table, indices, segments, five),
        "segments_sum_default": op.embedding_segments_sum(
            table, indices, segments, five, const(i64(4)), weights
        ),
        "offsets_no_default": op.embedding_bag_offsets(
            table, indices, offsets, const(i64(-1)), weights
        ),
    }


BAGS = bags()


@pytest.mark.parametrize("name", BAGS)
def test_bag(name: str, tmp_path: pathlib.Path) -> None:
    """An Add, so that OpenVINO does not fold everything."""
    x = param([1], "x")
    check_peer(op.add(BAGS[name], x), [x], {"x": f32([0.5])}, tmp_path)


@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("name", ["space_to_batch", "batch_to_space", "round_trip"])
def test_blocks(name: str, is_open: bool, tmp_path: pathlib.Path) -> None:
    """Padding and cropping, in known and in open shapes."""
    shape = [12, 3, 4, 5] if name == "batch_to_space" else [2, 3, 4, 5]
    x = param([-1] * 4 if is_open else shape, "x")
    block, begin, end = const(i64([1, 1, 2, 3])), const(i64([0, 0, 1, 0])), const(i64([0, 0, 1, 1]))
    node = x
    if name != "batch_to_space":
        node = op.space_to_batch(node, block, begin, end)
    if name != "space_to_batch":
        node = op.batch_to_space(node, block, begin, end)
    check_peer(node, [x], {"x": random(*shape)}, tmp_path)


def test_blocks_that_do_not_fit(tmp_path: pathlib.Path) -> None:
    x = param([2, 3, 4, 6], "x")
    zeros = const(i64([0, 0, 0, 0]))
    node = op.space_to_batch(x, const(i64([1, 1, 2, 3])), zeros, zeros)
    path = save(model([node], [x]), tmp_path, ("<dim>6</dim>", "<dim>5</dim>"),
                ('shape="2,3,4,6"', 'shape="2,3,4,5"'))  # fmt: skip
    with pytest.raises(loopc.CompileError, match="an extent of 5 is not cut into blocks of 3"):
        loopc.InferenceSession(path)


@pytest.mark.parametrize("stride", [1, 2])
def test_reorg_yolo(stride: int, tmp_path: pathlib.Path) -> None:
    x = param([2, 8, 4, 6], "x")
    node = op.reorg_yolo(x, [stride])
    check_peer(node, [x], {"x": random(2, 8, 4, 6)}, tmp_path)


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize(("axis", "end_axis"), [(1, 3), (1, 2), (2, 3)])
def test_region_yolo(axis: int, end_axis: int, softmax: bool, tmp_path: pathlib.Path) -> None:
    x = param([2, 24, 3, 4], "x")
    node = op.region_yolo(x, 4, 3, 3, softmax, [0, 1, 2], axis, end_axis, [1.0, 2.0])
    check_peer(node, [x], {"x": random(2, 24, 3, 4)}, tmp_path)


# ===- Attention ---------------------------------------------------------------===#


@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
def test_attention_sink(masked: bool, tmp_path: pathlib.Path) -> None:
    """A sink takes part in the softmax, and gives nothing; by NumPy."""
    q = param([2, 3, 4, 5], "q")
    k, v = random(2, 3, 6, 5), random(2, 3, 6, 5)
    sink = random(1, 3, 1, 1)
    mask = random(4, 6) if masked else f32(np.zeros((4, 6)))
    node = op.scaled_dot_product_attention(q, const(k), const(v), const(mask), const(f32(0.5)))
    feeds = {"q": random(2, 3, 4, 5)}
    scores = 0.5 * feeds["q"] @ k.swapaxes(-1, -2) + mask
    whole = np.concatenate([scores, np.broadcast_to(sink, (2, 3, 4, 1))], -1)
    weights = np.exp(whole) / np.exp(whole).sum(-1, keepdims=True)
    path = with_input(save(model([node], [q]), tmp_path), "ScaledDotProductAttention", sink, 50)
    session = loopc.InferenceSession(path)
    assert_close(session.run(None, feeds), [f32(weights[..., :-1] @ v)])


# ===- Decoding, patches ----------------------------------------------------------===#


@pytest.mark.parametrize("merge", [False, True])
def test_greedy_decoder(merge: bool, tmp_path: pathlib.Path) -> None:
    """Two sequences, one of which ends early, with classes that repeat."""
    steps, batch, classes = 9, 2, 4
    x, mask = param([steps, batch, classes], "x"), param([steps, batch], "m")
    node = op.ctc_greedy_decoder(x, mask, merge)
    best = np.int64([[0, 0, 3, 0, 1, 1, 2, 3, 3], [3, 2, 2, 2, 3, 2, 1, 1, 0]]).T
    feeds = {"x": f32(np.eye(classes)[best]), "m": f32(np.ones((steps, batch)))}
    feeds["m"][6:, 1] = 0
    check_peer(node, [x, mask], feeds, tmp_path)


@pytest.mark.parametrize("blank", [None, 0])
@pytest.mark.parametrize("merge", [False, True])
def test_greedy_decoder_lengths(merge: bool, blank: int | None, tmp_path: pathlib.Path) -> None:
    batch, steps, classes = 3, 8, 4
    x, lengths = param([batch, steps, classes], "x"), param([batch], "n", np.int32)
    index = None if blank is None else const(np.int32([blank]))
    node = op.ctc_greedy_decoder_seq_len(x, lengths, index, merge, "i64", "i32")
    feeds = {"x": random(batch, steps, classes), "n": np.int32([8, 5, 0])}
    path = save(model(list(node.outputs()), [x, lengths]), tmp_path)
    peer = openvino_outcome(path, feeds)
    assert peer.values is not None, peer.error
    assert_close(loopc.InferenceSession(path).run(None, feeds), peer.values)


@pytest.mark.parametrize("pad", ["valid", "same_upper", "same_lower"])
@pytest.mark.parametrize(
    ("sizes", "strides", "rates"),
    [([3, 3], [5, 5], [1, 1]), ([2, 3], [1, 2], [1, 2]), ([1, 1], [3, 3], [1, 1])],
)
def test_patches(
    sizes: list[int], strides: list[int], rates: list[int], pad: str, tmp_path: pathlib.Path
) -> None:
    x = param([2, 3, 10, 9], "x")
    node = op.extract_image_patches(x, sizes, strides, rates, pad)
    check_peer(node, [x], {"x": random(2, 3, 10, 9)}, tmp_path)


@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2"])
def test_convert_does_not_saturate(kind: str, tmp_path: pathlib.Path) -> None:
    """A number that is too large for eight bits becomes NaN or infinite, other than in ONNX."""
    x = param([6], "x")
    node = op.convert(op.convert(x, kind), "f32")
    session = loopc.InferenceSession(save(model([node], [x]), tmp_path))
    (got,) = session.run(None, {"x": f32([0.3, -2, 1e6, -np.inf, np.nan, 448])})
    top = np.nan if kind == "f8e4m3" else np.inf
    small = 0.3125
    np.testing.assert_array_equal(got, f32([small, -2, top, -top, np.nan, 448]))


def test_matrices_turned(tmp_path: pathlib.Path) -> None:
    """Matrices that are turned over, one of them or both."""
    a, b = param([3, 2], "a"), param([4, 3], "b")
    feeds = {"a": random(3, 2), "b": random(4, 3)}
    path = save(model([op.matmul(a, b, True, True), op.matmul(b, a, False, False)], [a, b]),
                tmp_path)  # fmt: skip
    want = feeds["b"] @ feeds["a"]
    assert_close(loopc.InferenceSession(path).run(None, feeds), [want.T, want])
