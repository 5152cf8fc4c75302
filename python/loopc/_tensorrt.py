# ===- _tensorrt.py - Builders and parsers ------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What loopc.tensorrt has beside the networks of loopc.network."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from loopc._arguments import (
    data,
    extents,
    file_path,
    instance,
    integer,
    integers,
    member,
    string,
)
from loopc._compile import compile as _compile
from loopc._errors import CompileError, Error, InvalidArgument
from loopc._network_types import data_type, numpy_type
from loopc._outline import outline
from loopc._tensorrt_base import (
    DeviceType,
    Documented,
    EngineCapability,
    ExecutionContextAllocationStrategy,
    HardwareCompatibilityLevel,
    IHostMemory,
    ILogger,
    Logger,
    PreviewFeature,
    ProfilingVerbosity,
    TacticSource,
    TensorFormat,
    TensorIOMode,
    TensorLocation,
    plan_of,
)
from loopc._tensorrt_elsewhere import elsewhere
from loopc._tensorrt_network import (
    Dims,
    Dims2,
    Dims3,
    Dims4,
    DimsHW,
    Network,
    NetworkDefinitionCreationFlag,
    Permutation,
)
from loopc._tensorrt_run import ICudaEngine, IExecutionContext, IOutputAllocator, Runtime
from loopc.network import DataType

# ===------------------------------------------------------------------------===#
# Building
# ===------------------------------------------------------------------------===#


