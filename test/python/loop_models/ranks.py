# ===- ranks.py - Ranks that are known at run time only -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Values whose rank is known at run time only: carried, collected, sliced, out of branches."""

import itertools

import numpy as np

from loop_models.registry import OrtDiffers, b8, f32, graph, i64, loop_model, ramp, run

SCAN_WITHOUT_SHAPE = OrtDiffers("refuses", "ORT wants the shapes that a Scan's body yields")


@loop_model("loop_collect", "loop_zero", "if_types")
def zero_trips_unknown_rank():
    """What is collected has the rank of a branch; without a trip it is [0]."""
    return graph("""(int64 M, bool p, float[A,B] x) => (float[] ys) {
        axes = Constant<value = int64[1] {0}>()
        v = If <then_branch = t () => (float[] a) { a = ReduceSum<keepdims = 0>(x, axes) },
                else_branch = e () => (float[] b) { b = Identity(x) }> (p)
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[] y) {
            f = Cast<to = 1>(i)
            y = Add(v, f)
        }> (M, "")
    }"""), [
        run(
            f"m{m}_{'then' if p else 'else'}",
            {"M": i64(m), "p": b8(p), "x": ramp(2, 3)},
            [
                np.stack([(f32([3, 5, 7]) if p else ramp(2, 3)) + k for k in range(m)])
                if m
                else np.zeros(0, np.float32)
            ],
        )
        for m in (0, 1, 4)
        for p in (True, False)
    ]


@loop_model(
    "loop_collect_shape",
    ort=OrtDiffers("accepts", "ORT compares sizes, not shapes", runs=("two", "scalars")),
)
def collected_rank_changes():
    """One trip yields another rank than those before it: both shapes are named."""
    return graph("""(int64 M, float[] x) => (float[] ys) {
        one = Constant<value = int64 {1}>()
        axes = Constant<value = int64[1] {0}>()
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[] y) {
            p = Equal(i, one)
            y = If <then_branch = t () => (float[] a) { a = Unsqueeze(x, axes) },
                    else_branch = e () => (float[] b) { b = Identity(x) }> (p)
        }> (M, "")
    }"""), [
        run("one", {"M": i64(1), "x": ramp(2, 3)}, [ramp(1, 2, 3)]),
        run("two", {"M": i64(2), "x": ramp(2, 3)}, error=r"(?i)shape|mismatch|dimension"),
        run("scalars", {"M": i64(3), "x": f32(2)}, error=r"(?i)shape|mismatch|dimension"),
    ]


@loop_model("loop_collect_shape")
def collected_shape_of_unknown_rank_changes():
    """The rank stays, a dimension does not."""
    return graph(
        """(int64 M, float[] x) => (float[] last, float[] ys) {
        last, ys = Loop <body = g (int64 i, bool c, float[] v) => (bool c, float[] w, float[] v) {
            w = Concat<axis = -1>(v, v)
        }> (M, "", x)
    }"""
    ), [
        run("zero", {"M": i64(0), "x": ramp(2, 3)}, [ramp(2, 3), np.zeros(0, np.float32)]),
        run(
            "one",
            {"M": i64(1), "x": ramp(2, 3)},
            [np.concatenate([ramp(2, 3)] * 2, axis=1), ramp(1, 2, 3)],
        ),
        run("two", {"M": i64(2), "x": ramp(2, 3)}, error=r"(?i)shape|mismatch|dimension"),
        run("empty", {"M": i64(2), "x": ramp(3, 0)}, [ramp(3, 0), np.zeros((2, 3, 0), np.float32)]),
    ]


@loop_model("loop_carried")
def carried_rank_grows():
    """Each trip stacks the carried value with itself: its rank grows beyond 8."""

    def stacked(x, trips):
        for _ in range(trips):
            x = np.stack([x, x])
        return x

    return graph("""(int64 M, float[] x) => (float[] y) {
        axes = Constant<value = int64[1] {0}>()
        y = Loop <body = g (int64 i, bool c, float[] v) => (bool c, float[] w) {
            u = Unsqueeze(v, axes)
            w = Concat<axis = 0>(u, u)
        }> (M, "", x)
    }"""), [
        run(f"m{m}_rank{x.ndim}", {"M": i64(m), "x": x}, [stacked(x, m)])
        for m in (0, 1, 3, 9)
        for x in (f32(3), ramp(2), ramp(0, 2))
    ]


