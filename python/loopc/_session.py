# ===- _session.py - Models in this process ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""InferenceSession, shaped like onnxruntime's."""

import copy
import copyreg
import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from loopc import _loopc
from loopc._arguments import flag
from loopc._binding import IOBinding
from loopc._device import (
    CPU,
    CUDA,
    Place,
    chip_of,
    choose_place,
    parse_device,
    require_device,
)
from loopc._dim_names import contradicted, is_about_a_name, is_refused, without_advice
from loopc._environment import log
from loopc._errors import (
    CompileError,
    Diagnostic,
    Error,
    InvalidArgument,
    InvalidType,
    RawDiagnostic,
    RunCancelledError,
    RunTimeoutError,
    Severity,
    compile_error,
    diagnostics_of,
    run_error,
)
from loopc._maps import Maps
from loopc._metadata import (
    ModelMetadata,
    ModelProperties,
    NodeArg,
    OrtEpAssignedSubgraph,
    RunStatistics,
    nodes_of,
    properties_of,
)
from loopc._model_copy import write_model
from loopc._no_effect import NoEffect
from loopc._options import (
    Model,
    RunOptions,
    SessionOptions,
    checked_options,
    count,
    file_name,
    is_shared_library,
    model_source,
    network_of,
    seconds,
    text,
    type_name,
)
from loopc._ort_device import OrtMemoryInfo, memory_info
from loopc._ort_value import OrtValue
from loopc._progress import shown

#: Arguments of onnxruntime's InferenceSession that make no difference here.
_IGNORED_ARGUMENTS = {"disabled_optimizers", "enable_fallback"}


def _keep_model(
    options: SessionOptions, path: bytes | None, data: bytes | None, stacklevel: int
) -> None:
    """Does what `optimized_model_filepath` asks for, and warns of what it did."""
    if options.optimized_model_filepath:
        text = write_model(options.optimized_model_filepath, path, data)
        warnings.warn(f"sess_options.{text}", stacklevel=stacklevel + 1)


def _chip(place: Place, chip: str | None) -> str | None:
    """What to compile for."""
    if place.device is None:
        if chip is not None:
            raise InvalidArgument("chip: the CPU has none; name a device, too")
        return None
    return chip_of(place.device) if chip is None else chip


def _compiled(
    path: bytes | None, data: bytes | None, options: SessionOptions, compile_options: dict[str, Any]
) -> tuple[int, _loopc.Session | None, Sequence[RawDiagnostic]]:
    """What becomes of `data`, or else of the file `path`, whose folder has its external data."""
    if data is not None and path is not None and compile_options["base_directory"] is None:
        compile_options["base_directory"] = os.path.dirname(os.fsdecode(path)) or "."
    with shown(options.progress) as compile_options["progress"]:
        if data is not None:
            return _loopc.create_from_bytes(data, compile_options)
        assert path is not None
        return _loopc.create_from_file(path, compile_options)


@dataclass(frozen=True)
class _Origin:
    """What a session was made of, so that it can be made again."""

    path: bytes | None
    data: bytes | None
    name: str | None
    options: SessionOptions
    arguments: dict[str, Any]


def _restore(
    kind: "type[InferenceSession]",
    origin: _Origin,
    place: Place,
    device_outputs: bool,
    states: dict[str, Any],
    added: dict[str, Any],
) -> "InferenceSession":
    """A session like the one that was copied; the constructor of a subclass is not called."""
    options = origin.options
    if origin.name is not None:
        assert origin.path is not None
        session = kind._load(os.fsdecode(origin.path), origin.name, options, place, device_outputs)
    else:
        model: Any = origin.data if origin.path is None else os.fsdecode(origin.path)
        device = None if place.device is None else f"cuda:{place.device}"
        session = kind.__new__(kind)
        InferenceSession.__init__(
            session,
            model,
            options,
            device=device,
            device_outputs=device_outputs,
            **origin.arguments,
        )
        session._place = place
    if states:
        session.set_state(states)
    vars(session).update(added)
    return session


