# ===- onnx_mutants.py - Models with something wrong -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Changes models in ways that their format allows and nobody means.

Any field of any message within a model can be taken out, given twice, swapped or set to
something odd; where a field means something (names, types, extents, attributes), the
change is one that a confused exporter makes. Bytes of the file are changed too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import TensorProto
from random_checks import graphs

#: Integers at which something ends.
INTEGERS = (
    *(-1, 0, 1, 2, 3, 5, 7, 8, 9, 16, 63, 64, 255, 65536, -2, -3, -9),
    *(2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63 - 8),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
STRINGS = (
    *("", "x", "\0", "a\nb", " ", "%0", '"', "'", "\\", "ü", "\U0001f600", "../x", "/", "a/b"),
    *("n" * 10_000, "NOTSET", "SAME_UPPER", "linear", "reverse", "bij,jk->", "...", "ij->ijk", "-"),
)

Change = Callable[[onnx.ModelProto, random.Random], None]


def mutant(model: onnx.ModelProto, seed: int) -> bytes:
    """The model with one to three changes, or its bytes with some."""
    dice = random.Random(seed)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    wanted = dice.choice((1, 1, 1, 2, 3))
    for _ in range(50):
        if not wanted:
            break
        change = dice.choices(_CHANGES, _WEIGHTS)[0]
        try:
            change(changed, dice)
            wanted -= 1
        except (
            ValueError,
            IndexError,
            TypeError,
            onnx.defs.SchemaError,
        ):  # There is nothing to change, or it is no value.
            continue
    data: bytes = changed.SerializePartialToString()
    return bytes_mutant(data, dice) if dice.random() < 0.08 else data


def contradiction(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """The model with one type, shape or constant that the rest of it contradicts."""
    dice = random.Random(seed)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    before = changed.SerializePartialToString()
    for _ in range(50):
        try:
            dice.choice((_type, _type, _extent, _attribute, _rename))(changed, dice)
        except (ValueError, IndexError, TypeError, onnx.defs.SchemaError):
            continue
        if changed.SerializePartialToString() != before:
            break
    return changed


def bytes_mutant(data: bytes, dice: random.Random) -> bytes:
    """Bytes that were damaged on their way."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        if not changed:
            break
        place = dice.randrange(len(changed))
        match dice.randrange(5):
            case 0:
                changed[place] ^= 1 << dice.randrange(8)
            case 1:
                changed[place] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                del changed[place:]
            case 3:
                del changed[place : place + dice.choice((1, 2, 16))]
            case _:
                piece = changed[place : place + dice.choice((1, 4, 64))]
                changed[place:place] = piece * dice.choice((1, 1, 3))
    return bytes(changed)


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if field.is_repeated else (value,):
                yield from _messages(child)


def _all(model: Message, kind: type[Any]) -> list[Any]:
    return [message for message in _messages(model) if isinstance(message, kind)]


def _scalar(field: FieldDescriptor, dice: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_INT64:
            return dice.choice(INTEGERS)
        case FieldDescriptor.CPPTYPE_INT32 | FieldDescriptor.CPPTYPE_ENUM:
            return dice.choice([n for n in INTEGERS if -(2**31) <= n < 2**31])
        case FieldDescriptor.CPPTYPE_UINT64 | FieldDescriptor.CPPTYPE_UINT32:
            return dice.choice([n for n in INTEGERS if 0 <= n < 2**31])
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return dice.choice(FLOATS)
        case FieldDescriptor.CPPTYPE_STRING:
            text = dice.choice(STRINGS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    raise ValueError(field.name)


def _any_field(model: onnx.ModelProto, dice: random.Random) -> None:
    """Takes out, doubles, swaps or sets any field of any message."""
    message = dice.choice(list(_messages(model)))
    fields = list(message.DESCRIPTOR.fields)
    present = [field for field, _ in message.ListFields()]
    field = dice.choice(present if present and dice.random() < 0.85 else fields)
    if not field.is_repeated:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            _set_message(model, getattr(message, field.name), field, message, dice)
        elif dice.random() < 0.2:
            message.ClearField(field.name)
        else:
            setattr(message, field.name, _scalar(field, dice))
        return
    values = getattr(message, field.name)
    choice = dice.randrange(5)
    if choice == 0 or not values:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            values.add()
        else:
            values.append(_scalar(field, dice))
    elif choice == 1:
        del values[dice.randrange(len(values))]
    elif choice == 2:
        message.ClearField(field.name)
    elif choice == 3:
        values.append(dice.choice(list(values)))
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        one, other = dice.choice(values), dice.choice(values)
        kept = type(one)()
        kept.CopyFrom(one)
        one.CopyFrom(other)
        other.CopyFrom(kept)
    else:
        values[dice.randrange(len(values))] = _scalar(field, dice)


def _set_message(
    model: Message, value: Message, field: FieldDescriptor, owner: Message, dice: random.Random
) -> None:
    choice = dice.randrange(3)
    if choice == 0:
        owner.ClearField(field.name)
    elif choice == 1:
        value.Clear()
        value.SetInParent()
    else:
        others = [m for m in _messages(model) if m.DESCRIPTOR == value.DESCRIPTOR]
        copy = type(value)()
        copy.CopyFrom(dice.choice(others))
        value.CopyFrom(copy)


def _rename(model: onnx.ModelProto, dice: random.Random) -> None:
    """A node reads another value, or makes one of another name."""
    nodes = _all(model, onnx.NodeProto)
    names = [name for node in nodes for name in (*node.input, *node.output)]
    names += [value.name for value in _all(model, onnx.ValueInfoProto)]
    names += [tensor.name for tensor in _all(model, TensorProto)]
    node = dice.choice(nodes)
    values = node.input if node.input and dice.random() < 0.75 else node.output
    choice = dice.randrange(6)
    if choice == 0:
        del values[dice.randrange(len(values))]
    elif choice == 1:
        values.append(dice.choice(names))
    elif choice == 2:
        values[dice.randrange(len(values))] = ""
    else:
        values[dice.randrange(len(values))] = dice.choice(names)


def _operator(model: onnx.ModelProto, dice: random.Random) -> None:
    """A node is of another operator."""
    node = dice.choice(_all(model, onnx.NodeProto))
    schema = dice.choice(onnx.defs.get_all_schemas())
    node.op_type = schema.name
    node.domain = schema.domain


def _type(model: onnx.ModelProto, dice: random.Random) -> None:
    """A value is declared with another element type, rank or extents, or kind."""
    value = dice.choice(_all(model, onnx.ValueInfoProto))
    choice = dice.randrange(7)
    if choice == 0:
        value.type.tensor_type.elem_type = dice.randrange(27)
        return
    tensor = value.type.tensor_type
    if choice == 1:
        tensor.ClearField("shape")
    elif choice == 2:
        tensor.shape.dim.add().dim_value = dice.choice((1, 2, 3, 7))
    elif choice == 3:
        del tensor.shape.dim[dice.randrange(len(tensor.shape.dim))]
    elif choice == 4:
        dice.choice(tensor.shape.dim).dim_value = dice.choice(INTEGERS)
    elif choice == 5:
        dice.choice(tensor.shape.dim).dim_param = dice.choice(("N", "M", "", "é"))
    else:
        copy = onnx.TypeProto()
        copy.CopyFrom(value.type)
        dice.choice((value.type.sequence_type, value.type.optional_type)).elem_type.CopyFrom(copy)


def _attribute(model: onnx.ModelProto, dice: random.Random) -> None:
    """An attribute is missing, unknown, of another type or value."""
    node = dice.choice(_all(model, onnx.NodeProto))
    schema = onnx.defs.get_schema(node.op_type, domain=node.domain)
    if dice.random() < 0.5 and schema.attributes:
        name = dice.choice(sorted(schema.attributes))
        kept = [a for a in node.attribute if a.name != name]
        del node.attribute[:]
        node.attribute.extend(kept)
        node.attribute.append(_made(name, schema.attributes[name].type.value, dice))
        return
    attribute = dice.choice(node.attribute)
    if dice.random() < 0.3:
        node.attribute.remove(attribute)
    elif dice.random() < 0.5:
        made = _made(attribute.name, dice.randrange(1, 9), dice)
        attribute.CopyFrom(made)
    else:
        made = _made(attribute.name, attribute.type, dice)
        attribute.CopyFrom(made)


def _made(name: str, kind: int, dice: random.Random) -> onnx.AttributeProto:
    """An attribute with an odd value."""
    attribute = onnx.AttributeProto(name=name, type=kind)  # type: ignore[arg-type]
    count = dice.choice((0, 1, 2, 2, 3, 4))
    match kind:
        case onnx.AttributeProto.INT:
            attribute.i = dice.choice(INTEGERS)
        case onnx.AttributeProto.INTS:
            attribute.ints.extend(dice.choice(INTEGERS) for _ in range(count))
        case onnx.AttributeProto.FLOAT:
            attribute.f = dice.choice(FLOATS)
        case onnx.AttributeProto.FLOATS:
            attribute.floats.extend(dice.choice(FLOATS) for _ in range(count))
        case onnx.AttributeProto.STRING:
            attribute.s = dice.choice(STRINGS).encode()
        case onnx.AttributeProto.STRINGS:
            attribute.strings.extend(dice.choice(STRINGS).encode() for _ in range(count))
        case onnx.AttributeProto.TENSOR:
            attribute.t.CopyFrom(_tensor(dice))
    return attribute


def _tensor(dice: random.Random) -> TensorProto:
    dims = [dice.choice((0, 1, 2, 3)) for _ in range(dice.randrange(3))]
    kind = dice.choice((TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE))
    count = 1
    for extent in dims:
        count *= extent
    width = {TensorProto.FLOAT: 4, TensorProto.BOOL: 1}.get(kind, 8)
    data = bytes(dice.choice((0, 1, 255)) for _ in range(count * width))
    return TensorProto(name="t", data_type=kind, dims=dims, raw_data=data)


def _extent(model: onnx.ModelProto, dice: random.Random) -> None:
    """A small constant of integers holds another one: an axis, an extent, a trip count."""
    tensor = dice.choice(
        [t for t in _all(model, TensorProto) if t.data_type == TensorProto.INT64 and t.raw_data]
    )
    place = 8 * dice.randrange(len(tensor.raw_data) // 8)
    value = dice.choice((-1, 0, 1, 2, 3, 5, -2)).to_bytes(8, "little", signed=True)
    tensor.raw_data = tensor.raw_data[:place] + value + tensor.raw_data[place + 8 :]


def _data(model: onnx.ModelProto, dice: random.Random) -> None:
    """A tensor's data, type or extents do not fit, or lie elsewhere."""
    tensor = dice.choice(_all(model, TensorProto))
    match dice.randrange(7):
        case 0:
            tensor.raw_data = tensor.raw_data[: dice.randrange(len(tensor.raw_data) + 1)]
        case 1:
            tensor.data_type = dice.randrange(-1, 28)
        case 2:
            tensor.dims.append(dice.choice(INTEGERS))
        case 3:
            tensor.dims[dice.randrange(len(tensor.dims))] = dice.choice(INTEGERS)
        case 4:
            tensor.data_location = TensorProto.EXTERNAL
            path = dice.choice(("", ".", "/dev/zero", "../x", "/etc/passwd", "nofile", "a\0b", "/"))
            tensor.external_data.add(key="location", value=path)
            number = dice.choice(("", "-1", "x", "0", str(2**63), str(2**64)))
            tensor.external_data.add(key=dice.choice(("offset", "length", "?")), value=number)
        case 5:
            tensor.CopyFrom(_tensor(dice))
        case _:
            tensor.raw_data = bytes(dice.choice((0, 1, 127, 128, 255)) for _ in tensor.raw_data)


def _order(model: onnx.ModelProto, dice: random.Random) -> None:
    """Nodes, or inputs and outputs of a graph, stand in another order or are missing."""
    graph = dice.choice(list(graphs(model.graph)))
    values: Any = dice.choice((graph.node, graph.input, graph.output, graph.initializer))
    kept = list(values)
    match dice.randrange(4):
        case 0:
            dice.shuffle(kept)
        case 1:
            del kept[dice.randrange(len(kept))]
        case 2:
            kept.append(dice.choice(kept))
        case _:
            kept = []
    copies = [type(one).FromString(one.SerializePartialToString()) for one in kept]
    del values[:]
    values.extend(copies)


def _version(model: onnx.ModelProto, dice: random.Random) -> None:
    """Another opset."""
    dice.choice(model.opset_import).version = dice.choice((*range(29), -1, 2**31, 2**63 - 1))


def _function(model: onnx.ModelProto, dice: random.Random) -> None:
    """A node becomes a call of a function of the model, which may call itself."""
    nodes = _all(model, onnx.NodeProto)
    node = dice.choice(nodes)
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    function = model.functions.add(name="F", domain="local")
    function.opset_import.extend(model.opset_import)
    function.input.extend(sorted(set(node.input) - {""}))
    function.output.extend(sorted(set(node.output) - {""}))
    function.node.append(inner)
    call = dice.choice((inner, node, node, node))
    call.op_type, call.domain = "F", "local"
    if dice.random() < 0.7:
        model.opset_import.add(domain="local", version=1)


def _sparse(model: onnx.ModelProto, dice: random.Random) -> None:
    """An initializer becomes a sparse one."""
    graph = dice.choice(list(graphs(model.graph)))
    tensor = graph.initializer.pop(dice.randrange(len(graph.initializer)))
    sparse = graph.sparse_initializer.add(values=tensor, dims=list(tensor.dims))
    sparse.values.dims[:] = [dice.choice((0, 1, 2, 5, -1))]
    sparse.indices.data_type = dice.choice((TensorProto.INT64, TensorProto.FLOAT))
    sparse.indices.dims[:] = [dice.choice((0, 1, 2, 5, -1))]
    sparse.indices.int64_data[:] = [dice.choice((0, 1, -1, 2**62)) for _ in range(2)]


_CHANGES: tuple[Change, ...] = (
    *(_any_field, _rename, _operator, _type, _attribute, _data, _order, _version, _function, _sparse),
)  # fmt: skip
_WEIGHTS = (25, 14, 6, 18, 18, 12, 8, 3, 3, 2)
