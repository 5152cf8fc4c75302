# ===- test_selection_operators.py - TopK, Unique, RoiAlign, divisions ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What is chosen from long lines, pooled from regions and divided in vectors."""

import itertools
import platform
from typing import Any

import loopc
import numpy as np
import onnx.parser
import onnx.reference
import pytest

Array = np.ndarray[Any, Any]
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def onnx_name(dtype: str) -> str:
    """The name of a NumPy type in ONNX's text."""
    return {"float32": "float", "float64": "double"}.get(dtype, dtype)


def compile_text(graph: str, cpu: str = "native") -> loopc.InferenceSession:
    """A session over a graph in ONNX's text."""
    text = f'<ir_version: 10, opset_import: ["" : 21]>\n{graph}'
    model = onnx.parser.parse_model(text).SerializeToString()
    return loopc.InferenceSession(model, loopc.SessionOptions(cpu=cpu))


def skip_other_machines(cpu: str) -> None:
    """Skips what this machine cannot run."""
    if cpu.startswith("x86-64") and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("another machine's CPU")


def top_of_line(line: Array, k: int, largest: bool) -> list[int]:
    """Places of the k best: NaN is above all numbers, of equal ones the first is better."""
    values = line.astype(np.longdouble) if line.dtype.kind == "f" else line.astype(object)

    def key(place: int) -> tuple[int, Any, int]:
        value = values[place]
        is_nan = int(value != value)
        sign = -1 if largest else 1
        return (sign * is_nan, 0 if is_nan else sign * value, place)

    return sorted(range(len(line)), key=key)[:k]


def check_top(session: loopc.InferenceSession, x: Array, k: int, largest: bool) -> None:
    """Compares all lines along the last axis."""
    values, places = session.run(None, {"x": x, "k": np.array([k])})
    assert values.shape == places.shape == (*x.shape[:-1], k)
    lines = x.reshape(-1, x.shape[-1])
    for line, got, at in zip(lines, values.reshape(-1, k), places.reshape(-1, k), strict=True):
        expected = top_of_line(line, k, largest)
        assert at.tolist() == expected
        np.testing.assert_array_equal(got, line[expected])


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("extents", ["2,L", "L", "2,3,L"])
def test_top_of_open_lines(dtype: str, largest: int, extents: str) -> None:
    """Lines shorter than a block, of whole blocks and with a rest, with many equal elements."""
    kind = onnx_name(dtype)
    session = compile_text(f"""
    top ({kind}[{extents}] x, int64[1] k) => ({kind}[{extents.replace("L", "K")}] v,
                                             int64[{extents.replace("L", "K")}] i) {{
      v, i = TopK <axis = -1, largest = {largest}> (x, k)
    }}""")
    random = np.random.default_rng(1)
    lines = ((1, 1), (15, 3), (16, 16), (33, 1), (48, 5), (200, 1), (200, 7), (500, 60))
    # Lines that are sorted, and one that is just too long for that.
    for length, k in (*lines, (256, 256), (300, 280), (4096, 256), (4112, 256)):
        shape = [int(e) if e != "L" else length for e in extents.split(",")]
        x = random.integers(0, 100, shape).astype(dtype)
        if dtype in FLOATS:
            x[random.random(shape) < 0.02] = np.nan
            x[random.random(shape) < 0.02] = -np.inf
        check_top(session, x, k, bool(largest))


@pytest.mark.parametrize("order", ["rising", "falling", "same", "nan"])
@pytest.mark.parametrize("k", [0, 1, 2, 9, 33])
def test_top_of_known_lines(k: int, order: str) -> None:
    """Every element better than those before it, none, all equal, only NaN."""
    x = np.arange(300, dtype=np.float32).reshape(3, 100)
    x = {"rising": x, "falling": -x, "same": x * 0, "nan": x + np.nan}[order]
    for largest in (0, 1):
        session = compile_text(f"""
        top (float[3,100] x) => (float[3,{k}] v, int64[3,{k}] i)
          <int64[1] k = {{{k}}}> {{ v, i = TopK <largest = {largest}> (x, k) }}""")
        places = session.run(None, {"x": x})[1]
        for line, at in zip(x, places, strict=True):
            assert at.tolist() == top_of_line(line, k, bool(largest))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint32", "int64"])
