# ===- scans.py - Scan -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Scan: axes, directions, lengths, batches (version 8), nesting."""

import numpy as np

from loop_models.registry import OrtDiffers, f32, graph, i64, loop_model, noise, ramp, run

LENGTHS = r"(?i)length|extent|sequence"


@loop_model("scan_args", "scan_yield")
def scan_prefix_sum():
    """One state, one input, one output."""
    return graph("""(float[2] s0, float[T,2] xs) => (float[2] s, float[T,2] ys) {
        s, ys = Scan <num_scan_inputs = 1, body = b (float[2] s_in, float[2] x) => (float[2] s_out, float[2] y) {
            s_out = Add(s_in, x)
            y = Identity(s_out)
        }> (s0, xs)
    }"""), [
        run("one", {"s0": f32([10, 20]), "xs": ramp(1, 2)}, [f32([10, 21]), f32([[10, 21]])]),
        run(
            "four", {"s0": f32([0, 0]), "xs": ramp(4, 2)}, [f32([12, 16]), np.cumsum(ramp(4, 2), 0)]
        ),
    ]


@loop_model("scan_lengths", ort=OrtDiffers("refuses", "ORT refuses a scan of length 0", ("zero",)))
def scan_zero_length():
    """Length 0: the initial states, and empty collected values."""
    return graph("""(float[3] s0, float[T,3] xs) => (float[3] s, float[?,3] ys, float[2,?] zs) {
        ends = Constant<value = int64[2] {0, 2}>()
        s, ys, zs = Scan <num_scan_inputs = 1, scan_output_axes = [0, 1],
            body = b (float[3] s_in, float[3] x) => (float[3] s_out, float[3] y, float[2] z) {
            s_out = Add(s_in, x)
            y = Neg(s_out)
            z = Gather(s_out, ends)
        }> (s0, xs)
    }"""), [
        run("zero", {"s0": f32([1, 2, 3]), "xs": ramp(0, 3)},
            [f32([1, 2, 3]), np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32)]),
        run("two", {"s0": f32([1, 2, 3]), "xs": ramp(2, 3)},
            [f32([4, 7, 10]), f32([[-1, -3, -5], [-4, -7, -10]]), f32([[1, 4], [5, 10]])]),
    ]  # fmt: skip


@loop_model("scan_lengths")
def scan_lengths_differ():
    """Two inputs of different length: an error of the run."""
    return graph("""(float[T,2] xs, float[U,2] ws) => (float[?,2] ys) {
        ys = Scan <num_scan_inputs = 2, body = b (float[2] x, float[2] w) => (float[2] y) {
            y = Mul(x, w)
        }> (xs, ws)
    }"""), [
        run("equal", {"xs": ramp(3, 2), "ws": ramp(3, 2)}, [ramp(3, 2) ** 2]),
        run("shorter", {"xs": ramp(3, 2), "ws": ramp(2, 2)}, error=LENGTHS),
        run("one", {"xs": ramp(3, 2), "ws": ramp(1, 2)}, error=LENGTHS),
    ]


@loop_model("scan_args")
def scan_without_states():
    """N = 0: a map over two inputs with a capture."""
    return graph("""(float[T,2,2] xs, float[T] ks, float[2,2] w) => (float[T,2,2] ys, float[T] ss) {
        ys, ss = Scan <num_scan_inputs = 2, body = b (float[2,2] x, float k) => (float[2,2] y, float s) {
            m = MatMul(x, w)
            y = Mul(m, k)
            s = ReduceSum<keepdims = 0>(y)
        }> (xs, ks)
    }"""), [
        run(f"t{t}", {"xs": ramp(t, 2, 2), "ks": ramp(t, start=1), "w": f32([[0, 1], [1, 0]])})
        for t in (1, 3)
    ]


