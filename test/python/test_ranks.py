# ===- test_ranks.py - Operators on values of any rank -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators on inputs whose rank is not declared, against NumPy, and what they cost to compile."""

from __future__ import annotations

import itertools
import pathlib
import time
from collections.abc import Callable, Sequence

import loopc
import numpy as np
import onnx.helper
import onnx.reference
import onnxruntime
import pytest
from loop_models.registry import f32, graph, i64, noise, ramp

RANKS = ((), (3,), (1,), (0,), (2, 3), (1, 3), (2, 1, 3), (4, 1, 2, 3), (2,) * 7, (1,) * 9)
MATRICES = ((3,), (2, 3), (2, 2, 3), (1, 2, 2, 3))


def session(text: str, *, opset: int = 21) -> loopc.InferenceSession:
    return loopc.InferenceSession(graph(text, opset=opset).SerializeToString())


def compare(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> None:
    """Equal in number, shape, dtype and (nearly) value."""
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.shape == np.shape(other)
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("operator", "function"),
    [("Neg", np.negative), ("Abs", np.abs), ("Relu", lambda x: np.maximum(x, 0)), ("Exp", np.exp)],
)
def test_unary(operator: str, function: Callable[[np.ndarray], np.ndarray]) -> None:
    model = session(f"(float[] x) => (float[] y) {{ y = {operator}(x) }}")
    for shape in RANKS:
        x = noise(*shape)
        compare(model.run(None, {"x": x}), [function(x)])


def test_cast_and_clip() -> None:
    model = session("""(float[] x, float low) => (int32[] y, bool[] z) {
        c = Clip(x, low)
        y = Cast<to = 6>(c)
        z = Cast<to = 9>(y)
    }""")
    for shape in RANKS:
        x = 4 * noise(*shape)
        clipped = np.maximum(x, -1).astype(np.int32)
        compare(model.run(None, {"x": x, "low": f32(-1)}), [clipped, clipped != 0])


def test_where() -> None:
    model = session("(bool[] p, float[] x, float[] y) => (float[] z) { z = Where(p, x, y) }")
    shapes = ((), (3,), (2, 3), (2, 1), (2, 1, 3), (1, 2, 1, 3))
    for a, b, c in itertools.product(shapes, repeat=3):
        p, x, y = ramp(*a) % 2 == 0, ramp(*b), ramp(*c, start=5)
        compare(model.run(None, {"p": p, "x": x, "y": y}), [np.where(p, x, y)])


def test_integer_division() -> None:
    """A zero among the divisors is found, whatever the rank."""
    model = session("(int64[] x, int64[] y) => (int64[] z) { z = Div(x, y) }")
    compare(model.run(None, {"x": i64([[7], [-7]]), "y": i64([2, -2])}), [i64([[3, -3], [-3, 3]])])
    with pytest.raises(loopc.Error, match="division by zero"):
        model.run(None, {"x": i64([[7], [-7]]), "y": i64([2, 0])})


@pytest.mark.parametrize("operator", ["Div", "Mod"])
@pytest.mark.parametrize("declared", ["int64[] x, int64[] y", "int64[n] x, int64 y"])
def test_integer_division_of_nothing(operator: str, declared: str) -> None:
    """A divisor of zero is an error where nothing is divided too, whatever is declared."""
    model = session(f"({declared}) => (int64[] z) {{ z = {operator}(x, y) }}")
    empty = np.zeros(0, np.int64)
    compare(model.run(None, {"x": empty, "y": i64(2)}), [empty])
    with pytest.raises(loopc.Error, match="division by zero"):
        model.run(None, {"x": empty, "y": i64(0)})


def test_prelu() -> None:
    """The slope broadcasts to x, never x to the slope."""
    model = session("(float[] x, float[] s) => (float[] y) { y = PRelu(x, s) }")
    x = noise(2, 3)
    compare(model.run(None, {"x": x, "s": ramp(3)}), [np.where(x < 0, x * ramp(3), x)])
    with pytest.raises(loopc.Error, match="broadcast"):
        model.run(None, {"x": x, "s": ramp(2, 2, 3)})


@pytest.mark.parametrize("declared", ["float[]", "float[A,B]"])
def test_matmul(declared: str) -> None:
    model = session(f"(float[] x, {declared} y) => (float[] z) {{ z = MatMul(x, y) }}")
    right = [(3, 2)] if "A" in declared else [(3,), (3, 2), (2, 3, 4), (5, 1, 3, 6)]
    for a, b in itertools.product([(3,), (4, 3), (2, 4, 3), (5, 2, 4, 3), (0, 4, 3)], right):
        x, y = noise(*a), noise(*b, seed=1)
        try:
            want = x @ y
        except ValueError:
            with pytest.raises(loopc.Error, match="broadcast"):
                model.run(None, {"x": x, "y": y})
            continue
        compare(model.run(None, {"x": x, "y": y}), [want])
    with pytest.raises(loopc.Error, match="scalar"):
        model.run(None, {"x": f32(1), "y": ramp(3, 2)})


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [[], [0], [-1], [0, 2], [-3, -1], [-1, 1]])
def test_reduce(axes: list[int], keepdims: int) -> None:
    """Over all axes, one, or several, that are constant."""
    given = f"axes = Constant<value = int64[{len(axes)}] {{{', '.join(map(str, axes))}}}>()"
    model = session(f"""(float[] x) => (float[] y) {{
        {given if axes else ""}
        y = ReduceSum<keepdims = {keepdims}>(x{", axes" if axes else ""})
    }}""")
    for shape in RANKS:
        x = ramp(*shape)
        try:
            want = x.sum(axis=tuple(axes) if axes else None, keepdims=bool(keepdims))
        except np.exceptions.AxisError:
            with pytest.raises(loopc.Error, match="out of range"):
                model.run(None, {"x": x})
            continue
        except ValueError:
            with pytest.raises(loopc.Error, match="repeated"):
                model.run(None, {"x": x})
            continue
        compare(model.run(None, {"x": x}), [want])


