# ===- preprocess.py - Steps before and behind a model --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""PrePostProcessor, under OpenVINO's names.

The steps become operators of the model, which is compiled with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NoReturn, Self

import numpy as np

from loopc._arguments import instance, integers, member, string
from loopc._errors import InvalidArgument
from loopc.openvino._colors import CHANNELS, COUNTS, LUMA, PLANES, ColorFormat
from loopc.openvino._layout import Layout
from loopc.openvino._model import Model
from loopc.openvino._ports import Key, Output
from loopc.openvino._tensor import Tensor
from loopc.openvino._types import Dimension, PartialShape, Type


class ResizeAlgorithm(Enum):
    """How pixels are computed from others."""

    RESIZE_LINEAR = "linear"
    RESIZE_CUBIC = "cubic"
    RESIZE_NEAREST = "nearest"
    RESIZE_BILINEAR_PILLOW = "bilinear_pillow"
    RESIZE_BICUBIC_PILLOW = "bicubic_pillow"


class PaddingMode(Enum):
    """What elements are that are added."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class _State:
    """A value on its way through the steps."""

    def __init__(
        self, graph: Any, planes: list[Any], layout: Layout, model: list[int | None]
    ) -> None:
        self.graph = graph
        self.planes = planes
        self.layout = layout
        self.color = ColorFormat.UNDEFINED
        # The extents of the model's own input, and their layout.
        self.model, self.model_layout = model, Layout()

    @property
    def value(self) -> Any:
        """The one tensor.

        Raises:
            InvalidArgument: there are several.
        """
        if len(self.planes) > 1:
            raise InvalidArgument(
                f"the image has {len(self.planes)} planes: convert_color() makes one tensor of "
                "them, before all other steps but convert_element_type()"
            )
        return self.planes[0]

    @value.setter
    def value(self, value: Any) -> None:
        self.planes = [value]

    def axis(self, name: str, what: str) -> int:
        """The number of an axis.

        Raises:
            InvalidArgument: the layout does not name it.
        """
        if not self.layout.has_name(name):
            raise InvalidArgument(
                f"{what}: the layout {self.layout} has no axis {name}: set_layout() says what "
                'axes are, as Layout("NHWC")'
            )
        return self.layout._of_rank(len(self.value.shape)).index(name)

    def order_to(self, layout: Layout) -> list[int]:
        """The axes in the order of another layout.

        Raises:
            InvalidArgument: it has other axes.
        """
        rank = len(self.value.shape)
        before, after = self.layout._of_rank(rank), layout._of_rank(rank)
        if sorted(before) != sorted(after) or ("?" in before and before != after):
            raise InvalidArgument(f"a layout {self.layout} cannot become {layout}")
        return list(range(rank)) if before == after else [before.index(one) for one in after]

    def to_layout(self, layout: Layout) -> None:
        """Puts the axes into the order of another layout."""
        order = self.order_to(layout)
        if order != sorted(order):
            self.value = self.graph.transpose(self.value, order)
        self.layout = layout

    def to_type(self, kind: Type) -> None:
        """Converts the elements."""
        self.planes = [
            one if one.type == kind else self.graph.cast(one, kind) for one in self.planes
        ]

    def from_planes(self, wanted: ColorFormat) -> None:
        """Makes one image of a frame of video."""
        form = PLANES[self.color]
        batch, rows, width, _ = self.planes[0].shape
        height = form.height(rows)
        if wanted is ColorFormat.GRAY:
            luma = self.planes[0]
            if height is None and form.tensors == 1:
                raise InvalidArgument("convert_color: GRAY needs set_spatial_static_shape() here")
            if form.tensors == 1:
                ends = [2**31 - 1, height, 2**31 - 1, 1]
                luma = self.graph.slice(luma, [0] * 4, ends)
            self.value = luma
            return
        shape = [batch, height, width, 3]
        self.value = self.graph.video(self.planes, f"{form.kind}to{wanted.name}", shape)

    def to_gray(self) -> None:
        """Makes one channel of red, green and blue."""
        kind, axis = self.value.type, self.axis("C", "convert_color")
        real = kind if kind.is_real() else Type.f32
        order = CHANNELS[self.color]
        shape = [1] * len(self.value.shape)
        shape[axis] = 3
        factors = np.array([LUMA[one] for one in order], real.to_dtype()).reshape(shape)
        self.to_type(real)
        self.value = self.graph.sum(self.graph.arithmetic("Multiply", self.value, factors), axis)
        if kind != real:
            self.value = self.graph.round(self.value)
        self.to_type(kind)


class _Steps:
    """What is done to a value, in order."""

    def __init__(self) -> None:
        self._steps: list[Callable[[_State], None]] = []
        #: Orders of axes that `convert_layout` was given as numbers.
        self._orders: list[list[int]] = []

    def _then(self, step: Callable[[_State], None]) -> Self:
        self._steps.append(step)
        return self

    def convert_element_type(self, type: Any = None) -> Self:
        """Converts the elements; without a type at the end, to the type of the other side."""
        kind = None if type is None else Type(type)
        return self if kind is None else self._then(lambda state: state.to_type(kind))

    def convert_layout(self, dst_layout: Any) -> Self:
        """Puts the axes into another order: a layout, or the numbers of the axes."""
        if isinstance(dst_layout, Layout | str):
            layout = dst_layout if isinstance(dst_layout, Layout) else Layout(dst_layout)
            return self._then(lambda state: state.to_layout(layout))
        order = integers("dst_layout", dst_layout)
        self._orders.append(order)

        def step(state: _State) -> None:
            if sorted(order) != list(range(len(state.value.shape))):
                raise InvalidArgument(f"convert_layout: {order} is no order of the axes")
            state.value = state.graph.transpose(state.value, order)
            if not state.layout.empty:
                names = state.layout._of_rank(len(order))
                state.layout = Layout("[" + ",".join(names[axis] for axis in order) + "]")

        return self._then(step)

    def custom(self, operation: Any) -> NoReturn:
        """Refused: operators of the package openvino are not built here.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(
            "custom: build the model by the package openvino, and give it to compile_model"
        )