class Weights(Documented):
    """Values of a layer: an array, or the number of none of a type."""

    def __init__(self, values: Any = None) -> None:
        if isinstance(values, DataType):
            values = np.empty(0, numpy_type(values))
        self._array = np.asarray([] if values is None else values)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array."""
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._array, dtype)

    def __len__(self) -> int:
        return self._array.size

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def nbytes(self) -> int:
        """The bytes of them."""
        return self._array.nbytes

    @property
    def dtype(self) -> DataType:
        """Their type."""
        return data_type(self._array.dtype)


class MemoryPoolType(IntEnum):
    """Memory of an engine. Limits are kept as they are given, and have no effect on a run."""

    WORKSPACE = 0
    DLA_MANAGED_SRAM = 1
    DLA_LOCAL_DRAM = 2
    DLA_GLOBAL_DRAM = 3
    TACTIC_DRAM = 4
    TACTIC_SHARED_MEMORY = 5


class IOptimizationProfile(Documented):
    """Shapes of inputs; an extent that cannot change is fixed in the engine."""

    def __init__(self) -> None:
        self._shapes: dict[str, list[tuple[int, ...]]] = {}

    def set_shape(
        self, input: str, min: Sequence[int], opt: Sequence[int], max: Sequence[int]
    ) -> None:
        """The smallest, usual and largest shape of an input."""
        name = string("input", input)
        given = (("min", min), ("opt", opt), ("max", max))
        shapes = [tuple(extents(what, one)) for what, one in given]
        if len({len(one) for one in shapes}) != 1:
            raise InvalidArgument(
                f"set_shape('{name}'): min, opt and max differ in their rank: {shapes}"
            )
        if not all(a <= b <= c for a, b, c in zip(*shapes, strict=True)):
            raise InvalidArgument(f"set_shape('{name}'): min, opt and max do not ascend: {shapes}")
        self._shapes[name] = shapes

    def get_shape(self, input: str) -> list[tuple[int, ...]]:
        """What was set, or nothing."""
        return self._shapes.get(string("input", input), [])

    def __bool__(self) -> bool:
        return True

    def set_shape_input(
        self, input: str, min: Sequence[int], opt: Sequence[int], max: Sequence[int]
    ) -> None:
        """Nothing: values of inputs that shapes depend on are open."""

    def get_shape_input(self, input: str) -> list[tuple[int, ...]]:
        """Nothing."""
        return []


class BuilderFlag(IntEnum):
    """What a builder may do. All but those of refitting are permissions, which it need not use."""

    FP16 = 0
    INT8 = 1
    DEBUG = 2
    GPU_FALLBACK = 3
    REFIT = 4
    DISABLE_TIMING_CACHE = 5
    TF32 = 6
    SPARSE_WEIGHTS = 7
    SAFETY_SCOPE = 8
    OBEY_PRECISION_CONSTRAINTS = 9
    PREFER_PRECISION_CONSTRAINTS = 10
    DIRECT_IO = 11
    REJECT_EMPTY_ALGORITHMS = 12
    VERSION_COMPATIBLE = 13
    EXCLUDE_LEAN_RUNTIME = 14
    FP8 = 15
    ERROR_ON_TIMING_CACHE_MISS = 16
    BF16 = 17
    DISABLE_COMPILATION_CACHE = 18
    STRIP_PLAN = 19
    REFIT_IDENTICAL = 20
    WEIGHT_STREAMING = 21
    INT4 = 22
    REFIT_INDIVIDUAL = 23
    STRICT_NANS = 24
    MONITOR_MEMORY = 25


_REFITS = {
    BuilderFlag.REFIT,
    BuilderFlag.REFIT_IDENTICAL,
    BuilderFlag.REFIT_INDIVIDUAL,
    BuilderFlag.STRIP_PLAN,
}


class ITimingCache(Documented):
    """Nothing: no kernels are timed when an engine is built."""

    def serialize(self) -> IHostMemory:
        """No bytes."""
        return IHostMemory()

    def combine(self, input_cache: ITimingCache, ignore_mismatch: bool) -> bool:
        """True."""
        return True

    def reset(self) -> bool:
        """True."""
        return True


#: What a configuration keeps and tells, and what it is without. Only the level has an effect.
_KEPT: dict[str, Any] = {
    "builder_optimization_level": 3,
    "avg_timing_iterations": 1,
    "default_device_type": DeviceType.GPU,
    "DLA_core": -1,
    "engine_capability": EngineCapability.STANDARD,
    "hardware_compatibility_level": HardwareCompatibilityLevel.NONE,
    "max_aux_streams": 0,
    "plugins_to_serialize": [],
    "profile_stream": 0,
    "profiling_verbosity": ProfilingVerbosity.LAYER_NAMES_ONLY,
    "progress_monitor": None,
}


class IBuilderConfig(Documented):
    """How an engine is built."""

    def __init__(self) -> None:
        vars(self).update(_KEPT)
        vars(self).update(plugins_to_serialize=[])
        vars(self).update(_flags=set(), _profiles=[], _limits={}, _cache=None)
        self._flags: set[BuilderFlag]
        self._profiles: list[IOptimizationProfile]
        self._limits: dict[MemoryPoolType, int]
        self._cache: ITimingCache | None
        self.builder_optimization_level: int

    def __setattr__(self, name: str, value: Any) -> None:
        """Keeps what is known, and refuses what would be forgotten in silence."""
        if name == "flags":
            bits = integer(value, "flags")
            wanted = [one for one in BuilderFlag if bits >> one & 1]
            vars(self)["_flags"] = set()
            for one in wanted:
                self.set_flag(one)
            return
        if name not in vars(self):
            where = elsewhere(name)
            text = f"an IBuilderConfig has no {name!r}" + (f": {where}" if where else "")
            raise AttributeError(text, name=name, obj=self)
        vars(self)[name] = value

    @property
    def flags(self) -> int:
        """What is permitted, a bit each."""
        return sum(1 << one for one in self._flags)

    def set_flag(self, flag: BuilderFlag) -> None:
        """Permits it. What a model computes in keeps its types all the same.

        Raises:
            InvalidArgument: an engine cannot be refitted.
        """
        given = member("flag", flag, BuilderFlag)
        if given in _REFITS:
            raise InvalidArgument(f"BuilderFlag.{given.name}: weights are part of an engine")
        self._flags.add(given)

    def clear_flag(self, flag: BuilderFlag) -> None:
        """Takes a permission back."""
        self._flags.discard(member("flag", flag, BuilderFlag))

    def get_flag(self, flag: BuilderFlag) -> bool:
        """Whether it is permitted."""
        return member("flag", flag, BuilderFlag) in self._flags

    def reset(self) -> None:
        """As a new one."""
        self.__init__()  # type: ignore[misc]

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Adds a profile, and returns its number: the engine is for the shapes of all of them."""
        self._profiles.append(instance("profile", profile, IOptimizationProfile))
        return len(self._profiles) - 1

    @property
    def num_optimization_profiles(self) -> int:
        """Of those that were added."""
        return len(self._profiles)

    def _fixed(self) -> dict[str, list[int | None]]:
        """Extents that are one number in all profiles."""
        made: dict[str, list[int | None]] = {}
        for profile in self._profiles:
            for name, (least, _, most) in profile._shapes.items():
                own = [a if a == b else None for a, b in zip(least, most, strict=True)]
                known = made.get(name, own)
                if len(known) != len(own):
                    raise InvalidArgument(f"the profiles of '{name}' differ in their rank")
                made[name] = [a if a == b else None for a, b in zip(known, own, strict=True)]
        return made

    def set_memory_pool_limit(self, pool: MemoryPoolType, pool_size: int) -> None:
        """Keeps a limit; an engine takes the memory that the model needs."""
        self._limits[member("pool", pool, MemoryPoolType)] = integer(pool_size, "pool_size")

    def get_memory_pool_limit(self, pool: MemoryPoolType) -> int:
        """The limit that was set."""
        return self._limits.get(member("pool", pool, MemoryPoolType), 0)

    def create_timing_cache(self, serialized_timing_cache: bytes) -> ITimingCache:
        """A cache, of nothing."""
        return ITimingCache()

    def set_timing_cache(self, cache: ITimingCache, ignore_mismatch: bool) -> bool:
        """Keeps it."""
        self._cache = instance("cache", cache, ITimingCache)
        return True

    def get_timing_cache(self) -> ITimingCache | None:
        """The cache that was set."""
        return self._cache

    def set_preview_feature(self, feature: Any, enable: bool) -> None:
        """Nothing: there are no previews."""

    def set_tactic_sources(self, tactic_sources: int) -> bool:
        """Nothing: kernels are the compiler's own."""
        return True

    def set_device_type(self, layer: Any, device_type: DeviceType) -> None:
        """Nothing: all layers run on one device."""

    def can_run_on_DLA(self, layer: Any) -> bool:  # noqa: N802
        """False."""
        return False