@pytest.mark.parametrize("declared", ["float[]", "float[A,B,C]"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reduce_over_axes_of_the_run(declared: str, keepdims: int) -> None:
    """Which axes, and how many, is an input: the result's rank is, too."""
    model = session(f"""({declared} x, int64[N] axes) => (float[] y) {{
        y = ReduceMax<keepdims = {keepdims}>(x, axes)
    }}""")
    for shape in [(4, 2, 3)] if "A" in declared else [(3,), (2, 3), (4, 2, 3), (4, 2, 3, 5)]:
        x = noise(*shape)
        for count in range(len(shape) + 1):
            for axes in itertools.combinations(range(len(shape)), count):
                want = x.max(axis=axes or None, keepdims=bool(keepdims))
                compare(model.run(None, {"x": x, "axes": i64(axes)}), [want])


def test_along_an_axis() -> None:
    model = session("""(float[] x) => (float[] s, float[] v, int64[] i, float[] a, float[] b,
                                       int64[] g, float[] c) {
        k = Constant<value = int64[1] {2}>()
        axis = Constant<value = int64 {-1}>()
        s = Softmax(x)
        v, i = TopK<axis = -1>(x, k)
        a, b = Split<axis = -1, num_outputs = 2>(x)
        g = ArgMax<axis = -1, keepdims = 0>(x)
        c = CumSum(x, axis)
    }""")
    for shape in MATRICES:
        x = noise(*shape)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        i = np.argsort(-x, axis=-1, kind="stable")[..., :2]
        want = [e / e.sum(axis=-1, keepdims=True), np.take_along_axis(x, i, -1), i]
        want += [*np.array_split(x, 2, axis=-1), x.argmax(-1), np.cumsum(x, axis=-1)]
        compare(model.run(None, {"x": x}), want)
    with pytest.raises(loopc.Error, match="out of range for rank 0"):
        model.run(None, {"x": f32(1)})


def test_softmax_of_version_11() -> None:
    """All axes from the given one on are one."""
    text = "(float[] x) => (float[] y) { y = Softmax<axis = 1>(x) }"
    model = session(text, opset=11)
    for shape in ((2, 3), (2, 3, 2), (2, 1, 2, 2)):
        x = noise(*shape)
        e = np.exp(x.reshape(2, -1))
        compare(model.run(None, {"x": x}), [(e / e.sum(1, keepdims=True)).reshape(shape)])


def test_normalizations() -> None:
    model = session("""(float[] x, float[C] s, float[C] b, float[K] t) => (float[] y, float[] z) {
        y = InstanceNormalization<epsilon = 0.001>(x, s, b)
        z = LayerNormalization<axis = -1, epsilon = 0.001>(x, t)
    }""")
    for shape in ((2, 3, 4), (2, 3, 2, 4), (1, 3, 2, 2, 4)):
        x = noise(*shape)
        axes = tuple(range(2, x.ndim))
        wide = (3,) + (1,) * len(axes)
        y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 0.001)
        y = y * ramp(3).reshape(wide) + ramp(3, start=1).reshape(wide)
        z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 0.001) * ramp(4)
        feeds = {"x": x, "s": ramp(3), "b": ramp(3, start=1), "t": ramp(4)}
        compare(model.run(None, feeds), [y, z])


def test_concat_and_gather() -> None:
    model = session("""(float[] x, float[] y, int64[] i) => (float[] c, float[] g) {
        c = Concat<axis = -1>(x, y, x)
        g = Gather<axis = -1>(x, i)
    }""")
    for shape in MATRICES:
        for indices in (1, [0, 2], [[1, -1], [0, 0]], []):
            x, y, i = ramp(*shape), ramp(*shape[:-1], 2), i64(indices)
            want = [np.concatenate([x, y, x], axis=-1), np.take(x, i, axis=-1)]
            compare(model.run(None, {"x": x, "y": y, "i": i}), want)
    with pytest.raises(loopc.Error, match="differs from input 0"):
        model.run(None, {"x": ramp(2, 3), "y": ramp(1, 2, 3), "i": i64(0)})


# Shapes of data and of indices (the last extent counts coordinates), and batch axes.
TUPLES = (
    ((5,), (1,), 0), ((5,), (3, 1), 0), ((4, 3), (2,), 0), ((4, 3), (2, 2, 1), 0),
    ((2, 3, 4), (5, 2), 0), ((2, 3, 4), (5, 3), 0), ((2, 3, 4), (0, 2), 0), ((2, 0, 4), (3, 1), 0),
    ((2, 3, 4), (2, 1), 1), ((2, 3, 4), (2, 5, 2), 1), ((2, 3, 4, 2), (2, 3, 3, 1), 2),
    ((2, 1, 2, 1, 2, 1, 2, 1, 3), (4, 8), 0),
)  # fmt: skip