class PostProcessSteps(_Steps):
    """What is done to an output."""


class PreProcessSteps(_Steps):
    """What is done to an input."""

    def _arithmetic(self, kind: str, what: str, values: Any) -> Self:
        given = np.asarray(values, np.float64)
        if given.ndim > 1:
            raise InvalidArgument(f"{what}: expected a number, or one for each channel")

        def step(state: _State) -> None:
            if not state.value.type.is_real():
                raise InvalidArgument(
                    f"{what}: elements of type {state.value.type} are no fractions: "
                    "convert_element_type() comes before"
                )
            array = given
            if given.ndim:
                axis = state.axis("C", what)
                channels = state.value.shape[axis]
                if channels not in (None, len(given)):
                    raise InvalidArgument(f"{what}: {len(given)} numbers for {channels} channels")
                shape = [1] * len(state.value.shape)
                shape[axis] = len(given)
                array = given.reshape(shape)
            typed = array.astype(state.value.type.to_dtype())
            state.value = state.graph.arithmetic(kind, state.value, typed)

        return self._then(step)

    def mean(self, values: Any) -> Self:
        """Subtracts a number, or one from each channel."""
        return self._arithmetic("Subtract", "mean", values)

    def scale(self, values: Any) -> Self:
        """Divides by a number, or each channel by one."""
        return self._arithmetic("Divide", "scale", values)

    def convert_color(self, dst_format: ColorFormat) -> Self:
        """Changes the meaning of the channels."""
        wanted = member("dst_format", dst_format, ColorFormat)
        three = (ColorFormat.RGB, ColorFormat.BGR)

        def step(state: _State) -> None:
            if wanted == state.color:
                return
            if state.color in PLANES and wanted in (*three, ColorFormat.GRAY):
                state.from_planes(wanted)
            elif state.color in three and wanted is ColorFormat.GRAY:
                state.to_gray()
            elif state.color in CHANNELS and wanted in three:
                axis = state.axis("C", "convert_color")
                own, order = CHANNELS[state.color], CHANNELS[wanted]
                state.value = state.graph.take(state.value, axis, [own[one] for one in order])
            else:
                raise InvalidArgument(
                    f"convert_color: {state.color.name} cannot become {wanted.name}; formats of "
                    "video can become RGB, BGR and GRAY, RGBX and BGRX can become RGB and BGR, "
                    "and these can become GRAY"
                )
            state.color = wanted

        return self._then(step)

    def reverse_channels(self) -> Self:
        """Puts the last channel first."""

        def step(state: _State) -> None:
            axis = state.axis("C", "reverse_channels")
            channels = state.value.shape[axis]
            if channels is None:
                raise InvalidArgument("reverse_channels: the number of channels is open")
            state.value = state.graph.take(state.value, axis, list(range(channels))[::-1])
            swapped = {ColorFormat.RGB: ColorFormat.BGR, ColorFormat.BGR: ColorFormat.RGB}
            state.color = swapped.get(state.color, state.color)

        return self._then(step)

    def resize(
        self, alg: ResizeAlgorithm, dst_height: int | None = None, dst_width: int | None = None
    ) -> Self:
        """Other extents of the axes H and W: those given, or those of the model."""
        mode = member("alg", alg, ResizeAlgorithm).value
        if (dst_height is None) != (dst_width is None):
            raise InvalidArgument("resize: height and width are given together")

        def step(state: _State) -> None:
            axes = [state.axis(name, "resize") for name in "HW"]
            sizes: list[Any] = [dst_height, dst_width]
            if dst_height is None:
                rank = len(state.model)
                names = state.model_layout._of_rank(rank) if state.model_layout else []
                sizes = [state.model[names.index(one)] if one in names else None for one in "HW"]
            if None in sizes:
                raise InvalidArgument(
                    "resize: the model does not say its height and width: resize(alg, h, w) does"
                )
            wanted = dict(zip(axes, integers("resize", sizes), strict=True))
            state.value = state.graph.resize(state.value, wanted, mode)

        return self._then(step)

    def crop(self, begin: Sequence[int], end: Sequence[int]) -> Self:
        """A part of all axes; negative numbers count from the end."""
        begins, ends = integers("begin", begin), integers("end", end)

        def step(state: _State) -> None:
            _check_rank("crop", state, begins, ends)
            state.value = state.graph.slice(state.value, begins, ends)

        return self._then(step)

    def pad(
        self,
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        value: float | Sequence[float] = 0.0,
        mode: PaddingMode = PaddingMode.CONSTANT,
    ) -> Self:
        """More elements before and behind those of each axis."""
        begins, ends = integers("pads_begin", pads_begin), integers("pads_end", pads_end)
        kind = member("mode", mode, PaddingMode).value
        fill = np.unique(np.asarray(value, np.float64))
        if fill.size != 1:
            raise InvalidArgument("pad: one value is for all elements that are added")

        def step(state: _State) -> None:
            _check_rank("pad", state, begins, ends)
            state.value = state.graph.pad(state.value, begins, ends, float(fill[0]), kind)

        return self._then(step)


