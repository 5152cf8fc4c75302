# ===- _network_layers.py - Layers of networks ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
# Made by utils/network_table.py from include/loopc/Frontend/Network; ./dev docs writes it again.
"""The kinds of layers. Names are those of TensorRT's Python API."""

from loopc import _network_enums as e
from loopc._network_base import (
    Array,
    Bool,
    Choice,
    Float,
    IIfConditionalBoundaryLayer,
    ILayer,
    ILoopBoundaryLayer,
    Int,
    Ints,
    Paddings,
    Text,
)


class IConstantLayer(ILayer):
    """A constant."""

    KIND = "Constant"
    TYPE = e.LayerType.CONSTANT
    weights = Array("value", "Its values and their shape.")


class IElementWiseLayer(ILayer):
    """Two inputs of one rank and type; extents of 1 are stretched."""

    KIND = "ElementWise"
    TYPE = e.LayerType.ELEMENTWISE
    op = Choice("operation", e.ElementWiseOperation, "The operation.")


class IUnaryLayer(ILayer):
    """One value to one value."""

    KIND = "Unary"
    TYPE = e.LayerType.UNARY
    op = Choice("operation", e.UnaryOperation, "The operation.")


class IActivationLayer(ILayer):
    """An activation."""

    KIND = "Activation"
    TYPE = e.LayerType.ACTIVATION
    type = Choice("type", e.ActivationType, "The activation.")
    alpha = Float("alpha", "First parameter.")
    beta = Float("beta", "Second parameter.")


class IMatrixMultiplyLayer(ILayer):
    """A product of matrices, or of a matrix and a vector."""

    KIND = "MatrixMultiply"
    TYPE = e.LayerType.MATRIX_MULTIPLY
    op0 = Choice("op0", e.MatrixOperation, "Of input 0.")
    op1 = Choice("op1", e.MatrixOperation, "Of input 1.")


class IConvolutionLayer(ILayer):
    """A convolution; kernel and bias are weights, or inputs 1 and 2."""

    KIND = "Convolution"
    TYPE = e.LayerType.CONVOLUTION
    num_output_maps = Int("nb_output_maps", "Number of output maps.")
    kernel_size_nd = Ints("kernel_size", "Extents of the kernel.")
    stride_nd = Ints("stride", "Steps of the window.")
    pre_padding = Ints("pre_padding", "Padding in front.")
    post_padding = Ints("post_padding", "Padding behind.")
    padding_mode = Choice("padding_mode", e.PaddingMode, "How padding is found.")
    dilation_nd = Ints("dilation", "Steps within the kernel.")
    num_groups = Int("nb_groups", "Number of groups.")
    kernel = Array("kernel", "The weights.")
    bias = Array("bias", "A value for each output map.")
    padding_nd = Paddings("pre_padding", "Padding, the same at both ends.")


class IDeconvolutionLayer(ILayer):
    """The transpose of a convolution."""

    KIND = "Deconvolution"
    TYPE = e.LayerType.DECONVOLUTION
    num_output_maps = Int("nb_output_maps", "Number of output maps.")
    kernel_size_nd = Ints("kernel_size", "Extents of the kernel.")
    stride_nd = Ints("stride", "Steps of the window.")
    pre_padding = Ints("pre_padding", "Padding in front.")
    post_padding = Ints("post_padding", "Padding behind.")
    padding_mode = Choice("padding_mode", e.PaddingMode, "How padding is found.")
    dilation_nd = Ints("dilation", "Steps within the kernel.")
    num_groups = Int("nb_groups", "Number of groups.")
    kernel = Array("kernel", "The weights.")
    bias = Array("bias", "A value for each output map.")
    padding_nd = Paddings("pre_padding", "Padding, the same at both ends.")


class IPoolingLayer(ILayer):
    """Pooling over windows of the spatial axes."""

    KIND = "Pooling"
    TYPE = e.LayerType.POOLING
    type = Choice("type", e.PoolingType, "What becomes of a window.")
    window_size_nd = Ints("window_size", "Extents of the window.")
    stride_nd = Ints("stride", "Steps of the window.")
    pre_padding = Ints("pre_padding", "Padding in front.")
    post_padding = Ints("post_padding", "Padding behind.")
    padding_mode = Choice("padding_mode", e.PaddingMode, "How padding is found.")
    blend_factor = Float("blend_factor", "Share of the average in a blend.")
    average_count_excludes_padding = Bool(
        "average_count_excludes_padding", "Whether averages leave padding out."
    )
    padding_nd = Paddings("pre_padding", "Padding, the same at both ends.")


