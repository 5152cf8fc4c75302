# ===- test_contractions.py - Matrix products of all shapes -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Matrix products against NumPy: sizes around those of tiles, types, layouts."""

from __future__ import annotations

import itertools
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

SIZES = [0, 1, 2, 7, 8, 9, 31, 32, 33, 100]
TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int32": np.int32,
    "int64": np.int64,
}


def _session(
    text: str, constants: dict[str, np.ndarray] | None = None, **options: Any
) -> loopc.InferenceSession:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> test {text}')
    for name, value in (constants or {}).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return loopc.InferenceSession(model.SerializeToString(), **options)


def _values(kind: Any, *shape: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, *shape])
    if np.issubdtype(kind, np.integer):
        return random.integers(-9, 9, shape).astype(kind)
    return random.standard_normal(shape).astype(kind)


def _check(got: np.ndarray, want: np.ndarray, terms: int) -> None:
    assert got.shape == want.shape
    kind = got.dtype
    if np.issubdtype(kind, np.integer):
        np.testing.assert_array_equal(got, want.astype(kind))
        return
    # The result is rounded once; sums are in float32 or wider.
    last = float(ml_dtypes.finfo(kind).eps)
    step = float(np.finfo(np.float64 if kind == np.float64 else np.float32).eps)
    tolerance = 8 * step * np.sqrt(terms + 1)
    np.testing.assert_allclose(
        got.astype(np.float64), want, rtol=last + tolerance, atol=4 * tolerance
    )


@pytest.mark.parametrize("kind", TYPES)
def test_dynamic_sizes(kind: str) -> None:
    """One model for all sizes."""
    session = _session(f"({kind}[m,k] a, {kind}[k,n] b) => ({kind}[m,n] y) {{ y = MatMul(a, b) }}")
    for m, n, k in itertools.product(SIZES, SIZES, [0, 1, 2, 9, 33]):
        a, b = _values(TYPES[kind], m, k), _values(TYPES[kind], k, n, seed=1)
        (got,) = session.run(None, {"a": a, "b": b})
        _check(np.asarray(got), a.astype(np.float64) @ b.astype(np.float64), k)


@pytest.mark.parametrize("shape", ["m,k", "1003,70", "1024,520"])
def test_many_rows(shape: str) -> None:
    """More rows than stay in a cache, in blocks; more terms than a block has."""
    session = _session(f"(float[{shape}] a, float[k,n] b) => (float[m,n] y) {{ y = MatMul(a, b) }}")
    sizes = [(128, 5), (129, 600), (260, 40), (1029, 520)]
    if shape != "m,k":
        sizes = [(int(shape.split(",")[0]), int(shape.split(",")[1]))]
    for m, k in sizes:
        for n in (1, 33, 70):
            a, b = _values(np.float32, m, k), _values(np.float32, k, n, seed=1)
            (got,) = session.run(None, {"a": a, "b": b})
            _check(np.asarray(got), a.astype(np.float64) @ b.astype(np.float64), k)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("terms", ["k", "20"])
def test_many_rows_times_rows(kind: str, terms: str) -> None:
    """Transposed in strips within the product, of batches and in a loop, too."""
    session = _session(f"""(int64 M, {kind}[b,m,{terms}] a, {kind}[b,n,{terms}] c) => ({kind}[b,m,n] y) {{
        zero = Sub(a, a)
        t = Transpose<perm = [0, 2, 1]>(c)
        s = MatMul(zero, t)
        y = Loop<body = step (int64 i, bool go, {kind}[b,m,n] before) => (bool go, {kind}[b,m,n] after) {{
            u = Transpose<perm = [0, 2, 1]>(c)
            p = MatMul(a, u)
            after = Add(before, p)
        }}>(M, "", s)
    }}""")
    numpy_type = TYPES[kind]
    for m, n, k in [(32, 1, 20), (33, 16, 1), (47, 33, 20), (100, 70, 600)]:
        if terms != "k" and int(terms) != k:
            continue
        a, c = _values(numpy_type, 2, m, k), _values(numpy_type, 2, n, k, seed=1)
        (got,) = session.run(None, {"M": np.array(1), "a": a, "c": c})
        want = np.matmul(a.astype(np.float64), c.astype(np.float64).transpose(0, 2, 1))
        _check(np.asarray(got), want, k)


