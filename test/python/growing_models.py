# ===- growing_models.py - Models of any number of one thing ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that hold a number of one thing: what compilation takes must grow as that number does.

Each generator takes the number and the extent of the inputs: a name such as "N" (open) or a number.
`python growing_models.py NAME NUMBER [EXTENT]` writes the model to standard output.
"""

import sys
from collections.abc import Callable

import numpy as np
import onnx
import onnx.parser

Generator = Callable[[int, str], onnx.ModelProto]
GROWING: dict[str, Generator] = {}
"""The generators by name."""


def growing(make: Generator) -> Generator:
    """Registers a generator."""
    GROWING[make.__name__] = make
    return make


def parse(graph: str, domains: str = "", functions: str = "") -> onnx.ModelProto:
    """The model of `graph`, a graph as text; `domains` imports more than ONNX's own."""
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21{domains}]>\n{graph}\n{functions}'
    )


def in_a_loop(body: str, result: str, extent: str) -> onnx.ModelProto:
    """A loop of `m` iterations whose `body` makes `result` of the carried value `s`.

    The body may capture `y`. The result's extent may differ from `s`'s.
    """
    return parse(
        f"""growing (float[{extent}] x, float[{extent}] y, int64 m) => (float[R] z) {{
            z = Loop (m, "", x) <body = step (int64 i, bool go, float[S] s)
                => (bool again, float[S2] {result}) {{
                again = Identity (go)
                {body}
            }}>
        }}"""
    )


@growing
def rotations(count: int, extent: str) -> onnx.ModelProto:
    """Vectors turned by one element: two slices and a concatenation each."""
    lines = [
        "zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> ()"
        "end = Constant <value = int64[1] {9223372036854775807}> ()"
    ]
    last = "s"
    for k in range(count):
        lines.append(
            f"a{k} = Slice ({last}, one, end, zero) b{k} = Slice ({last}, zero, one, zero)"
            f" c{k} = Concat <axis = 0> (a{k}, b{k})"
        )
        last = f"c{k}"
    return in_a_loop("\n".join(lines), last, extent)


@growing
def elements_set(count: int, extent: str) -> onnx.ModelProto:
    """One element read, and another one written."""
    lines, last = [], "s"
    for k in range(count):
        lines.append(
            f"to{k} = Constant <value = int64[1] {{{k % 8}}}> ()"
            f" from{k} = Constant <value = int64 {{{3 * k % 8}}}> ()"
            f" read{k} = Gather <axis = 0> ({last}, from{k})"
            f" one{k} = Constant <value = float {{1.0}}> () sum{k} = Add (read{k}, one{k})"
            f" axes{k} = Constant <value = int64[1] {{0}}> () new{k} = Unsqueeze (sum{k}, axes{k})"
            f" v{k} = ScatterElements ({last}, to{k}, new{k})"
        )
        last = f"v{k}"
    return in_a_loop("\n".join(lines), last, extent)


def branches(count: int, extent: str, then: str, otherwise: str) -> onnx.ModelProto:
    """A chain of branches in a loop, each of what the one before made (`{last}` in the texts)."""
    lines, last = ["zero = Constant <value = int64 {0}> ()"], "s"
    for k in range(count):
        names = {"k": k, "last": last}
        lines.append(
            f"by{k} = Constant <value = int64 {{{k + 2}}}> () rest{k} = Mod (i, by{k})"
            f" is{k} = Equal (rest{k}, zero)"
            f" v{k} = If (is{k}) <then_branch = yes{k} () => (float[Y{k}] t{k})"
            f" {{ {then.format(**names)} }},"
            f" else_branch = no{k} () => (float[E{k}] e{k}) {{ {otherwise.format(**names)} }}>"
        )
        last = f"v{k}"
    return in_a_loop("\n".join(lines), last, extent)


@growing
def branches_of_shapes(count: int, extent: str) -> onnx.ModelProto:
    """Branches that make a value longer or cut it off."""
    return branches(
        count,
        extent,
        "t{k} = Concat <axis = 0> ({last}, y)",
        "z{k} = Constant <value = int64[1] {{0}}> () f{k} = Constant <value = int64[1] {{4}}> ()"
        " e{k} = Slice ({last}, z{k}, f{k}, z{k})",
    )


@growing
def branches_in_a_body(count: int, extent: str) -> onnx.ModelProto:
    """Branches that compute with whole values."""
    return branches(count, extent, "t{k} = Add ({last}, y)", "e{k} = Mul ({last}, y)")


