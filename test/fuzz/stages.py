# ===- stages.py - Random models, written and read again at any stage -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes random models as MLIR of each stage, and runs what is read again.

    stages.py --seeds 0:300
    stages.py --seeds 77:78 --keep /tmp    writes what fails, as stage-77-scf.mlir

Each text is run as it is, and after some of loopc's passes in any order. It must
give what the model gives, and leave as much memory to its results; passes that
are for another stage may refuse. A line is printed for each failure. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE.parent / "python"))

import compiling  # noqa: E402
import numpy as np  # noqa: E402
from bad_input import passes  # noqa: E402
from bad_outcomes import limit_memory  # noqa: E402
from random_models import random_model  # noqa: E402

TOOLS = _HERE.parents[1] / "build/bin"
STAGES = ("onnx", "loop", "linalg", "memref", "scf")
TOLERANCE = 2e-3


class StageError(Exception):
    """How a tool ended, or in what results differ."""


class RefusalError(StageError):
    """An error, with the status of bad input."""


def _call(*command: object) -> str:
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            timeout=90,
            preexec_fn=limit_memory,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise StageError("hangs") from error
    if done.returncode == 1 and "error:" in done.stderr:
        raise RefusalError(done.stderr[:300])
    if done.returncode:
        raise StageError(f"ends with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout + done.stderr


def _run(
    tools: pathlib.Path, model: pathlib.Path, folder: pathlib.Path
) -> tuple[dict[str, np.ndarray], int]:
    """The results by name, and how many blocks of memory are left to them."""
    out = folder / "out.npz"
    said = _call(
        *(tools / "loopc-run", model, f"--inputs={folder}/in.npz", f"--output={out}"),
        *("--quiet", "--stats", "--timeout=20"),
    )
    counts = re.search(r"stats: (\d+) allocations?, (\d+) deallocations?", said)
    assert counts, said
    with np.load(out, allow_pickle=True) as stored:
        return dict(stored), int(counts[1]) - int(counts[2])


def _difference(got: np.ndarray, want: np.ndarray) -> str:
    if not got.size and not want.size and got.dtype == want.dtype:
        return ""  # Of no trip: extents that the types do not tell.
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.kind in "fc":
        same = np.allclose(got, want, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    else:
        same = np.array_equal(got, want)
    return "" if same else f"{got.ravel()[:8]}, expected {want.ravel()[:8]}"


def _shapes(tools: pathlib.Path, model: pathlib.Path) -> int:
    """How many results leave a second block, their shape, because their rank is not known.

    A node may tell it, and what the node is lowered to may not.
    """
    text = _call(tools / "loopc", model, "--emit=linalg", "-o", "-")
    return sum(line.count("loopc.shape_of") for line in text.splitlines() if " @main(" in line)


def _compare(
    got: tuple[dict[str, np.ndarray], int],
    want: tuple[dict[str, np.ndarray], int],
    more_shapes: Callable[[], int],
) -> None:
    for name, value in want[0].items():
        if text := _difference(got[0][name], value):
            raise StageError(f"output '{name}': {text}")
    if got[1] != want[1] and got[1] != want[1] + more_shapes():
        raise StageError(f"{got[1]} blocks of memory are left, expected {want[1]}")


def _change(
    tools: pathlib.Path, text: pathlib.Path, changed: pathlib.Path, names: Sequence[str]
) -> None:
    """Passes that are for another stage may refuse, but leave nothing behind that is wrong."""
    command = [tools / "loopc-opt", text, *(f"--{name}" for name in names), "-o", changed]
    try:
        _call(*command)
    except RefusalError as refusal:
        try:
            _call(*command, "--verify-each=0")
        except RefusalError:
            raise refusal from None
        raise StageError(f"leaves what the verifier refuses: {refusal}") from refusal


def problems(
    seed: int, tools: pathlib.Path = TOOLS, keep: pathlib.Path | None = None
) -> Iterator[str]:
    """How stages of the model of a seed end wrong, with what was done to them."""
    model = random_model(seed)
    if not all(isinstance(value, np.ndarray) for value in model.feeds.values()):
        return
    choice, own = random.Random(seed), [*passes(), "canonicalize", "cse"]
    # What these leave is for what comes behind all stages.
    behind = ("loopc-make-entry-point", "loopc-branches-backwards", "loopc-externalize-weights")
    for name in (*behind, "convert-dialects-to-llvm", *passes("Codegen/GPU")):
        own.remove(name)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, text = folder / "model.onnx", folder / "stage.mlir"
        changed = folder / "changed.mlir"
        path.write_bytes(model.proto.SerializeToString())
        np.savez(folder / "in.npz", **model.feeds)  # type: ignore[arg-type]
        try:
            want = _run(tools, path, folder)
        except StageError:
            return  # loops.py says so.

        def more_shapes(text: pathlib.Path) -> int:
            return _shapes(tools, text) - _shapes(tools, path)

        for stage in STAGES:
            level = choice.choice(("-O0", "-O3", "-O3"))
            some = choice.sample(own, choice.choice((0, 1, 1, 2, 3, 5)))
            # It leaves more functions than one, which is no model; seeds stay what they are.
            some = [name for name in some if name != "loopc-outline-nests"]
            try:
                _call(tools / "loopc", path, level, f"--emit={stage}", "-o", text)
                _compare(_run(tools, text, folder), want, lambda: more_shapes(text))
                try:
                    _change(tools, text, changed, some)
                    got = _run(tools, changed, folder)
                except RefusalError:
                    continue
                _compare(got, want, lambda: more_shapes(changed))
            except StageError as error:
                if keep and text.exists():
                    (keep / f"stage-{seed}-{stage}.mlir").write_text(text.read_text())
                yield f"{stage} {level} {' '.join(some)}: {error}"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="models A to B - 1")  # fmt: skip
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    failures = 0
    for seed in options.seeds:
        found = list(problems(seed, options.tools, options.keep))
        failures += bool(found)
        for problem in found:
            print(f"{seed}: {problem}", flush=True)
    print(f"{len(options.seeds)} models, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