def coordinates(data: Sequence[int], shape: Sequence[int], batch: int) -> np.ndarray:
    """Tuples of coordinates of the axes behind the batch axes, some counted from the end."""
    random = np.random.default_rng(0)
    axes = [
        random.integers(-data[batch + k], data[batch + k], shape[:-1]) for k in range(shape[-1])
    ]
    return np.stack(axes, axis=-1).astype(np.int64)


def at_batch(batch: int, outer: Sequence[int]) -> list[np.ndarray]:
    """The batch coordinates of each tuple."""
    return list(np.indices(outer)[:batch])


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_gather_nd(batch: int) -> None:
    """Ranks of data and indices and the number of coordinates are known at run time only."""
    model = session(f"(float[] x, int64[] i) => (float[] y) {{"
                    f" y = GatherND<batch_dims = {batch}>(x, i) }}")  # fmt: skip
    for data, shape, own in TUPLES:
        if own != batch:
            continue
        x, i = ramp(*data), coordinates(data, shape, batch)
        at = (*at_batch(batch, shape[:-1]), *np.moveaxis(i, -1, 0))
        compare(model.run(None, {"x": x, "i": i}), [x[at]])
    for data, indices, message in (
        ((4, 3, 2), np.full((4, 3, 1), 9), "index 9 is out of range for an axis of extent"),
        ((4, 3, 2), np.zeros((4, 3, 4)), "cannot take indices of 4 coordinates"),
        ((4, 3, 2), np.zeros((4, 3, 0)), "cannot take indices of 0 coordinates"),
        ((4, 3, 2), i64(1), "cannot take data of rank 3 and indices of rank 0"),
    ):
        with pytest.raises(loopc.RunError, match=message):
            model.run(None, {"x": ramp(*data), "i": i64(indices)})


def test_gather_nd_of_no_coordinates() -> None:
    """GatherND-13: the last axis of the indices has an extent of 1 at least."""
    with pytest.raises(loopc.Error, match="name 0 axes"):
        session("(float[4, 3] x, int64[2, 0] i) => (float[] y) { y = GatherND(x, i) }")


def test_scatter_nd_of_no_coordinates() -> None:
    """Ranks are known, the number of coordinates is not; tuples of none name all of the data."""
    model = session("(float[a, b] x, int64[c, d] i, float[] u) => (float[] y) {"
                    " y = ScatterND<reduction = \"add\">(x, i, u) }")  # fmt: skip
    x = ramp(2, 3)
    for coordinates in (0, 1, 2):
        i = np.zeros((2, coordinates), np.int64)
        u = ramp(2, *x.shape[coordinates:], start=4)
        want = x.copy()
        want[(0,) * coordinates] += u.sum(0)
        compare(model.run(None, {"x": x, "i": i, "u": u}), [want])


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_scatter_nd(reduction: str) -> None:
    model = session(f"(float[] x, int64[] i, float[] u) => (float[] y) {{"
                    f' y = ScatterND<reduction = "{reduction}">(x, i, u) }}')  # fmt: skip
    for data, shape, batch in TUPLES:
        if batch:
            continue
        x, i = ramp(*data), coordinates(data, shape, 0)
        u = ramp(*shape[:-1], *data[shape[-1] :], start=3)
        want = x.copy()
        for at in np.ndindex(*shape[:-1]):
            to = tuple(i[at])
            old = want[to]
            want[to] = {"none": u[at], "add": old + u[at], "max": np.maximum(old, u[at])}[reduction]
        compare(model.run(None, {"x": x, "i": i, "u": u}), [want])
    # Tuples of no coordinate name all of the data.
    u = np.stack([ramp(2, 3, start=6), ramp(2, 3, start=5)])
    feeds = {"x": np.zeros((2, 3), np.float32), "i": np.zeros((2, 0), np.int64), "u": u}
    want = {"none": u[1], "add": u[0] + u[1], "max": u[0]}[reduction]
    compare(model.run(None, feeds), [want])
    for indices, updates, message in (
        ([[1]], (1, 2, 3), "updates of rank 3, expected 2"),
        ([[1]], (1, 2), "the updates' extents are not those of the indices and the data"),
        ([[-5]], (1, 3), "index -5 is out of range for an axis of extent 4"),
        ([[0, 0, 0]], (1,), "cannot take indices of 3 coordinates"),
    ):
        with pytest.raises(loopc.RunError, match=message):
            model.run(None, {"x": ramp(4, 3), "i": i64(indices), "u": ramp(*updates)})


def test_shapes() -> None:
    model = session("""(float[] x) => (int64[] s, int64 n, int64[] t, float[] f, float[] r) {
        s = Shape(x)
        n = Size(x)
        t = Shape<start = -2, end = 9>(x)
        f = Flatten<axis = 1>(x)
        r = Transpose(x)
    }""")
    for shape in ((3,), (2, 3), (2, 2, 3), (0, 2)):
        x = ramp(*shape)
        flat = x.reshape(shape[0], int(np.prod(shape[1:])))
        compare(model.run(None, {"x": x}), [i64(shape), i64(x.size), i64(shape[-2:]), flat, x.T])


