# ===- _options.py - How to compile and how to run --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""SessionOptions and RunOptions, with onnxruntime's names where they mean the same."""

import math
import operator
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from loopc import _loopc
from loopc._arguments import file_path, flag, integer, string
from loopc._enums import Named
from loopc._errors import (
    InvalidArgument,
    InvalidType,
    NoSuchEntry,
    compile_error,
    diagnostics_of,
)
from loopc._initializers import Initializers

#: onnxruntime's entry for the folder of a model's external data.
_EXTERNAL_FOLDER = "session.model_external_initializers_file_folder_path"
#: Stands for `SessionOptions.tier`.
_TIER = "loopc.tier"


class _Serializable(Protocol):
    def SerializeToString(self) -> bytes: ...  # noqa: N802


class _Network(Protocol):
    _raw: _loopc.Network


Progress: TypeAlias = Callable[[str, float, float], object]
"""Called with a phase, the part of the work that is done, and seconds."""

Model: TypeAlias = str | os.PathLike[str] | bytes | _Serializable | _Network
"""A model: the path of a file, its bytes, an ``onnx.ModelProto``, or a network.

A network is a `loopc.network.INetworkDefinition`.
"""


class GraphOptimizationLevel(Named):
    """onnxruntime's levels: -O1 for the first two, -O2, and the default."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(Named):
    """onnxruntime's modes; a run has no threads between operators in either."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(Named):
    """onnxruntime's orders of operators; the compiler chooses its own."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Checked:
    """An attribute that is what `check(name, value)` makes of a value, or its error."""

    def __init__(self, check: Callable[[str, Any], Any]) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._slot = f"_{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance, self._slot)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self._slot, self._check(self._name, value))


def _choice(kind: type[Named]) -> _Checked:
    def check(name: str, value: Any) -> Named:
        if not isinstance(value, kind):
            known = ", ".join(kind.__members__)
            raise InvalidType(
                f"{name}: expected a member of {kind.__name__} ({known}), got {value!r}"
            )
        return value

    return _Checked(check)


def _integer(name: str, value: Any) -> int:
    return integer(value, name)


def _severity(name: str, value: Any) -> int:
    given = integer(value, name)
    if not -1 <= given <= 4:
        raise InvalidArgument(f"{name}: expected -1 (the default) to 4, got {given}")
    return given


class _Configurable:
    """Entries by which onnxruntime's programs set what has no attribute."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def _add_entry(self, key: str, value: str) -> None:
        for what, text in (("key", key), ("value", value)):
            if not isinstance(text, str):
                raise InvalidArgument(
                    f"the {what} of a configuration entry must be str, "
                    f"got {type(text).__qualname__}"
                )
        if not key:
            raise InvalidArgument("the key of a configuration entry is empty")
        self._entries[key] = value

    def _get_entry(self, key: str) -> str:
        if key not in self._entries:
            raise NoSuchEntry(f"there is no configuration entry {key!r}")
        return self._entries[key]