@pytest.mark.parametrize("m", [1, 3, 9, 17])
@pytest.mark.parametrize("n", [1, 7, 16, 33, 100])
def test_static_sizes(m: int, n: int) -> None:
    """Operands as inputs and as weights that are packed by the compiler."""
    k = 37
    a, b = _values(np.float32, m, k), _values(np.float32, k, n, seed=1)
    want = a.astype(np.float64) @ b.astype(np.float64)
    plain = _session(
        f"(float[{m},{k}] a, float[{k},{n}] b) => (float[{m},{n}] y) {{ y = MatMul(a, b) }}"
    )
    _check(plain.run(None, {"a": a, "b": b})[0], want, k)
    packed = _session(
        f"(float[{m},{k}] a) => (float[{m},{n}] y) <float[{n},{k}] b> {{"
        " y = Gemm<transB = 1>(a, b) }",
        {"b": np.ascontiguousarray(b.T)},
    )
    _check(packed.run(None, {"a": a})[0], want, k)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("trans_a", "trans_b"), [(0, 1), (1, 0), (1, 1)])
def test_transposed(kind: str, trans_a: int, trans_b: int) -> None:
    """Sums along rows, where vectors run along the sum."""
    session = _session(
        f"({kind}[p,q] a, {kind}[r,s] b) => ({kind}[m,n] y) {{"
        f" y = Gemm<transA = {trans_a}, transB = {trans_b}>(a, b) }}"
    )
    for m, n, k in itertools.product([0, 1, 5, 8, 33], [0, 1, 4, 9, 33], [0, 1, 15, 16, 17, 100]):
        a, b = _values(TYPES[kind], m, k), _values(TYPES[kind], k, n, seed=1)
        want = a.astype(np.float64) @ b.astype(np.float64)
        a = np.ascontiguousarray(a.T) if trans_a else a
        b = np.ascontiguousarray(b.T) if trans_b else b
        (got,) = session.run(None, {"a": a, "b": b})
        _check(np.asarray(got), want, k)


def test_bytes() -> None:
    """int8 by uint8 in 32 bits, with zero points."""
    session = _session(
        "(uint8[m,k] a, int8[k,n] b, uint8 az, int8 bz) => (int32[m,n] y) {"
        " y = MatMulInteger(a, b, az, bz) }"
    )
    random = np.random.default_rng(0)
    for m, n, k in itertools.product([0, 1, 8, 9], [1, 16, 31, 64], [0, 1, 70]):
        a = random.integers(0, 256, (m, k)).astype(np.uint8)
        b = random.integers(-128, 128, (k, n)).astype(np.int8)
        feeds = {"a": a, "b": b, "az": np.array(128, np.uint8), "bz": np.array(-3, np.int8)}
        (got,) = session.run(None, feeds)
        want = (a.astype(np.int64) - 128) @ (b.astype(np.int64) + 3)
        np.testing.assert_array_equal(got, want.astype(np.int32))


@pytest.mark.parametrize("equation", [
    "bij,bjk->bik", "bij,bkj->bik", "bhid,bhjd->bhij", "ij,kjl->kil", "ijk,jkl->il", "i,ij->j",
    "ij,j->i", "i,i->", "ijkl,ijkm->ijlm",
])  # fmt: skip
def test_einsum(equation: str) -> None:
    """Batches, several summed axes, vectors."""
    left, right = equation.split("->")[0].split(",")
    sizes = dict(zip("bhijklmd", [2, 3, 5, 33, 20, 18, 7, 40], strict=True))
    shape = [",".join(str(sizes[label]) for label in term) for term in (left, right)]
    session = _session(
        f"(float[{shape[0]}] a, float[{shape[1]}] b) => (float[] y) {{"
        f' y = Einsum<equation = "{equation}">(a, b) }}'.replace("float[] y", "y")
    )
    a = _values(np.float32, *(sizes[label] for label in left))
    b = _values(np.float32, *(sizes[label] for label in right), seed=1)
    want = np.einsum(equation, a.astype(np.float64), b.astype(np.float64))
    _check(np.asarray(session.run(None, {"a": a, "b": b})[0]), want, 700)