def test_reshape_says_all_extents() -> None:
    """Extents that both shapes have are counted in the message, too."""
    model = session("""(float[A,B] x) => (float[] y) {
        s = Constant<value = int64[3] {0, 4, -1}>()
        y = Reshape(x, s)
    }""")
    compare(model.run(None, {"x": ramp(2, 8)}), [ramp(2, 4, 2)])
    with pytest.raises(loopc.RunError, match=r"6 elements .* by the 8 elements"):
        model.run(None, {"x": ramp(2, 3)})


def test_squeeze_and_unsqueeze() -> None:
    squeeze = session("(float[] x) => (float[] y) { y = Squeeze(x) }")
    for shape in ((), (1,), (3, 1), (1, 2, 1, 3, 1), (0, 1)):
        compare(squeeze.run(None, {"x": ramp(*shape)}), [ramp(*shape).squeeze()])
    model = session("(float[] x, int64[N] a) => (float[] y, float[] z) { y = Unsqueeze(x, a)\n"
                    "z = Squeeze(y, a) }")  # fmt: skip
    for shape in ((), (2,), (3, 1)):
        for axes in ([], [0], [-1, 0]):
            x = ramp(*shape)
            wide = np.expand_dims(x, tuple(axes))
            compare(model.run(None, {"x": x, "a": i64(axes)}), [wide, x])
    for axes, message in (([0, 0], "repeated"), ([5], "out of range")):
        with pytest.raises(loopc.Error, match=message):
            model.run(None, {"x": ramp(2), "a": i64(axes)})


def test_expand_tile_constant() -> None:
    expand = session("(float[A,B] x, int64[N] s) => (float[] y) { y = Expand(x, s) }")
    for shape in ([6], [1, 2], [1], [], [3, 1, 1, 2]):
        want = ramp(2, 1) * np.ones(shape, np.float32)
        compare(expand.run(None, {"x": ramp(2, 1), "s": i64(shape)}), [want])
    with pytest.raises(loopc.Error, match="broadcast"):
        expand.run(None, {"x": ramp(2, 1), "s": i64([3, 1])})
    tile = session("(float[] x, int64[N] r) => (float[] y) { y = Tile(x, r) }")
    for shape, repeats in (((2, 3), [2, 2]), ((3,), [0]), ((), []), ((2, 1, 3), [1, 4, 2])):
        want = np.tile(ramp(*shape), repeats)
        compare(tile.run(None, {"x": ramp(*shape), "r": i64(repeats)}), [want])
    with pytest.raises(loopc.Error, match="repeats"):
        tile.run(None, {"x": ramp(2, 1), "r": i64([3])})
    constant = session("(int64[N] s) => (float[] y) "
                       "{ y = ConstantOfShape<value = float[1] {2.5}>(s) }")  # fmt: skip
    for shape in ([], [2], [3, 0], [2, 3, 1]):
        want = np.full(shape, 2.5, np.float32)
        compare(constant.run(None, {"s": i64(shape)}), [want])
    with pytest.raises(loopc.Error, match="less than 0"):
        constant.run(None, {"s": i64([-1])})


def test_slice() -> None:
    """Any number of axes, all lists known at run time only."""
    model = session("""(float[] x, int64[N] s, int64[N] e, int64[N] a, int64[N] t)
        => (float[] y) { y = Slice(x, s, e, a, t) }""")
    lists = (
        ([], [], [], []), ([0], [1], [0], [1]), ([1, 0], [9, -1], [1, 0], [1, 1]),
        ([-1], [-(2**62)], [1], [-1]), ([-1], [-(2**63)], [1], [-2]), ([4], [0], [-1], [-1]),
        ([3], [1], [0], [1]), ([0], [2**63 - 1], [1], [2**63 - 1]),
    )  # fmt: skip
    for starts, ends, axes, steps in lists:
        for shape in ((3, 4), (2, 3, 4), (0, 3)):
            x = ramp(*shape)
            at = [slice(None)] * x.ndim
            for s, e, a, t in zip(starts, ends, axes, steps, strict=True):
                at[a] = slice(s, None if e < -100 else e, t)
            feeds = {"x": x, "s": i64(starts), "e": i64(ends), "a": i64(axes), "t": i64(steps)}
            compare(model.run(None, feeds), [x[tuple(at)]])
    for axis, step, message in ((2, 1, "out of range"), (1, 0, "step")):
        feeds = {"x": ramp(3, 4), "s": i64([0]), "e": i64([1])}
        with pytest.raises(loopc.Error, match=message):
            model.run(None, feeds | {"a": i64([axis]), "t": i64([step])})


def test_nonzero() -> None:
    model = session("(float[] x) => (int64[] y) { y = NonZero(x) }")
    for shape in ((2,), (3, 2), (2, 3, 4), (2, 0, 3)):
        x = ramp(*shape) % 3
        compare(model.run(None, {"x": x}), [i64(np.nonzero(x)).reshape(x.ndim, -1)])


