# ===- forms.py - The five forms of Loop -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The trip count, the condition, and when a loop ends."""

from loop_models.registry import OrtDiffers, b8, f32, graph, i64, loop_model, run

INT64_MAX = 2**63 - 1
CANCELLED = r"(?i)cancel|deadline|timed? ?out|trips"


@loop_model("loop_cancel", "loop_cond_ignored", timeout=0.5,
            ort=OrtDiffers("endless", "neither M nor cond: a true endless loop"))  # fmt: skip
def endless():
    """Neither M nor cond, the body yields true: only a cancellation ends it."""
    return graph("""(float x) => (float y) {
        y = Loop <body = b (int64 i, bool c, float v) => (bool c1, float v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> ("", "", x)
    }"""), [run("one", {"x": f32(1)}, error=CANCELLED)]


@loop_model("loop_cancel", "loop_cond_ignored", timeout=0.5,
            ort=OrtDiffers("accepts", "ORT stops when the body yields false though cond is absent"))  # fmt: skip
def endless_though_false():
    """Neither M nor cond, the body yields false: its condition is ignored."""
    return graph("""(float x) => (float y) {
        y = Loop <body = b (int64 i, bool c, float v) => (bool c1, float v1) {
            c1 = Constant<value = bool {0}>()
            v1 = Add(v, v)
        }> ("", "", x)
    }"""), [run("one", {"x": f32(1)}, error=CANCELLED)]


@loop_model("loop_cond", "loop_test", "loop_zero")
def while_form():
    """while (v < limit) v *= 2: tested before the first iteration too."""
    return graph("""(float x, float limit) => (float y) {
        start = Less(x, limit)
        two = Constant<value = float {2.0}>()
        y = Loop <body = b (int64 i, bool c, float v) => (bool c1, float v1) {
            v1 = Mul(v, two)
            c1 = Less(v1, limit)
        }> ("", start, x)
    }"""), [
        run("zero", {"x": f32(5), "limit": f32(3)}, [f32(5)]),
        run("one", {"x": f32(2), "limit": f32(3)}, [f32(4)]),
        run("many", {"x": f32(1), "limit": f32(1000)}, [f32(1024)]),
        run("nan_stops", {"x": f32(float("nan")), "limit": f32(3)}, [f32(float("nan"))]),
    ]


@loop_model("loop_cond", "loop_test")
def do_while_form():
    """cond is the constant true: at least one iteration."""
    return graph("""(float x, float limit) => (float y, int64 n) {
        true = Constant<value = bool {1}>()
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        y, n = Loop <body = b (int64 i, bool c, float v, int64 k) => (bool c1, float v1, int64 k1) {
            v1 = Add(v, v)
            k1 = Add(k, one)
            c1 = Less(v1, limit)
        }> ("", true, x, zero)
    }"""), [
        run("one", {"x": f32(5), "limit": f32(3)}, [f32(10), i64(1)]),
        run("many", {"x": f32(1), "limit": f32(100)}, [f32(128), i64(7)]),
    ]


@loop_model("loop_m", "loop_zero", "loop_results")
def for_form():
    """M alone; the body yields its true condition."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            f = Cast<to = 1>(i)
            v1 = Add(v, f)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2])]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [f32([1, 2])]),
        run("five", {"M": i64(5), "x": f32([1, 2])}, [f32([11, 12])]),
    ]


@loop_model("loop_cond_ignored",
            ort=OrtDiffers("values", "ORT stops when the body yields false though cond is absent", ("three",)))  # fmt: skip
def condition_ignored():
    """M alone, the body yields false: ignored; its argument is true, then what was yielded."""
    return graph("""(int64 M) => (int64[?] is, bool[?] cs) {
        is, cs = Loop <body = b (int64 i, bool c) => (bool c1, int64 j, bool seen) {
            c1 = Constant<value = bool {0}>()
            j = Identity(i)
            seen = Identity(c)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0)}, [i64([]), b8([])]),
        run("one", {"M": i64(1)}, [i64([0]), b8([True])]),
        run("three", {"M": i64(3)}, [i64([0, 1, 2]), b8([True, False, False])]),
    ]


@loop_model("loop_m", "loop_cond", "loop_test", "loop_zero")
def for_and_while():
    """M and cond: whichever ends it first."""
    model = graph("""(int64 M, bool cond, int64 limit) => (int64 n, int64[?] is) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        n, is = Loop <body = b (int64 i, bool c, int64 k) => (bool c1, int64 k1, int64 j) {
            k1 = Add(k, one)
            c1 = Less(k1, limit)
            j = Identity(i)
        }> (M, cond, zero)
    }""")

    def feeds(m: int, cond: bool, limit: int) -> dict:
        return {"M": i64(m), "cond": b8(cond), "limit": i64(limit)}

    return model, [
        run("m_zero", feeds(0, True, 9), [i64(0), i64([])]),
        run("false_at_entry", feeds(4, False, 9), [i64(0), i64([])]),
        run("m_first", feeds(4, True, 9), [i64(4), i64([0, 1, 2, 3])]),
        run("cond_first", feeds(9, True, 4), [i64(4), i64([0, 1, 2, 3])]),
        run("both_at_once", feeds(4, True, 4), [i64(4), i64([0, 1, 2, 3])]),
        run("one", feeds(4, True, 0), [i64(1), i64([0])]),
    ]


