# ===- pass_work.py - The work of passes on many of one thing ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Counts what a pass looks at (its option report-work) in functions of 40 and of 400 parts, or more."""

import re
import subprocess
import sys


def collected_values(count):
    """Values that begin alike, each written into a row of its own."""
    numbers = range(count)
    rows = "tensor<8xf32>"
    yield f"func.func @f(%m: i64, %x: f32, %a: {rows}, %p: index) -> ({', '.join([rows] * count)}) {{"
    carried = ", ".join(f"%s{k} = %a : {rows}" for k in numbers)
    yield f"%r:{count} = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried({carried}) {{"
    for k in numbers:
        yield f"%n{k} = arith.constant {k}.5 : f32"
        yield f"%v{k} = arith.addf %x, %n{k} : f32"
        yield f"%t{k} = tensor.insert %v{k} into %s{k}[%p] : {rows}"
    values, types = ", ".join(f"%t{k}" for k in numbers), ", ".join([rows] * count)
    yield f"loop.yield while(%c : i1) carried({values} : {types})"
    yield "}"
    yield "return " + ", ".join(f"%r#{k}" for k in numbers) + f" : {types}"
    yield "}"


def branches(count):
    """Buffers, each of which a branch reads."""
    yield "func.func @f(%c: i1, %p: index, %x: f32) -> f32 {"
    for k in range(count):
        last = f"%v{k - 1}" if k else "%x"
        yield f"%a{k} = memref.alloc() : memref<8xf32>"
        yield f"memref.store {last}, %a{k}[%p] : memref<8xf32>"
        yield f"%v{k} = scf.if %c -> f32 {{"
        yield f"%y{k} = memref.load %a{k}[%p] : memref<8xf32>"
        yield f"scf.yield %y{k} : f32"
        yield f"}} else {{ scf.yield {last} : f32 }}"
    yield f"return %v{count - 1} : f32"
    yield "}"


def slices(count):
    """Sums of slices: each is read before the next one begins."""
    row = "tensor<?xf32>"
    yield "#id = affine_map<(d) -> (d)>"
    yield f"func.func @f(%v0: {row}, %n: index) -> {row} {{"
    for k in range(count):
        yield f"%s{k} = tensor.extract_slice %v{k}[1] [%n] [1] : {row} to {row}"
        yield (
            f"%v{k + 1} = linalg.generic {{indexing_maps = [#id, #id],"
            f' iterator_types = ["parallel"]}} ins(%s{k} : {row}) outs(%s{k} : {row}) {{'
        )
        yield "^bb0(%a: f32, %o: f32): %b = arith.addf %a, %a : f32 linalg.yield %b : f32"
        yield f"}} -> {row}"
    yield f"return %v{count} : {row}"
    yield "}"


def terms(count):
    """One sum of many terms, each of two operations: more than one body may hold."""
    row = "tensor<?xf32>"
    yield "#id = affine_map<(d) -> (d)>"
    yield f"func.func @f(%x: {row}) -> {row} {{"
    traits = '{indexing_maps = [#id, #id], iterator_types = ["parallel"]}'
    for k in range(count):
        for name, operand in ((f"%a{k}", "%x"), (f"%t{k}", f"%a{k}")):
            yield f"{name} = linalg.generic {traits} ins({operand} : {row}) outs(%x : {row}) {{"
            yield f"^bb0(%b: f32, %o: f32): %n = arith.constant {k}.5 : f32"
            yield "%c = arith.mulf %b, %n : f32 %d = math.exp %c : f32 linalg.yield %d : f32"
            yield f"}} -> {row}"
    numbers = range(count)
    maps = ", ".join(["#id"] * (count + 1))
    yield f'%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}'
    yield "ins(" + ", ".join(f"%t{k}" for k in numbers) + f" : {', '.join([row] * count)})"
    yield f"outs(%x : {row}) {{"
    yield "^bb0(" + ", ".join(f"%e{k}: f32" for k in numbers) + ", %o: f32):"
    for k in numbers:
        yield f"%s{k} = arith.addf {f'%s{k - 1}' if k else '%o'}, %e{k} : f32"
    yield f"linalg.yield %s{count - 1} : f32"
    yield f"}} -> {row} return %r : {row}"
    yield "}"


