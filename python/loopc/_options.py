# ===- _options.py - How to compile and how to run --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""SessionOptions and RunOptions, with onnxruntime's names where they mean the same."""

import math
import os
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol, TypeAlias

from loopc import _loopc
from loopc._errors import InvalidArgument


class _Serializable(Protocol):
    def SerializeToString(self) -> bytes: ...  # noqa: N802


class _Network(Protocol):
    _raw: _loopc.Network


Model: TypeAlias = str | os.PathLike[str] | bytes | _Serializable | _Network
"""A model: the path of a file, its bytes, an ``onnx.ModelProto``, or a network.

A network is a `loopc.network.INetworkDefinition`.
"""


class GraphOptimizationLevel(IntEnum):
    """onnxruntime's levels. They stand for -O0, -O1, -O2 and the default."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class SessionOptions:
    """How a session compiles its model, and the defaults of its runs.

    Attributes:
        intra_op_num_threads: threads of a run; 0 (the default) means one.
        inter_op_num_threads: as onnxruntime has it; a run has no threads between
            operators, so it makes no difference.
        graph_optimization_level: used where `opt_level` is None.
        opt_level: 0 to 3, as ``loopc -O``; None for the default.
        ort_compat: where onnxruntime differs from the ONNX specification, do
            what onnxruntime does.
        dims: extents for symbolic dimensions, by name.
        shapes: shapes for inputs, by name; None leaves a dimension open.
        timeout: seconds that a run may take; None for no limit.
        memory_limit: bytes that a run may hold; None for no limit.
        cpu: LLVM's name of the CPU; None for this machine's.
        features: CPU features beside the CPU's own ("+avx2,-fma").
        base_directory: the folder of the external data of a model that is given
            as bytes or ModelProto.
        verify: verify the compiler's work after every pass.
    """

    def __init__(
        self,
        *,
        intra_op_num_threads: int = 0,
        inter_op_num_threads: int = 0,
        graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL,
        opt_level: int | None = None,
        ort_compat: bool = False,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int | None]] | None = None,
        timeout: float | None = None,
        memory_limit: int | None = None,
        cpu: str | None = None,
        features: str | None = None,
        base_directory: str | os.PathLike[str] | None = None,
        verify: bool = False,
    ) -> None:
        self.intra_op_num_threads = intra_op_num_threads
        self.inter_op_num_threads = inter_op_num_threads
        self.graph_optimization_level = graph_optimization_level
        self.opt_level = opt_level
        self.ort_compat = ort_compat
        self.dims = dict(dims or {})
        self.shapes = {name: list(shape) for name, shape in (shapes or {}).items()}
        self.timeout = timeout
        self.memory_limit = memory_limit
        self.cpu = cpu
        self.features = features
        self.base_directory = base_directory
        self.verify = verify

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Fixes the symbolic dimension `dim_name` to `dim_value`."""
        self.dims[dim_name] = dim_value

    def _compile_options(self) -> dict[str, Any]:
        level = self.opt_level
        if level is None and self.graph_optimization_level <= 2:
            level = int(self.graph_optimization_level)
        base = self.base_directory
        return {
            "opt_level": level,
            "ort_compat": int(self.ort_compat),
            "dims": self.dims,
            "shapes": self.shapes,
            "cpu": self.cpu,
            "features": self.features,
            "base_directory": None if base is None else os.fspath(base),
            "verify": int(self.verify),
        }


class RunOptions:
    """How one run, or several, are done.

    Attributes:
        timeout: seconds that a run may take; None for the session's.
        memory_limit: bytes that a run may hold; None for the session's.
        num_threads: threads; None for the session's.
    """

    def __init__(
        self,
        *,
        timeout: float | None = None,
        memory_limit: int | None = None,
        num_threads: int | None = None,
    ) -> None:
        self.timeout = timeout
        self.memory_limit = memory_limit
        self.num_threads = num_threads
        self._token = _loopc.CancelToken()

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
    if not timeout > 0:
        raise InvalidArgument(f"timeout: expected more than 0 seconds, got {timeout}")
    return 0.0 if math.isinf(timeout) else float(timeout)


def count(name: str, value: int | None) -> int:
    """`value` as the runtime wants it: 0 for the default."""
    if value is None:
        return 0
    if value < 0:
        raise InvalidArgument(f"{name}: expected 0 or more, got {value}")
    return value


def network_of(model: Model) -> _loopc.Network | None:
    """What the extension knows a network as; None for other models."""
    raw = getattr(model, "_raw", None)
    return raw if isinstance(raw, _loopc.Network) else None


def model_source(model: Model) -> tuple[bytes | None, bytes | None]:
    """(path, None) or (None, bytes) of a model."""
    if isinstance(model, str | os.PathLike):
        return os.fsencode(model), None
    if isinstance(model, bytes | bytearray | memoryview):
        return None, bytes(model)
    serialize = getattr(model, "SerializeToString", None)
    if serialize is None:
        raise InvalidArgument(
            f"model: expected a path, bytes or an onnx.ModelProto, got {type(model).__qualname__}"
        )
    return None, serialize()
