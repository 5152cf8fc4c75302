# ===- chains.py - Chains of what exporters and optimizers write ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random chains of nodes, in loops, scans and branches, beside onnxruntime.

    chains.py --seeds 0:300                    idioms of exporters
    chains.py --seeds 0:300 --kind contrib     operators of com.microsoft
    chains.py --seeds 77:78 --keep /tmp        writes what differs, as idioms-77.onnx and its inputs

random_idioms.py has what PyTorch's, TensorFlow's, Paddle's and JAX's exporters write for one
operation; random_contrib.py fused attention with and without a past that grows, normalizations that
skip, quantized operators, products with weights of few bits, states. Batch, steps and past have
other extents in each of five runs of a session; the model is also declared with those of one run,
and with some of them. A line is printed for each failure, and at the end how many runs there were.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import random
import sys
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import engines
import loopc
import numpy as np
from random_chains import Array, ChainModel, Feeds
from random_contrib import ContribModel
from random_idioms import IdiomModel
from random_reports import run_seeds

Result = list[Array] | str
KINDS: dict[str, type[ChainModel]] = {"idioms": IdiomModel, "contrib": ContribModel}


def _run(content: bytes, sets: list[Feeds], settings: dict[str, Any]) -> engines.Outcome:
    """The outputs of each set, or the text of its error, by one session."""
    options = loopc.SessionOptions(**settings)
    try:
        session = loopc.InferenceSession(content, options)
    except loopc.Error as error:
        return engines.Outcome(error=str(error))
    results: list[Result] = []
    for feeds in sets:
        try:
            results.append(session.run(None, feeds))
        except loopc.RunError as error:
            results.append(str(error))
    return engines.Outcome(values=results)


def _difference(got: Result, want: Sequence[Array], rounds: bool) -> str:
    """What is wrong with one run; nothing where it is right."""
    if isinstance(got, str):
        return got
    for k, (one, other) in enumerate(zip(got, want, strict=True)):
        if one.ndim > 1 and one.size == other.size == 0 and other.shape == (0,):
            # What no iteration has collected has no rank either in onnxruntime.
            continue
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"output {k}: {one.dtype}{one.shape}, expected {other.dtype}{other.shape}"
        most = float(np.abs(other).max(initial=1))
        apart = np.abs(one.astype(np.float64) - other)
        if not np.array_equal(np.isnan(one), np.isnan(other)):
            return f"output {k}: NaN in other places"
        # Sums in another order differ in their last bits, which loops make larger. Of bytes, what
        # lies between two is either: few of them, by a step or two.
        strict = (1e-2 if rounds else 1e-4) * most
        if rounds and np.mean(apart > 0.02 * most) < 0.05:
            strict = 0.3 * most
        if (apart > strict).any():
            at = tuple(np.argwhere(apart > strict)[0])
            return (
                f"output {k}: {np.count_nonzero(apart > strict)} of {one.size} differ, the first "
                f"at {[int(x) for x in at]}: {one[at]}, expected {other[at]}"
            )
    return ""


def problems(made: ChainModel, count: collections.Counter[str]) -> list[str]:
    """What is wrong with the runs of a model."""
    dice = random.Random(str(made))
    wants = [
        engines.worker(engines.run_ort).ask((made.model().SerializeToString(), feeds))
        for feeds in made.sets
    ]
    fit = [k for k, want in enumerate(wants) if want.values is not None]
    count["unfit"] += len(wants) - len(fit)
    found = []
    forms = [("open", made.model(), fit)]
    if fit:
        number = dice.choice(fit)
        forms.append((f"static {number}", made.model(number), [number]))
        name = dice.choice(("batch", "steps"))
        forms.append((f"{name} open {number}", made.model(number, [name]), [number]))
    for form, model, numbers in forms if fit else []:
        settings = {
            "opt_level": dice.choice((0, 1, 2, 3, 3)),
            "intra_op_num_threads": dice.choice((1, 1, 2, 3)),
            "check_accesses": dice.random() < 0.15,
        }
        request = (model.SerializeToString(), [made.sets[k] for k in numbers], settings)
        outcome = engines.worker(_run).ask(request)
        where = f"{form}, {settings}"
        if outcome.values is None:
            found.append(f"{where}: {outcome.error}")
            continue
        for number, got in zip(numbers, outcome.values, strict=True):
            count["runs"] += 1
            want = wants[number].values
            assert want is not None
            if text := _difference(got, want, made.rounds):
                found.append(f"{where}, set {number}: {text}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    assert __doc__
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="models A to B - 1")  # fmt: skip
    parser.add_argument("--kind", choices=KINDS, default="idioms", help="default: idioms")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    options = parser.parse_args(argv)
    return run_seeds(options.seeds, KINDS[options.kind], problems, options.keep, options.kind)


if __name__ == "__main__":
    sys.exit(main())
