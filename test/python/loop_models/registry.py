# ===- registry.py - How a loop model is written down -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""How a loop model is written down.

A model is a function that returns its text and its runs::

    @loop_model("loop_zero", "loop_collect")
    def squares():
        '''Collects i * i.'''
        return graph('''(int64 M) => (int64[?] ys) { ... }'''), [
            run("zero", {"M": i64(0)}, [i64([])]),
            run("three", {"M": i64(3)}, [i64([0, 1, 4])]),
        ]

``run`` without expected values takes the reference's. The labels are those of
the rules in docs/Spec.md.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np
import onnx
import onnx.parser

THEMES = (
    "forms",
    "carried",
    "growing",
    "algebra",
    "algorithms",
    "decoders",
    "layers",
    "mixtures",
    "batched",
    "elementwise",
    "collected",
    "scopes",
    "branches",
    "ranks",
    "scans",
    "broadcast",
    "nested",
    "programs",
    "collections",
    "exporters",
    "operators",
    "errors",
)

Values = Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Run:
    """One feed set: the expected values (None: the reference's), or an error's pattern."""

    name: str
    feeds: dict[str, Any]
    expect: Values | None = None
    error: str | None = None


@dataclasses.dataclass(frozen=True)
class OrtDiffers:
    """Where onnxruntime is not the oracle, and why. A stale mark fails its test.

    kind: 'values' (other results), 'refuses' (an error where we have none),
    'crashes' (the process dies), 'accepts' (no error where we have one),
    'endless' (it never returns; not run).
    runs: the names of the runs concerned; None is all of them.
    """

    kind: Literal["values", "refuses", "crashes", "accepts", "endless"]
    reason: str
    runs: tuple[str, ...] | None = None

    def covers(self, run: str) -> bool:
        return self.runs is None or run in self.runs


@dataclasses.dataclass(frozen=True)
class LoopModel:
    name: str
    labels: tuple[str, ...]
    doc: str
    model: onnx.ModelProto
    runs: tuple[Run, ...]
    compile_error: str | None = None  # a pattern of the message
    ort: tuple[OrtDiffers, ...] = ()
    timeout: float | None = None  # seconds after which the run is cancelled
    rtol: float = 1e-5
    atol: float = 1e-7

    def ort_differs(self, run: str) -> OrtDiffers | None:
        return next((mark for mark in self.ort if mark.covers(run)), None)


_registered: dict[str, Callable[[], LoopModel]] = {}


def loop_model(
    *labels: str,
    name: str | None = None,
    ort: OrtDiffers | Sequence[OrtDiffers] = (),
    compile_error: str | None = None,
    timeout: float | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> Callable[[Callable[[], tuple[onnx.ModelProto, list[Run]]]], Callable[[], Any]]:
    """Registers a function that returns a model and its runs."""

    def register(build: Callable[[], tuple[onnx.ModelProto, list[Run]]]) -> Callable[[], Any]:
        title = name or build.__name__
        assert title not in _registered, f"two models are called '{title}'"

        @functools.cache
        def made() -> LoopModel:
            model, runs = build()
            marks = (ort,) if isinstance(ort, OrtDiffers) else tuple(ort)
            known = {r.name for r in runs}
            for mark in marks:
                assert set(mark.runs or ()) <= known, f"'{title}': a mark names an unknown run"
            return LoopModel(
                title, labels, (build.__doc__ or "").strip(), model, tuple(runs),
                compile_error, marks, timeout, rtol, atol,
            )  # fmt: skip

        _registered[title] = made
        return build

    return register


def all_models() -> list[LoopModel]:
    """Every model of every theme, in the order in which they are written."""
    for theme in THEMES:
        importlib.import_module(f"loop_models.{theme}")
    return [build() for build in _registered.values()]


def graph(text: str, *, opset: int = 21, functions: str = "") -> onnx.ModelProto:
    """A model from the text of its graph, ``(inputs) => (outputs) <initializers> { nodes }``."""
    imports = f'"": {opset}' + (', "local": 1' if functions else "")
    # IR version 10 belongs to opset 21 and is what every engine reads.
    return onnx.parser.parse_model(
        f"<ir_version: 10, opset_import: [{imports}]> model {text.strip()}\n{functions}"
    )


def function(text: str, *, opset: int = 21) -> str:
    """The text of a model-local function in the domain 'local'."""
    return f'<domain: "local", opset_import: ["": {opset}, "local": 1]> {text.strip()}\n'


def run(
    name: str, feeds: dict[str, Any], expect: Values | None = None, *, error: str | None = None
) -> Run:
    return Run(name, feeds, expect, error)


def i64(value: Any) -> np.ndarray:
    return np.array(value, np.int64)


def i32(value: Any) -> np.ndarray:
    return np.array(value, np.int32)


def f32(value: Any) -> np.ndarray:
    return np.array(value, np.float32)


def f64(value: Any) -> np.ndarray:
    return np.array(value, np.float64)


def b8(value: Any) -> np.ndarray:
    return np.array(value, np.bool_)


def ramp(*shape: int, dtype: Any = np.float32, start: float = 0) -> np.ndarray:
    """0, 1, 2, ... in a shape."""
    count = int(np.prod(shape))
    return (np.arange(count) + start).reshape(shape).astype(dtype)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Fixed pseudo-random float32 values, normally distributed."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


DTYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
}
