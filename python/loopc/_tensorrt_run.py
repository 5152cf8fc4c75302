# ===- _tensorrt_run.py - Engines and contexts -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Engines that were built, and their runs."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopc._arguments import data, integer, integers
from loopc._errors import Error, InvalidArgument
from loopc._network_types import data_type, numpy_type
from loopc._ort_value import array_at, host_place
from loopc._outline import shapes_of
from loopc._session import InferenceSession, NodeArg
from loopc._session import load as _load
from loopc._tensorrt_base import (
    Documented,
    ExecutionContextAllocationStrategy,
    IHostMemory,
    ILogger,
    ProfilingVerbosity,
    TensorFormat,
    TensorIOMode,
    TensorLocation,
    parts_of,
)
from loopc.network import DataType


class IOutputAllocator:
    """Gives memory to an output whose shape only the run knows; both are the caller's."""

    def reallocate_output(self, tensor_name: str, memory: int, size: int, alignment: int) -> int:
        """The address of `size` bytes; `memory` is the one from before, or 0."""
        raise NotImplementedError("an allocator has a method reallocate_output")

    def notify_shape(self, tensor_name: str, shape: tuple[int, ...]) -> None:
        """Takes the shape of the result."""
        raise NotImplementedError("an allocator has a method notify_shape")


