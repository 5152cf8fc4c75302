# ===- peers.py - What runs the models that are timed ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc, its peers and the hand-written limit behind one function each.

An engine is ``open_...(key, benchmark, threads)``, which returns a function
from feeds to outputs, or raises `Unable` with the reason why there is no such
function. Each engine is imported in a process of its own (worker.py), whose
affinity allows for as many processors as there are threads.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from models_basic import Benchmark, Feeds, Outputs

Run = Callable[[Feeds], Outputs]

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = HERE / "limits"


class Unable(Exception):  # noqa: N818 (not a fault)
    """This engine has nothing for this model; the message says why."""


# ---------------------------------------------------------------- engines


def open_loopc(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The model, compiled in process."""
    import loopc

    options = loopc.SessionOptions(intra_op_num_threads=threads, fp_contract=benchmark.contract)
    session = loopc.InferenceSession(benchmark.model.SerializeToString(), sess_options=options)
    return lambda feeds: session.run(None, feeds)


def open_loopc_cuda(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The model on the first GPU; its inputs come from the host, its outputs go there."""
    import loopc

    session = loopc.InferenceSession(benchmark.model.SerializeToString(), device="cuda:0")
    return lambda feeds: session.run(None, feeds)


def open_onnxruntime_cuda(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The same on the GPU, as far as onnxruntime has kernels for it."""
    import onnxruntime

    provider = "CUDAExecutionProvider"
    if provider not in onnxruntime.get_available_providers():
        raise Unable(f"this onnxruntime has no {provider}")
    session = onnxruntime.InferenceSession(
        benchmark.model.SerializeToString(), providers=[provider, "CPUExecutionProvider"]
    )
    return lambda feeds: session.run(None, feeds)


def open_jax_cuda(key: str, benchmark: Benchmark, threads: int) -> Run:
    """JAX on its first GPU."""
    import jax

    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as error:
        raise Unable(f"JAX has no GPU: {error}") from error
    jax.config.update("jax_default_device", device)
    return open_jax(key, benchmark, threads)


def open_torch_cuda(way: str) -> Callable[[str, Benchmark, int], Run]:
    """What a user of torch would write for the model (torch_models.py), on its first GPU."""

    def open_way(key: str, benchmark: Benchmark, threads: int) -> Run:
        import torch_models

        if not torch_models.torch.cuda.is_available():
            raise Unable("this torch has no GPU")
        run = torch_models.find(key, way)
        if run is None:
            raise Unable("there is no counterpart, or it cannot be run that way")
        return run

    return open_way


def open_onnxruntime(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The same model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        benchmark.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda feeds: session.run(None, feeds)


def open_openvino(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The same model, in float32, for one request at a time."""
    import openvino

    config = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "ENABLE_CPU_PINNING": False,
    }
    core = openvino.Core()
    try:
        model = core.read_model(benchmark.model.SerializeToString(), b"")
        request = core.compile_model(model, "CPU", config).create_infer_request()
    except RuntimeError as error:
        raise Unable(_openvino_reason(str(error))) from error
    names = [value.name for value in benchmark.model.graph.input]

    def run(feeds: Feeds) -> Outputs:
        # As a list: OpenVINO may rename what ONNX calls an input.
        result = request.infer([feeds[name] for name in names], share_inputs=True)
        return [np.array(value) for value in result.values()]

    return run


def open_iree(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The same model through IREE's importer for ONNX, for this processor."""
    from iree import runtime
    from iree.compiler import tools

    with tempfile.TemporaryDirectory() as folder:
        model, code = pathlib.Path(folder, "model.onnx"), pathlib.Path(folder, "model.mlir")
        model.write_bytes(benchmark.model.SerializeToString())
        importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx"]
        done = subprocess.run(
            [*importer, str(model), "-o", str(code)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Unable(_iree_reason(done.stderr))
        try:
            compiled = tools.compile_file(
                str(code),
                input_type="onnx",
                target_backends=["llvm-cpu"],
                extra_args=["--iree-llvmcpu-target-cpu=host"],
            )
        except tools.CompilerToolError as error:
            raise Unable(_iree_reason(str(error))) from error
    config = runtime.Config("local-sync" if threads == 1 else "local-task")
    context = runtime.SystemContext(config=config)
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, compiled))
    function = context.modules.module[benchmark.model.graph.name]
    names = [value.name for value in benchmark.model.graph.input]

    def run(feeds: Feeds) -> Outputs:
        results = function(*(feeds[name] for name in names))
        several = results if isinstance(results, (list, tuple)) else [results]
        return [result.to_host() for result in several]

    return run


def _iree_reason(text: str) -> str:
    """The first error in what IREE says, without the code that it is about."""
    missing = re.search(r"failed to legalize operation .*?name = \"(onnx\.\w+)\"", text, re.DOTALL)
    if missing:
        return f"it does not lower {missing[1]}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.partition("error:")[2].strip() for line in lines if "error:" in line]
    return (errors or lines[-1:] or ["it says nothing"])[0][:300]


def _openvino_reason(text: str) -> str:
    """What OpenVINO says between the layers that hand its errors on."""
    frames = ("Exception from", "Check ", "FrontEnd API failed", "Model wasn't", "Summary", "--")
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith((*frames, "While validating"))]
    return " ".join(kept)[:300] or text[:300]


def open_jax(key: str, benchmark: Benchmark, threads: int) -> Run:
    """What a user of JAX would write for the model (jax_models.py), compiled."""
    import jax
    import jax_models

    jax.config.update("jax_enable_x64", True)
    run = jax_models.find(key)
    if run is None:
        raise Unable("there is no counterpart with shapes that are known before the run")
    return run


def open_loopc_jax(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The function of jax_models.py, compiled by loopc."""
    import jax_models
    import loopc

    options = loopc.SessionOptions(intra_op_num_threads=threads, fp_contract=benchmark.contract)
    types = [output_dtype(value) for value in benchmark.model.graph.output]
    run = jax_models.find_compiled_by_loopc(key, benchmark.feeds, types, options)
    if run is None:
        raise Unable("there is no counterpart with shapes that are known before the run")
    return run


# ---------------------------------------------------------------- the limit

MAX_RANK = 8


class Tensor(ctypes.Structure):
    """`Tensor` of limits/limit.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.c_int64 * MAX_RANK),
    )