def residuals(count):
    """Sums that go on through all parts, of what is read elsewhere of the one before."""
    row = "tensor<?xf32>"
    yield "#id = affine_map<(d) -> (d)>"
    yield f"func.func private @g({row}) -> {row}"
    yield f"func.func @f(%v0: {row}, %e: {row}) -> {row} {{"
    for k in range(count):
        yield f"%w{k} = func.call @g(%v{k}) : ({row}) -> {row}"
        yield (
            f"%v{k + 1} = linalg.generic {{indexing_maps = [#id, #id, #id],"
            f' iterator_types = ["parallel"]}} ins(%v{k}, %w{k} : {row}, {row}) outs(%e : {row}) {{'
        )
        yield "^bb0(%a: f32, %b: f32, %o: f32): %s = arith.addf %a, %b : f32 linalg.yield %s : f32"
        yield f"}} -> {row}"
    yield f"return %v{count} : {row}"
    yield "}"


def updates(count):
    """Branches, each of which writes over what the one before yields."""
    row = "tensor<?xf32>"
    yield f"func.func @f(%c: i1, %n: index, %x: f32) -> {row} {{"
    yield f"%v0 = tensor.empty(%n) : {row}"
    for k in range(count):
        yield f"%v{k + 1} = scf.if %c -> {row} {{"
        yield f"%t{k} = linalg.fill ins(%x : f32) outs(%v{k} : {row}) -> {row}"
        yield f"scf.yield %t{k} : {row}"
        yield f"}} else {{ scf.yield %v{k} : {row} }}"
    yield f"return %v{count} : {row}"
    yield "}"


def layers(count):
    """Products and rows in turn, in two buffers: no section ends at any of them."""
    rows = "memref<8x8xf32>"
    yield f"func.func @f(%x: {rows}) {{"
    yield f"%a0 = memref.alloc() : {rows} %a1 = memref.alloc() : {rows}"
    for k in range(count):
        yield f"linalg.matmul ins(%x, %a{k % 2} : {rows}, {rows}) outs(%a{(k + 1) % 2} : {rows})"
        yield f"linalg.exp ins(%a{(k + 1) % 2} : {rows}) outs(%a{(k + 1) % 2} : {rows})"
    yield "return"
    yield "}"


def nests(count):
    """Nests that read one of two buffers and write the other one."""
    rows = "memref<8x8xf32>"
    yield "func.func @f() {"
    yield "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index"
    yield "%c8 = arith.constant 8 : index"
    yield f"%a0 = memref.alloc() : {rows} %a1 = memref.alloc() : {rows}"
    for k in range(count):
        yield f"scf.for %i{k} = %c0 to %c8 step %c1 {{"
        yield f"%v{k} = memref.load %a{k % 2}[%i{k}, %c0] : {rows}"
        yield f"memref.store %v{k}, %a{(k + 1) % 2}[%i{k}, %c0] : {rows}"
        yield "} {loopc.parallel}"
    yield "return"
    yield "}"


def overwritten(count):
    """Values, each computed from the one before, whose buffer ends there."""
    row = "memref<8xf32>"
    yield "#id = affine_map<(d) -> (d)>"
    yield f"func.func @f(%x: {row}) -> {row} {{"
    yield f"%a0 = memref.alloc() : {row}"
    yield f"memref.copy %x, %a0 : {row} to {row}"
    for k in range(count):
        yield f"%a{k + 1} = memref.alloc() : {row}"
        yield (
            f"linalg.generic {{indexing_maps = [#id, #id], iterator_types = "
            f'["parallel"]}} ins(%a{k} : {row}) outs(%a{k + 1} : {row}) {{'
        )
        yield "^bb0(%b: f32, %o: f32): %s = arith.addf %b, %b : f32 linalg.yield %s : f32"
        yield "}"
        yield f"memref.dealloc %a{k} : {row}"
    yield f"return %a{count} : {row}"
    yield "}"


