# ===- check_inference.py - Inferred types against ONNX's own tests ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Holds onnx-infer-types to the outputs of the node tests that onnx ships.

Every test of one graph without subgraphs is written as a function of
``onnx.node``s, in variants: input types as they are; dimensions left out at
random; all dimensions left out; ranks left out; integer inputs as constants or
as arguments. Whatever is known, the inferred types must hold the test's
outputs, and no variant may be an error. Prints one line a fault and a summary.
"""

import argparse
import contextlib
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, TypeProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

ELEMENTS = {
    TensorProto.FLOAT: "f32",
    TensorProto.DOUBLE: "f64",
    TensorProto.FLOAT16: "f16",
    TensorProto.BFLOAT16: "bf16",
    TensorProto.BOOL: "i1",
    TensorProto.INT2: "i2",
    TensorProto.INT4: "i4",
    TensorProto.INT8: "i8",
    TensorProto.INT16: "i16",
    TensorProto.INT32: "i32",
    TensorProto.INT64: "i64",
    TensorProto.UINT2: "ui2",
    TensorProto.UINT4: "ui4",
    TensorProto.UINT8: "ui8",
    TensorProto.UINT16: "ui16",
    TensorProto.UINT32: "ui32",
    TensorProto.UINT64: "ui64",
    TensorProto.STRING: "!onnx.string",
    TensorProto.COMPLEX64: "complex<f32>",
    TensorProto.COMPLEX128: "complex<f64>",
    TensorProto.FLOAT8E4M3FN: "f8E4M3FN",
    TensorProto.FLOAT8E4M3FNUZ: "f8E4M3FNUZ",
    TensorProto.FLOAT8E5M2: "f8E5M2",
    TensorProto.FLOAT8E5M2FNUZ: "f8E5M2FNUZ",
    TensorProto.FLOAT8E8M0: "f8E8M0FNU",
    TensorProto.FLOAT4E2M1: "f4E2M1FN",
    TensorProto.FLOAT6E2M3: "f6E2M3FN",
    TensorProto.FLOAT6E3M2: "f6E3M2FN",
}

CONSTANT_TYPES = (np.float32, np.int64, np.int32, np.bool_)

Dim = int | None
Shape = list[Dim] | None


class NotCoveredError(Exception):
    """The test holds something that is not written as onnx.node."""


def tensor_type(element: int, shape: Shape) -> str:
    """``tensor<2x?xf32>``; a shape of None is an unknown rank."""
    dims = "*x" if shape is None else "".join(f"{'?' if d is None else d}x" for d in shape)
    return f"tensor<{dims}{ELEMENTS[element]}>"


def type_text(proto: TypeProto, change: Callable[[Shape], Shape]) -> str:
    """The MLIR type of `proto`, shapes as `change` leaves them."""
    kind = proto.WhichOneof("value")
    if kind == "sequence_type":
        return f"!onnx.seq<{type_text(proto.sequence_type.elem_type, change)}>"
    if kind == "optional_type":
        return f"!onnx.optional<{type_text(proto.optional_type.elem_type, change)}>"
    if kind != "tensor_type":
        raise NotCoveredError(kind)
    tensor = proto.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    return tensor_type(tensor.elem_type, change(shape))


def quote(text: str | bytes) -> str:
    """`text` as a string of MLIR's assembly."""
    data = text.encode() if isinstance(text, str) else text
    return (
        '"'
        + "".join(chr(c) if 32 <= c < 127 and c not in (34, 92) else f"\\{c:02X}" for c in data)
        + '"'
    )


def hex_float(value: float) -> str:
    """An f32 as its bits: exact, also for infinities."""
    return f"0x{np.float32(value).view(np.uint32):08X}"


def elements_text(tensor: TensorProto) -> str:
    """`tensor` as ``dense<...> : type``."""
    type_ = tensor_type(tensor.data_type, list(tensor.dims))
    if 0 in tensor.dims:
        return f"dense<> : {type_}"
    if tensor.data_type == TensorProto.STRING:
        if not tensor.dims:
            return f"dense<{quote(tensor.string_data[0])}> : {type_}"
        raise NotCoveredError("constant strings")
    array = numpy_helper.to_array(tensor)
    if array.dtype == np.bool_:
        text = np.vectorize(lambda b: "true" if b else "false", otypes=[object])(array).tolist()
    elif array.dtype == np.float32:
        text = np.vectorize(hex_float, otypes=[object])(array).tolist()
    elif array.dtype in (np.int32, np.int64, np.int8, np.uint8):
        text = array.tolist()
    else:
        raise NotCoveredError(f"constants of {array.dtype}")
    return f"dense<{str(text).replace(chr(39), '')}> : {type_}"


