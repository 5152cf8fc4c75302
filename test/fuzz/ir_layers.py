# ===- ir_layers.py - OpenVINO's layers with any attributes, anywhere -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random layers of OpenVINO IR by themselves, in TensorIterators, Loops and Ifs.

    ir_layers.py --seeds 0:79                    a layer of each kind
    ir_layers.py --seeds 0:7900 --filter pool    those whose name has a match
    ir_layers.py --seeds 0:79 --keep /tmp        failing models, with inputs as .npz
    ir_layers.py --seeds 0:790 --extents         by themselves, with operands of other extents

What random_ir_layers.py makes is computed by OpenVINO's CPU runtime, each layer by itself: its own
loops are not asked. Where loopc has something else, OpenVINO's reference is asked, which has some
of the layers, and with --extents two fresh processes: of what OpenVINO reads behind an end, or does
not write, each has another answer. A line is printed for each failure: wrong, refused, failed or
crashed. A layer that OpenVINO does not compute, or dies of, is unfit; one that loopc says it lacks
is lacking. -v says which, and why. What glibc says of a damaged heap (free(): invalid next size)
is OpenVINO's: loopc runs in another process, whose end is a failure.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import compiling
import engines
import numpy as np
import transplants

#: Verdicts that are loopc's fault.
BAD = ("wrong", "failed", "refused", "crashed")
#: Errors of what OpenVINO gives anything for: it reads behind the end, or leaves memory unwritten.
#: By layer; a number that they name is an extent of an operand, else such an extent is 0, or `any`.
UNDEFINED = (
    (
        r"Gather\w*|Scatter\w*|Embedding\w*|ROIAlign",
        r"index -?\d+ is out of range for an axis of extent (\d+)",
    ),
    (
        r"(?:Scatter|Gather)Elements\w*",
        r"axis \d+: the indices' extent (\d+) is greater than the data's, \d+",
    ),
    (r"I?R?DFT", r"the length of the transform is -?\d+, less than 1"),
    (r"(?:LSTM|GRU|RNN)Sequence", r"a sequence length is not in 0 to (\d+)"),
    (r"ReverseSequence", r"a sequence length is -?\d+, not in 0 to (\d+)"),
    (r"Squeeze", r"axis \d+ has extent (\d+), not 1, and is not squeezed"),
    (r"Interpolate", r"axis \d+ has no elements to resize"),
    (r"CTCGreedyDecoder\w*|TopK", r"axis \d+ has no elements"),
    (r"TopK", r"k is \d+, the axis has (\d+) elements"),
    (r"VariadicSplit", r"(?P<any>size of part \d+ is -\d+, less than 0)"),
    (
        r"GridSample",
        r"the input has no elements to sample|axis \d+ is empty: there is nothing to pad it with",
    ),
    (r"ROI\w+", r"the images have no elements"),
    (r"Pad", r"axis \d+ is empty: there is nothing to pad it with"),
)
#: Layers whose extents OpenVINO does not look at, or has an answer of its own for where one is 0.
FIXED = ("region_yolo", "unique")
#: Operands of which OpenVINO makes something else than the layer's definition says, by layer.
OWN_RULES: tuple[tuple[str, Callable[[Sequence[Any]], bool]], ...] = (
    # The extents of what an image of one element would give: the formula's are less.
    (r"(group_)?convolution_backprop_data", lambda operands: 0 in np.shape(operands[0])[2:]),
    # The scale is the quotient of the extents, which are whole, and not the one that is given.
    (r"interpolate\d+ \w+ scales (?!align_corners)", lambda operands: True),
    # A mean of nothing is 0, and no number.
    (r"reduce_mean|adaptive_avg_pool", lambda operands: 0 in np.shape(operands[0])),
)
PLACES = ("alone", "iterator", "loop", "branch")


def _layer(seed: int) -> Any:
    warnings.simplefilter("ignore")
    import random_ir_layers

    return random_ir_layers.random_layer(seed)