class IReduceLayer(ILayer):
    """Reduces axes."""

    KIND = "Reduce"
    TYPE = e.LayerType.REDUCE
    op = Choice("operation", e.ReduceOperation, "The operation.")
    axes = Int("axes", "A bit for each axis.")
    keep_dims = Bool("keep_dimensions", "Whether axes of extent 1 stay.")


class IShuffleLayer(ILayer):
    """Transposes, reshapes and transposes again, as far as it is set."""

    KIND = "Shuffle"
    TYPE = e.LayerType.SHUFFLE
    first_transpose = Ints("first_transpose", "Order of the axes, first.")
    reshape_dims = Ints("reshape_dimensions", "Extents; -1 for what is left, 0 for the same.")
    second_transpose = Ints("second_transpose", "Order of the axes, last.")
    zero_is_placeholder = Bool(
        "zero_is_placeholder", "Whether an extent of 0 means the same as before."
    )


class ISliceLayer(ILayer):
    """Elements from a start on, in steps; inputs 1 to 3 may give start, size and stride."""

    KIND = "Slice"
    TYPE = e.LayerType.SLICE
    start = Ints("start", "The first elements.")
    shape = Ints("size", "Numbers of elements.")
    stride = Ints("stride", "Steps.")
    mode = Choice("mode", e.SampleMode, "What is read beyond the bounds.")
    axes = Ints("axes", "The axes that are sliced.")


class IConcatenationLayer(ILayer):
    """Joins along an axis that is there."""

    KIND = "Concatenation"
    TYPE = e.LayerType.CONCATENATION
    axis = Int("axis", "The axis.")


class IGatherLayer(ILayer):
    """Elements of input 0 at the indices of input 1."""

    KIND = "Gather"
    TYPE = e.LayerType.GATHER
    axis = Int("axis", "The axis.")
    num_elementwise_dims = Int("nb_elementwise_dims", "Axes that both go through together.")
    mode = Choice("mode", e.GatherMode, "What indices mean.")


class ISelectLayer(ILayer):
    """Input 1 where input 0 is true, else input 2."""

    KIND = "Select"
    TYPE = e.LayerType.SELECT


class IShapeLayer(ILayer):
    """The extents, as INT64."""

    KIND = "Shape"
    TYPE = e.LayerType.SHAPE


class IIdentityLayer(ILayer):
    """The input itself."""

    KIND = "Identity"
    TYPE = e.LayerType.IDENTITY


class ICastLayer(ILayer):
    """The input in another type."""

    KIND = "Cast"
    TYPE = e.LayerType.CAST
    to_type = Choice("to_type", e.DataType, "The type.")


class ISoftMaxLayer(ILayer):
    """Softmax over one axis."""

    KIND = "SoftMax"
    TYPE = e.LayerType.SOFTMAX
    axes = Int("axes", "The bit of the axis.")


class ITopKLayer(ILayer):
    """Values and indices of the largest or smallest; input 1 may be k."""

    KIND = "TopK"
    TYPE = e.LayerType.TOPK
    op = Choice("operation", e.TopKOperation, "Which.")
    k = Int("k", "How many.")
    axes = Int("axes", "The bit of the axis.")
    indices_type = Choice("indices_type", e.DataType, "The type of the indices.")


class IFillLayer(ILayer):
    """Values by a rule; input 0 may be the shape, inputs 1 and 2 alpha and beta."""

    KIND = "Fill"
    TYPE = e.LayerType.FILL
    operation = Choice("operation", e.FillOperation, "The rule.")
    shape = Ints("dimensions", "The extents.")
    alpha = Float("alpha", "The start.")
    beta = Float("beta", "The step.")
    to_type = Choice("to_type", e.DataType, "The type.")


