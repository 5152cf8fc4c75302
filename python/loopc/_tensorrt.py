# ===- _tensorrt.py - Engines and contexts ------------------------------------===#
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
import sys
import tempfile
from collections.abc import Sequence
from enum import IntEnum, auto
from pathlib import Path
from typing import Any

import numpy as np

from loopc._arguments import data, extents, file_path, instance, integer, integers, member, string
from loopc._compile import compile as _compile
from loopc._errors import CompileError, Error, InvalidArgument
from loopc._network_types import data_type, numpy_type
from loopc._ort_value import array_at
from loopc._session import InferenceSession, NodeArg
from loopc._session import load as _load
from loopc.network import DataType, INetworkDefinition

# ===------------------------------------------------------------------------===#
# Logs
# ===------------------------------------------------------------------------===#


class ILogger:
    """Who is told what is wrong; `log` is the caller's."""

    class Severity(IntEnum):
        """How much it matters: the less, the greater."""

        INTERNAL_ERROR = 0
        ERROR = 1
        WARNING = 2
        INFO = 3
        VERBOSE = 4

    INTERNAL_ERROR = Severity.INTERNAL_ERROR
    ERROR = Severity.ERROR
    WARNING = Severity.WARNING
    INFO = Severity.INFO
    VERBOSE = Severity.VERBOSE

    def log(self, severity: ILogger.Severity, msg: str) -> None:
        """Takes a message."""
        raise NotImplementedError("a logger has a method log(severity, msg)")


class Logger(ILogger):
    """Writes messages to standard error."""

    def __init__(self, min_severity: ILogger.Severity = ILogger.WARNING) -> None:
        self.min_severity = member("min_severity", min_severity, ILogger.Severity)

    def log(self, severity: ILogger.Severity, msg: str) -> None:
        """Writes a message that is severe enough."""
        if severity <= self.min_severity:
            print(f"[TRT] [{severity.name[0]}] {msg}", file=sys.stderr)


# ===------------------------------------------------------------------------===#
# Building
# ===------------------------------------------------------------------------===#


class Weights:
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


class NetworkDefinitionCreationFlag(IntEnum):
    """Both are how every network is here."""

    EXPLICIT_BATCH = 0
    STRONGLY_TYPED = 1


class MemoryPoolType(IntEnum):
    """Memory of an engine. Limits are kept as they are given, and have no effect on a run."""

    WORKSPACE = 0
    DLA_MANAGED_SRAM = 1
    DLA_LOCAL_DRAM = 2
    DLA_GLOBAL_DRAM = 3
    TACTIC_DRAM = 4
    TACTIC_SHARED_MEMORY = 5


class IOptimizationProfile:
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

    def _fixed(self) -> dict[str, list[int | None]]:
        return {
            name: [a if a == c else None for a, _, c in zip(*shapes, strict=True)]
            for name, shapes in self._shapes.items()
        }


class BuilderFlag(IntEnum):
    """What a builder may do. All of these are permissions, which it need not use."""

    FP16 = auto()
    BF16 = auto()
    TF32 = auto()
    INT8 = auto()
    DEBUG = auto()
    GPU_FALLBACK = auto()
    REFIT = auto()
    DISABLE_TIMING_CACHE = auto()


