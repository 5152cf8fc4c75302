# ===- _ort_device.py - Devices as onnxruntime names them ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""OrtDevice and OrtMemoryInfo, for programs that name where values are."""

from __future__ import annotations

from collections.abc import Mapping

from loopc._enums import Named
from loopc._errors import InvalidArgument

#: onnxruntime's numbers of kinds of devices, and of the vendor that a name stands for.
_KINDS = {"cpu": (0, 0), "gpu": (1, 0), "cuda": (1, 0x10DE)}


class OrtAllocatorType(Named):
    """onnxruntime's allocators; loopc has one."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(Named):
    """What memory is used for."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(Named):
    """What can reach memory of a device."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(Named):
    """onnxruntime's kinds of devices."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


class OrtDeviceVendorId(Named):
    """PCI's numbers of vendors."""

    NONE = 0
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


class OrtDevice:
    """A device that values are on."""

    def __init__(self, name: str, device_id: int, vendor_id: int = -1) -> None:
        if name not in _KINDS:
            known = ", ".join(_KINDS)
            raise InvalidArgument(f"device {name!r}: there is no such device; there are: {known}")
        if not isinstance(device_id, int) or device_id < 0:
            raise InvalidArgument(f"device_id: expected 0 or more, got {device_id!r}")
        self._kind, vendor = _KINDS[name]
        self._id = device_id
        self._vendor = vendor if vendor_id < 0 else int(vendor_id)

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        """The device "cpu", "cuda" or "gpu" of a number.

        Raises:
            InvalidArgument: there is no such kind of devices.
        """
        return OrtDevice(ort_device_name, device_id, vendor_id)

    @staticmethod
    def cpu() -> int:
        """The number of the CPU's kind."""
        return 0

    @staticmethod
    def cuda() -> int:
        """The number of GPUs' kind."""
        return 1

    @staticmethod
    def default_memory() -> int:
        """The number of ordinary memory."""
        return int(OrtDeviceMemoryType.DEFAULT)

    def device_type(self) -> int:
        """The number of its kind: 0 is the CPU, 1 a GPU."""
        return self._kind

    def device_id(self) -> int:
        """Its number among those of its kind."""
        return self._id

    def device_vendor_id(self) -> int:
        """PCI's number of its vendor; 0 where it is not known."""
        return self._vendor

    def device_mem_type(self) -> int:
        """What can reach its memory: OrtDeviceMemoryType."""
        return int(OrtDeviceMemoryType.DEFAULT)


class OrtMemoryInfo:
    """Memory that values lie in.

    Attributes:
        name: "Cpu" or "Cuda".
        allocator_type: where it comes from.
        device_id: the number of the device.
        mem_type: what it is used for.
    """

    def __init__(
        self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType
    ) -> None:
        self.name = name
        self.allocator_type = allocator_type
        self.device_id = device_id
        self.mem_type = mem_type
        self._device_mem_type = OrtDeviceMemoryType.DEFAULT
        self._vendor = _KINDS.get(name.lower(), (0, 0))[1]

    @staticmethod
    def create_v2(
        name: str,
        device_type: OrtMemoryInfoDeviceType,
        vendor_id: int,
        device_id: int,
        device_mem_type: OrtDeviceMemoryType,
        alignment: int,
        allocator_type: OrtAllocatorType,
    ) -> OrtMemoryInfo:
        """Memory under any name; the kind of the device and the alignment are not kept."""
        info = OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT)
        info._device_mem_type = device_mem_type
        info._vendor = vendor_id
        return info

    @property
    def device_mem_type(self) -> OrtDeviceMemoryType:
        """What can reach it."""
        return self._device_mem_type

    @property
    def device_vendor_id(self) -> int:
        """PCI's number of the device's vendor; 0 where it is not known."""
        return self._vendor


class OrtArenaCfg:
    """How an arena of onnxruntime grows; loopc has no arenas, and only keeps the numbers.

    Attributes:
        max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk,
            initial_growth_chunk_size_bytes, max_power_of_two_extend_bytes: as onnxruntime
            has them.
    """

    def __init__(
        self,
        max_mem: int | Mapping[str, int],
        arena_extend_strategy: int = -1,
        initial_chunk_size_bytes: int = -1,
        max_dead_bytes_per_chunk: int = -1,
    ) -> None:
        self.max_mem = 0 if isinstance(max_mem, Mapping) else max_mem
        self.arena_extend_strategy = arena_extend_strategy
        self.initial_chunk_size_bytes = initial_chunk_size_bytes
        self.max_dead_bytes_per_chunk = max_dead_bytes_per_chunk
        self.initial_growth_chunk_size_bytes = -1
        self.max_power_of_two_extend_bytes = -1
        for name, value in max_mem.items() if isinstance(max_mem, Mapping) else ():
            if name not in vars(self):
                raise InvalidArgument(f"an arena has no setting {name!r}")
            setattr(self, name, value)


def memory_info(device: int | None) -> OrtMemoryInfo:
    """The memory of a CUDA device, or of the host for None."""
    name = "Cpu" if device is None else "Cuda"
    return OrtMemoryInfo(
        name, OrtAllocatorType.ORT_DEVICE_ALLOCATOR, device or 0, OrtMemType.DEFAULT
    )