@loop_model("scan_args")
def scan_many_states():
    """Three states of three types, swapped and counted; scalars scanned."""
    return graph("""(float a0, float b0, int64 n0, float[T] xs) => (float a, float b, int64 n, float[T] ys) {
        one = Constant<value = int64 {1}>()
        a, b, n, ys = Scan <num_scan_inputs = 1, body = g (float p, float q, int64 k, float x)
                    => (float q1, float p1, int64 k1, float y) {
            q1 = Add(q, x)
            p1 = Identity(p)
            k1 = Add(k, one)
            y = Sub(p, q)
        }> (a0, b0, n0, xs)
    }"""), [
        run(f"t{t}", {"a0": f32(1), "b0": f32(5), "n0": i64(0), "xs": ramp(t)}) for t in (1, 2, 5)
    ]


def _axes(
    name: str,
    axes: list[int],
    inputs_reversed: list[int],
    outputs_axes: list[int],
    outputs_reversed: list[int],
):
    def build():
        model = graph(f"""(float[2] s0, float[A,B,C] xs, float[D,E] ws) => (float[2] s, float[?,?,?] ys, float[?,?] zs) {{
            flat = Constant<value = int64[1] {{-1}}>()
            s, ys, zs = Scan <num_scan_inputs = 2, scan_input_axes = {axes}, scan_input_directions = {inputs_reversed},
                scan_output_axes = {outputs_axes}, scan_output_directions = {outputs_reversed},
                body = b (float[2] s_in, float[?,?] x, float[?] w) => (float[2] s_out, float[?,?] y, float[2] z) {{
                t = ReduceSum<keepdims = 0>(x)
                u = ReduceSum<keepdims = 0>(w)
                v = Mul(t, u)
                s_out = Add(s_in, v)
                y = Mul(x, u)
                z = Identity(s_out)
            }}> (s0, xs, ws)
        }}""")
        # Give the scanned axes length 4; the others are all different.
        xs_shape, ws_shape = [2, 3, 5], [6, 7]
        xs_shape[axes[0]] = 4
        ws_shape[axes[1]] = 4
        return model, [
            run("four", {"s0": f32([1, 2]), "xs": noise(*xs_shape), "ws": noise(*ws_shape, seed=1)})
        ]

    build.__doc__ = "Scan with input axes, output axes and directions."
    loop_model("scan_axes", "loop_slice", name=f"scan_{name}", rtol=1e-4, atol=1e-5)(build)


_axes("default_axes", [0, 0], [0, 0], [0, 0], [0, 0])
_axes("inner_axes", [1, 1], [0, 0], [0, 0], [0, 0])
_axes("last_axes", [2, 1], [0, 0], [2, 1], [0, 0])
_axes("negative_axes", [-1, -2], [0, 0], [-1, -1], [0, 0])
_axes("negative_output_axes", [0, 0], [0, 0], [-2, -2], [0, 0])
_axes("reversed_inputs", [0, 0], [1, 0], [0, 0], [0, 0])
_axes("reversed_both_inputs", [0, 1], [1, 1], [0, 0], [0, 0])
_axes("reversed_outputs", [0, 0], [0, 0], [0, 0], [1, 1])
_axes("everything", [1, -1], [1, 0], [1, -1], [0, 1])


@loop_model("scan_axes", "loop_slice")
def scan_version_9():
    """Scan as of opset 9: axes and directions, without negative ones."""
    return graph("""(float[2] s0, float[3,T] xs) => (float[2] s, float[2,T] ys) {
        s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
            body = b (float[2] s_in, float[3] x) => (float[2] s_out, float[2] y) {
            m = ReduceSum<axes = [0], keepdims = 0>(x)
            s_out = Add(s_in, m)
            y = Identity(s_out)
        }> (s0, xs)
    }""", opset=10), [
        run("four", {"s0": f32([0, 1]), "xs": ramp(3, 4)},
            [f32([66, 67]), f32([[21, 39, 54, 66], [22, 40, 55, 67]])])
    ]  # fmt: skip