class IBuilderConfig:
    """How an engine is built."""

    def __init__(self) -> None:
        self.builder_optimization_level = 3
        self._flags: set[BuilderFlag] = set()
        self._profiles: list[IOptimizationProfile] = []
        self._limits: dict[MemoryPoolType, int] = {}

    def set_flag(self, flag: BuilderFlag) -> None:
        """Permits it. What a model computes in keeps its types all the same.

        Raises:
            InvalidArgument: an engine cannot be refitted.
        """
        given = member("flag", flag, BuilderFlag)
        if given == BuilderFlag.REFIT:
            raise InvalidArgument("BuilderFlag.REFIT: weights are part of an engine")
        self._flags.add(given)

    def clear_flag(self, flag: BuilderFlag) -> None:
        """Takes a permission back."""
        self._flags.discard(member("flag", flag, BuilderFlag))

    def get_flag(self, flag: BuilderFlag) -> bool:
        """Whether it is permitted."""
        return member("flag", flag, BuilderFlag) in self._flags

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Adds a profile; an engine has one.

        Raises:
            InvalidArgument: it has one already.
        """
        if self._profiles:
            raise InvalidArgument("an engine has one optimization profile: leave extents open")
        self._profiles.append(instance("profile", profile, IOptimizationProfile))
        return 0

    @property
    def num_optimization_profiles(self) -> int:
        """Of those that were added."""
        return len(self._profiles)

    def set_memory_pool_limit(self, pool: MemoryPoolType, pool_size: int) -> None:
        """Keeps a limit; an engine takes the memory that the model needs."""
        self._limits[member("pool", pool, MemoryPoolType)] = integer(pool_size, "pool_size")

    def get_memory_pool_limit(self, pool: MemoryPoolType) -> int:
        """The limit that was set."""
        return self._limits.get(member("pool", pool, MemoryPoolType), 0)


class IHostMemory(bytes):
    """An engine as bytes."""

    @property
    def nbytes(self) -> int:
        """Their number."""
        return len(self)


class Network(INetworkDefinition):
    """A network of layers, or the model that a parser has read."""

    def __init__(self) -> None:
        super().__init__("network")
        self._model: bytes | None = None
        self._folder: str | None = None


class Builder:
    """Makes networks and engines."""

    def __init__(self, logger: ILogger) -> None:
        self.logger = logger

    def create_network(self, flags: int = 0) -> Network:
        """An empty network; the flags make no difference."""
        return Network()

    def create_builder_config(self) -> IBuilderConfig:
        """A configuration."""
        return IBuilderConfig()

    def create_optimization_profile(self) -> IOptimizationProfile:
        """A profile."""
        return IOptimizationProfile()

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
        shapes = config._profiles[0]._fixed() if config._profiles else {}
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            file = Path(folder) / "engine.so"
            try:
                _compile(
                    network if network._model is None else network._model,
                    file,
                    emit="shared",
                    cpu="native",
                    opt_level=min(level, 3),
                    shapes=shapes,
                    base_directory=network._folder,
                )
            except Error as error:
                self.logger.log(ILogger.ERROR, str(error))
                return None
            return IHostMemory(file.read_bytes())

    def build_engine_with_config(
        self, network: Network, config: IBuilderConfig
    ) -> ICudaEngine | None:
        """The same as an engine."""
        plan = self.build_serialized_network(network, config)
        return None if plan is None else Runtime(self.logger).deserialize_cuda_engine(plan)


class ParserError:
    """What is wrong with a model."""

    def __init__(self, text: str) -> None:
        self._text = text

    def desc(self) -> str:
        """In words."""
        return self._text

    def __str__(self) -> str:
        return self._text


class OnnxParser:
    """Reads an ONNX model into an empty network."""

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
        with tempfile.TemporaryDirectory(prefix="loopc-") as scratch:
            try:
                _compile(
                    bytes_of_model, Path(scratch) / "x.mlir", emit="onnx", base_directory=folder
                )
            except CompileError as error:
                self._errors = [ParserError(str(error))]
                self._logger.log(ILogger.ERROR, str(error))
                return False
        self._network._model, self._network._folder = bytes_of_model, folder
        return True

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


# ===------------------------------------------------------------------------===#
# Running
# ===------------------------------------------------------------------------===#


class TensorIOMode(IntEnum):
    """What a tensor of an engine is."""

    NONE = 0
    INPUT = 1
    OUTPUT = 2


class IOutputAllocator:
    """Gives memory to an output whose shape only the run knows; both are the caller's."""

    def reallocate_output(self, tensor_name: str, memory: int, size: int, alignment: int) -> int:
        """The address of `size` bytes; `memory` is the one from before, or 0."""
        raise NotImplementedError("an allocator has a method reallocate_output")

    def notify_shape(self, tensor_name: str, shape: tuple[int, ...]) -> None:
        """Takes the shape of the result."""
        raise NotImplementedError("an allocator has a method notify_shape")


class ICudaEngine:
    """A compiled model, whose tensors are its inputs, and then its outputs."""

    def __init__(self, plan: bytes, logger: ILogger) -> None:
        self._plan = IHostMemory(data("plan", plan))
        self._logger = logger
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            file = Path(folder) / "engine.so"
            file.write_bytes(self._plan)
            self._session: InferenceSession = _load(file)
        self._inputs = {port.name: port for port in self._session.get_inputs()}
        self._outputs = {port.name: port for port in self._session.get_outputs()}

    @property
    def num_io_tensors(self) -> int:
        """Inputs and outputs."""
        return len(self._inputs) + len(self._outputs)

    def get_tensor_name(self, index: int) -> str:
        """The name of tensor `index`."""
        known = [*self._inputs, *self._outputs]
        at = integer(index, "index")
        if not 0 <= at < len(known):
            raise InvalidArgument(f"index: there are {len(known)} tensors, and none of number {at}")
        return known[at]

    def __getitem__(self, index: int) -> str:
        return self.get_tensor_name(index)

    def __iter__(self) -> Any:
        return iter([*self._inputs, *self._outputs])

    def _port(self, name: str) -> NodeArg:
        known_name = isinstance(name, str)
        port = (self._inputs.get(name) or self._outputs.get(name)) if known_name else None
        if port is None:
            known = ", ".join(map(repr, self))
            raise InvalidArgument(f"the engine has no tensor {name!r}; it has: {known}")
        return port

    def get_tensor_mode(self, name: str) -> TensorIOMode:
        """Whether it is an input or an output."""
        self._port(name)
        return TensorIOMode.INPUT if name in self._inputs else TensorIOMode.OUTPUT

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        """Its extents; -1 where the run chooses one."""
        shape = self._port(name).shape or []
        return tuple(one if isinstance(one, int) else -1 for one in shape)

    def get_tensor_dtype(self, name: str) -> DataType:
        """The type of its elements."""
        return data_type(_element(self._port(name)))

    def create_execution_context(self) -> IExecutionContext:
        """A context; those of one engine may run at a time."""
        return IExecutionContext(self)

    def serialize(self) -> IHostMemory:
        """What it was made of."""
        return self._plan