class InferenceSession(NoEffect):
    """A model, ready to run in this process.

    It comes from the cache of compiled models, or is compiled, by a process of its
    own, and kept there (`SessionOptions.cache_dir`). A session can be copied and
    pickled: the copy makes itself ready in the same way.

    A session can be used by several threads at the same time: neither
    compiling nor running holds the interpreter's lock. Runs of a model with
    states take turns, since each begins with what the one before left.
    """

    _origin: _Origin | None = None
    #: Sessions of the model without some names of dimensions, by those names.
    _unnamed: "dict[frozenset[str], InferenceSession]"
    #: onnxruntime's name, which programs ask for the folder of a model.
    _model_path: str | None = None

    #: The attributes of a session that a copy makes itself.
    _OWN = frozenset(
        "_origin _place _device_outputs _session _options _diagnostics _maps _inputs _overridable "
        "_bindable _outputs _states _statistics _profile _profile_start _properties "
        "_model_path _unnamed".split()
    )

    def __init__(
        self,
        path_or_bytes: Model,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        *,
        device: str | None = None,
        chip: str | None = None,
        min_kernel_work: int | None = None,
        allow_tf32: bool = False,
        device_loops: str | None = None,
        cublas: str | None = None,
        device_outputs: bool = False,
        **kwargs: Any,
    ) -> None:
        """Compiles a model.

        Args:
            path_or_bytes: path, bytes, onnx.ModelProto or loopc.network.INetworkDefinition;
                or the path of a shared library with one model, as `load` has it.
            sess_options: how to compile it.
            providers: names (or pairs of name and options) of where to run, the
                most wanted first: "CUDAExecutionProvider" ("cuda") and
                "CPUExecutionProvider" ("cpu"); the default is the CPU. Names that
                are not available are warned about, and an error where no other is
                given.
            provider_options: a dict for each provider. That of CUDA has `device_id`,
                `user_compute_stream` and `use_tf32` (the default is not to);
                onnxruntime's others make no difference.
            device: instead of providers "cpu", "cuda" or "cuda:N".
            chip: the GPU to compile for, "sm_90"; None for that of the device.
            min_kernel_work: for a GPU: nests of up to so many operations stay on
                the CPU where no kernel works on what they work on; None for 2048.
            device_loops: for a GPU: what becomes of loops that need nothing of the
                CPU: "kernel", one kernel each; "cluster", the same, and its blocks
                are one cluster from sm_90 on; "graph", CUDA graphs of kernels, which
                take a driver of CUDA 12.4; "host": the CPU drives them; "auto" or
                None: a kernel or a graph.
            cublas: for a GPU: products of matrices, outside of loops that are one
                kernel or graph, that cuBLAS computes where a run finds it: "on",
                all that it can; "off", none; "auto" or None: large ones.
            allow_tf32: for a GPU: whether large products of float32 may round what
                they multiply to tf32, 10 bits behind the point, for tensor cores.
            device_outputs: whether tensors that a run returns stay on the GPU, as
                `DeviceTensor`; `RunOptions.device_outputs` changes it for a run.
            kwargs: onnxruntime's `enable_fallback` and `disabled_optimizers`, which
                make no difference.

        Raises:
            CompileError: the model is invalid or not supported.
            CompileCancelledError, CompileTimeoutError, KeyboardInterrupt: the compilation
                was ended; nothing is left of it.
            DeviceError: there is no such GPU, or no driver.
            InvalidArgument: an argument is wrong.
        """
        place = choose_place(providers, provider_options, device, stacklevel=3)
        unknown = kwargs.keys() - _IGNORED_ARGUMENTS
        if unknown:
            names = ", ".join(map(repr, sorted(unknown)))
            raise InvalidArgument(f"InferenceSession has no argument {names}")
        options = checked_options(sess_options)
        arguments = {
            "chip": chip,
            "min_kernel_work": min_kernel_work,
            "allow_tf32": flag("allow_tf32", allow_tf32) or place.allow_tf32,
            "device_loops": text("device_loops", device_loops),
            "cublas": text("cublas", cublas),
        }
        compile_options = options._compile_options() | arguments
        compile_options["chip"] = _chip(place, text("chip", chip))
        compile_options["allow_tf32"] = int(compile_options["allow_tf32"])
        self._place = place
        self._device_outputs = flag("device_outputs", device_outputs)
        network = network_of(path_or_bytes)
        if network is not None:
            with shown(options.progress) as compile_options["progress"]:
                made = _loopc.create_from_network(network, compile_options)
            self._set_up(options, *made)
            _keep_model(options, None, None, stacklevel=3)
            return
        path, data = model_source(path_or_bytes)
        self._origin = _Origin(path, data, None, copy.copy(options), arguments)
        self._model_path = None if path is None else os.fsdecode(path)
        if path is not None and is_shared_library(path):
            self._set_up(options, *_loopc.load_shared(path, None))
            self._require(place, device)
            _keep_model(options, None, None, stacklevel=3)
            return
        if options._initializers:
            data = options._initializers.apply(path, data)
        self._set_up(options, *_compiled(path, data, options, compile_options))
        self._properties = properties_of(path, data)
        _keep_model(options, path, data, stacklevel=3)

    @classmethod
    def _load(
        cls,
        path: str | os.PathLike[str],
        name: str | None,
        options: SessionOptions,
        place: Place,
        device_outputs: bool,
    ) -> Self:
        self = cls.__new__(cls)
        self._place = place
        self._device_outputs = device_outputs
        file = file_name("path", path)
        self._origin = _Origin(file, None, text("name", name), copy.copy(options), {})
        self._model_path = os.fsdecode(file)
        self._set_up(options, *_loopc.load_shared(file, name))
        return self

    def _require(self, place: Place, device: str | None) -> None:
        """Refuses a device that the model of a shared library was not compiled for."""
        if device is not None and (place.device is not None) != self._session.uses_device:
            kind = "a GPU" if self._session.uses_device else "the CPU"
            raise InvalidArgument(f"device: {device!r}: the model was compiled for {kind}")

    def __reduce__(self) -> tuple[Any, ...]:
        """The model, the options and the states; the copy's code comes from the cache.

        A subclass that says how it is pickled, by `__setstate__`, is copied as it says.
        """
        if hasattr(type(self), "__setstate__"):
            return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]
        if self._origin is None:
            raise TypeError("a session of a network cannot be copied")
        states = self.get_state() if self._states else {}
        added = {name: value for name, value in vars(self).items() if name not in self._OWN}
        origin = (type(self), self._origin, self._place, self._device_outputs)
        return _restore, (*origin, states, added)

    def _set_up(
        self,
        options: SessionOptions,
        status: int,
        session: _loopc.Session | None,
        raw: Sequence[RawDiagnostic],
    ) -> None:
        diagnostics = diagnostics_of(raw)
        log(diagnostics, options.logid)
        if status != 0 or session is None:
            raise compile_error(diagnostics, self._origin.path if self._origin else None)
        self._session = session
        self._unnamed = {}
        self._options = options
        self._diagnostics = diagnostics
        for one in self._diagnostics:
            if one.severity == Severity.WARNING:
                place = f"{one.location}: " if one.location else ""
                warnings.warn(f"{place}{one.code}: {one.message}", stacklevel=4)
        ports, outputs = session.inputs(), session.outputs()
        self._maps = Maps(session.maps(), ports, outputs) or None
        defaults = session.defaults()
        if self._maps is not None:
            optional = {port[0] for port, own in zip(ports, defaults, strict=True) if own}
            ports = self._maps.ports(ports, is_output=False)
            outputs = self._maps.ports(outputs, is_output=True)
            defaults = [port[0] in optional for port in ports]
        inputs = [NodeArg(*port) for port in ports]
        self._inputs = [one for one, own in zip(inputs, defaults, strict=True) if not own]
        self._overridable = [one for one, own in zip(inputs, defaults, strict=True) if own]
        self._outputs = [NodeArg(*port) for port in outputs]
        names = [one.name for one in (*self._inputs, *self._overridable)]
        self._bindable = {"input": names, "output": [one.name for one in self._outputs]}
        self._states = [NodeArg(*port) for port in session.states()]
        # What RunStatistics is made of when it is asked for.
        self._statistics: tuple[Any, ...] | None = None
        self._profile = _loopc.Profile() if options.enable_profiling else None
        self._profile_start = time.monotonic_ns() if options.enable_profiling else 0
        self._properties = ModelProperties()

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Runs the model.

        Inputs are numpy arrays with any strides (nothing is copied or cast),
        arrays of ml_dtypes' types, objects with ``__dlpack__`` on the CPU (of a
        model for a GPU also there, of which nothing is copied where kernels alone
        read it), lists for sequences, None for an empty optional, and arrays of
        str for strings. Lists of numbers or of str become arrays of the input's type.
        For a scalar any tensor of one element may be given.

        Args:
            output_names: the outputs to return; None or none for all of them.
            input_feed: a value for each input, by name; inputs that have an
                initializer may be left out.
            run_options: how to run.

        Returns:
            A numpy array, list or None for each output. Arrays own the memory
            that the model wrote; scalars are arrays of shape (). Tensors that stay on
            the GPU are `DeviceTensor`, complete when this returns.

        Raises:
            InvalidArgument: a name, kind, element type, rank or dimension is
                wrong.
            DeviceError: the GPU or its driver failed.
            RunError: the computation failed, was cancelled or took too long.
            KeyboardInterrupt: Ctrl-C ended the run.
        """
        return self._run(output_names, input_feed, run_options, None, {})

    def _run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None,
        device_outputs: bool | None,
        buffers: dict[str, Any],
    ) -> list[Any]:
        # Small models run in a microsecond: nothing is called here that need not be.
        options = self._options
        token = num_threads = stream = None
        # The slot: a property would cost a tenth of a small run.
        if options._intra_op_num_threads > 0:
            num_threads = options._intra_op_num_threads
        timeout, memory_limit = options.timeout, options.memory_limit
        time_device = False
        if run_options is not None:
            if not isinstance(run_options, RunOptions):
                raise InvalidArgument(
                    f"run_options: expected loopc.RunOptions, got {type_name(run_options)}"
                )
            token = run_options._token
            if run_options.timeout is not None:
                timeout = run_options.timeout
            if run_options.memory_limit is not None:
                memory_limit = run_options.memory_limit
            if run_options.num_threads is not None:
                num_threads = run_options.num_threads
            stream = run_options.stream
            time_device = run_options.time_device
            if device_outputs is None:
                device_outputs = run_options.device_outputs
        if device_outputs is None:
            device_outputs = self._device_outputs
        if isinstance(input_feed, dict):
            feeds = input_feed
        elif isinstance(input_feed, Mapping):
            feeds = dict(input_feed)
        else:
            raise InvalidType(f"input_feed: expected a dict, got {type_name(input_feed)}")
        maps, wanted, place = self._maps, output_names, self._place
        if maps is not None:
            asked = list(output_names or [port.name for port in self._outputs])  # or all
            feeds, wanted = maps.feeds(feeds), maps.names(asked)
        status, message, results, statistics = self._session.run(
            wanted,
            feeds,
            token,
            0.0 if timeout is None else seconds(timeout),
            0 if num_threads is None else count("num_threads", num_threads, 2**31 - 1),
            0 if memory_limit is None else count("memory_limit", memory_limit),
            place.device or 0,
            flag("device_outputs", device_outputs) and self._session.uses_device,
            place.stream if stream is None else count("stream", stream, 2**64 - 1),
            flag("time_device", time_device),
            buffers,
            self._profile,
        )
        self._statistics = statistics
        if status != 0:
            error = run_error(status, message)
            other = self._without_names(input_feed, error)
            if other is None:
                raise error
            try:
                return other._run(output_names, input_feed, run_options, device_outputs, buffers)
            except (RunCancelledError, RunTimeoutError):
                raise
            except Error as own:
                without_advice(error)
                raise error from own
        return results if maps is None else maps.results(asked, results)

    def _without_names(self, feeds: Mapping[str, Any], error: Error) -> "InferenceSession | None":
        """What runs values whose extents contradict the names that the model gives them."""
        origin = self._origin
        if not is_about_a_name(error) or origin is None or self._states:
            return None
        path, data = origin.path, origin.data
        if origin.name is not None or (path is not None and is_shared_library(path)):
            return None
        ports = self._inputs + self._overridable
        names = contradicted(ports, feeds)
        if names and names not in self._unnamed:
            options = copy.copy(origin.options)
            options.optimized_model_filepath, options.enable_profiling = "", False
            options.dims = {**options.dims, **dict.fromkeys(names)}
            if options._initializers:
                data = options._initializers.apply(path, data)
            if is_refused(path, data, options._compile_options(), ports, feeds):
                without_advice(error)
                return None
            again = replace(origin, options=options)
            try:
                self._unnamed[names] = _restore(
                    InferenceSession, again, self._place, self._device_outputs, {}, {}
                )
            except CompileError:
                without_advice(error)
                return None
            told = ", ".join(map(repr, sorted(names)))
            warnings.warn(
                f"{without_advice(error)}: the model was compiled again without the names {told}",
                stacklevel=4,
            )
        return self._unnamed.get(names)

    def io_binding(self) -> IOBinding:
        """A new, empty binding for `run_with_iobinding`."""
        outputs = {port.name: port for port in self._outputs}
        return IOBinding(self._bindable, self._session.uses_device, outputs)

    def run_with_iobinding(
        self, iobinding: IOBinding, run_options: RunOptions | None = None
    ) -> None:
        """Runs the model with bound inputs; the binding gets the outputs.

        Args:
            iobinding: what `io_binding` returned; where it has no outputs bound,
                it gets all of them.
            run_options: how to run.

        Raises:
            InvalidArgument, RunError, KeyboardInterrupt: as `run`.
        """
        if not isinstance(iobinding, IOBinding):
            raise InvalidArgument(f"iobinding: expected an IOBinding, got {type_name(iobinding)}")
        if iobinding._names != self._bindable:
            raise InvalidArgument("iobinding: a session of another model made it")
        wanted = list(iobinding._wanted) or None
        results = self._run(
            wanted,
            iobinding._feeds,
            run_options,
            iobinding._wants_device() if wanted else None,
            iobinding._buffers(),
        )
        iobinding._finish(results)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """`run` with values in OrtValue, and outputs in OrtValue.

        Raises:
            InvalidArgument, RunError, KeyboardInterrupt: as `run`.
        """
        results = self.run(output_names, input_dict_ort_values, run_options)
        return [OrtValue(result) for result in results]

    def run_with_ortvaluevector(
        self,
        run_options: RunOptions | None,
        feed_names: Sequence[str],
        feeds: Sequence[OrtValue],
        fetch_names: Sequence[str],
        fetches: list[OrtValue],
        fetch_devices: Sequence[Any],
    ) -> None:
        """`run` with values in the order of their names, and outputs in a list.

        Args:
            run_options: how to run.
            feed_names: the inputs.
            feeds: a value for each.
            fetch_names: the outputs.
            fetches: becomes the list of their values.
            fetch_devices: makes no difference: outputs are where the session leaves them.

        Raises:
            InvalidArgument, RunError, KeyboardInterrupt: as `run`.
        """
        if len(feed_names) != len(feeds):
            raise InvalidArgument(f"feeds: expected {len(feed_names)} values, got {len(feeds)}")
        values = dict(zip(feed_names, feeds, strict=True))
        fetches[:] = self.run_with_ort_values(fetch_names, values, run_options)

    def create_ortvalue_from_shape_and_type(
        self,
        shape: Sequence[int],
        element_type: Any,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
    ) -> OrtValue:
        """`OrtValue.ortvalue_from_shape_and_type`."""
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """`run` in another thread, which calls ``callback(results, user_data, error)``.

        `error` is "" where the run succeeded; the results are empty where it failed. What
        `callback` raises goes to `threading.excepthook`, which prints it.

        Raises:
            InvalidType: `callback` cannot be called.
        """
        if not callable(callback):
            raise InvalidType(f"callback: expected a function, got {type_name(callback)}")

        def work() -> None:
            try:
                results, problem = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                results, problem = [], str(error) or type(error).__name__
            callback(results, user_data, problem)

        threading.Thread(target=work, name="loopc-run").start()

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that must be given, in order."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The model's outputs in order."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that may be left out: the model has an initializer for them."""
        return list(self._overridable)

    def get_states(self) -> list[NodeArg]:
        """The states that the session keeps from one run to the next, in order.

        They are those of `SessionOptions.add_state`, and an OpenVINO model's variables.
        """
        return list(self._states)

    def get_state(self) -> dict[str, Any]:
        """A copy of what each state is, by name.

        None stands for a state that no run has assigned and no call has set: the
        next run begins with its initial value.
        """
        return self._session.get_states()

    def set_state(self, values: Mapping[str, Any]) -> None:
        """Sets states, as `get_state` returns them; the others stay as they are.

        Args:
            values: a value for each state to be set, by name; None sets it back
                to its initial value.

        Raises:
            InvalidArgument: a name, element type, rank or dimension is wrong;
                then no state has changed.
        """
        if not isinstance(values, Mapping):
            raise InvalidType(f"values: expected a dict, got {type_name(values)}")
        status, message = self._session.set_states(dict(values))
        if status != 0:
            raise run_error(status, message)

    def reset_state(self) -> None:
        """Sets all states back: the next run begins with their initial values."""
        self._session.reset_states()

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says about itself."""
        session, properties = self._session, self._properties
        return ModelMetadata(
            graph_name=session.name,
            producer_name=properties.producer_name,
            domain=properties.domain,
            description=properties.description,
            graph_description=properties.graph_description,
            version=properties.version,
            custom_metadata_map=dict(properties.custom_metadata_map),
            compiler=session.producer,
            cpu_features=session.cpu_features,
            abi_version=session.abi_version,
        )

    def get_providers(self) -> list[str]:
        """Where the model runs."""
        return [CUDA, CPU] if self._session.uses_device else [CPU]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of each provider; "code" is "quick" until optimised code is there."""
        code = {} if self._session.is_optimized else {"code": "quick"}
        options: dict[str, dict[str, str]] = {name: {**code} for name in self.get_providers()}
        if CUDA in options:
            options[CUDA] = {**dict(self._place.options), "device_id": str(self._place.device or 0)}
        return options

    def set_providers(
        self,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Chooses among GPUs; a model that was compiled for the CPU stays there.

        Raises:
            InvalidArgument: as the constructor, and where the code of the model does
                not run there.
            DeviceError: there is no such GPU.
        """
        place = choose_place(providers, provider_options, None, stacklevel=3)
        if place.device is not None and not self._session.uses_device:
            raise InvalidArgument("providers: the model was compiled for the CPU")
        if place.device is None and self._session.uses_device:
            raise InvalidArgument("providers: the model was compiled for a GPU")
        require_device(place)
        self._place = place

    def end_profiling(self) -> str:
        """Writes a trace of the runs so far, and measures no further ones.

        The file has the form of onnxruntime's: events that https://ui.perfetto.dev
        shows, a node or an iteration of a loop each.

        Returns:
            The file's name, `SessionOptions.profile_file_prefix` and the time; empty
            where `SessionOptions.enable_profiling` was not set, or it was ended before.

        Raises:
            OSError: the file cannot be written.
        """
        profile, self._profile = self._profile, None
        if profile is None:
            return ""
        now = time.strftime("%Y-%m-%d_%H-%M-%S")
        name = f"{self._options.profile_file_prefix}_{now}.json"
        if code := profile.write(os.fsencode(name)):
            raise OSError(code, f"cannot write the profile: {os.strerror(code)}", name)
        return name

    def get_profiling_start_time_ns(self) -> int:
        """When profiling began, as `time.monotonic_ns`; 0 where nothing is measured."""
        return self._profile_start

    def get_profiling_table(self) -> str:
        """Where the time of the runs went, by node and by loop; empty where nothing is measured."""
        return self._profile.table() if self._profile is not None else ""

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        """For each input, the memory that it is read from without a copy."""
        return [memory_info(self._place.device) for _ in self._inputs]

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        """For each output, the memory that a run leaves it in."""
        device = self._place.device if self._device_outputs else None
        return [memory_info(device) for _ in self._outputs]

    def get_input_epdevices(self) -> list[None]:
        """None for each input: providers are no plug-ins, and have no devices of their own."""
        return [None] * len(self._inputs)

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """The one provider that a model is compiled for, with all of the model's nodes.

        onnxruntime wants the entry "session.record_ep_graph_assignment_info" for it.
        """
        origin = self._origin
        nodes = nodes_of(origin.path, origin.data) if origin is not None else []
        return [OrtEpAssignedSubgraph(self._place.providers[0], nodes)]

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._options

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and remarks of the compilation."""
        return list(self._diagnostics)

    @property
    def last_run_statistics(self) -> RunStatistics | None:
        """Counts of the run that ended last, failed ones included; None before the first."""
        return None if self._statistics is None else RunStatistics(*self._statistics)


def load(
    path: str | os.PathLike[str],
    name: str | None = None,
    sess_options: SessionOptions | None = None,
    *,
    device: str | None = None,
    device_outputs: bool = False,
) -> InferenceSession:
    """A session over a shared library that ``loopc --emit=shared`` made.

    Args:
        path: the library.
        name: the model's name; None where the library holds one model.
        sess_options: only what concerns runs is used.
        device: of a model for GPUs: "cuda:N"; None for the first.
        device_outputs: as `InferenceSession` has it.

    Raises:
        CompileError: the library cannot be loaded, holds no model or does not
            fit this machine.
        InvalidArgument: the device is not where the model runs.
    """
    place = Place() if device is None else parse_device(device)
    session = InferenceSession._load(
        path, name, sess_options or SessionOptions(), place, flag("device_outputs", device_outputs)
    )
    session._require(place, device)
    return session