SCAN8 = """({lens}float[B,2] s0, float[B,T,2] xs, float[B,T] ks) => (float[B,2] s, float[B,T,2] ys, float[B,T] zs) {{
        s, ys, zs = Scan <num_scan_inputs = 2, directions = {directions},
            body = b (float[2] s_in, float[2] x, float k) => (float[2] s_out, float[2] y, float z) {{
            p = Mul(x, k)
            s_out = Add(s_in, p)
            y = Identity(s_out)
            z = Add(k, k)
        }}> ({name}, s0, xs, ks)
    }}"""


@loop_model("scan8_batch")
def scan8_batched():
    """Scan 8: each item of the batch runs by itself."""
    model = graph(SCAN8.format(lens="", directions=[0, 0], name='""'), opset=8)
    return model, [
        run(f"b{b}_t{t}", {"s0": ramp(b, 2), "xs": ramp(b, t, 2), "ks": ramp(b, t, start=1)})
        for b, t in ((1, 1), (1, 3), (3, 2))
    ]


@loop_model("scan8_batch", "scan8_lengths")
def scan8_with_lengths():
    """Scan 8 with sequence_lens: zeros past the end; out of range is an error."""
    model = graph(SCAN8.format(lens="int64[B] lens, ", directions=[0, 0], name="lens"), opset=8)
    feeds = {"s0": ramp(2, 2), "xs": ramp(2, 3, 2), "ks": ramp(2, 3, start=1)}
    zero = [0, 0]
    return model, [
        run("full", {"lens": i64([3, 3]), **feeds}),
        run("ragged", {"lens": i64([1, 3]), **feeds}, [
            f32([[0, 2], [2 + 24 + 40 + 60, 3 + 28 + 45 + 66]]),
            f32([[[0, 2], zero, zero], [[26, 31], [66, 76], [126, 142]]]),
            f32([[2, 0, 0], [8, 10, 12]]),
        ]),
        run("too_long", {"lens": i64([4, 3]), **feeds}, error=LENGTHS),
        run("negative", {"lens": i64([-1, 3]), **feeds}, error=LENGTHS),
    ]  # fmt: skip


@loop_model("scan8_lengths", "scan8_batch",
            ort=OrtDiffers("refuses", "ORT takes no length 0 in sequence_lens"))  # fmt: skip
def scan8_empty_item():
    """Scan 8: one item of the batch has length 0."""
    model = graph(SCAN8.format(lens="int64[B] lens, ", directions=[0, 0], name="lens"), opset=8)
    zero = [0, 0]
    return model, [
        run("first", {"lens": i64([0, 1]), "s0": f32([[1, 2], [3, 4]]), "xs": ramp(2, 2, 2), "ks": ramp(2, 2, start=1)}, [
            f32([[1, 2], [15, 19]]), f32([[zero, zero], [[15, 19], zero]]), f32([[0, 0], [6, 0]]),
        ]),
    ]  # fmt: skip


@loop_model("loop_zero", "loop_collect_length", "scan8_lengths", ort=OrtDiffers(
    "refuses", "ORT wants the shapes that a Scan's body yields"))  # fmt: skip
def scan8_no_item_unknown_rank():
    """Scan 8: items without an iteration have rows of padding, of no elements."""
    return graph("""(int64[B] lens, float[B,T] xs, float[] v) => (float[] ys) {
        ys = Scan <num_scan_inputs = 1, body = g (float x) => (float[] y) { y = Neg(v) }> (lens, xs)
    }""", opset=8), [
        run("none", {"lens": i64([0, 0]), "xs": ramp(2, 3), "v": ramp(2, 2)},
            [np.zeros((2, 3, 0), np.float32)]),
        run("ragged", {"lens": i64([1, 2]), "xs": ramp(2, 3), "v": ramp(2, 2)}),
    ]  # fmt: skip