def test_few_best(dtype: str, largest: int, axis: int) -> None:
    """Zeros of both signs, infinities, NaN and the ends of integers.

    In registers, in a heap and of a sorted line.
    """
    random, kind = np.random.default_rng(2), onnx_name(dtype)
    if dtype in FLOATS:
        ends = [0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 2, -2]
    else:
        ends = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
    for k in (2, 8, 9, 256):
        extents = f"{k},3" if axis == 0 else f"3,{k}"
        session = compile_text(f"""
        top ({kind}[M,N] x) => ({kind}[{extents}] v, int64[{extents}] i)
          <int64[1] k = {{{k}}}> {{ v, i = TopK <axis = {axis}, largest = {largest}> (x, k) }}""")
        for length in (9, 16, 40, 300) if k < 10 else (256, 300):
            shape = (length, 3) if axis == 0 else (3, length)
            x = np.array(ends, dtype)[random.integers(0, len(ends), shape)]
            values, places = (np.moveaxis(got, axis, 1) for got in session.run(None, {"x": x}))
            for line, got, at in zip(np.moveaxis(x, axis, 1), values, places, strict=True):
                expected = top_of_line(line, k, bool(largest))
                assert at.tolist() == expected
                np.testing.assert_array_equal(got, line[expected])
                if dtype in FLOATS:
                    np.testing.assert_array_equal(np.signbit(got), np.signbit(line[expected]))


@pytest.mark.parametrize("extent", ["3000", "L"])
def test_top_allocates_its_results_only(extent: str) -> None:
    session = compile_text(f"""
    top (float[2,{extent}] x) => (float[2,4] v, int64[2,4] i)
      <int64[1] k = {{4}}> {{ v, i = TopK (x, k) }}""")
    session.run(None, {"x": np.random.default_rng(0).random((2, 3000), np.float32)})
    assert session.last_run_statistics.allocations <= 4


