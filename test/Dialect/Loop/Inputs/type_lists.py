# ===- type_lists.py - The type lists of ONNX's schemas ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes loop.loop and loop.scan for every version and type of ONNX's schemas.

What the onnx library's type lists hold must verify; everything else must be
refused: each element type that any version knows, as tensor, seq,
optional(tensor) and optional(seq), in the newest version that does not have it,
and each version number that is none.
"""

import itertools
import re
import sys
from collections.abc import Callable

import onnx.defs

ELEMENTS = {
    "bool": "i1", "string": "!onnx.string",
    "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint2": "ui2", "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64",
    "float16": "f16", "float": "f32", "double": "f64", "bfloat16": "bf16",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
    "float8e4m3fn": "f8E4M3FN", "float8e4m3fnuz": "f8E4M3FNUZ", "float8e5m2": "f8E5M2",
    "float8e5m2fnuz": "f8E5M2FNUZ", "float8e8m0": "f8E8M0FNU", "float4e2m1": "f4E2M1FN",
}  # fmt: skip
KINDS = ("tensor({})", "seq(tensor({}))", "optional(tensor({}))", "optional(seq(tensor({})))")


def to_mlir(name: str) -> str:
    """The type of this project's dialects for ONNX's type string `name`."""
    outer = re.fullmatch(r"(seq|optional)\((.*)\)", name)
    if outer:
        return f"!onnx.{outer[1]}<{to_mlir(outer[2])}>"
    return f"tensor<{ELEMENTS[name.removeprefix('tensor(').removesuffix(')')]}>"


def type_lists(op: str) -> dict[int, set[str]]:
    """Version to what the schema of `op` lets its values be."""
    return {
        schema.since_version: set(constraint.allowed_type_strs)
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.name == op and schema.domain == ""
        for constraint in schema.type_constraints
        if constraint.type_param_str == "V"
    }


LOOP = """func.func @loop{number}(%m: tensor<i64>, %x0: {type}) {{
  // {expect}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %x0 : {type}) since {version} {{
    loop.yield while(%c : tensor<i1>) carried(%x : {type})
  }}
  return
}}"""
SCAN = """func.func @scan{number}(%v: tensor<2x3xf32>, %x0: tensor<2x{element}>) {{
  // {expect}
  %r = loop.scan {batched}states(%x = %x0 : tensor<2x{element}>)
      inputs(%a = %v : tensor<2x3xf32> axis 1 -> {slice}) since {version} {{
    loop.yield carried(%x : {state})
  }}
  return
}}"""


def loop(name: str, version: int, expected: str = "verifies", number: int = 0) -> str:
    """A Loop of `version` that carries a value of ONNX type `name`."""
    return LOOP.format(number=number, type=to_mlir(name), version=version, expect=expected)


def scan(name: str, version: int, expected: str = "verifies", number: int = 0) -> str:
    """A Scan of `version` with a state of ONNX type `name`, a tensor."""
    element = ELEMENTS[name.removeprefix("tensor(").removesuffix(")")]
    batched = version == 8
    return SCAN.format(
        number=number,
        element=element,
        state=f"tensor<{'' if batched else '2x'}{element}>",
        slice="tensor<f32>" if batched else "tensor<2xf32>",
        batched="batched " if batched else "",
        version=version,
        expect=expected,
    )


def splits(lists: dict[int, set[str]], names: set[str], write: Callable, what: str) -> list[str]:
    """One file a refusal, and one a version with all that it takes."""
    versions = sorted(lists)
    for older, newer in itertools.pairwise(versions):
        if not lists[older] <= lists[newer]:
            sys.exit(f"version {newer} takes less than {older}: test every pair instead")
    parts = [
        "\n".join(write(name, version, number=k) for k, name in enumerate(sorted(lists[version])))
        for version in versions
    ]
    for name in sorted(names):
        refused = [version for version in versions if name not in lists[version]]
        if refused:  # the newest that refuses: all before it do, all after it take it
            parts.append(write(name, refused[-1], f"expected-error@+1 {{{{{what} #0: type}}}}"))
    for version in range(1, onnx.defs.onnx_opset_version() + 1):
        if version not in lists:
            text = f"'since_version' is {version} but the versions are"
            parts.append(write("tensor(float)", version, f"expected-error@+1 {{{{{text}}}}}"))
    return parts


def main() -> None:
    loops, scans = type_lists("Loop"), type_lists("Scan")
    elements = {re.search(r"tensor\((\w+)\)", name)[1] for name in set().union(*loops.values())}
    if elements != set(ELEMENTS):
        sys.exit(f"element types differ: {sorted(elements ^ set(ELEMENTS))}")
    names = {kind.format(element) for kind in KINDS for element in elements}
    tensors = {name for name in names if name.startswith("tensor")}
    parts = splits(loops, names, loop, "carried value") + splits(scans, tensors, scan, "state")
    print("\n\n// -----\n\n".join(parts))


if __name__ == "__main__":
    main()
