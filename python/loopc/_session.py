# ===- _session.py - Models in this process ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""InferenceSession, shaped like onnxruntime's."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from loopc import _loopc
from loopc._binding import IOBinding
from loopc._errors import (
    Diagnostic,
    InvalidArgument,
    RawDiagnostic,
    compile_error,
    diagnostics_of,
    run_error,
)
from loopc._options import (
    Model,
    RunOptions,
    SessionOptions,
    count,
    model_source,
    network_of,
    seconds,
)

PROVIDERS = ["CPUExecutionProvider"]


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a model.

    Attributes:
        name: its name.
        type: "tensor(float)", "seq(tensor(int64))", "optional(...)".
        shape: of a tensor: extents, names of symbolic dimensions, and None
            where one has neither; None where the rank is not known, and for
            sequences and optionals.
    """

    name: str
    type: str
    shape: list[int | str | None] | None


@dataclass(frozen=True)
class ModelMetadata:
    """What a compiled model says about itself.

    Attributes:
        graph_name: the model's name.
        producer_name: the compiler and its version.
        cpu_features: the CPU features that its code needs; may be "".
        abi_version: version of the ABI between model and runtime.
    """

    graph_name: str
    producer_name: str
    cpu_features: str
    abi_version: int


@dataclass(frozen=True)
class RunStatistics:
    """Counts of a run.

    Attributes:
        allocations: calls of the allocation function by the model.
        deallocations: calls of its counterpart.
        peak_bytes: most memory that the model held at one time.
        copied_bytes: bytes moved by buffer copies inside the runtime.
    """

    allocations: int
    deallocations: int
    peak_bytes: int
    copied_bytes: int


def get_available_providers() -> list[str]:
    """Where models can run."""
    return list(PROVIDERS)


def _check_providers(providers: Sequence[Any] | None) -> None:
    if providers is None:
        return
    names = [p if isinstance(p, str) else p[0] for p in providers]
    missing = [name for name in names if name not in PROVIDERS]
    if not missing:
        return
    message = f"providers: {', '.join(missing)} not available; available: {', '.join(PROVIDERS)}"
    if len(missing) == len(names):
        raise InvalidArgument(message)
    warnings.warn(message, stacklevel=4)


def _name_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


class InferenceSession:
    """A model, compiled into this process and ready to run.

    A session can be used by several threads at the same time: neither
    compiling nor running holds the interpreter's lock.
    """

    def __init__(
        self,
        path_or_bytes: Model,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Compiles a model.

        Args:
            path_or_bytes: path, bytes, onnx.ModelProto or loopc.network.INetworkDefinition.
            sess_options: how to compile it.
            providers: names (or pairs of name and options) of where to run; the
                default is the CPU. Names that are not available are warned
                about, and an error where no other is given.
            provider_options: accepted and empty: the CPU has none.

        Raises:
            CompileError: the model is invalid or not supported.
            InvalidArgument: an argument is wrong.
        """
        _check_providers(providers)
        if any(provider_options or ()):
            raise InvalidArgument("provider_options: the CPU has no options")
        options = SessionOptions() if sess_options is None else sess_options
        if not isinstance(options, SessionOptions):
            raise InvalidArgument(
                f"sess_options: expected loopc.SessionOptions, got {_name_of(options)}"
            )
        network = network_of(path_or_bytes)
        if network is not None:
            made = _loopc.create_from_network(network, options._compile_options())
            self._set_up(options, *made)
            return
        path, data = model_source(path_or_bytes)
        if path is not None:
            made = _loopc.create_from_file(path, options._compile_options())
        else:
            assert data is not None
            made = _loopc.create_from_bytes(data, options._compile_options())
        self._set_up(options, *made)

    @classmethod
    def _load(cls, path: str | os.PathLike[str], name: str | None, options: SessionOptions) -> Self:
        self = cls.__new__(cls)
        self._set_up(options, *_loopc.load_shared(os.fsencode(path), name))
        return self

    def _set_up(
        self,
        options: SessionOptions,
        status: int,
        session: _loopc.Session | None,
        raw: Sequence[RawDiagnostic],
    ) -> None:
        if status != 0 or session is None:
            raise compile_error(raw)
        self._session = session
        self._options = options
        self._diagnostics = diagnostics_of(raw)
        inputs = [NodeArg(*port) for port in session.inputs()]
        defaults = session.defaults()
        self._inputs = [one for one, own in zip(inputs, defaults, strict=True) if not own]
        self._overridable = [one for one, own in zip(inputs, defaults, strict=True) if own]
        self._outputs = [NodeArg(*port) for port in session.outputs()]
        self._statistics: RunStatistics | None = None

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Runs the model.

        Inputs are numpy arrays with any strides (nothing is copied or cast),
        arrays of ml_dtypes' types, objects with ``__dlpack__`` on the CPU,
        lists for sequences, None for an empty optional, and arrays of str for
        strings.

        Args:
            output_names: the outputs to return; None for all of them.
            input_feed: a value for each input, by name; inputs that have an
                initializer may be left out.
            run_options: how to run.

        Returns:
            A numpy array, list or None for each output. Arrays own the memory
            that the model wrote; scalars are arrays of shape ().

        Raises:
            InvalidArgument: a name, kind, element type, rank or dimension is
                wrong.
            RunError: the computation failed, was cancelled or took too long.
            KeyboardInterrupt: Ctrl-C ended the run.
        """
        options = self._options
        token = timeout = memory_limit = num_threads = None
        if run_options is not None:
            if not isinstance(run_options, RunOptions):
                raise InvalidArgument(
                    f"run_options: expected loopc.RunOptions, got {_name_of(run_options)}"
                )
            token = run_options._token
            timeout = run_options.timeout
            memory_limit = run_options.memory_limit
            num_threads = run_options.num_threads
        if not isinstance(input_feed, Mapping):
            raise InvalidArgument(f"input_feed: expected a dict, got {_name_of(input_feed)}")
        feeds = input_feed if isinstance(input_feed, dict) else dict(input_feed)
        status, message, results, statistics = self._session.run(
            output_names,
            feeds,
            token,
            seconds(options.timeout if timeout is None else timeout),
            count(
                "num_threads", options.intra_op_num_threads if num_threads is None else num_threads
            ),
            count("memory_limit", options.memory_limit if memory_limit is None else memory_limit),
        )
        self._statistics = RunStatistics(*statistics)
        if status != 0:
            raise run_error(status, message)
        return results

    def io_binding(self) -> IOBinding:
        """A new, empty binding for `run_with_iobinding`."""
        inputs = [port.name for port in (*self._inputs, *self._overridable)]
        return IOBinding(inputs, [port.name for port in self._outputs])

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
        wanted = iobinding._wanted or None
        iobinding._results = self.run(wanted, iobinding._feeds, run_options)

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that must be given, in order."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The model's outputs in order."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that may be left out: the model has an initializer for them."""
        return list(self._overridable)

    def get_modelmeta(self) -> ModelMetadata:
        """What the compiled model says about itself."""
        session = self._session
        return ModelMetadata(
            session.name, session.producer, session.cpu_features, session.abi_version
        )

    def get_providers(self) -> list[str]:
        """Where the model runs."""
        return list(PROVIDERS)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of each provider: none."""
        return {name: {} for name in PROVIDERS}

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._options

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and remarks of the compilation."""
        return list(self._diagnostics)

    @property
    def last_run_statistics(self) -> RunStatistics | None:
        """Counts of the run that ended last, failed ones included.

        None before the first run.
        """
        return self._statistics


def load(
    path: str | os.PathLike[str],
    name: str | None = None,
    sess_options: SessionOptions | None = None,
) -> InferenceSession:
    """A session over a shared library that ``loopc --emit=shared`` made.

    Args:
        path: the library.
        name: the model's name; None where the library holds one model.
        sess_options: only what concerns runs is used.

    Raises:
        CompileError: the library cannot be loaded, holds no model or does not
            fit this machine.
    """
    return InferenceSession._load(path, name, sess_options or SessionOptions())
