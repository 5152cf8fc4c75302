# ===- network.py - Networks built by hand ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Networks of layers, shaped like TensorRT's INetworkDefinition.

Names and enumerators are those of TensorRT's Python API where the meaning is the
same; docs/Network.md has the table of what differs::

    from loopc import network as trt

    network = trt.create_network("sums")
    x = network.add_input("x", trt.float32, (-1, 4))
    count = network.add_input("n", trt.int32, ())
    zero = network.add_constant((4,), numpy.zeros(4, numpy.float32)).get_output(0)
    loop = network.add_loop()
    loop.add_trip_limit(count, trt.TripLimit.COUNT)
    row = loop.add_iterator(x).get_output(0)
    total = loop.add_recurrence(zero)
    step = network.add_elementwise(total.get_output(0), row, trt.ElementWiseOperation.SUM)
    total.set_input(1, step.get_output(0))
    last = loop.add_loop_output(total.get_output(0), trt.LoopOutput.LAST_VALUE)
    network.mark_output(last.get_output(0))

    session = loopc.InferenceSession(network)

A network is only a description. What is wrong with it is said when it is
compiled, naming the layers; what is wrong with a call is said at once.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from loopc import _loopc
from loopc._arguments import array as as_array
from loopc._arguments import extents as known_extents
from loopc._arguments import index_of, instance, integer, integers, items, mapping, string
from loopc._arguments import number as as_number
from loopc._errors import InvalidArgument, InvalidType, compile_error, diagnostics_of
from loopc._network_base import (
    IIfConditionalBoundaryLayer,
    ILayer,
    ILoopBoundaryLayer,
    ITensor,
)
from loopc._network_enums import (
    ActivationType,
    BoundingBoxFormat,
    CumulativeOperation,
    DataType,
    ElementWiseOperation,
    FillOperation,
    GatherMode,
    InterpolationMode,
    LayerType,
    LoopOutput,
    MatrixOperation,
    PaddingMode,
    PoolingType,
    ReduceOperation,
    ResizeCoordinateTransformation,
    ResizeRoundMode,
    ResizeSelector,
    SampleMode,
    ScaleMode,
    ScatterMode,
    TopKOperation,
    TripLimit,
    UnaryOperation,
)
from loopc._network_layers import (
    IActivationLayer,
    IAssertionLayer,
    ICastLayer,
    IConcatenationLayer,
    IConditionLayer,
    IConstantLayer,
    IConvolutionLayer,
    ICumulativeLayer,
    IDeconvolutionLayer,
    IDequantizeLayer,
    IEinsumLayer,
    IElementWiseLayer,
    IFillLayer,
    IGatherLayer,
    IGridSampleLayer,
    IIdentityLayer,
    IIfConditionalInputLayer,
    IIfConditionalOutputLayer,
    IIteratorLayer,
    ILoopOutputLayer,
    ILRNLayer,
    IMatrixMultiplyLayer,
    INMSLayer,
    INodeLayer,
    INonZeroLayer,
    INormalizationLayer,
    IOneHotLayer,
    IPaddingLayer,
    IParametricReLULayer,
    IPoolingLayer,
    IQuantizeLayer,
    IRaggedSoftMaxLayer,
    IRecurrenceLayer,
    IReduceLayer,
    IResizeLayer,
    IReverseSequenceLayer,
    IScaleLayer,
    IScatterLayer,
    ISelectLayer,
    IShapeLayer,
    IShuffleLayer,
    ISliceLayer,
    ISoftMaxLayer,
    ISqueezeLayer,
    ITopKLayer,
    ITripLimitLayer,
    IUnaryLayer,
    IUnsqueezeLayer,
)
from loopc._network_scopes import (
    IIfConditional,
    ILoop,
)
from loopc._network_types import (
    data_type,
    numpy_type,
    packed,
)

float32 = DataType.FLOAT
float16 = DataType.HALF
bfloat16 = DataType.BF16
float64 = DataType.DOUBLE
int8 = DataType.INT8
int32 = DataType.INT32
int64 = DataType.INT64
uint8 = DataType.UINT8
bool = DataType.BOOL
fp8 = DataType.FP8
int4 = DataType.INT4

Shape = Sequence[int | str]

L = TypeVar("L", bound=ILayer)
C = TypeVar("C", IConvolutionLayer, IDeconvolutionLayer)


