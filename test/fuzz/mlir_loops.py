# ===- mlir_loops.py - Long runs of random programs of the loop dialect -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random MLIR with loops through passes alone and through loopc, beside NumPy.

    mlir_loops.py --seeds 0:1000
    mlir_loops.py --seeds 77:78 --write /tmp    writes what fails, as loops-77.mlir, and the inputs of
                                                its runs as loops-77-0.npz, ...

Each program is run with -O0 and with -O3, and after some passes in any order, with several
sets of inputs: extents that its types leave open are others in each. A line is printed for each failure. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import engines
import numpy as np
from mlir_programs import Array, Program, random_program

TOOLS = pathlib.Path(__file__).parents[2] / "build/bin"
PASSES = (
    *(
        "buffer-assign-storage",
        "loop-batch-slices",
        "tensor-choose-layouts",
        "loop-collect-appended",
    ),
    *("loop-collect-in-place", "loop-count-trips", "loop-distribute-stages", "loop-hoist-dims"),
    *("tensor-fold-constants", "tensor-fuse-elementwise", "loop-fuse-loops", "cpu-fuse-reductions"),
    *("loop-grow-in-place", "loop-hoist-checks", "cpu-interchange-elements", "loop-scalarize"),
    *("loop-invariant-code-motion", "loop-invariant-subset-hoisting"),
    *("cpu-keep-in-registers", "loop-lower-slices", "cpu-pack-contractions", "canonicalize"),
    *("cpu-reduce-columns", "loop-merge-lengths", "buffer-write-carried"),
    *(
        "buffer-privatize-empty",
        "buffer-resolve-dropped-axes",
        "loop-unroll-small",
        "loop-version-shapes",
    ),
    *("tensor-sink-expansions", "tensor-widen-factors", "convert-onnx-to-linalg", "sccp"),
    *("cse", "onnx-infer-types", "loop-hoist-invariants", "tensor-version-broadcasts"),
    "tensor-version-extents",
    *("cpu-interchange-batches", "loopc-eliminate-common", "loop-lower-scan"),
    *("loopc-eliminate-empty-tensors", "tensor-scale-subnormals"),
)


def problems(seed: int, tools: pathlib.Path = TOOLS, passes: int = 3) -> Iterator[str]:
    """How the program of a seed ends wrong, with the options of the compiler."""
    program = random_program(seed)
    choice = random.Random(seed)
    some = [choice.sample(PASSES, choice.choice((1, 1, 2, 3, 4))) for _ in range(passes)]
    for level, names in ((0, []), (3, []), *((choice.choice((0, 3)), names) for names in some)):
        options = " ".join((f"-O{level}", *(f"--{name}" for name in names)))
        try:
            text = changed(program.text, tools, names)
        except (subprocess.TimeoutExpired, ChangeError) as error:
            yield f"{options} {error}"
            continue
        yield from (f"{options} {problem}" for problem in _run(program, text, level))


class ChangeError(Exception):
    """loopc-opt has failed."""


def changed(text: str, tools: pathlib.Path, passes: Sequence[str]) -> str:
    """What passes make of a program."""
    if not passes:
        return text
    command = [tools / "loopc-opt", "-", *(f"--{name}" for name in passes)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise ChangeError(f"loopc-opt ends with {done.returncode}: {done.stderr[:300]}")
    return done.stdout


def _run(program: Program, text: str, level: int) -> Iterator[str]:
    """Compares all runs of a program.

    Where an error is due and none comes, nobody read what would have failed. What the program does
    then may be undefined, so that accesses are checked.
    """
    for checked in (False, True):
        runs = [(k, run) for k, run in enumerate(program.runs) if (run.outputs is None) == checked]
        if not runs:
            continue
        sets = [run.feeds for _, run in runs]
        outcome = engines.worker(answer, 120).ask((text, level, sets, checked))
        if outcome.values is None:
            yield outcome.error or ""
            return
        for (number, run), got in zip(runs, outcome.values, strict=True):
            if run.outputs is None:
                continue
            if isinstance(got, str):
                yield f"run {number} ends with {got}"
                continue
            yield from (
                f"run {number}, output {k}: {problem}"
                for k, (one, other) in enumerate(zip(got, run.outputs, strict=True))
                if (problem := difference(one, other))
            )


def answer(
    text: str, level: int, sets: Sequence[dict[str, Array]], checked: bool = False
) -> engines.Outcome:
    """Outputs, or an error's text, for each set of inputs, in another process."""
    import loopc

    options = loopc.RunOptions(timeout=20)
    made: list[list[Array] | str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "main.mlir")
        path.write_text(text)
        try:
            how = loopc.SessionOptions(opt_level=level, check_accesses=checked)
            session = loopc.InferenceSession(path, how)
        except loopc.Error as error:
            return engines.Outcome(error=str(error))
    for feeds in sets:
        try:
            made.append(session.run(None, feeds, options))
        except loopc.RunTimeoutError:
            return engines.Outcome(error="hangs")
        except loopc.Error as error:
            made.append(str(error))
    return engines.Outcome(values=made)


def difference(got: Array, want: Array) -> str:
    """What is wrong with `got`; empty if nothing is."""
    if got.ndim == want.ndim and not want.any() and not got.any():
        return ""  # Of no trip: extents that the types do not tell.
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if np.allclose(got, want, rtol=2e-3, atol=2e-3, equal_nan=True):
        return ""
    return f"{got.ravel()[:8]}, expected {want.ravel()[:8]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="programs A to B - 1")  # fmt: skip
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER")
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    failures = 0
    for seed in options.seeds:
        found = list(problems(seed, options.tools))
        failures += bool(found)
        for problem in found:
            print(f"{seed}: {problem}", flush=True)
        if found and options.write:
            program = random_program(seed)
            path = options.write / f"loops-{seed}.mlir"
            path.write_text(program.text)
            for number, run in enumerate(program.runs):
                name = path.with_name(f"loops-{seed}-{number}.npz")
                np.savez(name, **run.feeds)  # type: ignore[arg-type]
    print(f"{len(options.seeds)} programs, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
