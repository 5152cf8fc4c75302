# ===- _types.py - Element types and shapes ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Types and shapes under OpenVINO's names: Type, Dimension, PartialShape, Shape and Strides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from loopc._arguments import extents, integer
from loopc._errors import InvalidArgument, InvalidType
from loopc._network_types import data_type, numpy_type

#: OpenVINO's names of types: the name in an IR file, bits, the kind, and loopc's name.
ROWS = {
    "boolean": ("BOOL", 8, "int", "bool"),
    "f16": ("FP16", 16, "real", "float16"),
    "bf16": ("BF16", 16, "real", "bfloat16"),
    "f32": ("FP32", 32, "real", "float32"),
    "f64": ("FP64", 64, "real", "float64"),
    "f8e4m3": ("F8E4M3", 8, "real", "float8_e4m3fn"),
    "f8e5m2": ("F8E5M2", 8, "real", "float8_e5m2"),
    "f8e8m0": ("F8E8M0", 8, "real", "float8_e8m0fnu"),
    "f4e2m1": ("F4E2M1", 4, "real", "float4_e2m1fn"),
    **{f"i{bits}": (f"I{bits}", bits, "int", f"int{bits}") for bits in (4, 8, 16, 32, 64)},
    **{f"u{bits}": (f"U{bits}", bits, "int", f"uint{bits}") for bits in (2, 4, 8, 16, 32, 64)},
    "u1": ("BIN", 1, "int", "bool"),
    "u3": ("U3", 3, "int", ""),
    "u6": ("U6", 6, "int", ""),
    "nf4": ("NF4", 4, "int", "float32"),
    "string": ("STRING", 256, "int", "str"),
    "dynamic": ("dynamic", 0, "int", ""),
}
#: Names of sessions' types, and others that a type is known by.
_BY_NAME = {
    "float": "f32",
    "double": "f64",
    **{name: name for name in ROWS},
    **{row[0]: name for name, row in ROWS.items()},
    **{row[3]: name for name, row in reversed(ROWS.items()) if row[3]},
    "bool": "boolean",
    "float32": "f32",
    "string": "string",
}


class Type:
    """A type of elements; equal to its name, too: ``Type.f32 == "f32"``.

    Args:
        value: a type of numpy, a name of OpenVINO ("f32") or of a session ("float").

    Raises:
        InvalidType: it is none.
    """

    boolean: Type
    f16: Type
    bf16: Type
    f32: Type
    f64: Type
    i4: Type
    i8: Type
    i16: Type
    i32: Type
    i64: Type
    u1: Type
    u4: Type
    u8: Type
    u16: Type
    u32: Type
    u64: Type
    string: Type
    dynamic: Type

    def __init__(self, value: Any) -> None:
        name: str | None = value.type_name if isinstance(value, Type) else None
        if isinstance(value, str):
            name = _BY_NAME.get(value)
        elif name is None:
            dtype = numpy_type(data_type(value))
            name = "string" if dtype.kind == "O" else _BY_NAME.get(dtype.name)
        if name is None:
            raise InvalidType(f"Type: {value!r} is no element type")
        self._name: str = name

    def get_type_name(self) -> str:
        """Its name."""
        return self._name

    @property
    def type_name(self) -> str:
        """Its name."""
        return self._name

    def to_string(self) -> str:
        """Its name."""
        return self._name

    def to_dtype(self) -> np.dtype[Any]:
        """The type of numpy or ml_dtypes.

        Raises:
            InvalidArgument: there is none.
        """
        own = ROWS[self._name][3]
        if not own:
            raise InvalidArgument(f"numpy has no type '{self._name}'")
        return np.dtype(object) if own == "str" else numpy_type(data_type(own))

    @property
    def bitwidth(self) -> int:
        """The bits of an element."""
        return ROWS[self._name][1]

    def get_bitwidth(self) -> int:
        """The bits of an element."""
        return self.bitwidth

    @property
    def size(self) -> int:
        """The bytes of an element, rounded up."""
        return -(-self.bitwidth // 8)

    def get_size(self) -> int:
        """The bytes of an element, rounded up."""
        return self.size

    def is_real(self) -> bool:
        """Whether it has fractions."""
        return ROWS[self._name][2] == "real"

    def is_integral(self) -> bool:
        """Whether it has none."""
        return not self.is_real()

    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self._name[0] in "fi" or self._name in ("bf16", "boolean")

    def is_static(self) -> bool:
        """Whether it is known."""
        return self._name != "dynamic"

    def is_dynamic(self) -> bool:
        """Whether only a run knows it."""
        return self._name == "dynamic"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Type):
            return self._name == other._name
        return self._name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._name)

    def __str__(self) -> str:
        return self._name

    def __format__(self, spec: str) -> str:
        return format(self._name, spec)

    def __repr__(self) -> str:
        return f"<Type: '{self._name}'>"