class SessionOptions(_Configurable):
    """How a session compiles its model, and the defaults of its runs.

    The attributes of onnxruntime's class that are not described here can be set,
    too: those about memory, logs and threads make no difference.
    `optimized_model_filepath` gets the model as it is, with a warning that says so: what
    loopc makes of a model is no ONNX.

    Attributes:
        intra_op_num_threads: threads of a run; 0 (the default) and less mean as many
            as the process has physical cores, or what LOOPC_NUM_THREADS says, for what
            is large enough (docs/OnnxRuntime.md). Results are the same bits.
        inter_op_num_threads: as onnxruntime has it; a run has no threads between
            operators, so it makes no difference.
        graph_optimization_level: used where `opt_level` is None.
        opt_level: 0 to 3, as ``loopc -O``; None for the default.
        ort_compat: where onnxruntime differs from the ONNX specification, do
            what onnxruntime does.
        fp_contract: round a product and the sum that it goes into once, as C++
            compilers do, not each as ONNX has it.
        dims: extents for symbolic dimensions, by name; None says that dimensions of this
            name are unrelated.
        shapes: shapes for inputs, by name; None leaves a dimension open.
        states: inputs, and the outputs that they are in the next run, by name
            (`add_state`).
        timeout: seconds that a run may take; None for no limit.
        memory_limit: bytes that a run may hold; None for no limit.
        cpu: LLVM's name of the CPU; None for this machine's.
        features: CPU features beside the CPU's own ("+avx2,-fma").
        weights: what constant float weights of products of matrices are rounded to,
            which then take less memory: "bf16", "f16", "int8" (a scale for each output
            channel); None for nothing.
        base_directory: the folder of the external data of a model that is given
            as bytes or ModelProto.
        verify: verify the compiler's work after every pass.
        check_accesses: check each access to a buffer, and run with guarded memory:
            to find faults of the compiler. Such a model is many times slower.
        disabled_passes: names of passes that only optimise (``loopc-opt
            --print-passes``) and are left out: to find faults of the compiler.
        enable_profiling: measure where the time of runs goes, by node and by
            iterations of loops, until `InferenceSession.end_profiling`.
        profile_file_prefix: how the name of its file begins.
        cache_dir: the folder that compiled models are kept in, for the next session
            of the same model with the same options; None for the environment's
            LOOPC_CACHE_DIR, or else the user's own (~/.cache/loopc); "off" for none.
        strict_cache: read large files of models, and of the cache, whenever they are to
            be recognised, and not only where their size or their times have changed.
        tier: "background" makes sessions ready sooner, of code that is made quickly and
            runs slower: the process that made it compiles optimised code into the cache,
            with a low priority, which runs take when it is there. Outputs have the same
            bits, but for those of NaN and, without mask registers, for which of two
            zeros a minimum is. "off" waits for optimised code; "auto" is "background"
            where there are two cores and optimised code takes about a second and more,
            else "off"; "quick" has code that is made quickly for good; None is what the
            entry "loopc.tier" or the environment's LOOPC_TIER say, and "off" otherwise.
        compile_timeout: seconds that a compilation may take; None for no limit.
        progress: a function that is called with the phase (a str), the part of the
            work that is done (0 to 1) and the seconds since the beginning, many times
            a second while a model is compiled; True shows a line on standard error
            after one second, False does not, None does where that is a terminal.
    """

    __slots__ = (
        "_cancel",
        "_check_accesses",
        "_custom_ops",
        "_enable_cpu_mem_arena",
        "_enable_mem_pattern",
        "_enable_mem_reuse",
        "_enable_profiling",
        "_execution_mode",
        "_execution_order",
        "_fp_contract",
        "_graph_optimization_level",
        "_initializers",
        "_inter_op_num_threads",
        "_intra_op_num_threads",
        "_log_severity_level",
        "_log_verbosity_level",
        "_logid",
        "_optimized_model_filepath",
        "_ort_compat",
        "_profile_file_prefix",
        "_strict_cache",
        "_use_deterministic_compute",
        "_use_per_session_threads",
        "_verify",
        "base_directory",
        "cache_dir",
        "compile_timeout",
        "cpu",
        "dims",
        "disabled_passes",
        "features",
        "memory_limit",
        "opt_level",
        "progress",
        "shapes",
        "states",
        "tier",
        "timeout",
        "weights",
    )

    check_accesses = _Checked(flag)
    enable_cpu_mem_arena = _Checked(flag)
    enable_mem_pattern = _Checked(flag)
    enable_mem_reuse = _Checked(flag)
    enable_profiling = _Checked(flag)
    execution_mode = _choice(ExecutionMode)
    execution_order = _choice(ExecutionOrder)
    fp_contract = _Checked(flag)
    graph_optimization_level = _choice(GraphOptimizationLevel)
    inter_op_num_threads = _Checked(_integer)
    intra_op_num_threads = _Checked(_integer)
    log_severity_level = _Checked(_severity)
    log_verbosity_level = _Checked(_integer)
    logid = _Checked(string)
    optimized_model_filepath = _Checked(file_path)
    ort_compat = _Checked(flag)
    profile_file_prefix = _Checked(file_path)
    strict_cache = _Checked(flag)
    use_deterministic_compute = _Checked(flag)
    use_per_session_threads = _Checked(flag)
    verify = _Checked(flag)
    _intra_op_num_threads: int

    def __init__(
        self,
        *,
        intra_op_num_threads: int = 0,
        inter_op_num_threads: int = 0,
        graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL,
        opt_level: int | None = None,
        ort_compat: bool = False,
        fp_contract: bool = False,
        dims: Mapping[str, int | None] | None = None,
        shapes: Mapping[str, Sequence[int | None]] | None = None,
        states: Mapping[str, str] | None = None,
        timeout: float | None = None,
        memory_limit: int | None = None,
        cpu: str | None = None,
        features: str | None = None,
        weights: str | None = None,
        base_directory: str | os.PathLike[str] | None = None,
        verify: bool = False,
        check_accesses: bool = False,
        disabled_passes: Sequence[str] = (),
        cache_dir: str | os.PathLike[str] | None = None,
        strict_cache: bool = False,
        tier: str | None = None,
        compile_timeout: float | None = None,
        progress: Progress | bool | None = None,
    ) -> None:
        super().__init__()
        self.intra_op_num_threads = intra_op_num_threads
        self.inter_op_num_threads = inter_op_num_threads
        self.graph_optimization_level = graph_optimization_level
        self.opt_level = opt_level
        self.ort_compat = ort_compat
        self.fp_contract = fp_contract
        self.dims = extents_by_name(dims)
        self.shapes = shapes_by_name(shapes)
        self.states = states_by_name(states)
        self.timeout = timeout
        self.memory_limit = memory_limit
        self.cpu = cpu
        self.features = features
        self.weights = weights
        self.base_directory = base_directory
        self.verify = verify
        self.check_accesses = check_accesses
        self.disabled_passes = names("disabled_passes", disabled_passes)
        self.cache_dir = cache_dir
        self.strict_cache = strict_cache
        self.tier = tier
        self.compile_timeout = compile_timeout
        self.progress = progress
        self._cancel = _loopc.CancelToken()
        self._initializers = Initializers()
        self._custom_ops: list[str] = []
        # What onnxruntime's programs set; no result depends on it.
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "loopc_profile_"
        self.use_deterministic_compute = False
        self.use_per_session_threads = True

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Fixes the symbolic dimension `dim_name` to `dim_value`."""
        self.dims[dim_name] = dim_value

    def add_state(self, input_name: str, output_name: str) -> None:
        """Makes a state: the input is what the output was in the run before.

        The session keeps it (`InferenceSession.get_state`) under the input's name, and
        it is no input and no output any more. To begin with it is the input's
        initializer, where it has one, else zeros; extents that are open are then those
        of other inputs' dimensions of the same name, and else 0.
        """
        self.states[input_name] = output_name

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry.

        "session.model_external_initializers_file_folder_path" is `base_directory` where
        that is not set, and so is "loopc.tier" for `tier`; others make no difference.

        Raises:
            InvalidArgument: key or value is no str, or the key is empty.
        """
        self._add_entry(key, value)

    def get_session_config_entry(self, key: str) -> str:
        """The value of an entry that was added.

        Raises:
            InvalidArgument: there is no such entry.
        """
        return self._get_entry(key)

    def set_load_cancellation_flag(self, is_cancel: bool) -> None:
        """True ends compilations with these options, also those under way.

        Any thread may call it. New ones end at once until it is False again.
        """
        if is_cancel:
            self._cancel.cancel()
        else:
            self._cancel.reset()

    def __getstate__(self) -> dict[str, Any]:
        # The flag belongs to the compilations of this process.
        slots = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        return {name: getattr(self, name) for name in slots if name != "_cancel"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._cancel = _loopc.CancelToken()

    def add_free_dimension_override_by_denotation(
        self, dim_denotation: str, dim_value: int
    ) -> None:
        """Raises InvalidArgument: denotations of dimensions are not read."""
        raise InvalidArgument(
            f"denotation {dim_denotation!r}: dimensions are known by name "
            "(add_free_dimension_override_by_name), or fixed by input: SessionOptions.shapes"
        )

    def add_initializer(self, name: str, ort_value: Any) -> None:
        """Gives the tensor that is to stand for an initializer of the model.

        A model without such an initializer is as it would be without it. The tensor
        becomes a part of the model that is compiled: sessions do not share its memory.

        Args:
            name: the initializer.
            ort_value: an OrtValue of the initializer's type and shape.

        Raises:
            InvalidArgument: it is no tensor, or one was given before. Where it does not
                fit, `InferenceSession` says so.
        """
        self._initializers.add(name, ort_value, is_external=False)

    def add_external_initializers(self, names: Sequence[str], ort_values: Sequence[Any]) -> None:
        """Gives tensors for initializers whose elements are in files, which need not exist.

        Args:
            names: the initializers.
            ort_values: an OrtValue for each.

        Raises:
            InvalidArgument: as `add_initializer`, or there is another number of names.
        """
        if len(names) != len(ort_values):
            raise InvalidArgument(f"ort_values: expected {len(names)}, got {len(ort_values)}")
        for name, value in zip(names, ort_values, strict=True):
            self._initializers.add(name, value, is_external=True)

    def add_external_initializers_from_files_in_memory(
        self, names: Sequence[str], buffers: Sequence[Any], lengths: Sequence[int]
    ) -> None:
        """Gives the contents of files of external data, which need not exist.

        Args:
            names: the files, as the model calls them.
            buffers: the bytes of each.
            lengths: how many of them.

        Raises:
            InvalidArgument: there are other numbers of them, or a length is too large.
        """
        if not len(names) == len(buffers) == len(lengths):
            raise InvalidArgument(
                f"names, buffers and lengths: {len(names)}, {len(buffers)} and {len(lengths)}"
            )
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            self._initializers.add_file(name, buffer, length)

    def has_providers(self) -> bool:
        """False: providers are arguments of `InferenceSession`."""
        return False

    def add_provider(self, provider: str, options: Mapping[str, str]) -> None:
        """Raises InvalidArgument: providers are arguments of `InferenceSession`."""
        raise InvalidArgument(f"{provider}: name providers as an argument of InferenceSession")

    def add_provider_for_devices(self, ep_devices: Any, provider_options: Any) -> None:
        """Raises InvalidArgument: providers are arguments of `InferenceSession`."""
        raise InvalidArgument("name providers as an argument of InferenceSession")

    def set_provider_selection_policy(self, policy: Any) -> None:
        """Raises InvalidArgument: providers are arguments of `InferenceSession`."""
        raise InvalidArgument("name providers as an argument of InferenceSession")

    def register_custom_ops_library(self, path: str | os.PathLike[str]) -> None:
        """Gives the model the operators of a shared library.

        The library describes them as ``loopc-rt/custom.h`` has it, or registers them as
        onnxruntime's do; docs/CustomOperators.md says what the latter can call. It stays
        in the process.

        Raises:
            CompileError: there is no such library, or it is not one of custom operators.
            InvalidArgument: the path is empty, or no path.
        """
        name = folder("path", path)
        if not name:
            raise InvalidArgument("path: expected the path of a library")
        library = os.fsencode(os.path.abspath(name))
        status, raw = _loopc.check_custom_ops(library)
        if status != 0:
            raise compile_error(diagnostics_of(raw), library)
        self._custom_ops.append(os.fsdecode(library))

    def _compile_options(self) -> dict[str, Any]:
        level = compile_level(self.opt_level)
        ort_level = whole("graph_optimization_level", self.graph_optimization_level)
        if level is None and ort_level <= 2:
            # Who turns all of it off wants to be ready soon, which -O1 is for.
            level = max(ort_level, 1)
        return {
            "opt_level": level,
            "ort_compat": int(self.ort_compat),
            "fp_contract": int(self.fp_contract),
            "dims": extents_by_name(self.dims),
            "shapes": shapes_by_name(self.shapes),
            "states": states_by_name(self.states),
            "cpu": text("cpu", self.cpu),
            "features": text("features", self.features),
            "weights": text("weights", self.weights),
            "base_directory": folder(
                "base_directory",
                self._entries.get(_EXTERNAL_FOLDER)
                if self.base_directory is None
                else self.base_directory,
            ),
            "verify": int(self.verify),
            "check_accesses": int(self.check_accesses),
            "profile": int(self.enable_profiling),
            "disabled_passes": names("disabled_passes", self.disabled_passes),
            "custom_ops": list(self._custom_ops),
            "cache": folder("cache_dir", self.cache_dir) or "",
            "strict_cache": int(self.strict_cache),
            "tier": tier_name(self._entries.get(_TIER) if self.tier is None else self.tier),
            "timeout": seconds(self.compile_timeout),
            "cancel": self._cancel,
        }


def type_name(value: object) -> str:
    """The type of `value` with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def checked_options(options: SessionOptions | None) -> SessionOptions:
    """`options`, or the default ones."""
    options = SessionOptions() if options is None else options
    if not isinstance(options, SessionOptions):
        raise InvalidType(f"sess_options: expected loopc.SessionOptions, got {type_name(options)}")
    return options


class RunOptions(_Configurable):
    """How one run, or several, are done.

    The attributes of onnxruntime's class that are not described here can be set,
    too, and make no difference.

    Attributes:
        timeout: seconds that a run may take; None for the session's.
        memory_limit: bytes that a run may hold; None for the session's.
        num_threads: threads, 0 for the default; None for the session's.
        device_outputs: whether tensors stay on the GPU; None for the session's.
        stream: a CUstream (an int) that a run on a GPU works on, in the order of
            what was begun there before; None for the session's.
        time_device: whether a run on a GPU is timed by the GPU's clock:
            InferenceSession.last_run_statistics has device_seconds.
    """

    __slots__ = (
        "_log_severity_level",
        "_log_verbosity_level",
        "_logid",
        "_only_execute_path_to_fetches",
        "_time_device",
        "_token",
        "device_outputs",
        "memory_limit",
        "num_threads",
        "stream",
        "timeout",
    )

    log_severity_level = _Checked(_severity)
    log_verbosity_level = _Checked(_integer)
    logid = _Checked(string)
    only_execute_path_to_fetches = _Checked(flag)
    time_device = _Checked(flag)

    def __init__(
        self,
        *,
        timeout: float | None = None,
        memory_limit: int | None = None,
        num_threads: int | None = None,
        device_outputs: bool | None = None,
        stream: int | None = None,
        time_device: bool = False,
    ) -> None:
        super().__init__()
        self.device_outputs = device_outputs
        self.stream = stream
        self.time_device = time_device
        self.timeout = timeout
        self.memory_limit = memory_limit
        self.num_threads = num_threads
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._token = _loopc.CancelToken()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry; loopc itself has none, so it makes no difference.

        Raises:
            InvalidArgument: key or value is no str, or the key is empty.
        """
        self._add_entry(key, value)

    def get_run_config_entry(self, key: str) -> str:
        """The value of an entry that was added.

        Raises:
            InvalidArgument: there is no such entry.
        """
        return self._get_entry(key)

    def add_active_adapter(self, adapter: Any) -> None:
        """Raises InvalidArgument: there are no adapters."""
        raise InvalidArgument("adapters are not supported: merge them into the model's weights")

    @property
    def terminate(self) -> bool:
        """True ends all runs that use these options, also those under way.

        Any thread may set it. New runs end at once until it is False again.
        """
        return self._token.requested

    @terminate.setter
    def terminate(self, value: bool) -> None:
        if value:
            self._token.cancel()
        else:
            self._token.reset()


def seconds(timeout: float | None) -> float:
    """`timeout` as the runtime wants it: 0 for none."""
    if timeout is None:
        return 0.0
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise InvalidArgument(f"timeout: expected more than 0 seconds, got {timeout!r}")
    return 0.0 if math.isinf(timeout) else float(timeout)


def whole(name: str, value: Any, most: int = 2**63 - 1) -> int:
    """`value` as an int of 0 to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{name}: expected an integer, got {value!r}") from None
    if not 0 <= number <= most:
        raise InvalidArgument(f"{name}: expected 0 to {most}, got {number}")
    return number


def count(name: str, value: int | None, most: int = 2**63 - 1) -> int:
    """`value` as the runtime wants it: 0 for the default."""
    return 0 if value is None else whole(name, value, most)


def tier_name(value: Any) -> str:
    """What a session begins with; "" where nobody says it."""
    if value is not None and value not in ("auto", "off", "background", "quick"):
        raise InvalidArgument(
            f"tier: expected 'auto', 'off', 'background' or 'quick', got {value!r}"
        )
    return value or ""


def text(name: str, value: Any) -> str | None:
    """`value`, a str or None."""
    if value is not None and not isinstance(value, str):
        raise InvalidArgument(f"{name}: expected a str, got {type(value).__qualname__}")
    return value


def names(name: str, value: Any) -> list[str]:
    """`value`, names, as a list."""
    try:
        given = None if isinstance(value, str) else list(value)
    except (TypeError, ValueError):
        given = None
    if given is None:
        raise InvalidType(f"{name}: expected a list of names, got {value!r}")
    return [str(text(name, one) or "") for one in given]


def folder(name: str, value: Any) -> str | None:
    """`value`, a path or None, as a str."""
    if value is None:
        return None
    try:
        return os.fsdecode(value)
    except TypeError as error:
        raise InvalidArgument(f"{name}: {error}") from None


def file_name(name: str, value: Any) -> bytes:
    """`value`, a path, as the extension wants it."""
    try:
        return os.fsencode(value)
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidArgument(f"{name}: {error}") from None


def extents_by_name(value: Any) -> dict[str, int | None]:
    """`value`, a dict of extents of symbolic dimensions."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidType(f"dims: expected a dict, got {type(value).__qualname__}")
    return {
        str(text("dims", name)): None if extent is None else whole(f"dims: {name!r}", extent)
        for name, extent in value.items()
    }


def shapes_by_name(value: Any) -> dict[str, list[int | None]]:
    """`value`, a dict of shapes, whose extents are numbers or None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidType(f"shapes: expected a dict, got {type(value).__qualname__}")
    shapes: dict[str, list[int | None]] = {}
    for name, shape in value.items():
        what = f"shapes: {name!r}"
        if isinstance(shape, str) or not isinstance(shape, Iterable):
            raise InvalidArgument(f"{what}: expected a list of extents, got {shape!r}")
        shapes[str(text("shapes", name))] = [
            None if extent is None else whole(what, extent) for extent in shape
        ]
    return shapes


def states_by_name(value: Any) -> dict[str, str]:
    """`value`, a dict of names of outputs by those of inputs."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidType(f"states: expected a dict, got {type(value).__qualname__}")
    return {
        str(text("states", before)): str(text("states", after)) for before, after in value.items()
    }


def compile_level(value: Any) -> int | None:
    """`value`, an optimisation level or None."""
    return None if value is None else whole("opt_level", value, 3)


def is_shared_library(path: bytes) -> bool:
    """Whether a file is what ``loopc --emit=shared`` writes: ELF's, to be loaded."""
    try:
        # What is no regular file can be read once.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            head = file.read(18)
    except (OSError, ValueError):
        return False
    kind = 3  # ET_DYN
    return head[:4] == b"\x7fELF" and kind in head[16:18]


def network_of(model: Model) -> _loopc.Network | None:
    """What the extension knows a network as; None for other models."""
    raw = getattr(model, "_raw", None)
    return raw if isinstance(raw, _loopc.Network) else None


def model_source(model: Model) -> tuple[bytes | None, bytes | None]:
    """(path, None) or (None, bytes) of a model."""
    if isinstance(model, str | os.PathLike):
        return file_name("model", model), None
    if isinstance(model, bytes | bytearray | memoryview):
        return None, bytes(model)
    serialize = getattr(model, "SerializeToString", None)
    if serialize is None:
        raise InvalidType(
            f"model: expected a path, bytes or an onnx.ModelProto, got {type(model).__qualname__}"
        )
    return None, serialize()