@loop_model("scan8_empty_batch", "scan8_batch", ort=OrtDiffers(
    "refuses", "ORT wants the shapes that a Scan's body yields"))  # fmt: skip
def scan8_empty_batch():
    """Scan 8: without items states keep their shape, and outputs have the axes of the inputs."""
    return graph("""(float[] s0, float[B,T] xs) => (float[] s, float[] ys) {
        s, ys = Scan <num_scan_inputs = 1, body = g (float[] v, float x) => (float[] w, float[] y) {
            w = Add(v, x)
            y = Identity(w)
        }> ("", s0, xs)
    }""", opset=8), [
        run("none", {"s0": np.zeros((0, 2), np.float32), "xs": np.zeros((0, 3), np.float32)},
            [np.zeros((0, 2), np.float32), np.zeros((0, 3), np.float32)]),
        run("two", {"s0": ramp(2, 2), "xs": ramp(2, 1)},
            [f32([[0, 1], [3, 4]]), f32([[[0, 1]], [[3, 4]]])]),
    ]  # fmt: skip


@loop_model("scan8_lengths")
def scan8_lengths_of_other_items():
    """Scan 8: there is a length for each item, or the run ends."""
    return graph("""(int64[C] lens, float[B,T] xs) => (float[P,Q] ys) {
        ys = Scan <num_scan_inputs = 1, body = g (float x) => (float y) { y = Neg(x) }> (lens, xs)
    }""", opset=8), [
        run("too_few", {"lens": i64([1]), "xs": ramp(3, 2)}, error=r"lengths|sequence_lens"),
        run("too_many", {"lens": i64([1, 2, 1, 1]), "xs": ramp(3, 2)},
            error=r"lengths|sequence_lens"),
        run("each", {"lens": i64([1, 2, 1]), "xs": ramp(3, 2, start=1)},
            [f32([[-1, 0], [-3, -4], [-5, 0]])]),
    ]  # fmt: skip


@loop_model("scan8_lengths",
            ort=OrtDiffers("accepts", "ORT does not look at the rank", ("matrix",)))  # fmt: skip
def scan8_lengths_of_unknown_rank():
    """Scan 8: what the lengths have to be tells their rank."""
    return graph("""(int64[] lens, float[B,T] xs) => (float[P,Q] ys) {
        ys = Scan <num_scan_inputs = 1, body = g (float x) => (float y) { y = Neg(x) }> (lens, xs)
    }""", opset=8), [
        run("matrix", {"lens": i64([[1, 2]]), "xs": ramp(2, 2)}, error=r"rank|sequence_lens"),
        run("each", {"lens": i64([1, 2]), "xs": ramp(2, 2, start=1)}, [f32([[-1, 0], [-3, -4]])]),
    ]  # fmt: skip


@loop_model(
    "scan_lengths", "loop_order", ort=OrtDiffers("refuses", "ORT infers shapes of bodies first")
)
def scan_of_two_lengths_in_a_loop():
    """Two lengths that are known are an error of an iteration, if there is one."""
    return graph("""(int64 M, float[2] x, float[3] y) => (float s) {
        zero = Constant <value = float {0}> ()
        s = Loop <body = b (int64 i, bool c, float a) => (bool c, float t) {
            t = Scan <num_scan_inputs = 2, body = g (float v, float p, float q) => (float w) {
                r = Mul(p, q)
                w = Add(v, r)
            }> (a, x, y)
        }> (M, "", zero)
    }"""), [
        run("none", {"M": i64(0), "x": ramp(2), "y": ramp(3)}, [f32(0)]),
        run("one", {"M": i64(1), "x": ramp(2), "y": ramp(3)}, error=r"(?i)length"),
    ]


