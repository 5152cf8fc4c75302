# ===- openvino.py - OpenVINO's names -----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models under the names of OpenVINO's Python API.

A program changes its import::

    from loopc import openvino as ov

    core = ov.Core()
    compiled = core.compile_model("model.xml", "CPU")
    request = compiled.create_infer_request()
    request.start_async({"x": x})
    request.wait()
    print(request.get_tensor("y").data)

docs/OpenVINO.md says which names there are. What is not here is an AttributeError, and what
cannot be done is refused.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as _Timeout
from typing import Any, NoReturn

import numpy as np

from loopc._arguments import array as _as_array
from loopc._arguments import (
    file_path,
    flag,
    index_of,
    instance,
    integer,
    integers,
    mapping,
    number,
    string,
)
from loopc._errors import InvalidArgument, InvalidType
from loopc._network_types import data_type, numpy_type
from loopc._openvino_names import PortNames, port_names
from loopc._options import SessionOptions
from loopc._session import InferenceSession, NodeArg

# Properties that say how fast, and not what; nothing here depends on them.
_IGNORED = {
    "PERFORMANCE_HINT",
    "NUM_STREAMS",
    "PERFORMANCE_HINT_NUM_REQUESTS",
    "EXECUTION_MODE_HINT",
}
_TYPES = {
    "float": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "double": "f64",
    "bool": "boolean",
    "string": "string",
    **{f"{sign}int{bits}": f"{kind}{bits}" for sign, kind in (("", "i"), ("u", "u"))
       for bits in (4, 8, 16, 32, 64)},
}  # fmt: skip
# Requests of a queue, each of which has a thread.
_MOST_JOBS = 1024
_NUMPY = {"float": "float32", "double": "float64"}


class Tensor:
    """A value: an array, as it is.

    Raises:
        InvalidArgument: `array` holds something else than numbers and texts.
    """

    def __init__(self, array: Any, shared_memory: bool = False) -> None:
        given = _as_array("array", array)
        self._data: np.ndarray = given if flag("shared_memory", shared_memory) else given.copy()

    @property
    def data(self) -> np.ndarray:
        """The array itself: what is written into it is in the tensor."""
        return self._data

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self._data.shape

    def get_shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self._data.shape

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

    def __repr__(self) -> str:
        return f"<Tensor: shape{list(self.shape)} type: {self._data.dtype}>"


class ConstOutput:
    """An input or an output of a model."""

    def __init__(self, port: NodeArg, names: PortNames, index: int) -> None:
        self._port = port
        self._names = names
        self.index = index

    @property
    def any_name(self) -> str:
        """One of its names."""
        return self._names.tensor[0] if self._names.tensor else self._port.name

    def get_any_name(self) -> str:
        """One of its names."""
        return self.any_name

    @property
    def names(self) -> set[str]:
        """All names of its tensor."""
        return set(self._names.tensor) or {self._port.name}

    def get_names(self) -> set[str]:
        """All names of its tensor."""
        return self.names

    @property
    def partial_shape(self) -> list[int | str]:
        """Its extents; a name, or -1, where the run chooses one."""
        return [-1 if one is None else one for one in self._port.shape or []]

    def get_partial_shape(self) -> list[int | str]:
        """As `partial_shape`."""
        return self.partial_shape

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents.

        Raises:
            InvalidArgument: the run chooses one of them.
        """
        shape = self._port.shape or []
        fixed = tuple(one for one in shape if isinstance(one, int))
        if self._port.shape is None or len(fixed) != len(shape):
            raise InvalidArgument(f"'{self.any_name}' has no fixed shape: {self.partial_shape}")
        return fixed

    def get_shape(self) -> tuple[int, ...]:
        """As `shape`."""
        return self.shape

    @property
    def element_type(self) -> str:
        """OpenVINO's name of the type of its elements, "f32"."""
        inner = self._port.type.removeprefix("tensor(").removesuffix(")")
        return _TYPES.get(inner, inner)

    def get_element_type(self) -> str:
        """As `element_type`."""
        return self.element_type

    def _knows(self, name: str) -> bool:
        return name == self._port.name or name in self._names.tensor or name == self._names.node

    def __repr__(self) -> str:
        names = ", ".join(sorted(self.names))
        return f"<ConstOutput: names[{names}] shape{self.partial_shape} type: {self.element_type}>"


