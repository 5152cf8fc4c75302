# ===- _model.py - Models that are not compiled ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Model, under OpenVINO's name."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from loopc._arguments import data, file_path, mapping, string
from loopc._errors import InvalidArgument, InvalidType, NoSuchFile
from loopc._metadata import NodeArg
from loopc._options import SessionOptions
from loopc._session import InferenceSession
from loopc.openvino._description import described
from loopc.openvino._names import PortNames, port_names
from loopc.openvino._ports import Key, Output, find, only
from loopc.openvino._tensor import Tensor
from loopc.openvino._types import PartialShape


class Model:
    """A model that was read, and not yet compiled."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = file_path("model", path)
        if not os.path.isfile(self._path):
            raise NoSuchFile(f"cannot read {self._path!r}", path=self._path)
        # Where the files lie that were made for it, as long as it is there.
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._shapes: dict[str, list[int | None]] = {}
        self._names = port_names(self._path)
        self._ports: tuple[list[Output], list[Output]] | None = None
        self.friendly_name = self._names.model or Path(self._path).stem

    # ----- Names and ports -------------------------------------------------

    @property
    def name(self) -> str:
        """Its name."""
        return self.friendly_name

    def get_name(self) -> str:
        """Its name."""
        return self.friendly_name

    def get_friendly_name(self) -> str:
        """Its name."""
        return self.friendly_name

    def set_friendly_name(self, name: str) -> None:
        """Gives it another name."""
        self.friendly_name = string("name", name)

    def _known(self) -> tuple[list[Output], list[Output]]:
        """Inputs and outputs.

        Of shapes that were changed, and of files that do not tell, a session says them.
        """
        if self._ports is None:
            ports = None if self._shapes else described(self._path)
            if ports is None:
                session = InferenceSession(self._path, self._options(SessionOptions()))
                ports = session.get_inputs(), session.get_outputs()
            self._ports = (
                ports_of(ports[0], self._names.inputs, "Parameter"),
                ports_of(ports[1], self._names.outputs, "Result"),
            )
        return self._ports

    @property
    def inputs(self) -> list[Output]:
        """Its inputs."""
        return list(self._known()[0])

    @property
    def outputs(self) -> list[Output]:
        """Its outputs."""
        return list(self._known()[1])

    def input(self, key: Key | None = None) -> Output:
        """An input, by number or any of its names; the only one without."""
        known = self._known()[0]
        return known[only(known, "input") if key is None else find(known, key, "input")]

    def output(self, key: Key | None = None) -> Output:
        """An output, by number or any of its names; the only one without."""
        known = self._known()[1]
        return known[only(known, "output") if key is None else find(known, key, "output")]

    def get_output_size(self) -> int:
        """The number of outputs."""
        return len(self._known()[1])

    def is_dynamic(self) -> bool:
        """Whether a run chooses an extent of an input."""
        return any(port.partial_shape.is_dynamic for port in self._known()[0])

    @property
    def dynamic(self) -> bool:
        """As `is_dynamic`."""
        return self.is_dynamic()

    # ----- Shapes ----------------------------------------------------------

    def reshape(
        self, partial_shapes: Any, variables_shapes: Mapping[str, Any] | None = None
    ) -> None:
        """Fixes shapes of inputs; an extent that is not one number stays open.

        Args:
            partial_shapes: shapes by name, number or input, or the shape of the only input.
                A shape is what `PartialShape` takes: "[1,?,3]", a list, a tuple.
            variables_shapes: must be empty: states have the shapes that the model computes.

        Raises:
            InvalidArgument: there is no such input, or a shape is none.
        """
        if variables_shapes:
            raise InvalidArgument("variables_shapes: states have the shapes that the model gives")
        given = (
            dict(mapping("shapes", partial_shapes))
            if isinstance(partial_shapes, Mapping)
            else {self._only_input(): partial_shapes}
        )
        taken = dict(self._shapes)
        for key, shape in given.items():
            if not isinstance(key, str | int | Output):
                kind = type(key).__qualname__
                raise InvalidType(f"shapes: expected names, numbers or inputs, got {kind}")
            name = self.input(key)._port.name
            try:
                extents = PartialShape(shape)
                fixed = [one.get_length() if one.is_static else None for one in extents]
            except InvalidArgument as error:
                raise type(error)(f"shape of {name!r}: {error}") from None
            taken[name] = fixed
        # None of them where one is wrong.
        self._shapes = taken
        self._ports = None

    def _only_input(self) -> int:
        return only(self._known()[0], "input")

    def _options(self, options: SessionOptions) -> SessionOptions:
        options.shapes = dict(self._shapes)
        return options

    def clone(self) -> Model:
        """Another model of the same file and shapes."""
        made = Model(self._path)
        made._folder, made._shapes = self._folder, dict(self._shapes)
        made.friendly_name = self.friendly_name
        return made

    def __getattr__(self, name: str) -> NoReturn:
        """Says what to do where a program wants to look into a model, or to change it."""
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_"):
            text += (
                ": a model is compiled as its file has it; change it by the package openvino, "
                "whose models Core.compile_model takes, too"
            )
        raise AttributeError(text, name=name, obj=self)

    def __repr__(self) -> str:
        inputs, outputs = ("\n".join(map(repr, ports)) for ports in self._known())
        return f"<Model: '{self.friendly_name}'\ninputs[\n{inputs}\n]\noutputs[\n{outputs}\n]>"


def ports_of(
    ports: Sequence[NodeArg], names: Sequence[PortNames], kind: str, of: type[Output] = Output
) -> list[Any]:
    """Ports of a session with all of their names."""
    by_name = {one.port: one for one in names}
    return [
        of(port, by_name.get(port.name, PortNames(port.name, "", ())), index, kind)
        for index, port in enumerate(ports)
    ]


def read_model(model: Any, weights: Any = None) -> Model:
    """A model of OpenVINO IR or ONNX.

    Args:
        model: a path; the bytes of a file, or a stream of them; a model of the packages
            openvino or onnx.
        weights: of IR: the path of the other file; its bytes, or a tensor of them.

    Raises:
        NoSuchFile: there is no such file.
        InvalidType: it is no model.
    """
    if isinstance(model, Model):
        return model
    read = getattr(model, "read", None)
    if read is not None:
        model = read()
    if isinstance(weights, Tensor):
        weights = weights.data.tobytes()
    serialize = getattr(model, "SerializeToString", None)
    if serialize is not None:
        model = serialize()
    if type(model).__module__.partition(".")[0] == "openvino":
        return _of_openvino(model)
    is_bytes = isinstance(model, bytes | bytearray | memoryview)
    # A path of bytes is one, too, in OpenVINO.
    if is_bytes and len(model) < 4096 and os.path.isfile(bytes(model)) and weights is None:
        return Model(os.fsdecode(bytes(model)))
    if not is_bytes:
        beside = os.path.splitext(file_path("model", model))[0] + ".bin"
        given_bytes = isinstance(weights, bytes | bytearray | memoryview)
        if weights is None or (
            not given_bytes
            and os.path.abspath(file_path("weights", weights)) == os.path.abspath(beside)
        ):
            return Model(model)
        if not os.path.isfile(model):
            raise NoSuchFile(f"cannot read {model!r}", path=str(model))
        model = Path(file_path("model", model)).read_bytes()
    return _of_bytes(data("model", model), weights)


def _of_bytes(model: bytes, weights: Any) -> Model:
    """Bytes in files, since the compiler reads the weights of IR from the one beside it."""
    is_ir = model.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    if weights is not None and not is_ir:
        raise InvalidArgument("weights: they are part of an ONNX model")
    folder = tempfile.TemporaryDirectory(prefix="loopc-")
    path = Path(folder.name) / ("model.xml" if is_ir else "model.onnx")
    path.write_bytes(model)
    if isinstance(weights, bytes | bytearray | memoryview):
        path.with_suffix(".bin").write_bytes(weights)
    elif weights is not None:
        file = file_path("weights", weights)
        if not os.path.isfile(file):
            raise NoSuchFile(f"cannot read {file!r}", path=file)
        path.with_suffix(".bin").symlink_to(os.path.abspath(file))
    made = Model(path)
    made._folder = folder
    return made


def _of_openvino(model: Any) -> Model:
    """A model of the package openvino, by way of files."""
    save = getattr(sys.modules.get("openvino"), "save_model", None)
    if save is None or not hasattr(model, "get_ordered_ops"):
        raise InvalidType(f"model: expected a path or a model, got {type(model).__qualname__}")
    folder = tempfile.TemporaryDirectory(prefix="loopc-")
    path = Path(folder.name) / "model.xml"
    save(model, str(path), compress_to_fp16=False)
    made = Model(path)
    made._folder = folder
    made.friendly_name = model.get_friendly_name()
    return made
