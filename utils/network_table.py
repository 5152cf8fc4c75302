# ===- network_table.py - What is made from the table of layers -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Python's enumerations and layers of networks and their documentation.

Layers.def, Enums.def and DataTypes.def are included by C++; here they are read as
rows ``LOOPC_NAME(argument, ...)``. utils/gen_docs.py writes the files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from repo import cell, read

LAYERS = Path("include/loopc/Frontend/Network/Layers.def")
ENUMS = Path("include/loopc/Frontend/Network/Enums.def")
DATA_TYPES = Path("include/loopc-c/DataTypes.def")

_PYTHON = Path("python/loopc")
_HEAD = """# ===- {name} - {title} {dashes}===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
# Made by utils/network_table.py from {source}; ./dev docs writes it again.
"""


class TableError(Exception):
    """A row of another form than the tables have."""


@dataclass(frozen=True)
class Row:
    """A row: ``LOOPC_NAME(...)``, and the ``///`` lines right before it."""

    name: str
    arguments: list[str]
    comment: str


_ROW = re.compile(
    r'^((?:///.*\n)*)LOOPC_(\w+)\(((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)$', re.MULTILINE
)
_PART = re.compile(r'\s*((?:[^,"()]|"(?:[^"\\]|\\.)*"|\([^()]*\))*),?')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _argument(text: str) -> str:
    """An argument; of strings in a row, what they contain."""
    text = text.strip()
    return "".join(_STRING.findall(text)) if text.startswith('"') else text


def rows(path: Path) -> Iterator[Row]:
    """The rows of a table, in order."""
    text = read(path)
    body = text[text.rindex("#endif") :] if "#endif" in text else text
    found = list(_ROW.finditer(body))
    if len(found) != len(re.findall(r"^LOOPC_", body, re.MULTILINE)):
        raise TableError(f"{path}: a row is not of the form LOOPC_NAME(arguments)")
    for match in found:
        parts = [_argument(part) for part in _PART.findall(match[3])]
        comment = " ".join(line.removeprefix("///").strip() for line in match[1].splitlines())
        yield Row(match[2], parts[:-1] if parts and not parts[-1] else parts, comment)


@dataclass(frozen=True)
class DataType:
    """A row of DataTypes.def."""

    name: str
    number: int
    bits: int
    onnx: int
    numpy: str


@dataclass
class Enum:
    """An enumeration of Enums.def."""

    name: str
    doc: str
    #: Name, number, meaning.
    enumerators: list[tuple[str, int, str]] = field(default_factory=list)
    aliases: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """A value of a layer."""

    kind: str
    access: str
    name: str
    python: str
    initial: str
    doc: str


@dataclass
class Layer:
    """A kind of layers."""

    cls: str
    base: str
    kind: str
    number: int
    name: str
    least: int
    most: int
    outputs: int
    added: str
    becomes: str
    doc: str
    more: str
    values: list[Value] = field(default_factory=list)


def data_types() -> list[DataType]:
    """The element types."""
    return [
        DataType(name, int(number), int(bits), int(onnx), numpy)
        for name, number, bits, onnx, numpy in (row.arguments for row in rows(DATA_TYPES))
    ]


def enums() -> list[Enum]:
    """The enumerations."""
    found: list[Enum] = []
    for row in rows(ENUMS):
        match row.name, row.arguments:
            case "ENUM", [name, doc]:
                found.append(Enum(name, doc))
            case "ENUMERATOR", [name, number, *doc]:
                found[-1].enumerators.append((name, int(number), "".join(doc)))
            case "ENUM_ALIAS", [name, number]:
                found[-1].aliases.append((name, int(number)))
            case "ENUM_END", []:
                pass
            case _:
                raise TableError(f"{ENUMS}: {row}")
    return found


