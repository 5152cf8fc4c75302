# ===- _core.py - Where models are compiled ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Core and CompiledModel, under OpenVINO's names."""

from __future__ import annotations

import copy
import io
import json
import re
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopc import _loopc
from loopc._arguments import data, string
from loopc._compile import compile as _compile
from loopc._device import chip_of, cuda_devices, parse_device
from loopc._errors import InvalidArgument
from loopc._session import InferenceSession, load
from loopc.openvino._model import Model, ports_of, read_model
from loopc.openvino._names import ModelNames, PortNames
from loopc.openvino._ports import ConstOutput, Key, Results, find, only
from loopc.openvino._properties import of_device, of_model, options_of, properties_of
from loopc.openvino._requests import InferRequest, VariableState

#: What an exported model ends with, behind a shared library, the names of its ports and
#: their number of bytes.
_MAGIC = b"loopc-ov"


class CompiledModel:
    """A model that is ready to run. Requests of one model may run at a time."""

    inputs: list[ConstOutput]
    outputs: list[ConstOutput]

    def __init__(self, model: Model, properties: Mapping[str, Any], device: str) -> None:
        options = options_of(properties)
        model._options(options)
        session = InferenceSession(model._path, options, device=_place(device))
        self._begin(session, model._names, model.friendly_name, properties, device)
        # As long as it is there its files are.
        self._model: Model | None = model

    def _begin(
        self,
        session: InferenceSession,
        names: ModelNames,
        name: str,
        properties: Mapping[str, Any],
        device: str,
    ) -> None:
        self._session = session
        self._names = names
        self._name = name
        self._properties = dict(properties)
        self._device = device
        self.inputs = ports_of(session.get_inputs(), names.inputs, "Parameter", ConstOutput)
        self.outputs = ports_of(session.get_outputs(), names.outputs, "Result", ConstOutput)
        self._model = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        # With states a call goes on where the one before ended.
        self._own_request: InferRequest | None = None
        self._is_taken = False
        self._lock = threading.Lock()

    @classmethod
    def _imported(
        cls, exported: bytes, properties: Mapping[str, Any], device: str
    ) -> CompiledModel:
        head, size = exported[:-16], int.from_bytes(exported[-16:-8], "little")
        if exported[-8:] != _MAGIC or size > len(head):
            raise InvalidArgument("model_stream: these are not the bytes of an exported model")
        kept = json.loads(head[len(head) - size :])
        folder = tempfile.TemporaryDirectory(prefix="loopc-")
        file = Path(folder.name) / "model.so"
        file.write_bytes(head[: len(head) - size])
        session = load(file, sess_options=options_of(properties))
        session._require(parse_device(_place(device) or "cpu"), _place(device))
        ports = [
            [PortNames(port, node, tuple(tensor)) for port, node, tensor in kept[kind]]
            for kind in ("inputs", "outputs")
        ]
        self = cls.__new__(cls)
        self._begin(session, ModelNames(ports[0], ports[1]), kept["name"], properties, device)
        self._folder = folder
        return self

    def export_model(self, model_stream: Any = None) -> io.BytesIO | None:
        """The compiled model as bytes, for machines like this one.

        Args:
            model_stream: what they are written to; None for a new one.

        Raises:
            CompileError: the compiler cannot write files.
            InvalidArgument: the model was imported, whose bytes are there already.
        """
        if self._model is None:
            raise InvalidArgument("the model was imported: keep the bytes that it was made of")
        stream = io.BytesIO() if model_stream is None else model_stream
        place = _place(self._device)
        with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
            file = Path(folder) / "model.so"
            _compile(
                self._model._path,
                file,
                emit="shared",
                cpu="native",
                chip=None if place is None else chip_of(parse_device(place).device or 0),
                shapes=self._model._shapes,
                base_directory=self._model._data,
                profile=self._properties.get("PERF_COUNT", False),
            )
            library = file.read_bytes()
        names = {
            kind: [(one.port, one.node, one.tensor) for one in ports]
            for kind, ports in (("inputs", self._names.inputs), ("outputs", self._names.outputs))
        }
        kept = json.dumps({"name": self._name, **names}).encode()
        stream.write(library + kept + len(kept).to_bytes(8, "little") + _MAGIC)
        stream.flush()
        stream.seek(0)
        return stream if model_stream is None else None

    def input(self, key: Key | None = None) -> ConstOutput:
        """An input, by number or any of its names; the only one without."""
        at = only(self.inputs, "input") if key is None else find(self.inputs, key, "input")
        return self.inputs[at]

    def output(self, key: Key | None = None) -> ConstOutput:
        """An output, by number or any of its names; the only one without."""
        at = only(self.outputs, "output") if key is None else find(self.outputs, key, "output")
        return self.outputs[at]

    def _request_session(self) -> InferenceSession:
        """What a new request runs: one of its own where the model has states."""
        if not self._session.get_states():
            return self._session
        # The first takes the one that is there.
        with self._lock:
            is_first, self._is_taken = not self._is_taken, True
        if is_first:
            return self._session
        made = copy.copy(self._session)
        made.reset_state()
        return made

    def create_infer_request(self) -> InferRequest:
        """A new request, with states of its own."""
        return InferRequest(self)

    def infer_new_request(self, inputs: Any = None, **sharing: bool) -> Results:
        """Runs by a new request; `sharing` is as `InferRequest.infer` has it."""
        return self.create_infer_request().infer(inputs, **sharing)

    def _request(self) -> InferRequest:
        """The request of a call: with states always the same."""
        if not self._session.get_states():
            return self.create_infer_request()
        if self._own_request is None:
            self._own_request = self.create_infer_request()
        return self._own_request

    def __call__(
        self,
        inputs: Any = None,
        share_inputs: bool = False,
        share_outputs: bool = True,
        *,
        decode_strings: bool = True,
    ) -> Results:
        """Runs, as `InferRequest.infer`; states go from one call to the next."""
        return self._request().infer(
            inputs,
            share_inputs=share_inputs,
            share_outputs=share_outputs,
            decode_strings=decode_strings,
        )

    def query_state(self) -> list[VariableState]:
        """The variables of calls."""
        return self._request().query_state()

    def reset_state(self) -> None:
        """Sets the states of calls back to their initial values."""
        self._request().reset_state()

    def get_property(self, property: str) -> Any:
        """A property that it was compiled with, or that it tells.

        Raises:
            InvalidArgument: there is no such property.
        """
        return of_model(self._name, self._device, property, self._properties)

    def set_property(self, properties: Any) -> None:
        """Refused: properties are given when a model is compiled.

        Raises:
            InvalidArgument: always.
        """
        properties_of("properties", properties)
        raise InvalidArgument("a model that is compiled keeps its properties: compile it with them")

    def get_runtime_model(self) -> Any:
        """Refused: a compiled model has no layers that a run goes through.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(
            "get_runtime_model: layers are fused to code; compile with {'PERF_COUNT': True} for "
            "InferRequest.profiling_info, and `loopc explain MODEL` tells what became of loops"
        )

    def release_memory(self) -> None:
        """Nothing: between runs a model holds its constants only."""

    def __enter__(self) -> CompiledModel:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __repr__(self) -> str:
        inputs, outputs = ("\n".join(map(repr, ports)) for ports in (self.inputs, self.outputs))
        return f"<CompiledModel:\ninputs[\n{inputs}\n]\noutputs[\n{outputs}\n]>"


def _place(device: str) -> str | None:
    """What sessions call a device; None for the CPU."""
    return None if device == "CPU" else f"cuda:{device.partition('.')[2] or 0}"


def _device(name: Any) -> str:
    """The device that a name chooses: of several the first that there is.

    Raises:
        InvalidArgument: there is none of that name.
    """
    text = str(string("device_name", name))
    kind, _, rest = text.partition(":")
    several = kind in ("AUTO", "MULTI", "HETERO", "BATCH")
    known = [one.partition("(")[0] for one in rest.split(",")] if several and rest else ["CPU"]
    for one in known if several else [text]:
        base, _, number = one.partition(".")
        if base == "CPU" and not number:
            return "CPU"
        if base == "GPU" and (number or "0").isdecimal():
            if not several or cuda_devices()[0] > int(number or 0):
                return one
        elif not several or base not in ("NPU", "GPU"):
            break
    raise InvalidArgument(
        f"device_name: {text!r}: it is CPU, AUTO or GPU; there are here: " + ", ".join(_available())
    )


def _available() -> list[str]:
    count = cuda_devices()[0]
    return ["CPU", *(["GPU"] if count == 1 else [f"GPU.{one}" for one in range(count)])]


class Version:
    """What a device's program is."""

    def __init__(self, description: str) -> None:
        self.build_number = _loopc.version()
        self.description = description
        numbers = [int(one) for one in re.findall(r"\d+", _loopc.version())]
        self.major, self.minor, self.patch = (*numbers, 0, 0, 0)[:3]

    def __repr__(self) -> str:
        return f"<Version: {self.build_number} {self.description}>"