Key = int | str | ConstOutput


def _zeros(port: ConstOutput) -> np.ndarray:
    inner = port._port.type.removeprefix("tensor(").removesuffix(")")
    if inner == "string":
        return np.full(port.shape, "", object)
    try:
        return np.zeros(port.shape, numpy_type(data_type(_NUMPY.get(inner, inner))))
    except (TypeError, InvalidArgument, MemoryError):
        raise InvalidArgument(
            f"'{port.any_name}' of shape {port.shape} and type {inner} has no array here: "
            "set_tensor() gives it one"
        ) from None


def _converted(array: np.ndarray, port: ConstOutput) -> np.ndarray:
    """`array` with the port's type of numbers, as OpenVINO takes arrays."""
    inner = port._port.type.removeprefix("tensor(").removesuffix(")")
    if array.dtype.kind not in "fiub" or not inner.startswith(("float", "double", "int", "uint")):
        return array
    try:
        return array.astype(numpy_type(data_type(_NUMPY.get(inner, inner))), copy=False)
    except (TypeError, InvalidArgument):
        return array


def _find(ports: Sequence[ConstOutput], key: Key, kind: str) -> int:
    if isinstance(key, ConstOutput):
        key = key._port.name
    if isinstance(key, str):
        for port in ports:
            if port._knows(key):
                return port.index
        known = ", ".join(repr(name) for port in ports for name in sorted(port.names))
        raise InvalidArgument(f"the model has no {kind} {key!r}; it has: {known or 'none'}")
    try:
        at = operator.index(key)
    except (TypeError, ValueError):
        given = type(key).__qualname__
        raise InvalidType(f"{kind}: expected a name, a number or an {kind}, got {given}") from None
    if not -len(ports) <= at < len(ports):
        raise InvalidArgument(f"the model has no {kind} {at}; it has {len(ports)}")
    return at % len(ports)


class Results(Mapping[Key, Any]):
    """The outputs of a run, by number, by any name, or by the output itself."""

    def __init__(self, outputs: Sequence[ConstOutput], values: Sequence[Any]) -> None:
        self._outputs = outputs
        self._values = values

    def __getitem__(self, key: Key) -> Any:
        try:
            return self._values[_find(self._outputs, key, "output")]
        except InvalidArgument as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def to_dict(self) -> dict[Key, Any]:
        """The same as a dict."""
        return dict(zip(self._outputs, self._values, strict=True))

    def to_tuple(self) -> tuple[Any, ...]:
        """The values in their order."""
        return tuple(self._values)


class Model:
    """A model that was read, and not yet compiled."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = file_path("model", path)
        if not os.path.isfile(self._path):
            raise FileNotFoundError(f"cannot read {self._path!r}")
        self._shapes: dict[str, list[int | None]] = {}

    def reshape(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Fixes the shapes of inputs, by name; -1 leaves an extent open."""
        taken = dict(self._shapes)
        for name, shape in mapping("shapes", shapes).items():
            given = integers(f"shape of {string('shapes', name)!r}", shape)
            if any(one < -1 for one in given):
                raise InvalidArgument(f"shape of {name!r}: {given} has a negative dimension")
            taken[name] = [None if one == -1 else one for one in given]
        # None of them where one is wrong.
        self._shapes = taken