def layers() -> list[Layer]:
    """The layers."""
    found: list[Layer] = []
    for row in rows(LAYERS):
        match row.name, row.arguments:
            case "LAYER", [
                cls,
                base,
                kind,
                number,
                name,
                least,
                most,
                outputs,
                added,
                becomes,
                doc,
            ]:
                counts = (int(least), int(most), int(outputs))
                texts = (added, becomes, doc, row.comment)
                found.append(Layer(cls, base, kind, int(number), name, *counts, *texts))
            case "VALUE" | "GIVEN", values:
                found[-1].values.append(Value(*values))
            case "PLAIN", [kind, *values]:
                found[-1].values.append(Value(kind, "", *values))
            case ("CXX", _) | ("LAYER_END", []):
                pass
            case _:
                raise TableError(f"{LAYERS}: {row}")
    return found


# ----- Python ----------------------------------------------------------------


def _module(name: str, title: str, doc: str, body: str) -> str:
    dashes = "-" * (73 - len(name) - len(title) - 3)
    head = _HEAD.format(name=name, title=title, dashes=dashes, source=LAYERS.parent)
    return f'{head}"""{doc}"""\n\n{body.rstrip()}\n'


def _enum(name: str, doc: str, members: list[tuple[str, int]]) -> str:
    lines = "".join(f"    {member} = {number}\n" for member, number in members)
    return f'\n\nclass {name}(Named):\n    """{doc}"""\n\n{lines}'


def enums_module() -> str:
    """python/loopc/_network_enums.py."""
    types = data_types()
    kinds = sorted((layer.number, layer.kind) for layer in layers())
    body = "from loopc._enums import Named\n"
    body += _enum(
        "DataType",
        "Element types; from DOUBLE on they are loopc's own.",
        [(one.name, one.number) for one in types],
    )
    body += _enum(
        "LayerType",
        "Kinds of layers; NODE is loopc's own.",
        [(kind, number) for number, kind in kinds],
    )
    for one in enums():
        members = [(name, number) for name, number, _ in one.enumerators]
        body += _enum(one.name, one.doc, members + one.aliases)
    body += "\n\n#: NumPy's (or ml_dtypes') names of element types.\nNUMPY = {\n"
    body += "".join(
        f'    "{one.numpy}": DataType.{one.name},\n' for one in types if one.numpy != "none"
    )
    body += "}\n#: Bits of elements of less than a byte.\nBITS = {\n"
    body += "".join(f"    DataType.{one.name}: {one.bits},\n" for one in types if 0 < one.bits < 8)
    body += "}\n"
    doc = "Enumerators as TensorRT spells them."
    return _module("_network_enums.py", "Enumerations of networks", doc, body)


#: The descriptors of _network_base.py by C++'s type; others are enumerations.
_DESCRIPTORS = {
    "int32_t": "Int",
    "int64_t": "Int",
    "uint32_t": "Int",
    "bool": "Bool",
    "float": "Float",
    "double": "Float",
    "Dims": "Ints",
    "Permutation": "Ints",
    "std::string_view": "Text",
    "Weights": "Array",
}


def _attribute(value: Value) -> str:
    """A value as an attribute of its layer's class, in ruff's format."""
    descriptor = _DESCRIPTORS.get(value.kind, "Choice")
    kind = [f"e.{value.kind}"] if descriptor == "Choice" else []
    arguments = ", ".join([f'"{value.name}"', *kind, f'"{value.doc}"'])
    line = f"    {value.python} = {descriptor}({arguments})\n"
    if len(line) <= 101:
        return line
    return f"    {value.python} = {descriptor}(\n        {arguments}\n    )\n"