def _evaluated(model: Any, feeds: dict[str, Any]) -> list[Any]:
    """By OpenVINO's reference."""
    import openvino

    results = [openvino.Tensor(port.element_type, openvino.Shape([])) for port in model.outputs]
    given = [feeds[port.get_any_name()] for port in model.inputs]
    if not model.evaluate(results, [openvino.Tensor(np.array(v, order="C")) for v in given]):
        raise ValueError("OpenVINO's reference has not all of the layers")
    return [np.array(result.data) for result in results]


def answers(seed: int, place: str, by_reference: bool) -> engines.Outcome:
    """What OpenVINO makes of the sets that count in a place; each set's outputs."""
    try:
        import openvino
        import random_ir_layers as layers

        layer = _layer(seed)
        sets = layer.sets
        if place == "iterator":
            sets = layers.in_iterator(layer, layers.Draw(seed), False, False).sets
        config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        model, _ = layers.alone(layer, sets[0])
        compiled = openvino.Core().compile_model(model, "CPU", config)
        found = []
        for one in sets:
            feeds = {f"x{k}": v for k, v in enumerate(one) if k not in layer.constants}
            if by_reference:
                found.append(_evaluated(model, feeds))
            else:
                results = compiled(feeds)
                found.append([np.array(results[port]) for port in compiled.outputs])
        return engines.Outcome(values=found)
    except Exception as error:  # OpenVINO's errors have no common base.
        return engines.Outcome(error=f"{type(error).__name__}: {error}")


def resized_sets(seed: int) -> list[list[Any]]:
    """Operands of other extents for a layer."""
    import random_ir_layers as layers

    return layers.resized(_layer(seed), layers.Draw(seed))


def of_extents(seed: int, number: int) -> engines.Outcome:
    """What OpenVINO makes of operands of other extents: by its runtime, and its reference.

    Each is a list of outputs, or None of extents that do not fit and of what OpenVINO lacks.
    """
    import openvino
    import random_ir_layers as layers

    layer, one = _layer(seed), resized_sets(seed)[number]
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    sides: list[Any] = []
    try:
        # With known extents OpenVINO says which do not fit.
        model, feeds = layers.alone(layer, one)
        compiled = openvino.Core().compile_model(model, "CPU", config)
        results = compiled(feeds)
        sides.append([np.array(results[port]) for port in compiled.outputs])
        sides.append(_evaluated(model, feeds))
    except Exception:
        sides += [None] * (2 - len(sides))
    return engines.Outcome(values=sides)


def answers_anew(seed: int, number: int) -> list[Any]:
    """The same by two fresh processes, whose fresh memory is not the same; None of one that dies.

    An answer that is another one in each has elements that OpenVINO read behind an end, or did
    not write; what an answer before has damaged is not in it.
    """
    found: list[Any] = []
    for byte in (0x5A, 0xC3):
        tunables = f"glibc.malloc.perturb={byte}:glibc.malloc.tcache_count=0"
        fresh = engines.Worker(of_extents, 60.0, {"GLIBC_TUNABLES": tunables})
        found.append(fresh.ask((seed, number)).values)
        fresh.close()
    return found


def ours(path: str, level: int, sets: list[dict[str, Any]]) -> engines.Outcome:
    """By loopc, one session for all sets: outputs of each, or an error's text."""
    import loopc

    try:
        session = loopc.InferenceSession(path, loopc.SessionOptions(opt_level=level))
    except loopc.Error as error:
        lacks = error.code in ("LC0301", "LC0501")
        return engines.Outcome(error=f"{'lacking' if lacks else 'refused'}: {error}")
    found: list[Any] = []
    for feeds in sets:
        try:
            found.append(session.run(None, feeds))
        except loopc.Error as error:
            found.append(f"failed: {error}")
    return engines.Outcome(values=found)


