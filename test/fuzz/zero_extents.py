# ===- zero_extents.py - Nodes over axes without elements ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the models of ONNX's backend tests with axes of no and of one element.

    zero_extents.py --seeds 0:1                   each model with a few of such operands
    zero_extents.py --seeds 0:3 --filter pool     those whose name has a match
    zero_extents.py --seeds 0:9 --some 50         so many of them in each round

Each axis that inputs have, and all axes of one extent together, become 0 or 1. The model is compiled
with these extents, with some of them open, and with all of them open: all forms give the same, or
all an error. What is refused where extents are known and computed where they are not is a failure,
and so are other results. Whether anything is right is not asked here.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import copy
import itertools
import pathlib
import random
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import compiling
import donors
import engines
import loopc
import numpy as np
import onnx

Feeds = dict[str, Any]
#: What the onnx library refuses by itself, where it knows it.
KNOWN = ("kernel_shape must only contain positive values",)


def _run(content: bytes, feeds: Feeds, level: int) -> engines.Outcome:
    options = loopc.SessionOptions(opt_level=level)
    try:
        return engines.Outcome(values=loopc.InferenceSession(content, options).run(None, feeds))
    except loopc.Error as error:
        return engines.Outcome(error=str(error))


def _tolerance(values: Sequence[Any]) -> float:
    """How far results of two forms may differ: sums are added in another order."""
    narrow = any(donors.is_tensor(v) and v.dtype.itemsize == 2 for v in values)
    return 5e-3 if narrow else 1e-4


def _variants(feeds: Feeds, dice: random.Random) -> Iterator[tuple[str, Feeds]]:
    """Operands some of whose axes have another extent, and what they are called."""
    tensors = {k: v for k, v in feeds.items() if donors.is_tensor(v) and v.ndim}
    found: list[tuple[str, Feeds]] = []
    for extent in (0, 1):
        for size in sorted({e for v in tensors.values() for e in v.shape if e > extent}):
            places = [(k, axis) for k, v in tensors.items() for axis, e in enumerate(v.shape)
                      if e == size]  # fmt: skip
            for chosen in [places, *([place] for place in places if len(places) > 1)]:
                changed = dict(feeds)
                for name, axis in chosen:
                    kept = [slice(None)] * changed[name].ndim
                    kept[axis] = slice(0, extent)
                    changed[name] = np.ascontiguousarray(changed[name][tuple(kept)])
                where = ", ".join(f"{name}[{axis}]" for name, axis in chosen)
                found.append((f"{where} = {extent}", changed))
    dice.shuffle(found)
    yield from found


def _model(model: onnx.ModelProto, feeds: Feeds, share: float, dice: random.Random) -> bytes:
    """The model with known extents but for such a share; results of any."""
    made = copy.deepcopy(model)
    del made.graph.value_info[:]
    for port in made.graph.input:
        value = feeds.get(port.name)
        if not donors.is_tensor(value) or not port.type.HasField("tensor_type"):
            continue
        shape = port.type.tensor_type.shape
        del shape.dim[:]
        port.type.tensor_type.shape.SetInParent()
        for axis, extent in enumerate(value.shape):
            dim = shape.dim.add()
            if dice.random() < share:
                dim.dim_param = f"{port.name}_{axis}"
            else:
                dim.dim_value = extent
    for port in made.graph.output:
        if port.type.HasField("tensor_type"):
            port.type.tensor_type.ClearField("shape")
    content: bytes = made.SerializeToString()
    return content


def problem(model: onnx.ModelProto, feeds: Feeds, dice: random.Random) -> str:
    """How the forms differ; nothing where they agree."""
    answers: list[tuple[str, engines.Outcome]] = []
    forms = [("known", 0.0), ("open", 1.0)] + [("some", 0.5)] * (dice.random() < 0.3)
    for form, share in forms:
        level = dice.choice((0, 3))
        content = _model(model, feeds, share, dice)
        outcome = engines.worker(_run).ask((content, feeds, level))
        if outcome.crashed:
            return f"{form}, -O{level}: {outcome.error}"
        answers.append((f"{form}, -O{level}", outcome))
    first_name, first = answers[0]
    for name, other in answers[1:]:
        if (first.values is None) != (other.values is None):
            texts = [o.error or "a result" for o in (first, other)]
            if any(known in text for known in KNOWN for text in texts):
                continue
            return f"{first_name}: {texts[0][:250]} | {name}: {texts[1][:250]}"
        if first.values is not None and other.values is not None:
            most = _tolerance(first.values)
            text = cases.compare(other.values, first.values, most, most)
            if text:
                return f"{first_name}, {name}: {text}"
    return ""


def _judge(case: Any, dice: random.Random, most: int, count: collections.Counter[str]) -> None:
    """Runs one model with so many other operands, and tells how its forms differ."""
    model = cases.loaded(case)
    feeds, _ = next(iter(cases.data_sets(case)))
    if any(op in donors._DRAWN for _, op in cases.operators(model)):
        return
    for what, changed in itertools.islice(_variants(feeds, dice), most):
        count["runs"] += 1
        if text := problem(model, changed, dice):
            count["failures"] += 1
            print(f"{case.name}, {what}: {text}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    assert __doc__
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="rounds through all models")  # fmt: skip
    parser.add_argument("--filter", default="", metavar="REGEX", help="models of such a name")
    parser.add_argument("--some", type=int, metavar="N", help="so many models, by the seed")
    parser.add_argument("--most", type=int, default=2, metavar="N", help="of each (default 2)")
    options = parser.parse_args(argv)
    count: collections.Counter[str] = collections.Counter()
    matching = [case for case in donors.all_cases() if re.search(options.filter, case.name)]
    for seed in options.seeds:
        some = min(options.some or len(matching), len(matching))
        for case in random.Random(seed).sample(matching, some):
            _judge(case, random.Random(f"{seed} {case.name}"), options.most, count)
    print(", ".join(f"{number} {kind}" for kind, number in sorted(count.items())))
    return int(count["failures"] > 0)


if __name__ == "__main__":
    sys.exit(main())