#: Rounds by which the fastest code is found.
LIMIT_ROUNDS = 3
#: Bits of the vectors that a compiler prefers: wider ones are not always faster.
VECTOR_BITS = (256, 512)


def _compilers() -> list[str]:
    """Of which the better one is the limit: CXX alone, or Clang and GCC."""
    if chosen := os.environ.get("CXX"):
        return [chosen]
    found = [path for name in ("clang++-22", "g++") if (path := shutil.which(name))]
    if not found and (other := shutil.which("c++")):
        found = [other]
    if not found:
        raise Unable("there is no C++ compiler (CXX)")
    return found


def _compile_limit(source: pathlib.Path, compiler: str, bits: int) -> pathlib.Path:
    """The shared library of a source, made anew where anything has changed."""
    flags = ["-std=c++20", "-O3", "-march=native", f"-mprefer-vector-width={bits}"]
    flags += ["-shared", "-fPIC", "-Wno-psabi", "-Wno-unknown-pragmas"]
    headers = sorted(LIMITS.glob("*.h"))
    text = b"".join(file.read_bytes() for file in (source, *headers))
    # Another machine has other instructions.
    features = pathlib.Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0]
    about = f"{compiler} {flags} {features}"
    digest = hashlib.sha256(text + about.encode()).hexdigest()[:16]
    build = pathlib.Path(os.environ.get("LOOPC_BUILD", HERE.parent / "build")) / "benchmarks"
    library = build / f"{source.stem}-{digest}.so"
    if not library.exists():
        build.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, *flags, str(source), "-o", str(made)], check=True)
        made.replace(library)
    return library


def _limit_of(key: str) -> pathlib.Path | None:
    """The source for a model: `rnn_cell_b16` is `rnn_cell.cpp`'s."""
    for source in (LIMITS / f"{key}.cpp", LIMITS / f"{key.rpartition('_')[0]}.cpp"):
        if source.exists():
            return source
    return None


def open_limit(key: str, benchmark: Benchmark, threads: int) -> Run:
    """The same computation by hand in C++ (limits/), with one thread.

    By the compiler and the width of vectors that take the least time here.
    """
    source = _limit_of(key)
    if source is None:
        raise Unable("nobody has written it by hand")
    if threads > 1:
        raise Unable("written for one thread")
    runs = [
        _load_limit(_compile_limit(source, compiler, bits), benchmark)
        for compiler in _compilers()
        for bits in VECTOR_BITS
    ]
    return min(runs, key=lambda run: _time_limit(run, benchmark))


