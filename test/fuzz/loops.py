# ===- loops.py - Long runs of random models -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random models with loops through loopc and the reference and compares.

    loops.py --seeds 0:1000                     from ONNX
    loops.py --seeds 0:1000 --engine openvino   from the IR that OpenVINO writes of them
    loops.py --seeds 0:1000 --engine onnxruntime  inside onnxruntime, as its execution provider
    loops.py --seeds 0:200 --engine cuda        as kernels, on what LOOPC_CUDA_DRIVER names, or
                                                else on the driver for tests; cuda-cluster,
                                                cuda-graph and cuda-host: in that form of
                                                --device-loops
    loops.py --seeds 0:200 --engine aarch64 [--programs] [--cpu neoverse-v1]
                                                as code for AArch64, under qemu
    loops.py --seeds 0:1000 --programs          small programs of any extent, each with many sets
                                                of inputs, in one form of declared shapes each
                                                (--forms all: in every form)
    loops.py --seeds 0:300 --open               the same of large models of any extent
    loops.py --seeds 0:1000 --states            the same of programs whose states are of every type
    loops.py --minimise 77 --write /tmp         writes what of model 77 fails, as
                                                loops-77.onnx and its inputs as loops-77.npz
    loops.py --minimise 77 --programs           the same of a program's first failing run
    loops.py --model FILE.onnx                  that one again; with --minimise 0 smaller

A line is printed for each failure, and at the end how models ended: same; refused (by the
reference, or not converted by OpenVINO); error (both end in one, for the same reason); other error
(for different reasons: look at these with -v); extents (only those of results without elements differ);
chaotic (only what another rounding changes differs); disputed (other engines compute what loopc
does); wrong, failed (loopc gives an error) and crashed (it dies, or hangs) are failures. -v prints
all that are not the same.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import numpy as np
import onnx
import onnx.printer
from onnx.inliner import inline_local_functions
from random_checks import Finding, Verdict, graphs
from random_engines import ENGINES, Settings, judge, judge_sets
from random_inputs import FORMS, RandomProgram, form
from random_models import RandomModel, random_model
from random_open_models import open_model
from random_programs import random_program
from random_states import random_states
from shrink import shrink


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seeds", type=compiling.seed_range, metavar="A:B", help="models A to B - 1"
    )
    parser.add_argument("--engine", choices=ENGINES, default="onnx", help="default onnx")
    parser.add_argument("--programs", action="store_true",
                        help="random_programs.py's, with many inputs, through ONNX")  # fmt: skip
    parser.add_argument("--open", action="store_true",
                        help="random_open_models.py's, with many inputs, through ONNX")  # fmt: skip
    parser.add_argument("--states", action="store_true",
                        help="random_states.py's, with many inputs, through ONNX")  # fmt: skip
    parser.add_argument("--forms", default="one", metavar="FORM",
                        help=f"one (the default: by the seed), all, {', '.join(FORMS)}")  # fmt: skip
    parser.add_argument("--opt-level", type=int, choices=range(4), metavar="0-3")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="default 1")
    parser.add_argument("--cpu", metavar="NAME",
                        help="what code is made for, as loopc's --cpu; must run here")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="per model")
    parser.add_argument("--minimise", type=int, metavar="SEED", help="make a failing model small")
    parser.add_argument("--model", type=pathlib.Path, metavar="FILE",
                        help="a model that --minimise wrote, instead of that of a seed")  # fmt: skip
    parser.add_argument("--write", type=pathlib.Path, default=pathlib.Path(), metavar="FOLDER",
                        help="where models are written (default: here)")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="writes the first failing run of each model there")  # fmt: skip
    parser.add_argument("-v", "--verbose", action="store_true", help="all that differ in any way")
    options = parser.parse_args(argv)
    if options.seeds is None and options.minimise is None and options.model is None:
        parser.error("nothing to do: --seeds, --minimise or --model")
    if options.seeds is not None and (options.minimise is not None or options.model is not None):
        parser.error("--seeds stands alone")
    if options.forms not in ("one", "all", *FORMS):
        parser.error(f"--forms: '{options.forms}' is not one, all, {', '.join(FORMS)}")
    many = options.programs + options.open + options.states
    if many > 1:
        parser.error("one of --programs, --open and --states")
    if many and options.engine not in ("onnx", "aarch64"):
        parser.error("--programs, --open and --states go through ONNX, for this CPU or for AArch64")
    if options.threads < 1 or options.timeout <= 0:
        parser.error("--threads and --timeout must be positive")
    if options.keep is not None and not options.keep.is_dir():
        parser.error(f"{options.keep} is not a folder")
    if options.model is not None and not options.model.is_file():
        parser.error(f"{options.model} is not a file")
    return options


