# ===- _network_enums.py - Enumerations of networks -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
# Made by utils/network_table.py from include/loopc/Frontend/Network; ./dev docs writes it again.
"""Enumerators as TensorRT spells them."""

from loopc._enums import Named


class DataType(Named):
    """Element types; from DOUBLE on they are loopc's own."""

    FLOAT = 0
    HALF = 1
    INT8 = 2
    INT32 = 3
    BOOL = 4
    UINT8 = 5
    FP8 = 6
    BF16 = 7
    INT64 = 8
    INT4 = 9
    FP4 = 10
    E8M0 = 11
    DOUBLE = 100
    INT16 = 101
    UINT16 = 102
    UINT32 = 103
    UINT64 = 104
    UINT4 = 105
    INT2 = 106
    UINT2 = 107
    FP8_E5M2 = 108
    FP8_E4M3FNUZ = 109
    FP8_E5M2FNUZ = 110
    COMPLEX64 = 111
    COMPLEX128 = 112
    STRING = 113


class LayerType(Named):
    """Kinds of layers; NODE is loopc's own."""

    CONVOLUTION = 0
    CAST = 1
    ACTIVATION = 2
    POOLING = 3
    LRN = 4
    SCALE = 5
    SOFTMAX = 6
    DECONVOLUTION = 7
    CONCATENATION = 8
    ELEMENTWISE = 9
    UNARY = 11
    PADDING = 12
    SHUFFLE = 13
    REDUCE = 14
    TOPK = 15
    GATHER = 16
    MATRIX_MULTIPLY = 17
    RAGGED_SOFTMAX = 18
    CONSTANT = 19
    IDENTITY = 20
    SLICE = 22
    SHAPE = 23
    PARAMETRIC_RELU = 24
    RESIZE = 25
    TRIP_LIMIT = 26
    RECURRENCE = 27
    ITERATOR = 28
    LOOP_OUTPUT = 29
    SELECT = 30
    FILL = 31
    QUANTIZE = 32
    DEQUANTIZE = 33
    CONDITION = 34
    CONDITIONAL_INPUT = 35
    CONDITIONAL_OUTPUT = 36
    SCATTER = 37
    EINSUM = 38
    ASSERTION = 39
    ONE_HOT = 40
    NON_ZERO = 41
    GRID_SAMPLE = 42
    NMS = 43
    REVERSE_SEQUENCE = 44
    NORMALIZATION = 45
    SQUEEZE = 47
    UNSQUEEZE = 48
    CUMULATIVE = 49
    NODE = 1000


class ElementWiseOperation(Named):
    """Of two values; ADD is what TensorRT's guide calls SUM."""

    SUM = 0
    PROD = 1
    MAX = 2
    MIN = 3
    SUB = 4
    DIV = 5
    POW = 6
    FLOOR_DIV = 7
    AND = 8
    OR = 9
    XOR = 10
    EQUAL = 11
    GREATER = 12
    LESS = 13
    ADD = 0


class UnaryOperation(Named):
    """Of one value."""

    EXP = 0
    LOG = 1
    SQRT = 2
    RECIP = 3
    ABS = 4
    NEG = 5
    SIN = 6
    COS = 7
    TAN = 8
    SINH = 9
    COSH = 10
    ASIN = 11
    ACOS = 12
    ATAN = 13
    ASINH = 14
    ACOSH = 15
    ATANH = 16
    CEIL = 17
    FLOOR = 18
    ERF = 19
    NOT = 20
    SIGN = 21
    ROUND = 22
    ISINF = 23
    ISNAN = 24


class ActivationType(Named):
    """The activations; docs/NetworkLayers.md has their formulas."""

    RELU = 0
    SIGMOID = 1
    TANH = 2
    LEAKY_RELU = 3
    ELU = 4
    SELU = 5
    SOFTSIGN = 6
    SOFTPLUS = 7
    CLIP = 8
    HARD_SIGMOID = 9
    SCALED_TANH = 10
    THRESHOLDED_RELU = 11
    GELU_ERF = 12
    GELU_TANH = 13


