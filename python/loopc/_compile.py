# ===- _compile.py - Compiling ahead of time --------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models into files."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from loopc import _loopc
from loopc._arguments import flag
from loopc._errors import Diagnostic, InvalidArgument, compile_error, diagnostics_of
from loopc._options import (
    Model,
    compile_level,
    extents_by_name,
    file_name,
    folder,
    model_source,
    names,
    network_of,
    shapes_by_name,
    states_by_name,
    text,
)


def compile(
    model: Model,
    output: str | os.PathLike[str],
    *,
    emit: str = "obj",
    target: str | None = None,
    cpu: str | None = None,
    features: str | None = None,
    chip: str | None = None,
    allow_tf32: bool = False,
    cublas: str | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    dims: Mapping[str, int | None] | None = None,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    states: Mapping[str, str] | None = None,
    ort_compat: bool = False,
    fp_contract: bool = False,
    weights: str | None = None,
    base_directory: str | os.PathLike[str] | None = None,
    verify: bool = False,
    check_accesses: bool = False,
    profile: bool = False,
    disabled_passes: Sequence[str] = (),
    custom_ops: Sequence[str] = (),
) -> list[Diagnostic]:
    """Compiles a model into a file.

    Args:
        model: path, bytes, onnx.ModelProto or loopc.network.INetworkDefinition.
        output: the file to write; objects and shared libraries get a C header
            beside them.
        emit: "obj", "shared", or one of the compiler's stages: "onnx", "loop",
            "linalg", "memref", "scf", "llvm", "llvm-ir", "asm", "ptx"; or "shapes",
            JSON of the outputs' extents by name, null for what is not known before a run.
        target: LLVM's triple; None for this machine's.
        cpu: LLVM's name of the CPU, "native" (this machine's) or "portable", the default:
            one that most machines have. Of another target it is the baseline.
        features: CPU features beside the CPU's own ("+avx2,-fma").
        chip: the GPU that runs loops and tensors, this one or later ones ("sm_90");
            None for none.
        allow_tf32: for a GPU: whether large products of float32 may round what they
            multiply to tf32, 10 bits behind the point, for tensor cores.
        cublas: for a GPU: products that cuBLAS computes where a run finds it: "on",
            "off", or None for large ones.
        opt_level: 0 to 3; None for the default.
        name: the model's name, a C identifier; None to derive it.
        dims: extents for symbolic dimensions, by name; None says that dimensions of this
            name are unrelated.
        shapes: shapes for inputs, by name; None leaves a dimension open.
        states: inputs, and the outputs that they are in the next run, by name.
        ort_compat: follow onnxruntime where it differs from the specification.
        fp_contract: round a product and the sum that it goes into once, as C++
            compilers do, not each as ONNX has it.
        weights: what constant float weights of products of matrices are rounded to:
            "bf16", "f16", "int8" (a scale for each output channel); None for nothing.
        base_directory: the folder of the external data of a model that is given
            as bytes or ModelProto.
        verify: verify the compiler's work after every pass.
        check_accesses: check each access to a buffer, and run with guarded memory:
            to find faults of the compiler. Such a model is many times slower.
        profile: make a model that can say where the time of a run goes (``loopc-run
            --profile``, `SessionOptions.enable_profiling`).
        disabled_passes: names of passes that only optimise (``loopc-opt
            --print-passes``) and are left out: to find faults of the compiler.
        custom_ops: paths of shared libraries of custom operators; an object refers to
            the variables of their descriptions, which the program links.

    Returns:
        Warnings and remarks.

    Raises:
        CompileError: the model is invalid or not supported, or a file cannot be
            read or written.
        InvalidArgument: an argument is wrong.
    """
    stage = _loopc.emit_from_name(emit) if isinstance(emit, str) and emit.isascii() else 0
    if stage == 0:
        raise InvalidArgument(f"emit: there is no stage {emit!r}")
    file = file_name("output", output)
    options: dict[str, Any] = {
        "target": text("target", target),
        "cpu": text("cpu", cpu),
        "features": text("features", features),
        "chip": text("chip", chip),
        "allow_tf32": int(flag("allow_tf32", allow_tf32)),
        "cublas": text("cublas", cublas),
        "opt_level": compile_level(opt_level),
        "name": text("name", name),
        "dims": extents_by_name(dims),
        "shapes": shapes_by_name(shapes),
        "states": states_by_name(states),
        "ort_compat": int(flag("ort_compat", ort_compat)),
        "fp_contract": int(flag("fp_contract", fp_contract)),
        "weights": text("weights", weights),
        "base_directory": folder("base_directory", base_directory),
        "verify": int(flag("verify", verify)),
        "check_accesses": int(flag("check_accesses", check_accesses)),
        "profile": int(flag("profile", profile)),
        "disabled_passes": names("disabled_passes", disabled_passes),
        "custom_ops": names("custom_ops", custom_ops),
    }
    network = network_of(model)
    path, data = (None, None) if network is not None else model_source(model)
    if network is not None:
        status, raw = _loopc.compile_network(network, stage, file, options)
    elif path is not None:
        status, raw = _loopc.compile_file(path, stage, file, options)
    else:
        assert data is not None
        status, raw = _loopc.compile_bytes(data, stage, file, options)
    if status != 0:
        raise compile_error(diagnostics_of(raw), path)
    return diagnostics_of(raw)