def of_unique(x: Array, is_sorted: int) -> tuple[Array, ...]:
    """What Unique gives for a vector, as NumPy has it."""
    y, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    if is_sorted:
        return y, first, inverse, counts
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return y[order], first[order], place[inverse], counts[order]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 31, 64, 100, 1000])
def test_unique(dtype: str, is_sorted: int, count: int) -> None:
    """Vectors of many lengths."""
    kind = onnx_name(dtype)
    session = compile_text(f"""
    unique ({kind}[N] x) => ({kind}[U] y, int64[U] first, int64[N] inverse, int64[U] counts) {{
      y, first, inverse, counts = Unique <sorted = {is_sorted}> (x)
    }}""")
    x = np.random.default_rng(count).integers(0, max(1, count // 2), count).astype(dtype)
    for actual, expected in zip(session.run(None, {"x": x}), of_unique(x, is_sorted), strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_unique_of_ends(dtype: str) -> None:
    """Numbers of both signs whose bits differ everywhere, zeros, infinities and NaN."""
    kind = onnx_name(dtype)
    session = compile_text(f"""
    unique ({kind}[N] x) => ({kind}[U] y, int64[U] first, int64[N] inverse, int64[U] counts) {{
      y, first, inverse, counts = Unique (x)
    }}""")
    ends: list[Any]
    if dtype in FLOATS:
        info = np.finfo(dtype)
        ends = [0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, -1.5, info.max, info.min]
        ends += [info.smallest_subnormal, -info.smallest_subnormal]
    elif dtype == "bool":
        ends = [False, True]
    else:
        limits = np.iinfo(dtype)
        ends = [limits.min, limits.max, limits.min + 1, limits.max // 3, 0, 1]
    random = np.random.default_rng(3)
    for count in (1, 2, 50, 3000):
        x = np.array(ends, dtype)[random.integers(0, len(ends), count)]
        for actual, expected in zip(session.run(None, {"x": x}), of_unique(x, 1), strict=True):
            np.testing.assert_array_equal(actual, expected)


def test_unique_slices() -> None:
    """Rows in lexicographic order, equal ones far from one another."""
    session = compile_text("""
    unique (float[N,3] x) => (float[U,3] y, int64[U] first, int64[N] inverse, int64[U] counts) {
      y, first, inverse, counts = Unique <axis = 0> (x)
    }""")
    x = np.random.default_rng(0).integers(0, 3, (77, 3)).astype(np.float32)
    expected = np.unique(x, axis=0, return_index=True, return_inverse=True, return_counts=True)
    for actual, wanted in zip(session.run(None, {"x": x}), expected, strict=True):
        np.testing.assert_array_equal(actual, np.asarray(wanted).reshape(actual.shape))


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("transform", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("extents", ["2,5,12,9", "N,C,H,W"])
def test_regions(mode: str, transform: str, ratio: int, extents: str) -> None:
    """Regions inside, across the border, outside and without an area."""
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
    align (float[{extents}] x, float[R,4] r, int64[R] b) => (float[R,c,3,4] y) {{
      y = RoiAlign <mode = "{mode}", coordinate_transformation_mode = "{transform}",
                    sampling_ratio = {ratio}, spatial_scale = 0.5,
                    output_height = 3, output_width = 4> (x, r, b)
    }}"""
    raw = onnx.parser.parse_model(text).SerializeToString()
    random = np.random.default_rng(2)
    corners = random.uniform(-6, 20, (10, 2))
    regions = np.concatenate([corners, corners + random.uniform(0, 12, (10, 2))], axis=1)
    regions[0, 2:] = regions[0, :2]
    feeds = {
        "x": random.standard_normal((2, 5, 12, 9)).astype(np.float32),
        "r": regions.astype(np.float32),
        "b": random.integers(0, 2, 10),
    }
    got = loopc.InferenceSession(raw).run(None, feeds)[0]
    expected = onnx.reference.ReferenceEvaluator(onnx.load_from_string(raw)).run(None, feeds)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def chosen_boxes(
    boxes: Array, scores: Array, most: int, overlap: float, limit: float
) -> list[tuple[int, int, int]]:
    """What NonMaxSuppression says, step by step, in float32."""
    low, high = (
        np.minimum(boxes[..., :2], boxes[..., 2:]),
        np.maximum(boxes[..., :2], boxes[..., 2:]),
    )
    zero, found = np.float32(0), []
    for batch, kind in itertools.product(*(range(extent) for extent in scores.shape[:2])):
        left = [i for i in range(boxes.shape[1]) if scores[batch, kind, i] > limit]
        left.sort(key=lambda i: (-scores[batch, kind, i], i))
        kept: list[int] = []
        for i in left:
            if len(kept) == most:
                break
            tops, bottoms = low[batch], high[batch]
            sizes = np.maximum(bottoms - tops, zero).prod(axis=1, dtype=np.float32)
            sides = np.minimum(bottoms[kept], bottoms[i]) - np.maximum(tops[kept], tops[i])
            common = np.maximum(sides, zero).prod(axis=1, dtype=np.float32)
            every = sizes[kept] + sizes[i] - common
            if not np.any((common > 0) & (common > np.float32(overlap) * every)):
                kept.append(i)
        found += [(batch, kind, i) for i in kept]
    return found


@pytest.mark.parametrize("extents", ["B,N,4 C", "2,N,4 3", "B,60,4 C"])
def test_suppression(extents: str) -> None:
    """No box, one, many; equal scores, NaN; none chosen, some, all."""
    boxes_type, kinds = extents.split()
    batch, number, _ = boxes_type.split(",")
    session = compile_text(f"""
    suppress (float[{boxes_type}] b, float[{batch},{kinds},{number}] s, int64[1] m, float[1] o,
              float[1] t) => (int64[F,3] y) {{ y = NonMaxSuppression (b, s, m, o, t) }}""")
    random = np.random.default_rng(4)
    for count in (60,) if "60" in extents else (0, 1, 2, 3, 8, 60, 200):
        # Distances that no rounding of a quotient is near to.
        corners = random.integers(0, 12, (2, count, 2)).astype(np.float32)
        boxes = np.concatenate([corners, corners + random.integers(0, 5, (2, count, 2))], axis=2)
        boxes = boxes[..., [2, 1, 0, 3]].astype(np.float32)
        scores = random.integers(0, 20, (2, 3, count)).astype(np.float32)
        scores[random.random(scores.shape) < 0.05] = np.nan
        for most, overlap, limit in itertools.product((0, 1, 7, 999), (0, 0.31), (-1, 12, 99)):
            feeds = {
                "b": boxes,
                "s": scores,
                "m": np.array([most]),
                "o": np.array([overlap], np.float32),
                "t": np.array([limit], np.float32),
            }
            expected = chosen_boxes(boxes, scores, most, overlap, limit)
            assert session.run(None, feeds)[0].tolist() == [list(row) for row in expected]


def division_samples(dtype: str) -> tuple[Array, Array]:
    """Edges against one another, all sizes, multiples and their neighbours."""
    info = np.iinfo(dtype)
    marks = [0, 1, 2, 3, 7, 2**24, 2**31, 2**51, 2**52, 2**53, info.max, info.max // 3]
    near = {sign * mark + by for mark in marks for sign in (1, -1) for by in (-1, 0, 1)}
    edges = [value for value in sorted(near | {info.min}) if info.min <= value <= info.max]
    pairs = [(x, y) for x, y in itertools.product(edges, edges) if y != 0]
    random = np.random.default_rng(9)
    for bits in (4, info.bits // 2, info.bits):
        low, high = max(info.min, -(2**bits)), min(info.max, 2**bits)
        for x, y in random.integers(low, high, (300, 2), np.dtype(dtype)).tolist():
            divisor = y or 1
            multiple = abs(x) // abs(divisor) * divisor
            for value in (x, multiple, multiple - 1):
                if info.min <= value <= info.max:
                    pairs.append((value, divisor))
    x, y = zip(*pairs, strict=True)
    return np.array(x, dtype), np.array(y, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    ("count", "cpu"),
    [(1, "native"), (15, "native"), *((10**6, cpu) for cpu in ("native", "x86-64-v3", "generic"))],
)
def test_divisions_are_exact(dtype: str, count: int, cpu: str) -> None:
    """As Python divides; INT_MIN / -1 wraps."""
    skip_other_machines(cpu)
    kind = onnx_name(dtype)
    session = compile_text(
        f"""
    divide ({kind}[N] x, {kind}[N] y) => ({kind}[N] q, {kind}[N] r, {kind}[N] m) {{
      q = Div (x, y)
      r = Mod <fmod = 1> (x, y)
      m = Mod (x, y)
    }}""",
        cpu,
    )
    x, y = (values[:count] for values in division_samples(dtype))
    quotients, rests, modulos = session.run(None, {"x": x, "y": y})
    info = np.iinfo(dtype)
    for a, b, q, r, m in zip(*(v.tolist() for v in (x, y, quotients, rests, modulos)), strict=True):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        rest = abs(a) % abs(b) * (-1 if a < 0 else 1)
        wrapped = (quotient - info.min) % 2**info.bits + info.min
        assert (q, r, m) == (wrapped, rest, a % b), (a, b)


def test_rows_divided_by_one_number() -> None:
    """A divisor for each row, which is broadcast."""
    session = compile_text("""
    rows (int64[R,C] x, int64[R,1] y) => (int64[R,C] q) { q = Div (x, y) }""")
    random = np.random.default_rng(0)
    x = random.integers(-(2**40), 2**40, (5, 37))
    y = np.array([[1], [-1], [7], [-(2**33)], [2**62]])
    expected = (np.abs(x) // np.abs(y)) * np.sign(x) * np.sign(y)
    np.testing.assert_array_equal(session.run(None, {"x": x, "y": y})[0], expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("count", "cpu"), [(1, "native"), (16, "native"), (10**6, "native"), (10**6, "x86-64-v3")]
)
def test_remainders_of_floats_are_exact(dtype: str, count: int, cpu: str) -> None:
    """Bit for bit C's fmod, for quotients of all sizes; signs of zeros included."""
    skip_other_machines(cpu)
    kind = onnx_name(dtype)
    session = compile_text(
        f"""
    rest ({kind}[N] x, {kind}[N] y) => ({kind}[N] z) {{ z = Mod <fmod = 1> (x, y) }}""",
        cpu,
    )
    random = np.random.default_rng(6)
    info = np.finfo(dtype)
    marks = [0, 1, 3, 0.1, 2.0**20, 2.0**29, 2.0**53, info.max, info.tiny, np.inf, np.nan]
    with np.errstate(all="ignore"):
        edges = np.array([sign * mark for mark in marks for sign in (1, -1)]).astype(dtype)
        near = random.uniform(-9, 9, (2, 3000)).astype(dtype)
        far = np.exp2(random.uniform(-14, 15, (2, 3000))).astype(dtype)
        multiples = (near[1] * random.integers(0, 2000, 3000)).astype(dtype)
        x = np.concatenate([np.repeat(edges, edges.size), near[0], far[0], multiples])[:count]
        y = np.concatenate([np.tile(edges, edges.size), near[1], far[1], near[1]])[:count]
        if dtype == "float32":
            x, y = (
                np.concatenate([v, random.integers(0, 2**32, 3000, np.uint32).view(dtype)])
                for v in (x, y)
            )
        expected = np.fmod(x, y)
    got = session.run(None, {"x": x, "y": y})[0]
    np.testing.assert_array_equal(got, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))