@loop_model("loop_carried", "loop_parallel_assign")
def carried_ranks_swap():
    """Two carried values of different rank change places on every trip."""
    return graph("""(int64 M, float[A] x, float[B,C] y) => (float[] p, float[] q) {
        p, q = Loop <body = g (int64 i, bool c, float[] u, float[] v)
                           => (bool c, float[] v1, float[] u1) {
            v1 = Neg(v)
            u1 = Identity(u)
        }> (M, "", x, y)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(3), "y": ramp(2, 2)}, [ramp(3), ramp(2, 2)]),
        run("one", {"M": i64(1), "x": ramp(3), "y": ramp(2, 2)}, [-ramp(2, 2), ramp(3)]),
        run("two", {"M": i64(2), "x": ramp(3), "y": ramp(2, 2)}, [-ramp(3), -ramp(2, 2)]),
    ]


def _scan(axis, reverse):
    """A running sum over the slices, and the slices times it."""

    def expected(x):
        total, rows = np.float32(0), []
        order = range(x.shape[axis])
        for k in reversed(order) if reverse else order:
            part = np.take(x, k, axis=axis)
            total = total + part.sum()
            rows.append(part * total)
        return [total, np.stack(rows, axis=axis)]

    return graph(f"""(float[] x, float s) => (float last, float[] ys) {{
        last, ys = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}],
            scan_output_axes = [{axis}], scan_input_directions = [{int(reverse)}],
            body = g (float s0, float[] v) => (float s1, float[] w) {{
                n = ReduceSum<keepdims = 0>(v)
                s1 = Add(s0, n)
                w = Mul(v, s1)
            }}> (s, x)
    }}"""), [
        run(f"rank{len(shape)}", {"x": ramp(*shape), "s": f32(0)}, expected(ramp(*shape)))
        for shape in ((3,), (2, 3), (4, 2, 3), (2, 1, 2, 3))
        if axis < len(shape)
    ]


@loop_model("scan_axes", "loop_slice", ort=SCAN_WITHOUT_SHAPE)
def scan_unknown_rank():
    """Slices along the first axis of a value of any rank."""
    return _scan(0, False)


@loop_model("scan_axes", "loop_slice", ort=SCAN_WITHOUT_SHAPE)
def scan_unknown_rank_axis_1_reversed():
    """Along the second axis, backwards."""
    return _scan(1, True)


@loop_model("scan_axes", "loop_slice", ort=SCAN_WITHOUT_SHAPE)
def scan_unknown_rank_last_axis():
    """Along the last axis, wherever that is."""
    return _scan(-1, False)


@loop_model("scan_axes", ort=SCAN_WITHOUT_SHAPE)
def scan_unknown_rank_without_axis():
    """A value that has no such axis is an error of the run."""
    return graph("""(float[] x) => (float[] ys) {
        ys = Scan <num_scan_inputs = 1, scan_input_axes = [2],
                   body = g (float[] v) => (float[] w) { w = Neg(v) }> (x)
    }"""), [
        run("rank3", {"x": ramp(2, 2, 1)}, [-ramp(2, 2, 1).transpose(2, 0, 1)]),
        run("rank2", {"x": ramp(2, 2)}, error=r"(?i)axis|axes|rank|dimension|out of"),
    ]


@loop_model("loop_zero", "scan_axes", ort=SCAN_WITHOUT_SHAPE)
def scan_of_no_trips_unknown_rank():
    """Without a trip there are the axes that are collected along, which the next scan reads."""
    return graph("""(float[A,B] x, float[] v) => (float[] ys, float[] zs, float[C] sums) {
        ys, zs = Scan <num_scan_inputs = 1, scan_output_axes = [1, -2],
            body = g (float[B] row) => (float[] a, float[] b) {
                a = Identity(v)
                b = Neg(v)
            }> (x)
        sums = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
            body = h (float[] part, float[B] row) => (float s) {
                p = ReduceSum<keepdims = 0>(part)
                q = ReduceSum<keepdims = 0>(row)
                s = Add(p, q)
            }> (ys, x)
    }"""), [
        run(
            "none",
            {"x": ramp(0, 3), "v": ramp(2, 3)},
            [np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32), f32([])],
        ),
        run("two", {"x": ramp(2, 3), "v": ramp(2, 3)}),
        run("no_axis", {"x": ramp(2, 3), "v": f32(1)}, error=r"(?i)axis"),
    ]


@loop_model("scan_axes", "scan_lengths")
def scan_of_no_axis_beside_another():
    """An axis that is not there is the error, and not a length that it has not."""
    return graph("""(float[] x, float[A] y) => (float[A] s) {
        s = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
            body = g (float[] a, float b) => (float c) {
                n = ReduceSum<keepdims = 0>(a)
                c = Add(n, b)
            }> (x, y)
    }"""), [
        run("matrix", {"x": ramp(2, 3), "y": ramp(3)}),
        run("vector", {"x": ramp(3), "y": ramp(3)}, error="axis 1 is out of range"),
        run(
            "scalar", {"x": f32(3), "y": ramp(0)}, error="axis 1 is out of range|scan input|scalar"
        ),
    ]


@loop_model("if_types")
def branches_feed_elementwise():
    """Three squeezes that happen or not, whose results meet in elementwise operators."""
    steps = "\n".join(
        f"""
        s{k} = Shape<start = 0, end = 1>(x{k})
        p{k} = Equal(s{k}, one)
        v{k} = If <then_branch = t{k} () => (float[] a{k}) {{ a{k} = Squeeze(x{k}, axes) }},
                   else_branch = e{k} () => (float[] b{k}) {{ b{k} = Identity(x{k}) }}> (p{k})"""
        for k in range(3)
    )

    def expected(*xs):
        a, b, c = (x[0] if x.shape[0] == 1 else x for x in xs)
        u = a + b
        return [np.maximum(u * c - a, b)]

    text = f"""(float[A,B] x0, float[C,D] x1, float[E,F] x2) => (float[] y) {{
        one = Constant<value = int64[1] {{1}}>()
        axes = Constant<value = int64[1] {{0}}>()
        {steps}
        u = Add(v0, v1)
        w = Mul(u, v2)
        z = Sub(w, v0)
        y = Max(z, v1)
    }}"""
    runs = []
    for rows in itertools.product((1, 2), repeat=3):
        xs = [ramp(n, 3, start=k) for k, n in enumerate(rows)]
        feeds = {f"x{k}": x for k, x in enumerate(xs)}
        runs.append(run("".join(map(str, rows)), feeds, expected(*xs)))
    xs = {"x0": ramp(2, 3), "x1": ramp(1, 4), "x2": ramp(1, 3)}
    runs.append(run("mismatch", xs, error=r"(?i)broadcast|shape|dimension"))
    return graph(text), runs


SHAPES = ((), (3,), (1,), (0,), (2, 3), (1, 1), (2, 1, 3), (4, 1, 2, 1), (1, 2) * 3 + (1,))


@loop_model("if_types")
def broadcast_any_ranks():
    """x + y for ranks from 0 to 7, all combinations; a pair that does not fit is an error."""
    runs = []
    for a, b in itertools.product(SHAPES, SHAPES):
        name = f"{'x'.join(map(str, a)) or 'scalar'}_{'x'.join(map(str, b)) or 'scalar'}"
        x, y = ramp(*a), ramp(*b, start=5)
        try:
            runs.append(run(name, {"x": x, "y": y}, [x + y]))
        except ValueError:
            runs.append(run(name, {"x": x, "y": y}, error=r"(?i)broadcast|shape|dimension"))
    return graph("(float[] x, float[] y) => (float[] z) { z = Add(x, y) }"), runs


@loop_model("if_types")
def squeeze_all():
    """Squeeze without axes where no dimension is known: the rank follows from the values."""
    return graph("""(float[A,B,C] x) => (float[] y) {
        s = Squeeze(x)
        y = Neg(s)
    }"""), [
        run("x".join(map(str, shape)), {"x": ramp(*shape)}, [-ramp(*shape).squeeze()])
        for shape in ((1, 1, 1), (2, 1, 3), (2, 3, 4), (1, 0, 2))
    ]


@loop_model("if_types")
def reshape_to_any_length():
    """A new shape whose length is an input's."""
    return graph("""(float[] x, int64[N] s) => (float[] y) { y = Reshape(x, s) }"""), [
        run("flat", {"x": ramp(2, 3), "s": i64([-1])}, [ramp(6)]),
        run("copied", {"x": ramp(2, 3), "s": i64([0, 1, -1])}, [ramp(2, 1, 3)]),
        run("scalar", {"x": ramp(1, 1), "s": i64([])}, [ramp()]),
        run("empty", {"x": ramp(0, 3), "s": i64([3, -1])}, [ramp(3, 0)]),
        run("misfit", {"x": ramp(2, 3), "s": i64([4])}, error=r"(?i)shape|element|size"),
        run("two_open", {"x": ramp(2, 3), "s": i64([-1, -1])}, error=r"(?i)shape|-1"),
    ]