def write(seed: int, place: str, is_open: bool, stacks: bool, path: str) -> engines.Outcome:
    """Writes a model, and its inputs beside it; says how many outputs are stacked."""
    try:
        import openvino
        import random_ir_layers as layers

        placed = layers.PLACES[place](_layer(seed), layers.Draw(seed), is_open, stacks)
        openvino.save_model(placed.model, path, compress_to_fp16=False)
        np.savez(path.removesuffix(".xml"), **placed.feeds)
        return engines.Outcome(values=[placed.stacked])
    except Exception as error:
        return engines.Outcome(error=f"{type(error).__name__}: {error}")


def is_undefined(error: str, operands: Sequence[Any]) -> bool:
    """Whether loopc refuses what OpenVINO does not look at."""
    extents = {extent for one in operands for extent in np.shape(one)}
    for layers, text in UNDEFINED:
        place = rf"failed: main/(?:{layers}) '[^']*' \(opset\d+\): "
        if found := re.match(f"{place}(?:{text})", error):
            if "any" in found.groupdict():
                return True
            return int(found[1] if found.groups() else 0) in extents
    return False


def has_own_rule(name: str, operands: Sequence[Any]) -> bool:
    """Whether OpenVINO does not keep to the layer's definition there."""
    return any(re.match(layers, name) and holds(operands) for layers, holds in OWN_RULES)


def places_of_some(values: Any, places: Any, theirs: Any) -> Any:
    """The places of the largest; those of windows beyond the border, of nothing, are `theirs`."""
    values, places = np.asarray(values), np.asarray(places)
    if values.dtype.kind != "f" or places.shape != np.shape(theirs):
        return places
    return np.where(values <= np.finfo(values.dtype).min, theirs, places)


