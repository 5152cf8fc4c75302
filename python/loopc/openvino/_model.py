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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

from loopc._arguments import data, file_path, integer, mapping, string
from loopc._errors import InvalidArgument, InvalidType, NoSuchFile
from loopc._onnx_ports import Ports
from loopc._options import SessionOptions
from loopc._outline import shapes_of_file
from loopc._session import InferenceSession, NodeArg
from loopc.openvino._description import described
from loopc.openvino._ir_graph import IrGraph
from loopc.openvino._layout import Layout
from loopc.openvino._names import PortNames, port_names
from loopc.openvino._onnx_graph import OnnxGraph
from loopc.openvino._ports import Key, Node, Output, find, only
from loopc.openvino._tensor import Tensor
from loopc.openvino._types import Dimension, PartialShape, Shape, Type


class Model:
    """A model that was read, and not yet compiled."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = file_path("model", path)
        if not os.path.isfile(self._path):
            raise NoSuchFile(f"cannot read {self._path!r}", path=self._path)
        # Where the files lie that were made for it, as long as it is there.
        self._folder: Any = None
        # The folder of external data, where that is not the model's own.
        self._data: str | None = None
        self._shapes: dict[str, list[int | None]] = {}
        self._names = port_names(self._path)
        self._ports: tuple[list[Output], list[Output]] | None = None
        self._layouts = layouts_of(self._path)
        # Whether the file does not say what shapes outputs have.
        self._is_changed = False
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
            ports = self._described()
            if ports is None:
                session = InferenceSession(self._path, self._options(SessionOptions()))
                ports = session.get_inputs(), session.get_outputs()
            self._ports = (
                ports_of(ports[0], self._names.inputs, "Parameter", Output, self._layouts),
                ports_of(ports[1], self._names.outputs, "Result", Output, self._layouts),
            )
        return self._ports

    def _described(self) -> Ports | None:
        """What the file says, with the shapes that follow from others; None where it does not."""
        ports = described(self._path)
        if ports is None or not (self._shapes or self._is_changed):
            return ports
        shapes = shapes_of_file(self._path, self._shapes, self._data)
        if any(port.name not in shapes or not port.type for port in ports[1]):
            return None
        fixed: dict[str, Any] = dict(self._shapes)
        inputs = [replace(one, shape=fixed.get(one.name, one.shape)) for one in ports[0]]
        outputs = [
            replace(one, shape=[None if extent == -1 else extent for extent in shapes[one.name]])
            for one in ports[1]
        ]
        return inputs, outputs

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

    def get_output_shape(self, index: int) -> Shape:
        """The extents of an output."""
        return self.output(index).shape

    def get_output_partial_shape(self, index: int) -> PartialShape:
        """The extents of an output; open where a run chooses one."""
        return self.output(index).partial_shape

    def get_output_element_type(self, index: int) -> Type:
        """The type of an output's elements."""
        return self.output(index).element_type

    def is_dynamic(self) -> bool:
        """Whether a run chooses an extent of an input."""
        return any(port.partial_shape.is_dynamic for port in self._known()[0])

    @property
    def dynamic(self) -> bool:
        """As `is_dynamic`."""
        return self.is_dynamic()

    # ----- Layers ------------------------------------------------------------

    def get_ordered_ops(self) -> list[Node]:
        """The layers as the file has them, each behind those that it reads."""
        return graph_of(self._path).nodes()

    def get_ops(self) -> list[Node]:
        """As `get_ordered_ops`."""
        return self.get_ordered_ops()

    def get_parameters(self) -> list[Node]:
        """The layers of the inputs."""
        return [port.node for port in self._known()[0]]

    @property
    def parameters(self) -> list[Node]:
        """The layers of the inputs."""
        return self.get_parameters()

    def get_results(self) -> list[Node]:
        """The layers of the outputs."""
        return [port.node for port in self._known()[1]]

    @property
    def results(self) -> list[Node]:
        """The layers of the outputs."""
        return self.get_results()

    def add_outputs(self, outputs: Any) -> list[Output]:
        """Makes outputs of what layers compute.

        Args:
            outputs: the name of a tensor, a pair of a layer's name and the number of one of its
                outputs, or a list of them.

        Returns:
            The outputs; those that were outputs before are as they were.

        Raises:
            InvalidArgument: there is no such tensor.
        """
        several = outputs if isinstance(outputs, list) else [outputs]
        wanted: list[tuple[str | None, int, str | None]] = []
        for one in several:
            if isinstance(one, Output):
                wanted.append((None, 0, one.any_name))
            elif isinstance(one, tuple) and len(one) == 2:
                wanted.append((string("outputs", one[0]), integer(one[1], "outputs"), None))
            else:
                wanted.append((None, 0, string("outputs", one)))
        names: list[str] = []
        self._change(lambda graph: names.extend(graph.add_output(*one) for one in wanted))
        self._settle(set(), {})
        return [self.output(name) for name in names]

    def _change(self, change: Callable[[Any], None]) -> None:
        """Makes another file of the model's. Nothing has changed where `change` raises."""
        graph = graph_of(self._path)
        change(graph)
        folder = tempfile.TemporaryDirectory(prefix="loopc-")
        path = Path(folder.name) / f"model{Path(self._path).suffix}"
        path = path.with_suffix(".xml" if self._path.endswith(".xml") else ".onnx")
        graph.write(path, links=True)
        if self._data is None and path.suffix == ".onnx":
            self._data = os.path.dirname(os.path.abspath(self._path))
        # The weights may be a link to those of the file before.
        self._path, self._folder = str(path), (folder, self._folder)
        self._names = port_names(self._path)
        self._is_changed = True

    def _settle(self, inputs: set[str], layouts: Mapping[str, Layout]) -> None:
        """Inputs of these names have shapes of their own; ports have these layouts."""
        self._shapes = {name: one for name, one in self._shapes.items() if name not in inputs}
        self._layouts.update(layouts)
        self._ports = None

    def _save(self, path: str, weights: str | None = None) -> None:
        graph = graph_of(self._path)
        graph.fix(self._shapes)
        graph.set_layouts(self._layouts)
        graph.write(Path(path), None if weights is None else Path(weights))

    # ----- What the model tells of itself --------------------------------------

    def has_rt_info(self, path: str | list[str]) -> bool:
        """Whether the model's file tells something under these names."""
        return self._rt_info(path) is not None

    def get_rt_info(self, path: str | list[str] | None = None) -> Any:
        """What the model's file tells under these names: a text, or a dict of more.

        Raises:
            InvalidArgument: it tells nothing there.
        """
        found = self._rt_info([] if path is None else path)
        if found is None:
            if path is None:
                return {}
            raise InvalidArgument(f"the model tells nothing under {path!r}")
        return _value_of(found)

    @property
    def rt_info(self) -> dict[str, Any]:
        """All that the model's file tells."""
        return dict(self.get_rt_info())

    def _rt_info(self, path: str | list[str]) -> Any:
        found = graph_of(self._path).rt_info()
        for name in [path] if isinstance(path, str) else path:
            found = None if found is None else found.find(name)
        return found

    # ----- Shapes ----------------------------------------------------------

    def reshape(
        self, partial_shapes: Any, variables_shapes: Mapping[str, Any] | None = None
    ) -> None:
        """Gives inputs other shapes; an extent that is not one number is open.

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
        taken, declared = dict(self._shapes), dict(self._declared())
        other: dict[str, list[int | None]] = {}
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
            if _contradicts(declared.get(name), fixed):
                other[name] = fixed
                taken.pop(name, None)
            else:
                taken[name] = fixed
        # None of them where one is wrong.
        if other:
            self._change(lambda graph: graph.fix(other))
        self._shapes = taken
        self._ports = None

    def _declared(self) -> list[tuple[str, list[int | str | None] | None]]:
        """The shapes of the inputs as the file has them."""
        ports = described(self._path)
        return [(port.name, port.shape) for port in (ports[0] if ports else ())]

    def _only_input(self) -> int:
        return only(self._known()[0], "input")

    def _options(self, options: SessionOptions) -> SessionOptions:
        options.shapes = dict(self._shapes)
        options.base_directory = self._data
        return options

    def clone(self) -> Model:
        """Another model of the same file and shapes."""
        made = Model(self._path)
        made._folder, made._shapes, made._data = self._folder, dict(self._shapes), self._data
        made._layouts, made._is_changed = dict(self._layouts), self._is_changed
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


def _contradicts(declared: list[int | str | None] | None, wanted: list[int | None]) -> bool:
    """Whether a shape is none of those that a file declares: it has other numbers."""
    return declared is not None and (
        len(declared) != len(wanted)
        or any(isinstance(a, int) and a != b for a, b in zip(declared, wanted, strict=True))
    )


def layouts_of(path: str) -> dict[str, Layout]:
    """The layouts that a file of IR has; no others have any."""
    if not path.endswith(".xml"):
        return {}
    try:
        return IrGraph(path).layouts()
    except (OSError, ValueError, AssertionError, ElementTree.ParseError):
        return {}  # the compiler says what is wrong


def graph_of(path: str) -> IrGraph | OnnxGraph:
    """A model that can be changed.

    Raises:
        ImportError: it is ONNX, and the package onnx is not installed.
        InvalidArgument: the file is damaged.
    """
    try:
        return IrGraph(path) if path.endswith(".xml") else OnnxGraph(path)
    except ElementTree.ParseError as error:
        raise InvalidArgument(f"{path}: {error}") from None


def _value_of(element: Any) -> Any:
    """An element of `rt_info`: its value, or those below it."""
    below = {one.tag: _value_of(one) for one in element}
    return RTValue(element.get("value", "")) if not below else below


class RTValue(str):
    """A text of a model's file, with methods of OpenVINO's OVAny."""

    @property
    def value(self) -> str:
        """The text."""
        return str(self)

    def astype(self, kind: type) -> Any:
        """The text as a number, a truth value or a list of texts."""
        if kind is bool:
            return self.lower() in ("1", "true", "yes")
        return self.split() if kind is list else kind(self)

    def aslist(self, kind: type = str) -> list[Any]:
        """The words of the text."""
        return [kind(one) for one in self.split()]


def ports_of(
    ports: Sequence[NodeArg],
    names: Sequence[PortNames],
    kind: str,
    of: type[Output] = Output,
    layouts: dict[str, Layout] | None = None,
) -> list[Any]:
    """Ports of a session with all of their names."""
    by_name = {one.port: one for one in names}
    return [
        of(port, by_name.get(port.name, PortNames(port.name, "", ())), index, kind, layouts)
        for index, port in enumerate(ports)
    ]


def save_model(model: Model, output_model: Any, compress_to_fp16: bool = False) -> None:
    """Writes a model with the shapes and layouts that it has.

    Args:
        model: of IR, written as output_model and a file ".bin" beside it, or of ONNX.
        output_model: the file: ".xml" for IR, ".onnx" for ONNX.
        compress_to_fp16: must be false: weights stay as they are.

    Raises:
        InvalidArgument: the file's name has another ending than the model's.
    """
    if not isinstance(model, Model):
        raise InvalidType(f"model: expected a Model, got {type(model).__qualname__}")
    if compress_to_fp16:
        raise InvalidArgument(
            "compress_to_fp16: weights stay as they are; loopc.SessionOptions.weights rounds them"
        )
    serialize(model, output_model)


def serialize(model: Model, xml_path: Any, bin_path: Any = None) -> None:
    """As `save_model`, with another name for the file of weights.

    Raises:
        InvalidArgument: the file's name has another ending than the model's.
    """
    path = file_path("output_model", xml_path)
    is_ir = model._path.endswith(".xml")
    if path.endswith(".xml") != is_ir:
        kind, ending = ("IR", ".xml") if is_ir else ("ONNX", ".onnx")
        raise InvalidArgument(
            f"output_model: {path!r}: the model is {kind}, whose files end in {ending!r}; "
            "openvino.save_model writes IR of an ONNX model"
        )
    model._save(path, None if bin_path is None else file_path("bin_path", bin_path))


def _batches(model: Model) -> list[tuple[Output, int]]:
    """The inputs that have an axis N, and its number.

    Raises:
        InvalidArgument: none has.
    """
    found = []
    for port in model.inputs:
        layout = port.node.layout
        if layout.has_name("N") and port.partial_shape.rank.is_static:
            found.append((port, layout._of_rank(len(port.partial_shape)).index("N")))
    if not found:
        raise InvalidArgument(
            "batch: no input has a layout with an axis N: "
            'model.inputs[0].node.layout = Layout("NCHW") says where it is'
        )
    return found


def get_batch(model: Model) -> Dimension:
    """The extent of the axis N of the inputs.

    Raises:
        InvalidArgument: no input has a layout with one.
    """
    port, axis = _batches(model)[0]
    return port.partial_shape.get_dimension(axis)


def set_batch(model: Model, new_batch_size: Any = -1) -> None:
    """Sets the extent of the axis N of all inputs that have one.

    Raises:
        InvalidArgument: no input has a layout with one.
    """
    shapes = {}
    for port, axis in _batches(model):
        shape = PartialShape(port.partial_shape)
        shape[axis] = new_batch_size
        shapes[port._port.name] = shape
    model.reshape(shapes)


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
