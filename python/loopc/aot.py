# ===- aot.py - Running models that the command compiled --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The way ahead of time: the command ``loopc``, a shared library, a session over it.

It gives the same answers as `loopc.InferenceSession`; tests use it to see that.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopc._errors import CompileError, Diagnostic, InvalidArgument, Severity
from loopc._options import Model, RunOptions, SessionOptions, model_source
from loopc._paths import find_program
from loopc._session import InferenceSession, load

_ERROR = re.compile(r"(?:(?P<location>.*?): )?error: (?:(?P<code>LC\d{4}): )?(?P<message>.*)$")


def find_compiler() -> Path:
    """The command ``loopc``: $LOOPC, that of this build or this Python, or the first on PATH."""
    named = os.environ.get("LOOPC")
    if named:
        return Path(named)
    return Path(find_program("loopc"))


def _parse(stderr: str) -> list[Diagnostic]:
    diagnostics = []
    for line in stderr.splitlines():
        match = _ERROR.match(line)
        if match:
            diagnostics.append(
                Diagnostic(
                    Severity.ERROR,
                    match["code"] or "",
                    match["location"] or "",
                    match["message"],
                    line,
                )
            )
    return diagnostics


def compile_shared(
    model: Model, directory: str | os.PathLike[str], flags: Sequence[str] = ()
) -> Path:
    """Compiles `model` by the command into ``model.so`` in `directory`.

    Args:
        model: path, bytes or onnx.ModelProto. External data must lie beside a
            path; bytes may have none.
        directory: an existing folder, for the library and its header.
        flags: more arguments of the command ("-O1", "--dim=batch=1").

    Returns:
        The library.

    Raises:
        CompileError: the command failed.
    """
    folder = Path(directory)
    path, data = model_source(model)
    if data is not None:
        source = folder / "model.onnx"
        source.write_bytes(data)
        path = os.fsencode(source)
    assert path is not None
    library = folder / "model.so"
    command: list[str | Path] = [find_compiler(), Path(os.fsdecode(path))]
    command += ["--emit=shared", "-o", library, *flags]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        said = done.stderr.strip() or f"the command ended with status {done.returncode}"
        raise CompileError(said, _parse(done.stderr))
    return library


def session(
    model: Model, flags: Sequence[str] = (), sess_options: SessionOptions | None = None
) -> InferenceSession:
    """Compiles `model` by the command and loads it."""
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        # A library that is loaded does not need its file any more.
        return load(compile_shared(model, folder, flags), sess_options=sess_options)


def run_model(
    model: Model,
    inputs: Sequence[Any] | Mapping[str, Any],
    flags: Sequence[str] = (),
    run_options: RunOptions | None = None,
) -> list[Any]:
    """Compiles `model` by the command, loads it and runs it.

    Args:
        model: path, bytes or onnx.ModelProto.
        inputs: the inputs in order or by name.
        flags: more arguments of the command.
        run_options: how to run.

    Returns:
        All outputs in order.
    """
    made = session(model, flags)
    return made.run(None, feeds_of(made, inputs), run_options)


def feeds_of(made: InferenceSession, inputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Inputs in order or by name, by name."""
    if isinstance(inputs, Mapping):
        return dict(inputs)
    ports = made.get_inputs()
    if len(inputs) != len(ports):
        raise InvalidArgument(f"expected {len(ports)} inputs, got {len(inputs)}")
    return {port.name: value for port, value in zip(ports, inputs, strict=True)}