class Core:
    """Where models are read and compiled."""

    def __init__(self, xml_config_file: str = "") -> None:
        if xml_config_file:
            raise InvalidArgument("xml_config_file: there are no plugins to be registered")
        self._properties: dict[str, Any] = {}

    def set_property(self, device_name: Any, properties: Any = None) -> None:
        """Sets properties of all models that are compiled from now on.

        Args:
            device_name: a device, or the properties: a dict, or a pair of name and value.
            properties: as `config` of `compile_model`.

        Raises:
            InvalidArgument: there is no such property.
        """
        if properties is not None:
            _device(device_name)
        given = device_name if properties is None else properties
        self._properties.update(properties_of("properties", given))

    def get_property(self, device_name: str, property: str | None = None) -> Any:
        """A property that was set, or that a device tells; SUPPORTED_PROPERTIES names them.

        Raises:
            InvalidArgument: there is no such property or device.
        """
        if property is None:
            return of_device("CPU", device_name, self._properties)
        return of_device(_device(device_name), property, self._properties)

    @property
    def available_devices(self) -> list[str]:
        """CPU, and "GPU" where there is an NVIDIA GPU; of several each with its number."""
        return _available()

    def get_available_devices(self) -> list[str]:
        """As `available_devices`."""
        return _available()

    def get_versions(self, device_name: str) -> dict[str, Version]:
        """loopc's version."""
        device = _device(device_name)
        return {device: Version("loopc")}

    def query_model(
        self, model: Any, device_name: str, properties: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """The device of each input and output, of a model that can be compiled.

        Raises:
            CompileError: it cannot, and why.
        """
        compiled = self.compile_model(model, device_name, properties)
        device = _device(device_name)
        return {port.node.friendly_name: device for port in (*compiled.inputs, *compiled.outputs)}

    def read_model(
        self, model: Any, weights: Any = None, config: Mapping[str, Any] | None = None
    ) -> Model:
        """A model of OpenVINO IR or ONNX.

        Args:
            model: a path; the bytes of a file, or a stream of them; a model of the packages
                openvino or onnx.
            weights: of IR: the path of the other file, its bytes, or a tensor of them; None
                for the file beside the model.
            config: makes no difference.

        Raises:
            NoSuchFile: there is no such file.
        """
        return read_model(model, weights)

    def compile_model(
        self,
        model: Any,
        device_name: Any = None,
        config: Any = None,
        *,
        weights: Any = None,
    ) -> CompiledModel:
        """Compiles a model, or finds it in the cache.

        Args:
            model: what `read_model` returned, or what it takes.
            device_name: "CPU", "GPU" (an NVIDIA GPU), "GPU.1", or "AUTO": the CPU, or of
                "AUTO:GPU,CPU" the first that there is.
            config: properties: INFERENCE_NUM_THREADS, CACHE_DIR and PERF_COUNT; what says
                how fast makes no difference.
            weights: as of `read_model`.

        Raises:
            CompileError: the model is invalid or not supported.
            InvalidArgument: there is no such device or property.
        """
        if isinstance(device_name, Mapping) and config is None:
            device_name, config = None, device_name
        device = _device("AUTO" if device_name is None else device_name)
        given = {} if config is None else properties_of("config", config)
        read = read_model(model, weights)
        return CompiledModel(read, {**self._properties, **given}, device)

    def import_model(
        self, model_stream: Any, device_name: str, properties: Any = None
    ) -> CompiledModel:
        """A model that `CompiledModel.export_model` wrote, without compiling it.

        Args:
            model_stream: its bytes, or a stream of them.
            device_name: as of `compile_model`.
            properties: as `config` of `compile_model`.

        Raises:
            CompileError: they are another machine's.
            InvalidArgument: they are no exported model.
        """
        read = getattr(model_stream, "read", None)
        exported = data("model_stream", model_stream if read is None else read())
        given = {} if properties is None else properties_of("properties", properties)
        return CompiledModel._imported(
            exported, {**self._properties, **given}, _device(device_name)
        )

    def add_extension(self, *extension: Any) -> None:
        """Refused.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(
            "extensions are custom operators here (docs/CustomOperators.md): "
            "loopc.SessionOptions.register_custom_ops_library"
        )


def compile_model(
    model: Any, device_name: str = "AUTO", config: Mapping[str, Any] | None = None
) -> CompiledModel:
    """As `Core.compile_model`."""
    return Core().compile_model(model, device_name, config)