@loop_model("if_cond", "if_types")
def if_decided_by_known_dimension():
    """squeeze as an exporter writes it, where the dimension is known: no branch is left."""
    return graph("""(float[N,1,M] x) => (float[N,M] y) {
        one = Constant<value = int64 {1}>()
        axes = Constant<value = int64[1] {1}>()
        s = Shape(x)
        d = Gather<axis = 0>(s, one)
        p = Equal(d, one)
        y = If <then_branch = t () => (float[] a) { a = Squeeze(x, axes) },
                else_branch = e () => (float[] b) { b = Identity(x) }> (p)
    }"""), [run("x", {"x": ramp(2, 1, 3)}, [ramp(2, 3)])]


@loop_model("loop_carried")
def coordinates_of_any_number():
    """How many axes an index has coordinates for is known at run time only."""
    return graph("""(float[A,B] x, int64[N,K] at, float[] u, int64 M) => (float[] y, float[A,B] z) {
        y = GatherND(x, at)
        z = Loop <body = g (int64 i, bool c, float[A,B] v) => (bool c, float[A,B] w) {
            w = ScatterND<reduction = "add">(v, at, u)
        }> (M, "", x)
    }"""), [
        run("rows", {"x": ramp(3, 4), "at": i64([[2], [-3]]), "u": ramp(2, 4), "M": i64(2)}),
        run("elements", {"x": ramp(3, 4), "at": i64([[2, 1]]), "u": f32([5]), "M": i64(3)}),
        run("none", {"x": ramp(3, 4), "at": np.zeros((0, 2), np.int64), "u": f32([]), "M": i64(1)}),
        run(
            "too_many",
            {"x": ramp(3, 4), "at": i64([[2, 1, 0]]), "u": f32([5]), "M": i64(1)},
            error="coordinates|too many indices",
        ),
        run(
            "updates_do_not_fit",
            {"x": ramp(3, 4), "at": i64([[2, 1]]), "u": f32([[5]]), "M": i64(1)},
            error="rank|scalars|do not fit",
        ),
    ]