for _name in ROWS:
    setattr(Type, _name, Type(_name))


class Dimension:
    """An extent: a number, or those from `min_dimension` to `max_dimension`; -1 is without end.

    Args:
        dimension: a number, -1 for any, a text ("?", "3", "1..5"), a pair, or a Dimension.
        max_dimension: the largest, where `dimension` is the smallest.

    Raises:
        InvalidArgument: it is no extent.
    """

    def __init__(self, dimension: Any = -1, max_dimension: int | None = None) -> None:
        self._least: int
        self._most: int | None
        if isinstance(dimension, Dimension):
            self._least, self._most = dimension._least, dimension._most
            return
        pair = (dimension, max_dimension) if max_dimension is not None else _bounds(dimension)
        least, most = (integer(one, "dimension") for one in pair)
        if least < -1 or most < -1 or -1 < most < least:
            raise InvalidArgument(f"dimension: {dimension!r} is no extent")
        self._least = max(least, 0)
        self._most = None if most == -1 else most

    @staticmethod
    def dynamic() -> Dimension:
        """Any extent."""
        return Dimension()

    @property
    def is_static(self) -> bool:
        """Whether it is one number."""
        return self._least == self._most

    @property
    def is_dynamic(self) -> bool:
        """Whether it is not."""
        return not self.is_static

    @property
    def min_length(self) -> int:
        """The smallest."""
        return self._least

    @property
    def max_length(self) -> int:
        """The largest; -1 without one."""
        return -1 if self._most is None else self._most

    def get_min_length(self) -> int:
        """The smallest."""
        return self.min_length

    def get_max_length(self) -> int:
        """The largest; -1 without one."""
        return self.max_length

    def get_length(self) -> int:
        """The number.

        Raises:
            InvalidArgument: it is not one.
        """
        if self.is_dynamic:
            raise InvalidArgument(f"the dimension {self} has no length: a run chooses it")
        return self._least

    def compatible(self, other: Any) -> bool:
        """Whether both can be the same number."""
        given = Dimension(other)
        least = max(self._least, given._least)
        return all(one._most is None or least <= one._most for one in (self, given))

    def refines(self, other: Any) -> bool:
        """Whether each of its numbers is one of the other's."""
        given = Dimension(other)
        return given._least <= self._least and (
            given._most is None or (self._most is not None and self._most <= given._most)
        )

    def relaxes(self, other: Any) -> bool:
        """Whether each of the other's numbers is one of its own."""
        return Dimension(other).refines(self)

    def to_string(self) -> str:
        """A text: "3", "?" or "1..5"."""
        return str(self)

    def __len__(self) -> int:
        return self.get_length()

    def __index__(self) -> int:
        return self.get_length()

    def __eq__(self, other: object) -> bool:
        try:
            given = Dimension(other)
        except (InvalidArgument, InvalidType):
            return NotImplemented
        return (self._least, self._most) == (given._least, given._most)

    def __hash__(self) -> int:
        return hash((self._least, self._most))

    def __str__(self) -> str:
        if self.is_static:
            return str(self._least)
        if self._most is None:
            return f"{self._least}.." if self._least else "?"
        return f"{self._least or ''}..{self._most}"

    def __repr__(self) -> str:
        return f"<Dimension: {self}>"


def _bounds(value: Any) -> tuple[Any, Any]:
    """The smallest and largest number of what an extent was given as."""
    if isinstance(value, str):
        text = value.strip()
        if text in ("?", "-1"):
            return -1, -1
        found = re.fullmatch(r"(\d*)\s*\.\.\s*(\d*)|(\d+)", text)
        if not found:
            raise InvalidArgument(f"dimension: {value!r} is no extent")
        least, most = (found[3], found[3]) if found[3] else (found[1], found[2])
        return int(least) if least else 0, int(most) if most else -1
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise InvalidArgument(f"dimension: expected a pair, got {value!r}")
        return value[0], value[1]
    return value, value


