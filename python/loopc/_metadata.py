# ===- _metadata.py - What an ONNX file says about itself ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The fields of an ONNX model that describe it, read without its weights."""

import mmap
from dataclasses import dataclass, field

from loopc._wire import fields


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a model.

    Attributes:
        name: its name.
        type: "tensor(float)", "seq(tensor(int64))", "optional(...)".
        shape: of a tensor: extents, names of symbolic dimensions, and None
            where one has neither; None where the rank is not known. Of a
            sequence [], of an optional its element's. What an output's
            operators do not tell is as the model declares it, which nothing
            checks.
    """

    name: str
    type: str
    shape: list[int | str | None] | None


@dataclass(frozen=True)
class RunStatistics:
    """Counts of a run.

    Attributes:
        allocations: calls of the allocation function by the model.
        deallocations: calls of its counterpart.
        peak_bytes: most memory that the model held at one time.
        copied_bytes: bytes moved by buffer copies inside the runtime.
        device_seconds: from the run's first work on the GPU until its last was
            done, by the GPU's clock; 0 unless RunOptions.time_device is set.
    """

    allocations: int
    deallocations: int
    peak_bytes: int
    copied_bytes: int
    device_seconds: float = 0.0


@dataclass(frozen=True)
class ModelProperties:
    """What its producer wrote into a model; empty for models that are not ONNX files.

    Attributes:
        producer_name: the program that made it.
        domain: a name space of the model.
        description: its documentation.
        version: its version.
        graph_description: documentation of its graph.
        custom_metadata_map: its metadata_props.
    """

    producer_name: str = ""
    domain: str = ""
    description: str = ""
    version: int = 0
    graph_description: str = ""
    custom_metadata_map: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelMetadata:
    """What a model says about itself.

    The first six after the name are those of the ONNX file and empty where the
    session was made of something else.

    Attributes:
        graph_name: the model's name.
        producer_name: the program that made the ONNX file.
        domain: the file's name space.
        description: the file's documentation.
        graph_description: the graph's documentation.
        version: the file's version.
        custom_metadata_map: what else its producer wrote into the file.
        compiler: the compiler and its version.
        cpu_features: the CPU features that its code needs; may be "".
        abi_version: version of the ABI between model and runtime.
    """

    graph_name: str
    producer_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]
    compiler: str
    cpu_features: str
    abi_version: int


def _text(value: int | memoryview) -> str:
    return bytes(value).decode(errors="replace") if isinstance(value, memoryview) else ""


def _read(data: memoryview) -> ModelProperties:
    texts = {2: "", 4: "", 6: ""}
    version = 0
    graph_description = ""
    custom: dict[str, str] = {}
    for number, value, _ in fields(data):
        if number in texts:
            texts[number] = _text(value)
        elif number == 5 and isinstance(value, int):
            version = value - (1 << 64) if value >> 63 else value
        elif number == 7 and isinstance(value, memoryview):
            for inner, text, _ in fields(value):
                if inner == 10:
                    graph_description = _text(text)
        elif number == 14 and isinstance(value, memoryview):
            entry = {key: _text(text) for key, text, _ in fields(value)}
            custom[entry.get(1, "")] = entry.get(2, "")
    return ModelProperties(texts[2], texts[4], texts[6], version, graph_description, custom)


def properties_of(path: bytes | None, data: bytes | None) -> ModelProperties:
    """The properties of a model that was compiled from a file or bytes.

    A model in another form than ONNX's binary one has none.
    """
    try:
        if data is not None:
            return _read(memoryview(data))
        assert path is not None
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as view,
        ):
            return _read(view)
    except (OSError, ValueError, IndexError, BufferError):
        return ModelProperties()


@dataclass(frozen=True)
class OrtEpAssignedNode:
    """A node of a model.

    Attributes:
        name: its name, which may be empty.
        domain: the name space of its operator; empty for ONNX's.
        op_type: its operator.
    """

    name: str
    domain: str
    op_type: str


@dataclass(frozen=True)
class OrtEpAssignedSubgraph:
    """What a provider runs of a model.

    Attributes:
        ep_name: the provider.
    """

    ep_name: str
    _nodes: list[OrtEpAssignedNode]

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        """The model's own nodes; those of bodies are parts of theirs."""
        return list(self._nodes)


def nodes_of(path: bytes | None, data: bytes | None) -> list[OrtEpAssignedNode]:
    """The nodes of a model's graph; none of a model in another form than ONNX's binary one."""
    try:
        if data is not None:
            return _nodes(memoryview(data))
        if path is None:
            return []
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as view,
        ):
            return _nodes(view)
    except (OSError, ValueError, IndexError, BufferError):
        return []


def _nodes(data: memoryview) -> list[OrtEpAssignedNode]:
    made = []
    for number, graph, _ in fields(data):
        if number != 7 or not isinstance(graph, memoryview):
            continue
        for inner, node, _ in fields(graph):
            if inner == 1 and isinstance(node, memoryview):
                texts = {key: value for key, value, _ in fields(node) if key in (3, 4, 7)}
                name, op_type, domain = (_text(texts.get(key, 0)) for key in (3, 4, 7))
                made.append(OrtEpAssignedNode(name, domain, op_type))
    return made