class InferRequest:
    """One run at a time of a compiled model, with its tensors."""

    def __init__(self, model: CompiledModel) -> None:
        self.model_inputs = model.inputs
        self.model_outputs = model.outputs
        self._model = model
        self._given: dict[int, Tensor] = {}
        self._results: list[Any] | None = None
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._running: Future[None] | None = None
        self._callback: tuple[Callable[[Any], Any], Any] | None = None
        self.userdata: Any = None

    # ----- Tensors ---------------------------------------------------------

    def set_tensor(self, name: Key, tensor: Tensor) -> None:
        """Sets an input, by any of its names."""
        at = _find(self.model_inputs, name, "input")
        self._given[at] = instance("tensor", tensor, Tensor)

    def set_input_tensor(self, index: int | Tensor, tensor: Tensor | None = None) -> None:
        """Sets an input by its number; the only one without."""
        if isinstance(index, Tensor):
            self.set_tensor(self._only(self.model_inputs, "input"), index)
        elif tensor is None:
            raise InvalidArgument("tensor: expected a Tensor")
        else:
            self.set_tensor(index, tensor)

    def get_tensor(self, name: Key) -> Tensor:
        """An input, which can be written to, or an output of the last run."""
        try:
            return self.get_input_tensor(_find(self.model_inputs, name, "input"))
        except InvalidArgument:
            if not isinstance(name, int):
                return self.get_output_tensor(_find(self.model_outputs, name, "input or output"))
            raise

    def get_input_tensor(self, index: int | None = None) -> Tensor:
        """An input by its number; the only one without."""
        known = self.model_inputs
        at = self._only(known, "input") if index is None else _find(known, index, "input")
        if at not in self._given:
            self._given[at] = Tensor(_zeros(known[at]))
        return self._given[at]

    def get_output_tensor(self, index: int | None = None) -> Tensor:
        """An output by its number; the only one without.

        Raises:
            InvalidArgument: no run has ended.
        """
        known = self.model_outputs
        at = self._only(known, "output") if index is None else _find(known, index, "output")
        if self._results is None:
            raise InvalidArgument("no run has ended: outputs have no values")
        return Tensor(self._results[at], shared_memory=True)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The inputs."""
        return [self.get_input_tensor(port.index) for port in self.model_inputs]

    @property
    def output_tensors(self) -> list[Tensor]:
        """The outputs of the last run."""
        return [self.get_output_tensor(port.index) for port in self.model_outputs]

    def get_compiled_model(self) -> CompiledModel:
        """The model that it runs."""
        return self._model

    @staticmethod
    def _only(ports: Sequence[ConstOutput], kind: str) -> int:
        if len(ports) != 1:
            raise InvalidArgument(f"the model has {len(ports)} {kind}s: name one")
        return 0

    @property
    def results(self) -> Results:
        """The outputs of the last run."""
        if self._results is None:
            raise InvalidArgument("no run has ended: outputs have no values")
        return Results(self.model_outputs, self._results)

    # ----- Runs ------------------------------------------------------------

    def infer(
        self,
        inputs: Any = None,
        share_inputs: bool = False,
        share_outputs: bool = False,
        *,
        decode_strings: bool = True,
    ) -> Results:
        """Runs, and returns the outputs.

        Args:
            inputs: a dict by name, number or input, a list in the order of the inputs,
                or one array; None for what was set before. Arrays of other numbers than
                the input's become those.
            share_inputs: read the arrays where they are, and make no copies.
            share_outputs: makes no difference: outputs are the run's own, and not copied.
            decode_strings: makes no difference: texts are str.
        """
        self._take(inputs, share_inputs)
        self._run()
        return self.results

    def start_async(
        self, inputs: Any = None, userdata: Any = None, share_inputs: bool = False
    ) -> None:
        """Begins a run; `wait` ends with it.

        Raises:
            InvalidArgument: a run is under way, or there is no such input.
        """
        self._take(inputs, share_inputs)
        if userdata is not None:
            self.userdata = userdata
        self._running = self._worker.submit(self._run)

    def _take(self, inputs: Any, share_inputs: bool) -> None:
        if self._running is not None and not self._running.done():
            raise InvalidArgument("the request is busy: wait() for its run")
        taken = dict(self._given)
        for key, value in self._by_key(inputs).items():
            at = _find(self.model_inputs, key, "input")
            if isinstance(value, Tensor):
                taken[at] = value
                continue
            given = _as_array(f"input {self.model_inputs[at].any_name!r}", value)
            taken[at] = Tensor(_converted(given, self.model_inputs[at]), share_inputs)
        # None of them where one is wrong.
        self._given = taken

    def _by_key(self, inputs: Any) -> dict[Any, Any]:
        if inputs is None:
            return {}
        if isinstance(inputs, Mapping):
            return dict(inputs)
        if isinstance(inputs, (list, tuple)):
            return dict(enumerate(inputs))
        return {self._only(self.model_inputs, "input"): inputs}

    def _run(self) -> None:
        feeds = {
            self.model_inputs[index]._port.name: tensor.data
            for index, tensor in self._given.items()
        }
        self._results = self._model._session.run(None, feeds)
        if self._callback is not None:
            function, userdata = self._callback
            function(self.userdata if userdata is None else userdata)

    def wait(self) -> None:
        """Returns when the run has ended, and raises what it, or the callback, raised."""
        if self._running is not None:
            self._running.result()

    def wait_for(self, timeout: int) -> bool:
        """The same for so many milliseconds; returns whether it has ended."""
        try:
            if self._running is not None:
                self._running.result(number("timeout", timeout) / 1000)
        except _Timeout:
            return False
        return True

    def set_callback(self, callback: Callable[[Any], Any], userdata: Any = None) -> None:
        """Calls `callback(userdata)`, in another thread, whenever a run has ended well."""
        if not callable(callback):
            raise InvalidType(f"callback: {type(callback).__qualname__} cannot be called")
        self._callback = (callback, userdata)

    def cancel(self) -> None:
        """Ends nothing that has begun: give `SessionOptions.timeout` where that is needed."""
        if self._running is not None:
            self._running.cancel()

    def reset_state(self) -> None:
        """Sets the model's states back to their initial values."""
        self._model._session.reset_state()

    def query_state(self) -> list[VariableState]:
        """The model's variables, in order."""
        session = self._model._session
        return [VariableState(session, port.name) for port in session.get_states()]