def _use_test_driver() -> None:
    """Kernels run on the driver for tests, where nothing else is asked for."""
    if "LOOPC_CUDA_DRIVER" in os.environ:
        return
    import loopc

    driver = pathlib.Path(loopc.__file__).parents[2] / "test/cuda/libcuda.so.1"
    if not driver.is_file():
        raise SystemExit(f"{driver} was not built")
    os.environ |= {
        "LOOPC_CUDA_DRIVER": str(driver),
        "LOOPC_FAKE_CUDA_QUIET": "1",
        "LOOPC_PTXAS": "",  # PTX is what it runs.
    }


def _maker(options: argparse.Namespace) -> Callable[[int], RandomProgram] | None:
    """What makes models of many sets of inputs, where these are asked for."""
    if options.programs:
        return random_program
    if options.states:
        return random_states
    return open_model if options.open else None


class Fuzzer:
    """Judges models as the command line asks."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._settings = Settings(options.opt_level, options.threads, options.cpu or "native")
        self._make = _maker(options)

    def judge(self, model: RandomModel) -> Finding:
        """How a model ends."""
        if self._make:
            settings = self._settings
            limit, engine = self._options.timeout, self._options.engine
            [finding] = judge_sets(model, [model.feeds], settings, limit, engine)
            return finding
        return judge(model, self._options.engine, self._settings, self._options.timeout)

    def judge_program(self, seed: int) -> Iterator[tuple[str, RandomModel, Finding]]:
        """How the runs of a program end: each with its form, and the model with its inputs."""
        assert self._make is not None
        program = self._make(seed)
        chosen = self._options.forms
        names = FORMS if chosen == "all" else (FORMS[seed % len(FORMS)],)
        names = (chosen,) if chosen in FORMS else names
        settings = self._settings
        if settings.opt_level is None:
            level = {1: 0, 3: 1, 5: 2}.get(seed % 11, 3)
            settings = dataclasses.replace(settings, opt_level=level)
        for name in names:
            made = form(program, name)
            model = RandomModel(seed, made.proto, {}, program.types)
            limit, engine = self._options.timeout, self._options.engine
            found = judge_sets(model, made.sets, settings, limit, engine)
            for feeds, finding in zip(made.sets, found, strict=False):
                yield name, dataclasses.replace(model, feeds=feeds), finding

    def _findings(self, seed: int) -> Iterator[tuple[str, RandomModel, Finding]]:
        if not self._make:
            model = random_model(seed)
            yield f"{seed}", model, self.judge(model)
            return
        for number, (name, model, finding) in enumerate(self.judge_program(seed)):
            yield f"{seed} {name} #{number}", model, finding

    def _keep(self, model: RandomModel) -> None:
        if self._options.keep:
            _write(model, self._options.keep / f"loops-{model.seed}.onnx")

    def run(self, seeds: range) -> int:
        """Runs models and prints failures; the exit status."""
        count: collections.Counter[Verdict] = collections.Counter()
        failing: set[int] = set()
        began = shown = time.monotonic()
        for done, seed in enumerate(seeds, 1):
            for name, model, finding in self._findings(seed):
                count[finding.verdict] += 1
                if finding.verdict.bad and seed not in failing:
                    failing.add(seed)
                    self._keep(model)
                differs = finding.verdict not in (Verdict.SAME, Verdict.ERROR)
                if finding.verdict.bad or (self._options.verbose and differs):
                    print(f"{name}: {finding.verdict.value}: {finding.reason}", flush=True)
            now = time.monotonic()
            if now - shown > 10:
                shown = now
                line = f"{done} of {len(seeds)} models in {now - began:.0f} s"
                print(f"{line}, {len(failing)} failures", file=sys.stderr, flush=True)
        parts = [f"{count[verdict]} {verdict.value}" for verdict in Verdict if count[verdict]]
        if self._make:
            parts.append(f"of {len(failing)} programs")
        print(f"{len(seeds)} models in {time.monotonic() - began:.0f} s: {', '.join(parts)}")
        if failing:
            print(f"failing: {' '.join(map(str, sorted(failing)))}")
        return int(bool(failing))

    def first_failing(self, seed: int) -> RandomModel:
        """A form of a program with the inputs for which it fails, or else its first."""
        runs = list(self.judge_program(seed))
        bad = [model for _, model, finding in runs if finding.verdict.bad]
        return bad[0] if bad else runs[0][1]

    def minimise(self, model: RandomModel) -> int:
        """Makes a failing model small and writes it; the exit status."""
        first = self.judge(model)
        print(f"{first.verdict.value}: {first.reason}")
        if first.verdict in (Verdict.SAME, Verdict.REFUSED, Verdict.ERROR):
            return 0
        kind = _kind(first)
        inlined = dataclasses.replace(model, proto=inline_local_functions(model.proto))
        if model.proto.functions and _kind(self.judge(inlined)) == kind:
            model = inlined
        small = shrink(
            model,
            lambda candidate: _kind(self.judge(candidate)) == kind,
            lambda line: print(line, file=sys.stderr, flush=True),
        )
        path = self._options.write / f"loops-{model.seed}.onnx"
        _write(small, path)
        print(onnx.printer.to_text(small.proto))
        print(f"{path}: {self.judge(small).reason}")
        return int(first.verdict.bad)


def _write(model: RandomModel, path: pathlib.Path) -> None:
    onnx.save(model.proto, path)
    np.savez(path.with_suffix(".npz"), **model.feeds)  # type: ignore[arg-type]


def _kind(finding: Finding) -> tuple[str, ...]:
    """What a smaller model has in common with the one that it comes of."""
    if finding.verdict not in (Verdict.FAILED, Verdict.CRASHED):
        return (finding.verdict.value,)
    # The kind of error and its code; how a process ended.
    ending = re.findall(r"^\w+:|LC\d{4}|no answer|died with -?\d+", finding.reason)
    return (finding.verdict.value, *ending[:2])


def _loaded(path: pathlib.Path, seed: int) -> RandomModel:
    """A model that was written, with the types of its values as far as it tells them."""
    proto = onnx.load(path)
    with np.load(path.with_suffix(".npz")) as stored:
        feeds = dict(stored)
    inferred = onnx.shape_inference.infer_shapes(proto)
    types = {
        value.name: value.type.tensor_type.elem_type
        for graph in graphs(inferred.graph)
        for value in (*graph.value_info, *graph.output)
        if value.type.HasField("tensor_type")
    }
    return RandomModel(seed, proto, feeds, types)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    if options.engine.startswith("cuda"):
        _use_test_driver()
    fuzzer = Fuzzer(options)
    if options.seeds is not None:
        return fuzzer.run(options.seeds)
    if options.model is not None:
        model = _loaded(options.model, options.minimise or 0)
    else:
        many = options.programs or options.open or options.states
        model = (fuzzer.first_failing if many else random_model)(options.minimise)
    if options.minimise is not None:
        return fuzzer.minimise(model)
    finding = fuzzer.judge(model)
    print(f"{finding.verdict.value}: {finding.reason}")
    return int(finding.verdict.bad)


if __name__ == "__main__":
    sys.exit(main())