@pytest.mark.parametrize("kind", ["float", "float16", "int32"])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("equation", ["bildjk,bimkl->bmljd", "aks,ksb->bsa", "kji,mkl->mijl"])
def test_einsum_as_matrices(equation: str, is_open: bool, kind: str) -> None:
    """Operands that are stored in another order, because no loop goes along rows of both."""
    left, right = equation.split("->")[0].split(",")
    known = dict(zip("bildjkmasx", [2, 5, 9, 10, 3, 4, 12, 40, 3, 9], strict=True))
    shape = [",".join(x if is_open else str(known[x]) for x in term) for term in (left, right)]
    session = _session(
        f"({kind}[{shape[0]}] a, {kind}[{shape[1]}] b) => (y) {{"
        f' y = Einsum<equation = "{equation}">(a, b) }}'
    )
    for label in ("", *dict.fromkeys(left + right)) if is_open else ("",):
        for extent in (0, 1, 33):
            sizes = {**known, **({label: extent} if label else {})}
            a = _values(TYPES[kind], *(sizes[x] for x in left))
            b = _values(TYPES[kind], *(sizes[x] for x in right), seed=1)
            want = np.einsum(equation, a.astype(np.float64), b.astype(np.float64))
            _check(np.asarray(session.run(None, {"a": a, "b": b})[0]), want, 200)


@pytest.mark.parametrize("batch", [1, 2, 16, "n"])
def test_weights_in_loop(batch: int | str) -> None:
    """Weights that a loop does not change are packed once before it."""
    session = _session(f"""(float[{batch},40] h, int64 trips, float[40,40] W) => (float[{batch},40] y) {{
        y = Loop <body = body (int64 i, bool c, float[{batch},40] v) => (bool c, float[{batch},40] w) {{
            p = MatMul(v, W)
            w = Tanh(p)
        }}> (trips, "", h)
    }}""")
    weights = _values(np.float32, 40, 40) * np.float32(0.2)
    for rows in [1, 3, 8, 19] if batch == "n" else [int(batch)]:
        for trips in (0, 1, 5):
            h = _values(np.float32, rows, 40, seed=1)
            feeds = {"h": h, "trips": np.array(trips), "W": weights}
            want = h.astype(np.float64)
            for _ in range(trips):
                want = np.tanh(want @ weights.astype(np.float64))
            np.testing.assert_allclose(session.run(None, feeds)[0], want, rtol=1e-4, atol=1e-5)


def test_not_a_number_stays_in_its_row() -> None:
    """NaN and infinity reach exactly the sums that they are part of."""
    session = _session("(float[m,k] a, float[k,n] b) => (float[m,n] y) { y = MatMul(a, b) }")
    a, b = np.ones((9, 21), np.float32), np.ones((21, 35), np.float32)
    a[8, 20], b[20, 34] = np.nan, np.inf
    (got,) = session.run(None, {"a": a, "b": b})
    want = np.full((9, 35), 21, np.float32)
    want[:, 34] = np.inf
    want[8, :] = np.nan
    np.testing.assert_array_equal(got, want)


def test_same_result_every_time() -> None:
    """Each row's sums are in one order, whichever tile computes it."""
    session = _session("(float[m,k] a, float[k,n] b) => (float[m,n] y) { y = MatMul(a, b) }")
    a, b = _values(np.float32, 23, 90), _values(np.float32, 90, 75, seed=1)
    whole = session.run(None, {"a": a, "b": b})[0]
    for row in range(23):
        (got,) = session.run(None, {"a": a[row : row + 1], "b": b})
        np.testing.assert_array_equal(got[0], whole[row])


