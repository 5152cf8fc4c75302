# ===- _tensorrt_elsewhere.py - Names of TensorRT that are not there ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What stands in the place of TensorRT's names that loopc.tensorrt does not have."""

from __future__ import annotations

from fnmatch import fnmatchcase

_BINDINGS = (
    "TensorRT 10 has no bindings with numbers: use get_tensor_name(), get_tensor_shape(), "
    "set_input_shape(), set_tensor_address() and execute_async_v3()"
)
_BUILDS = "build_serialized_network() builds engines, as in TensorRT 10"
_EXPLAIN = "`loopc explain MODEL` shows what becomes of a model"
_MEMORY = "memory is that of the host, and a run takes what it needs"
_PLUGINS = "plugins are custom operators here (docs/CustomOperators.md)"
_PROFILE = "loopc-run --profile and loopc.SessionOptions.enable_profiling measure layers"
_QUANTISED = "models are quantised by their own layers"
_REFITTED = "weights are part of an engine: build it again"
_STREAMED = "an engine is read and written as bytes"

#: By names, or patterns of names; the first that fits counts.
_ELSEWHERE = {
    "*binding*": _BINDINGS,
    "execute_async_v2": _BINDINGS,
    "execute_async": _BINDINGS,
    "execute": _BINDINGS,
    "get_shape": _BINDINGS,
    "set_shape_input": "values of inputs are read at their addresses",
    "build_engine": _BUILDS,
    "build_cuda_engine": _BUILDS,
    "max_workspace_size": "set_memory_pool_limit(MemoryPoolType.WORKSPACE, size)",
    "max_batch_size": "extents of inputs and optimization profiles say the sizes of batches",
    "fp16_mode": "BuilderFlag.FP16 permits it; a model keeps its types",
    "int8_mode": _QUANTISED,
    "*alibrat*": _QUANTISED,
    "dynamic_range": _QUANTISED,
    "num_layers": _EXPLAIN,
    "create_engine_inspector": _EXPLAIN,
    "EngineInspector": _EXPLAIN,
    "LayerInformationFormat": _EXPLAIN,
    "*rofiler": _PROFILE,
    "report_to_profiler": _PROFILE,
    "*lugin*": _PLUGINS,
    "*efit*": _REFITTED,
    "*tream*": _STREAMED,
    "load_model_proto": "parse() reads a model",
    "parse_with_weight_descriptors": "parse() reads a model with its weights",
    "IGpuAllocator": _MEMORY,
    "IGpuAsyncAllocator": _MEMORY,
    "temporary_allocator": _MEMORY,
    "IErrorRecorder": "an ILogger is told what is wrong",
    "mark_debug": "mark_output() shows what a layer computes",
}


def elsewhere(name: str) -> str:
    """What stands in the place of a name; "" where nothing is known."""
    return next((text for one, text in _ELSEWHERE.items() if fnmatchcase(name, one)), "")
