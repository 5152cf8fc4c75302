# ===- collections.py - Sequences and optionals in loops -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Lists that are carried, captured, branched over, taken in and given out."""

import numpy as np

from loop_models.registry import b8, f32, graph, i32, i64, loop_model, noise, ramp, run


@loop_model("seq_append", "loop_carried", "loop_zero")
def append_in_loop():
    """A sequence grows by one element an iteration."""
    return graph("""(int64 M, float[N] x) => (seq(float[N]) s, int64 n) {
        s0 = SequenceEmpty<dtype = 1>()
        s = Loop <body = b (int64 i, bool c, seq(float[N]) r) => (bool c1, seq(float[N]) r1) {
            c1 = Identity(c)
            f = Cast<to = 1>(i)
            y = Add(x, f)
            r1 = SequenceInsert(r, y)
        }> (M, "", s0)
        n = SequenceLength(s)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [[], i64(0)]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [[f32([1, 2])], i64(1)]),
        run("three", {"M": i64(3), "x": f32([1])}, [[f32([1]), f32([2]), f32([3])], i64(3)]),
        run("many", {"M": i64(40), "x": ramp(3)}),
    ]


@loop_model("seq_index", "seq_value")
def insert_in_front():
    """Position 0 reverses the order, on a copy that somebody still reads."""
    return graph("""(int64 M, seq(float[N]) s0) => (seq(float[N]) s, seq(float[N]) t) {
        s = Loop <body = b (int64 i, bool c, seq(float[N]) r) => (bool c1, seq(float[N]) r1) {
            c1 = Identity(c)
            zero = Constant<value_int = 0>()
            x = SequenceAt(s0, i)
            r1 = SequenceInsert(r, x, zero)
        }> (M, "", s0)
        t = Identity(s0)
    }"""), [
        run("zero", {"M": i64(0), "s0": [f32([1])]}, [[f32([1])], [f32([1])]]),
        run("two", {"M": i64(2), "s0": [f32([1]), f32([2, 3])]}),
        run("beyond", {"M": i64(3), "s0": [f32([1]), f32([2])]}, error="position 2|range"),
    ]


@loop_model("seq_index")
def insert_at_position():
    """Every position from -n to n, and what is beyond."""
    return graph("""(seq(int64[N]) s, int64[N] x, int32 p) => (seq(int64[N]) t) {
        t = SequenceInsert(s, x, p)
    }"""), [
        run("front", {"s": [i64([1]), i64([2])], "x": i64([9]), "p": i32(-2)},
            [[i64([9]), i64([1]), i64([2])]]),
        run("before_last", {"s": [i64([1]), i64([2])], "x": i64([9]), "p": i32(-1)},
            [[i64([1]), i64([9]), i64([2])]]),
        run("end", {"s": [i64([1]), i64([2])], "x": i64([9]), "p": i32(2)},
            [[i64([1]), i64([2]), i64([9])]]),
        run("into_none", {"s": [], "x": i64([9]), "p": i32(0)}, [[i64([9])]]),
        run("too_far", {"s": [i64([1])], "x": i64([9]), "p": i32(2)}, error="range"),
        run("too_far_down", {"s": [i64([1])], "x": i64([9]), "p": i32(-2)}, error="range"),
    ]  # fmt: skip


@loop_model("seq_index", "seq_value")
def erase_in_loop():
    """The last element goes in every iteration, and the loop ends with the sequence."""
    return graph("""(seq(float[N]) s0) => (float total, seq(float[N]) left) {
        zero = Constant<value_float = 0.0>()
        one = Constant<value_int = 1>()
        n = SequenceLength(s0)
        go = Greater(n, one)
        total, left = Loop <body = b (int64 i, bool c, float a, seq(float[N]) r)
                => (bool c1, float a1, seq(float[N]) r1) {
            last = Constant<value_int = -1>()
            x = SequenceAt(r, last)
            sum = ReduceSum<keepdims = 0>(x)
            a1 = Add(a, sum)
            r1 = SequenceErase(r)
            m = SequenceLength(r1)
            c1 = Greater(m, one)
        }> ("", go, zero, s0)
    }"""), [
        run("one", {"s0": [f32([1])]}, [f32(0), [f32([1])]]),
        run("three", {"s0": [f32([1]), f32([2, 3]), f32([])]}, [f32(5), [f32([1])]]),
    ]


@loop_model("seq_index", "opt_run")
def erase_out_of_range():
    """An erased position that is not there."""
    return graph("""(seq(float[N]) s, int64 p) => (seq(float[N]) t) {
        t = SequenceErase(s, p)
    }"""), [
        run("first", {"s": [f32([1]), f32([2])], "p": i64(-2)}, [[f32([2])]]),
        run("beyond", {"s": [f32([1]), f32([2])], "p": i64(2)}, error="range"),
        run("none", {"s": [], "p": i64(-1)}, error="range"),
    ]


@loop_model("loop_capture", "seq_value")
def captured_in_nested_loop():
    """An inner loop appends to its own copy of a sequence of the outer one."""
    return graph("""(int64 M, int64 K, float[N] x) => (seq(float[N]) kept, int64 counts) {
        s0 = SequenceConstruct(x)
        zero = Constant<value_int = 0>()
        kept, counts = Loop <body = outer (int64 i, bool c, seq(float[N]) s, int64 n)
                => (bool c1, seq(float[N]) s1, int64 n1) {
            c1 = Identity(c)
            longer = Loop <body = inner (int64 j, bool d, seq(float[N]) r)
                    => (bool d1, seq(float[N]) r1) {
                d1 = Identity(d)
                first = SequenceAt(s, zero)
                y = Add(first, x)
                r1 = SequenceInsert(r, y)
            }> (K, "", s)
            m = SequenceLength(longer)
            n1 = Add(n, m)
            minus = Constant<value_int = -1>()
            last = SequenceAt(longer, minus)
            s1 = SequenceInsert(s, last)
        }> (M, "", s0, zero)
    }"""), [
        run("none", {"M": i64(0), "K": i64(3), "x": f32([1])}, [[f32([1])], i64(0)]),
        run("inner_zero", {"M": i64(2), "K": i64(0), "x": f32([1])}),
        run("both", {"M": i64(3), "K": i64(2), "x": f32([1, 2])}),
    ]


@loop_model("seq_value", "loop_parallel_assign")
def swapped_sequences():
    """Two carried sequences change places; one of them grows."""
    return graph("""(int64 M, float[N] x) => (seq(float[N]) s, seq(float[N]) t) {
        s0 = SequenceEmpty<dtype = 1>()
        t0 = SequenceConstruct(x)
        s, t = Loop <body = b (int64 i, bool c, seq(float[N]) a, seq(float[N]) d)
                => (bool c1, seq(float[N]) d, seq(float[N]) a1) {
            c1 = Identity(c)
            y = Neg(x)
            a1 = SequenceInsert(a, y)
        }> (M, "", s0, t0)
    }"""), [run(str(m), {"M": i64(m), "x": f32([1, 2])}) for m in (0, 1, 2, 5)]


@loop_model("if_types", "seq_value")
def sequence_through_if():
    """A branch appends, another leaves the sequence as it is, a third empties it."""
    return graph("""(int64 M, float[N] x) => (seq(float[N]) s) {
        s0 = SequenceConstruct(x, x)
        s = Loop <body = b (int64 i, bool c, seq(float[N]) r) => (bool c1, seq(float[N]) r1) {
            c1 = Identity(c)
            two = Constant<value_int = 2>()
            three = Constant<value_int = 3>()
            odd = Mod(i, two)
            isOdd = Cast<to = 9>(odd)
            third = Equal(i, three)
            r1 = If (third) <
                then_branch = a () => (seq(float[]) e) { e = SequenceEmpty<dtype = 1>() },
                else_branch = d () => (seq(float[]) q) {
                    q = If (isOdd) <
                        then_branch = f () => (seq(float[]) t) { t = SequenceInsert(r, x) },
                        else_branch = g () => (seq(float[]) u) { u = Identity(r) }>
                }>
        }> (M, "", s0)
    }"""), [run(str(m), {"M": i64(m), "x": f32([1, 2])}) for m in (0, 1, 2, 3, 4, 7)]


@loop_model("if_types", "seq_value")
def elements_of_any_rank():
    """A scalar, a vector and a matrix in one sequence; what comes out keeps its rank."""
    return graph("""(float[] a, float[] b, int64 p) => (float[] x, seq(float[]) t, int64[] d) {
        s = SequenceConstruct(a, b)
        c = Add(a, b)
        t = SequenceInsert(s, c)
        at = SequenceAt(t, p)
        x = Neg(at)
        d = Shape(at)
    }"""), [
        run("scalar", {"a": f32(2), "b": f32([3, 4]), "p": i64(0)}),
        run("matrix", {"a": f32([1]), "b": ramp(2, 3), "p": i64(1)}),
        run("sum", {"a": ramp(2, 1, 2), "b": ramp(3, 1), "p": i64(-1)}),
        run("beyond", {"a": f32(1), "b": f32(1), "p": i64(3)}, error="range"),
    ]


@loop_model("seq_value", "loop_carried")
def growing_rank():
    """Each element has one axis more than the one before."""
    return graph("""(int64 M, float[] x) => (seq(float[]) s, float[] y) {
        s0 = SequenceEmpty<dtype = 1>()
        zero = Constant<value_ints = [0]>()
        s, y = Loop <body = b (int64 i, bool c, seq(float[]) r, float[] v)
                => (bool c1, seq(float[]) r1, float[] v1) {
            c1 = Identity(c)
            r1 = SequenceInsert(r, v)
            v1 = Unsqueeze(v, zero)
        }> (M, "", s0, x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32(7)}, [[], f32(7)]),
        run("three", {"M": i64(3), "x": f32([1, 2])},
            [[f32([1, 2]), f32([[1, 2]]), f32([[[1, 2]]])], f32([[[[1, 2]]]])]),
    ]  # fmt: skip


