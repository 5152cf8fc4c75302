# ===- tiers.py - The bits of both tiers, of random models ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs models by code that is made quickly and by optimised code, and compares bit by bit.

    tiers.py --seeds 0:100                      each kind of random model
    tiers.py --seeds 0:1000 --kind products     one kind
    tiers.py --seeds 0:1 --kind conformance     all models of ONNX's conformance suite
    tiers.py --seeds 77:78 --kind loops --keep /tmp   writes what differs, as loops-77-FORM.onnx
                                                and its inputs

A session of `SessionOptions.tier` "background" goes from one to the other between two runs. NaN
is equal to NaN, whatever its bits are, and one zero to the other, as a maximum of both may be
either; all other elements, extents, types and errors are to be the same. Each set of inputs
runs a second time with zeros of both signs among its numbers. Models run with one to three
threads, at -O2 and -O3. A line is printed for each failure, and at the end how many runs there
were.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import pathlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import compiling
import engines
import loopc
import numpy as np
import random_readers
from open_networks import OpenNetwork
from random_contrib import ContribModel
from random_idioms import IdiomModel
from random_inputs import FORMS, form
from random_models import random_model
from random_numbers import NumberModel
from random_open_models import open_model
from random_products import random_products
from random_programs import random_program
from random_states import random_states
from random_windows import WindowModel

#: Threads and level of a session, by the seed.
SETTINGS = ((1, 3), (2, 3), (1, 3), (3, 3), (1, 2))


@dataclasses.dataclass(frozen=True)
class Case:
    """A model, what it is called, and its sets of inputs."""

    name: str
    model: Any  # bytes, or a network
    sets: Sequence[Mapping[str, Any]]


# Models -------------------------------------------------------------------


def _model(seed: int) -> Iterator[Case]:
    made = random_model(seed)
    yield Case("model", made.proto.SerializeToString(), [dict(made.feeds)])


def _program(make: Callable[[int], Any]) -> Callable[[int], Iterator[Case]]:
    def cases_of(seed: int) -> Iterator[Case]:
        made = form(make(seed), FORMS[seed % len(FORMS)])
        yield Case(made.name, made.proto.SerializeToString(), made.sets)

    return cases_of


def _in_forms(make: Callable[[int], Any]) -> Callable[[int], Iterator[Case]]:
    def cases_of(seed: int) -> Iterator[Case]:
        made = make(seed)
        for name, content, numbers in made.forms():
            yield Case(name, content, [made.sets[k] for k in numbers])

    return cases_of


def _chain(make: Callable[[int], Any]) -> Callable[[int], Iterator[Case]]:
    def cases_of(seed: int) -> Iterator[Case]:
        made = make(seed)
        yield Case("open", made.model().SerializeToString(), made.sets)
        yield Case("static", made.model(0).SerializeToString(), made.sets[:1])

    return cases_of


def _network(seed: int) -> Iterator[Case]:
    made = OpenNetwork(seed)
    yield Case("open", made.net, [feeds for _, feeds in made.sets(5)])


def _readers(seed: int) -> Iterator[Case]:
    model, feeds = random_readers.make(seed)
    yield Case("readers", model.SerializeToString(), [feeds])


def _products(seed: int) -> Iterator[Case]:
    made = random_products(seed)
    yield Case(made.name, made.proto.SerializeToString(), made.sets)


@functools.cache
def _suite() -> list[Any]:
    return cases.load()


def _conformance(_: int) -> Iterator[Case]:
    for case in _suite():
        model = cases.model_of(case)
        content = model if isinstance(model, str) else model.SerializeToString()
        yield Case(case.name, content, [feeds for feeds, _ in cases.data_sets(case)])


KINDS: dict[str, Callable[[int], Iterator[Case]]] = {
    "loops": _model,
    "programs": _program(random_program),
    "open": _program(open_model),
    "states": _program(random_states),
    "windows": _in_forms(WindowModel),
    "numbers": _in_forms(NumberModel),
    "idioms": _chain(IdiomModel),
    "contrib": _chain(ContribModel),
    "networks": _network,
    "readers": _readers,
    "products": _products,
    "conformance": _conformance,
}


# Runs ---------------------------------------------------------------------


def bits(value: Any) -> Any:
    """What is to be equal of a value; lists and tuples of these where it has parts."""
    if isinstance(value, list | tuple):
        return [bits(one) for one in value]
    if isinstance(value, dict):
        return {key: bits(one) for key, one in value.items()}
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return None if value is None else np.asarray(value).tolist()
    # The small floats are of ml_dtypes and have the kind of what is no number.
    if value.dtype.kind in "fcV":
        nan = value != value
        value = np.where(nan, np.zeros((), value.dtype), value) if nan.any() else value
        if value.dtype.kind in "fc":
            value = value + value.dtype.type(0)  # which has no -0
        return value.dtype.str, value.shape, value.tobytes(), nan.tobytes()
    return value.dtype.str, value.shape, value.tobytes()


