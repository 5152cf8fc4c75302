# ===- _ort_value.py - Values as onnxruntime's programs hold them ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""OrtValue: a tensor, sequence or optional with onnxruntime's methods."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import ml_dtypes
import numpy as np

from loopc import _loopc
from loopc._arguments import extents, integer
from loopc._errors import InvalidArgument
from loopc._ort_device import OrtMemoryInfo

#: ONNX's number and name of each element type, and NumPy's type.
_ELEMENT_TYPES: dict[int, tuple[str, Any]] = {
    1: ("float", np.float32),
    2: ("uint8", np.uint8),
    3: ("int8", np.int8),
    4: ("uint16", np.uint16),
    5: ("int16", np.int16),
    6: ("int32", np.int32),
    7: ("int64", np.int64),
    8: ("string", np.object_),
    9: ("bool", np.bool_),
    10: ("float16", np.float16),
    11: ("double", np.float64),
    12: ("uint32", np.uint32),
    13: ("uint64", np.uint64),
    14: ("complex64", np.complex64),
    15: ("complex128", np.complex128),
    16: ("bfloat16", ml_dtypes.bfloat16),
    17: ("float8e4m3fn", ml_dtypes.float8_e4m3fn),
    18: ("float8e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    19: ("float8e5m2", ml_dtypes.float8_e5m2),
    20: ("float8e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    21: ("uint4", ml_dtypes.uint4),
    22: ("int4", ml_dtypes.int4),
    23: ("float4e2m1", ml_dtypes.float4_e2m1fn),
    24: ("float8e8m0", ml_dtypes.float8_e8m0fnu),
    25: ("uint2", ml_dtypes.uint2),
    26: ("int2", ml_dtypes.int2),
}
#: Outputs at multiples of it are computed in place (docs/ABI.md).
_ALIGNMENT = 64
#: Types whose elements are less than a byte, of which NumPy's arrays have a byte each.
_PACKED = frozenset(("uint4", "int4", "float4_e2m1fn", "uint2", "int2"))
_NUMBERS = {np.dtype(dtype): number for number, (_, dtype) in _ELEMENT_TYPES.items()}


def number_of(dtype: Any) -> int:
    """ONNX's number of an element type of NumPy or ml_dtypes.

    Raises:
        InvalidArgument: ONNX has no such type.
    """
    kind = np.dtype(dtype)
    if kind not in _NUMBERS and kind.kind not in "USO":
        raise InvalidArgument(f"ONNX has no tensors of NumPy's type {kind!r}")
    return _NUMBERS.get(kind, 8)


def name_of(element_type: int) -> str:
    """ONNX's name of an element type by its number, the number where there is none."""
    return _ELEMENT_TYPES.get(element_type, (str(element_type),))[0]


def dtype_of(element_type: Any) -> Any:
    """NumPy's type for a NumPy type, its name, or ONNX's number.

    Raises:
        InvalidArgument: there is no such element type.
    """
    if isinstance(element_type, int) and not isinstance(element_type, bool):
        if element_type not in _ELEMENT_TYPES:
            raise InvalidArgument(f"element_type: ONNX has no element type {element_type}")
        return np.dtype(_ELEMENT_TYPES[element_type][1])
    try:
        dtype = np.dtype(element_type)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"element_type: {error}") from None
    if dtype not in _NUMBERS and dtype.kind not in "US":
        raise InvalidArgument(f"element_type: {dtype} is no element type of a tensor")
    return dtype


def is_cuda(device_type: str, device_id: int) -> bool:
    """Whether a device is a CUDA device; otherwise it is the CPU.

    Raises:
        InvalidArgument: it is neither.
    """
    isdevice = isinstance(device_type, str) and isinstance(device_id, int | np.integer)
    if isdevice and device_type == "cuda" and device_id >= 0:
        return True
    if not isdevice or device_type != "cpu" or device_id != 0:
        raise InvalidArgument(f"device {device_type}:{device_id}: values are on cpu:0 or cuda:N")
    return False


def device_view(
    device_id: int, element_type: Any, shape: Sequence[int], address: int
) -> _loopc.DeviceTensor:
    """Memory of a caller on a CUDA device; nobody checks that it is as large.

    Raises:
        InvalidArgument: the type has elements that are no whole bytes or no numbers,
            or the shape is wrong.
    """
    known, at = extents("shape", shape), integer(address, "buffer_ptr")
    return _loopc.device_view(device_id, dtype_of(element_type).name, known, at)


def array_at(element_type: Any, shape: Sequence[int], address: int) -> np.ndarray:
    """The memory of a caller as an array; nobody checks that it is as large.

    Raises:
        InvalidArgument: the type has elements that are no whole bytes or no numbers,
            the shape is wrong, or the address is null.
    """
    dtype = dtype_of(element_type)
    if dtype.kind in "OUS" or dtype.name in _PACKED:
        raise InvalidArgument(f"element_type: {dtype} cannot be bound by its address")
    known, at = extents("shape", shape), integer(address, "buffer_ptr")
    count = int(np.prod(known, dtype=object))
    if count == 0:
        return np.empty(known, dtype)
    if at <= 0:
        raise InvalidArgument("buffer_ptr: the address is null or negative")
    if at + count * dtype.itemsize > 2**63:
        raise InvalidArgument(f"shape: no memory has {known} elements")
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(at)
    return np.ndarray(known, dtype, memory)


def host_place(port: Any, memory: np.ndarray) -> tuple[Any, int, list[int]] | None:
    """An array with its address and extents, for a run that writes an output there.

    Args:
        port: the output, a `NodeArg`.
        memory: the array.

    Returns:
        None where the array is not as the output is: a run would refuse it, or take its
        bytes for something else.
    """
    if port is None or port.shape is None or not memory.flags.c_contiguous:
        return None
    if memory.dtype.kind == "O" or len(port.shape) != memory.ndim or not memory.flags.writeable:
        return None
    number = _NUMBERS.get(memory.dtype)
    if number is None or memory.dtype.name in _PACKED:
        return None
    if port.type != f"tensor({name_of(number)})":
        return None
    return memory, memory.ctypes.data, list(memory.shape)


def aligned_zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Zeros at an address where a run computes an output without a copy.

    Raises:
        ValueError: no memory has so many elements.
    """
    kind = np.dtype(dtype)
    if kind.hasobject or kind.kind in "US":
        return np.zeros(shape, kind)
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    if size > 2**63 - 1 - _ALIGNMENT:
        raise ValueError(f"no memory has {list(shape)} elements")
    memory = np.zeros(size + _ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % _ALIGNMENT
    return np.ndarray(shape, kind, memory, begin)


class SparseTensor:
    """onnxruntime's class, for programs that name it in types: nothing here makes one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise InvalidArgument("there are no sparse tensors at the border of a model")


class _Capsule:
    """What DLPack's protocol wants beside a capsule: methods, and the device."""

    def __init__(self, capsule: Any) -> None:
        api = ctypes.pythonapi
        api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
        if not api.PyCapsule_IsValid(capsule, b"dltensor"):
            raise InvalidArgument("data: the capsule holds no tensor, or was used before")
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        # A DLTensor begins with the address of its elements.
        at = api.PyCapsule_GetPointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
        kind, number = (ctypes.c_int32 * 2).from_address(at)
        self._capsule, self._device = capsule, (kind, number)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


class OrtValue:
    """A value of an input or output, with the methods of onnxruntime's class.

    `InferenceSession.run` takes such values beside arrays.
    """

    def __init__(self, value: Any) -> None:
        # Read by the extension, which takes what is inside for an input.
        self._loopc_value = value

    @classmethod
    def ortvalue_from_numpy(
        cls,
        numpy_obj: np.ndarray,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
    ) -> Self:
        """A value that shares the array's memory, or a copy of it on a CUDA device.

        A vendor makes no difference: devices are the CPU and NVIDIA's.

        Raises:
            DeviceError: there is no such device, or it has no memory.
        """
        on_cuda = is_cuda(device_type, device_id)
        if not isinstance(numpy_obj, np.ndarray):
            raise InvalidArgument(f"numpy_obj: expected an array, got {type(numpy_obj).__name__}")
        return cls(_loopc.upload(device_id, numpy_obj) if on_cuda else numpy_obj)

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: np.ndarray, onnx_element_type: int) -> Self:
        """A value of ONNX's element type over the bytes of `data`.

        Raises:
            InvalidArgument: there is no such type, or its elements have another size.
        """
        dtype = dtype_of(onnx_element_type)
        if dtype.itemsize != data.dtype.itemsize:
            raise InvalidArgument(
                f"onnx_element_type: elements of {dtype} do not have the size of {data.dtype}"
            )
        return cls(np.ascontiguousarray(data).view(dtype).reshape(data.shape))

    @classmethod
    def ortvalue_from_shape_and_type(
        cls,
        shape: Sequence[int],
        element_type: Any = np.float32,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
        memory_info: OrtMemoryInfo | None = None,
    ) -> Self:
        """A tensor of zeros, for an output to be written to.

        `memory_info` names a device in the place of the two arguments for it.
        """
        if memory_info is not None:
            device_type, device_id = memory_info.name.lower(), memory_info.device_id
        known, dtype = extents("shape", shape), dtype_of(element_type)
        try:
            zeros = aligned_zeros(known, dtype)
        except ValueError as error:
            raise InvalidArgument(f"shape: {error}") from None
        return cls.ortvalue_from_numpy(zeros, device_type, device_id)

    @classmethod
    def from_dlpack(cls, data: Any, is_bool_tensor: bool = False) -> Self:
        """A value that shares memory with an object that has ``__dlpack__``, or a capsule of it.

        Raises:
            InvalidArgument: it is neither, or its memory cannot be used.
        """
        if type(data).__name__ == "PyCapsule":
            data = _Capsule(data)
        if not hasattr(data, "__dlpack__") or not hasattr(data, "__dlpack_device__"):
            raise InvalidArgument(f"data: {type(data).__qualname__} has no __dlpack__")
        if data.__dlpack_device__()[0] in (2, 13):
            return cls(_loopc.device_from_dlpack(data))
        try:
            array = np.from_dlpack(data)
        except BufferError as error:
            raise InvalidArgument(f"data: {error}") from None
        return cls(array.view(np.bool_) if is_bool_tensor else array)

    def _array(self) -> np.ndarray:
        if not isinstance(self._loopc_value, np.ndarray):
            raise InvalidArgument(
                "the value is on a device" if self._is_on_device() else "the value is no tensor"
            )
        return self._loopc_value

    def _is_on_device(self) -> bool:
        return isinstance(self._loopc_value, _loopc.DeviceTensor)

    def _tensor(self) -> Any:
        """The array, or the tensor on a device."""
        return self._loopc_value if self._is_on_device() else self._array()

    def numpy(self) -> Any:
        """The array; the list of a sequence, None for an empty optional.

        Of a tensor on a device it is a copy.
        """
        return self._loopc_value.numpy() if self._is_on_device() else self._loopc_value

    def shape(self) -> list[int]:
        """The extents of a tensor."""
        return list(self._tensor().shape)

    def element_type(self) -> int:
        """ONNX's number of a tensor's element type."""
        dtype = self._tensor().dtype
        if isinstance(dtype, str):
            special = getattr(ml_dtypes, dtype, None)
            dtype = np.dtype(dtype if special is None else special)
        return number_of(dtype)

    def data_type(self) -> str:
        """The type as ONNX writes it: "tensor(float)", "seq(tensor(int64))"."""
        value = self._loopc_value
        if value is None:
            return "optional()"
        if isinstance(value, list | tuple):
            return f"seq({OrtValue(value[0]).data_type()})" if value else "seq()"
        return f"tensor({_ELEMENT_TYPES[self.element_type()][0]})"

    def device_name(self) -> str:
        """Where the value is: "cpu" or "cuda"."""
        return "cuda" if self._is_on_device() else "cpu"

    def has_value(self) -> bool:
        """False for an empty optional."""
        return self._loopc_value is not None

    def is_tensor(self) -> bool:
        """Whether it is a tensor."""
        return isinstance(self._loopc_value, np.ndarray | _loopc.DeviceTensor)

    def is_sparse_tensor(self) -> bool:
        """False: there are no sparse tensors."""
        return False

    def as_sparse_tensor(self) -> NoReturn:
        """Raises InvalidArgument: there are no sparse tensors."""
        raise InvalidArgument("the value is no sparse tensor: loopc has none")

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor: Any) -> NoReturn:
        """Raises InvalidArgument: there are no sparse tensors."""
        raise InvalidArgument("loopc has no sparse tensors: make a dense one")

    def is_tensor_sequence(self) -> bool:
        """Whether it is a sequence of tensors."""
        return isinstance(self._loopc_value, list | tuple)

    def data_ptr(self) -> int:
        """The address of a tensor's first element."""
        if self._is_on_device():
            return int(self._loopc_value.data_ptr)
        return int(self._array().ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        """The bytes of a tensor's elements."""
        return int(self._tensor().nbytes)

    def update_inplace(self, np_arr: np.ndarray) -> None:
        """Copies the elements of an array of the same type and shape into the tensor.

        Raises:
            InvalidArgument: type or shape differ, or the tensor is on a device.
        """
        copy_into(self._array(), np_arr, "np_arr")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy() if self._is_on_device() else self._array()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._tensor().__dlpack__(**kwargs)

    def to_dlpack(self) -> Any:
        """DLPack's capsule of the tensor."""
        return self.__dlpack__()

    @property
    def _ortvalue(self) -> Self:
        """onnxruntime's name of what a value is inside, which has methods of the same names."""
        return self

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._loopc_value.__dlpack_device__() if self._is_on_device() else (1, 0)

    def __repr__(self) -> str:
        shape = f" {self.shape()}" if self.is_tensor() else ""
        return f"<OrtValue {self.data_type()}{shape}>"


def copy_into(target: np.ndarray, value: Any, what: str) -> None:
    """Copies an array into memory that was there before.

    Raises:
        InvalidArgument: it has another type or shape, or the memory cannot be written.
    """
    if not isinstance(value, np.ndarray):
        raise InvalidArgument(f"{what}: expected a tensor, got {type(value).__name__}")
    if value.dtype != target.dtype or value.shape != target.shape:
        raise InvalidArgument(
            f"{what}: {value.dtype}{list(value.shape)} does not fit into "
            f"{target.dtype}{list(target.shape)}"
        )
    if not target.flags.writeable:
        raise InvalidArgument(f"{what}: its memory is read-only")
    np.copyto(target, value)


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies the elements of tensors into tensors of the same types and shapes.

    Raises:
        InvalidArgument: there is another number of them, one does not fit, or one that
            is written to is on a device.
    """
    if len(src) != len(dst):
        raise InvalidArgument(f"dst: expected {len(src)} tensors, got {len(dst)}")
    for at, (value, memory) in enumerate(zip(src, dst, strict=True)):
        copy_into(memory._array(), value.numpy(), f"dst: #{at}")