class VariableState:
    """A variable of a model: what a run leaves for the next."""

    def __init__(self, session: InferenceSession, name: str) -> None:
        self._session = session
        self.name = name

    @property
    def state(self) -> Tensor | None:
        """A copy of its value; None before a run or `state = value` has assigned it."""
        value = self._session.get_state()[self.name]
        return None if value is None else Tensor(value)

    @state.setter
    def state(self, value: Tensor | np.ndarray) -> None:
        data = value.data if isinstance(value, Tensor) else value
        self._session.set_state({self.name: data})

    def reset(self) -> None:
        """Sets it back to its initial value."""
        self._session.set_state({self.name: None})


class CompiledModel:
    """A model that is ready to run. Requests of one model may run at a time."""

    def __init__(self, model: Model, options: SessionOptions, device: str | None) -> None:
        names = port_names(model._path)
        options.shapes = {
            next((port.port for port in names.inputs if port.knows(name)), name): shape
            for name, shape in model._shapes.items()
        }
        self._session = InferenceSession(model._path, options, device=device)
        self.inputs = self._ports(self._session.get_inputs(), names.inputs)
        self.outputs = self._ports(self._session.get_outputs(), names.outputs)

    @staticmethod
    def _ports(ports: Sequence[NodeArg], names: Sequence[PortNames]) -> list[ConstOutput]:
        by_name = {one.port: one for one in names}
        return [
            ConstOutput(port, by_name.get(port.name, PortNames(port.name, "", ())), index)
            for index, port in enumerate(ports)
        ]

    def input(self, key: Key = 0) -> ConstOutput:
        """An input, by number or any of its names."""
        return self.inputs[_find(self.inputs, key, "input")]

    def output(self, key: Key = 0) -> ConstOutput:
        """An output, by number or any of its names."""
        return self.outputs[_find(self.outputs, key, "output")]

    def create_infer_request(self) -> InferRequest:
        """A new request."""
        return InferRequest(self)

    def infer_new_request(self, inputs: Any = None, **sharing: bool) -> Results:
        """Runs by a new request; `sharing` is as `InferRequest.infer` has it."""
        return self.create_infer_request().infer(inputs, **sharing)

    def __call__(
        self,
        inputs: Any = None,
        share_inputs: bool = False,
        share_outputs: bool = True,
        *,
        decode_strings: bool = True,
    ) -> Results:
        """Runs by a new request, as `InferRequest.infer`."""
        return self.infer_new_request(
            inputs,
            share_inputs=share_inputs,
            share_outputs=share_outputs,
            decode_strings=decode_strings,
        )


