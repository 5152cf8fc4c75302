# ===- onnx_bases.py - Models to be damaged -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Valid models with inputs: ONNX's own tests, the models with loops, random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import cases
import onnx
from models import all_models
from random_models import random_model

Base = tuple[str, onnx.ModelProto, dict[str, Any]]
#: What is larger takes its time and shows nothing more.
MOST_BYTES = 20_000


def bases(only: str = "") -> list[Base]:
    """All of them, in an order that mixes their kinds.

    Args:
        only: a text that is in the name of each: loop/NAME, random/SEED or onnx/CASE.
    """
    found = [base for base in _all(only) if base[1].ByteSize() <= MOST_BYTES]
    random.Random(1).shuffle(found)
    return found


def _all(only: str) -> Iterator[Base]:
    for loop in all_models():
        if only in f"loop/{loop.name}":
            yield f"loop/{loop.name}", loop.model, loop.runs[0].feeds if loop.runs else {}
    for seed in range(300):
        if only in f"random/{seed}":
            made = random_model(seed)
            yield f"random/{seed}", made.proto, made.feeds
    if only.startswith(("loop/", "random/")):
        return  # Making the cases takes a while.
    for case in cases.load():
        if only in f"onnx/{case.name}":
            feeds, _ = next(iter(cases.data_sets(case)), ({}, []))
            yield f"onnx/{case.name}", cases.loaded(case), feeds