class Builder(Documented):
    """Makes networks and engines."""

    platform_has_fast_fp16 = True
    platform_has_fast_int8 = True
    platform_has_tf32 = False
    num_DLA_cores = 0  # noqa: N815
    max_DLA_batch_size = 0  # noqa: N815

    def __init__(self, logger: ILogger) -> None:
        self.logger = logger
        self.max_threads = os.cpu_count() or 1
        self.error_recorder: Any = None
        self.gpu_allocator: Any = None

    def create_network(self, flags: int = 0) -> Network:
        """An empty network; the flags make no difference."""
        return Network()

    def create_builder_config(self) -> IBuilderConfig:
        """A configuration."""
        return IBuilderConfig()

    def create_optimization_profile(self) -> IOptimizationProfile:
        """A profile."""
        return IOptimizationProfile()

    def reset(self) -> None:
        """Nothing: a builder keeps nothing."""

    def is_network_supported(self, network: Network, config: IBuilderConfig) -> bool:
        """Whether an engine can be built of it."""
        return self.build_serialized_network(network, config) is not None

    def build_serialized_network(
        self, network: Network, config: IBuilderConfig
    ) -> IHostMemory | None:
        """Compiles for this machine; None where that fails, which the logger is told."""
        instance("network", network, Network)
        instance("config", config, IBuilderConfig)
        level = integer(config.builder_optimization_level, "builder_optimization_level")
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            file = Path(folder) / "engine.so"
            try:
                _compile(
                    network if network._model is None else network._model,
                    file,
                    emit="shared",
                    # By which C++ (loopc/TensorRT.h) finds it, too.
                    name="engine",
                    cpu="native",
                    opt_level=min(level, 3),
                    shapes={**network._shapes, **config._fixed()},
                    base_directory=network._folder,
                )
            except Error as error:
                self.logger.log(ILogger.ERROR, str(error))
                return None
            told = {
                "name": network.name,
                "profiles": [profile._shapes for profile in config._profiles],
                "outline": (outline(network) if network._model is None else network._outline),
            }
            return plan_of(file.read_bytes(), told)

    def build_engine_with_config(
        self, network: Network, config: IBuilderConfig
    ) -> ICudaEngine | None:
        """The same as an engine."""
        plan = self.build_serialized_network(network, config)
        return None if plan is None else Runtime(self.logger).deserialize_cuda_engine(plan)


class OnnxParserFlag(IntEnum):
    """What a parser may do; none makes a difference."""

    NATIVE_INSTANCENORM = 0
    ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA = 1
    REPORT_CAPABILITY_DLA = 2
    ENABLE_PLUGIN_OVERRIDE = 3
    ADJUST_FOR_DLA = 4


