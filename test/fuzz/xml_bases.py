# ===- xml_bases.py - OpenVINO IR to be damaged -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Valid OpenVINO IR with inputs: loops, random programs, and what is converted from ONNX."""

from __future__ import annotations

import pathlib
import random
import tempfile
from typing import Any

import engines
import onnx
import openvino
from onnx_bases import bases as onnx_bases
from openvino_models import MODELS
from random_ir_programs import IrProgram
from random_models import random_model

#: Name, XML, weights, inputs.
Base = tuple[str, str, bytes, dict[str, Any]]
#: How many of ONNX's tests are converted, which takes its time.
CONVERTED = 200
#: How many random nests of OpenVINO's own loops and branches there are.
PROGRAMS = 60


def bases(only: str = "") -> list[Base]:
    """All of them, in an order that mixes their kinds.

    Args:
        only: a text that is in the name of each.
    """
    found: list[Base] = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.xml"
        for model in MODELS:
            if only in f"loop/{model.name}":
                built, runs = model.build()
                found.append(_saved(f"loop/{model.name}", built, path, runs[0][0]))
        for seed in range(30):
            if only in f"random/{seed}":
                made = random_model(seed)
                found += _converted(f"random/{seed}", made.proto, made.feeds)
        for seed in range(PROGRAMS):
            if only in f"program/{seed}":
                program = IrProgram(seed)
                feeds = next(given for _, given in program.sets(1))
                found.append(_saved(f"program/{seed}", program.model, path, feeds))
        if not only.startswith(("loop/", "random/", "program/")):
            for name, proto, feeds in onnx_bases(only or "onnx/")[:CONVERTED]:
                found += _converted(name, proto, feeds)
    random.Random(1).shuffle(found)
    return found


def _saved(name: str, model: openvino.Model, path: pathlib.Path, feeds: dict[str, Any]) -> Base:
    openvino.save_model(model, path, compress_to_fp16=False)
    return name, path.read_text(), path.with_suffix(".bin").read_bytes(), feeds


def _converted(name: str, model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Base]:
    """The model as OpenVINO reads it; nothing where it does not, or dies of it."""
    outcome = engines.worker(_answer).ask((model.SerializeToString(),))
    return [(name, *pair, feeds) for pair in outcome.values or ()]


def _answer(content: bytes) -> engines.Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(content)
        try:
            made = openvino.Core().read_model(path)
            _, text, weights, _ = _saved("", made, path.with_suffix(".xml"), {})
        except Exception as error:  # OpenVINO's errors have no common base.
            return engines.Outcome(error=str(error))
    return engines.Outcome(values=[(text, weights)])
