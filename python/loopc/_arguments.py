# ===- _arguments.py - Arguments of any kind as what is wanted --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Arguments that callers may have got wrong: as what is wanted, or an InvalidArgument."""

from __future__ import annotations

import operator
from typing import Any

from loopc._errors import InvalidArgument


def flag(name: str, value: Any) -> bool:
    """Whether `value` is true, which objects such as arrays do not tell."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        kind = type(value).__qualname__
        raise InvalidArgument(f"{name}: expected True or False, got {kind}") from None


def integer(value: Any, name: str = "") -> int:
    """`value` as an int of 64 bits; not a float, whose fraction would be lost."""
    what = f"{name}: " if name else ""
    try:
        given = operator.index(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{what}expected an integer, got {value!r}") from None
    if not -(2**63) <= given < 2**63:
        raise InvalidArgument(f"{what}{given} is no integer of 64 bits")
    return given


def index_of(name: str, value: Any) -> int:
    """`value` as a number that an int of C holds."""
    index = integer(value, name)
    if not -(2**31) <= index < 2**31:
        raise InvalidArgument(f"{name}: {index} is out of range")
    return index


def number(name: str, value: Any) -> float:
    """`value` as a float."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name}: expected a number, got {value!r}") from None


def integers(name: str, value: Any) -> list[int]:
    """`value`, a list of integers."""
    try:
        given = None if isinstance(value, str) else list(value)
    except (TypeError, ValueError):
        given = None
    if given is None:
        raise InvalidArgument(f"{name}: expected a list of integers, got {value!r}")
    return [integer(one, name) for one in given]


def extents(name: str, value: Any) -> list[int]:
    """`value`, a shape that is known."""
    shape = integers(name, value)
    if any(extent < 0 for extent in shape):
        raise InvalidArgument(f"{name}: {shape} has a negative dimension")
    return shape


def string(name: str, value: Any) -> str:
    """`value`, a str that UTF-8 has a form of."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name}: expected a str, got {type(value).__qualname__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name}: {value!r} cannot be written as UTF-8") from None
    return value
