# ===- _network_layers.py - Tensors and layers of networks -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What the functions of a network return. Names are those of TensorRT's Python API."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from loopc import _loopc
from loopc import _network_types as t
from loopc._errors import InvalidArgument

if TYPE_CHECKING:
    from loopc.network import INetworkDefinition

E = TypeVar("E", bound=IntEnum)


class ITensor:
    """A value of a network: an input, or what a layer computes."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def _raw(self) -> _loopc.Network:
        return self._network._raw

    @property
    def name(self) -> str:
        """Its name; that of an input or output is what sessions call it."""
        return self._raw.tensor_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._raw.set_tensor_name(self._number, text)

    @property
    def dtype(self) -> t.DataType:
        """The element type that follows from the network as it is by now."""
        return t.DataType(self._raw.tensor_type(self._number)[0])

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The extents, -1 where one is not known; None where the rank is not.

        They follow from the network as it is by now: a recurrence is what its
        initial value is, until it is closed.
        """
        extents = self._raw.tensor_type(self._number)[1]
        return None if extents is None else tuple(extents)

    @property
    def is_network_input(self) -> bool:
        """Whether it is an input of the network."""
        return self._number in self._raw.inputs()

    @property
    def is_network_output(self) -> bool:
        """Whether it is an output of the network."""
        return self._number in self._raw.outputs()

    def set_dimension_name(self, index: int, name: str) -> None:
        """Names an extent of an input that is not known."""
        self._raw.set_dimension_name(self._number, index, name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ITensor)
            and other._network is self._network
            and other._number == self._number
        )

    def __hash__(self) -> int:
        return hash((id(self._network), self._number))

    def __repr__(self) -> str:
        return f"<ITensor '{self.name}'>"


class _Value:
    """A value of a layer, by name."""

    def __init__(self, name: str, doc: str) -> None:
        self._name = name
        self.__doc__ = doc


class _Int(_Value):
    @overload
    def __get__(self, layer: None, owner: type) -> _Int: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> int: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Int | int:
        if layer is None:
            return self
        return layer._raw.get_int(layer._number, self._name)

    def __set__(self, layer: ILayer, value: int) -> None:
        layer._raw.set_int(layer._number, self._name, t.integer(value))


class _Bool(_Value):
    @overload
    def __get__(self, layer: None, owner: type) -> _Bool: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> bool: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Bool | bool:
        if layer is None:
            return self
        return layer._raw.get_int(layer._number, self._name) != 0

    def __set__(self, layer: ILayer, value: bool) -> None:
        layer._raw.set_int(layer._number, self._name, int(bool(value)))


class _Float(_Value):
    @overload
    def __get__(self, layer: None, owner: type) -> _Float: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> float: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Float | float:
        if layer is None:
            return self
        return layer._raw.get_float(layer._number, self._name)

    def __set__(self, layer: ILayer, value: float) -> None:
        layer._raw.set_float(layer._number, self._name, float(value))


class _Ints(_Value):
    @overload
    def __get__(self, layer: None, owner: type) -> _Ints: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> tuple[int, ...]: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Ints | tuple[int, ...]:
        if layer is None:
            return self
        return tuple(layer._raw.get_ints(layer._number, self._name))

    def __set__(self, layer: ILayer, value: Sequence[int]) -> None:
        layer._raw.set_ints(layer._number, self._name, [t.integer(one) for one in value])


class _Text(_Value):
    @overload
    def __get__(self, layer: None, owner: type) -> _Text: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> str: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Text | str:
        if layer is None:
            return self
        return layer._raw.get_string(layer._number, self._name)

    def __set__(self, layer: ILayer, value: str) -> None:
        layer._raw.set_string(layer._number, self._name, value)


class _Choice(_Value, Generic[E]):
    def __init__(self, name: str, kind: type[E], doc: str) -> None:
        super().__init__(name, doc)
        self._kind = kind

    @overload
    def __get__(self, layer: None, owner: type) -> _Choice[E]: ...
    @overload
    def __get__(self, layer: ILayer, owner: type) -> E: ...
    def __get__(self, layer: ILayer | None, owner: type) -> _Choice[E] | E:
        if layer is None:
            return self
        return self._kind(layer._raw.get_int(layer._number, self._name))

    def __set__(self, layer: ILayer, value: E) -> None:
        layer._raw.set_int(layer._number, self._name, t.integer(value))