class Shape(tuple[int, ...]):
    """Extents that are known; equal to a list of the same.

    Raises:
        InvalidArgument: one of them is negative.
    """

    def __new__(cls, axis_lengths: Any = ()) -> Shape:
        """Extents of a list, or of a text such as "[1, 3]"."""
        if isinstance(axis_lengths, str):
            axis_lengths = PartialShape(axis_lengths).to_shape()
        return super().__new__(cls, extents("shape", axis_lengths))

    def to_string(self) -> str:
        """A text: "[1,3]"."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __str__(self) -> str:
        return "[" + ",".join(map(str, self)) + "]"

    def __repr__(self) -> str:
        return f"<Shape: {self}>"


class Strides(tuple[int, ...]):
    """The bytes from an element to the next of each axis."""

    def __repr__(self) -> str:
        return f"<Strides: {list(self)}>"


class PartialShape(Sequence[Dimension]):
    """Extents of which some may be known by a run only.

    Args:
        shape: extents as `Dimension` takes them, a text ("[1,?,2..4]"; "..." of any rank),
            or a PartialShape.

    Raises:
        InvalidArgument: it is no shape.
    """

    def __init__(self, shape: Any = ()) -> None:
        self._dims: list[Dimension] | None
        if isinstance(shape, PartialShape):
            self._dims = None if shape._dims is None else list(shape._dims)
        elif isinstance(shape, str):
            text = shape.strip().removeprefix("[").removesuffix("]").strip()
            parts = text.split(",") if text else []
            self._dims = None if text == "..." else [Dimension(one) for one in parts]
        elif isinstance(shape, Dimension):
            self._dims = [shape]
        else:
            try:
                given = list(shape)
            except TypeError:
                raise InvalidType(f"shape: expected a shape, got {shape!r}") from None
            self._dims = [Dimension(one) for one in given]

    @staticmethod
    def dynamic(rank: Any = -1) -> PartialShape:
        """Any extents, of a rank or of any."""
        made = PartialShape()
        number = Dimension(rank)
        made._dims = [Dimension()] * number.get_length() if number.is_static else None
        return made

    @property
    def rank(self) -> Dimension:
        """The number of axes."""
        return Dimension() if self._dims is None else Dimension(len(self._dims))

    @property
    def is_static(self) -> bool:
        """Whether all extents are known."""
        return self._dims is not None and all(one.is_static for one in self._dims)

    @property
    def is_dynamic(self) -> bool:
        """Whether one is not."""
        return not self.is_static

    def _known(self) -> list[Dimension]:
        if self._dims is None:
            raise InvalidArgument("the shape is of any rank: it has no extents")
        return self._dims

    def to_shape(self) -> Shape:
        """The extents.

        Raises:
            InvalidArgument: a run chooses one of them.
        """
        if self.is_dynamic:
            raise InvalidArgument(f"no fixed shape: {self}")
        return Shape([one.get_length() for one in self._known()])

    def get_shape(self) -> Shape:
        """As `to_shape`."""
        return self.to_shape()

    def get_min_shape(self) -> Shape:
        """The smallest extents."""
        return Shape([one.min_length for one in self._known()])

    def get_max_shape(self) -> Shape:
        """The largest extents; 2**63 - 1 without one."""
        most = [one.max_length for one in self._known()]
        return Shape([2**63 - 1 if one == -1 else one for one in most])

    def get_dimension(self, index: int) -> Dimension:
        """One of the extents."""
        return self._known()[index]

    def compatible(self, other: Any) -> bool:
        """Whether both can be the same shape."""
        given = PartialShape(other)
        if self._dims is None or given._dims is None:
            return True
        return len(self) == len(given) and all(
            a.compatible(b) for a, b in zip(self._dims, given._dims, strict=True)
        )

    def refines(self, other: Any) -> bool:
        """Whether each of its shapes is one of the other's."""
        given = PartialShape(other)
        if self._dims is None or given._dims is None:
            return given._dims is None
        return len(self) == len(given) and all(
            a.refines(b) for a, b in zip(self._dims, given._dims, strict=True)
        )

    def relaxes(self, other: Any) -> bool:
        """Whether each of the other's shapes is one of its own."""
        return PartialShape(other).refines(self)

    def to_string(self) -> str:
        """A text: "[1,?,2..4]"."""
        return str(self)

    def __len__(self) -> int:
        return len(self._known())

    def __getitem__(self, index: Any) -> Any:
        found: Any = self._known()[index]
        return PartialShape(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, value: Any) -> None:
        self._known()[index] = Dimension(value)

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self._known())

    def __eq__(self, other: object) -> bool:
        try:
            given = PartialShape(other)
        except (InvalidArgument, InvalidType):
            return NotImplemented
        return self._dims == given._dims

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "[...]" if self._dims is None else "[" + ",".join(map(str, self._dims)) + "]"

    def __repr__(self) -> str:
        return f"<PartialShape: {self}>"