def turns(count):
    """Branches of a body, each of which computes a buffer from the one before, which ends there."""
    row = "memref<?xf32>"
    yield f"func.func @f(%c: i1, %m: i64, %n: index) -> {row} {{"
    yield f"%true = arith.constant true %a = memref.alloc(%n) : {row}"
    yield f"%r = loop.loop (%i : i64, %go : i1) trips(%m : i64) carried(%v0 = %a : {row}) {{"
    for k in range(count):
        yield f"%v{k + 1} = scf.if %c -> ({row}) {{"
        for name, between in ((f"%t{k}", "} else {"), (f"%e{k}", "}")):
            yield f"{name} = memref.alloc(%n) : {row}"
            yield f"linalg.exp ins(%v{k} : {row}) outs({name} : {row})"
            yield f"memref.dealloc %v{k} : {row} scf.yield {name} : {row}"
            yield between
    yield f"loop.yield while(%true : i1) carried(%v{count} : {row})"
    yield f"}} return %r : {row}"
    yield "}"


def passed_on(count):
    """Nodes in branches, which otherwise pass on what the branch before yields."""
    row = "tensor<?xf32>"
    ports = "{loopc.dims = [\"N\"]}"
    yield f"func.func @f(%v0: {row} {ports}, %c: i1) -> {row} {{"
    for k in range(count):
        yield f"%v{k + 1} = scf.if %c -> ({row}) {{"
        yield f'%t{k} = onnx.node "Neg"(%v{k}) since 13 : ({row}) -> {row}'
        yield f"scf.yield %t{k} : {row}"
        yield f"}} else {{ scf.yield %v{k} : {row} }}"
    yield f"return %v{count} : {row}"
    yield "}"


def work(make, count, name, what):
    """How much the pass `name` with its options looks at."""
    if "{" not in name:
        name += "{report-work}"
    pipeline = name if name.startswith(MODULE_PASSES) else f"func.func({name})"
    text = "\n".join(make(count))
    done = subprocess.run(
        ["loopc-opt", f"--pass-pipeline=builtin.module({pipeline})"],
        input=text,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    counts = re.findall(rf"remark: .*?(\d+) {what}", done.stderr)
    return sum(map(int, counts))


MODULE_PASSES = ("cpu-cut-sections", "loopc-outline-nests")

for pass_name, generator, counted, *least in (
    ("loopc-eliminate-common", collected_values, "operations compared"),
    ("buffer-place-deallocations", branches, "uses followed"),
    ("buffer-privatize-empty", updates, "values followed"),
    ("tensor-fuse-elementwise", slices, "operations compared"),
    ("tensor-fuse-elementwise", residuals, "operations compared"),
    # Of fewer no body is as large as one may be.
    ("tensor-fuse-elementwise", terms, "looked at", 80),
    ("convert-onnx-to-linalg", passed_on, "branches followed"),
    ("buffer-assign-storage", overwritten, "uses followed"),
    ("buffer-assign-storage", turns, "buffers followed"),
    ("cpu-cut-sections{min-section-ops=100 report-work}", layers, "uses followed"),
    ("nest-fuse-outermost", nests, "uses followed"),
    ("loopc-outline-nests{min-ops=1 report-work}", nests, "uses followed"),
):
    count = least[0] if least else 40
    few, many = (work(generator, k, pass_name, counted) for k in (count, 10 * count))
    print(
        f"{pass_name.split('{')[0]}, {counted}: {few} and {many},"
        f" {'linear' if few and many <= 14 * few else 'not linear'}"
    )
