# ===- _requests.py - Runs of compiled models --------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""InferRequest and AsyncInferQueue, under OpenVINO's names."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as _Timeout
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from loopc import _loopc
from loopc._arguments import array as _as_array
from loopc._arguments import instance, integer, number
from loopc._errors import InvalidArgument, InvalidType
from loopc._ort_value import host_place
from loopc._session import InferenceSession
from loopc.openvino._ports import Key, Output, Results, converted, find, only, zeros
from loopc.openvino._tensor import Tensor

if TYPE_CHECKING:
    from loopc.openvino._core import CompiledModel

# Requests of a queue, each of which has a thread.
_MOST_JOBS = 1024


@dataclass(frozen=True)
class ProfilingInfo:
    """The time that a layer took.

    Attributes:
        node_name: the layer.
        node_type: its operator.
        exec_type: the same.
        real_time: the time.
        cpu_time: the same.
        status: whether it ran.
    """

    class Status(Enum):
        """What became of a layer."""

        NOT_RUN = 0
        OPTIMIZED_OUT = 1
        EXECUTED = 2

    node_name: str
    node_type: str
    exec_type: str
    real_time: timedelta
    cpu_time: timedelta
    status: ProfilingInfo.Status


class InferRequest:
    """One run at a time of a compiled model, with its tensors, and with states of its own."""

    def __init__(self, model: CompiledModel) -> None:
        self.model_inputs = model.inputs
        self.model_outputs = model.outputs
        self._model = model
        self._session = model._request_session()
        self._given: dict[int, Tensor] = {}
        self._wanted: dict[int, Tensor] = {}
        # Tensors of outputs that have the memory of the last run.
        self._shown: dict[int, Tensor] = {}
        self._results: list[Any] | None = None
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._running: Future[None] | None = None
        # Of the run that is under way; its own callbacks wait for nothing.
        self._thread = 0
        self._callback: tuple[Callable[[Any], Any], Any] | None = None
        self._seconds = 0.0
        self.userdata: Any = None

    # ----- Tensors ---------------------------------------------------------

    def _give(self, index: int, tensor: Tensor) -> None:
        """Sets an input; what cannot be its shape is refused before a run."""
        port = self.model_inputs[index]
        # One element stands for a scalar, as in runs.
        is_scalar = tensor.size == 1 and port.partial_shape.compatible(())
        if not is_scalar and not port.partial_shape.compatible(tensor.shape):
            raise InvalidArgument(
                f"input {port.any_name!r}: a tensor of shape {tensor.shape} does not fit "
                f"{port.partial_shape}"
            )
        _check_type(f"input {port.any_name!r}", port, tensor)
        self._given[index] = tensor

    def set_tensor(self, name: Key, tensor: Tensor) -> None:
        """Sets an input, by any of its names, or an output, which runs then write to.

        Raises:
            InvalidArgument: there is no such port, or the shape cannot be the input's.
        """
        given = instance("tensor", tensor, Tensor)
        try:
            index = find(self.model_inputs, name, "input")
        except InvalidArgument:
            if isinstance(name, int):
                raise
            try:
                self._wanted[find(self.model_outputs, name, "output")] = given
                return
            except InvalidArgument:
                pass
            raise
        self._give(index, given)

    def set_tensors(self, inputs: Mapping[Key, Tensor]) -> None:
        """Sets inputs and outputs."""
        for name, tensor in inputs.items():
            self.set_tensor(name, tensor)

    def set_input_tensor(self, index: int | Tensor, tensor: Tensor | None = None) -> None:
        """Sets an input by its number; the only one without."""
        if isinstance(index, Tensor):
            self._give(only(self.model_inputs, "input"), index)
            return
        if tensor is None:
            raise InvalidArgument("tensor: expected a Tensor")
        given = instance("tensor", tensor, Tensor)
        self._give(find(self.model_inputs, index, "input"), given)

    def set_input_tensors(self, inputs: Any, tensors: Sequence[Tensor] | None = None) -> None:
        """Sets inputs by their numbers, or one input to tensors that are joined to a batch."""
        if isinstance(inputs, Mapping):
            for index, tensor in inputs.items():
                self.set_input_tensor(index, tensor)
            return
        if tensors is None:
            index, tensors = only(self.model_inputs, "input"), inputs
        else:
            index = inputs
        parts = [instance("tensors", one, Tensor).data for one in tensors]
        if not parts or len({part.shape[1:] for part in parts}) != 1:
            raise InvalidArgument("tensors: expected a list of tensors of one shape")
        self.set_input_tensor(index, Tensor(np.concatenate(parts), True))

    def set_output_tensor(self, index: int | Tensor, tensor: Tensor | None = None) -> None:
        """Sets the tensor that runs write an output to, by number; of the only one without."""
        if isinstance(index, Tensor):
            self._wanted[only(self.model_outputs, "output")] = index
            return
        if tensor is None:
            raise InvalidArgument("tensor: expected a Tensor")
        self._wanted[find(self.model_outputs, index, "output")] = instance("tensor", tensor, Tensor)

    def set_output_tensors(self, outputs: Mapping[int, Tensor]) -> None:
        """Sets the tensors that runs write outputs to, by number."""
        for index, tensor in outputs.items():
            self.set_output_tensor(index, tensor)

    def get_tensor(self, name: Key) -> Tensor:
        """An input, which can be written to, or an output of the last run."""
        try:
            return self.get_input_tensor(find(self.model_inputs, name, "input"))
        except InvalidArgument:
            if not isinstance(name, int):
                return self.get_output_tensor(find(self.model_outputs, name, "input or output"))
            raise

    def get_input_tensor(self, index: int | None = None) -> Tensor:
        """An input by its number; the only one without."""
        known = self.model_inputs
        at = only(known, "input") if index is None else find(known, index, "input")
        if at not in self._given:
            self._given[at] = Tensor(zeros(known[at]), True)
        return self._given[at]

    def get_output_tensor(self, index: int | None = None) -> Tensor:
        """An output by its number; the only one without.

        It is the same tensor after every run. Runs write into it where the shape is fixed, and
        give it other memory where not.

        Raises:
            InvalidArgument: no run has ended, and the shape of the output is open.
        """
        known = self.model_outputs
        at = only(known, "output") if index is None else find(known, index, "output")
        if at in self._wanted:
            return self._wanted[at]
        if at not in self._shown:
            if known[at].partial_shape.is_static and known[at].element_type.is_static():
                made = self._wanted[at] = Tensor(known[at])
                if self._results is not None:
                    made.copy_from(self._results[at])
                return made
            if self._results is None:
                raise InvalidArgument("no run has ended: outputs have no values")
            self._shown[at] = Tensor(self._results[at], shared_memory=True)
        return self._shown[at]

    @property
    def input_tensors(self) -> list[Tensor]:
        """The inputs."""
        return [self.get_input_tensor(port.index) for port in self.model_inputs]

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs."""
        return self.input_tensors

    @property
    def output_tensors(self) -> list[Tensor]:
        """The outputs of the last run."""
        return [self.get_output_tensor(port.index) for port in self.model_outputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs of the last run."""
        return self.output_tensors

    def get_compiled_model(self) -> CompiledModel:
        """The model that it runs."""
        return self._model

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
            share_outputs: outputs that have a tensor (`set_output_tensor`,
                `get_output_tensor`) are returned as that tensor's memory, which the next run
                writes to, and not copied. Others are the run's own, and never copied.
            decode_strings: makes no difference: texts are str.
        """
        self._take(inputs, share_inputs)
        self._run()
        assert self._results is not None
        results = list(self._results)
        if not share_outputs:
            for at in self._wanted:
                results[at] = results[at].copy()
        return Results(self.model_outputs, results)

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
        self._running = self._worker.submit(self._run_and_tell)

    def _take(self, inputs: Any, share_inputs: bool) -> None:
        if self._running is not None and not self._running.done():
            raise InvalidArgument("the request is busy: wait() for its run")
        taken = dict(self._given)
        for key, value in self._by_key(inputs).items():
            at = find(self.model_inputs, key, "input")
            if isinstance(value, Tensor):
                _check_type(
                    f"input {self.model_inputs[at].any_name!r}", self.model_inputs[at], value
                )
                taken[at] = value
                continue
            given = _as_array(f"input {self.model_inputs[at].any_name!r}", value)
            taken[at] = Tensor(converted(given, self.model_inputs[at]), share_inputs)
        # None of them where one is wrong.
        self._given = taken

    def _by_key(self, inputs: Any) -> dict[Any, Any]:
        if inputs is None:
            return {}
        if isinstance(inputs, Mapping):
            return dict(inputs)
        if isinstance(inputs, list | tuple):
            return dict(enumerate(inputs))
        return {only(self.model_inputs, "input"): inputs}

    def _run(self) -> None:
        # As OpenVINO has it, an input of a fixed shape is zeros until it is set.
        for port in self.model_inputs:
            if port.index not in self._given and port.partial_shape.is_static:
                self.get_input_tensor(port.index)
        feeds = {
            self.model_inputs[index]._port.name: tensor.data
            for index, tensor in self._given.items()
        }
        if self._session._profile is not None:
            self._session._profile = _loopc.Profile()
        begin = time.perf_counter()
        results = self._session._run(None, feeds, None, None, self._places())
        self._seconds = time.perf_counter() - begin
        for at, tensor in self._wanted.items():
            if results[at] is not tensor.data:
                tensor.copy_from(results[at])
                results[at] = tensor.data
        for at, tensor in self._shown.items():
            tensor._data = results[at]
        self._results = results

    def _run_and_tell(self, tell: Callable[[], Any] | None = None) -> None:
        """Runs, and calls its callback and `tell`."""
        self._thread = threading.get_ident()
        try:
            self._run()
            if self._callback is not None:
                function, userdata = self._callback
                function(self.userdata if userdata is None else userdata)
            if tell is not None:
                tell()
        finally:
            self._thread = 0

    def _places(self) -> dict[str, Any]:
        """Tensors that the run writes to: those of outputs whose shapes are fixed."""
        found: dict[str, Any] = {}
        for at, tensor in self._wanted.items():
            port = self.model_outputs[at]
            if port.partial_shape.is_static and port.partial_shape.to_shape() == tensor.shape:
                place = host_place(port._port, tensor.data)
                if place is not None:
                    found[port._port.name] = place
        return found

    @property
    def latency(self) -> float:
        """The milliseconds that the last run took."""
        return self._seconds * 1e3

    def get_latency(self) -> float:
        """The milliseconds that the last run took."""
        return self.latency

    @property
    def profiling_info(self) -> list[ProfilingInfo]:
        """The times of the layers in the last run.

        Raises:
            InvalidArgument: the model was not compiled with PERF_COUNT.
        """
        if self._session._profile is None:
            raise InvalidArgument("compile the model with {'PERF_COUNT': True}")
        return _layers(self._session._profile)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """As `profiling_info`."""
        return self.profiling_info

    def wait(self) -> None:
        """Returns when the run has ended, and raises what it, or the callback, raised."""
        if self._running is not None and threading.get_ident() != self._thread:
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
        """Calls `callback(userdata)`, in another thread, when asynchronous runs have ended well."""
        if not callable(callback):
            raise InvalidType(f"callback: {type(callback).__qualname__} cannot be called")
        self._callback = (callback, userdata)

    def cancel(self) -> None:
        """Ends nothing that has begun: give `SessionOptions.timeout` where that is needed."""
        if self._running is not None:
            self._running.cancel()

    def reset_state(self) -> None:
        """Sets the model's states back to their initial values."""
        self._session.reset_state()

    def query_state(self) -> list[VariableState]:
        """The model's variables, in order."""
        return [VariableState(self._session, port.name) for port in self._session.get_states()]