@growing
def loops_in_a_row(count: int, extent: str) -> onnx.ModelProto:
    """Loops, each of which carries a value and collects it."""
    lines, last = ["axes = Constant <value = int64[1] {0}> ()"], "x"
    for k in range(count):
        lines.append(
            f"""l{k}, all{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                => (bool again{k}, float[{extent}] t{k}, float[{extent}] c{k}) {{
                again{k} = Identity (go{k}) a{k} = Add (s{k}, x) t{k} = Tanh (a{k}) c{k} = Identity (s{k})
            }}>
            most{k} = ReduceMax <keepdims = 0> (all{k}, axes) v{k} = Add (l{k}, most{k})"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing (float[{extent}] x, int64 m) => (float[{extent}] {last}) {{ {nodes} }}")


@growing
def sequential_loops(count: int, extent: str) -> onnx.ModelProto:
    """Loops that carry a value, the one of the loop before, and nothing between them."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"""v{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                => (bool again{k}, float[{extent}] t{k}) {{
                again{k} = Identity (go{k}) a{k} = Add (s{k}, x) t{k} = Tanh (a{k})
            }}>"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing (float[{extent}] x, int64 m) => (float[{extent}] {last}) {{ {nodes} }}")


@growing
def scatters_in_branches(count: int, extent: str) -> onnx.ModelProto:
    """Branches, of which one writes elements over."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"v{k} = If (c{k}) <then_branch = yes{k} () => (float[Y{k}, Y2{k}] t{k})"
            f" {{ t{k} = ScatterElements <axis = 0> ({last}, places, new) }},"
            f" else_branch = no{k} () => (float[E{k}, E2{k}] e{k}) {{ e{k} = Identity ({last}) }}>"
        )
        last = f"v{k}"
    flags = ", ".join(f"bool c{k}" for k in range(count))
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}, 3] x, int64[2, 3] places, float[2, 3] new, {flags})"
        f" => (float[{extent}, 3] {last}) {{ {nodes} }}"
    )


@growing
def functions_called_twice(count: int, extent: str) -> onnx.ModelProto:
    """Functions of the model, each of which calls the next one twice."""
    functions = []
    for k in range(count):
        inner = (
            f"a = lib.f{k + 1} (x) b = lib.f{k + 1} (a) s = Add (a, b) y = Tanh (s)"
            if k + 1 < count
            else "y = Tanh (x)"
        )
        functions.append(
            f'<domain: "lib", opset_import: ["" : 21, "lib" : 1]> f{k} (x) => (y) {{ {inner} }}'
        )
    graph = f"growing (float[{extent}] x) => (float[{extent}] y) {{ y = lib.f0 (x) }}"
    return parse(graph, ', "lib" : 1', "\n".join(functions))


def chain(count: int, node: Callable[[int, str], str], start: str, result: str) -> onnx.ModelProto:
    """Nodes one behind the other; `node` is handed the number and the name of the last value.

    The first value is `x`, the value of node k is `v<k>`.
    """
    lines, last = [], "x"
    for k in range(count):
        lines.append(node(k, last))
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing ({start}) => ({result} {last}) {{ {nodes} }}")


@growing
def views(count: int, extent: str) -> onnx.ModelProto:
    """Slices of slices; what is left of 4,096 elements more than the slices."""
    return chain(
        count,
        lambda k, last: (
            f"one{k} = Constant <value = int64[1] {{1}}> ()"
            f" end{k} = Constant <value = int64[1] {{9223372036854775807}}> ()"
            f" v{k} = Slice ({last}, one{k}, end{k})"
        ),
        f"float[{extent if not extent.isdigit() else 4096}] x",
        "float[R]",
    )


@growing
def views_in_a_loop(count: int, extent: str) -> onnx.ModelProto:
    """Reshape, Slice and Transpose in turn, each of what the one before made."""
    lines = [
        "row = Constant <value = int64[2] {1, -1}> () flat = Constant <value = int64[1] {-1}> ()"
        " zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> ()"
        " end = Reshape (m, flat)"
    ]
    steps = ("Reshape ({last}, row)", "Slice ({last}, zero, end, one)",
             "Transpose <perm = [1, 0]> ({last})", "Reshape ({last}, flat)")  # fmt: skip
    last = "s"
    for k in range(count):
        lines.append(f"v{k} = {steps[k % len(steps)].format(last=last)}")
        last = f"v{k}"
    lines.append(f"t = Reshape ({last}, flat)")
    return in_a_loop("\n".join(lines), "t", extent)


@growing
def sums_of_numbers(count: int, extent: str) -> onnx.ModelProto:
    """Sums of the two numbers before, from the iteration's on; the last one ends the loop."""
    lines = " ".join(f"n{k + 2} = Add (n{k + 1}, n{k})" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[R] z) {{
            yes = Constant <value = bool {{1}}> () limit = Constant <value = int64 {{1000000}}> ()
            z = Loop (m, yes, x) <body = step (int64 n0, bool go, float[{extent}] s)
                => (bool again, float[{extent}] t) {{
                n1 = Add (n0, n0) {lines} again = Less (n{count + 1}, limit) t = Add (s, x)
            }}>
        }}"""
    )


@growing
def values_of_either(count: int, extent: str) -> onnx.ModelProto:
    """Branches that pass on one of the two values before."""
    lines, names = ["v0 = Add (s, y) zero = Constant <value = int64 {0}> ()"], ["s", "v0"]
    for k in range(count):
        lines.append(
            f"by{k} = Constant <value = int64 {{{k + 2}}}> () rest{k} = Mod (i, by{k})"
            f" is{k} = Equal (rest{k}, zero)"
            f" v{k + 1} = If (is{k}) <then_branch = yes{k} () => (float[Y{k}] t{k})"
            f" {{ t{k} = Identity ({names[-1]}) }},"
            f" else_branch = no{k} () => (float[E{k}] e{k}) {{ e{k} = Identity ({names[-2]}) }}>"
        )
        names.append(f"v{k + 1}")
    return in_a_loop("\n".join(lines), names[-1], extent)


@growing
def scatters_in_a_body(count: int, extent: str) -> onnx.ModelProto:
    """Branches in a loop, of which one writes an element over."""
    return branches(
        count,
        extent,
        "at{k} = Constant <value = int64[1] {{0}}> ()"
        " new{k} = Constant <value = float[1] {{1.0}}> ()"
        " t{k} = ScatterElements ({last}, at{k}, new{k})",
        "e{k} = Identity ({last})",
    )


@growing
def identities(count: int, extent: str) -> onnx.ModelProto:
    """Nodes that pass a value on."""
    return chain(
        count, lambda k, last: f"v{k} = Identity ({last})", f"float[{extent}] x", "float[R]"
    )


@growing
def reshapes(count: int, extent: str) -> onnx.ModelProto:
    """Shapes of two and of three axes in turn."""
    shapes = ("int64[3] {0, 1, -1}", "int64[2] {0, -1}")
    return chain(
        count,
        lambda k, last: (
            f"shape{k} = Constant <value = {shapes[k % 2]}> () v{k} = Reshape ({last}, shape{k})"
        ),
        f"float[{extent}, {extent}] x",
        "float[A, B]" if count % 2 == 0 else "float[A, B, C]",
    )


@growing
def transposes(count: int, extent: str) -> onnx.ModelProto:
    """Transposes with something computed between them."""
    return chain(
        count,
        lambda k, last: f"t{k} = Transpose <perm = [1, 0]> ({last}) v{k} = Tanh (t{k})",
        f"float[{extent}, {extent}] x",
        "float[A, B]",
    )


@growing
def unsqueezes(count: int, extent: str) -> onnx.ModelProto:
    """An axis added, a sum, and the axis removed."""
    return chain(
        count,
        lambda k, last: (
            f"axes{k} = Constant <value = int64[1] {{{k % 2}}}> () u{k} = Unsqueeze ({last}, axes{k})"
            f" a{k} = Add (u{k}, u{k}) v{k} = Squeeze (a{k}, axes{k})"
        ),
        f"float[{extent}] x",
        "float[R]",
    )


@growing
def sums(count: int, extent: str) -> onnx.ModelProto:
    """Sums of values whose extents are equal."""
    return chain(count, lambda k, last: f"v{k} = Add ({last}, x)", f"float[{extent}] x", "float[R]")


@growing
def sines(count: int, extent: str) -> onnx.ModelProto:
    """Elementary functions, each of what the one before made."""
    return chain(count, lambda k, last: f"v{k} = Sin ({last})", f"float[{extent}] x", "float[R]")


@growing
def slices_of_any_rank(count: int, extent: str) -> onnx.ModelProto:
    """Slices of a value whose rank is not declared, and a sum of each that is left."""
    return chain(
        count,
        lambda k, last: (
            f"zero{k} = Constant <value = int64[1] {{0}}> ()"
            f" end{k} = Constant <value = int64[1] {{9223372036854775807}}> ()"
            f" s{k} = Slice ({last}, zero{k}, end{k}) v{k} = Add (s{k}, s{k})"
        ),
        "float[] x",
        "float[]",
    )


@growing
def softmaxes(count: int, extent: str) -> onnx.ModelProto:
    """Rows, each of which is reduced and scaled, with nothing between them."""
    return chain(
        count,
        lambda k, last: f"v{k} = Softmax <axis = -1> ({last})",
        f"float[{extent}, {extent}] x",
        "float[A, B]",
    )


@growing
def norms(count: int, extent: str) -> onnx.ModelProto:
    """Rows with their mean and variance, one behind the other."""
    return chain(
        count,
        lambda k, last: f"v{k} = LayerNormalization <axis = -1> ({last}, w)",
        f"float[{extent}, 8] x, float[8] w",
        "float[A, B]",
    )


@growing
def largest(count: int, extent: str) -> onnx.ModelProto:
    """The largest elements and their places, of which something is added to all."""
    return chain(
        count,
        lambda k, last: (
            f"k{k} = Constant <value = int64[1] {{3}}> () a{k}, i{k} = TopK ({last}, k{k})"
            f" j{k} = Cast <to = 1> (i{k}) d{k} = Mul (a{k}, j{k})"
            f" w{k} = ReduceMax <keepdims = 1> (d{k}) v{k} = Add ({last}, w{k})"
        ),
        f"float[{extent}] x",
        "float[R]",
    )


@growing
def scans(count: int, extent: str) -> onnx.ModelProto:
    """Scans, each over the rows that the one before has collected."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"""l{k}, c{k} = Scan <num_scan_inputs = 1, body = step{k}
                (float[{extent}] s{k}, float[{extent}] r{k}) => (float[{extent}] t{k}, float[{extent}] o{k}) {{
                a{k} = Add (s{k}, r{k}) t{k} = Tanh (a{k}) o{k} = Identity (a{k})
            }}> (h, {last})"""
        )
        last = f"c{k}"
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}] h, float[L, {extent}] x) => (float[L, {extent}] {last}) {{ {nodes} }}"
    )


@growing
def products(count: int, extent: str) -> onnx.ModelProto:
    """Matrix products, each with a hyperbolic tangent behind it."""
    return chain(
        count,
        lambda k, last: f"m{k} = MatMul ({last}, x) v{k} = Tanh (m{k})",
        f"float[{extent}, {extent}] x",
        "float[A, B]",
    )


@growing
def captured_values(count: int, extent: str) -> onnx.ModelProto:
    """Values of the outer graph that one body reads."""
    outer = " ".join(f"p{k} = Constant <value = float {{{k}.0}}> () q{k} = Mul (x, p{k})"
                     for k in range(count))  # fmt: skip
    inner = " ".join(f"v{k + 1} = Add (v{k}, q{k})" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[{extent}] z) {{
            {outer}
            z = Loop (m, "", x) <body = step (int64 i, bool go, float[{extent}] v0)
                => (bool again, float[{extent}] v{count}) {{ again = Identity (go) {inner} }}>
        }}"""
    )