def test_switch_over_ranks() -> None:
    """An operator that has no form of its own is compiled for each rank up to 8."""
    model = session("(float[] x, int64[] i) => (float[] y) { y = GatherElements<axis = -1>(x, i) }")
    for shape in ((3,), (2, 3), (1, 2, 1, 2, 1, 1, 2, 3)):
        x, i = noise(*shape), i64(np.zeros(shape)) + 1
        compare(model.run(None, {"x": x, "i": i}), [np.take_along_axis(x, i, -1)])
    with pytest.raises(loopc.Error, match="rank 9"):
        model.run(None, {"x": ramp(*(1,) * 9), "i": i64(np.zeros((1,) * 9))})


def squeezed(count: int) -> str:
    """`count` Ifs in a row that drop a leading 1 where there is one."""
    return "\n".join(
        f"""s{k} = Shape<start = 0, end = 1>(v{k})
        p{k} = Equal(s{k}, one)
        v{k + 1} = If <then_branch = t{k} () => (float[] a{k}) {{ a{k} = Squeeze(v{k}, axes) }},
                       else_branch = e{k} () => (float[] b{k}) {{ b{k} = Identity(v{k}) }}> (p{k})"""
        for k in range(count)
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"""(float[A,B,C] v0) => (float[] y) {{
                one = Constant<value = int64[1] {{1}}>()
                axes = Constant<value = int64[1] {{0}}>()
                {squeezed(12)}
                y = Neg(v12)
            }}""",
            id="twelve_ifs",
        ),
        pytest.param(
            f"""(float[A,B,C] v0, float[] w) => (float[] y) {{
                one = Constant<value = int64[1] {{1}}>()
                axes = Constant<value = int64[1] {{0}}>()
                {squeezed(3)}
                a = Add(v1, v2)
                b = Mul(a, v3)
                y = Sub(b, w)
            }}""",
            id="elementwise_chain",
        ),
        pytest.param("(float[] x, float[] y) => (float[] z) { z = Add(x, y) }", id="add"),
        pytest.param("(float[] x, float[] y) => (float[] z) { z = MatMul(x, y) }", id="matmul"),
    ],
)
def test_time_to_compile(text: str) -> None:
    """Code is linear in the number of operators: well under a second of CPU time."""
    session("(float x) => (float y) { y = Neg(x) }")
    before = time.process_time()
    session(text)
    assert time.process_time() - before < 1


@pytest.mark.parametrize("more", [False, True])
def test_rank_of_a_state_of_which_optionals_hide_it(more: bool) -> None:
    """A result whose rank the model declares has it, or the run ends with an error."""
    following = "u = Unsqueeze(s, axis)" if more else "u = Neg(s)"
    model = session(
        f"""(float[n, m] x, float[c] e) => (float[a, b] y) {{
          two = Constant<value: tensor = int64 {{2}}>()
          axis = Constant<value: tensor = int64[1] {{0}}>()
          y = Scan<num_scan_inputs: int = 1, body: graph = body (float[q, r] s, float v) => (float[k, l] t) {{
            none = Optional<type: type_proto = float[]>()
            last = Loop(two, "", none) <body = inner (int64 i, bool p, optional(float[]) w) => (bool go, optional(float[]) z) {{
              go = Identity(p)
              has = OptionalHasElement(w)
              g = If(has) <
                then_branch = yes () => (float[?, ?] u) {{ h = OptionalGetElement(w) u = Tanh(h) }},
                else_branch = no () => (float[?, ?] u) {{ {following} }}
              >
              z = Optional(g)
            }}>
            f = OptionalGetElement(last)
            t = Identity(f)
          }}>(x, e)
        }}"""
    )
    x = noise(2, 3)
    compare(model.run(None, {"x": x, "e": noise(0)}), [x])
    if more:
        with pytest.raises(loopc.RunError, match="state #0 has rank 2 but the body yields rank 3"):
            model.run(None, {"x": x, "e": noise(2)})
    else:
        compare(model.run(None, {"x": x, "e": noise(1)}), [np.tanh(-x)])


def test_rank_that_a_loop_of_no_trips_collects() -> None:
    """loop_zero: a state of a Scan has the rank that it began with, whatever hides the next one."""
    model = session(
        """(float[2, 3] x, int64 trips, int64[k] shape) => (float[t, a, b] y, float[t, c, d] z) {
          always = Constant<value: tensor = bool {1}>()
          two = Constant<value: tensor = int64 {2}>()
          state = Scan<num_scan_inputs: int = 1, body: graph = b (float[2, 3] s, float[3] v) => (float[2, 3] n) {
            n = Reshape(s, shape)
          }>(x, x)
          none = Optional<type: type_proto = float[]>()
          last = Loop(two, "", none) <body = l (int64 i, bool p, optional(float[]) w) => (bool go, optional(float[]) o) {
            go = Identity(p)
            has = OptionalHasElement(w)
            g = If(has) <
              then_branch = yes () => (float[?, ?] u) { h = OptionalGetElement(w) u = Tanh(h) },
              else_branch = no () => (float[?, ?] u) { u = Neg(x) }
            >
            o = Optional(g)
          }>
          kept = OptionalGetElement(last)
          y, z = Loop(trips, always) <body = c (int64 i, bool p) => (bool go, float[2, 3] u, float[2, 3] v) {
            go = Identity(p) u = Identity(state) v = Identity(kept)
          }>
        }"""
    )
    x = noise(2, 3)
    for trips in (0, 2):
        feeds = {"x": x, "trips": np.array(trips), "shape": np.array([2, 3])}
        y, z = model.run(None, feeds)
        assert y.shape == (trips, 2, 3)
        assert z.shape[0] == trips
        assert z.ndim == 3
        for one, other in zip(y, z, strict=True):
            compare([one, other], [x, np.tanh(-x)])