def _check_rank(what: str, state: _State, *lists: Sequence[int]) -> None:
    rank = len(state.value.shape)
    if any(len(one) != rank for one in lists):
        raise InvalidArgument(f"{what}: expected {rank} numbers, one for each axis")


class _TensorInfo:
    """What a program gives or takes."""

    def __init__(self) -> None:
        self._type: Type | None = None
        self._layout = Layout()

    def set_element_type(self, type: Any) -> Any:
        """The type of its elements."""
        self._type = Type(type)
        return self

    def set_layout(self, layout: Layout | str) -> Any:
        """What its axes stand for."""
        self._layout = layout if isinstance(layout, Layout) else Layout(layout)
        return self


class InputTensorInfo(_TensorInfo):
    """What a program gives for an input."""

    def __init__(self) -> None:
        super().__init__()
        self._shape: PartialShape | None = None
        self._color = ColorFormat.UNDEFINED
        self._sub_names: list[str] = []
        self._spatial: tuple[int | None, int | None] | None = None

    def set_shape(self, shape: Any) -> InputTensorInfo:
        """Its extents."""
        self._shape = PartialShape(shape)
        return self

    def set_color_format(
        self, format: ColorFormat, sub_names: Sequence[str] | None = None
    ) -> InputTensorInfo:
        """What its channels are.

        Args:
            format: the format; those of several planes make an input of each plane.
            sub_names: what the planes are called, behind the name of the input.

        Raises:
            InvalidArgument: there are not as many names as planes.
        """
        color = member("format", format, ColorFormat)
        count = PLANES[color].tensors if color in PLANES else 1
        names = [] if sub_names is None else [string("sub_names", one) for one in sub_names]
        if names and len(names) != (count if count > 1 else 0):
            raise InvalidArgument(f"sub_names: {color.name} has {count} planes, got {len(names)}")
        self._color, self._sub_names = color, names
        return self

    def set_spatial_static_shape(self, height: int, width: int) -> InputTensorInfo:
        """Its height and width."""
        self._spatial = (height, width)
        return self

    def set_spatial_dynamic_shape(self) -> InputTensorInfo:
        """Its height and width are open."""
        self._spatial = (None, None)
        return self

    def set_from(self, runtime_tensor: Tensor) -> InputTensorInfo:
        """Type and extents of a tensor."""
        given = instance("runtime_tensor", runtime_tensor, Tensor)
        self._type, self._shape = given.element_type, PartialShape(given.shape)
        return self

    def set_memory_type(self, memory_type: str) -> NoReturn:
        """Refused: values lie in the memory of the host.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument("set_memory_type: values lie in the memory of the host")


class OutputTensorInfo(_TensorInfo):
    """What a program takes of an output."""


class InputModelInfo:
    """What the model's own input is."""

    def __init__(self) -> None:
        self._layout = Layout()

    def set_layout(self, layout: Layout | str) -> Any:
        """What its axes stand for."""
        self._layout = layout if isinstance(layout, Layout) else Layout(layout)
        return self