class MatrixOperation(Named):
    """What becomes of an operand of a product."""

    NONE = 0
    TRANSPOSE = 1
    VECTOR = 2


class ReduceOperation(Named):
    """How axes are reduced."""

    SUM = 0
    PROD = 1
    MAX = 2
    MIN = 3
    AVG = 4


class SampleMode(Named):
    """What a slice reads beyond the bounds."""

    STRICT_BOUNDS = 0
    WRAP = 1
    CLAMP = 2
    FILL = 3
    REFLECT = 4
    DEFAULT = 0


class GatherMode(Named):
    """What indices mean."""

    DEFAULT = 0
    ELEMENT = 1
    ND = 2


class ScatterMode(Named):
    """What indices mean."""

    ELEMENT = 0
    ND = 1


class TopKOperation(Named):
    """The largest or the smallest."""

    MAX = 0
    MIN = 1


class FillOperation(Named):
    """The rule of a fill."""

    LINSPACE = 0
    RANDOM_UNIFORM = 1
    RANDOM_NORMAL = 2


class PoolingType(Named):
    """What becomes of a window."""

    MAX = 0
    AVERAGE = 1
    MAX_AVERAGE_BLEND = 2


class PaddingMode(Named):
    """Padding of windows."""

    EXPLICIT_ROUND_DOWN = 0
    EXPLICIT_ROUND_UP = 1
    SAME_UPPER = 2
    SAME_LOWER = 3


class InterpolationMode(Named):
    """How values between elements are found."""

    NEAREST = 0
    LINEAR = 1
    CUBIC = 2


class ScaleMode(Named):
    """How many numbers a scale has."""

    UNIFORM = 0
    CHANNEL = 1
    ELEMENTWISE = 2


class ResizeCoordinateTransformation(Named):
    """Which place of the input an element of the result is."""

    ALIGN_CORNERS = 0
    ASYMMETRIC = 1
    HALF_PIXEL = 2


class ResizeSelector(Named):
    """Where a result of one element is read."""

    FORMULA = 0
    UPPER = 1


class ResizeRoundMode(Named):
    """Which neighbour is the nearest."""

    HALF_UP = 0
    HALF_DOWN = 1
    FLOOR = 2
    CEIL = 3


class BoundingBoxFormat(Named):
    """What the four numbers of a box are."""

    CORNER_PAIRS = 0
    CENTER_SIZES = 1


class CumulativeOperation(Named):
    """What runs along an axis."""

    SUM = 0


class LoopOutput(Named):
    """What leaves a loop."""

    LAST_VALUE = 0
    CONCATENATE = 1
    REVERSE = 2


class TripLimit(Named):
    """What ends a loop."""

    COUNT = 0
    WHILE = 1


#: NumPy's (or ml_dtypes') names of element types.
NUMPY = {
    "float32": DataType.FLOAT,
    "float16": DataType.HALF,
    "int8": DataType.INT8,
    "int32": DataType.INT32,
    "bool": DataType.BOOL,
    "uint8": DataType.UINT8,
    "float8_e4m3fn": DataType.FP8,
    "bfloat16": DataType.BF16,
    "int64": DataType.INT64,
    "int4": DataType.INT4,
    "float4_e2m1fn": DataType.FP4,
    "float8_e8m0fnu": DataType.E8M0,
    "float64": DataType.DOUBLE,
    "int16": DataType.INT16,
    "uint16": DataType.UINT16,
    "uint32": DataType.UINT32,
    "uint64": DataType.UINT64,
    "uint4": DataType.UINT4,
    "int2": DataType.INT2,
    "uint2": DataType.UINT2,
    "float8_e5m2": DataType.FP8_E5M2,
    "float8_e4m3fnuz": DataType.FP8_E4M3FNUZ,
    "float8_e5m2fnuz": DataType.FP8_E5M2FNUZ,
    "complex64": DataType.COMPLEX64,
    "complex128": DataType.COMPLEX128,
}
#: Bits of elements of less than a byte.
BITS = {
    DataType.INT4: 4,
    DataType.FP4: 4,
    DataType.UINT4: 4,
    DataType.INT2: 2,
    DataType.UINT2: 2,
}