@loop_model("scan8_lengths", "scan8_batch")
def scan8_reversed():
    """Scan 8: a reversed input starts at sequence_lens[b] - 1."""
    model = graph(SCAN8.format(lens="int64[B] lens, ", directions=[1, 0], name="lens"), opset=8)
    zero = [0, 0]
    return model, [
        run("ragged", {"lens": i64([2, 3]), "s0": f32([zero, zero]), "xs": ramp(2, 3, 2), "ks": f32([[1, 10, 100]] * 2)}, [
            f32([[2, 13], [10 + 80 + 600, 11 + 90 + 700]]),
            f32([[[2, 3], [2, 13], zero], [[10, 11], [90, 101], [690, 801]]]),
            f32([[2, 20, 0], [2, 20, 200]]),
        ]),
    ]  # fmt: skip


@loop_model("scan_state_shape")
def scan_state_changes_shape():
    """A state of Scan must keep its shape: an error of the run from the first trip on."""
    return graph("""(float[N] s0, float[T,K] xs) => (float[?] s) {
        s = Scan <num_scan_inputs = 1, body = b (float[?] s_in, float[?] x) => (float[?] s_out) {
            s_out = Concat<axis = 0>(s_in, x)
        }> (s0, xs)
    }"""), [
        run("nothing_added", {"s0": f32([1]), "xs": ramp(3, 0)}, [f32([1])]),
        run("two", {"s0": f32([1]), "xs": ramp(2, 1)}, error=r"(?i)shape"),
    ]


@loop_model("scan_args", "loop_capture")
def scan_in_scan():
    """A scan over rows in a scan over matrices, with captures from both levels."""
    return graph("""(float[A,B,2] xs, float[2] w) => (float[2] total, float[A,B] ys) {
        zero = Constant<value = float[2] {0.0, 0.0}>()
        total, ys = Scan <num_scan_inputs = 1, body = b (float[2] s, float[B,2] rows) => (float[2] s1, float[B] y) {
            u = Add(s, w)
            s1, y = Scan <num_scan_inputs = 1, body = d (float[2] t, float[2] row) => (float[2] t1, float k) {
                p = Mul(row, w)
                t1 = Add(t, p)
                q = Mul(t1, u)
                k = ReduceSum<keepdims = 0>(q)
            }> (s, rows)
        }> (zero, xs)
    }"""), [
        run(f"a{a}_b{b}", {"xs": ramp(a, b, 2), "w": f32([1, -1])})
        for a, b in ((1, 1), (2, 3), (3, 2))
    ]


@loop_model("scan_args", "loop_carried")
def scan_in_loop():
    """A scan is run over a carried sequence in each trip of a loop."""
    return graph("""(int64 M, float[T,2] xs) => (float[T,2] ys, float[?,2] ends) {
        zero = Constant<value = float[2] {0.0, 0.0}>()
        ys, ends = Loop <body = b (int64 i, bool c, float[T,2] v) => (bool c, float[T,2] v1, float[2] end) {
            end, v1 = Scan <num_scan_inputs = 1, body = d (float[2] s, float[2] x) => (float[2] s1, float[2] y) {
                s1 = Add(s, x)
                y = Identity(s1)
            }> (zero, v)
        }> (M, "", xs)
    }"""), [
        run("zero", {"M": i64(0), "xs": ramp(3, 2)}, [ramp(3, 2), np.zeros((0, 2), np.float32)]),
        run("two", {"M": i64(2), "xs": ramp(3, 2)},
            [np.cumsum(np.cumsum(ramp(3, 2), 0), 0), f32([[6, 9], [8, 14]])]),
    ]  # fmt: skip


@loop_model("scan_args", "loop_carried")
def loop_in_scan():
    """The number of inner trips is scanned."""
    return graph("""(int64[T] ns, float x) => (float last, float[T] ys) {
        last, ys = Scan <num_scan_inputs = 1, body = b (float s, int64 n) => (float s1, float y) {
            s1 = Loop <body = d (int64 i, bool c, float v) => (bool c, float v1) {
                v1 = Add(v, x)
            }> (n, "", s)
            y = Neg(s1)
        }> (x, ns)
    }"""), [
        run("zeros", {"ns": i64([0, 0]), "x": f32(2)}, [f32(2), f32([-2, -2])]),
        run("mixed", {"ns": i64([1, 0, 3]), "x": f32(2)}, [f32(10), f32([-4, -4, -10])]),
    ]