class OutputModelInfo(InputModelInfo):
    """What the model's own output is."""


class InputInfo:
    """An input: what is given, the steps, and what the model has."""

    def __init__(self, port: Output) -> None:
        self._port = port
        self._tensor = InputTensorInfo()
        self._steps = PreProcessSteps()
        self._model = InputModelInfo()

    def tensor(self) -> InputTensorInfo:
        """What a program gives."""
        return self._tensor

    def preprocess(self) -> PreProcessSteps:
        """The steps."""
        return self._steps

    def model(self) -> InputModelInfo:
        """What the model has."""
        return self._model

    def _is_changed(self) -> bool:
        given = self._tensor
        return bool(
            self._steps._steps
            or given._spatial
            or given._shape is not None
            or given._type is not None
            or not given._layout.empty
            or given._color in PLANES
        )

    def _shape(self, model: list[int | None], layout: Layout, given: Layout) -> list[int | None]:
        """The extents of what a program gives."""
        tensor = self._tensor
        if tensor._shape is not None:
            return [one.get_length() if one.is_static else None for one in tensor._shape]
        shape = list(model)
        if not layout.empty and not given.empty:
            names, wanted = layout._of_rank(len(shape)), given._of_rank(len(shape))
            if sorted(names) != sorted(wanted):
                raise InvalidArgument(f"a layout {given} cannot become {layout}")
            if names != wanted:
                shape = [shape[names.index(one)] for one in wanted]
        for order in reversed(self._steps._orders):
            shape = [shape[order.index(axis)] for axis in range(len(order))]
        if tensor._color in COUNTS and given.has_name("C"):
            shape[given._of_rank(len(shape)).index("C")] = COUNTS[tensor._color]
        if tensor._spatial:
            for name, extent in zip("HW", tensor._spatial, strict=True):
                if not given.has_name(name):
                    raise InvalidArgument(f"spatial shape: the layout {given} has no axis {name}")
                shape[given._of_rank(len(shape)).index(name)] = extent
        return shape

    def _planes(self, model: list[int | None], layout: Layout) -> list[list[int | None]]:
        """The extents of each tensor that a program gives for a frame of video."""
        tensor, form = self._tensor, PLANES[self._tensor._color]
        if not tensor._layout.empty and tensor._layout != Layout("NHWC"):
            raise InvalidArgument(f"{tensor._color.name} has the layout NHWC, not {tensor._layout}")
        if tensor._shape is not None and form.tensors == 1:
            return [[one.get_length() if one.is_static else None for one in tensor._shape]]
        extents: dict[str, int | None] = dict.fromkeys("NHW")
        if tensor._shape is not None:
            lengths = [one.get_length() if one.is_static else None for one in tensor._shape]
            extents.update(zip("NHW", lengths, strict=False))
        elif not layout.empty:
            names = layout._of_rank(len(model))
            extents.update({one: model[names.index(one)] for one in "NHW" if one in names})
        if tensor._spatial:
            extents.update(zip("HW", tensor._spatial, strict=True))
        return form.shapes(extents["N"], extents["H"], extents["W"])

    def _apply(self, graph: Any, number: int) -> Layout:
        """Puts the steps before the model; returns the layout of what is given."""
        port, tensor = self._port, self._tensor
        extents = _extents_of(port)
        layout = port.node.layout if self._model._layout.empty else self._model._layout
        given = layout if tensor._layout.empty else tensor._layout
        kind = port.element_type if tensor._type is None else tensor._type
        if tensor._color in PLANES:
            given, shapes = Layout("NHWC"), self._planes(extents, layout)
        else:
            shapes = [self._shape(extents, layout, given)]
        new = graph.begin_input(number, kind, shapes, tensor._sub_names)
        state = _State(graph, new, given, extents)
        state.color, state.model_layout = tensor._color, layout
        for step in self._steps._steps:
            step(state)
        if not layout.empty and not state.layout.empty:
            state.to_layout(layout)
        state.to_type(port.element_type)
        _check_fits(port, extents, state.value.shape)
        graph.end_input(number, state.value, new)
        return given