@pytest.mark.parametrize(
    ("group", "stride", "channels"),
    [(1, 1, 6), (1, 2, 6), (2, 1, 8), (8, 1, 8), (2, 2, 8), (8, 2, 8), (1, 3, 1),
     (16, 2, 16), (16, 3, 16), (16, 4, 16), (16, 5, 16)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
def test_convolution(group: int, stride: int, channels: int, kind: str) -> None:
    """The same tiles over a convolution's positions."""
    session = _session(
        f"({kind}[n,{channels},h,w] x, {kind}[16,{channels // group},3,3] f, {kind}[16] b) => ({kind}[n,16,p,q] y) {{"
        f" y = Conv<group = {group}, strides = [{stride},{stride}], pads = [1,1,1,1]>(x, f, b) }}"
    )
    numpy_type = TYPES[kind]
    f, bias = _values(numpy_type, 16, channels // group, 3, 3), _values(numpy_type, 16)
    for height, width in [(1, 1), (4, 35), (9, 16), (5, 70), (2, 127)]:
        x = _values(numpy_type, 2, channels, height, width)
        padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)])
        rows, columns = (height - 1) // stride + 1, (width - 1) // stride + 1
        want = np.zeros((2, 16, rows, columns)) + bias.astype(np.float64)[:, None, None]
        for out in range(16):
            first = out // (16 // group) * (channels // group)
            for c, dy, dx in itertools.product(range(channels // group), range(3), range(3)):
                part = padded[
                    :,
                    first + c,
                    dy : dy + stride * rows : stride,
                    dx : dx + stride * columns : stride,
                ]
                want[:, out] += part[:, :rows, :columns] * float(f[out, c, dy, dx])
        (got,) = session.run(None, {"x": x, "f": f, "b": bias})
        _check(got, want, 9 * channels)


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int32"])
@pytest.mark.parametrize("width", [0, 1, 3, 16, 33, 64])
def test_scores_of_a_growing_cache(kind: str, width: int) -> None:
    """q times keys transposed, where the keys are a part of a larger buffer."""
    session = _session(f"""(int64 M, {kind}[H,T,D] k0, {kind}[H,1,D] q) => ({kind}[H,U,D] k, {kind}[H,1,V] s) {{
        kt0 = Transpose<perm = [0, 2, 1]>(k0)
        s0 = MatMul(q, kt0)
        k, s = Loop <body = body (int64 i, bool c, {kind}[H,P,D] pk, {kind}[H,1,R] ps)
                => (bool c, {kind}[H,P1,D] nk, {kind}[H,1,P1] ns) {{
            x = Add(q, q)
            nk = Concat<axis = 1>(pk, x)
            nkt = Transpose<perm = [0, 2, 1]>(nk)
            ns = MatMul(q, nkt)
        }}> (M, "", k0, s0)
    }}""")
    numpy_type = TYPES[kind]
    keys, query = _values(numpy_type, 2, 3, width), _values(numpy_type, 2, 1, width, seed=1)
    grown, scores = session.run(None, {"M": np.array(5), "k0": keys, "q": query})
    want = np.concatenate([keys] + [query + query] * 5, axis=1)
    np.testing.assert_array_equal(grown, want)
    wide = np.matmul(query.astype(np.float64), want.astype(np.float64).transpose(0, 2, 1))
    _check(scores, wide, width)


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize(
    ("channels", "outputs", "group", "kernel", "stride", "dilation", "length"),
    [
        (12, 12, 12, 3, 2, 1, 15),
        (6, 6, 6, 5, 1, 2, 15),
        (1, 258, 1, 64, 16, 1, 144),
        (16, 24, 1, 3, 1, 1, 6),
        (6, 33, 3, 3, 2, 3, 20),
        (4, 40, 1, 1, 2, 1, 1),
        (8, 16, 2, 5, 4, 2, 50),
        (12, 7, 1, 3, 2, 1, 9),
    ],
)
def test_convolution_across_channels(
    channels: int,
    outputs: int,
    group: int,
    kernel: int,
    stride: int,
    dilation: int,
    length: int,
    kind: str,
    is_constant: bool,
) -> None:
    """Positions that are apart, or few: vectors run along the channels of the result."""
    numpy_type = TYPES[kind]
    weights = _values(numpy_type, outputs, channels // group, kernel)
    x, bias = _values(numpy_type, 2, channels, length), _values(numpy_type, outputs)
    inputs = "" if is_constant else f", {kind}[{outputs},{channels // group},{kernel}] w"
    session = _session(
        f"({kind}[2,{channels},{length}] x, {kind}[{outputs}] b{inputs}) => ({kind}[n,m,p] y) {{"
        f" y = Conv<group = {group}, strides = [{stride}], dilations = [{dilation}]>(x, w, b) }}",
        {"w": weights} if is_constant else None,
    )
    positions = (length - dilation * (kernel - 1) - 1) // stride + 1
    want = np.zeros((2, outputs, positions)) + bias.astype(np.float64)[:, None]
    parts = x.astype(np.float64).reshape(2, group, channels // group, length)
    split = weights.astype(np.float64).reshape(group, outputs // group, -1, kernel)
    for k in range(kernel):
        window = parts[..., k * dilation :: stride][..., :positions]
        product = np.einsum("ngcp,gmc->ngmp", window, split[..., k])
        want += product.reshape(2, outputs, positions)
    feeds = {"x": x, "b": bias} | ({} if is_constant else {"w": weights})
    (got,) = session.run(None, feeds)
    _check(got, want, channels * kernel)


@pytest.mark.parametrize("hidden", [5, 32])
def test_weights_put_together_of_constants(hidden: int) -> None:
    """Gates in another order, as exporters write them, are the compiler's work."""
    text = f"""(float[T,B,7] x) => (float[T,1,B,{hidden}] y) {{
        zero = Constant<value_ints = [0]>()
        one = Constant<value_ints = [{hidden}]>()
        three = Constant<value_ints = [{3 * hidden}]>()
        end = Constant<value_ints = [9999]>()
        wi = Slice(w, zero, one, zero)
        wf = Slice(w, one, three, zero)
        wo = Slice(w, three, end, zero)
        wc = Concat<axis = 0>(wi, wo, wf)
        ww = Unsqueeze(wc, zero)
        ri = Slice(r, zero, one, zero)
        rf = Slice(r, one, three, zero)
        ro = Slice(r, three, end, zero)
        rc = Concat<axis = 0>(ri, ro, rf)
        rr = Unsqueeze(rc, zero)
        y = LSTM<hidden_size = {hidden}>(x, ww, rr)
    }}"""
    w, r = _values(np.float32, 4 * hidden, 7), _values(np.float32, 4 * hidden, hidden)
    session = _session(text, {"w": w, "r": r})
    order = np.r_[0:hidden, 3 * hidden : 4 * hidden, hidden : 3 * hidden]
    plain = _session(
        f"(float[T,B,7] x) => (float[T,1,B,{hidden}] y) {{ y = LSTM<hidden_size = {hidden}>(x, w, r) }}",
        {"w": w[order][None], "r": r[order][None]},
    )
    x = _values(np.float32, 6, 2, 7)
    np.testing.assert_allclose(
        session.run(None, {"x": x})[0], plain.run(None, {"x": x})[0], rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("columns", [1, 2, 3, 8, 17])
def test_sums_on_top_of_something(transposed: int, columns: int) -> None:
    """Any number of rows, the last of which are taken together: each is added to once."""
    for terms in (1, 7, 32, 33):
        shape = (columns, terms) if transposed else (terms, columns)
        w, b = _values(np.float32, *shape), _values(np.float32, columns, seed=1)
        session = _session(
            f"(float[m,{terms}] a) => (float[m,n] y) {{ y = Gemm<transB={transposed}>(a, w, b) }}",
            {"w": w, "b": b},
        )
        for rows in (1, 2, 3, 5, 8, 9, 17):
            a = _values(np.float32, rows, terms, seed=2)
            (got,) = session.run(None, {"a": a})
            want = a.astype(np.float64) @ (w.T if transposed else w) + b
            _check(np.asarray(got), want, terms)


@pytest.mark.parametrize("kind", ["float", "float16", "int32"])
@pytest.mark.parametrize("cpu", [None, "x86-64-v3"])
def test_few_rows_of_a_batch(kind: str, cpu: str | None) -> None:
    # Tiles of eight, of four, of three and of two rows, and none that is left out.
    weights = _values(TYPES[kind], 100, 70, seed=1)
    text = f"({kind}[m, 100] x) => ({kind}[m, 70] y) {{ y = MatMul(x, w) }}"
    options = {} if cpu is None else {"sess_options": loopc.SessionOptions(cpu=cpu)}
    session = _session(text, {"w": weights}, **options)
    for rows in range(1, 18):
        x = _values(TYPES[kind], rows, 100, seed=rows)
        want = x.astype(np.float64) @ weights.astype(np.float64)
        _check(session.run(None, {"x": x})[0], want, 100)