@loop_model("opt_run", "loop_carried")
def optional_carried():
    """Empty until the body fills it; then the element is used."""
    return graph("""(int64 M, float[N] x) => (bool has, optional(float[N]) o) {
        o0 = Optional<type = float[N]>()
        o = Loop <body = b (int64 i, bool c, optional(float[N]) p)
                => (bool c1, optional(float[N]) p1) {
            c1 = Identity(c)
            has = OptionalHasElement(p)
            p1 = If (has) <
                then_branch = t () => (optional(float[N]) q) {
                    v = OptionalGetElement(p)
                    w = Add(v, x)
                    q = Optional(w)
                },
                else_branch = e () => (optional(float[N]) r) { r = Optional(x) }>
        }> (M, "", o0)
        has = OptionalHasElement(o)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1])}, [b8(False), None]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [b8(True), f32([1, 2])]),
        run("three", {"M": i64(3), "x": f32([1, 2])}, [b8(True), f32([3, 6])]),
    ]


@loop_model("opt_run")
def optional_of_sequence():
    """The sequence in an optional input grows; an empty one is an error where it is read."""
    return graph("""(optional(seq(float[N])) o, float[N] x)
            => (seq(float[N]) s, optional(seq(float[N])) p) {
        t = OptionalGetElement(o)
        s = SequenceInsert(t, x)
        p = Optional(s)
    }"""), [
        run("some", {"o": [f32([1])], "x": f32([2, 3])},
            [[f32([1]), f32([2, 3])], [f32([1]), f32([2, 3])]]),
        run("none", {"o": None, "x": f32([2])}, error="empty"),
    ]  # fmt: skip


@loop_model("seq_value")
def sequence_in_and_out():
    """Inputs come back as they are, twice, and with one element more."""
    return graph("""(seq(double[K, N]) s, double[K, N] x)
            => (seq(double[K, N]) a, seq(double[K, N]) b, seq(double[K, N]) c, int64 n) {
        a = Identity(s)
        b = SequenceInsert(s, x)
        c = Identity(b)
        n = SequenceLength(s)
    }"""), [
        run("none", {"s": [], "x": np.ones((1, 2))}),
        run("some", {"s": [np.zeros((0, 3)), np.ones((2, 1))], "x": np.ones((1, 2))}),
    ]


@loop_model("seq_value", "loop_carried")
def element_becomes_carried():
    """An element of a sequence is the init of a loop that writes over its carried value."""
    return graph("""(int64 M, seq(float[N]) s) => (float[N] y, seq(float[N]) t) {
        zero = Constant<value_int = 0>()
        x = SequenceAt(s, zero)
        y = Loop <body = b (int64 i, bool c, float[N] v) => (bool c1, float[N] v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> (M, "", x)
        t = SequenceInsert(s, y)
    }"""), [
        run("zero", {"M": i64(0), "s": [f32([1, 2])]}),
        run("three", {"M": i64(3), "s": [f32([1, 2]), f32([5])]}),
    ]


@loop_model("seq_value", "loop_carried")
def last_element_carried():
    """What an iteration reads out of the list is what the next one changes."""
    return graph("""(int64 M, float[N] x) => (seq(float[N]) s, float[N] y) {
        s0 = SequenceConstruct(x)
        minus = Constant<value_int = -1>()
        s, y = Loop <body = b (int64 i, bool c, seq(float[N]) r, float[N] v)
                => (bool c1, seq(float[N]) r1, float[N] last) {
            c1 = Identity(c)
            w = Add(v, x)
            r1 = SequenceInsert(r, w)
            last = SequenceAt(r1, minus)
        }> (M, "", s0, x)
    }"""), [run(str(m), {"M": i64(m), "x": f32([1, 2])}) for m in (0, 1, 4)]


@loop_model("seq_index", "loop_order")
def split_with_run_time_sizes():
    """SplitToSequence with sizes of the run, and all ways that they can be wrong."""
    return graph("""(float[K, N] x, int64[P] sizes) => (seq(float[K, Q]) s, float[K, R] y) {
        s = SplitToSequence<axis = -1>(x, sizes)
        y = ConcatFromSequence<axis = 1>(s)
    }"""), [
        run("fits", {"x": ramp(2, 5), "sizes": i64([2, 0, 3])}),
        run("too_few", {"x": ramp(2, 5), "sizes": i64([2, 2])}, error="4|add up"),
        run("too_many", {"x": ramp(2, 5), "sizes": i64([4, 2])}, error="fit|add up"),
        run("negative", {"x": ramp(2, 5), "sizes": i64([-1, 6])}, error="-1|add up"),
    ]


@loop_model("seq_value")
def split_evenly():
    """One size for all parts; the last one may be smaller."""
    return graph("""(float[K, N] x, int32 size) => (seq(float[P, N]) s) {
        s = SplitToSequence(x, size)
    }"""), [
        run("even", {"x": ramp(4, 2), "size": i32(2)}),
        run("rest", {"x": ramp(5, 2), "size": i32(3)}),
        run("large", {"x": ramp(2, 2), "size": i32(9)}),
        run("nothing", {"x": ramp(0, 2), "size": i32(3)}, [[]]),
        run("zero", {"x": ramp(2, 2), "size": i32(0)}, error="(?i)."),
    ]


@loop_model("seq_value")
def split_without_axis():
    """keepdims = 0 takes the axis away, in the middle too."""
    return graph("""(float[A, B, C] x) => (seq(float[A, C]) s, float[A, C, B] y) {
        s = SplitToSequence<axis = 1, keepdims = 0>(x)
        y = ConcatFromSequence<axis = -1, new_axis = 1>(s)
    }"""), [run("some", {"x": ramp(2, 3, 4)}), run("empty_elements", {"x": ramp(0, 3, 4)})]


@loop_model("seq_value")
def concat_of_unknown_rank():
    """The rank is one of the run; elements that do not fit each other are errors."""
    return graph("""(seq(float[]) s) => (float[] y, float[] z) {
        y = ConcatFromSequence<axis = -1>(s)
        z = ConcatFromSequence<axis = 0, new_axis = 1>(s)
    }"""), [
        run("vectors", {"s": [f32([1, 2]), f32([3, 4])]}),
        run("boxes", {"s": [ramp(2, 1, 3), ramp(2, 1, 3, start=9)]}),
        run("empty", {"s": []}, error="empty"),
        run("scalars", {"s": [f32(1), f32(2)]}, error="(?i)axis|concatenated"),
        run("ranks", {"s": [f32([1]), f32([[2]])]}, error="(?i)rank|dim"),
        run("shapes", {"s": [ramp(2, 3), ramp(3, 3)]}, error="(?i)dim|shape"),
    ]


@loop_model("loop_carried_optional", "loop_zero")
def sequence_where_an_optional_is_declared():
    """The argument is an optional, init and yield are none: ONNX's own Loop-16 example."""
    return graph("""(int64 M, optional(seq(float[])) o, float[N] x) => (seq(float[]) s) {
        s = Loop <body = b (int64 i, bool c, optional(seq(float[])) p)
                => (bool c1, seq(float[]) q) {
            c1 = Identity(c)
            has = OptionalHasElement(p)
            r = If (has) <
                then_branch = t () => (seq(float[]) a) { a = OptionalGetElement(p) },
                else_branch = e () => (seq(float[]) d) { d = SequenceEmpty<dtype = 1>() }>
            q = SequenceInsert(r, x)
        }> (M, "", o)
    }"""), [
        run("from_none", {"M": i64(2), "o": None, "x": f32([1])}, [[f32([1]), f32([1])]]),
        run("from_some", {"M": i64(1), "o": [f32([5, 6])], "x": f32([1])},
            [[f32([5, 6]), f32([1])]]),
    ]  # fmt: skip


@loop_model("seq_value")
def map_over_two_sequences():
    """SequenceMap with a tensor and a second sequence, and two results."""
    return graph("""(seq(float[N]) s, seq(float[N]) t, float k)
            => (seq(float[N]) u, seq(int64[R]) v) {
        u, v = SequenceMap (s, t, k) <body = b (float[N] x, float[N] y, float f)
                => (float[N] z, int64[R] d) {
            w = Mul(x, f)
            z = Add(w, y)
            d = Shape(z)
        }>
    }"""), [
        run("none", {"s": [], "t": [], "k": f32(2)}, [[], []]),
        run("two", {"s": [f32([1]), f32([2, 3])], "t": [f32([5]), f32([6, 7])], "k": f32(2)}),
    ]


@loop_model("seq_index")
def constant_positions():
    """Everything about a list that is written down is known before the run."""
    return graph("""(float[N] x, float[K] y) => (float[N] a, float[K] b, int64 n) {
        s = SequenceConstruct(x, y)
        zero = Constant<value_int = 0>()
        minus = Constant<value_int = -1>()
        a = SequenceAt(s, zero)
        b = SequenceAt(s, minus)
        n = SequenceLength(s)
    }"""), [run("some", {"x": f32([1]), "y": f32([2, 3])}, [f32([1]), f32([2, 3]), i64(2)])]


@loop_model("seq_value", "seq_index", "if_types", "loop_carried")
def stack_of_rows():
    """Rows are pushed, or popped and added up: who pops comes before the list has an element."""

    def expect(x, total):
        rows, total = [], total.copy()
        for v in x:
            if v[0] > 0 or not rows:
                rows.append(v)
            else:
                total += rows.pop()
        return [total, rows]

    def of(name, *shape):
        x, total = noise(*shape, seed=7), noise(shape[1])
        return run(name, {"x": x, "t0": total}, expect(x, total))

    return graph("""(float[T,N] x, float[N] t0) => (float[N] total, seq(float[N]) rows) {
        zero = Constant<value_int = 0>()
        last = Constant<value_int = -1>()
        first = Constant<value = int64[1] {0}>()
        none = Constant<value = float {0}>()
        shape = Shape<end = 1>(x)
        M = Squeeze(shape)
        s0 = SequenceEmpty<dtype = 1>()
        rows, total = Loop <body = b (int64 i, bool c, seq(float[N]) s, float[N] t) => (bool c1, seq(float[N]) s1, float[N] t1) {
            c1 = Identity(c)
            v = Gather(x, i)
            head = Gather(v, zero)
            positive = Greater(head, none)
            n = SequenceLength(s)
            empty = Equal(n, zero)
            push = Or(positive, empty)
            s1, t1 = If(push) <then_branch = p () => (seq(float[N]) a, float[N] d) {
                a = SequenceInsert(s, v)
                d = Identity(t)
            }, else_branch = q () => (seq(float[N]) e, float[N] f) {
                e = SequenceErase(s, last)
                g = SequenceAt(s, last)
                f = Add(t, g)
            }>
        }> (M, "", s0, t0)
    }"""), [of("many", 40, 5), of("one", 1, 3), of("none", 0, 2), of("single_column", 9, 1)]


@loop_model("seq_index", "if_types", "if_lazy")
def element_of_nothing():
    """A branch reads a list that never has an element; it fails only where it is taken."""
    return graph("""(bool p, int64 M, float[N] x, float[K] y) => (float[?] r) {
        zero = Constant<value_int = 0>()
        s = SequenceEmpty<dtype = 1>()
        r = Loop <body = b (int64 i, bool c, float[?] v) => (bool c1, float[?] w) {
            c1 = Identity(c)
            w = If(p) <then_branch = t () => (float[?] a) {
                e = SequenceAt(s, zero)
                a = Concat<axis = 0>(e, y)
            }, else_branch = f () => (float[?] d) { d = Add(v, x) }>
        }> (M, "", x)
    }"""), [
        # Values of the reference's: OpenVINO's converter ends the process.
        run("not_taken", {"p": b8(False), "M": i64(2), "x": f32([1, 2]), "y": f32([3])}),
        run("no_trips", {"p": b8(True), "M": i64(0), "x": f32([1, 2]), "y": f32([3])}),
        run("taken", {"p": b8(True), "M": i64(1), "x": f32([1]), "y": f32([3])}, error="position 0|range|Invalid"),
    ]  # fmt: skip
