# ===- scopes.py - Names and scopes -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Who sees which name: captures, shadowing, empty names, declared shapes, functions."""

import numpy as np
from onnx import TensorProto, helper

from loop_models.registry import OrtDiffers, b8, f32, function, graph, i64, loop_model, ramp, run


@loop_model("loop_capture")
def captures():
    """The body reads a graph input, an initializer and another node's result."""
    return graph("""(int64 M, float[2] x, float[2] bias) => (float[2] y) <float[2] w = {2.0, 3.0}> {
        s = Add(x, bias)
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            p = Mul(v, w)
            q = Add(p, s)
            v1 = Sub(q, bias)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 1]), "bias": f32([4, 5])}, [f32([1, 1])]),
        run("one", {"M": i64(1), "x": f32([1, 1]), "bias": f32([4, 5])}, [f32([3, 4])]),
        run("three", {"M": i64(3), "x": f32([1, 1]), "bias": f32([4, 5])}, [f32([15, 40])]),
    ]


@loop_model("name_shadow", "name_scope")
def input_shadows_outer():
    """The body's input 'x' hides the graph's 'x' (the inner one wins)."""
    return graph("""(int64 M, float[2] x, float[2] z) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] x) => (bool c1, float[2] x1) {
            c1 = Identity(c)
            x1 = Add(x, x)
        }> (M, "", z)
    }"""), [
        run(f"m{m}", {"M": i64(m), "x": f32([9, 9]), "z": f32([1, 2])}, [f32([1, 2]) * 2**m])
        for m in (0, 1, 3)
    ]


@loop_model("name_shadow", "name_scope")
def initializer_shadows_outer():
    """The body's initializer 'w' hides the graph's node result 'w'."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[2] w) {
        w = Neg(x)
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1)
          <float[2] w = {10.0, 20.0}> {
            c1 = Identity(c)
            v1 = Add(v, w)
        }> (M, "", x)
    }"""), [
        run(
            f"m{m}", {"M": i64(m), "x": f32([1, 2])}, [f32([1 + 10 * m, 2 + 20 * m]), f32([-1, -2])]
        )
        for m in (0, 1, 2)
    ]


@loop_model("name_scope", "name_shadow")
def inner_bodies_shadow_each_other():
    """The names i, c and v mean another thing at each of two levels."""
    return graph("""(int64 M, int64 v) => (int64 y) {
        y = Loop <body = b (int64 i, bool c, int64 u) => (bool c1, int64 u1) {
            c1 = Identity(c)
            two = Constant<value = int64 {2}>()
            inner = Loop <body = d (int64 i, bool c, int64 u) => (bool c2, int64 u2) {
                c2 = Identity(c)
                t = Add(u, i)
                u2 = Add(t, v)
            }> (two, "", u)
            u1 = Add(inner, i)
        }> (M, "", v)
    }"""), [
        run("zero", {"M": i64(0), "v": i64(5)}, [i64(5)]),
        run("one", {"M": i64(1), "v": i64(5)}, [i64(16)]),
        run("two", {"M": i64(2), "v": i64(5)}, [i64(28)]),
    ]


@loop_model("name_scope")
def siblings_share_names():
    """Two bodies and two branches use the same inner names."""
    return graph("""(int64 M, bool p, float[2] x) => (float[2] y, float[2] z, float[2] w) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> (M, "", x)
        z = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, x)
        }> (M, "", y)
        w = If <then_branch = t () => (float[2] r) { r = Neg(y) },
                else_branch = t () => (float[2] r) { r = Abs(z) }> (p)
    }"""), [
        run(
            "then",
            {"M": i64(2), "p": b8(True), "x": f32([1, -1])},
            [f32([4, -4]), f32([6, -6]), f32([-4, 4])],
        ),
        run(
            "else",
            {"M": i64(1), "p": b8(False), "x": f32([1, -1])},
            [f32([2, -2]), f32([3, -3]), f32([3, 3])],
        ),
    ]


@loop_model("name_direct", "loop_capture",
            ort=OrtDiffers("refuses", "ORT takes no outer value as a subgraph's output"))  # fmt: skip
def yields_outer_values():
    """The body yields outer values directly: carried and collected."""
    return graph("""(int64 M, float[2] x, float[2] z) => (float[2] y, float[?,2] ys) {
        y, ys = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] z, float[2] x) {
        }> (M, "", x)
    }"""), [
        run(
            "zero",
            {"M": i64(0), "x": f32([1, 2]), "z": f32([3, 4])},
            [f32([1, 2]), np.zeros((0, 2), np.float32)],
        ),
        run(
            "two",
            {"M": i64(2), "x": f32([1, 2]), "z": f32([3, 4])},
            [f32([3, 4]), f32([[1, 2], [1, 2]])],
        ),
    ]


@loop_model("name_direct", "loop_collect",
            ort=OrtDiffers("values", "ORT collects one buffer: [3,3,3] for [0,1,2]", ("one", "three")))  # fmt: skip
def yields_own_iteration_number():
    """The body yields its iteration number itself."""
    return graph("""(int64 M) => (int64[?] is) {
        is = Loop <body = b (int64 i, bool c) => (bool c, int64 i) {
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0)}, [i64([])]),
        run("one", {"M": i64(1)}, [i64([0])]),
        run("three", {"M": i64(3)}, [i64([0, 1, 2])]),
    ]