class INetworkDefinition:
    """A network: inputs, layers, loops, conditionals, outputs."""

    def __init__(self, name: str = "") -> None:
        self._name = string("name", name)
        self._raw = _loopc.Network(self._name)
        self._layers: dict[int, ILayer] = {}

    # ----- What the network has -------------------------------------------

    @property
    def name(self) -> str:
        """Its name: that of the model, and the file in diagnostics."""
        return self._name

    @property
    def num_layers(self) -> int:
        """Number of layers."""
        return self._raw.num_layers()

    def __len__(self) -> int:
        return self.num_layers

    def get_layer(self, index: int) -> ILayer:
        """Layer `index`, in the order in which they were added."""
        at = integer(index, "index")
        if not 0 <= at < self.num_layers:
            raise InvalidArgument(f"the network has no layer {at}")
        return self._layers[at]

    def __getitem__(self, index: int) -> ILayer:
        at = integer(index, "index")
        if not 0 <= at < self.num_layers:
            raise IndexError(at)
        return self._layers[at]

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return len(self._raw.inputs())

    def get_input(self, index: int) -> ITensor:
        """Input `index`."""
        return self._port("input", self._raw.inputs(), index)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._raw.outputs())

    def get_output(self, index: int) -> ITensor:
        """Output `index`."""
        return self._port("output", self._raw.outputs(), index)

    def _port(self, kind: str, numbers: Sequence[int], index: int) -> ITensor:
        at = integer(index, "index")
        if not -len(numbers) <= at < len(numbers):
            raise InvalidArgument(f"the network has no {kind} {at}; it has {len(numbers)}")
        return ITensor(self, numbers[at])

    def __str__(self) -> str:
        """Inputs, layers, loops and outputs, a layer a line."""
        return self._raw.text()

    def __repr__(self) -> str:
        return f"<INetworkDefinition '{self.name}' of {self.num_layers} layers>"

    def to_mlir(self) -> str:
        """The onnx and loop dialects that the compiler makes of it.

        Raises:
            CompileError: the network is not well formed.
        """
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            path = Path(folder) / "network.mlir"
            stage = _loopc.emit_from_name("onnx")
            status, raw = _loopc.compile_network(self._raw, stage, os.fsencode(path), {})
            if status != 0:
                raise compile_error(diagnostics_of(raw))
            return path.read_text()

    # ----- Adding ---------------------------------------------------------

    def _numbers(self, tensors: Sequence[ITensor | None]) -> list[int]:
        numbers = []
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, ITensor):
                raise InvalidType(f"expected an ITensor, got {type(tensor).__qualname__}")
            if tensor is not None and tensor._network is not self:
                raise InvalidArgument(f"{tensor!r} belongs to another network")
            numbers.append(-1 if tensor is None else tensor._number)
        return numbers

    def _add_number(
        self, kind: str, tensors: Sequence[ITensor | None], scope: int = -1, outputs: int = -1
    ) -> int:
        return self._raw.add_layer(kind, self._numbers(tensors), scope, outputs)

    def _add(self, kind: type[L], /, *tensors: ITensor | None, **values: Any) -> L:
        return self._set_up(kind(self, self._add_number(kind.KIND, tensors)), values)

    def _set_up(self, layer: L, values: Mapping[str, Any]) -> L:
        """The new layer with its values; without them it is taken away again."""
        self._layers[layer._number] = layer
        try:
            for name, value in values.items():
                setattr(layer, name, value)
        except BaseException:
            self._take_back(layer)
            raise
        return layer

    def _take_back(self, layer: ILayer) -> None:
        """Removes the layer that was added last."""
        del self._layers[layer._number]
        self._raw.remove_last_layer()

    def add_input(self, name: str, dtype: Any, shape: Shape | None) -> ITensor:
        """An input.

        Args:
            name: its name.
            dtype: a DataType, or a type of numpy.
            shape: extents; -1, or a name, where one is not known; None where the
                rank is not known.
        """
        given = [] if shape is None else items("shape", shape, "extents and names")
        names = {k: string("shape", one) for k, one in enumerate(given) if isinstance(one, str)}
        extents = [-1 if k in names else integer(one, "shape") for k, one in enumerate(given)]
        rank = -1 if shape is None else len(extents)
        number = self._raw.add_input(string("name", name), data_type(dtype), extents, rank)
        tensor = ITensor(self, number)
        for index, one in names.items():
            tensor.set_dimension_name(index, one)
        return tensor

    def mark_output(self, tensor: ITensor) -> None:
        """Makes a tensor an output."""
        (number,) = self._numbers([instance("tensor", tensor, ITensor)])
        self._raw.mark_output(number, True)

    def unmark_output(self, tensor: ITensor) -> None:
        """Makes a tensor an output no more."""
        (number,) = self._numbers([instance("tensor", tensor, ITensor)])
        self._raw.mark_output(number, False)

    def add_constant(self, shape: Sequence[int], weights: Any) -> IConstantLayer:
        """A constant: `weights`, an array, in the shape `shape`."""
        array = as_array("weights", weights)
        extents = known_extents("shape", shape)
        if int(np.prod(extents, dtype=object)) != array.size:
            raise InvalidArgument(f"{array.size} values do not fill the shape {tuple(extents)}")
        if data_type(array.dtype) == DataType.STRING:
            texts = [str(one) for one in array.reshape(-1)]
            number = self._raw.add_string_constant(extents, texts)
        else:
            dtype, data = packed(array)
            number = self._raw.add_constant(dtype, extents, data)
        layer = IConstantLayer(self, number)
        self._layers[number] = layer
        return layer

    def add_elementwise(
        self, input1: ITensor, input2: ITensor, op: ElementWiseOperation
    ) -> IElementWiseLayer:
        """An operation on two inputs of one rank and type."""
        return self._add(IElementWiseLayer, input1, input2, op=op)

    def add_unary(self, input: ITensor, op: UnaryOperation) -> IUnaryLayer:
        """An operation on one input."""
        return self._add(IUnaryLayer, input, op=op)

    def add_activation(self, input: ITensor, type: ActivationType) -> IActivationLayer:
        """An activation; ``alpha`` and ``beta`` are set on the layer."""
        return self._add(IActivationLayer, input, type=type)

    def add_matrix_multiply(
        self, input0: ITensor, op0: MatrixOperation, input1: ITensor, op1: MatrixOperation
    ) -> IMatrixMultiplyLayer:
        """A product of matrices, or of a matrix and a vector."""
        return self._add(IMatrixMultiplyLayer, input0, input1, op0=op0, op1=op1)

    def add_convolution_nd(
        self,
        input: ITensor,
        num_output_maps: int,
        kernel_shape: Sequence[int],
        kernel: Any = None,
        bias: Any = None,
    ) -> IConvolutionLayer:
        """A convolution; without a kernel here it is input 1, the bias input 2."""
        return self._add_convolution(
            IConvolutionLayer, input, num_output_maps, kernel_shape, kernel, bias
        )

    def add_deconvolution_nd(
        self,
        input: ITensor,
        num_output_maps: int,
        kernel_shape: Sequence[int],
        kernel: Any = None,
        bias: Any = None,
    ) -> IDeconvolutionLayer:
        """The transpose of a convolution."""
        return self._add_convolution(
            IDeconvolutionLayer, input, num_output_maps, kernel_shape, kernel, bias
        )

    def _add_convolution(
        self,
        kind: type[C],
        input: ITensor,
        maps: int,
        shape: Sequence[int],
        kernel: Any,
        bias: Any,
    ) -> C:
        values: dict[str, Any] = {"num_output_maps": maps, "kernel_size_nd": shape}
        if kernel is not None:
            values["kernel"] = kernel
        given = None if bias is None else as_array("bias", bias)
        if given is not None and given.size:
            values["bias"] = given
        return self._add(kind, input, **values)

    def add_pooling_nd(
        self, input: ITensor, type: PoolingType, window_size: Sequence[int]
    ) -> IPoolingLayer:
        """Pooling over windows of the spatial axes."""
        return self._add(IPoolingLayer, input, type=type, window_size_nd=window_size)

    def add_reduce(
        self, input: ITensor, op: ReduceOperation, axes: int, keep_dims: int
    ) -> IReduceLayer:
        """Reduces axes, a bit for each."""
        return self._add(IReduceLayer, input, op=op, axes=axes, keep_dims=keep_dims)

    def add_shuffle(self, input: ITensor) -> IShuffleLayer:
        """Transposes, reshapes and transposes again, as far as it is set."""
        return self._add(IShuffleLayer, input)

    def add_slice(
        self, input: ITensor, start: Sequence[int], shape: Sequence[int], stride: Sequence[int]
    ) -> ISliceLayer:
        """`shape` elements from `start` on in steps; inputs 1 to 3 may stand for them."""
        return self._add(ISliceLayer, input, start=start, shape=shape, stride=stride)

    def add_concatenation(self, inputs: Sequence[ITensor]) -> IConcatenationLayer:
        """Joins along ``axis``."""
        return self._add(IConcatenationLayer, *items("inputs", inputs, "tensors"))

    def add_gather(self, input: ITensor, indices: ITensor, axis: int) -> IGatherLayer:
        """Elements at indices along an axis."""
        return self._add(IGatherLayer, input, indices, axis=axis)

    def add_gather_v2(self, input: ITensor, indices: ITensor, mode: GatherMode) -> IGatherLayer:
        """The same, with the mode."""
        return self._add(IGatherLayer, input, indices, mode=mode)

    def add_select(
        self, condition: ITensor, then_input: ITensor, else_input: ITensor
    ) -> ISelectLayer:
        """The one where the condition is true, else the other."""
        return self._add(ISelectLayer, condition, then_input, else_input)

    def add_shape(self, input: ITensor) -> IShapeLayer:
        """The extents, as INT64."""
        return self._add(IShapeLayer, input)

    def add_identity(self, input: ITensor) -> IIdentityLayer:
        """The input itself."""
        return self._add(IIdentityLayer, input)

    def add_cast(self, input: ITensor, to_type: Any) -> ICastLayer:
        """The input in another type."""
        return self._add(ICastLayer, input, to_type=data_type(to_type))

    def add_softmax(self, input: ITensor) -> ISoftMaxLayer:
        """Softmax over the axis whose bit ``axes`` has."""
        return self._add(ISoftMaxLayer, input)

    def add_topk(
        self,
        input: ITensor,
        op: TopKOperation,
        k: int,
        axes: int,
        indices_type: Any = DataType.INT32,
    ) -> ITopKLayer:
        """Values and indices of the `k` largest or smallest."""
        return self._add(
            ITopKLayer, input, op=op, k=k, axes=axes, indices_type=data_type(indices_type)
        )

    def add_fill(
        self, shape: Sequence[int], op: FillOperation, output_type: Any = DataType.FLOAT
    ) -> IFillLayer:
        """Values by a rule; ``set_input(0, shape)`` for a shape that is computed."""
        return self._add(IFillLayer, shape=shape, operation=op, to_type=data_type(output_type))

    def add_scatter(
        self, data: ITensor, indices: ITensor, updates: ITensor, mode: ScatterMode
    ) -> IScatterLayer:
        """`data` with updates at indices."""
        return self._add(IScatterLayer, data, indices, updates, mode=mode)

    def add_normalization(
        self,
        input: ITensor,
        scale: ITensor,
        bias: ITensor,
        axesMask: int,  # noqa: N803
    ) -> INormalizationLayer:
        """Normalisation over axes, times a scale, plus a bias."""
        return self._add(INormalizationLayer, input, scale, bias, axes=axesMask)

    def add_einsum(self, inputs: Sequence[ITensor], equation: str) -> IEinsumLayer:
        """A sum of products by an equation."""
        return self._add(IEinsumLayer, *items("inputs", inputs, "tensors"), equation=equation)

    def add_one_hot(
        self, indices: ITensor, values: ITensor, depth: ITensor, axis: int
    ) -> IOneHotLayer:
        """values[1] at the indices along a new axis, values[0] elsewhere."""
        return self._add(IOneHotLayer, indices, values, depth, axis=axis)

    def add_non_zero(self, input: ITensor, indices_type: Any = DataType.INT32) -> INonZeroLayer:
        """The indices of elements that are not zero, as [rank, count]."""
        return self._add(INonZeroLayer, input, indices_type=data_type(indices_type))

    def add_parametric_relu(self, input: ITensor, slopes: ITensor) -> IParametricReLULayer:
        """x >= 0 ? x : slope x."""
        return self._add(IParametricReLULayer, input, slopes)

    def add_squeeze(self, input: ITensor, axes: ITensor) -> ISqueezeLayer:
        """Without axes of extent 1."""
        return self._add(ISqueezeLayer, input, axes)

    def add_unsqueeze(self, input: ITensor, axes: ITensor) -> IUnsqueezeLayer:
        """With new axes of extent 1."""
        return self._add(IUnsqueezeLayer, input, axes)

    def add_cumulative(
        self, input: ITensor, axis: ITensor, op: CumulativeOperation, exclusive: int, reverse: int
    ) -> ICumulativeLayer:
        """Running sums along an axis."""
        return self._add(ICumulativeLayer, input, axis, op=op, exclusive=exclusive, reverse=reverse)

    def add_reverse_sequence(self, input: ITensor, sequence_lens: ITensor) -> IReverseSequenceLayer:
        """Reverses the first elements of each item of a batch."""
        return self._add(IReverseSequenceLayer, input, sequence_lens)

    def add_lrn(
        self,
        input: ITensor,
        window: int,
        alpha: float,
        beta: float,
        k: float,
    ) -> ILRNLayer:
        """Local response normalisation: each value by the squares of `window` channels."""
        return self._add(ILRNLayer, input, window_size=window, alpha=alpha, beta=beta, k=k)

    def add_grid_sample(self, input: ITensor, grid: ITensor) -> IGridSampleLayer:
        """Values of `input` at the places that `grid` gives, from -1 to 1."""
        return self._add(IGridSampleLayer, input, grid)

    def add_nms(
        self, boxes: ITensor, scores: ITensor, max_output_boxes_per_class: ITensor
    ) -> INMSLayer:
        """Boxes [batch, boxes, 4] that overlap no better one of their class.

        ``set_input(3, threshold)`` says which overlap is too much, ``set_input(4, threshold)``
        which score is too little.
        """
        return self._add(INMSLayer, boxes, scores, max_output_boxes_per_class)

    def add_scale(
        self,
        input: ITensor,
        mode: ScaleMode,
        shift: Any = None,
        scale: Any = None,
        power: Any = None,
    ) -> IScaleLayer:
        """(x scale + shift) to the power; by channels axis 1 has the channels."""
        return self.add_scale_nd(input, mode, shift, scale, power, 1)

    def add_scale_nd(
        self,
        input: ITensor,
        mode: ScaleMode,
        shift: Any = None,
        scale: Any = None,
        power: Any = None,
        channel_axis: int = 1,
    ) -> IScaleLayer:
        """The same with another axis of channels. What is None or empty is left out."""
        values = {"shift": shift, "scale": scale, "power": power}
        given = {
            name: as_array(name, one)
            for name, one in values.items()
            if one is not None and np.size(one) > 0
        }
        return self._add(IScaleLayer, input, mode=mode, channel_axis=channel_axis, **given)

    def add_padding_nd(
        self, input: ITensor, pre_padding: Sequence[int], post_padding: Sequence[int]
    ) -> IPaddingLayer:
        """Zeros before and behind the last axes; negative numbers cut."""
        return self._add(
            IPaddingLayer, input, pre_padding_nd=pre_padding, post_padding_nd=post_padding
        )

    def add_resize(self, input: ITensor) -> IResizeLayer:
        """Interpolates to `shape` or by `scales` of the layer, or to ``set_input(1, shape)``."""
        return self._add(IResizeLayer, input)

    def add_quantize(
        self, input: ITensor, scale: ITensor, output_type: Any = DataType.INT8
    ) -> IQuantizeLayer:
        """Numbers divided by a scale and rounded, to INT8, FP8 or INT4."""
        return self._add(IQuantizeLayer, input, scale, to_type=data_type(output_type))

    def add_dequantize(
        self, input: ITensor, scale: ITensor, output_type: Any = DataType.FLOAT
    ) -> IDequantizeLayer:
        """Rounded numbers times their scale."""
        return self._add(IDequantizeLayer, input, scale, to_type=data_type(output_type))

    def add_ragged_softmax(self, input: ITensor, bounds: ITensor) -> IRaggedSoftMaxLayer:
        """Softmax over the first elements of the last axis, as many as `bounds` says."""
        return self._add(IRaggedSoftMaxLayer, input, bounds)

    def add_assertion(self, condition: ITensor, message: str) -> IAssertionLayer:
        """Ends the run where the condition does not hold."""
        return self._add(IAssertionLayer, condition, message=message)

    def add_node(
        self,
        op_type: str,
        inputs: Sequence[ITensor | None],
        attributes: Mapping[str, Any] | None = None,
        num_outputs: int = 1,
    ) -> INodeLayer:
        """An operator of ONNX in its newest version; None leaves an input out.

        Attributes are int, float, str, lists of those, or arrays for tensors.
        """
        tensors, count = items("inputs", inputs, "tensors"), index_of("num_outputs", num_outputs)
        given = {} if attributes is None else mapping("attributes", attributes)
        number = self._add_number(INodeLayer.KIND, tensors, outputs=count)
        layer = self._set_up(INodeLayer(self, number), {"op_type": op_type})
        try:
            for name, value in given.items():
                self._set_attribute(number, string("attributes", name), value)
        except BaseException:
            self._take_back(layer)
            raise
        return layer

    def _set_attribute(self, number: int, name: str, value: Any) -> None:
        raw = self._raw
        match value:
            case int():
                raw.set_int(number, name, integer(value))
            case float():
                raw.set_float(number, name, value)
            case str():
                raw.set_string(number, name, string(name, value))
            case np.ndarray():
                dtype, data = packed(value)
                raw.set_weights(number, name, dtype, list(value.shape), data)
            case [float(), *_]:
                raw.set_floats(number, name, [as_number(name, one) for one in value])
            case [str(), *_]:
                raw.set_strings(number, name, [string(name, one) for one in value])
            case _:
                raw.set_ints(number, name, integers(name, value))

    def add_loop(self) -> ILoop:
        """A loop; what is in it follows from who uses what."""
        return ILoop(self, self._raw.add_loop())

    def add_if_conditional(self) -> IIfConditional:
        """An if."""
        return IIfConditional(self, self._raw.add_conditional())