class _Weights(_Value):
    def __set__(self, layer: ILayer, value: Any) -> None:
        array = np.asarray(value)
        dtype, data = t.packed(array)
        layer._raw.set_weights(layer._number, self._name, int(dtype), [array.size], data)


class ILayer:
    """A layer of a network."""

    #: Its kind in loopc_network_add_layer().
    KIND = ""
    TYPE: t.LayerType

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def _raw(self) -> _loopc.Network:
        return self._network._raw

    @property
    def type(self) -> Any:
        """The LayerType; an activation's or a pooling's own type."""
        return self.TYPE

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._raw.layer_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._raw.set_layer_name(self._number, text)

    @property
    def num_inputs(self) -> int:
        """Number of inputs, those left out in the middle included."""
        return len(self._raw.layer_inputs(self._number))

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._raw.layer_outputs(self._number))

    def get_input(self, index: int) -> ITensor | None:
        """Input `index`; None where there is none."""
        inputs = self._raw.layer_inputs(self._number)
        if not 0 <= index < len(inputs) or inputs[index] < 0:
            return None
        return ITensor(self._network, inputs[index])

    def get_output(self, index: int) -> ITensor:
        """Output `index`."""
        outputs = self._raw.layer_outputs(self._number)
        if not 0 <= index < len(outputs):
            raise InvalidArgument(f"{self!r} has no output {index}")
        return ITensor(self._network, outputs[index])

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Connects input `index`; a recurrence is closed by ``set_input(1, next)``."""
        self._raw.set_input(self._number, index, self._network._numbers([tensor])[0])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ILayer)
            and other._network is self._network
            and other._number == self._number
        )

    def __hash__(self) -> int:
        return hash((id(self._network), self._number, "layer"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>"


class IConstantLayer(ILayer):
    """A constant."""

    KIND = "Constant"
    TYPE = t.LayerType.CONSTANT


class IElementWiseLayer(ILayer):
    """Two inputs of one rank and type; extents of 1 are stretched."""

    KIND = "ElementWise"
    TYPE = t.LayerType.ELEMENTWISE
    op = _Choice("operation", t.ElementWiseOperation, "The operation.")


class IUnaryLayer(ILayer):
    """One value to one value."""

    KIND = "Unary"
    TYPE = t.LayerType.UNARY
    op = _Choice("operation", t.UnaryOperation, "The operation.")


class IActivationLayer(ILayer):
    """An activation."""

    KIND = "Activation"
    TYPE = t.LayerType.ACTIVATION
    type = _Choice("type", t.ActivationType, "The activation.")
    alpha = _Float("alpha", "First parameter.")
    beta = _Float("beta", "Second parameter.")


class IMatrixMultiplyLayer(ILayer):
    """A product of matrices, or of a matrix and a vector."""

    KIND = "MatrixMultiply"
    TYPE = t.LayerType.MATRIX_MULTIPLY
    op0 = _Choice("op0", t.MatrixOperation, "Of input 0.")
    op1 = _Choice("op1", t.MatrixOperation, "Of input 1.")


class IConvolutionLayer(ILayer):
    """A convolution; kernel and bias are weights, or inputs 1 and 2."""

    KIND = "Convolution"
    TYPE = t.LayerType.CONVOLUTION
    num_output_maps = _Int("nb_output_maps", "Number of output maps.")
    kernel_size_nd = _Ints("kernel_size", "Extents of the kernel.")
    stride_nd = _Ints("stride", "Steps of the window.")
    pre_padding = _Ints("pre_padding", "Padding in front.")
    post_padding = _Ints("post_padding", "Padding behind.")
    padding_mode = _Choice("padding_mode", t.PaddingMode, "How padding is found.")
    dilation_nd = _Ints("dilation", "Steps within the kernel.")
    num_groups = _Int("nb_groups", "Number of groups.")
    kernel = _Weights("kernel", "The weights.")
    bias = _Weights("bias", "A value for each output map.")


class IDeconvolutionLayer(ILayer):
    """The transpose of a convolution."""

    KIND = "Deconvolution"
    TYPE = t.LayerType.DECONVOLUTION
    num_output_maps = _Int("nb_output_maps", "Number of output maps.")
    kernel_size_nd = _Ints("kernel_size", "Extents of the kernel.")
    stride_nd = _Ints("stride", "Steps of the window.")
    pre_padding = _Ints("pre_padding", "Padding in front.")
    post_padding = _Ints("post_padding", "Padding behind.")
    padding_mode = _Choice("padding_mode", t.PaddingMode, "How padding is found.")
    dilation_nd = _Ints("dilation", "Steps within the kernel.")
    num_groups = _Int("nb_groups", "Number of groups.")
    kernel = _Weights("kernel", "The weights.")
    bias = _Weights("bias", "A value for each output map.")


class IPoolingLayer(ILayer):
    """Pooling over windows of the spatial axes."""

    KIND = "Pooling"
    TYPE = t.LayerType.POOLING
    type = _Choice("type", t.PoolingType, "What becomes of a window.")
    window_size_nd = _Ints("window_size", "Extents of the window.")
    stride_nd = _Ints("stride", "Steps of the window.")
    pre_padding = _Ints("pre_padding", "Padding in front.")
    post_padding = _Ints("post_padding", "Padding behind.")
    padding_mode = _Choice("padding_mode", t.PaddingMode, "How padding is found.")
    blend_factor = _Float("blend_factor", "Share of the average in a blend.")
    average_count_excludes_padding = _Bool(
        "average_count_excludes_padding", "Whether averages leave padding out."
    )


class IReduceLayer(ILayer):
    """Reduces axes."""

    KIND = "Reduce"
    TYPE = t.LayerType.REDUCE
    op = _Choice("operation", t.ReduceOperation, "The operation.")
    axes = _Int("axes", "A bit for each axis.")
    keep_dims = _Bool("keep_dimensions", "Whether axes of extent 1 stay.")


class IShuffleLayer(ILayer):
    """Transposes, reshapes and transposes again, as far as it is set."""

    KIND = "Shuffle"
    TYPE = t.LayerType.SHUFFLE
    first_transpose = _Ints("first_transpose", "Order of the axes, first.")
    reshape_dims = _Ints("reshape_dimensions", "Extents; -1 for what is left, 0 for the same.")
    second_transpose = _Ints("second_transpose", "Order of the axes, last.")
    zero_is_placeholder = _Bool(
        "zero_is_placeholder", "Whether an extent of 0 means the same as before."
    )


class ISliceLayer(ILayer):
    """Elements from a start on, in steps; inputs 1 to 3 may give start, size and stride."""

    KIND = "Slice"
    TYPE = t.LayerType.SLICE
    start = _Ints("start", "The first elements.")
    shape = _Ints("size", "Numbers of elements.")
    stride = _Ints("stride", "Steps.")
    axes = _Ints("axes", "The axes that are sliced.")
    mode = _Choice("mode", t.SampleMode, "What is read beyond the bounds.")


class IConcatenationLayer(ILayer):
    """Joins along an axis that is there."""

    KIND = "Concatenation"
    TYPE = t.LayerType.CONCATENATION
    axis = _Int("axis", "The axis.")


class IGatherLayer(ILayer):
    """Elements of input 0 at the indices of input 1."""

    KIND = "Gather"
    TYPE = t.LayerType.GATHER
    axis = _Int("axis", "The axis.")
    num_elementwise_dims = _Int("nb_elementwise_dims", "Axes that both go through together.")
    mode = _Choice("mode", t.GatherMode, "What indices mean.")


class ISelectLayer(ILayer):
    """Input 1 where input 0 is true, else input 2."""

    KIND = "Select"
    TYPE = t.LayerType.SELECT


class IShapeLayer(ILayer):
    """The extents, as INT64."""

    KIND = "Shape"
    TYPE = t.LayerType.SHAPE


class IIdentityLayer(ILayer):
    """The input itself."""

    KIND = "Identity"
    TYPE = t.LayerType.IDENTITY


class ICastLayer(ILayer):
    """The input in another type."""

    KIND = "Cast"
    TYPE = t.LayerType.CAST
    to_type = _Choice("to_type", t.DataType, "The type.")


class ISoftMaxLayer(ILayer):
    """Softmax over one axis."""

    KIND = "SoftMax"
    TYPE = t.LayerType.SOFTMAX
    axes = _Int("axes", "The bit of the axis.")


class ITopKLayer(ILayer):
    """Values and indices of the largest or smallest; input 1 may be k."""

    KIND = "TopK"
    TYPE = t.LayerType.TOPK
    op = _Choice("operation", t.TopKOperation, "Which.")
    k = _Int("k", "How many.")
    axes = _Int("axes", "The bit of the axis.")
    indices_type = _Choice("indices_type", t.DataType, "The type of the indices.")


class IFillLayer(ILayer):
    """Values by a rule; input 0 may be the shape, inputs 1 and 2 alpha and beta."""

    KIND = "Fill"
    TYPE = t.LayerType.FILL
    operation = _Choice("operation", t.FillOperation, "The rule.")
    shape = _Ints("dimensions", "The extents.")
    alpha = _Float("alpha", "The start.")
    beta = _Float("beta", "The step.")
    to_type = _Choice("to_type", t.DataType, "The type.")


class IScatterLayer(ILayer):
    """Input 0 with the updates of input 2 at the indices of input 1."""

    KIND = "Scatter"
    TYPE = t.LayerType.SCATTER
    mode = _Choice("mode", t.ScatterMode, "What indices mean.")
    axis = _Int("axis", "The axis.")


class INormalizationLayer(ILayer):
    """Normalisation over axes, times a scale, plus a bias."""

    KIND = "Normalization"
    TYPE = t.LayerType.NORMALIZATION
    axes = _Int("axes", "A bit for each axis.")
    epsilon = _Float("epsilon", "Added to the variance.")
    num_groups = _Int("nb_groups", "Number of groups of channels.")


class IEinsumLayer(ILayer):
    """A sum of products by an equation."""

    KIND = "Einsum"
    TYPE = t.LayerType.EINSUM
    equation = _Text("equation", "The equation.")


class IOneHotLayer(ILayer):
    """values[1] at the indices along a new axis, values[0] elsewhere."""

    KIND = "OneHot"
    TYPE = t.LayerType.ONE_HOT
    axis = _Int("axis", "The new axis.")


class INonZeroLayer(ILayer):
    """The indices of elements that are not zero, as [rank, count]."""

    KIND = "NonZero"
    TYPE = t.LayerType.NON_ZERO
    indices_type = _Choice("indices_type", t.DataType, "The type of the indices.")


class IParametricReLULayer(ILayer):
    """x >= 0 ? x : slope x."""

    KIND = "ParametricReLU"
    TYPE = t.LayerType.PARAMETRIC_RELU


class ISqueezeLayer(ILayer):
    """Without the axes that input 1, a constant, names."""

    KIND = "Squeeze"
    TYPE = t.LayerType.SQUEEZE


class IUnsqueezeLayer(ILayer):
    """With new axes where input 1, a constant, says."""

    KIND = "Unsqueeze"
    TYPE = t.LayerType.UNSQUEEZE


class ICumulativeLayer(ILayer):
    """Running sums along the axis that input 1 says."""

    KIND = "Cumulative"
    TYPE = t.LayerType.CUMULATIVE
    op = _Choice("operation", t.CumulativeOperation, "The operation.")
    exclusive = _Bool("exclusive", "Whether an element is left out of its own sum.")
    reverse = _Bool("reverse", "Whether it goes from the end.")


class IReverseSequenceLayer(ILayer):
    """Reverses the first elements of each item of a batch."""

    KIND = "ReverseSequence"
    TYPE = t.LayerType.REVERSE_SEQUENCE
    batch_axis = _Int("batch_axis", "The axis of the batch.")
    sequence_axis = _Int("sequence_axis", "The axis of the sequence.")


class IAssertionLayer(ILayer):
    """Ends the run where its input does not hold."""

    KIND = "Assertion"
    TYPE = t.LayerType.ASSERTION
    message = _Text("message", "What the run says then.")


class INodeLayer(ILayer):
    """An operator of ONNX in its newest version, for what has no layer of its own."""

    KIND = "Node"
    TYPE = t.LayerType.NODE
    op_type = _Text("op_type", "The operator.")


class ILoopBoundaryLayer(ILayer):
    """What loops have at their border."""

    def __init__(self, network: INetworkDefinition, number: int, loop: ILoop | None = None) -> None:
        super().__init__(network, number)
        self._loop = loop

    @property
    def loop(self) -> ILoop:
        """Its loop."""
        assert self._loop is not None
        return self._loop


class ITripLimitLayer(ILoopBoundaryLayer):
    """A limit of the trips."""

    KIND = "TripLimit"
    TYPE = t.LayerType.TRIP_LIMIT
    kind = _Choice("limit", t.TripLimit, "The kind of limit.")


class IIteratorLayer(ILoopBoundaryLayer):
    """Gives each trip its slice of a tensor."""

    KIND = "Iterator"
    TYPE = t.LayerType.ITERATOR
    axis = _Int("axis", "The axis.")
    reverse = _Bool("reverse", "Whether it goes from the end.")


class IRecurrenceLayer(ILoopBoundaryLayer):
    """Its initial value, then what the trip before computed."""

    KIND = "Recurrence"
    TYPE = t.LayerType.RECURRENCE


class ILoopOutputLayer(ILoopBoundaryLayer):
    """A value that leaves the loop; input 1 is the length of its new axis."""

    KIND = "LoopOutput"
    TYPE = t.LayerType.LOOP_OUTPUT
    kind = _Choice("output", t.LoopOutput, "What leaves the loop.")
    axis = _Int("axis", "The new axis.")


B = TypeVar("B", bound=ILoopBoundaryLayer)


class ILoop:
    """A loop: the layers at its border. What else is in it follows from who uses what."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._network._raw.loop_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._network._raw.set_loop_name(self._number, text)

    def _add(self, kind: type[B], tensor: ITensor, /, **values: Any) -> B:
        number = self._network._add_number(kind.KIND, [tensor], self._number)
        return self._network._set_up(kind(self._network, number, self), values)

    def add_trip_limit(self, tensor: ITensor, kind: t.TripLimit) -> ITripLimitLayer:
        """COUNT: an integer scalar from outside. WHILE: a bool, tested before each trip."""
        return self._add(ITripLimitLayer, tensor, kind=kind)

    def add_iterator(self, tensor: ITensor, axis: int = 0, reverse: bool = False) -> IIteratorLayer:
        """The slices of `tensor` along `axis`; `reverse` begins at the count."""
        return self._add(IIteratorLayer, tensor, axis=axis, reverse=reverse)

    def add_recurrence(self, initial_value: ITensor) -> IRecurrenceLayer:
        """A value that a trip hands to the next; closed by ``set_input(1, next)``."""
        return self._add(IRecurrenceLayer, initial_value)

    def add_loop_output(
        self, tensor: ITensor, kind: t.LoopOutput, axis: int = 0
    ) -> ILoopOutputLayer:
        """What leaves the loop; ``set_input(1, length)`` for all but LAST_VALUE."""
        return self._add(ILoopOutputLayer, tensor, kind=kind, axis=axis)