class ICudaEngine(Documented):
    """A compiled model, whose tensors are its inputs, and then its outputs."""

    refittable = False
    has_implicit_batch_dimension = False
    device_memory_size = 0
    device_memory_size_v2 = 0
    num_aux_streams = 0

    def __init__(self, plan: bytes, logger: ILogger) -> None:
        self._plan = IHostMemory(data("plan", plan))
        self._logger = logger
        library, told = parts_of(self._plan)
        self.name: str = told["name"]
        # Engines that C++ writes have none.
        self._outline: str = told.get("outline", "")
        self._known_shapes: dict[tuple[Any, ...], dict[str, tuple[int, ...]]] = {}
        #: Of each profile by input: the smallest, usual and largest shape.
        self._profiles: list[dict[str, list[tuple[int, ...]]]] = [
            {name: [tuple(one) for one in shapes] for name, shapes in profile.items()}
            for profile in told["profiles"]
        ]
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            file = Path(folder) / "engine.so"
            file.write_bytes(library)
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

    def _shapes_for(self, inputs: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The shapes of outputs that follow from shapes of all inputs; computed once for each."""
        key = _key(inputs)
        if key not in self._known_shapes:
            self._known_shapes[key] = shapes_of(self._outline, inputs) if self._outline else {}
        return self._known_shapes[key]

    def get_tensor_dtype(self, name: str) -> DataType:
        """The type of its elements."""
        return data_type(element_of(self._port(name)))

    def get_tensor_location(self, name: str) -> TensorLocation:
        """The memory of the host."""
        self._port(name)
        return TensorLocation.HOST

    def get_tensor_format(self, name: str, profile_index: int = 0) -> TensorFormat:
        """One row behind the other."""
        self._port(name)
        return TensorFormat.LINEAR

    def get_tensor_bytes_per_component(self, name: str) -> int:
        """The bytes of an element."""
        return int(np.dtype(numpy_type(self.get_tensor_dtype(name))).itemsize)

    def get_tensor_components_per_element(self, name: str, profile_index: int = 0) -> int:
        """-1: elements do not lie in vectors."""
        self._port(name)
        return -1

    def get_tensor_vectorized_dim(self, name: str, profile_index: int = 0) -> int:
        """-1: elements do not lie in vectors."""
        self._port(name)
        return -1

    def get_tensor_format_desc(self, name: str, profile_index: int = 0) -> str:
        """How the elements lie, in words."""
        return f"Row-major linear {self.get_tensor_dtype(name).name} format"

    def is_shape_inference_io(self, name: str) -> bool:
        """False: all tensors lie in the memory of the host."""
        self._port(name)
        return False

    @property
    def num_optimization_profiles(self) -> int:
        """Of those that it was built with; one without any."""
        return max(len(self._profiles), 1)

    def get_tensor_profile_shape(self, name: str, profile_index: int) -> list[tuple[int, ...]]:
        """The smallest, usual and largest shape of an input in a profile; [] where it has none."""
        self._port(name)
        at = self._profile(profile_index)
        return self._profiles[at].get(name, []) if self._profiles else []

    def _profile(self, index: int) -> int:
        at = integer(index, "profile_index")
        if not 0 <= at < self.num_optimization_profiles:
            raise InvalidArgument(
                f"profile_index: there are {self.num_optimization_profiles} profiles, none of "
                f"number {at}"
            )
        return at

    def create_execution_context(
        self,
        strategy: ExecutionContextAllocationStrategy = ExecutionContextAllocationStrategy.STATIC,
    ) -> IExecutionContext:
        """A context; those of one engine may run at a time. Memory is the runs' own."""
        return IExecutionContext(self)

    def create_execution_context_without_device_memory(self) -> IExecutionContext:
        """The same."""
        return IExecutionContext(self)

    def serialize(self) -> IHostMemory:
        """What it was made of."""
        return self._plan


def _key(shapes: Mapping[str, tuple[int, ...]]) -> tuple[Any, ...]:
    return tuple(sorted(shapes.items()))


def _either(shape: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """The extents that one of two descriptions of one shape tells."""
    return tuple(b if a == -1 else a for a, b in zip(shape, other, strict=True))


def element_of(port: NodeArg) -> str:
    """The element type of a port, as networks call it."""
    inner = port.type.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(inner, inner)


class IExecutionContext(Documented):
    """Runs of an engine, with the addresses that they read and write."""

    def __init__(self, engine: ICudaEngine) -> None:
        self.engine = engine
        self.name = ""
        self.debug_sync = False
        self.enqueue_emits_profile = True
        self.nvtx_verbosity = ProfilingVerbosity.LAYER_NAMES_ONLY
        self.persistent_cache_limit = 0
        self.device_memory = 0
        self.error_recorder: Any = None
        self.active_optimization_profile = 0
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._addresses: dict[str, int] = {}
        self._allocators: dict[str, IOutputAllocator] = {}

    def set_input_shape(self, name: str, shape: Sequence[int]) -> bool:
        """The extents of an input; false where they do not fit the engine."""
        known = self.engine.get_tensor_shape(name)
        if name not in self.engine._inputs:
            raise InvalidArgument(f"'{name}' is an output: its shape follows")
        given = tuple(integers("shape", shape))
        fits = len(known) == len(given) and all(
            other >= 0 and one in (-1, other) for one, other in zip(known, given, strict=True)
        )
        text = f"the input '{name}' of shape {known} cannot have the shape {given}"
        bounds = self.engine.get_tensor_profile_shape(name, self.active_optimization_profile)
        if fits and bounds:
            least, _, most = bounds
            fits = all(a <= one <= b for a, one, b in zip(least, given, most, strict=True))
            text += f": profile {self.active_optimization_profile} has {least} to {most}"
        if not fits:
            self.engine._logger.log(ILogger.ERROR, text)
            return False
        self._shapes[name] = given
        # What outputs were in a run before, they need not be in the next.
        for output in self.engine._outputs:
            self._shapes.pop(output, None)
        return True

    def set_optimization_profile_async(self, profile_index: int, stream_handle: int) -> bool:
        """The profile that shapes of inputs are from; those that were set are forgotten."""
        self.active_optimization_profile = self.engine._profile(profile_index)
        for name in self.engine._inputs:
            self._shapes.pop(name, None)
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        """The extents of an input, or of an output.

        Before a run an output's are those that follow from the shapes of the inputs, once all
        of them are set; -1 where values decide.
        """
        port = self.engine._port(name)
        if name in self._shapes:
            return self._shapes[name]
        shape = self._by_names(port)
        if -1 not in shape or name in self.engine._inputs or self.infer_shapes():
            return shape
        follows = self.engine._shapes_for(self._of_inputs()).get(name, shape)
        return _either(shape, follows)

    def _by_names(self, port: NodeArg) -> tuple[int, ...]:
        """The extents that the engine and the names of the inputs' extents tell."""
        named = self._extents()
        return tuple(
            one if isinstance(one, int) else named.get(one or "", -1) for one in port.shape or []
        )

    def _of_inputs(self) -> dict[str, tuple[int, ...]]:
        return {name: self.get_tensor_shape(name) for name in self.engine._inputs}

    def _extents(self) -> dict[str, int]:
        """The extents of inputs that have names."""
        return {
            one: extent
            for name, port in self.engine._inputs.items()
            for one, extent in zip(port.shape or [], self._shapes.get(name, ()), strict=False)
            if isinstance(one, str)
        }

    def get_tensor_strides(self, name: str) -> tuple[int, ...]:
        """The elements from one to the next of each axis."""
        shape = self.get_tensor_shape(name)
        return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))

    def get_max_output_size(self, name: str) -> int:
        """The bytes of an output whose shape is known; 0 of another."""
        shape = self.get_tensor_shape(name)
        each = self.engine.get_tensor_bytes_per_component(name)
        return 0 if -1 in shape else math.prod(shape) * each

    @property
    def all_binding_shapes_specified(self) -> bool:
        """Whether all inputs have shapes."""
        return not self.infer_shapes()

    @property
    def all_shape_inputs_specified(self) -> bool:
        """True: there are none."""
        return True

    def infer_shapes(self) -> list[str]:
        """The inputs whose shapes have not been set."""
        return [name for name in self.engine._inputs if -1 in self.get_tensor_shape(name)]

    def set_output_tensor_address(self, name: str, memory: int) -> bool:
        """As `set_tensor_address`, of an output."""
        return self.set_tensor_address(name, memory)

    def get_output_tensor_address(self, name: str) -> int:
        """As `get_tensor_address`, of an output."""
        return self.get_tensor_address(name)

    def get_output_allocator(self, name: str) -> IOutputAllocator | None:
        """Who gives memory to an output; None where nobody does."""
        self.engine._port(name)
        return self._allocators.get(name)

    def set_device_memory(self, memory: int, size: int) -> None:
        """Nothing: a run takes the memory that it needs."""

    def set_input_consumed_event(self, event: int) -> bool:
        """True: inputs have been read when a run returns."""
        return True

    def set_aux_streams(self, aux_streams: Sequence[int]) -> None:
        """Nothing: there are no streams."""

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
        return array_at(element_of(port), shape, self._addresses[name])

    def _buffers(self) -> dict[str, Any]:
        """The places that outputs have, of those whose shapes are known before the run."""
        known = self.engine._known_shapes.get(_key(self._of_inputs()), {})
        found: dict[str, Any] = {}
        for name, port in self.engine._outputs.items():
            shape = self._by_names(port)
            shape = _either(shape, known.get(name, shape))
            if self._allocators.get(name) or not self._addresses.get(name) or -1 in shape:
                continue
            array = array_at(element_of(port), shape, self._addresses[name])
            if place := host_place(port, array):
                found[name] = place
        return found

    def _write(self, name: str, port: NodeArg, value: Any) -> None:
        result = np.ascontiguousarray(value)
        address = self._addresses.get(name, 0)
        if allocator := self._allocators.get(name):
            address = allocator.reallocate_output(name, address, max(result.nbytes, 1), 64)
            allocator.notify_shape(name, result.shape)
        if not address:
            raise InvalidArgument(f"the output '{name}' has no set_tensor_address()")
        self._shapes[name] = result.shape
        if result.ctypes.data != address:
            array_at(element_of(port), result.shape, address)[...] = result

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
            results = self.engine._session._run(None, feeds, None, None, self._buffers())
            for (name, port), value in zip(self.engine._outputs.items(), results, strict=True):
                self._write(name, port, value)
        except Error as error:
            self.engine._logger.log(ILogger.ERROR, str(error))
            return False
        return True


class Runtime(Documented):
    """Makes engines of their bytes."""

    DLA_core = -1
    num_DLA_cores = 0  # noqa: N815

    def __init__(self, logger: ILogger) -> None:
        self.logger = logger
        self.engine_host_code_allowed = True
        self.error_recorder: Any = None
        self.gpu_allocator: Any = None
        self.max_threads = 1

    def deserialize_cuda_engine(self, serialized_engine: bytes) -> ICudaEngine | None:
        """The engine; None where the bytes are none, or are another machine's."""
        plan = data("serialized_engine", serialized_engine)
        try:
            return ICudaEngine(plan, self.logger)
        except Error as error:
            self.logger.log(ILogger.ERROR, str(error))
            return None