@loop_model("scan_args", "if_lazy")
def if_in_scan():
    """A running maximum by If, its position by the count of trips."""
    return graph("""(float[T] xs) => (float best, int64 at, float[T] bests) {
        low = Constant<value = float {-1000.0}>()
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        none = Constant<value = int64 {-1}>()
        best, at, k, bests = Scan <num_scan_inputs = 1, body = b (float m, int64 p, int64 n, float x)
                           => (float m1, int64 p1, int64 n1, float y) {
            more = Greater(x, m)
            m1, p1 = If <then_branch = t () => (float a, int64 pa) { a = Identity(x)
                                                                     pa = Identity(n) },
                         else_branch = e () => (float d, int64 pd) { d = Identity(m)
                                                                     pd = Identity(p) }> (more)
            n1 = Add(n, one)
            y = Identity(m1)
        }> (low, none, zero, xs)
    }"""), [
        run("one", {"xs": f32([3])}, [f32(3), i64(0), f32([3])]),
        run("many", {"xs": f32([1, 5, 2, 7, 7, 3])}, [f32(7), i64(3), f32([1, 5, 5, 7, 7, 7])]),
    ]


@loop_model("scan_args", rtol=1e-4)
def scan_rnn_cell():
    """h = tanh(x W + h R + b) over time."""
    return graph("""(float[B,4] h0, float[T,B,3] xs, float[3,4] W, float[4,4] R, float[4] bias) => (float[B,4] h, float[T,B,4] hs) {
        h, hs = Scan <num_scan_inputs = 1, body = b (float[B,4] hp, float[B,3] x) => (float[B,4] hn, float[B,4] y) {
            a = MatMul(x, W)
            r = MatMul(hp, R)
            s = Add(a, r)
            t = Add(s, bias)
            hn = Tanh(t)
            y = Identity(hn)
        }> (h0, xs)
    }"""), [
        run(f"b{b}_t{t}", {"h0": noise(b, 4), "xs": noise(t, b, 3, seed=1), "W": noise(3, 4, seed=2),
                           "R": noise(4, 4, seed=3), "bias": noise(4, seed=4)})
        for b, t in ((1, 1), (2, 7))
    ]  # fmt: skip


@loop_model("scan_args", "loop_collect", "loop_slice",
            ort=OrtDiffers("refuses", "a scan of length 0", ("t0_n0_m0",)))  # fmt: skip
def scan_without_elements():
    """Axes of extent 0 that the types know: slices and rows hold nothing, but have shapes."""
    return graph("""(float[T,0,N] xs, float[0,N] e, int64 M) => (float[0,N] last, float[T,0,N] ys, int64[M,0] shapes, float[?] flat) {
        minus = Constant<value = int64[1] {-1}>()
        last, ys = Scan <num_scan_inputs = 1, body = b (float[0,N] s, float[0,N] x) => (float[0,N] s1, float[0,N] y) {
            s1 = Add(s, x)
            y = Identity(x)
        }> (e, xs)
        shapes = Loop <body = d (int64 i, bool c) => (bool c, int64[0] shape) { shape = Shape(i) }> (M, "")
        flat = Reshape(e, minus)
    }"""), [
        run(f"t{t}_n{n}_m{m}",
            {"xs": ramp(t, 0, n), "e": ramp(0, n), "M": i64(m)},
            [ramp(0, n), ramp(t, 0, n), ramp(m, 0, dtype=np.int64), ramp(0)])
        for t, n, m in ((2, 3, 2), (0, 0, 0), (1, 0, 1))
    ]  # fmt: skip
