# ===- products.py - Products of matrices on a GPU --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times products of matrices on the first GPU, beside torch and JAX.

    products.py [--extents 4096x4096x4096,...] [--dtypes float32,...] [--seconds 0.5]

Matrices lie on the device, and a time is that of a call until its result is
there: the shortest of many. A row: rows x columns x length of the sum, the element
type, and for each engine that is installed 10^12 operations a second. torch and
JAX are not left to round float32 to tf32; loopc is where the column says so.
Exit status 1 where there is no device, or a result is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnx.parser

EXTENTS = (
    "4096x4096x4096,1024x1024x1024,512x512x512,4096x4096x64,1000x1000x1000,8x4096x1024,1x4096x4096"
)
DTYPES = {
    "float32": ("float", np.float32, 1e-4),
    "float16": ("float16", np.float16, 2e-3),
    "bfloat16": ("bfloat16", ml_dtypes.bfloat16, 2e-2),
    "float64": ("double", np.float64, 1e-11),
}
Engine = Callable[[np.ndarray, np.ndarray, str], Callable[[], Any]]


def _loopc(x: np.ndarray, w: np.ndarray, dtype: str, *, allow_tf32: bool = False) -> Any:
    name = DTYPES[dtype][0]
    ports = f"({name}{list(x.shape)} x, {name}{list(w.shape)} w) => ({name}[M, N] y)"
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> product {ports} {{ y = MatMul(x, w) }}'
    )
    session = loopc.InferenceSession(
        model, device="cuda:0", device_outputs=True, allow_tf32=allow_tf32
    )
    feeds = {
        key: loopc.OrtValue.ortvalue_from_numpy(value, "cuda", 0)
        for key, value in (("x", x), ("w", w))
    }
    return lambda: session.run(None, feeds)[0]


def _loopc_tf32(x: np.ndarray, w: np.ndarray, dtype: str) -> Any:
    return _loopc(x, w, dtype, allow_tf32=True)


def _torch(x: np.ndarray, w: np.ndarray, dtype: str) -> Any:
    # Not known to the checks where it is not installed.
    torch: Any = importlib.import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    kind = getattr(torch, dtype)
    # numpy has no bfloat16 that torch knows.
    wide = np.float64 if dtype == "float64" else np.float32
    left, right = (torch.from_numpy(v.astype(wide)).to("cuda", kind) for v in (x, w))

    def run() -> Any:
        product = left @ right
        torch.cuda.synchronize()
        return product

    return run


def _jax(x: np.ndarray, w: np.ndarray, dtype: str) -> Any:
    # Most of the memory would be its own.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    device = jax.devices("gpu")[0]
    left, right = jax.device_put(x, device), jax.device_put(w, device)
    product = jax.jit(lambda a, b: jax.numpy.matmul(a, b, precision="highest"))
    return lambda: product(left, right).block_until_ready()


ENGINES: dict[str, Engine] = {
    "loopc": _loopc,
    "loopc-tf32": _loopc_tf32,
    "torch": _torch,
    "jax": _jax,
}


def _as_numpy(value: Any) -> np.ndarray:
    if hasattr(value, "cpu"):
        value = value.cpu().double()
    if hasattr(value, "numpy"):
        value = value.numpy()
    return np.asarray(value).astype(np.float64)


def _time(run: Callable[[], Any], seconds: float) -> float:
    end = time.perf_counter() + seconds
    best = float("inf")
    while True:
        begin = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - begin)
        if now > end:
            return best


def _measure(
    extents: Sequence[int], dtype: str, engines: Sequence[str], seconds: float
) -> tuple[str, bool]:
    """A row of the table, and whether all results were right."""
    rows, columns, depth = extents
    _, kind, rtol = DTYPES[dtype]
    random = np.random.default_rng(0)
    x, w = (random.random(shape).astype(kind) for shape in ((rows, depth), (depth, columns)))
    # The first rows tell.
    want = x[:4].astype(np.float64) @ w.astype(np.float64)
    cells, right = [], True
    for engine in engines:
        if engine == "loopc-tf32" and dtype != "float32":
            cells.append("")
            continue
        try:
            run = ENGINES[engine](x, w, dtype)
            got = _as_numpy(run())[:4]
        except Exception as error:  # Engines' errors have no common base.
            cells.append("fails")
            print(f"{engine}: {type(error).__name__}: {error}", file=sys.stderr)
            right &= not engine.startswith("loopc")
            continue
        limit = 2e-3 if engine == "loopc-tf32" else rtol
        if not np.allclose(got, want, rtol=limit):
            cells.append("wrong")
            right &= not engine.startswith("loopc")
            continue
        cells.append(f"{2e-12 * rows * columns * depth / _time(run, seconds):.3f}")
    name = "x".join(map(str, extents))
    return f"{name:>18} {dtype:>9}" + "".join(f"{cell:>12}" for cell in cells), right


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--extents", default=EXTENTS, help="rows x columns x sum, with commas")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="with commas")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each time")
    options = parser.parse_args(argv)
    try:
        products = [[int(n) for n in text.split("x")] for text in options.extents.split(",")]
    except ValueError as error:
        parser.error(f"--extents: {error}")
    dtypes = options.dtypes.split(",")
    if any(len(extents) != 3 or min(extents) < 1 for extents in products):
        parser.error("--extents: three positive numbers each")
    if unknown := set(dtypes) - set(DTYPES):
        parser.error(f"--dtypes: unknown: {', '.join(sorted(unknown))}")
    if "CUDAExecutionProvider" not in loopc.get_available_providers():
        print("there is no CUDA driver, or no device (see docs/GPU.md)", file=sys.stderr)
        return 1
    engines = [name for name in ENGINES if importlib.util.find_spec(name.split("-")[0])]
    print(f"{'product':>18} {'type':>9}" + "".join(f"{name:>12}" for name in engines))
    right = True
    for extents in products:
        for dtype in dtypes:
            row, is_right = _measure(extents, dtype, engines, options.seconds)
            print(row, flush=True)
            right &= is_right
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
