# ===- __main__.py - python -m loopc ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``python -m loopc``: compiles, runs and times models, and looks for what is wrong."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loopc import _loopc
from loopc._doctor import doctor
from loopc._errors import Error
from loopc._paths import find_program

_USAGE = """usage: python -m loopc COMMAND [OPTIONS]

Compiles models with loops to native code, and runs them.

commands:
  compile   make an object, a C header or a shared library of a model
  run       run a model with given or random inputs
  bench     time a model
  explain   say what becomes of each loop of a model and why, or what an error means
  cache     list, measure, clear or fill the cache of compiled models
  doctor    check this installation, and say what to do about what is wrong

`python -m loopc COMMAND --help` explains a command. `python -m loopc --version`
prints the version.
"""

_COMPILE = """usage: python -m loopc compile MODEL [OPTIONS]

Compiles a model (.onnx, .onnxtxt, OpenVINO's .xml, .mlir) into an object and a C
header, or into what --emit says:

  python -m loopc compile model.onnx -o model.o             an object and model.h
  python -m loopc compile model.onnx --emit=shared -o model.so   for loopc.load
  python -m loopc compile model.onnx --dim=batch=1 --state=h=hn -o model.o

It is the command `loopc`, with these options:

"""

_RUN = """usage: python -m loopc run MODEL [OPTIONS]

Runs a model, or a shared library that was compiled of one, and prints its outputs:

  python -m loopc run model.onnx                            random inputs
  python -m loopc run model.onnx --input=x=[[1,2]] --input=n=3
  python -m loopc run model.onnx --inputs=in.npz --output=out.npz

It is the command `loopc-run`, with these options:

"""

_BENCH = """usage: python -m loopc bench MODEL [OPTIONS]

Times runs of a model for two seconds (--bench=N: N runs, --bench=10s: ten seconds)
and prints the least, median and mean time of a run, its allocations and its memory:

  python -m loopc bench model.onnx --dim=batch=8 --threads=2

Inputs are random unless --input or --inputs says otherwise; extents that are open are 1.
It is the command `loopc-run`, with these options:

"""

_EXPLAIN = """usage: python -m loopc explain MODEL|CODE [OPTIONS]

Says what becomes of each loop of a model, and why: whether the number of iterations
is known, where carried values live, vectors, threads, allocations. Or what an error
means, and what to do about it:

  python -m loopc explain model.onnx
  python -m loopc explain model.onnx --svg=loops.svg
  python -m loopc explain LC0303

It is the command `loopc explain`, with these options:

"""

_CACHE = """usage: python -m loopc cache list|size|clear|warm [OPTIONS]

Looks after the cache of compiled models, by which the next session of a model is ready
in a millisecond or two:

  python -m loopc cache list                  what is in it, unused ones first
  python -m loopc cache size                  how much of the disk it takes
  python -m loopc cache warm model.onnx       compile before it is needed
  python -m loopc cache clear                 remove everything

It is the command `loopc cache`, with these options:

"""

_DOCTOR = """usage: python -m loopc doctor

Checks this installation: programs, libraries, the cache of compiled models, and a
model that is compiled and run. Each line begins with "ok", or with "FAIL" and says
what to do. The exit status is 1 where something failed, else 0.
"""


@dataclass(frozen=True)
class _Tool:
    """A command that is a program of loopc's."""

    program: str
    text: str
    arguments: Callable[[list[str]], list[str]] = list


def _bench_arguments(given: list[str]) -> list[str]:
    is_told = any(one.lstrip("-").split("=")[0] == "bench" for one in given)
    return ["--quiet", "--stats", *([] if is_told else ["--bench=2s"]), *given]


def _explain_arguments(given: list[str]) -> list[str]:
    return ["explain", *given]


def _cache_arguments(given: list[str]) -> list[str]:
    return ["cache", *given]


_TOOLS = {
    "compile": _Tool("loopc", _COMPILE),
    "run": _Tool("loopc-run", _RUN),
    "bench": _Tool("loopc-run", _BENCH, _bench_arguments),
    "explain": _Tool("loopc", _EXPLAIN, _explain_arguments),
    "cache": _Tool("loopc", _CACHE, _cache_arguments),
}


def _become(tool: _Tool, given: list[str]) -> int:
    program = find_program(tool.program)
    arguments = tool.arguments(given)
    if {"--help", "-help", "-h"} & set(given):
        print(tool.text, end="", flush=True)
        arguments = [*tool.arguments([]), "--help"]
    # There is none where the caller closed it.
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        os.execv(program, [tool.program, *arguments])
    except OSError as error:
        raise Error(f"cannot start {program!r}: {error.strerror}") from None


def main(arguments: Sequence[str]) -> int:
    """The command; returns its exit status."""
    command, *rest = arguments or ["--help"]
    if command in ("--help", "-h", "help"):
        print(_USAGE, end="")
        return 0 if arguments else 2
    if command == "--version" and not rest:
        print(f"loopc {_loopc.version()}")
        return 0
    if command == "doctor":
        if not rest:
            return doctor()
        print(_DOCTOR, end="")
        return 0 if rest in (["--help"], ["-h"]) else 2
    if command not in _TOOLS:
        known = ", ".join([*_TOOLS, "doctor"])
        print(f"loopc: error: there is no command {command!r}; there are: {known}", file=sys.stderr)
        return 2
    try:
        return _become(_TOOLS[command], rest)
    except Error as error:
        print(f"loopc: error: {error}", file=sys.stderr)
        return 3


def _run(arguments: Sequence[str]) -> int:
    """As `main`, with a standard output that takes nothing being a file like others."""
    try:
        status = main(arguments)
        # Closed when the program began: what is printed is lost, as Python has it.
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        print(f"loopc: error: cannot write to the standard output: {error.strerror}",
              file=sys.stderr)  # fmt: skip
        # What is still buffered would be written at the end, and fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 3
    return status


if __name__ == "__main__":
    # A pipe that is closed ends the command as it ends other programs.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(_run(sys.argv[1:]))