def test_shape_that_a_switch_over_ranks_yields() -> None:
    """A Slice changes the shape that a node before it has chosen by rank, which may be a constant."""
    model = session("""(float[] x, int64[] t) => (float[] y, float[] z) {
        first = Constant<value: tensor = int64[1] {0}>()
        one = Constant<value: tensor = int64[1] {1}>()
        e = GatherElements<axis = 1>(x, t)
        y = Slice(e, first, one, one)
        row = Slice(t, first, one, one)
        classes = Squeeze(row, one)
        z = NegativeLogLikelihoodLoss<reduction = "none">(x, classes)
    }""")
    for shape in ((3, 4), (2, 3, 2)):
        x = noise(*shape)
        t = np.zeros(shape, np.int64)
        t[:, 0] = 1
        got = np.take_along_axis(x, t, 1)[:, :1]
        compare(model.run(None, {"x": x, "t": t}), [got, -x[:, 1]])


def test_rank_of_what_cannot_be() -> None:
    """A node whose operands contradict each other has a result of the rank that they tell."""
    model = session("""(float[7] x, int64 trips) => (float[t, a, b] y) {
        always = Constant<value: tensor = bool {1}>()
        shape = Constant<value: tensor = int64[2] {2, -1}>()
        y = Loop(trips, always) <body = l (int64 i, bool p) => (bool go, float[2, q] u) {
            go = Identity(p)
            u = Reshape(x, shape)
        }>
    }""")
    [none] = model.run(None, {"x": ramp(7), "trips": np.array(0)})
    assert none.ndim == 3
    with pytest.raises(loopc.RunError, match="Reshape"):
        model.run(None, {"x": ramp(7), "trips": np.array(1)})


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("split", ["", ", s"])
def test_split_to_sequence(keepdims: int, split: str) -> None:
    """Along the first and the last axis, by one element (keepdims = 0 drops the axis) or by two."""
    for axis in (0, -1):
        model = session(f"""(float[] x) => (seq(float[]) y) {{
            s = Constant<value_int = 2>()
            y = SplitToSequence<axis = {axis}, keepdims = {keepdims}>(x{split})
        }}""")
        for shape in (s for s in RANKS if len(s) <= 7):
            x = noise(*shape)
            if not shape:
                with pytest.raises(
                    loopc.RunError, match="SplitToSequence cannot take a value of rank 0"
                ):
                    model.run(None, {"x": x})
                continue
            if split:
                want = np.split(x, range(2, shape[axis], 2), axis) if shape[axis] else []
            else:
                want = np.split(x, shape[axis], axis) if shape[axis] else []
                want = [np.squeeze(part, axis) for part in want] if not keepdims else want
            compare(model.run(None, {"x": x})[0], want)


# Lines of linalg that a node on inputs of unknown rank may become.
MOST_LINES = 4500
# Of those with many inputs, none of which has a declared rank.
UNRANKED = {
    "NonMaxSuppression": "(float[] b, float[] s, int64[] k, float[] u, float[] t) => (int64[] y)"
    " { y = NonMaxSuppression(b, s, k, u, t) }",
    "MelWeightMatrix": "(int64[] a, int64[] b, int64[] c, float[] d, float[] e) => (float[] y)"
    " { y = MelWeightMatrix(a, b, c, d, e) }",
    "ConvInteger": "(int8[] a, int8[] b, int8[] c, int8[] d) => (int32[] y)"
    " { y = ConvInteger(a, b, c, d) }",
    "MatMulInteger": "(int8[] a, int8[] b, int8[] c, int8[] d) => (int32[] y)"
    " { y = MatMulInteger(a, b, c, d) }",
    "QLinearMatMul": "(int8[] a, float[] b, int8[] c, int8[] d, float[] e, int8[] f, float[] g,"
    " int8[] h) => (int8[] y) { y = QLinearMatMul(a, b, c, d, e, f, g, h) }",
    "QLinearConv": "(int8[] a, float[] b, int8[] c, int8[] d, float[] e, int8[] f, float[] g,"
    " int8[] h, int32[] i) => (int8[] y) { y = QLinearConv(a, b, c, d, e, f, g, h, i) }",
    "DeformConv": "(float[] a, float[] b, float[] c, float[] d, float[] e) => (float[] y)"
    " { y = DeformConv<kernel_shape = [2, 2]>(a, b, c, d, e) }",
    "ScatterElements": "(float[] a, int64[] b, float[] c) => (float[] y)"
    " { y = ScatterElements(a, b, c) }",
    "QuantizeLinear": "(float[] a, float[] b, int8[] c) => (int8[] y)"
    " { y = QuantizeLinear(a, b, c) }",
    "STFT": "(float[] a, int64[] b, float[] c, int64[] d) => (float[] y) { y = STFT(a, b, c, d) }",
    "DFT": "(float[] a, int64[] b, int64[] c) => (float[] y) { y = DFT(a, b, c) }",
    "GatherND": "(float[] a, int64[] b) => (float[] y) { y = GatherND(a, b) }",
    "ScatterND": "(float[] a, int64[] b, float[] c) => (float[] y) { y = ScatterND(a, b, c) }",
}