def _element(port: NodeArg) -> str:
    inner = port.type.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(inner, inner)


class IExecutionContext:
    """Runs of an engine, with the addresses that they read and write."""

    def __init__(self, engine: ICudaEngine) -> None:
        self.engine = engine
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._addresses: dict[str, int] = {}
        self._allocators: dict[str, IOutputAllocator] = {}

    def set_input_shape(self, name: str, shape: Sequence[int]) -> bool:
        """The extents of an input; false where they do not fit the engine."""
        known = self.engine.get_tensor_shape(name)
        given = tuple(integers("shape", shape))
        fits = len(known) == len(given) and all(
            one in (-1, other) for one, other in zip(known, given, strict=True)
        )
        if not fits:
            text = f"the input '{name}' of shape {known} cannot have the shape {given}"
            self.engine._logger.log(ILogger.ERROR, text)
            return False
        self._shapes[name] = given
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        """The extents of an input, or of an output of the run before."""
        known = self.engine.get_tensor_shape(name)
        return self._shapes.get(name, known)

    def set_tensor_address(self, name: str, memory: int) -> bool:
        """Where an input is read, or an output is written to: memory of the host."""
        self.engine._port(name)
        self._addresses[name] = integer(memory, "memory")
        return True

    def get_tensor_address(self, name: str) -> int:
        """What was set; else 0."""
        self.engine._port(name)
        return self._addresses.get(name, 0)

    def set_output_allocator(self, name: str, output_allocator: IOutputAllocator) -> bool:
        """Who gives memory to an output when its shape is known."""
        self.engine._port(name)
        self._allocators[name] = output_allocator
        return True

    def _read(self, name: str, port: NodeArg) -> Any:
        shape = self.get_tensor_shape(name)
        if -1 in shape:
            raise InvalidArgument(f"the input '{name}' of shape {shape} has no set_input_shape()")
        if not self._addresses.get(name):
            raise InvalidArgument(f"the input '{name}' has no set_tensor_address()")
        return array_at(_element(port), shape, self._addresses[name])

    def _write(self, name: str, port: NodeArg, value: Any) -> None:
        result = np.ascontiguousarray(value)
        address = self._addresses.get(name, 0)
        if allocator := self._allocators.get(name):
            address = allocator.reallocate_output(name, address, max(result.nbytes, 1), 64)
            allocator.notify_shape(name, result.shape)
        if not address:
            raise InvalidArgument(f"the output '{name}' has no set_tensor_address()")
        self._shapes[name] = result.shape
        array_at(_element(port), result.shape, address)[...] = result

    def execute_v2(self, bindings: Sequence[int]) -> bool:
        """Runs with an address for each tensor, in their order; false where that fails."""
        names = list(self.engine)
        addresses = integers("bindings", bindings)
        if len(addresses) != len(names):
            raise InvalidArgument(
                f"bindings: {len(addresses)} addresses for the {len(names)} tensors "
                + ", ".join(map(repr, names))
            )
        for name, address in zip(names, addresses, strict=True):
            self.set_tensor_address(name, address)
        return self.execute_async_v3(0)

    def execute_async_v3(self, stream_handle: int) -> bool:
        """Runs, and returns when all outputs are written; false where that fails."""
        try:
            feeds = {name: self._read(name, port) for name, port in self.engine._inputs.items()}
            results = self.engine._session.run(None, feeds)
            for (name, port), value in zip(self.engine._outputs.items(), results, strict=True):
                self._write(name, port, value)
        except Error as error:
            self.engine._logger.log(ILogger.ERROR, str(error))
            return False
        return True


class Runtime:
    """Makes engines of their bytes."""

    def __init__(self, logger: ILogger) -> None:
        self.logger = logger

    def deserialize_cuda_engine(self, serialized_engine: bytes) -> ICudaEngine | None:
        """The engine; None where the bytes are none, or are another machine's."""
        plan = data("serialized_engine", serialized_engine)
        try:
            return ICudaEngine(plan, self.logger)
        except Error as error:
            self.logger.log(ILogger.ERROR, str(error))
            return None


def nptype(trt_type: DataType) -> np.dtype[Any]:
    """The type of numpy that a type is."""
    return numpy_type(instance("trt_type", trt_type, DataType))


def volume(iterable: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(integers("iterable", iterable))


__all__ = [
    "Builder",
    "BuilderFlag",
    "IBuilderConfig",
    "ICudaEngine",
    "IExecutionContext",
    "IHostMemory",
    "ILogger",
    "IOptimizationProfile",
    "IOutputAllocator",
    "Logger",
    "MemoryPoolType",
    "Network",
    "NetworkDefinitionCreationFlag",
    "OnnxParser",
    "ParserError",
    "Runtime",
    "TensorIOMode",
    "Weights",
    "nptype",
    "volume",
]
