# ===- _wire.py - Protobuf's wire format -----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Reading and rewriting messages without the protobuf package."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

Rule: TypeAlias = Callable[[memoryview], bytes | None]
"""What a field's message becomes; None where it stays."""


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def varint(value: int) -> bytes:
    """A number, of 0 to 2**64 - 1."""
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """A field that holds an integer."""
    return varint(number << 3) + varint(value % 2**64)


def bytes_field(number: int, value: bytes) -> bytes:
    """A field that holds bytes, a text or a message."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """(number, value, all bytes) of a message's fields.

    Raises:
        ValueError, IndexError: it is no message.
    """
    at = 0
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        kind = tag & 7
        value: int | memoryview
        if kind == 0:
            value, at = read_varint(data, at)
            yield tag >> 3, value, data[begin:at]
            continue
        if kind == 2:
            size, at = read_varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + size > len(data):
            raise ValueError("the message ends early")
        value = data[at : at + size]
        at += size
        yield tag >> 3, value, data[begin:at]


def rewrite(data: memoryview, rules: Mapping[int, Rule]) -> bytes | None:
    """A message whose fields of some numbers have become others.

    Returns:
        The message; None where all of it stays.
    """
    parts: list[bytes | memoryview] = []
    is_changed = False
    for number, value, whole in fields(data):
        rule = rules.get(number)
        new = rule(value) if rule and isinstance(value, memoryview) else None
        is_changed |= new is not None
        parts.append(whole if new is None else bytes_field(number, new))
    return b"".join(parts) if is_changed else None