class IIfConditionalBoundaryLayer(ILayer):
    """What conditionals have at their border."""

    def __init__(
        self, network: INetworkDefinition, number: int, conditional: IIfConditional | None = None
    ) -> None:
        super().__init__(network, number)
        self._conditional = conditional

    @property
    def conditional(self) -> IIfConditional:
        """Its conditional."""
        assert self._conditional is not None
        return self._conditional


class IConditionLayer(IIfConditionalBoundaryLayer):
    """The condition."""

    KIND = "Condition"
    TYPE = t.LayerType.CONDITION


class IIfConditionalInputLayer(IIfConditionalBoundaryLayer):
    """A value that enters the branches."""

    KIND = "ConditionalInput"
    TYPE = t.LayerType.CONDITIONAL_INPUT


class IIfConditionalOutputLayer(IIfConditionalBoundaryLayer):
    """The value of the branch that is taken."""

    KIND = "ConditionalOutput"
    TYPE = t.LayerType.CONDITIONAL_OUTPUT


C = TypeVar("C", bound=IIfConditionalBoundaryLayer)


class IIfConditional:
    """An if: layers that depend on its inputs run where their branch is taken."""

    def __init__(self, network: INetworkDefinition, number: int) -> None:
        self._network = network
        self._number = number

    @property
    def name(self) -> str:
        """Its name, in diagnostics and in the network's text."""
        return self._network._raw.conditional_name(self._number)

    @name.setter
    def name(self, text: str) -> None:
        self._network._raw.set_conditional_name(self._number, text)

    def _add(self, kind: type[C], tensors: list[ITensor]) -> C:
        number = self._network._add_number(kind.KIND, tensors, self._number)
        layer = kind(self._network, number, self)
        self._network._layers[number] = layer
        return layer

    def set_condition(self, condition: ITensor) -> IConditionLayer:
        """The condition: a bool of one element."""
        return self._add(IConditionLayer, [condition])

    def add_input(self, input: ITensor) -> IIfConditionalInputLayer:
        """`input` as the branches see it."""
        return self._add(IIfConditionalInputLayer, [input])

    def add_output(
        self, true_subgraph_output: ITensor, false_subgraph_output: ITensor
    ) -> IIfConditionalOutputLayer:
        """The one or the other."""
        return self._add(IIfConditionalOutputLayer, [true_subgraph_output, false_subgraph_output])