class Judge:
    """Runs layers in places, and counts how that ends."""

    def __init__(self, folder: pathlib.Path, verbose: bool, level: int) -> None:
        self._folder, self._verbose, self._level = folder, verbose, level
        self.count: collections.Counter[str] = collections.Counter()

    def _tell(self, verdict: str, what: str, problem: str = "") -> None:
        self.count[verdict] += 1
        if verdict in BAD or (self._verbose and verdict != "same"):
            print(f"{what}: {verdict}: {problem[:400]}", flush=True)

    def run(self, seed: int, place: str, is_open: bool) -> None:
        """One layer in one place."""
        layer = _layer(seed)
        what = f"{seed} {layer.name} {place}{' open' if is_open else ''}"
        theirs = engines.worker(answers, 60.0).ask((seed, place, False))
        if theirs.values is None:
            return self._tell("unfit", what, str(theirs.error))
        sets = theirs.values
        stacks = all([a.shape for a in one] == [a.shape for a in sets[0]] for one in sets)
        path = self._folder / f"{seed}-{place}{'-open' if is_open else ''}.xml"
        made = engines.worker(write, 60.0).ask((seed, place, is_open, stacks, str(path)))
        if made.values is None:
            return self._tell("unfit", what, str(made.error))
        feeds = dict(np.load(path.with_suffix(".npz")))
        ours = engines.worker(transplants._run, 180.0).ask((str(path), feeds, self._level))
        if ours.values is None:
            verdict = "crashed" if ours.crashed else str(ours.error).partition(":")[0]
            return self._tell(verdict, what, str(ours.error))
        problem = self._differ(layer, ours.values, sets, made.values[0])
        if problem:
            theirs = engines.worker(answers, 60.0).ask((seed, place, True))
            if theirs.values and not self._differ(
                layer, ours.values, theirs.values, made.values[0]
            ):
                return self._tell("disputed", what, problem)
        return self._tell("wrong" if problem else "same", what, problem or "")

    def resize(self, seed: int) -> None:
        """One layer by itself with open extents, and operands of several extents."""
        layer = _layer(seed)
        what = f"{seed} {layer.name} extents"
        path = self._folder / f"{seed}-extents.xml"
        made = engines.worker(write, 60.0).ask((seed, "alone", True, False, str(path)))
        if made.values is None:
            return self._tell("unfit", what, str(made.error))
        sets = [{f"x{k}": v for k, v in enumerate(one) if k not in layer.constants}
                for one in resized_sets(seed)]  # fmt: skip
        found = engines.worker(ours, 180.0).ask((str(path), self._level, sets))
        if found.values is None:
            verdict = "crashed" if found.crashed else str(found.error).partition(":")[0]
            return self._tell(verdict, what, str(found.error))
        for number, (feeds, got) in enumerate(zip(sets, found.values, strict=True)):
            shapes = f"{what} {[list(np.shape(v)) for v in feeds.values()]}"
            theirs = engines.worker(of_extents, 60.0).ask((seed, number))
            if theirs.values is None:
                self._tell("unfit", shapes, f"OpenVINO: {theirs.error}")
                continue
            self._tell(*self._resized(layer, got, theirs.values, (seed, number), shapes))
        return None

    def _resized(
        self, layer: Any, got: Any, sides: list[Any], asked: tuple[int, int], shapes: str
    ) -> tuple[str, str, str]:
        """The verdict on one set of operands, and what is wrong."""
        known = [side for side in sides if side is not None]
        if not known:
            return "unfit", shapes, ""
        feeds = resized_sets(asked[0])[asked[1]]
        problem = self._beside(layer, got, known)
        if problem is None:
            return "same", shapes, ""
        if has_own_rule(layer.name, feeds):
            return "undefined", shapes, problem
        if isinstance(got, str):
            return "undefined" if is_undefined(got, feeds) else "failed", shapes, problem
        anew = answers_anew(*asked)
        if None in anew:
            return "undefined", shapes, "OpenVINO dies"
        apart = self._beside(layer, anew[0][0], [anew[1][0]]) if anew[0][0] and anew[1][0] else None
        if apart is not None:
            return "undefined", shapes, f"OpenVINO's own answers: {apart}"
        problem = self._beside(layer, got, [side for side in anew[0] if side is not None])
        return "same" if problem is None else "wrong", shapes, problem or ""

    def _beside(self, layer: Any, got: Any, sides: list[Any]) -> str | None:
        """Nothing where one of the sides has the same, else what differs from the first."""
        if isinstance(got, str):
            return got
        problems = [self._differ(layer, got, [side], 0) for side in sides]
        return None if None in problems else problems[0]

    @staticmethod
    def _differ(layer: Any, got: list[Any], sets: list[Any], stacked: int) -> str | None:
        """What is wrong with a model's results, beside those of each set."""
        want = [*sets[-1], *(np.stack([one[k] for one in sets]) for k in range(stacked))]
        if layer.name.startswith("max") and len(got) == len(want) == 2:
            got = [got[0], places_of_some(*got, want[1])]
        tolerance = max(layer.tolerance, 5e-3 if any(a.dtype == np.float16 for a in want) else 0)
        problem: str | None = cases.compare(list(got), want, tolerance, tolerance)
        return problem


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(79), metavar="A:B",
                        help="layers A to B - 1")  # fmt: skip
    parser.add_argument("--filter", default="", metavar="REGEX", help="layers of such a name")
    parser.add_argument("--all", action="store_true", help="in every place, open and static")
    parser.add_argument("--extents", action="store_true", help="by themselves, of other extents")
    parser.add_argument("--level", type=int, default=3, help="of optimisation (default 3)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep the models there")
    parser.add_argument("-v", "--verbose", action="store_true", help="say all that differs")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    import random_ir_layers

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.keep or pathlib.Path(folder), options.verbose, options.level)
        for seed in options.seeds:
            if not re.search(options.filter, _layer(seed).name):
                continue
            kinds = len(random_ir_layers.LAYERS)
            forms = [(place, is_open) for place in PLACES for is_open in (False, True)]
            if options.extents:
                if not _layer(seed).name.startswith(FIXED):
                    judge.resize(seed)
                continue
            turn = (seed * 5 + seed // kinds) % 8
            for place, is_open in forms if options.all else [forms[turn]]:
                judge.run(seed, place, is_open)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(judge.count.items()))
    print(f"{len(options.seeds)} layers in {time.monotonic() - began:.0f} s: {parts}")
    return int(any(judge.count[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