def _check_type(what: str, port: Output, tensor: Tensor) -> None:
    """Refuses a tensor of another element type: only arrays are converted."""
    wanted = port.element_type
    if wanted.is_static() and tensor.element_type != wanted:
        raise InvalidArgument(
            f"{what}: a tensor of type {tensor.element_type} is given, and {wanted} is wanted"
        )


def _layers(profile: _loopc.Profile) -> list[ProfilingInfo]:
    """The times of a profile's trace, added by layer."""
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        path = os.path.join(folder, "trace.json")
        if profile.write(os.fsencode(path)) != 0:
            raise OSError("cannot write the profile to a folder of temporary files")
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
    events = read["traceEvents"] if isinstance(read, dict) else read
    times: dict[tuple[str, str], float] = {}
    for event in events:
        arguments = event.get("args", {})
        if event.get("cat") == "Node":
            key = (event["name"], arguments.get("op_name", ""))
            times[key] = times.get(key, 0) + event.get("dur", 0)
    return [
        ProfilingInfo(name, kind, kind, took, took, ProfilingInfo.Status.EXECUTED)
        for (name, kind), took in (
            (key, timedelta(microseconds=value)) for key, value in times.items()
        )
    ]


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
    def state(self, value: Tensor | np.ndarray[Any, Any]) -> None:
        data = value.data if isinstance(value, Tensor) else value
        self._session.set_state({self.name: data})

    def reset(self) -> None:
        """Sets it back to its initial value."""
        self._session.set_state({self.name: None})


