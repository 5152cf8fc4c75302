# ===- growing_networks.py - Any number of layers -------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of many operators, layers, weights or ports."""

import onnx
from growing_parts import Generator, chain, parse, registry, with_weights

NETWORKS: dict[str, Generator] = {}
"""The generators by name."""

growing = registry(NETWORKS)


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
def products(count: int, extent: str) -> onnx.ModelProto:
    """Matrix products, each with a hyperbolic tangent behind it."""
    return chain(
        count,
        lambda k, last: f"m{k} = MatMul ({last}, x) v{k} = Tanh (m{k})",
        f"float[{extent}, {extent}] x",
        "float[A, B]",
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


@growing
def attention_blocks(count: int, extent: str) -> onnx.ModelProto:
    """Layers of a transformer: attention, two norms, and products with weights of their own."""

    def block(k: int, last: str) -> str:
        return (
            f"q{k} = MatMul ({last}, wq{k}) k{k} = MatMul ({last}, wk{k})"
            f" kt{k} = Transpose <perm = [1, 0]> (k{k}) s{k} = MatMul (q{k}, kt{k})"
            f" p{k} = Softmax <axis = -1> (s{k}) o{k} = MatMul (p{k}, {last})"
            f" r{k} = Add (o{k}, {last}) n{k} = LayerNormalization <axis = -1> (r{k}, w)"
            f" f{k} = MatMul (n{k}, wf{k}) g{k} = Relu (f{k}) h{k} = Add (g{k}, n{k})"
            f" v{k} = LayerNormalization <axis = -1> (h{k}, w)"
        )

    model = chain(count, block, f"float[{extent}, 8] x, float[8] w", "float[A, B]")
    names = [f"{which}{k}" for k in range(count) for which in ("wq", "wk", "wf")]
    return with_weights(model, names, (8, 8))


@growing
def recurrent_nodes(count: int, extent: str) -> onnx.ModelProto:
    """LSTM nodes one behind the other, each with weights of its own."""
    model = chain(
        count,
        lambda k, last: (
            f"y{k} = LSTM <hidden_size = 4> ({last}, w{k}, r{k})"
            f" s{k} = Squeeze (y{k}, axes) v{k} = Add (s{k}, x)"
        ),
        f"float[{extent}, 1, 4] x",
        "float[A, B, C]",
        "axes = Constant <value = int64[1] {1}> ()",
    )
    names = [f"{which}{k}" for k in range(count) for which in "wr"]
    return with_weights(model, names, (1, 16, 4))


@growing
def sums_of_products(count: int, extent: str) -> onnx.ModelProto:
    """Einsum of three axes and of two."""
    return chain(
        count,
        lambda k, last: f'e{k} = Einsum <equation = "hij,jk->hik"> ({last}, w) v{k} = Tanh (e{k})',
        f"float[2, {extent}, 8] x, float[8, 8] w",
        "float[A, B, C]",
    )


@growing
def resizes(count: int, extent: str) -> onnx.ModelProto:
    """Images twice as large and half as large in turn, with something computed between."""
    return chain(
        count,
        lambda k, last: (
            f'e{k} = Resize <mode = "linear"> ({last}, , scale{k % 2}) v{k} = Tanh (e{k})'
        ),
        f"float[1, 1, {extent}, {extent}] x",
        "float[A, B, C, D]",
        "scale0 = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()"
        " scale1 = Constant <value = float[4] {1.0, 1.0, 0.5, 0.5}> ()",
    )


@growing
def quantised_products(count: int, extent: str) -> onnx.ModelProto:
    """Values quantised and made floats again, with products of quantised weights."""

    def node(k: int, last: str) -> str:
        return (
            f"at{k} = Constant <value = float {{0.0{k + 11}}}> ()"
            f" q{k} = QuantizeLinear ({last}, at{k}, zero) d{k} = DequantizeLinear (q{k}, at{k}, zero)"
            f" u{k} = DequantizeLinear (wq, at{k}, zero) m{k} = MatMul (d{k}, u{k})"
            f" t{k} = Tanh (m{k}) v{k} = Add (t{k}, x)"
        )

    return chain(
        count,
        node,
        f"float[{extent}, 4] x",
        "float[A, B]",
        "zero = Constant <value = int8 {0}> () wq = Constant <value = int8[4, 4]"
        " {1, -1, 2, 0, 3, 1, -2, 1, 0, 1, 1, -1, 2, 0, -1, 1}> ()",
    )


@growing
def weights(count: int, extent: str) -> onnx.ModelProto:
    """Initializers, each of which is added."""
    model = chain(
        count,
        lambda k, last: f"a{k} = Add ({last}, w{k}) v{k} = Tanh (a{k})",
        f"float[{extent}, 8] x",
        "float[A, B]",
    )
    return with_weights(model, [f"w{k}" for k in range(count)], (8,))


@growing
def dense_layers(count: int, extent: str) -> onnx.ModelProto:
    """Gemm with weights and a bias of its own, and an activation."""
    model = chain(
        count,
        lambda k, last: f"g{k} = Gemm ({last}, w{k}, b) v{k} = Relu (g{k})",
        f"float[{extent}, 16] x, float[16] b",
        "float[A, B]",
    )
    return with_weights(model, [f"w{k}" for k in range(count)], (16, 16))


@growing
def inputs(count: int, extent: str) -> onnx.ModelProto:
    """Inputs of the model, which are added."""
    ports = ", ".join(f"float[{extent}] x{k}" for k in range(count))
    lines = " ".join(f"v{k} = Add ({f'v{k - 1}' if k else 'x0'}, x{k}) " for k in range(count))
    return parse(f"growing ({ports}) => (float[R] v{count - 1}) {{ {lines} }}")


@growing
def inputs_of_any_extent(count: int, extent: str) -> onnx.ModelProto:
    """Inputs of the model, each of an extent of its own, which are put together."""
    ports = ", ".join(
        f"float[{extent if extent.isdigit() else f'{extent}{k}'}] x{k}" for k in range(count)
    )
    lines = " ".join(f"t{k} = Tanh (x{k})" for k in range(count))
    parts = ", ".join(f"t{k}" for k in range(count))
    return parse(f"growing ({ports}) => (float[R] z) {{ {lines} z = Concat <axis = 0> ({parts}) }}")


@growing
def convolutions(count: int, extent: str) -> onnx.ModelProto:
    """Convolutions with a normalisation, an activation, and what was before added every second time."""

    def node(k: int, last: str) -> str:
        before = f"v{k - 2}" if k > 1 else "x"
        return (
            f"c{k} = Conv <pads = [1, 1, 1, 1]> ({last}, w{k})"
            f" n{k} = BatchNormalization (c{k}, one, zero, zero, one) v{k} = "
            + (f"Relu (n{k})" if k % 2 == 0 else f"Add (n{k}, {before})")
        )

    model = chain(
        count,
        node,
        f"float[1, 4, {extent}, {extent}] x",
        "float[A, B, C, D]",
        "one = Constant <value = float[4] {0.1, 0.25, 0.1, 0.25}> ()"
        " zero = Constant <value = float[4] {0.0, 0.0, 0.1, 0.0}> ()",
    )
    return with_weights(model, [f"w{k}" for k in range(count)], (4, 4, 3, 3))


@growing
def pools(count: int, extent: str) -> onnx.ModelProto:
    """The largest and the mean of windows in turn, padded."""
    kinds = ("MaxPool", "AveragePool")
    return chain(
        count,
        lambda k, last: (
            f"v{k} = {kinds[k % 2]} <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> ({last})"
        ),
        f"float[1, 2, {extent}, {extent}] x",
        "float[A, B, C, D]",
    )


@growing
def dense_concatenations(count: int, extent: str) -> onnx.ModelProto:
    """Blocks of eight layers, each of which reads all that the block has made, as in DenseNet."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(f"m{k} = MatMul ({last}, w{k}) t{k} = Relu (m{k})")
        if k % 8 == 7:
            lines.append(f"v{k} = Identity (t{k})")
        else:
            lines.append(f"v{k} = Concat <axis = 1> ({last}, t{k})")
        last = f"v{k}"
    nodes = "\n".join(lines)
    model = parse(f"growing (float[{extent}, 4] x) => (float[A, B] {last}) {{ {nodes} }}")
    for k in range(count):
        with_weights(model, [f"w{k}"], (4 * (k % 8 + 1), 4))
    return model


@growing
def shapes_computed(count: int, extent: str) -> onnx.ModelProto:
    """Heads split and put together again, by shapes that are computed, as exporters write them."""

    def node(k: int, last: str) -> str:
        return (
            f"s{k} = Shape ({last}) g{k} = Gather <axis = 0> (s{k}, at) u{k} = Unsqueeze (g{k}, axes)"
            f" to{k} = Concat <axis = 0> (u{k}, heads) a{k} = Reshape ({last}, to{k})"
            f" t{k} = Transpose <perm = [1, 0, 2]> (a{k}) e{k} = Tanh (t{k})"
            f" b{k} = Transpose <perm = [1, 0, 2]> (e{k})"
            f" back{k} = Concat <axis = 0> (u{k}, flat) v{k} = Reshape (b{k}, back{k})"
        )

    return chain(
        count,
        node,
        f"float[{extent}, 8] x",
        "float[A, B]",
        "at = Constant <value = int64 {0}> () axes = Constant <value = int64[1] {0}> ()"
        " heads = Constant <value = int64[2] {2, 4}> () flat = Constant <value = int64[1] {8}> ()",
    )


@growing
def embeddings(count: int, extent: str) -> onnx.ModelProto:
    """Rows of tables, each table with places of its own, and their sum."""
    ports = ", ".join(f"int64[{extent}, 1] i{k}" for k in range(count))
    lines = " ".join(
        f"g{k} = Gather <axis = 0> (w{k}, i{k}) v{k} = "
        + (f"Add (v{k - 1}, g{k})" if k else "Identity (g0)")
        for k in range(count)
    )
    model = parse(f"growing ({ports}) => (float[A, B, C] v{count - 1}) {{ {lines} }}")
    return with_weights(model, [f"w{k}" for k in range(count)], (8, 4))


@growing
def choices(count: int, extent: str) -> onnx.ModelProto:
    """Elements chosen by comparisons with thresholds."""
    return chain(
        count,
        lambda k, last: (
            f"at{k} = Constant <value = float {{0.{k:03}}}> () c{k} = Less ({last}, at{k})"
            f" a{k} = Mul ({last}, at{k}) v{k} = Where (c{k}, a{k}, {last})"
        ),
        f"float[{extent}] x",
        "float[R]",
    )


@growing
def splits(count: int, extent: str) -> onnx.ModelProto:
    """Halves, of which one gates the other, and both together again."""
    return chain(
        count,
        lambda k, last: (
            f"a{k}, b{k} = Split <axis = 1, num_outputs = 2> ({last}) s{k} = Sigmoid (a{k})"
            f" g{k} = Mul (s{k}, b{k}) v{k} = Concat <axis = 1> (g{k}, a{k})"
        ),
        f"float[{extent}, 8] x",
        "float[A, B]",
    )


@growing
def reductions(count: int, extent: str) -> onnx.ModelProto:
    """Sums of rows, and of columns, taken off the values."""
    return chain(
        count,
        lambda k, last: (
            f"r{k} = ReduceMean <keepdims = 1> ({last}, axes{k % 2}) v{k} = Sub ({last}, r{k})"
        ),
        f"float[{extent}, {extent}] x",
        "float[A, B]",
        "axes0 = Constant <value = int64[1] {0}> () axes1 = Constant <value = int64[1] {1}> ()",
    )


@growing
def kept_elements(count: int, extent: str) -> onnx.ModelProto:
    """Elements kept that are larger than a bound: how many is known when the model runs."""
    return chain(
        count,
        lambda k, last: (
            f"at{k} = Constant <value = float {{-{k + 1}.5}}> () c{k} = Greater ({last}, at{k})"
            f" v{k} = Compress <axis = 0> ({last}, c{k})"
        ),
        f"float[{extent}] x",
        "float[R]",
    )


@growing
def casts(count: int, extent: str) -> onnx.ModelProto:
    """Products in double precision of values that are floats between."""
    return chain(
        count,
        lambda k, last: (
            f"h{k} = Cast <to = 11> ({last}) m{k} = MatMul (h{k}, d)"
            f" f{k} = Cast <to = 1> (m{k}) t{k} = Tanh (f{k}) v{k} = Add (t{k}, x)"
        ),
        f"float[{extent}, {extent}] x",
        "float[A, B]",
        "d = Cast <to = 11> (x)",
    )


@growing
def places_chosen(count: int, extent: str) -> onnx.ModelProto:
    """The place of the largest element, and what is there, which scales the values."""
    return chain(
        count,
        lambda k, last: (
            f"a{k} = ArgMax <axis = 0, keepdims = 1> ({last}) g{k} = Gather <axis = 0> ({last}, a{k})"
            f" s{k} = CumSum ({last}, axis) p{k} = Mul (s{k}, g{k}) v{k} = Sub (x, p{k})"
        ),
        f"float[{extent}] x",
        "float[R]",
        "axis = Constant <value = int64 {0}> ()",
    )