def _time_limit(run: Run, benchmark: Benchmark) -> float:
    """Seconds of a benchmark, the least of some rounds."""
    times = []
    for _ in range(LIMIT_ROUNDS):
        start = time.perf_counter()
        if benchmark.drive:
            benchmark.drive(run, benchmark.feeds)
        else:
            run(benchmark.feeds)
        times.append(time.perf_counter() - start)
    return min(times)


def _load_limit(path: pathlib.Path, benchmark: Benchmark) -> Run:
    library = ctypes.CDLL(str(path))
    library.limit.argtypes = (ctypes.POINTER(Tensor), ctypes.POINTER(Tensor))
    library.limit.restype = None
    names = [value.name for value in benchmark.model.graph.input]
    types = [output_dtype(value) for value in benchmark.model.graph.output]

    def run(feeds: Feeds) -> Any:
        given = [np.ascontiguousarray(feeds[name]) for name in names]
        inputs = (Tensor * len(given))()
        for tensor, array in zip(inputs, given, strict=True):
            tensor.data = array.ctypes.data
            tensor.rank = array.ndim
            tensor.shape[: array.ndim] = array.shape
        outputs = (Tensor * len(types))()
        library.limit(inputs, outputs)
        return [_Memory(tensor, dtype) for tensor, dtype in zip(outputs, types, strict=True)]

    return run


def output_dtype(value: Any) -> np.dtype[Any]:
    """The numpy type of an output of a model."""
    import onnx

    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))


class _Memory:
    """An array in memory of malloc, which is freed with this object."""

    _free = ctypes.CDLL(None).free
    _free.argtypes = (ctypes.c_void_p,)

    def __init__(self, tensor: Tensor, dtype: np.dtype[Any]) -> None:
        self._address = tensor.data
        self._shape = tuple(tensor.shape[: tensor.rank])
        self._dtype = dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        count = int(np.prod(self._shape, dtype=np.int64))
        memory = ctypes.string_at(self._address, count * self._dtype.itemsize)
        return np.frombuffer(memory, self._dtype).reshape(self._shape)

    def __del__(self) -> None:
        self._free(self._address)


# ---------------------------------------------------------------- the table

ENGINES: dict[str, Callable[[str, Benchmark, int], Run]] = {
    "loopc": open_loopc,
    "onnxruntime": open_onnxruntime,
    "openvino": open_openvino,
    "jax": open_jax,
    "iree": open_iree,
    "limit": open_limit,
}

# With --gpu.
GPU_ENGINES: dict[str, Callable[[str, Benchmark, int], Run]] = {
    "loopc-cuda": open_loopc_cuda,
    "onnxruntime-cuda": open_onnxruntime_cuda,
    "jax-cuda": open_jax_cuda,
    "torch-cuda": open_torch_cuda("eager"),
    "torch-compile-cuda": open_torch_cuda("compile"),
    "torch-graph-cuda": open_torch_cuda("graph"),
}

# Only where they are asked for.
FRONT_ENDS: dict[str, Callable[[str, Benchmark, int], Run]] = {
    "loopc-jax": open_loopc_jax,
}

ALL_ENGINES = ENGINES | FRONT_ENDS | GPU_ENGINES

TITLES = {
    "loopc-cuda": "loopc, GPU",
    "onnxruntime-cuda": "onnxruntime, GPU",
    "jax-cuda": "JAX, GPU",
    "torch-cuda": "torch, GPU",
    "torch-compile-cuda": "torch.compile, GPU",
    "torch-graph-cuda": "torch, CUDA graph",
    "loopc-jax": "loopc, from JAX",
    "loopc": "loopc",
    "onnxruntime": "onnxruntime",
    "openvino": "OpenVINO",
    "jax": "JAX",
    "iree": "IREE",
    "limit": "C++ by hand",
}


def version_of(engine: str) -> str | None:
    """The version that is installed; None where there is none."""
    if engine == "limit":
        return "limits/*.cpp"
    if engine in GPU_ENGINES:
        return version_of(engine.removesuffix("-cuda").partition("-")[0])
    if engine == "loopc-jax":
        found = version_of("jax2onnx")
        return found and f"by jax2onnx {found}"
    if engine == "loopc":
        try:
            import loopc
        except ImportError:
            return None
        return loopc.__version__
    try:
        return importlib.metadata.version("iree-base-compiler" if engine == "iree" else engine)
    except importlib.metadata.PackageNotFoundError:
        return None