class AsyncInferQueue:
    """Requests that take turns: `start_async` waits for one that is free.

    Raises:
        InvalidArgument: `jobs` is negative, or more than 1,024: each has a thread.
    """

    def __init__(self, model: CompiledModel, jobs: int = 0) -> None:
        from loopc.openvino._core import CompiledModel

        instance("model", model, CompiledModel)
        count = integer(jobs, "jobs") or os.cpu_count() or 1
        if not 0 < count <= _MOST_JOBS:
            raise InvalidArgument(f"jobs: expected 0 to {_MOST_JOBS}, got {count}")
        self._requests = [model.create_infer_request() for _ in range(count)]
        self._free = threading.Semaphore(count)
        # The one that has been free for longest is next.
        self._idle = deque(range(count))
        self._pending: list[Future[None]] = []
        # The last run of each request.
        self._started: list[Future[None] | None] = [None] * count
        self._callback: Callable[[InferRequest, Any], Any] | None = None
        self._worker = ThreadPoolExecutor(max_workers=count)
        self.userdata: list[Any] = [None] * count

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[InferRequest]:
        return iter(self._requests)

    def __getitem__(self, index: int) -> InferRequest:
        return self._requests[index]

    def is_ready(self) -> bool:
        """Whether a request is free."""
        return bool(self._idle)

    def get_idle_request_id(self) -> int:
        """The number of a request that is free, which the next run takes; waits for one."""
        with self._free:
            return self._idle[0]

    def set_callback(self, callback: Callable[[InferRequest, Any], Any]) -> None:
        """Calls `callback(request, userdata)`, in another thread, whenever a run has ended."""
        if not callable(callback):
            raise InvalidType(f"callback: {type(callback).__qualname__} cannot be called")
        self._callback = callback

    def start_async(
        self, inputs: Any = None, userdata: Any = None, share_inputs: bool = False
    ) -> None:
        """Begins a run on a request that is free, or waits for one.

        Arrays are copied before it returns, unless `share_inputs` is set.

        Raises:
            InvalidArgument: there is no such input.
        """
        self._free.acquire()
        at = self._idle.popleft()
        request = self._requests[at]
        if request._running is self._started[at]:
            request._running = None  # it has ended, or is about to
        try:
            request._take(inputs, share_inputs)
        except BaseException:
            self._idle.appendleft(at)
            self._free.release()
            raise
        request.userdata = self.userdata[at] = userdata
        self._pending = [one for one in self._pending if not one.done() or one.exception()]
        request._running = self._started[at] = self._worker.submit(self._run, at, userdata)
        self._pending.append(request._running)

    def _run(self, at: int, userdata: Any) -> None:
        request, callback = self._requests[at], self._callback
        tell = None if callback is None else lambda: callback(request, userdata)
        try:
            request._run_and_tell(tell)
        finally:
            self._idle.append(at)
            self._free.release()

    def wait_all(self) -> None:
        """Returns when all runs have ended, and raises what one of them raised."""
        pending, self._pending = self._pending, []
        for one in pending:
            one.result()