class OutputInfo:
    """An output: what the model has, the steps, and what is taken."""

    def __init__(self, port: Output) -> None:
        self._port = port
        self._tensor = OutputTensorInfo()
        self._steps = PostProcessSteps()
        self._model = OutputModelInfo()

    def tensor(self) -> OutputTensorInfo:
        """What a program takes."""
        return self._tensor

    def postprocess(self) -> PostProcessSteps:
        """The steps."""
        return self._steps

    def model(self) -> OutputModelInfo:
        """What the model has."""
        return self._model

    def _is_changed(self) -> bool:
        taken = self._tensor
        return bool(self._steps._steps or taken._type is not None or not taken._layout.empty)

    def _apply(self, graph: Any, number: int) -> Layout:
        """Puts the steps behind the model; returns the layout of what is taken."""
        port, tensor = self._port, self._tensor
        extents = _extents_of(port)
        layout = port.node.layout if self._model._layout.empty else self._model._layout
        value = graph.begin_output(number, port.element_type, extents)
        state = _State(graph, [value], layout, extents)
        for step in self._steps._steps:
            step(state)
        if tensor._type is not None:
            state.to_type(tensor._type)
        if not tensor._layout.empty and not state.layout.empty:
            state.to_layout(tensor._layout)
        if state.value is not value:
            graph.end_output(number, state.value)
        return state.layout


def _extents_of(port: Output) -> list[int | None]:
    shape = port.partial_shape
    if shape.rank.is_dynamic:
        raise InvalidArgument(f"'{port.any_name}': steps need a known number of axes")
    return [one.get_length() if one.is_static else None for one in shape]


def _check_fits(port: Output, model: list[int | None], made: list[int | None]) -> None:
    fits = len(model) == len(made) and all(
        Dimension(-1 if a is None else a).compatible(-1 if b is None else b)
        for a, b in zip(model, made, strict=True)
    )
    if not fits:
        shape = PartialShape([-1 if one is None else one for one in made])
        raise InvalidArgument(
            f"input '{port.any_name}': the steps give the shape {shape}, and the model has "
            f"{port.partial_shape}"
        )


class PrePostProcessor:
    """Puts steps before the inputs and behind the outputs of a model."""

    def __init__(self, model: Model) -> None:
        self._model = instance("model", model, Model)
        self._inputs: dict[int, InputInfo] = {}
        self._outputs: dict[int, OutputInfo] = {}

    def input(self, tensor_input_index: Key | None = None) -> InputInfo:
        """An input, by number or any of its names; the only one without.

        Raises:
            InvalidArgument: there is none.
        """
        port = self._model.input(tensor_input_index)
        return self._inputs.setdefault(port.index, InputInfo(port))

    def output(self, tensor_output_index: Key | None = None) -> OutputInfo:
        """An output, by number or any of its names; the only one without.

        Raises:
            InvalidArgument: there is none.
        """
        port = self._model.output(tensor_output_index)
        return self._outputs.setdefault(port.index, OutputInfo(port))

    def build(self) -> Model:
        """Changes the model, and returns it.

        Raises:
            InvalidArgument: a step does not fit; then the model is as it was.
        """
        changed: list[InputInfo | OutputInfo]
        changed = [one for one in self._inputs.values() if one._is_changed()]
        changed += [one for one in self._outputs.values() if one._is_changed()]
        named: list[InputInfo | OutputInfo] = [*self._inputs.values(), *self._outputs.values()]
        layouts = {
            one._port._port.name: one._model._layout
            for one in named
            if not one._model._layout.empty
        }

        def change(graph: Any) -> None:
            for one in changed:
                layouts[one._port._port.name] = one._apply(graph, one._port.index)

        if changed:
            self._model._change(change)
        inputs = {one._port._port.name for one in changed if isinstance(one, InputInfo)}
        self._model._settle(inputs, layouts)
        return self._model