class AsyncInferQueue:
    """Requests that take turns: `start_async` waits for one that is free.

    Raises:
        InvalidArgument: `jobs` is negative, or more than 1,024: each has a thread.
    """

    def __init__(self, model: CompiledModel, jobs: int = 0) -> None:
        instance("model", model, CompiledModel)
        count = integer(jobs, "jobs") or os.cpu_count() or 1
        if not 0 < count <= _MOST_JOBS:
            raise InvalidArgument(f"jobs: expected 0 to {_MOST_JOBS}, got {count}")
        self._requests = [model.create_infer_request() for _ in range(count)]
        self._free = threading.Semaphore(len(self._requests))
        self._idle = list(self._requests)
        self._pending: list[Future[None]] = []
        self._callback: Callable[[InferRequest, Any], Any] | None = None
        self._worker = ThreadPoolExecutor(max_workers=len(self._requests))

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[InferRequest]:
        return iter(self._requests)

    def __getitem__(self, index: int) -> InferRequest:
        return self._requests[index]

    def is_ready(self) -> bool:
        """Whether a request is free."""
        return bool(self._idle)

    def set_callback(self, callback: Callable[[InferRequest, Any], Any]) -> None:
        """Calls `callback(request, userdata)`, in another thread, whenever a run has ended."""
        if not callable(callback):
            raise InvalidType(f"callback: {type(callback).__qualname__} cannot be called")
        self._callback = callback

    def start_async(self, inputs: Any = None, userdata: Any = None) -> None:
        """Begins a run on a request that is free, or waits for one."""
        self._free.acquire()
        request = self._idle.pop()
        self._pending = [one for one in self._pending if not one.done() or one.exception()]
        self._pending.append(self._worker.submit(self._run, request, inputs, userdata))

    def _run(self, request: InferRequest, inputs: Any, userdata: Any) -> None:
        try:
            request.userdata = userdata
            request.infer(inputs)
            if self._callback is not None:
                self._callback(request, userdata)
        finally:
            self._idle.append(request)
            self._free.release()

    def wait_all(self) -> None:
        """Returns when all runs have ended, and raises what one of them raised."""
        pending, self._pending = self._pending, []
        for one in pending:
            one.result()


def _options(config: Mapping[str, Any]) -> SessionOptions:
    """What properties say of a session."""
    options = SessionOptions()
    for key, value in mapping("config", config).items():
        if key == "INFERENCE_NUM_THREADS":
            # OpenVINO takes a text, too.
            is_text = isinstance(value, str) and value.isascii() and value.isdecimal()
            options.intra_op_num_threads = index_of(key, int(value) if is_text else value)
        elif key == "CACHE_DIR":
            options.cache_dir = file_path(key, value) or None
        elif not isinstance(key, str) or key not in _IGNORED:
            raise InvalidArgument(f"config: there is no property {key!r}")
    return options


