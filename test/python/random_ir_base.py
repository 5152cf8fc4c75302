# ===- random_ir_base.py - What random layers of OpenVINO IR are made of ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A layer with sets of operands, and what its makers draw."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from random_corners import Draw

Array = np.ndarray[Any, Any]

#: OpenVINO's builders, by the number of the opset.
OPSETS = {k: importlib.import_module(f"openvino.opset{k}") for k in range(1, 17)}

FLOATS = (np.float32, np.float32, np.float32, np.float16)
NUMBERS = (*FLOATS, np.int32, np.int64)


@dataclasses.dataclass
class Layer:
    """A layer, and several sets of operands of equal shapes."""

    sets: list[list[Array]]
    #: Of the operands' values: the layer's outputs.
    make: Callable[..., Any]
    #: Numbers of the operands that are constants in every model.
    constants: tuple[int, ...] = ()
    tolerance: float = 1e-5
    name: str = ""


def values(draw: Draw, dtype: Any, shape: Sequence[int], odd: bool = False) -> Array:
    return np.asarray(draw.values(dtype, shape, odd=odd))


def sets_of(draw: Draw, make: Callable[[], list[Any]], count: int = 3) -> list[list[Array]]:
    return [[np.asarray(v) for v in make()] for _ in range(count)]


def builder(draw: Draw, name: str, *since: int) -> Any:
    """The builder of that name in one of these opsets."""
    return getattr(OPSETS[draw.choice(since)], name)


def positive(draw: Draw, least: int = 0, most: int = 4) -> tuple[int, ...]:
    return tuple(max(d, 1) for d in draw.shape(least, most))


def some_axes(draw: Draw, rank: int, least: int = 0) -> Array:
    chosen = draw.sample(range(rank), draw.randint(min(least, rank), rank))
    return np.array([a - rank if draw.random() < 0.3 else a for a in chosen],
                    draw.choice((np.int32, np.int64)))  # fmt: skip