@loop_model("name_direct")
def carries_its_iteration_number():
    """The last iteration number is carried out."""
    return graph("""(int64 M, int64 x) => (int64 last) {
        last = Loop <body = b (int64 i, bool c, int64 v) => (bool c, int64 j) { j = Identity(i) }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": i64(-7)}, [i64(-7)]),
        run("four", {"M": i64(4), "x": i64(-7)}, [i64(3)]),
    ]


@loop_model("name_direct")
def yields_initializer():
    """The body yields its own initializer."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] ys) {
        y, ys = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] w, float[2] w)
              <float[2] w = {7.0, 8.0}> {
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2]), np.zeros((0, 2), np.float32)]),
        run("two", {"M": i64(2), "x": f32([1, 2])}, [f32([7, 8]), f32([[7, 8], [7, 8]])]),
    ]


@loop_model("name_direct")
def body_without_nodes():
    """Yields are inputs in another order: no node at all."""
    return graph("""(int64 M, float[2] a, float[2] b, float[2] d) => (float[2] x, float[2] y, float[2] z, float[?,2] h) {
        x, y, z, h = Loop <body = g (int64 i, bool c, float[2] p, float[2] q, float[2] r)
                  => (bool c, float[2] q, float[2] r, float[2] p, float[2] q) {
        }> (M, "", a, b, d)
    }"""), [
        run(f"m{m}", {"M": i64(m), "a": f32([1, 1]), "b": f32([2, 2]), "d": f32([3, 3])})
        for m in (0, 1, 2, 3, 4)
    ]


@loop_model("name_outputs", ort=OrtDiffers("crashes", "ORT dies on an empty output name"))
def output_left_out():
    """The first of two results has no name."""
    return graph("""(int64 M, float[2] x) => (float[?,2] ys) {
        "", ys = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1, float[2] w) {
            c1 = Identity(c)
            v1 = Add(v, x)
            w = Neg(v1)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [np.zeros((0, 2), np.float32)]),
        run("two", {"M": i64(2), "x": f32([1, 2])}, [f32([[-2, -4], [-3, -6]])]),
    ]


@loop_model("name_outputs",
            ort=OrtDiffers("refuses", "ORT wants a name, maybe empty, for every result"))  # fmt: skip
def trailing_outputs_left_out():
    """Fewer result names than N + K."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1, float[2] w, int64 j) {
            c1 = Identity(c)
            v1 = Add(v, x)
            w = Neg(v1)
            j = Identity(i)
        }> (M, "", x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}, [f32([1, 2]) * (m + 1)]) for m in (0, 2)]


@loop_model("name_order")
def ports_match_by_order():
    """The body's names are those of the other port: order counts, not names."""
    return graph("""(int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
        x, y = Loop <body = g (int64 i, bool c, float[2] y_in, float[2] x_in) => (bool c, float[2] y_out, float[2] x_out) {
            y_out = Mul(y_in, y_in)
            x_out = Neg(x_in)
        }> (M, "", a, b)
    }"""), [
        run(
            f"m{m}",
            {"M": i64(m), "a": f32([2, 3]), "b": f32([5, 6])},
            [f32([2, 3]) ** 2**m, f32([5, 6]) * (-1) ** m],
        )
        for m in (0, 1, 2)
    ]


@loop_model("name_declared",
            ort=OrtDiffers("refuses", "ORT wants types of a body's inputs"))  # fmt: skip