@growing
def carried_values(count: int, extent: str) -> onnx.ModelProto:
    """Values that one loop carries, each of which becomes its neighbour's."""
    inits = ", ".join(["x"] * count)
    args = ", ".join(f"float[{extent}] s{k}" for k in range(count))
    results = ", ".join(f"float[{extent}] t{k}" for k in range(count))
    values = ", ".join(f"float[{extent}] z{k}" for k in range(count))
    names = ", ".join(f"z{k}" for k in range(count))
    lines = " ".join(f"t{k} = Add (s{(k + 1) % count}, f{k})" for k in range(count))
    constants = " ".join(f"f{k} = Constant <value = float {{{k}.0}}> ()" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => ({values}) {{
            {constants}
            {names} = Loop (m, "", {inits}) <body = step (int64 i, bool go, {args})
                => (bool again, {results}) {{ again = Identity (go) {lines} }}>
        }}"""
    )


@growing
def collected_values(count: int, extent: str) -> onnx.ModelProto:
    """Values that one loop collects."""
    results = ", ".join(f"float[{extent}] t{k}" for k in range(count))
    values = ", ".join(f"float[T, {extent}] z{k}" for k in range(count))
    names = ", ".join(f"z{k}" for k in range(count))
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () t{k} = Add (s, f{k})" for k in range(count)
    )
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[{extent}] z, {values}) {{
            z, {names} = Loop (m, "", x) <body = step (int64 i, bool go, float[{extent}] s)
                => (bool again, float[{extent}] t, {results}) {{
                again = Identity (go) t = Tanh (s) {lines} }}>
        }}"""
    )