def attribute_text(attribute: AttributeProto) -> str:
    """The value of `attribute` in MLIR's assembly."""
    kind = attribute.type
    if kind == AttributeProto.INT:
        return f"{attribute.i} : i64"
    if kind == AttributeProto.FLOAT:
        return f"{hex_float(attribute.f)} : f32"
    if kind == AttributeProto.STRING:
        return quote(attribute.s)
    if kind == AttributeProto.INTS:
        return (
            f"array<i64: {', '.join(map(str, attribute.ints))}>" if attribute.ints else "array<i64>"
        )
    if kind == AttributeProto.FLOATS:
        return f"array<f32: {', '.join(map(hex_float, attribute.floats))}>"
    if kind == AttributeProto.STRINGS:
        return f"[{', '.join(map(quote, attribute.strings))}]"
    if kind == AttributeProto.TENSOR:
        return elements_text(attribute.t)
    if kind == AttributeProto.TYPE_PROTO:
        return type_text(attribute.tp, lambda shape: shape)
    raise NotCoveredError(f"attribute {attribute.name}")


class Writer:
    """Writes one model as a function."""

    def __init__(self, model: onnx.ModelProto, name: str) -> None:
        self.graph = model.graph
        self.name = name
        self.opsets = {
            o.domain if o.domain != "ai.onnx" else "": o.version for o in model.opset_import
        }
        self.lines: list[str] = []
        self.values: dict[str, tuple[str, str]] = {}
        self.count = 0

    def fresh(self) -> str:
        """A new SSA name."""
        self.count += 1
        return f"%v{self.count}"

    def constant(self, name: str, tensor: TensorProto) -> None:
        """Defines `name` as a constant."""
        value = self.fresh()
        self.lines.append(f"  {value} = onnx.constant {elements_text(tensor)}")
        self.values[name] = (value, tensor_type(tensor.data_type, list(tensor.dims)))

    def node(self, node: onnx.NodeProto) -> None:
        """Writes `node`; its results get types that say nothing."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        schema = onnx.defs.get_schema(node.op_type, self.opsets[domain], domain)
        operands = []
        for name in node.input:
            if name:
                operands.append(self.values[name])
                continue
            none = self.fresh()
            self.lines.append(f"  {none} = onnx.none")
            operands.append((none, "none"))
        attributes = ", ".join(f"{a.name} = {attribute_text(a)}" for a in node.attribute)
        results = []
        for name in node.output:
            value = self.fresh()
            # The operator decides; what stands here must not matter.
            results.append((value, "tensor<9x9x9x9x9xf64>" if name else "none"))
            if name:
                self.values[name] = results[-1]
        op = quote(node.op_type) if not domain else f"{quote(domain)}::{quote(node.op_type)}"
        self.lines.append(
            f"  {', '.join(v for v, _ in results)} = onnx.node {op}({', '.join(v for v, _ in operands)})"
            f" since {schema.since_version}{' {' + attributes + '}' if attributes else ''}"
            f" : ({', '.join(t for _, t in operands)}) -> ({', '.join(t for _, t in results)})"
        )

    def write(self, change: Callable[[Shape], Shape], constants: dict[str, TensorProto]) -> str:
        """The function; inputs in `constants` are constants."""
        arguments = []
        for tensor in self.graph.initializer:
            self.constant(tensor.name, tensor)
        for value in self.graph.input:
            if value.name in self.values:
                continue
            if value.name in constants:
                self.constant(value.name, constants[value.name])
                continue
            name = self.fresh()
            self.values[value.name] = (name, type_text(value.type, change))
            arguments.append(f"{name}: {self.values[value.name][1]}")
        for node in self.graph.node:
            self.node(node)
        outputs = [self.values[o.name] for o in self.graph.output]
        return (
            f"func.func @{self.name}({', '.join(arguments)}) -> ({', '.join(t for _, t in outputs)}) {{\n"
            + "\n".join(self.lines)
            + f"\n  return {', '.join(v for v, _ in outputs)} : {', '.join(t for _, t in outputs)}\n}}\n"
        )


def actual_type(declared: TypeProto, value: object) -> str:
    """The type that `value`, an output of the type `declared`, really has."""
    kind = declared.WhichOneof("value")
    if kind == "tensor_type" and isinstance(value, np.ndarray | np.generic):
        return tensor_type(declared.tensor_type.elem_type, list(value.shape))
    if kind == "sequence_type" and isinstance(value, list):
        element = declared.sequence_type.elem_type
        return "seq " + " ".join(actual_type(element, v) for v in value)
    return "unchecked"


def fits(actual: str, inferred: str) -> bool:
    """True if a value of type `actual` is one of type `inferred`."""
    if actual == "unchecked":
        return True
    if actual.startswith("seq"):
        match = re.fullmatch(r"!onnx\.seq<(.*)>", inferred)
        return bool(match) and all(fits(t, match[1]) for t in actual.split()[1:])
    pattern = r"tensor<(\*x|(?:[0-9?]+x)*)(.*)>"
    a, b = re.fullmatch(pattern, actual), re.fullmatch(pattern, inferred)
    if not a or not b or a[2] != b[2]:
        return False
    if b[1] == "*x":
        return True
    dims, known = a[1].split("x")[:-1], b[1].split("x")[:-1]
    return len(dims) == len(known) and all(k in ("?", d) for d, k in zip(dims, known, strict=True))


def small_inputs(case: TestCase) -> dict[str, TensorProto]:
    """Inputs that a model would have as constants: few numbers of common types."""
    inputs = {}
    for declared, value in zip(case.model.graph.input, case.data_sets[0][0], strict=False):
        if (
            declared.type.WhichOneof("value") == "tensor_type"
            and isinstance(value, np.ndarray)
            and value.size <= 64
            and value.dtype in CONSTANT_TYPES
        ):
            inputs[declared.name] = numpy_helper.from_array(value)
    return inputs


def variants(seed: int, every: bool) -> Iterator[tuple[str, Callable[[Shape], Shape], bool]]:
    """Name, what is left of shapes, and whether small inputs are constants."""
    rng = random.Random(seed)

    def some(shape: Shape) -> Shape:
        return shape if shape is None else [d if rng.random() < 0.5 else None for d in shape]

    def rank(shape: Shape) -> Shape:
        return shape if rng.random() < 0.5 else None

    yield "some", some, False
    yield "some_const", some, True
    yield "rank_const", rank, True
    yield "dynamic", lambda shape: None if shape is None else [None] * len(shape), False
    if not every:
        return
    yield "dynamic_const", lambda shape: None if shape is None else [None] * len(shape), True
    for constants in (False, True):
        suffix = "_const" if constants else ""
        yield "static" + suffix, lambda shape: shape, constants
        yield "unranked" + suffix, lambda shape: None, constants
        for i in range(3):
            yield f"some{i}{suffix}", some, constants
            yield f"rank{i}{suffix}", rank, constants


def write_all(every: bool) -> tuple[list[str], dict[str, list[str]], int]:
    """All functions, the types expected of each, and the tests not covered."""
    texts: list[str] = []
    expected: dict[str, list[str]] = {}
    left_out = 0
    with warnings.catch_warnings(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in sorted(cases, key=lambda c: c.name):
        covered = False
        for suffix, change, constant in variants(len(texts), every):
            name = f"{case.name}__{suffix}"
            try:
                texts.append(
                    Writer(case.model, name).write(change, small_inputs(case) if constant else {})
                )
            except (NotCoveredError, KeyError):
                continue
            expected[name] = [
                actual_type(o.type, v)
                for o, v in zip(case.model.graph.output, case.data_sets[0][1], strict=True)
            ]
            covered = True
        left_out += not covered
    return texts, expected, left_out


def main() -> int:
    """Writes, runs, compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opt", default="loopc-opt")
    parser.add_argument("--all", action="store_true", help="more variants of each test")
    arguments = parser.parse_args()
    texts, expected, left_out = write_all(arguments.all)
    inferred: dict[str, list[str]] = {}
    errors = []
    # By portions: the time of -split-input-file grows with the square of the text.
    for start in range(0, len(texts), 300):
        source = "// -----\n".join(texts[start : start + 300])
        done = subprocess.run(
            [
                arguments.opt,
                "-split-input-file",
                "-onnx-infer-types",
                "-mlir-print-op-on-diagnostic=false",
                "-mlir-very-unsafe-disable-verifier-on-parsing",
            ],
            input=source,
            capture_output=True,
            text=True,
            check=False,
        )
        errors.append(done.stderr)
        for line in done.stdout.splitlines():
            match = re.match(r"\s*func\.func @(\w+)\(.*\) -> (.*) \{$", line)
            if match:
                types = match[2][1:-1] if match[2].startswith("(") else match[2]
                inferred[match[1]] = re.split(r", (?=tensor|!)", types)
    faults = 0
    for name, types in expected.items():
        found = inferred.get(name)
        if found is None:
            faults += 1
            print(f"FAULT {name}: no result")
        elif not all(map(fits, types, found)):
            faults += 1
            print(f"FAULT {name}: has {types}, inferred {found}")
    print("".join(errors), file=sys.stderr)
    print(f"{len(expected)} functions, {faults} faults, {left_out} tests not covered")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