@pytest.mark.parametrize("text", UNRANKED.values(), ids=UNRANKED)
def test_code_for_operands_of_any_rank(text: str, tmp_path: pathlib.Path) -> None:
    """A node is there for the combinations of ranks that its definition leaves, not for all."""
    file = tmp_path / "model.mlir"
    loopc.compile(graph(text).SerializeToString(), file, emit="linalg")
    assert file.read_text().count("\n") <= MOST_LINES


def test_too_many_combinations_of_ranks_are_refused() -> None:
    model = graph(
        "(float[] a, float[] b, float[] c, float[] d, float[] e) => (float[] y) {"
        ' y = Einsum<equation = "...i,...i,...i,...i,...i->...">(a, b, c, d, e) }'
    )
    with pytest.raises(loopc.CompileError, match="combinations of ranks"):
        loopc.InferenceSession(model.SerializeToString())


def of_lines(value: np.ndarray, matrix: np.ndarray, axis: int) -> np.ndarray:
    """`value`, one for all or for each row (axis -2) or column (axis -1), as `matrix` wants it."""
    if matrix.ndim == 1 and value.ndim == 1:
        return value.reshape(())
    return value[:, None] if value.ndim == 1 and axis == -2 else value


def lines_of(matrix: np.ndarray, axis: int, first: np.ndarray) -> list[np.ndarray]:
    """A number for all of `matrix`, one for each row or column, and one for each of all matrices."""
    if matrix.ndim == 1:
        return [first, first.reshape(1)]
    shape = [*matrix.shape[:-2], 1, 1]
    shape[axis] = matrix.shape[axis]
    more = np.arange(np.prod(shape)).reshape(shape).astype(first.dtype)
    return [first, first.reshape(1), first + more.ravel()[: shape[axis]], first + more]