@growing
def results(count: int, extent: str) -> onnx.ModelProto:
    """Results of the model."""
    values = ", ".join(f"float[{extent}] z{k}" for k in range(count))
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () z{k} = Add (x, f{k})" for k in range(count)
    )
    return parse(f"growing (float[{extent}] x) => ({values}) {{ {lines} }}")


@growing
def concatenated(count: int, extent: str) -> onnx.ModelProto:
    """Parts of one concatenation."""
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () p{k} = Mul (x, f{k})" for k in range(count)
    )
    parts = ", ".join(f"p{k}" for k in range(count))
    return parse(
        f"growing (float[{extent}] x) => (float[R] z) {{ {lines} z = Concat <axis = 0> ({parts}) }}"
    )


def nest(count: int, level: Callable[[int, str], str]) -> str:
    """Texts within each other, the innermost one made first; level 0 is the outermost."""
    text = ""
    for k in reversed(range(count)):
        text = level(k, text)
    return text


@growing
def nested_branches(count: int, extent: str) -> onnx.ModelProto:
    """Branches within each other."""

    def level(k: int, inner: str) -> str:
        inner = inner or f"v{k + 1} = Identity (h{k})"
        return (
            f"v{k} = If (c) <then_branch = yes{k} () => (float[{extent}] v{k + 1})"
            f" {{ h{k} = Tanh ({'x' if k == 0 else f'h{k - 1}'}) {inner} }},"
            f" else_branch = no{k} () => (float[{extent}] e{k}) {{ e{k} = Mul (x, x) }}>"
        )

    return parse(
        f"growing (float[{extent}] x, bool c) => (float[{extent}] v0) {{ {nest(count, level)} }}"
    )