def with_zeros(feeds: Mapping[str, Any]) -> dict[str, Any]:
    """The same with zeros of both signs among the numbers."""
    changed = dict(feeds)
    for name, value in feeds.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 4:
            changed[name] = value.copy()
            changed[name].flat[::5] = 0.0
            changed[name].flat[2::5] = -0.0
    return changed


def outcomes(case: Case, tier: str, threads: int, level: int) -> list[Any]:
    """The bits of each run, or the error that it ends with."""
    options = loopc.SessionOptions(tier=tier, intra_op_num_threads=threads, opt_level=level)
    try:
        session = loopc.InferenceSession(case.model, options)
    except loopc.Error as error:
        return [str(error)]
    names = {port.name for port in session.get_inputs()}
    found: list[Any] = []
    for feeds in [*case.sets, *map(with_zeros, case.sets)]:
        loopc.set_seed(7)
        try:
            values = session.run(None, {k: v for k, v in feeds.items() if k in names})
            found.append([bits(value) for value in values])
        except loopc.Error as error:
            found.append(str(error))
    return found


def difference(quick: Sequence[Any], full: Sequence[Any]) -> str:
    """Where the runs of a case differ first; empty if they do not."""
    if len(quick) != len(full):
        return f"{quick[0] if len(quick) == 1 else 'a session'}, and {full[0] if len(full) == 1 else 'a session'}"
    for k, (one, other) in enumerate(zip(quick, full, strict=True)):
        if one == other:
            continue
        if isinstance(one, str) or isinstance(other, str):
            return f"run {k}: {one if isinstance(one, str) else 'values'}, and {other if isinstance(other, str) else 'values'}"
        number = [a == b for a, b in zip(one, other, strict=True)].index(False)
        return f"run {k}, output {number}"
    return ""


def _compare(kind: str, seed: int, first: int, last: int) -> engines.Outcome:
    """A text for each case, empty where both tiers are the same, and the number of runs."""
    threads, level = SETTINGS[seed % len(SETTINGS)]
    warnings.simplefilter("ignore", UserWarning)
    found: list[Any] = []
    for number, case in enumerate(KINDS[kind](seed)):
        if not first <= number < last:
            continue
        full = outcomes(case, "off", threads, level)
        text = difference(outcomes(case, "quick", threads, level), full)
        # What depends on the order in which threads come is none of the tier's.
        if text and difference(outcomes(case, "off", threads, level), full):
            text = ""
        found.append((case.name, text, len(full)))
    return engines.Outcome(values=found)


def _keep(folder: pathlib.Path, kind: str, seed: int, name: str) -> None:
    """Writes a case."""
    for case in KINDS[kind](seed):
        if case.name == name and isinstance(case.model, bytes):
            stem = f"{kind}-{seed}-{name}".replace(" ", "-")
            (folder / f"{stem}.onnx").write_bytes(case.model)
            for k, feeds in enumerate(case.sets):
                arrays: dict[str, Any] = dict(feeds)
                np.savez(folder / f"{stem}-{k}.npz", **arrays)


def problems(
    kind: str,
    seed: int,
    count: collections.Counter[str],
    keep: pathlib.Path | None = None,
    part: tuple[int, int] = (0, sys.maxsize),
) -> list[str]:
    """What differs of the models of a seed."""
    outcome = engines.worker(_compare, 1200.0).ask((kind, seed, *part))
    if outcome.values is None:
        return [f"{kind} {seed}: {outcome.error}"]
    found = []
    for name, text, runs in outcome.values:
        count["models"] += 1
        count["runs"] += runs
        if text:
            found.append(f"{kind} {seed}, {name}: {text[:400]}")
            if keep:
                _keep(keep, kind, seed, name)
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
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: all random ones")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    options = parser.parse_args(argv)
    count: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    for kind in options.kind or [kind for kind in KINDS if kind != "conformance"]:
        for seed in options.seeds:
            found = problems(kind, seed, count, options.keep)
            count["failures"] += len(found)
            for text in found:
                print(text, flush=True)
    parts = ", ".join(f"{number} {name}" for name, number in sorted(count.items()))
    print(f"{time.monotonic() - began:.0f} s: {parts}")
    return 1 if count["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
