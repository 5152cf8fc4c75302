# ===- _doctor.py - What is wrong with an installation ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``python -m loopc doctor``: checks of this installation."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from loopc import _loopc
from loopc._errors import Error
from loopc._options import SessionOptions
from loopc._paths import find_program, get_include, get_library_dirs
from loopc._session import InferenceSession

#: Powers of two, by a loop.
_MODEL = """<ir_version: 10, opset_import: ["" : 21]>
doctor (int64 n, float[K] x) => (float[K] y) {
  y = Loop (n, "", x) <body = step (int64 i, bool c, float[K] a) => (bool c, float[K] b) {
    b = Add (a, a)
  }>
}
"""


class _Problem(Exception):  # noqa: N818
    """What is wrong, and what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}\n       {remedy}")


def _program(name: str) -> str:
    try:
        program = find_program(name)
    except Error as error:
        raise _Problem(
            str(error), "install the wheel again; in a source tree: ./dev build"
        ) from None
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _Problem(
            f"{program} does not start: {done.stderr.strip()}",
            "libraries beside it are missing or of another version: install the wheel again",
        )
    if _loopc.version() not in done.stdout:
        raise _Problem(
            f"{program} is of another version: {done.stdout.strip()}",
            "PATH or LOOPC names an older one: remove it",
        )
    return program


def _headers() -> str:
    try:
        return f"{get_include()}, {get_library_dirs()[0]}"
    except Error as error:
        raise _Problem(str(error), "objects cannot be linked; install the wheel again") from None


def _run_model(cache: str | None) -> float:
    """Makes a session of a small model, runs it and returns the seconds until it was ready."""
    options = SessionOptions(cache_dir=cache, progress=False)
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        path = Path(folder) / "doctor.onnxtxt"
        path.write_text(_MODEL)
        begin = time.monotonic()
        session = InferenceSession(path, options)
        seconds = time.monotonic() - begin
        (y,) = session.run(None, {"n": np.array(3), "x": np.ones(4, np.float32)})
    if not np.array_equal(y, np.full(4, 8, np.float32)):
        raise _Problem(f"a model gives {y} and not 8", "please report it, with this output")
    return seconds


def _compile() -> str:
    try:
        return f"ready after {_run_model('off'):.1f} s, and the result is right"
    except Error as error:
        raise _Problem(f"a model cannot be compiled and run: {error}", _remedy(error)) from None


def _remedy(error: Error) -> str:
    if "LC0100" in str(error):
        return "the compiler ended early: is there memory, and is the folder for files writable?"
    return "please report it, with this output"


def _cache() -> str:
    folder = os.environ.get("LOOPC_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "loopc"
    )
    if folder == "off":
        return "LOOPC_CACHE_DIR=off: each session compiles its model anew"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise _Problem(
            f"{folder}: {error.strerror}: each session compiles its model anew",
            "set LOOPC_CACHE_DIR to a folder that you can write to",
        ) from None
    about = os.stat(folder)
    if about.st_uid != os.getuid() or about.st_mode & 0o022:
        raise _Problem(
            f"{folder} belongs to somebody else, or others can write to it",
            f"chmod go-w {folder}, or set LOOPC_CACHE_DIR to a folder of your own",
        )
    free = shutil.disk_usage(folder).free
    if free < 100 << 20:
        raise _Problem(f"{folder}: {free >> 20} MB are free", "loopc cache clear, or make room")
    _run_model(None)
    return f"{folder}: a known model is ready after {1000 * _run_model(None):.0f} ms"


def _device() -> str:
    count, reason = _loopc.device_count()
    return f"{count} GPUs" if count else f"no GPU: {reason}; models run on the CPU"


def doctor() -> int:
    """Prints what was found; returns the exit status."""
    print(f"     loopc {_loopc.version()}: {Path(__file__).parent}")
    print(f"     Python {platform.python_version()}: {sys.executable}")
    print(f"     {platform.platform()}, {platform.machine()}, {os.cpu_count()} CPUs")
    checks: list[tuple[str, Callable[[], str]]] = [
        ("the command loopc", lambda: _program("loopc")),
        ("the command loopc-run", lambda: _program("loopc-run")),
        ("headers and libraries", _headers),
        ("compiling and running", _compile),
        ("cache", _cache),
        ("GPU", _device),
    ]
    failures = 0
    for name, check in checks:
        try:
            print(f"ok   {name}: {check()}")
        except _Problem as problem:
            failures += 1
            print(f"FAIL {name}: {problem}")
    return 1 if failures else 0
