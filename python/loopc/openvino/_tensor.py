# ===- _tensor.py - Values of requests ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tensor, under OpenVINO's name."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopc._arguments import array as _as_array
from loopc._arguments import instance, integers
from loopc._errors import InvalidArgument
from loopc._ort_value import aligned_zeros
from loopc.openvino._types import Shape, Strides, Type


class Tensor:
    """A value: an array, as it is.

    Its arguments are an array and whether its memory is shared; an array, the shape that its
    elements have and their type; a type and a shape of a new one; an input or output of which
    it has both; or a tensor and the first and last places of a part of it.

    Raises:
        InvalidArgument: the array holds something else than numbers and texts, or has fewer
            elements than the shape.
    """

    def __init__(
        self, array: Any, shared_memory: Any = False, type: Any = None, *, shape: Any = None
    ) -> None:
        if isinstance(shared_memory, bool | np.bool_ | int) and shape is None:
            self._data = self._made(array, bool(shared_memory))
            return
        shape = shared_memory if shape is None else shape
        if isinstance(array, Type):
            text = array == Type.string
            extents = Shape(shape)
            self._data = (
                np.full(extents, "", object) if text else aligned_zeros(extents, array.to_dtype())
            )
        elif isinstance(array, Tensor):
            ends = integers("end", type)
            begins = integers("begin", shape)
            self._data = array._data[tuple(map(slice, begins, ends))]
        else:
            given = _as_array("array", array)
            dtype = given.dtype if type is None else instance("type", type, Type).to_dtype()
            flat = given.reshape(-1)
            flat = flat if type is None else flat.view(dtype)
            count = int(np.prod(Shape(shape), dtype=np.int64))
            if count > flat.size:
                raise InvalidArgument(f"array: {flat.size} elements are not enough for {shape}")
            self._data = flat[:count].reshape(Shape(shape))

    @staticmethod
    def _made(given: Any, is_shared: bool) -> np.ndarray[Any, Any]:
        if isinstance(given, Tensor):
            return given._data
        described = getattr(given, "partial_shape", None)
        if described is not None:
            return Tensor(given.element_type, described.to_shape())._data
        array = _as_array("array", given)
        return array if is_shared else array.copy()

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The array itself: what is written into it is in the tensor."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        self._data[...] = value

    @property
    def str_data(self) -> np.ndarray[Any, Any]:
        """The array of texts."""
        return self._data

    @property
    def bytes_data(self) -> np.ndarray[Any, Any]:
        """The texts as bytes in UTF-8."""
        texts = [str(one).encode() for one in self._data.flat]
        return np.array(texts, np.bytes_).reshape(self._data.shape)

    @property
    def element_type(self) -> Type:
        """The type of its elements."""
        return Type(self._data.dtype)

    def get_element_type(self) -> Type:
        """The type of its elements."""
        return self.element_type

    @property
    def shape(self) -> Shape:
        """Its extents."""
        return Shape(self._data.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.set_shape(shape)

    def get_shape(self) -> Shape:
        """Its extents."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Other extents: of the same memory where that is enough, else of new memory.

        Raises:
            InvalidArgument: it is no shape.
        """
        extents = Shape(shape)
        if extents == self._data.shape:
            return
        count = int(np.prod(extents, dtype=np.int64))
        if count <= self._data.size and self._data.flags.c_contiguous:
            self._data = self._data.reshape(-1)[:count].reshape(extents)
        elif self._data.dtype.kind == "O":
            self._data = np.full(extents, "", object)
        else:
            self._data = np.zeros(extents, self._data.dtype)

    @property
    def strides(self) -> Strides:
        """The bytes from an element to the next of each axis."""
        return Strides(self._data.strides)

    def get_strides(self) -> Strides:
        """As `strides`."""
        return self.strides

    def is_continuous(self) -> bool:
        """Whether its elements lie one behind the other."""
        return self._data.flags.c_contiguous

    def copy_to(self, target_tensor: Tensor) -> None:
        """Copies elements and extents into another tensor.

        Raises:
            InvalidArgument: the types differ.
        """
        target = instance("target_tensor", target_tensor, Tensor)
        if target._data.dtype != self._data.dtype:
            raise InvalidArgument(
                f"target_tensor: its type is {target.element_type}, and this one's "
                f"{self.element_type}"
            )
        target.set_shape(self.shape)
        target._data[...] = self._data

    def copy_from(self, source: Any) -> None:
        """Takes elements and extents of a tensor or an array."""
        (source if isinstance(source, Tensor) else Tensor(source, True)).copy_to(self)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    def get_size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def byte_size(self) -> int:
        """The bytes of its elements."""
        return self._data.nbytes

    def get_byte_size(self) -> int:
        """The bytes of its elements."""
        return self._data.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._data, dtype) if copy else np.asarray(self._data, dtype)

    def __repr__(self) -> str:
        return f"<Tensor: shape{self.shape} type: {self.element_type}>"
