# ===- random_corners.py - Operators in the corners of their definitions ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random nodes with all their attributes, and operands in which corners are likely.

Ties, NaN, no and all elements, negative axes and indices, extents of 0 and 1, each way to round,
each type of few bits. test/fuzz/corners.py asks other engines what they give and puts them into
loops. To make cases of one operator more, write a function that takes a `Draw` and gives a
`Corner`, and name it in `CORNERS`.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

Array = np.ndarray[Any, Any]

F32 = np.dtype(np.float32)
NEWEST = 23

FLOAT8 = (
    TensorProto.FLOAT8E4M3FN,
    TensorProto.FLOAT8E4M3FNUZ,
    TensorProto.FLOAT8E5M2,
    TensorProto.FLOAT8E5M2FNUZ,
)
#: Types of few bits, the version of ONNX that has them, and the least and the largest number.
NARROW = {
    TensorProto.INT4: (21, -8, 7),
    TensorProto.UINT4: (21, 0, 15),
    TensorProto.INT2: (25, -2, 1),
    TensorProto.UINT2: (25, 0, 3),
    TensorProto.INT8: (21, -128, 127),
    TensorProto.UINT8: (21, 0, 255),
    TensorProto.INT16: (21, -32768, 32767),
    TensorProto.UINT16: (21, 0, 65535),
}


#: Operands whose number of elements is that of axes.
LISTS = ("axes", "pads", "roi", "scales", "sizes")


@dataclasses.dataclass
class Corner:
    """Nodes on some operands, several sets of these of equal shapes, and the outputs' types."""

    nodes: list[onnx.NodeProto]
    sets: list[dict[str, Array]]
    outputs: dict[str, int]
    opset: int = 21
    #: Operands that are constants in every model.
    constants: dict[str, onnx.TensorProto] = dataclasses.field(default_factory=dict)
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        # What NumPy makes of one element is no array.
        self.sets = [{k: np.asarray(v) for k, v in one.items()} for one in self.sets]

    def model(self) -> onnx.ModelProto:
        """The nodes alone; what is no constant is an input."""
        inputs = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(value.dtype),
                value.shape if name in LISTS else [f"{name}_{k}" for k in range(value.ndim)],
            )
            for name, value in self.sets[0].items()
        ]
        outputs = [
            helper.make_tensor_value_info(name, elem, None) for name, elem in self.outputs.items()
        ]
        constants = []
        for name, tensor in self.constants.items():
            tensor.name = name
            constants.append(tensor)
        graph = helper.make_graph(self.nodes, "corner", inputs, outputs, constants)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(
            graph, opset_imports=imports, ir_version=11 if self.opset < 24 else 12
        )


class Draw(random.Random):
    """Draws shapes and values."""

    def shape(self, least: int = 0, most: int = 4, largest: int = 5) -> tuple[int, ...]:
        """Extents of 1 are as likely as others together; 0 is rare."""
        rank = self.randint(least, most)
        return tuple(
            0
            if self.random() < 0.03
            else self.choice((1, self.randint(2, largest), self.randint(2, largest)))
            for _ in range(rank)
        )

    def axis(self, rank: int) -> int:
        """Any axis, from either end."""
        return self.randrange(-rank, rank)

    def values(self, dtype: Any, shape: Sequence[int], *, odd: bool = True) -> Array:
        """Elements of few different values, so that many are equal; some odd ones of floats."""
        dtype = np.dtype(dtype)
        pick = np.random.default_rng(self.getrandbits(32))
        if dtype.kind == "b":
            return pick.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            least = 0 if dtype.kind == "u" else -3
            made = pick.integers(least, 4, shape).astype(dtype)
            if odd and self.random() < 0.2 and made.size:
                info = np.iinfo(dtype)
                made.flat[self.randrange(made.size)] = self.choice((info.min, info.max))
            return made
        made = (pick.integers(-4, 5, shape) / 2 if self.random() < 0.5
                else pick.normal(size=shape)).astype(dtype)  # fmt: skip
        if odd and made.size and self.random() < 0.25:
            for _ in range(self.randint(1, 2)):
                made.flat[self.randrange(made.size)] = self.choice((np.nan, np.inf, -np.inf, -0.0))
        return made

    def sets(self, make: Callable[[], dict[str, Array]], count: int = 3) -> list[dict[str, Array]]:
        """Several sets of operands."""
        return [make() for _ in range(count)]