class ParserError(Documented):
    """What is wrong with a model; where, stands in its words."""

    def __init__(self, text: str) -> None:
        self._text = text

    def code(self) -> int:
        """The number of a model that is not supported or invalid."""
        return 1

    def node(self) -> int:
        """-1: the words name the node."""
        return -1

    def desc(self) -> str:
        """In words."""
        return self._text

    def __str__(self) -> str:
        return self._text


class OnnxParser(Documented):
    """Reads an ONNX model into an empty network."""

    flags = 0

    def __init__(self, network: Network, logger: ILogger) -> None:
        self._network = instance("network", network, Network)
        self._logger = logger
        self._errors: list[ParserError] = []

    def parse(self, model: bytes, path: str | None = None) -> bool:
        """Reads a serialized model; `path` says where its external data lie."""
        self._errors = []
        if self._network.num_layers or self._network.num_inputs:
            raise InvalidArgument("a model is parsed into an empty network")
        bytes_of_model = data("model", model)
        beside = None if path is None else file_path("path", path)
        folder = os.path.dirname(os.path.abspath(beside)) if beside else None
        try:
            self._network._outline = outline(bytes_of_model, folder)
        except CompileError as error:
            self._errors = [ParserError(str(error))]
            self._logger.log(ILogger.ERROR, str(error))
            return False
        self._network._model, self._network._folder = bytes_of_model, folder
        return True

    def set_flag(self, flag: OnnxParserFlag) -> None:
        """Permits it."""
        self.flags |= 1 << member("flag", flag, OnnxParserFlag)

    def clear_flag(self, flag: OnnxParserFlag) -> None:
        """Takes a permission back."""
        self.flags &= ~(1 << member("flag", flag, OnnxParserFlag))

    def get_flag(self, flag: OnnxParserFlag) -> bool:
        """Whether it is permitted."""
        return bool(self.flags >> member("flag", flag, OnnxParserFlag) & 1)

    def supports_operator(self, op_name: str) -> bool:
        """Refused.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument("whether a model is supported parse() says, with what is not")

    def parse_from_file(self, path: str) -> bool:
        """Reads a model in a file."""
        path = file_path("path", path)
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            text = f"cannot read {path!r}: {error.strerror}"
            self._errors = [ParserError(text)]
            self._logger.log(ILogger.ERROR, text)
            return False
        return self.parse(model, path)

    @property
    def num_errors(self) -> int:
        """Of the call before."""
        return len(self._errors)

    def get_error(self, index: int) -> ParserError:
        """One of them."""
        at = integer(index, "index")
        if not 0 <= at < len(self._errors):
            raise InvalidArgument(
                f"index: there are {len(self._errors)} errors, none of number {at}"
            )
        return self._errors[at]

    def clear_errors(self) -> None:
        """Forgets them."""
        self._errors = []


def nptype(trt_type: DataType) -> np.dtype[Any]:
    """The type of numpy that a type is."""
    return numpy_type(instance("trt_type", trt_type, DataType))


def init_libnvinfer_plugins(logger: ILogger | None = None, namespace: str = "") -> bool:
    """Nothing: there are no plugins to be made ready."""
    return True


def volume(iterable: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(integers("iterable", iterable))


__all__ = [
    "Builder",
    "BuilderFlag",
    "DeviceType",
    "Dims",
    "Dims2",
    "Dims3",
    "Dims4",
    "DimsHW",
    "EngineCapability",
    "ExecutionContextAllocationStrategy",
    "HardwareCompatibilityLevel",
    "IBuilderConfig",
    "ICudaEngine",
    "IExecutionContext",
    "IHostMemory",
    "ILogger",
    "IOptimizationProfile",
    "IOutputAllocator",
    "ITimingCache",
    "Logger",
    "MemoryPoolType",
    "Network",
    "NetworkDefinitionCreationFlag",
    "OnnxParser",
    "OnnxParserFlag",
    "ParserError",
    "Permutation",
    "PreviewFeature",
    "ProfilingVerbosity",
    "Runtime",
    "TacticSource",
    "TensorFormat",
    "TensorIOMode",
    "TensorLocation",
    "Weights",
    "init_libnvinfer_plugins",
    "nptype",
    "volume",
]