def create_network(name: str = "") -> INetworkDefinition:
    """An empty network."""
    return INetworkDefinition(name)


__all__ = [
    "ActivationType",
    "BoundingBoxFormat",
    "CumulativeOperation",
    "DataType",
    "ElementWiseOperation",
    "FillOperation",
    "GatherMode",
    "IActivationLayer",
    "IAssertionLayer",
    "ICastLayer",
    "IConcatenationLayer",
    "IConditionLayer",
    "IConstantLayer",
    "IConvolutionLayer",
    "ICumulativeLayer",
    "IDeconvolutionLayer",
    "IDequantizeLayer",
    "IEinsumLayer",
    "IElementWiseLayer",
    "IFillLayer",
    "IGatherLayer",
    "IGridSampleLayer",
    "IIdentityLayer",
    "IIfConditional",
    "IIfConditionalBoundaryLayer",
    "IIfConditionalInputLayer",
    "IIfConditionalOutputLayer",
    "IIteratorLayer",
    "ILRNLayer",
    "ILayer",
    "ILoop",
    "ILoopBoundaryLayer",
    "ILoopOutputLayer",
    "IMatrixMultiplyLayer",
    "INMSLayer",
    "INetworkDefinition",
    "INodeLayer",
    "INonZeroLayer",
    "INormalizationLayer",
    "IOneHotLayer",
    "IPaddingLayer",
    "IParametricReLULayer",
    "IPoolingLayer",
    "IQuantizeLayer",
    "IRaggedSoftMaxLayer",
    "IRecurrenceLayer",
    "IReduceLayer",
    "IResizeLayer",
    "IReverseSequenceLayer",
    "IScaleLayer",
    "IScatterLayer",
    "ISelectLayer",
    "IShapeLayer",
    "IShuffleLayer",
    "ISliceLayer",
    "ISoftMaxLayer",
    "ISqueezeLayer",
    "ITensor",
    "ITopKLayer",
    "ITripLimitLayer",
    "IUnaryLayer",
    "IUnsqueezeLayer",
    "InterpolationMode",
    "LayerType",
    "LoopOutput",
    "MatrixOperation",
    "PaddingMode",
    "PoolingType",
    "ReduceOperation",
    "ResizeCoordinateTransformation",
    "ResizeRoundMode",
    "ResizeSelector",
    "SampleMode",
    "ScaleMode",
    "ScatterMode",
    "TopKOperation",
    "TripLimit",
    "UnaryOperation",
    "bfloat16",
    "bool",
    "create_network",
    "data_type",
    "float16",
    "float32",
    "float64",
    "fp8",
    "int4",
    "int8",
    "int32",
    "int64",
    "numpy_type",
    "uint8",
]