@loop_model("loop_m", "loop_args")
def trip_count_one_element():
    """M of shape [1], and the body declares its iteration number so."""
    return graph("""(int64[1] M) => (int64[?,?] is) {
        is = Loop <body = b (int64[1] i, bool c) => (bool c1, int64[1] j) {
            c1 = Identity(c)
            j = Identity(i)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64([0])}, [i64([]).reshape(0, 1)]),
        run("three", {"M": i64([3])}, [i64([[0], [1], [2]])]),
    ]


@loop_model("loop_m", "loop_args")
def trip_count_one_element_scalar_body():
    """M of shape [1], the body declares a scalar: the body's word counts."""
    return graph("""(int64[1] M) => (int64[?] is) {
        is = Loop <body = b (int64 i, bool c) => (bool c1, int64 j) {
            c1 = Identity(c)
            j = Add(i, i)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64([0])}, [i64([])]),
        run("three", {"M": i64([3])}, [i64([0, 2, 4])]),
    ]


@loop_model("loop_cond", "loop_args", "loop_test")
def condition_one_element():
    """cond of shape [1], all through the body."""
    return graph("""(bool[1] cond, float[1] x) => (float[1] y, bool[?,?] cs) {
        ten = Constant<value = float[1] {10.0}>()
        y, cs = Loop <body = b (int64 i, bool[1] c, float[1] v) => (bool[1] c1, float[1] v1, bool[1] seen) {
            v1 = Add(v, v)
            c1 = Less(v1, ten)
            seen = Identity(c)
        }> ("", cond, x)
    }"""), [
        run("zero", {"cond": b8([False]), "x": f32([3])}, [f32([3]), b8([]).reshape(0, 1)]),
        run("one", {"cond": b8([True]), "x": f32([8])}, [f32([16]), b8([[True]])]),
        run("two", {"cond": b8([True]), "x": f32([3])}, [f32([12]), b8([[True], [True]])]),
    ]


@loop_model("loop_cond", "loop_args")
def condition_yielded_one_element():
    """The body takes a scalar condition and yields one of shape [1]."""
    return graph("""(float x) => (float y) {
        true = Constant<value = bool {1}>()
        ten = Constant<value = float[1] {10.0}>()
        y = Loop <body = b (int64 i, bool c, float v) => (bool[1] c1, float v1) {
            v1 = Add(v, v)
            c1 = Less(v1, ten)
        }> ("", true, x)
    }"""), [run("one", {"x": f32(7)}, [f32(14)]), run("four", {"x": f32(1)}, [f32(16)])]


@loop_model("loop_m", "loop_zero")
def trip_count_negative():
    """M below zero is no trip at all."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] ys) {
        y, ys = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1, float[2] v2) {
            c1 = Identity(c)
            v1 = Add(v, v)
            v2 = Identity(v1)
        }> (M, "", x)
    }"""), [
        run("minus_one", {"M": i64(-1), "x": f32([1, 2])}, [f32([1, 2]), f32([]).reshape(0, 2)]),
        run("lowest", {"M": i64(-(2**63)), "x": f32([1, 2])}, [f32([1, 2]), f32([]).reshape(0, 2)]),
        run("two", {"M": i64(2), "x": f32([1, 2])}, [f32([4, 8]), f32([[2, 4], [4, 8]])]),
    ]


@loop_model("loop_m", "loop_collect", "loop_test")
def trip_count_int64_max():
    """M = INT64_MAX, as exporters write a while loop: rows for the trips run only."""
    return graph("""(int64 n) => (int64[?] squares) {
        M = Constant<value = int64 {9223372036854775807}>()
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        start = Less(zero, n)
        squares = Loop <body = b (int64 i, bool c) => (bool c1, int64 sq) {
            sq = Mul(i, i)
            next = Add(i, one)
            c1 = Less(next, n)
        }> (M, start)
    }"""), [
        run("zero", {"n": i64(0)}, [i64([])]),
        run("one", {"n": i64(1)}, [i64([0])]),
        run("ten", {"n": i64(10)}, [i64(range(10)) ** 2]),
        run("thousand", {"n": i64(1000)}, [i64(range(1000)) ** 2]),
    ]


@loop_model("loop_test", "loop_collect", "loop_zero")
def early_exit_collects():
    """Leaves early; exactly the trips that ran are collected."""
    return graph("""(float[N] x, float limit) => (float total, float[?] sums) {
        n = Size(x)
        true = Constant<value = bool {1}>()
        zero = Constant<value = float {0.0}>()
        total, sums = Loop <body = b (int64 i, bool c, float s) => (bool c1, float s1, float seen) {
            xi = Gather(x, i)
            s1 = Add(s, xi)
            c1 = Less(s1, limit)
            seen = Identity(s1)
        }> (n, true, zero)
    }"""), [
        run("empty", {"x": f32([]), "limit": f32(9)}, [f32(0), f32([])]),
        run("at_once", {"x": f32([9, 1]), "limit": f32(9)}, [f32(9), f32([9])]),
        run("early", {"x": f32([1, 2, 3, 4, 5]), "limit": f32(6)}, [f32(6), f32([1, 3, 6])]),
        run("all", {"x": f32([1, 2, 3]), "limit": f32(99)}, [f32(6), f32([1, 3, 6])]),
    ]


@loop_model("loop_cond", "loop_args")
def condition_argument():
    """With cond given, what the body sees of it: the input, then the last yielded."""
    return graph("""(int64 M, bool cond) => (bool[?] seen) {
        two = Constant<value = int64 {2}>()
        seen = Loop <body = b (int64 i, bool c) => (bool c1, bool s) {
            c1 = Less(i, two)
            s = Identity(c)
        }> (M, cond)
    }"""), [
        run("false", {"M": i64(5), "cond": b8(False)}, [b8([])]),
        run("two", {"M": i64(2), "cond": b8(True)}, [b8([True] * 2)]),
        run("three", {"M": i64(5), "cond": b8(True)}, [b8([True] * 3)]),
    ]


@loop_model("loop_m")
def trip_count_computed():
    """M comes from a shape and arithmetic."""
    return graph("""(float[R,C] x) => (int64 y) {
        shape = Shape(x)
        product = ReduceProd<keepdims = 0>(shape)
        one = Constant<value = int64 {1}>()
        M = Sub(product, one)
        zero = Constant<value = int64 {0}>()
        y = Loop <body = b (int64 i, bool c, int64 s) => (bool c1, int64 s1) {
            c1 = Identity(c)
            s1 = Add(s, i)
        }> (M, "", zero)
    }"""), [
        run("minus_one", {"x": f32([]).reshape(0, 3)}, [i64(0)]),
        run("zero", {"x": f32([[1]])}, [i64(0)]),
        run("five", {"x": f32([[1, 2, 3], [4, 5, 6]])}, [i64(10)]),
    ]


@loop_model("loop_m", "loop_cond")
def trip_count_constant():
    """M and cond are constants: a loop that may be unrolled."""
    return graph("""(float[3] x) => (float[3] y, float[4,3] ys) {
        M = Constant<value = int64 {4}>()
        true = Constant<value = bool {1}>()
        y, ys = Loop <body = b (int64 i, bool c, float[3] v) => (bool c, float[3] v1, float[3] v) {
            v1 = Mul(v, x)
        }> (M, true, x)
    }"""), [
        run(
            "x",
            {"x": f32([1, 2, 3])},
            [f32([1, 32, 243]), f32([[1, 2, 3], [1, 4, 9], [1, 8, 27], [1, 16, 81]])],
        )
    ]


@loop_model("loop_m", "loop_cond")
def condition_constant_false():
    """cond is the constant false: a loop that folds away."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] ys) {
        false = Constant<value = bool {0}>()
        y, ys = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1, float[2] w) {
            c1 = Identity(c)
            v1 = Add(v, v)
            w = Identity(v)
        }> (M, false, x)
    }"""), [run("five", {"M": i64(5), "x": f32([1, 2])}, [f32([1, 2]), f32([]).reshape(0, 2)])]


@loop_model("loop_args", "loop_results")
def nothing_carried():
    """N = 0: only collected values."""
    return graph("""(int64 M) => (int64[?] squares, float[?] halves) {
        half = Constant<value = float {0.5}>()
        squares, halves = Loop <body = b (int64 i, bool c) => (bool c1, int64 s, float h) {
            c1 = Identity(c)
            s = Mul(i, i)
            f = Cast<to = 1>(i)
            h = Mul(f, half)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0)}, [i64([]), f32([])]),
        run("one", {"M": i64(1)}, [i64([0]), f32([0])]),
        run("four", {"M": i64(4)}, [i64([0, 1, 4, 9]), f32([0, 0.5, 1, 1.5])]),
    ]


@loop_model("loop_results")
def unused_loop():
    """Nobody reads the loop's results."""
    return graph("""(int64 M, float x) => (float y) {
        z, zs = Loop <body = b (int64 i, bool c, float v) => (bool c1, float v1, float w) {
            c1 = Identity(c)
            v1 = Add(v, v)
            w = Identity(v)
        }> (M, "", x)
        y = Neg(x)
    }"""), [run("three", {"M": i64(3), "x": f32(2)}, [f32(-2)])]


@loop_model("loop_test", "loop_cond")
def condition_read_from_table():
    """The condition is looked up by the iteration number; `(M, "", x)` is not its form."""
    return graph("""(bool[N] go) => (int64 trips) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        first = Gather(go, zero)
        trips = Loop <body = b (int64 i, bool c, int64 k) => (bool c1, int64 k1) {
            k1 = Add(k, one)
            c1 = Gather(go, k1)
        }> ("", first, zero)
    }"""), [
        run("zero", {"go": b8([False])}, [i64(0)]),
        run("two", {"go": b8([True, True, False, True])}, [i64(2)]),
        run("beyond", {"go": b8([True, True])}, error=r"(?i)ind(ex|ices)|range|bound"),
    ]
