# ===- _session_info.py - What a session tells of itself --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What a session tells of its model, of where it runs and of its runs so far."""

import os
import time
from dataclasses import dataclass
from typing import Any

from loopc import _loopc
from loopc._device import CPU, CUDA, Place
from loopc._errors import Diagnostic
from loopc._metadata import (
    ModelMetadata,
    ModelProperties,
    NodeArg,
    OrtEpAssignedSubgraph,
    RunStatistics,
    nodes_of,
)
from loopc._no_effect import NoEffect
from loopc._options import SessionOptions
from loopc._ort_device import OrtMemoryInfo, memory_info


@dataclass(frozen=True)
class Origin:
    """What a session was made of, so that it can be made again."""

    path: bytes | None
    data: bytes | None
    name: str | None
    options: SessionOptions
    arguments: dict[str, Any]


class SessionInfo(NoEffect):
    """The base of `InferenceSession` that has these methods."""

    _origin: Origin | None = None
    _session: _loopc.Session
    _options: SessionOptions
    _place: Place
    _device_outputs: bool
    _inputs: list[NodeArg]
    _overridable: list[NodeArg]
    _outputs: list[NodeArg]
    _diagnostics: list[Diagnostic]
    _properties: ModelProperties
    _profile: _loopc.Profile | None
    _profile_start: int
    #: What RunStatistics is made of when it is asked for.
    _statistics: tuple[Any, ...] | None

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
        """Counts of the run that ended last, failed ones included.

        None before the first run.
        """
        return None if self._statistics is None else RunStatistics(*self._statistics)
