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
import os
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from loopc._errors import InvalidArgument, InvalidType

_T = TypeVar("_T")
_Member = TypeVar("_Member", bound=Enum)


def instance(name: str, value: Any, kind: type[_T]) -> _T:
    """`value`, an object of `kind`."""
    if not isinstance(value, kind):
        given = type(value).__qualname__
        raise InvalidType(f"{name}: expected a {kind.__name__}, got {given}")
    return value


def member(name: str, value: Any, kind: type[_Member]) -> _Member:
    """`value`, a member of an enumeration, or its number."""
    try:
        return kind(value)
    except (ValueError, TypeError):
        known = ", ".join(one.name for one in kind)
        raise InvalidType(f"{name}: {value!r} is no {kind.__name__}; there are: {known}") from None


def file_path(name: str, value: Any) -> str:
    """`value`, the path of a file, as a str."""
    try:
        path = os.fsdecode(value)
    except TypeError:
        given = type(value).__qualname__
        raise InvalidType(f"{name}: expected a path, got {given}") from None
    except ValueError:
        raise InvalidArgument(f"{name}: {value!r} is no name of a file") from None
    if "\0" in path:
        raise InvalidArgument(f"{name}: {path!r} has a null character")
    return path


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """`value`, a dict or what is like one."""
    if not isinstance(value, Mapping):
        raise InvalidType(f"{name}: expected a dict, got {type(value).__qualname__}")
    return value


def array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """`value` as an array of numbers or texts, which shares its memory where it has some."""
    try:
        made = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidType(f"{name}: no array can be made of it: {error}") from None
    is_text = made.dtype.kind == "O" and all(isinstance(one, str | bytes) for one in made.flat)
    if made.dtype.kind in "OMm" and not is_text:
        given = type(value).__qualname__
        raise InvalidType(f"{name}: expected numbers or texts, got a {given} of type {made.dtype}")
    return made


def data(name: str, value: Any) -> bytes:
    """`value`, bytes or a view of them; not a number of zeros, as bytes(n) has it."""
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidType(f"{name}: expected bytes, got {type(value).__qualname__}")
    return bytes(value)


def flag(name: str, value: Any) -> bool:
    """Whether `value` is true, which arrays do not tell; "no" and "0" would be true."""
    if isinstance(value, str | bytes):
        raise InvalidType(f"{name}: expected True or False, got {value!r}")
    try:
        return bool(value)
    except (TypeError, ValueError):
        kind = type(value).__qualname__
        raise InvalidType(f"{name}: expected True or False, got {kind}") from None


def integer(value: Any, name: str = "") -> int:
    """`value` as an int of 64 bits; not a float, whose fraction would be lost."""
    what = f"{name}: " if name else ""
    try:
        given = operator.index(value)
    except (TypeError, ValueError):
        raise InvalidType(f"{what}expected an integer, got {value!r}") from None
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
    except (TypeError, ValueError, OverflowError) as error:
        kind = InvalidType if isinstance(error, TypeError) else InvalidArgument
        raise kind(f"{name}: expected a number, got {value!r}") from None


def items(name: str, value: Any, what: str) -> list[Any]:
    """`value`, a list of `what` or something else that can be gone through; not a text."""
    try:
        given = None if isinstance(value, str | bytes) else list(value)
    except (TypeError, ValueError):
        given = None
    if given is None:
        raise InvalidType(f"{name}: expected a list of {what}, got {value!r}")
    return given


def integers(name: str, value: Any) -> list[int]:
    """`value`, a list of integers."""
    return [integer(one, name) for one in items(name, value, "integers")]


def extents(name: str, value: Any) -> list[int]:
    """`value`, a shape that is known."""
    shape = integers(name, value)
    if any(extent < 0 for extent in shape):
        raise InvalidArgument(f"{name}: {shape} has a negative dimension")
    return shape


def string(name: str, value: Any) -> str:
    """`value`, a str that UTF-8 has a form of."""
    if not isinstance(value, str):
        raise InvalidType(f"{name}: expected a str, got {type(value).__qualname__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name}: {value!r} cannot be written as UTF-8") from None
    return value