def _node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    return helper.make_node(op, inputs, outputs, **attributes)


def _elem(dtype: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def topk(draw: Draw) -> Corner:
    """Ties are in order; the order of what is not sorted is nobody's business."""
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    dtype = draw.choice(
        (np.float32, np.float32, np.float16, np.float64, np.int32, np.int64, np.uint8, np.int8)
    )
    extent = shape[axis]
    count = draw.choice((0, extent, min(1, extent), draw.randint(0, extent)))
    is_sorted = int(draw.random() < 0.8)
    flags = {"axis": axis, "largest": draw.randrange(2), "sorted": is_sorted}
    nodes = [_node("TopK", ["x", "k"], ["y", "at"], **flags)]
    outputs = {"y": _elem(dtype), "at": TensorProto.INT64}
    if not is_sorted:
        nodes = [
            _node("TopK", ["x", "k"], ["some", "places"], **flags),
            _node("TopK", ["some", "k"], ["y", "at"], axis=axis),
        ]
        outputs.pop("at")
    return Corner(nodes, draw.sets(lambda: {
        "x": draw.values(dtype, shape, odd=bool(is_sorted) and draw.random() < 0.3),
        "k": np.array([count], np.int64)}), outputs)  # fmt: skip


def arg_extreme(draw: Draw) -> Corner:
    """The first or the last of the extreme elements."""
    shape = tuple(max(d, 1) for d in draw.shape(1))
    dtype = draw.choice(
        (np.float32, np.float32, np.float16, np.float64, np.int32, np.int64, np.uint8, np.int8)
    )
    flags = {"axis": draw.axis(len(shape)), "keepdims": draw.randrange(2),
             "select_last_index": draw.randrange(2)}  # fmt: skip
    if draw.random() < 0.2:
        del flags["axis"]
    op = draw.choice(("ArgMax", "ArgMin"))
    return Corner([_node(op, ["x"], ["y"], **flags)],
                  draw.sets(lambda: {"x": draw.values(dtype, shape)}),
                  {"y": TensorProto.INT64})  # fmt: skip


def cumulative(draw: Draw) -> Corner:
    """Sums of what stands before, from either end, along an axis that the run tells."""
    shape = draw.shape(1)
    dtype = draw.choice((np.float32, np.float32, np.float64, np.int32, np.int64))
    flags = {"exclusive": draw.randrange(2), "reverse": draw.randrange(2)}
    axis = np.array(draw.axis(len(shape)), draw.choice((np.int32, np.int64)))
    return Corner([_node("CumSum", ["x", "axis"], ["y"], **flags)],
                  draw.sets(lambda: {"x": draw.values(dtype, shape), "axis": axis}),
                  {"y": _elem(dtype)})  # fmt: skip


def _indices(draw: Draw, shape: Sequence[int], extents: Sequence[int], *, unique: bool) -> Array:
    """Coordinates along the last axis, from either end; `unique`: no place twice."""
    places = list(np.ndindex(*extents))
    count = int(np.prod(shape))
    chosen = draw.sample(places, count) if unique else draw.choices(places, k=count)
    made = np.array(chosen, np.int64).reshape(*shape, len(extents))
    negative = np.random.default_rng(draw.getrandbits(32)).random(made.shape) < 0.3
    return np.where(negative, made - np.array(extents, np.int64), made)


def scatter_nd(draw: Draw) -> Corner:
    """All reductions; places several times where one is told what comes of it."""
    shape = tuple(max(d, 1) for d in draw.shape(1))
    depth = draw.randint(1, len(shape))
    reduction = draw.choice(("none", "add", "mul", "min", "max"))
    extents = shape[:depth]
    room = int(np.prod(extents))
    many = tuple(max(d, 1) for d in draw.shape(1, 2, 3))
    if reduction == "none" and int(np.prod(many)) > room:
        many = (1,)
    dtype = draw.choice((np.float32, np.float32, np.float64, np.int32, np.int64, np.float16))

    def make() -> dict[str, Array]:
        return {"x": draw.values(dtype, shape, odd=False),
                "at": _indices(draw, many, extents, unique=reduction == "none"),
                "u": draw.values(dtype, (*many, *shape[depth:]), odd=False)}  # fmt: skip

    return Corner([_node("ScatterND", ["x", "at", "u"], ["y"], reduction=reduction)],
                  draw.sets(make), {"y": _elem(dtype)}, opset=18, tolerance=1e-3)  # fmt: skip


def scatter_elements(draw: Draw) -> Corner:
    """The same along one axis."""
    shape = tuple(max(d, 1) for d in draw.shape(1, 3))
    axis = draw.axis(len(shape))
    reduction = draw.choice(("none", "add", "mul", "min", "max"))
    small = [draw.randint(1, d) for d in shape]
    dtype = draw.choice((np.float32, np.float32, np.float64, np.int32, np.int64))
    extent = shape[axis]

    def make() -> dict[str, Array]:
        at = np.empty(small, np.int64)
        for place in np.ndindex(*(d for k, d in enumerate(small) if k != axis % len(shape))):
            row: list[Any] = list(place)
            row.insert(axis % len(shape), slice(None))
            count = small[axis]
            chosen = (draw.sample(range(extent), count) if reduction == "none"
                      else draw.choices(range(extent), k=count))  # fmt: skip
            at[tuple(row)] = [k - extent * draw.randrange(2) for k in chosen]
        return {"x": draw.values(dtype, shape, odd=False), "at": at,
                "u": draw.values(dtype, small, odd=False)}  # fmt: skip

    return Corner(
        [_node("ScatterElements", ["x", "at", "u"], ["y"], axis=axis, reduction=reduction)],
        draw.sets(make), {"y": _elem(dtype)}, opset=18, tolerance=1e-3)  # fmt: skip


def gather_nd(draw: Draw) -> Corner:
    """Coordinates within a batch."""
    shape = tuple(max(d, 1) for d in draw.shape(2))
    batch = draw.randint(0, len(shape) - 1)
    depth = draw.randint(1, len(shape) - batch)
    many = (*shape[:batch], *(max(d, 1) for d in draw.shape(0, 2, 3)))
    dtype = draw.choice((np.float32, np.int32, np.int64, bool))
    return Corner([_node("GatherND", ["x", "at"], ["y"], batch_dims=batch)],
                  draw.sets(lambda: {
                      "x": draw.values(dtype, shape),
                      "at": _indices(draw, many, shape[batch : batch + depth], unique=False)}),
                  {"y": _elem(dtype)})  # fmt: skip


def unique(draw: Draw) -> Corner:
    """Rows or elements, in order or as they come. All sets have as many different ones."""
    shape = tuple(max(d, 1) for d in draw.shape(1, 3, 4))
    dtype = draw.choice((np.float32, np.int64, np.int32, np.int8, np.float64))
    flags: dict[str, Any] = {"sorted": draw.randrange(2)}
    if draw.random() < 0.7:
        flags["axis"] = draw.axis(len(shape))
    wanted = [name for name in ("at", "inverse", "counts") if draw.random() < 0.8]
    outputs = {"y": _elem(dtype)} | {name: int(TensorProto.INT64) for name in wanted}
    names = ["y", *(name if name in wanted else "" for name in ("at", "inverse", "counts"))]
    while not names[-1]:
        names.pop()
    first = draw.values(dtype, shape, odd=False)
    # An order of elements, or of rows, that leaves as many.
    sets = [{"x": first}, {"x": -first if dtype != np.int8 else first[::-1].copy()}, {"x": first}]
    return Corner([_node("Unique", ["x"], names, **flags)], sets, outputs)


def resize(draw: Draw) -> Corner:
    """Every mode and place of elements, on any of the axes."""
    rank = draw.randint(2, 4)
    shape = tuple(draw.randint(1, 5) for _ in range(rank))
    mode = draw.choice(("nearest", "linear", "cubic"))
    place = draw.choice(("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                         "asymmetric", "tf_crop_and_resize"))  # fmt: skip
    flags: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": place}
    if mode == "nearest":
        flags["nearest_mode"] = draw.choice(
            ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        )
    axes = sorted(draw.sample(range(rank), draw.randint(1, min(2, rank))))
    if mode == "cubic":
        flags |= {"cubic_coeff_a": draw.choice((-0.75, -0.5)), "exclude_outside": draw.randrange(2)}
    inside = list(axes)
    if draw.random() < 0.5:
        flags["axes"] = [a - rank * draw.randrange(2) for a in axes]
    else:
        inside = list(range(rank))
    if place != "tf_crop_and_resize" and mode != "nearest" and draw.random() < 0.4:
        flags["antialias"] = 1
    operands: dict[str, Array] = {}
    names = ["x", "", "", ""]
    if place == "tf_crop_and_resize":
        flags["extrapolation_value"] = draw.choice((0.0, 7.0))
        starts = [round(draw.uniform(-0.2, 0.4), 2) if a in axes else 0.0 for a in inside]
        ends = [round(draw.uniform(0.6, 1.2), 2) if a in axes else 1.0 for a in inside]
        operands["roi"] = np.array([*starts, *ends], np.float32)
        names[1] = "roi"
    if draw.random() < 0.5:
        scales = [
            draw.choice((0.5, 0.75, 1.5, 2.0, 3.0, 1.0, 0.6)) if a in axes else 1.0 for a in inside
        ]
        scales = [s if int(shape[a] * s) else 1.0 for a, s in zip(inside, scales, strict=True)]
        operands["scales"] = np.array(scales, np.float32)
        names[2] = "scales"
    else:
        sizes = [draw.randint(1, 7) if a in axes else shape[a] for a in inside]
        operands["sizes"] = np.array(sizes, np.int64)
        names[3] = "sizes"
        if "axes" in flags and draw.random() < 0.3:
            flags["keep_aspect_ratio_policy"] = draw.choice(
                ("stretch", "not_larger", "not_smaller")
            )
            # onnxruntime keeps no ratio along axes that count from the end.
            flags["axes"] = axes
    while not names[-1]:
        names.pop()
    dtype = draw.choice((np.float32, np.float32, np.float64))
    return Corner([_node("Resize", names, ["y"], **flags)],
                  draw.sets(lambda: {"x": draw.values(dtype, shape, odd=False), **operands}),
                  {"y": _elem(dtype)}, opset=19, tolerance=1e-3)  # fmt: skip


def einsum(draw: Draw) -> Corner:
    """Diagonals, letters of extent 1 in some operands, an ellipsis."""
    letters = draw.sample("abcdeXY", draw.randint(1, 4))
    extents = {letter: draw.choice((1, 2, 3, 4)) for letter in letters}
    dots = (
        tuple(draw.choice((1, 2, 3)) for _ in range(draw.randint(1, 2)))
        if draw.random() < 0.4
        else ()
    )
    dtype = draw.choice((np.float32, np.float32, np.float64, np.int32, np.int64))
    terms, shapes = [], []
    for _ in range(draw.randint(1, 3)):
        term = draw.choices(letters, k=draw.randint(0, 3))
        shape: list[int] = []
        once = [letter for letter in term if term.count(letter) == 1]
        for letter in term:
            shape.append(1 if letter in once and draw.random() < 0.15 else extents[letter])
        if dots and (draw.random() < 0.8 or not terms):
            at = draw.randint(0, len(term))
            own = [1 if draw.random() < 0.2 else d for d in dots]
            shape[at:at] = own
            term.insert(at, "...")
        terms.append("".join(term))
        shapes.append(tuple(shape))
    equation = ",".join(terms)
    used = sorted({letter for term in terms for letter in term if letter != "."})
    has_dots = "..." in equation
    if draw.random() < 0.7:
        kept = draw.sample(used, draw.randint(0, len(used)))
        if has_dots:
            kept.insert(draw.randint(0, len(kept)), "...")
        equation += "->" + "".join(kept)
    names = [f"x{k}" for k in range(len(terms))]
    return Corner([_node("Einsum", names, ["y"], equation=equation)],
                  draw.sets(lambda: {
                      name: draw.values(dtype, shape, odd=False)
                      for name, shape in zip(names, shapes, strict=True)}),
                  {"y": _elem(dtype)}, tolerance=1e-3)  # fmt: skip


def _scales(draw: Draw, shape: Sequence[int], flags: dict[str, Any]) -> tuple[int, ...]:
    """The shape of scales: one for all, for each index of an axis, or for each block of it."""
    kind = draw.choice(("all", "axis", "block"))
    if kind == "all" or not shape:
        return ()
    axis = draw.axis(len(shape))
    flags["axis"] = axis
    if kind == "axis":
        return (shape[axis],)
    block = draw.randint(1, max(shape[axis], 1))
    flags["block_size"] = block
    made = list(shape)
    made[axis] = -(-shape[axis] // block)
    return tuple(made)


def quantize(draw: Draw) -> Corner:
    """To a type of few bits and back; the numbers that lie between two are rounded to even."""
    shape = tuple(max(d, 1) for d in draw.shape(0, 3, 6))
    elem = draw.choice(tuple(NARROW))
    opset, least, most = NARROW[elem]
    flags: dict[str, Any] = {}
    scales = _scales(draw, shape, flags)
    more: dict[str, Any] = {}
    has_zero = draw.random() < 0.6
    constants = {}
    if has_zero:
        pick = np.random.default_rng(draw.getrandbits(32))
        zeros = pick.integers(least, most + 1, scales)
        constants["zero"] = helper.make_tensor("zero", elem, scales, zeros.ravel().tolist())
    else:
        more["output_dtype"] = elem
    zero = ["zero"] if has_zero else []
    nodes = [
        _node("QuantizeLinear", ["x", "scale", *zero], ["q"], **flags, **more),
        _node("DequantizeLinear", ["q", "scale", *zero], ["y"], **flags),
        _node("Cast", ["q"], ["whole"], to=TensorProto.INT32),
    ]
    outputs = {"y": int(TensorProto.FLOAT), "whole": int(TensorProto.INT32)}

    def make() -> dict[str, Array]:
        scale = np.abs(draw.values(np.float32, scales, odd=False)) + np.float32(0.25)
        x = draw.values(np.float32, shape, odd=False) * np.float32(draw.choice((1, 1, 5, 100, 1e5)))
        return {"x": x, "scale": scale}

    return Corner(nodes, draw.sets(make), outputs, opset, constants)


def narrow_cast(draw: Draw) -> Corner:
    """To a type of few bits and back, also out of range."""
    shape = draw.shape(0, 3, 6)
    elem = draw.choice((*FLOAT8, *FLOAT8, *NARROW, TensorProto.FLOAT4E2M1))
    opset = 23 if elem == TensorProto.FLOAT4E2M1 else NARROW.get(elem, (21,))[0]
    flags = {"saturate": draw.randrange(2)} if elem in FLOAT8 else {}
    isfloat = elem in FLOAT8 or elem == TensorProto.FLOAT4E2M1
    dtype = draw.choice((np.float32, np.float32, np.float16)) if isfloat else (
        draw.choice((np.int32, np.int64, np.int8)))  # fmt: skip
    back = _elem(dtype)
    nodes = [
        _node("Cast", ["x"], ["small"], to=elem, **flags),
        _node("Cast", ["small"], ["y"], to=back),
    ]

    def make() -> dict[str, Array]:
        with np.errstate(all="ignore"):
            x = draw.values(dtype, shape, odd=elem in FLOAT8)
            if isfloat:
                x = (x * draw.choice((0.001, 0.1, 1, 30, 300, 60000))).astype(dtype)
            elif draw.random() < 0.5:
                x = (x * 5).astype(dtype)
        return {"x": x}

    return Corner(nodes, draw.sets(make), {"y": back}, opset)


def quantize_float8(draw: Draw) -> Corner:
    """To a float of 8 bits and back."""
    shape = tuple(max(d, 1) for d in draw.shape(0, 3, 6))
    elem = draw.choice(FLOAT8)
    flags: dict[str, Any] = {}
    scales = _scales(draw, shape, flags)
    constants = {"zero": helper.make_tensor("zero", elem, scales, [0.0] * int(np.prod(scales)))}
    nodes = [
        _node("QuantizeLinear", ["x", "scale", "zero"], ["q"], **flags, saturate=draw.randrange(2)),
        _node("DequantizeLinear", ["q", "scale", "zero"], ["y"], **flags),
    ]

    def make() -> dict[str, Array]:
        scale = np.abs(draw.values(np.float32, scales, odd=False)) + np.float32(0.25)
        x = draw.values(np.float32, shape, odd=False) * np.float32(draw.choice((1, 1, 5, 100, 1e5)))
        return {"x": x, "scale": scale}

    return Corner(nodes, draw.sets(make), {"y": int(TensorProto.FLOAT)}, 21, constants)


def pad(draw: Draw) -> Corner:
    """Every mode, on some axes, by negative numbers, too."""
    shape = tuple(max(d, 2) for d in draw.shape(1, 3))
    mode = draw.choice(("constant", "reflect", "edge", "wrap"))
    axes = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
    most = [shape[a] - 1 for a in axes]
    least = 0 if mode != "constant" else -1
    pads = [draw.randint(least, m) for m in (*most, *most)]
    operands = {"pads": np.array(pads, np.int64)}
    names = ["x", "pads"]
    dtype = draw.choice((np.float32, np.int32, np.int64, np.float64))
    if draw.random() < 0.5:
        operands["value"] = draw.values(dtype, (), odd=False)
        names.append("value")
    if len(axes) < len(shape) or draw.random() < 0.5:
        operands["axes"] = np.array([a - len(shape) * draw.randrange(2) for a in axes], np.int64)
        names += [""] * (3 - len(names)) + ["axes"]
    else:
        order = np.argsort(axes)
        operands["pads"] = operands["pads"].reshape(2, -1)[:, order].ravel()
    return Corner([_node("Pad", names, ["y"], mode=mode)],
                  draw.sets(lambda: {"x": draw.values(dtype, shape), **operands}),
                  {"y": _elem(dtype)})  # fmt: skip


def pool(draw: Draw) -> Corner:
    """Windows that reach beyond the borders, with gaps, of rounded numbers of places."""
    count = draw.randint(1, 2)
    shape = (draw.randint(1, 2), draw.randint(1, 3), *(draw.randint(3, 7) for _ in range(count)))
    kernel = [draw.randint(1, 3) for _ in range(count)]
    dilations = [draw.randint(1, 2) if k < 3 else 1 for k in kernel]
    pads = [draw.randint(0, k - 1) for k in (*kernel, *kernel)]
    flags: dict[str, Any] = {"kernel_shape": kernel, "strides": [draw.randint(1, 3) for _ in kernel],
                             "ceil_mode": draw.randrange(2)}  # fmt: skip
    op = draw.choice(("MaxPool", "MaxPool", "AveragePool", "LpPool"))
    flags |= {"dilations": dilations}
    if draw.random() < 0.3:
        flags["auto_pad"] = draw.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
        # Windows with gaps between them would ask for negative pads, which engines take otherwise.
        flags["strides"] = [draw.randint(1, k) for k in kernel]
        flags["dilations"] = [1] * count
    else:
        flags["pads"] = pads
    names, outputs = ["y"], {"y": int(TensorProto.FLOAT)}
    if op == "AveragePool":
        flags["count_include_pad"] = draw.randrange(2)
    elif op == "LpPool":
        flags["p"] = draw.randint(1, 3)
    elif draw.random() < 0.4 and "auto_pad" not in flags:
        names.append("at")
        outputs["at"] = int(TensorProto.INT64)
        flags["storage_order"] = 0
    return Corner([_node(op, ["x"], names, **flags)],
                  draw.sets(lambda: {"x": draw.values(np.float32, shape, odd=False)}),
                  outputs, opset=22, tolerance=1e-4)  # fmt: skip


def grid_sample(draw: Draw) -> Corner:
    """Places on, between and outside of elements."""
    shape = (draw.randint(1, 2), draw.randint(1, 2), draw.randint(1, 4), draw.randint(1, 4))
    grid = (shape[0], draw.randint(1, 3), draw.randint(1, 3), 2)
    flags = {"mode": draw.choice(("linear", "nearest", "cubic")),
             "padding_mode": draw.choice(("zeros", "border", "reflection")),
             "align_corners": draw.randrange(2)}  # fmt: skip

    def make() -> dict[str, Array]:
        pick = np.random.default_rng(draw.getrandbits(32))
        return {"x": draw.values(np.float32, shape, odd=False),
                "grid": pick.uniform(-1.4, 1.4, grid).astype(np.float32)}  # fmt: skip

    return Corner([_node("GridSample", ["x", "grid"], ["y"], **flags)],
                  draw.sets(make), {"y": int(TensorProto.FLOAT)}, opset=22, tolerance=1e-3)  # fmt: skip


def reduce(draw: Draw) -> Corner:
    """Any axes, none, all by an empty list; NaN in extremes."""
    shape = draw.shape(0, 4)
    op = draw.choice(("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1",
                      "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"))  # fmt: skip
    dtype = draw.choice((np.float32, np.float32, np.float64, np.int32, np.int64))
    if op in ("ReduceMean", "ReduceL2", "ReduceLogSumExp"):
        dtype = np.float32
    if op in ("ReduceMax", "ReduceMin", "ReduceMean") or dtype != np.float32:
        shape = tuple(max(d, 1) for d in shape)
    flags = {"keepdims": draw.randrange(2), "noop_with_empty_axes": draw.randrange(2)}
    operands, names = {}, ["x"]
    if draw.random() < 0.8:
        axes = draw.sample(range(len(shape)), draw.randint(0, len(shape)))
        operands["axes"] = np.array([a - len(shape) * draw.randrange(2) for a in axes], np.int64)
        names.append("axes")
    return Corner([_node(op, names, ["y"], **flags)],
                  draw.sets(lambda: {"x": draw.values(dtype, shape, odd=op[6:] in ("Max", "Min")),
                                     **operands}),
                  {"y": _elem(dtype)}, tolerance=1e-4)  # fmt: skip


#: What makes cases, by name.
CORNERS: dict[str, Callable[[Draw], Corner]] = {
    made.__name__: made
    for made in (
        topk,
        arg_extreme,
        cumulative,
        scatter_nd,
        scatter_elements,
        gather_nd,
        unique,
        resize,
        einsum,
        quantize,
        quantize_float8,
        narrow_cast,
        pad,
        pool,
        grid_sample,
        reduce,
    )
}


def corner(name: str, seed: int) -> Corner:
    """The case of an operator that a seed makes."""
    return CORNERS[name](Draw(f"{name} {seed}"))
