# ===- every_field.py - Models with one field that is something else -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""All models that differ from a valid one in one field, each field with each hostile value.

Without dice: a field that nobody thought of is changed as well.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

#: What is written for a number that fits its field.
INTEGERS = (-(2**63), -1, 0, 1, 2**31, 2**62, 2**63 - 1)
TEXTS = ("", "\0", "x", "y", "../x", "n" * 300)
_NARROW = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_ENUM)

#: Where the change is, and what makes it.
Change = tuple[str, Callable[[Any], None]]


def _values(field: FieldDescriptor) -> tuple[Any, ...]:
    """Hostile values of a field that is no message."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return TEXTS if field.type == FieldDescriptor.TYPE_STRING else (b"", b"\0\xff" * 9)
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return (float("nan"), float("inf"), -1.0)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return (0, *(value.number for value in field.enum_type.values))
    if field.type in _NARROW:
        return (*(n for n in INTEGERS if -(2**31) <= n < 2**31), 99)
    if field.type == FieldDescriptor.TYPE_UINT64:
        return tuple(n for n in INTEGERS if n >= 0)
    return INTEGERS


def _setter(name: str, value: Any) -> Callable[[Message], None]:
    def change(message: Message) -> None:
        setattr(message, name, value)

    return change


def _element(name: str, index: int, value: Any) -> Callable[[Message], None]:
    def change(message: Message) -> None:
        getattr(message, name)[index] = value

    return change


def _clearer(name: str) -> Callable[[Message], None]:
    return lambda message: message.ClearField(name)


def _reorder(name: str, order: Callable[[list[Any]], list[Any]]) -> Callable[[Message], None]:
    def change(message: Message) -> None:
        elements = [copy.deepcopy(one) for one in getattr(message, name)]
        message.ClearField(name)
        getattr(message, name).extend(order(elements))

    return change


_ORDERS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "without its first": lambda elements: elements[1:],
    "its last twice": lambda elements: [*elements, elements[-1]],
    "backwards": lambda elements: elements[::-1],
}


def _repeated(field: FieldDescriptor, value: Any) -> Iterator[Change]:
    for said, order in _ORDERS.items():
        if said != "backwards" or len(value) > 1:
            yield f"{field.name} {said}", _reorder(field.name, order)
    if field.message_type is not None:
        return
    for hostile in _values(field):
        yield f"{field.name}[0] = {hostile!r:.20}", _element(field.name, 0, hostile)


def _own(message: Message) -> Iterator[Change]:
    """The changes of a message's own fields."""
    present = {field.name for field, _ in message.ListFields()}
    for field in message.DESCRIPTOR.fields:
        if field.is_repeated:
            if field.name in present:
                yield from _repeated(field, getattr(message, field.name))
            continue
        if field.name in present:
            yield f"no {field.name}", _clearer(field.name)
        if field.message_type is None:
            for hostile in _values(field):
                yield f"{field.name} = {hostile!r:.20}", _setter(field.name, hostile)


def _reach(path: list[tuple[str, int | None]], model: Message) -> Message:
    for name, index in path:
        value = getattr(model, name)
        model = value if index is None else value[index]
    return model


def _messages(
    message: Message, path: list[tuple[str, int | None]]
) -> Iterator[tuple[list[tuple[str, int | None]], Message]]:
    yield path, message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        parts = enumerate(value) if field.is_repeated else [(None, value)]
        for index, part in parts:
            yield from _messages(part, [*path, (field.name, index)])


def onnx_changes(model: Message) -> Iterator[tuple[str, Message]]:
    """Each copy of a protobuf that differs in one field, and what it is."""
    for path, message in _messages(model, []):
        place = ".".join(name if index is None else f"{name}[{index}]" for name, index in path)
        for said, change in _own(message):
            changed = copy.deepcopy(model)
            change(_reach(path, changed))
            yield f"{place}: {said}", changed


#: What an attribute of XML may be as well.
WORDS = (
    "",
    "-1",
    "0",
    "7",
    "9223372036854775807",
    "-9223372036854775808",
    "x",
    "1,2",
    "-1,-1",
    "f16",
)


def xml_changes(text: str) -> Iterator[tuple[str, str]]:
    """Each copy of an XML document that differs in one attribute or element, and what it is."""
    root = ET.fromstring(text)
    count = len(list(root.iter()))
    for number in range(count):
        for said, changed in _xml_copies(root, number):
            yield said, ET.tostring(changed, encoding="unicode")


def _xml_copies(root: ET.Element, number: int) -> Iterator[tuple[str, ET.Element]]:
    element = list(root.iter())[number]
    place = f"<{element.tag}> #{number}"

    def again(change: Callable[[ET.Element], object]) -> ET.Element:
        changed = copy.deepcopy(root)
        change(list(changed.iter())[number])
        return changed

    for name, value in element.attrib.items():
        yield f"{place} without {name}", again(lambda e, n=name: e.attrib.pop(n))
        for word in WORDS:
            if word != value:
                yield f"{place} {name}={word!r}", again(lambda e, n=name, w=word: e.set(n, w))
    if element.text and element.text.strip():
        for word in WORDS:
            yield f"{place} {word!r}", again(lambda e, w=word: setattr(e, "text", w))
    if len(element):
        yield f"{place} without its first", again(lambda e: e.remove(e[0]))
        yield f"{place} with its last twice", again(lambda e: e.append(copy.deepcopy(e[-1])))
        yield f"{place} empty", again(lambda e: [e.remove(one) for one in list(e)])
