# ===- other_machine.py - Models that run on another machine ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compiles models for AArch64 and runs them under qemu, or on such a machine itself.

The program around a model is Inputs/run_model.cpp. Both ends write numbers as 64 bits, least
significant byte first. An input is its kind (0: none) and then a tensor (rank, extents, count of
bytes, bytes) or strings (rank, extents, count, and the size and bytes of each); an output is as
loopc_value has it: a tensor's type is in front of it.
"""

from __future__ import annotations

import fcntl
import functools
import io
import math
import pathlib
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
TARGET = "aarch64-linux-gnu"
_RUNTIME_FLAGS = (
    "-std=c++20 -O1 -fPIC -fno-exceptions -fno-rtti -fno-threadsafe-statics -mno-outline-atomics "
    '-DLOOPC_VERSION="test" -Iinclude'
).split()  # fmt: skip

_TENSOR, _STRINGS, _SEQUENCE, _OPTIONAL = 1, 2, 3, 4
_NUMBERS = {0: "int", 1: "uint", 2: "float"}
#: By DLPack's codes; what is not listed is made of `_NUMBERS` and the count of bits.
_DTYPES: dict[int, Any] = {
    4: ml_dtypes.bfloat16,
    6: np.bool_,
    10: ml_dtypes.float8_e4m3fn,
    11: ml_dtypes.float8_e4m3fnuz,
    12: ml_dtypes.float8_e5m2,
    13: ml_dtypes.float8_e5m2fnuz,
    14: ml_dtypes.float8_e8m0fnu,
    17: ml_dtypes.float4_e2m1fn,
}


class RunFailedError(Exception):
    """What a run's error says."""


def is_there() -> bool:
    """Whether models can be compiled and run."""
    if platform.machine() == "aarch64":
        return True
    return bool(shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64"))


def _emulator() -> list[str]:
    here = platform.machine() == "aarch64"
    return [] if here else ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


@functools.cache
def prepare() -> pathlib.Path:
    """The folder of the runtime and the program, which are built where they are older.

    Processes that ask at once wait for the one that builds.
    """
    import loopc

    folder = pathlib.Path(loopc.__file__).parents[2] / "test" / TARGET
    folder.mkdir(parents=True, exist_ok=True)
    program = ROOT / "test/python/Inputs/run_model.cpp"
    runtime = sorted((ROOT / "lib/Runtime/CPU").glob("*.cpp"))
    headers = [*(ROOT / "include/loopc-rt").glob("*.h"), *(ROOT / "lib/Runtime").rglob("*.h")]
    newest = max(path.stat().st_mtime for path in [program, *runtime, *headers])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / "run_model"
        if not made.exists() or made.stat().st_mtime < newest:
            _build(folder, program, runtime)
    return folder


def _build(folder: pathlib.Path, program: pathlib.Path, runtime: Sequence[pathlib.Path]) -> None:
    prefix = "" if platform.machine() == "aarch64" else f"{TARGET}-"

    def call(*command: Any) -> None:
        subprocess.run([str(part) for part in command], cwd=ROOT, check=True)

    objects = []
    for source in runtime:
        objects.append(folder / f"{source.stem}.o")
        call(f"{prefix}g++", *_RUNTIME_FLAGS, "-c", source, "-o", objects[-1])
    library = folder / "libloopc_rt.a"
    library.unlink(missing_ok=True)
    call(f"{prefix}ar", "rcs", library, *objects)
    flags = ("-std=c++20", "-O1", "-Iinclude")
    call(f"{prefix}g++", *flags, program, "-ldl", "-o", folder / "run_model")


class Library:
    """A model that is compiled for the other machine.

    Args:
        content: the ONNX model.
        flags: of the command loopc.

    Raises:
        loopc.CompileError
    """

    def __init__(self, content: bytes, flags: Sequence[str] = ()) -> None:
        import loopc
        import loopc.aot
        import onnx

        self._made = prepare()
        self._folder = tempfile.TemporaryDirectory(prefix="loopc-")
        runtime = f"--runtime={self._made / 'libloopc_rt.a'}"
        every = [f"--target={TARGET}", runtime, "--name=model", *flags]
        self._path = loopc.aot.compile_shared(content, self._folder.name, every)
        graph = onnx.load_model_from_string(content).graph
        weights = {weight.name for weight in graph.initializer}
        self._inputs = [port.name for port in graph.input if port.name not in weights]
        self._outputs = len(graph.output)

    def run(self, feeds: dict[str, Any], threads: int = 1) -> list[Any]:
        """The outputs for inputs by name.

        Raises:
            RunFailedError: the run ends in an error.
        """
        given = io.BytesIO()
        for name in self._inputs:
            _write(given, feeds.get(name))
        command = [*_emulator(), self._made / "run_model", self._path, "model", str(threads)]
        done = subprocess.run(command, input=given.getvalue(), capture_output=True, check=False)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise RuntimeError(f"the process ended with {done.returncode}: {said}")
        written = io.BytesIO(done.stdout)
        if _number(written) != 0:
            raise RunFailedError(written.read(_number(written)).decode(errors="replace"))
        return [_read(written) for _ in range(self._outputs)]


def _numbers(to: io.BytesIO, *numbers: int) -> None:
    to.write(np.array(numbers, "<i8").tobytes())


def _number(written: io.BytesIO) -> int:
    return int(np.frombuffer(written.read(8), "<i8")[0])


def _write(to: io.BytesIO, value: Any) -> None:
    if value is None:
        _numbers(to, 0)
        return
    array = np.asarray(value)
    texts = array.dtype.kind in "OU"
    _numbers(to, _STRINGS if texts else _TENSOR, array.ndim, *array.shape)
    if texts:
        _numbers(to, array.size)
        for text in array.ravel():
            data = str(text).encode()
            _numbers(to, len(data))
            to.write(data)
        return
    _numbers(to, array.nbytes)
    to.write(array.tobytes())


def _read(written: io.BytesIO) -> Any:
    kind = _number(written)
    if kind == _SEQUENCE:
        return [_read(written) for _ in range(_number(written))]
    if kind == _OPTIONAL:
        return _read(written) if _number(written) else None
    code, bits = (_number(written), _number(written)) if kind == _TENSOR else (0, 0)
    shape = [_number(written) for _ in range(_number(written))]
    if kind == _STRINGS:
        texts = [written.read(_number(written)).decode() for _ in range(_number(written))]
        return np.array(texts, object).reshape(shape)
    data = written.read(_number(written))
    if bits < 8:
        return _unpacked(data, code, bits, shape)
    dtype = np.dtype(_DTYPES.get(code) or f"{_NUMBERS[code]}{bits}")
    return np.frombuffer(data, dtype).reshape(shape)


def _unpacked(data: bytes, code: int, bits: int, shape: Sequence[int]) -> Any:
    """Elements of less than a byte, the first one in the low bits."""
    whole = np.frombuffer(data, np.uint8)[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)
    flat = (whole & ((1 << bits) - 1)).astype(np.uint8).ravel()[: math.prod(shape)]
    dtype = np.dtype(_DTYPES.get(code) or getattr(ml_dtypes, f"{_NUMBERS[code]}{bits}"))
    if dtype == np.dtype(ml_dtypes.float4_e2m1fn):
        return flat.view(dtype).reshape(shape)
    signed = np.where(flat >> (bits - 1), flat.astype(np.int16) - (1 << bits), flat)
    return (signed if code == 0 else flat).astype(dtype).reshape(shape)