@loop_model("loop_carried")
def indices_of_any_rank():
    """Neither the rank of indices nor how many coordinates they have is known."""
    return graph("""(float[A,B,C] x, int64[] at, float[] u) => (float[A,B,C] y) {
        y = ScatterND(x, at, u)
    }"""), [
        run("one", {"x": ramp(2, 3, 4), "at": i64([1, 2]), "u": ramp(4)}),
        run("matrix", {"x": ramp(2, 3, 4), "at": i64([[0, 1, 3], [1, 2, 0]]), "u": f32([7, 8])}),
        run("cube", {"x": ramp(2, 3, 4), "at": i64([[[1]], [[0]]]), "u": ramp(2, 1, 3, 4)}),
        run("scalar", {"x": ramp(2, 3, 4), "at": i64(1), "u": ramp(3, 4)}, error="rank 0|iterable"),
    ]


@loop_model("loop_carried")
def strings_of_any_rank():
    """StringConcat broadcasts whatever the ranks are."""
    return graph("""(string[] a, string[] b, int64 M) => (string[] c, bool[] d) {
        c = Loop <body = g (int64 i, bool p, string[] s) => (bool p, string[] t) {
            t = StringConcat(s, b)
        }> (M, "", a)
        d = RegexFullMatch<pattern = "x.*">(c)
    }"""), [
        run(f"m{m}_{name}", {"a": np.array(a, object), "b": np.array(b, object), "M": i64(m)})
        for m in (0, 2)
        for name, a, b in (
            ("scalars", "x", "b"),
            ("rows", [["x"], ["y"]], ["b", "", "ccc"]),
            ("cube", "x", [[["p", "q"]]]),
        )
    ]