class IScatterLayer(ILayer):
    """Input 0 with the updates of input 2 at the indices of input 1."""

    KIND = "Scatter"
    TYPE = e.LayerType.SCATTER
    mode = Choice("mode", e.ScatterMode, "What indices mean.")
    axis = Int("axis", "The axis.")


class INormalizationLayer(ILayer):
    """Normalisation over axes, times a scale, plus a bias."""

    KIND = "Normalization"
    TYPE = e.LayerType.NORMALIZATION
    axes = Int("axes", "A bit for each axis.")
    epsilon = Float("epsilon", "Added to the variance.")
    num_groups = Int("nb_groups", "Number of groups of channels.")


class IEinsumLayer(ILayer):
    """A sum of products by an equation."""

    KIND = "Einsum"
    TYPE = e.LayerType.EINSUM
    equation = Text("equation", "The equation.")


class IOneHotLayer(ILayer):
    """values[1] at the indices along a new axis, values[0] elsewhere."""

    KIND = "OneHot"
    TYPE = e.LayerType.ONE_HOT
    axis = Int("axis", "The new axis.")


class INonZeroLayer(ILayer):
    """The indices of elements that are not zero, as [rank, count]."""

    KIND = "NonZero"
    TYPE = e.LayerType.NON_ZERO
    indices_type = Choice("indices_type", e.DataType, "The type of the indices.")


class IParametricReLULayer(ILayer):
    """x >= 0 ? x : slope x."""

    KIND = "ParametricReLU"
    TYPE = e.LayerType.PARAMETRIC_RELU


class ISqueezeLayer(ILayer):
    """Without the axes that input 1, a constant, names."""

    KIND = "Squeeze"
    TYPE = e.LayerType.SQUEEZE


class IUnsqueezeLayer(ILayer):
    """With new axes where input 1, a constant, says."""

    KIND = "Unsqueeze"
    TYPE = e.LayerType.UNSQUEEZE


class ICumulativeLayer(ILayer):
    """Running sums along the axis that input 1 says."""

    KIND = "Cumulative"
    TYPE = e.LayerType.CUMULATIVE
    op = Choice("operation", e.CumulativeOperation, "The operation.")
    exclusive = Bool("exclusive", "Whether an element is left out of its own sum.")
    reverse = Bool("reverse", "Whether it goes from the end.")


class IReverseSequenceLayer(ILayer):
    """Reverses the first elements of each item of a batch."""

    KIND = "ReverseSequence"
    TYPE = e.LayerType.REVERSE_SEQUENCE
    batch_axis = Int("batch_axis", "The axis of the batch.")
    sequence_axis = Int("sequence_axis", "The axis of the sequence.")


class ILRNLayer(ILayer):
    """Local response normalisation over channels."""

    KIND = "LRN"
    TYPE = e.LayerType.LRN
    window_size = Int("window_size", "Number of channels, odd.")
    alpha = Float("alpha", "Factor of the squares.")
    beta = Float("beta", "The power.")
    k = Float("k", "Added to the squares.")


class IGridSampleLayer(ILayer):
    """Values of input 0 at the places that input 1 gives."""

    KIND = "GridSample"
    TYPE = e.LayerType.GRID_SAMPLE
    interpolation_mode = Choice(
        "interpolation_mode", e.InterpolationMode, "How values between elements are found."
    )
    align_corners = Bool("align_corners", "Whether -1 and 1 are centers of elements, not edges.")
    sample_mode = Choice("sample_mode", e.SampleMode, "What is read beyond the bounds.")


class INMSLayer(ILayer):
    """Boxes that overlap no better one of their class."""

    KIND = "NMS"
    TYPE = e.LayerType.NMS
    bounding_box_format = Choice(
        "bounding_box_format", e.BoundingBoxFormat, "What the four numbers of a box are."
    )


class IScaleLayer(ILayer):
    """(x * scale + shift) to the power of `power`."""

    KIND = "Scale"
    TYPE = e.LayerType.SCALE
    mode = Choice("mode", e.ScaleMode, "How many numbers there are.")
    shift = Array("shift", "Added.")
    scale = Array("scale", "The factor.")
    power = Array("power", "The power.")
    channel_axis = Int("channel_axis", "The axis of the channels.")


