# ===- ptxas.py - Kernels of all models, by the toolkit's assembler -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Has the CUDA toolkit's ptxas take the kernels of every model that is tested as kernels.

    ptxas.py                    all: ONNX's suite, the benchmarks, loop_operators, loop_models
    ptxas.py --share 3/50       the models 3, 53, 103, ...
    ptxas.py --filter REGEX     those whose name matches

Models are compiled for three generations of chips, those with loops for sm_90 in each form of
--device-loops. ptxas is LOOPC_PTXAS, or that of the toolkit. No GPU is needed.

Prints a line for each model that ptxas refuses, and in the end how many calls of it there were.
Exit status: 0; 1 where it refused one; 2 wrong usage, or no ptxas.
"""

from __future__ import annotations

import argparse
import collections
import functools
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("test/conformance", "test/python", "benchmarks"):
    sys.path.insert(0, str(ROOT / folder))

import onnx  # noqa: E402

Model = onnx.ModelProto | str
#: Chips, and the forms of loops that each is asked for.
FORMS = {
    "sm_80": ("auto",),
    "sm_90": ("auto", "cluster", "graph", "host"),
    "sm_100": ("auto",),
}
REFUSES = "refuses the device code"


def find_ptxas() -> str | None:
    """The assembler that loopc would call."""
    if (named := os.environ.get("LOOPC_PTXAS")) is not None:
        return named or None
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    places = [f"{home}/bin" for home in (*homes, "/usr/local/cuda") if home]
    return shutil.which("ptxas", path=os.pathsep.join(places)) or shutil.which("ptxas")


def chips_of(ptxas: str) -> list[str]:
    """Those of FORMS that this ptxas knows."""
    said = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    return [chip for chip in FORMS if re.search(rf"\b{chip}\b", said)]


def models() -> Iterator[tuple[str, Callable[[], Model]]]:
    """Names, and what makes the models."""
    import cases
    import loop_algorithms
    import loop_cells
    import loop_operators
    import suite

    listed = pathlib.Path(__file__).with_name("required_cuda.txt").read_text().split("\n")
    required = {line.split()[0] for line in listed if line.strip() and line[0] != "#"}
    for case in cases.load():
        if case.name in required:
            yield f"suite/{case.name}", functools.partial(cases.model_of, case)
    for key in suite.BENCHMARKS:
        yield f"bench/{key}", functools.partial(lambda name: suite.make(name).model, key)
    for loop in (*loop_algorithms.cases(), *loop_cells.cases()):
        for shapes in loop_operators.SHAPES:
            name = f"operators/{loop.name}/{shapes}"
            yield name, functools.partial(loop_operators.trace, loop, shapes)
    # Of test/python, which is not checked with the rest.
    for model in importlib.import_module("loop_models.registry").all_models():
        if model.compile_error:
            continue
        yield f"models/{model.name}", functools.partial(getattr, model, "model")


def has_loops(model: Model) -> bool:
    """Whether a model has loops, or operators that are some."""
    proto = onnx.load(model, load_external_data=False) if isinstance(model, str) else model
    loops = {"Loop", "Scan", "LSTM", "GRU", "RNN"}
    nodes = [*proto.graph.node, *(node for f in proto.functions for node in f.node)]
    return any(node.op_type in loops for node in nodes)


class Assembler:
    """Compiles models with a ptxas whose calls are counted, while it is entered."""

    def __init__(self, ptxas: str) -> None:
        self._ptxas = ptxas

    def __enter__(self) -> Assembler:
        self._folder = tempfile.TemporaryDirectory(prefix="loopc-ptxas-")
        wrapper, self._log = (pathlib.Path(self._folder.name) / name for name in ("ptxas", "log"))
        wrapper.write_text(f'#!/bin/sh\necho "$1" >> {self._log}\nexec {self._ptxas} "$@"\n')
        wrapper.chmod(0o755)
        self._before = os.environ.get("LOOPC_PTXAS")
        os.environ["LOOPC_PTXAS"] = str(wrapper)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["LOOPC_PTXAS"]
        else:
            os.environ["LOOPC_PTXAS"] = self._before
        self._folder.cleanup()

    def calls(self) -> collections.Counter[str]:
        """How often it was called for each chip."""
        lines = self._log.read_text().split() if self._log.exists() else []
        return collections.Counter(line.removeprefix("-arch=") for line in lines)

    def refuse(self, model: Model, chip: str, form: str) -> str:
        """Why ptxas does not take the kernels of a model; "" where it does.

        Raises:
            loopc.CompileError: the model is not compiled for another reason.
        """
        import loopc

        try:
            loopc.InferenceSession(
                model, device="cuda:0", chip=chip, min_kernel_work=0, device_loops=form
            )
        except loopc.CompileError as error:
            if REFUSES not in str(error):
                raise
            return str(error)
        return ""


def refused(
    share: tuple[int, int], chips: Sequence[str], assembler: Assembler, pattern: str = ""
) -> Iterator[tuple[str, str]]:
    """Names of models with a chip and a form, and what ptxas says against them.

    What does not compile is yielded as well: all of these models have to.
    """
    import loopc

    wanted = [item for item in models() if re.search(pattern, item[0])]
    for name, make in wanted[share[0] :: share[1]]:
        model = make()
        loops = has_loops(model)
        for chip in chips:
            for form in FORMS[chip] if loops else FORMS[chip][:1]:
                try:
                    why = assembler.refuse(model, chip, form)
                except loopc.CompileError as error:
                    why = f"is not compiled: {error}"
                if why:
                    yield f"{name} {chip} {form}", why


def _share(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not K/N with K below N")
    return int(match[1]), int(match[2])


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=_share, default=(0, 1), metavar="K/N")
    parser.add_argument("--filter", default="", metavar="REGEX")
    options = parser.parse_args(argv)
    ptxas = find_ptxas()
    if not ptxas:
        print("ptxas.py: there is no ptxas: set LOOPC_PTXAS or CUDA_HOME", file=sys.stderr)
        return 2
    begin, count = time.monotonic(), 0
    with Assembler(ptxas) as assembler:
        for name, why in refused(options.share, chips_of(ptxas), assembler, options.filter):
            count += 1
            print(f"{name}: {why}", flush=True)
        calls = ", ".join(f"{chip} {n}" for chip, n in sorted(assembler.calls().items()))
    print(f"calls of ptxas: {calls}; {count} models failed; {time.monotonic() - begin:.0f} s")
    return int(count != 0)


if __name__ == "__main__":
    sys.exit(main())