@growing
def nested_loops(count: int, extent: str) -> onnx.ModelProto:
    """Loops within each other, each with a sine before the next one."""

    def level(k: int, inner: str) -> str:
        outer = "x" if k == 0 else f"h{k - 1}"
        inner = inner or f"v{k + 1} = Add (h{k}, x)"
        return (
            f'v{k} = Loop (m, "", {outer}) <body = step{k} (int64 i{k}, bool c{k},'
            f" float[{extent}] s{k}) => (bool d{k}, float[{extent}] v{k + 1})"
            f" {{ d{k} = Identity (c{k}) h{k} = Sin (s{k}) {inner} }}>"
        )

    return parse(
        f"growing (float[{extent}] x, int64 m) => (float[{extent}] v0) {{ {nest(count, level)} }}"
    )


def inputs_of(model: onnx.ModelProto, length: int = 8) -> dict[str, np.ndarray]:
    """Inputs by name: numbers from a fixed seed, `length` where an extent is open, few trips.

    What has no declared rank is a vector.
    """
    random = np.random.default_rng(0)
    values: dict[str, np.ndarray] = {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else length for d in kind.shape.dim]
        if not kind.HasField("shape"):
            shape = [length]
        if kind.elem_type == onnx.TensorProto.BOOL:
            values[info.name] = np.asarray(random.random(shape) < 0.5)
        elif kind.elem_type == onnx.TensorProto.INT64:
            # Trip counts, or places within what is open.
            values[info.name] = np.array(2) if not shape else random.permuted(
                np.tile(np.arange(shape[0])[:, None], (1, shape[1])), axis=0
            )  # fmt: skip
        else:
            values[info.name] = random.uniform(-0.25, 0.25, shape).astype(np.float32)
    return values


if __name__ == "__main__":
    extent_asked = sys.argv[3] if len(sys.argv) > 3 else "N"
    made = GROWING[sys.argv[1]](int(sys.argv[2]), extent_asked)
    sys.stdout.buffer.write(made.SerializeToString())
