# ===- cases.py - ONNX's backend tests as data -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The cases of onnx.backend.test: models, inputs, expected outputs, and how to compare."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import ModelProto, TypeProto, numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests

#: The kinds that make the suite of 2,033; 'real' are the light models of the wheel.
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")

Operator = tuple[str, str]  # domain and type


def load() -> list[TestCase]:
    """Every case of the installed suite, in the order of their names."""
    with warnings.catch_warnings():
        # Making the cases overflows in NumPy on purpose.
        warnings.simplefilter("ignore")
        cases = [case for kind in KINDS for case in load_model_tests(kind=kind)]
    return sorted(cases, key=lambda c: c.name)


def _light_path(case: TestCase) -> str:
    """Where the wheel has a light model."""
    assert case.url is not None
    name = os.path.basename(case.url)
    return os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light", name)


def model_of(case: TestCase) -> ModelProto | str:
    """The model of a case: a path where there is one, so that its folder is known."""
    if case.model is not None:
        return case.model
    if case.model_dir is not None:
        return os.path.join(case.model_dir, "model.onnx")
    return _light_path(case)


def loaded(case: TestCase) -> ModelProto:
    """The model of a case in memory."""
    model = model_of(case)
    return onnx.load(model) if isinstance(model, str) else model


def data_sets(case: TestCase) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Feeds and expected outputs of each data set."""
    model = loaded(case)
    defaults = {t.name for t in model.graph.initializer}
    free = [i for i in model.graph.input if i.name not in defaults]
    if case.data_sets is not None:
        for inputs, outputs in case.data_sets:
            names = [i.name for i in (free if len(inputs) == len(free) else model.graph.input)]
            yield dict(zip(names, map(_value, inputs), strict=False)), [_value(o) for o in outputs]
    elif case.model_dir is not None:
        for folder in sorted(glob.glob(os.path.join(case.model_dir, "test_data_set*"))):
            inputs = _read(folder, "input", [i.type for i in model.graph.input])
            names = [i.name for i in model.graph.input]
            outputs = _read(folder, "output", [o.type for o in model.graph.output])
            yield dict(zip(names, inputs, strict=False)), outputs
    else:
        # The suite's own way with light models: a ramp in, recorded outputs out.
        stem = os.path.splitext(_light_path(case))[0]
        outputs = [_load(f"{stem}_output_{k}.pb", o.type) for k, o in enumerate(model.graph.output)]
        yield {i.name: _ramp(i.type) for i in free}, outputs


def _value(item: Any) -> Any:
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    if isinstance(item, np.generic):
        return np.asarray(item)
    return item


def _ramp(kind: TypeProto) -> np.ndarray:
    shape = [d.dim_value or 1 for d in kind.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


def _read(folder: str, what: str, types: list[TypeProto]) -> list[Any]:
    count = len(glob.glob(os.path.join(folder, f"{what}_*.pb")))
    return [_load(os.path.join(folder, f"{what}_{k}.pb"), types[k]) for k in range(count)]


def _load(path: str, kind: TypeProto) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


# ===- What a model contains -------------------------------------------------===#


def operators(model: ModelProto) -> set[Operator]:
    """The operators of a model's graph, its subgraphs and its functions."""
    found: set[Operator] = set()
    local = {(f.domain, f.name) for f in model.functions}
    for nodes in (model.graph.node, *(f.node for f in model.functions)):
        _collect(nodes, found)
    return found - local


def _collect(nodes: Any, found: set[Operator]) -> None:
    for node in nodes:
        found.add((node.domain, node.op_type))
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                _collect(graph.node, found)


# ===- Comparing -------------------------------------------------------------===#


def compare(got: list[Any], want: list[Any], rtol: float, atol: float) -> str | None:
    """What is wrong with the outputs, or None. Kinds, types and shapes must be exact."""
    if len(got) != len(want):
        return f"{len(got)} outputs, expected {len(want)}"
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        problem = _differs(one, other, rtol, atol)
        if problem:
            return f"output {number}: {problem}"
    return None


def _kind(value: Any) -> str:
    if value is None:
        return "an empty optional"
    return "a sequence" if isinstance(value, (list, tuple)) else "a tensor"


def _differs(got: Any, want: Any, rtol: float, atol: float) -> str | None:
    if _kind(got) != _kind(want):
        return f"{_kind(got)}, expected {_kind(want)}"
    if want is None:
        return None
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            return f"{len(got)} elements, expected {len(want)}"
        for at, (one, other) in enumerate(zip(got, want, strict=True)):
            problem = _differs(one, other, rtol, atol)
            if problem:
                return f"element {at}: {problem}"
        return None
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, expected {list(want.shape)}"
    if want.dtype == object or want.dtype.kind in "SU":
        same = np.array_equal(got.astype(str), want.astype(str))
        return None if same else "strings differ"
    if got.dtype != want.dtype:
        return f"type {got.dtype}, expected {want.dtype}"
    return _values_differ(got, want, rtol, atol)


def _values_differ(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> str | None:
    if got.dtype == ml_dtypes.bfloat16:
        rtol = max(rtol, 2**-6)  # as the suite: two ulp of bfloat16
    if got.dtype.kind not in "biufc":  # NumPy knows no arithmetic on ml_dtypes.
        got, want = got.astype(np.float32), want.astype(np.float32)
    with np.errstate(all="ignore"):
        close = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=got.dtype.kind in "fc")
    wrong = close.size - int(np.count_nonzero(close))
    return f"{wrong} of {close.size} values differ" if wrong else None