PRODUCTS = (((3,), (3, 2)), ((2, 3), (3, 2)), ((5, 1, 2, 3), (4, 3, 2)), ((2, 3), (3,)))


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_products_of_integers_of_any_rank(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Zero points for all, for each row and column, and for those of each matrix."""
    model = session("""(uint8[] a, uint8[] b, uint8[] p, uint8[] q) => (int32[] y) {
        y = MatMulInteger(a, b, p, q)
    }""")
    a, b = ramp(*left, dtype=np.uint8), ramp(*right, dtype=np.uint8, start=3)
    for p in lines_of(a, -2, np.array(4, np.uint8)):
        for q in lines_of(b, -1, np.array(2, np.uint8)):
            x = a.astype(np.int32) - of_lines(p, a, -2).astype(np.int32)
            y = b.astype(np.int32) - of_lines(q, b, -1).astype(np.int32)
            compare(model.run(None, {"a": a, "b": b, "p": p, "q": q}), [x @ y])
    feeds = {"a": a, "b": b, "p": np.uint8(4), "q": np.uint8(2)}
    for name, lines in (("p", "rows"), ("q", "columns")):
        with pytest.raises(loopc.RunError, match=f"do not broadcast|each of . {lines}"):
            model.run(None, feeds | {name: np.zeros(7, np.uint8)})
        with pytest.raises(loopc.RunError, match=f"do not broadcast|each of . {lines}"):
            model.run(None, feeds | {name: np.zeros((2, 1, 1, 1, 1), np.uint8)})


@pytest.mark.parametrize("domain", ["onnx", "onnxruntime"])
def test_products_of_integers_as_others_compute_them(domain: str) -> None:
    """Those that the reference evaluator and onnxruntime know: rows with all axes, columns."""
    text = """(uint8[] a, uint8[] b, uint8[] p, uint8[] q) => (int32[] y) {
        y = MatMulInteger(a, b, p, q)
    }"""
    model, data = session(text), graph(text).SerializeToString()
    a, b = ramp(4, 2, 3, dtype=np.uint8), ramp(3, 5, dtype=np.uint8, start=3)
    if domain == "onnx":
        theirs = onnx.reference.ReferenceEvaluator(graph(text))
        points = [np.array(4, np.uint8), ramp(2, 1, dtype=np.uint8), ramp(4, 2, 1, dtype=np.uint8)]
    else:
        theirs = onnxruntime.InferenceSession(data)
        points = [np.array(4, np.uint8), np.full(1, 4, np.uint8)]
    for p in points:
        feeds = {"a": a, "b": b, "p": p, "q": ramp(5, dtype=np.uint8)}
        compare(model.run(None, feeds), theirs.run(None, feeds))


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_quantized_products_of_any_rank(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """QLinearMatMul with scales and zero points of rows and of columns."""
    names = ["float[] s", "uint8[] p", "uint8[] b", "float[] t", "uint8[] q", "float[] u"]
    model = session(f"""(uint8[] a, {", ".join(names)}, uint8[] r) => (uint8[] y) {{
        y = QLinearMatMul(a, s, p, b, t, q, u, r)
    }}""")
    a, b = ramp(*left, dtype=np.uint8), ramp(*right, dtype=np.uint8, start=3)
    rows = zip(
        lines_of(a, -2, np.array(0.25, np.float32)),
        lines_of(a, -2, np.array(4, np.uint8)),
        strict=True,
    )
    for s, p in rows:
        for t, q in zip(
            lines_of(b, -1, np.array(0.5, np.float32)),
            lines_of(b, -1, np.array(2, np.uint8)),
            strict=True,
        ):
            x = (a - of_lines(p, a, -2).astype(np.float64)) * of_lines(s, a, -2)
            y = (b - of_lines(q, b, -1).astype(np.float64)) * of_lines(t, b, -1)
            want = np.clip(np.rint(x @ y / 2) + 100, 0, 255).astype(np.uint8)
            feeds = {"a": a, "s": s, "p": p, "b": b, "t": t, "q": q}
            feeds |= {"u": np.float32(2), "r": np.uint8(100)}
            compare(model.run(None, feeds), [want])


@pytest.mark.parametrize("inputs", ["x", "all"])
def test_definitions_that_ask_for_a_rank(inputs: str) -> None:
    """RotaryEmbedding is defined by other operators, otherwise for 3 than for 4 axes."""
    others = "float[] c, float[] s, int64[] p"
    known = "float[m,e] c, float[m,e] s, int64[o,n] p"
    tables, places = [noise(5, 2, seed=k) for k in (1, 2)], np.array([[0, 1, 2], [4, 3, 2]])
    for shape, heads in (((2, 3, 8), 2), ((2, 2, 3, 4), 0)):
        body = f"=> (float[] y) {{ y = RotaryEmbedding<num_heads = {heads}>(x, c, s, p) }}"
        given = others if inputs == "all" else known
        model = session(f"(float[] x, {given}) {body}", opset=23)
        feeds = {"x": noise(*shape), "c": tables[0], "s": tables[1], "p": places}
        axes = ",".join("uvwz"[: len(shape)])
        declared = session(f"(float[{axes}] x, {known}) {body}", opset=23)
        compare(model.run(None, feeds), declared.run(None, feeds))
    with pytest.raises(loopc.RunError):
        model.run(None, {"x": noise(2, 3), "c": tables[0], "s": tables[1], "p": places})


@pytest.mark.parametrize("block", ["int64[k] b", "int64[2] b", "int64[] b"])
@pytest.mark.parametrize("attributes", ["", "<strides = [1, 2], pads = [0, 1, 1, 0]>"])
def test_columns_to_images_of_any_number_of_axes(block: str, attributes: str) -> None:
    """The number of axes of a Col2Im's result is a length that a run tells."""
    text = f"(float[n,c,p] x, int64[k] s, {block}) => (float[] y) {{ y = Col2Im{attributes}(x, s, b) }}"
    model, peer = session(text), onnx.reference.ReferenceEvaluator(graph(text))
    images = [((4, 5), (2, 2))]
    if block != "int64[2] b" and not attributes:
        images += [((5,), (2,)), ((3, 4, 5), (2, 1, 3))]
    for image, parts in images:
        places = np.prod([n - k + 1 for n, k in zip(image, parts, strict=True)])
        if attributes:
            places = 4 * 3
        feeds = {
            "x": noise(2, 3 * int(np.prod(parts)), int(places)),
            "s": i64(image),
            "b": i64(parts),
        }
        compare(model.run(None, feeds), peer.run(None, feeds))
    with pytest.raises((loopc.RunError, loopc.InvalidArgument)):
        model.run(None, {"x": noise(1, 1, 1), "s": i64([1] * 7), "b": i64([1] * 7)})


def test_contributed_definitions_that_ask_for_ranks() -> None:
    """MultiHeadAttention's takes the ranks of query and key."""
    model = graph("""(float[] q, float[] k, float[] v) => (float[] y) {
        y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v)
    }""")
    model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    open_ranks = loopc.InferenceSession(model.SerializeToString())
    for value, shape in zip(model.graph.input, "abc", strict=True):
        dims = [onnx.TensorShapeProto.Dimension(dim_param=f"{shape}{k}") for k in range(3)]
        value.type.tensor_type.shape.dim.extend(dims)
    known = loopc.InferenceSession(model.SerializeToString())
    feeds = {"q": noise(1, 3, 8), "k": noise(1, 5, 8, seed=1), "v": noise(1, 5, 8, seed=2)}
    compare(open_ranks.run(None, feeds), known.run(None, feeds))


def test_range_of_more_than_63_bits_count() -> None:
    model = session("(int64 first, int64 last, int64 step) => (int64[] y) {"
                    " y = Range(first, last, step) }")  # fmt: skip
    least, most = -(2**63), 2**63 - 1

    def feeds(*bounds: int) -> dict[str, np.ndarray]:
        return {k: np.array(v) for k, v in zip(("first", "last", "step"), bounds, strict=True)}

    for bounds in ((least, most, 1), (most, least, -1), (least, 0, 1), (0, most, 1)):
        with pytest.raises(loopc.RunError, match="out of memory"):
            model.run(None, feeds(*bounds))
    compare(model.run(None, feeds(least, most, 2**62)), [np.arange(-2, 2) * 2**62])
    compare(model.run(None, feeds(most, least, least)), [np.array([most, -1])])