def layers_module() -> str:
    """python/loopc/_network_layers.py."""
    used = {_DESCRIPTORS.get(one.kind, "Choice") for layer in layers() for one in layer.values}
    used |= {layer.base for layer in layers()} | {"Paddings"}
    body = "from loopc import _network_enums as e\nfrom loopc._network_base import (\n"
    body += "".join(f"    {name},\n" for name in sorted(used)) + ")\n"
    for layer in layers():
        body += f'\n\nclass {layer.cls}({layer.base}):\n    """{layer.doc}"""\n\n'
        body += f'    KIND = "{layer.name}"\n    TYPE = e.LayerType.{layer.kind}\n'
        body += "".join(_attribute(one) for one in layer.values if one.python != "none")
        if any(one.name == "pre_padding" for one in layer.values):
            body += '    padding_nd = Paddings("pre_padding", "Padding, the same at both ends.")\n'
    doc = "The kinds of layers. Names are those of TensorRT's Python API."
    return _module("_network_layers.py", "Layers of networks", doc, body)


# ----- docs/NetworkLayers.md --------------------------------------------------

_CXX_TYPES = {
    "Dims": "extents",
    "Permutation": "axes",
    "std::string_view": "text",
    "Weights": "weights",
}


def _inputs(layer: Layer) -> str:
    if layer.most < 0:
        return f"{layer.least} or more inputs"
    counts = f"{layer.least}" if layer.least == layer.most else f"{layer.least} to {layer.most}"
    return f"{counts} input" + ("" if layer.most == 1 else "s")


def _layer_section(layer: Layer) -> str:
    functions = ", ".join(f"`{name}`" for name in layer.added.split(", "))
    outputs = f"{layer.outputs or 'no'} output" + ("" if layer.outputs == 1 else "s")
    text = f"### {layer.name}\n\n{layer.more or layer.doc}\n\n"
    text += f"{functions}; {_inputs(layer)}, {outputs}; becomes {layer.becomes}.\n\n"
    if not layer.values:
        return text
    text += "| value | type | at first | C++ | Python | meaning |\n|---|---|---|---|---|---|\n"
    for one in layer.values:
        initial = one.initial.rsplit("::k")[-1]
        cells = [
            f"`{one.name}`",
            _CXX_TYPES.get(one.kind, one.kind),
            "" if initial == "none" else f"`{initial}`",
            f"`get{one.access}`" if one.access else "",
            "" if one.python == "none" else f"`{one.python}`",
            cell(one.doc),
        ]
        text += "| " + " | ".join(cells) + " |\n"
    return text + "\n"


def _enum_section(one: Enum) -> str:
    aliases = {number: f", `{name}`" for name, number in one.aliases}
    text = f"### {one.name}\n\n{one.doc}\n\n| name | number | meaning |\n|---|---|---|\n"
    for name, number, doc in one.enumerators:
        meaning = f"`{doc}`" if re.search(r"\bx\b", doc) else doc
        text += f"| `{name}`{aliases.get(number, '')} | {number} | {cell(meaning)} |\n"
    return text + "\n"


_PAGE = """# Layers of networks

What the layers of networks that are built by hand ([Network.md](Network.md)) have: the kind by
which C adds them, the functions of C++ that do (Python's are `add_elementwise` for
`addElementWise`), their inputs and outputs, ONNX's operators or loopc's operations that they
become, and their values: the name in C, the type, what it is at first, the getter in C++ (setters
are `set...`), the attribute in Python.

## Layers

{layers}## Enumerations

C++ writes a `k` before each name.

{enums}### DataType

Numbers below 100 are TensorRT's.

| name | number | bits | in NumPy |
|---|---|---|---|
{types}"""


def layers_page() -> str:
    """docs/NetworkLayers.md."""
    types = ""
    for kind in data_types():
        numpy = "" if kind.numpy == "none" else f"`{kind.numpy}`"
        types += f"| `{kind.name}` | {kind.number} | {kind.bits or ''} | {numpy} |\n"
    return _PAGE.format(
        layers="".join(_layer_section(layer) for layer in layers()),
        enums="".join(_enum_section(one) for one in enums()),
        types=types,
    )


def python_modules() -> dict[Path, str]:
    """What Python has of the tables, by path."""
    return {
        _PYTHON / "_network_enums.py": enums_module(),
        _PYTHON / "_network_layers.py": layers_module(),
    }