class IPaddingLayer(ILayer):
    """Zeros before and behind the last axes."""

    KIND = "Padding"
    TYPE = e.LayerType.PADDING
    pre_padding_nd = Ints("pre_padding", "Zeros in front, for each of the last axes.")
    post_padding_nd = Ints("post_padding", "Zeros behind.")
    padding_nd = Paddings("pre_padding", "Padding, the same at both ends.")


class IResizeLayer(ILayer):
    """Interpolates."""

    KIND = "Resize"
    TYPE = e.LayerType.RESIZE
    shape = Ints("output_dimensions", "Extents of the result.")
    scales = Array("scales", "Factors of the extents, FLOAT.")
    resize_mode = Choice(
        "resize_mode", e.InterpolationMode, "How values between elements are found."
    )
    coordinate_transformation = Choice(
        "coordinate_transformation", e.ResizeCoordinateTransformation, "Which place is which."
    )
    selector_for_single_pixel = Choice(
        "selector_for_single_pixel", e.ResizeSelector, "Where a result of one element is read."
    )
    nearest_rounding = Choice(
        "nearest_rounding", e.ResizeRoundMode, "Which neighbour is the nearest."
    )
    exclude_outside = Bool("exclude_outside", "Whether what lies outside has no weight.")
    cubic_coeff = Float("cubic_coeff", "The number of cubic interpolation.")


class IQuantizeLayer(ILayer):
    """Divided by a scale and rounded."""

    KIND = "Quantize"
    TYPE = e.LayerType.QUANTIZE
    axis = Int("axis", "The axis of a scale that is a vector.")
    to_type = Choice("to_type", e.DataType, "The type, INT8, FP8 or INT4.")


class IDequantizeLayer(ILayer):
    """Rounded numbers times their scale."""

    KIND = "Dequantize"
    TYPE = e.LayerType.DEQUANTIZE
    axis = Int("axis", "The axis of a scale that is a vector.")
    to_type = Choice("to_type", e.DataType, "The type.")


class IRaggedSoftMaxLayer(ILayer):
    """Softmax over the first elements of the last axis."""

    KIND = "RaggedSoftMax"
    TYPE = e.LayerType.RAGGED_SOFTMAX


class IAssertionLayer(ILayer):
    """Ends the run where its input does not hold."""

    KIND = "Assertion"
    TYPE = e.LayerType.ASSERTION
    message = Text("message", "What the run says then.")


class INodeLayer(ILayer):
    """An operator of ONNX in its newest version, for what has no layer of its own."""

    KIND = "Node"
    TYPE = e.LayerType.NODE
    op_type = Text("op_type", "The operator.")


class ITripLimitLayer(ILoopBoundaryLayer):
    """A limit of the trips."""

    KIND = "TripLimit"
    TYPE = e.LayerType.TRIP_LIMIT
    kind = Choice("limit", e.TripLimit, "The kind of limit.")


class IIteratorLayer(ILoopBoundaryLayer):
    """Gives each trip its slice of a tensor."""

    KIND = "Iterator"
    TYPE = e.LayerType.ITERATOR
    axis = Int("axis", "The axis.")
    reverse = Bool("reverse", "Whether it goes from the end.")


class IRecurrenceLayer(ILoopBoundaryLayer):
    """Its initial value, then what the trip before computed."""

    KIND = "Recurrence"
    TYPE = e.LayerType.RECURRENCE


class ILoopOutputLayer(ILoopBoundaryLayer):
    """A value that leaves the loop; input 1 is the length of its new axis."""

    KIND = "LoopOutput"
    TYPE = e.LayerType.LOOP_OUTPUT
    kind = Choice("output", e.LoopOutput, "What leaves the loop.")
    axis = Int("axis", "The new axis.")


class IConditionLayer(IIfConditionalBoundaryLayer):
    """The condition."""

    KIND = "Condition"
    TYPE = e.LayerType.CONDITION


class IIfConditionalInputLayer(IIfConditionalBoundaryLayer):
    """A value that enters the branches."""

    KIND = "ConditionalInput"
    TYPE = e.LayerType.CONDITIONAL_INPUT


class IIfConditionalOutputLayer(IIfConditionalBoundaryLayer):
    """The value of the branch that is taken."""

    KIND = "ConditionalOutput"
    TYPE = e.LayerType.CONDITIONAL_OUTPUT