class Core:
    """Where models are read and compiled."""

    def __init__(self) -> None:
        self._properties: dict[str, Any] = {}

    def set_property(
        self, device_name: str | Mapping[str, Any], properties: Mapping[str, Any] | None = None
    ) -> None:
        """Sets properties of all models that are compiled from now on.

        Args:
            device_name: a device, or the properties.
            properties: as `config` of `compile_model`.

        Raises:
            InvalidArgument: there is no such property.
        """
        given = mapping("properties", device_name if properties is None else properties)
        _options(given)
        self._properties.update(given)

    def get_property(self, device_name: str, property: str) -> Any:
        """A property that was set, or what there are: SUPPORTED_PROPERTIES.

        Raises:
            InvalidArgument: it was not set, or there is no such property.
        """
        if property == "SUPPORTED_PROPERTIES":
            return sorted({"INFERENCE_NUM_THREADS", "CACHE_DIR", *_IGNORED})
        if string("property", property) not in self._properties:
            raise InvalidArgument(f"there is no property {property!r}, or it was not set")
        return self._properties[property]

    @property
    def available_devices(self) -> list[str]:
        """CPU; an NVIDIA GPU is "GPU" where there is one."""
        return ["CPU"]

    def read_model(self, model: str | os.PathLike[str], weights: Any = None) -> Model:
        """A model in a file: OpenVINO IR (its weights beside it) or ONNX.

        Raises:
            FileNotFoundError: there is no such file.
            InvalidArgument: `weights` are another file than the one beside the model.
        """
        beside = os.path.splitext(file_path("model", model))[0] + ".bin"
        given = beside if weights is None else file_path("weights", weights)
        if os.path.abspath(given) != os.path.abspath(beside):
            raise InvalidArgument(f"weights: they are read from {beside!r}")
        return Model(model)

    def compile_model(
        self,
        model: Model | str | os.PathLike[str],
        device_name: str = "CPU",
        config: Mapping[str, Any] | None = None,
    ) -> CompiledModel:
        """Compiles a model, or finds it in the cache.

        Args:
            model: what `read_model` returned, or a path.
            device_name: "CPU", "AUTO" (the CPU) or "GPU" (an NVIDIA GPU).
            config: INFERENCE_NUM_THREADS and CACHE_DIR; what says how fast makes no
                difference.

        Raises:
            CompileError: the model is invalid or not supported.
            InvalidArgument: there is no such device or property.
        """
        devices = {"CPU": None, "AUTO": None, "GPU": "cuda:0"}
        if string("device_name", device_name) not in devices:
            raise InvalidArgument(f"device_name: {device_name!r}: it is CPU, AUTO or GPU")
        given = {} if config is None else mapping("config", config)
        options = _options({**self._properties, **given})
        read = model if isinstance(model, Model) else self.read_model(model)
        return CompiledModel(read, options, devices[device_name])


def compile_model(
    model: Model | str | os.PathLike[str],
    device_name: str = "AUTO",
    config: Mapping[str, Any] | None = None,
) -> CompiledModel:
    """As `Core.compile_model`."""
    return Core().compile_model(model, device_name, config)


__all__ = [
    "AsyncInferQueue",
    "CompiledModel",
    "ConstOutput",
    "Core",
    "InferRequest",
    "Model",
    "Results",
    "Tensor",
    "VariableState",
    "compile_model",
]

#: What programs of OpenVINO ask for, and what stands in its place here.
_ELSEWHERE = {
    "convert_model": "models of ONNX and OpenVINO are read as they are",
    "save_model": "openvino.save_model writes models, and Core().read_model reads them",
    "preprocess": "steps before a model are part of one that OpenVINO saves",
    "Type": "element types are names, such as 'f32'",
}


def __getattr__(name: str) -> NoReturn:
    """Says what stands in the place of a name that is not here."""
    text = f"module {__name__!r} has no attribute {name!r}"
    if name in _ELSEWHERE:
        text += f": {_ELSEWHERE[name]}"
    raise AttributeError(text, name=name)