def shapes_missing():
    """The body's inputs and outputs declare no types at all."""
    return graph("""(int64 M, float[2,3] x) => (float[2,3] y, float[?,2,3] ys) {
        y, ys = Loop <body = b (i, c, v) => (c1, v1, w) {
            c1 = Identity(c)
            v1 = Add(v, x)
            w = Neg(v1)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2, 3)}, [ramp(2, 3), np.zeros((0, 2, 3), np.float32)]),
        run(
            "two",
            {"M": i64(2), "x": ramp(2, 3)},
            [3 * ramp(2, 3), np.stack([-2 * ramp(2, 3), -3 * ramp(2, 3)])],
        ),
    ]


@loop_model("name_declared",
            ort=OrtDiffers("refuses", "ORT holds the body to its declared shapes"))  # fmt: skip
def shapes_wrong():
    """The body's inputs and outputs declare shapes that are not theirs."""
    return graph("""(int64 M, float[2,3] x) => (float[2,3] y) {
        y = Loop <body = b (int64 i, bool c, float[7] v) => (bool c1, float[5,5,5] v1) {
            c1 = Identity(c)
            v1 = Add(v, x)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2, 3)}, [ramp(2, 3)]),
        run("two", {"M": i64(2), "x": ramp(2, 3)}, [3 * ramp(2, 3)]),
    ]


@loop_model("name_declared")
def shape_too_narrow():
    """The body declares [1] for a value that grows: a hint that is wrong after one trip."""
    return graph("""(int64 M, float[1] x) => (float[?] y) {
        y = Loop <body = b (int64 i, bool c, float[1] v) => (bool c1, float[?] v1) {
            c1 = Identity(c)
            v1 = Concat<axis = 0>(v, x)
        }> (M, "", x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": f32([3])}, [f32([3] * (m + 1))]) for m in (0, 1, 3)]


@loop_model("name_scope")
def function_in_body():
    """A model-local function, with an attribute, is called in a body."""
    return graph(
        """(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = local.scale <by = 3.0> (v)
        }> (M, "", x)
    }""",
        functions=function("""scale <by> (v) => (r) {
        k = Constant <value_float: float = @by> ()
        r = Mul(v, k)
    }"""),
    ), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}, [f32([1, 2]) * 3**m]) for m in (0, 1, 3)]


@loop_model("name_scope")
def function_with_loop():
    """A function that contains a loop is called twice, once in a loop."""
    return graph(
        """(int64 M, float[2] x) => (float[2] y, float[2] z) {
        y = local.power (M, x)
        z = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = local.power (i, v)
        }> (M, "", x)
    }""",
        functions=function("""power (n, v) => (r) {
        r = Loop <body = b (int64 i, bool c, float[2] u) => (bool c1, float[2] u1) {
            c1 = Identity(c)
            u1 = Add(u, v)
        }> (n, "", v)
    }"""),
    ), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2]), f32([1, 2])]),
        run("three", {"M": i64(3), "x": f32([1, 2])}, [f32([4, 8]), f32([6, 12])]),
    ]


@loop_model("name_scope")
def function_calls_function():
    """A function calls another one, whose local names are the caller's."""
    return graph(
        """(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] t) => (bool c1, float[2] r) {
            c1 = Identity(c)
            r = local.outer (t)
        }> (M, "", x)
    }""",
        functions=function("inner (t) => (r) { r = Neg(t) }")
        + function("outer (t) => (r) { s = local.inner(t)\n r = Sub(s, t) }"),
    ), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}, [f32([1, 2]) * (-2) ** m]) for m in (0, 1, 3)]


@loop_model("loop_capture")
def captured_constant_is_folded():
    """Everything in the body but the counter is constant."""
    return graph("""(int64 M) => (float[2] y) {
        a = Constant<value = float[2] {1.0, 2.0}>()
        b = Constant<value = float[2] {3.0, 4.0}>()
        y = Loop <body = g (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Constant<value = bool {1}>()
            s = Mul(a, b)
            v1 = Add(s, a)
        }> (M, "", b)
    }"""), [run("zero", {"M": i64(0)}, [f32([3, 4])]), run("two", {"M": i64(2)}, [f32([4, 10])])]


@loop_model("name_scope")
def input_with_default():
    """A graph input that has an initializer is that unless the caller says otherwise."""
    nodes = [
        helper.make_node(
            "Loop", ["M", "", "x"], ["y"],
            body=helper.make_graph(
                [helper.make_node("Identity", ["c"], ["c1"]), helper.make_node("Add", ["v", "x"], ["v1"])],
                "body",
                [helper.make_tensor_value_info(n, t, s) for n, t, s in (("i", 7, []), ("c", 9, []), ("v", 1, [2]))],
                [helper.make_tensor_value_info("c1", 9, []), helper.make_tensor_value_info("v1", 1, [2])],
            ),
        )
    ]  # fmt: skip
    made = helper.make_graph(
        nodes, "main",
        [helper.make_tensor_value_info("M", 7, []), helper.make_tensor_value_info("x", 1, [2])],
        [helper.make_tensor_value_info("y", 1, [2])],
        [helper.make_tensor("M", TensorProto.INT64, [], [2])],
    )  # fmt: skip
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, [
        run("default", {"x": f32([1, 2])}, [f32([3, 6])]),
        run("given", {"M": i64(4), "x": f32([1, 2])}, [f32([5, 10])]),
    ]
