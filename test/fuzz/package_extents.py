# ===- package_extents.py - Models of packages with other extents ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the models of docs/Models.md with many extents, in several forms, beside onnxruntime.

    package_extents.py                        all of them
    package_extents.py --filter 'silero|ocr'  those whose package or name matches
    package_extents.py model.onnx             another one
    package_extents.py --forms loop --seed 7  other extents, in a Loop

The benchmark runs each model with one set of extents. Here a session runs with some: batches and
lengths of 1, 2, 3, odd numbers, twice and half of what the benchmark has. Forms are the model as
it is ("open"), with each access of the compiled code checked ("checked"), with some of its open
extents fixed ("part"), and with all of its nodes in the body of a Loop of two iterations ("loop"). What onnxruntime refuses is left out. A line is printed for each
failure: wrong, refused, failed or crashed. Differences beside the largest element of an output are
judged by what onnxruntime's own outputs change where inputs move by a few units in the last place.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import model_packages
import numpy as np
import onnx
from model_packages import Entry
from onnx import TensorProto, helper
from user_models import difference, make_shape, make_value

FORMS = ("open", "part", "loop", "checked")
#: Seconds that one model may take.
PATIENCE = 600
#: Sets of extents that are run, and that are tried.
RUNS, TRIES = 5, 15
#: Elements of an input at most, unless the benchmark has more.
MOST = 1 << 18
#: Relative size of what inputs move by, by type, and how many times the change of onnxruntime's
#: outputs, and how much in any case, loopc's may differ.
UNITS = {np.dtype(np.float16): 2e-3, np.dtype(np.float32): 2e-7, np.dtype(np.float64): 4e-16}
CHAOS, LEAST = 30.0, 1e-3


def symbols_of(ports: Sequence[Any], given: Mapping[str, str]) -> dict[str, int]:
    """The open extents by name, those without one by input and axis; what the benchmark has."""
    found = {}
    for port in ports:
        base = make_shape(port.name, port.shape, given)
        for axis, extent in enumerate(port.shape):
            if not isinstance(extent, int):
                found[str(extent) if extent else f"{port.name}.{axis}"] = base[axis]
    return found


def choose(base: int, rng: random.Random) -> int:
    """Another extent beside the benchmark's."""
    if base >= 256:
        return rng.choice([base, base // 2, base + 1, base - 16, 2 * base, base + base // 3])
    return max(1, rng.choice([1, 2, 3, 5, 7, base, base, base + 1, base - 1, 2 * base, 17, 31]))


def shape_of(port: Any, extents: Mapping[str, int]) -> list[int]:
    """The extents of an input."""
    return [
        one if isinstance(one, int) else extents[str(one) if one else f"{port.name}.{axis}"]
        for axis, one in enumerate(port.shape)
    ]


def fix(model: onnx.ModelProto, extents: Mapping[str, int]) -> None:
    """Writes what `extents` has into the types of the inputs."""
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            name = dim.dim_param or f"{value.name}.{axis}"
            if not dim.HasField("dim_value") and name in extents:
                dim.dim_value = extents[name]
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")


def put_into_loop(model: onnx.ModelProto) -> bool:
    """Two iterations compute the model each; false where an output is no tensor."""
    graph = model.graph
    if not all(value.type.HasField("tensor_type") for value in graph.output):
        return False
    body = onnx.GraphProto(name="body")
    # The first versions of Loop carry a value at least.
    kinds = {"i": TensorProto.INT64, "c": TensorProto.BOOL, "k": TensorProto.INT64}
    for name, kind in kinds.items():
        body.input.append(helper.make_tensor_value_info(f"loop_{name}", kind, []))
    body.node.extend(graph.node)
    for name in "ck":
        body.node.append(helper.make_node("Identity", [f"loop_{name}"], [f"loop_{name}_next"]))
        body.output.append(helper.make_tensor_value_info(f"loop_{name}_next", kinds[name], []))
    for k, value in enumerate(graph.output):
        kind = value.type.tensor_type.elem_type
        body.node.append(helper.make_node("Identity", [value.name], [f"loop_out{k}"]))
        body.output.append(helper.make_tensor_value_info(f"loop_out{k}", kind, None))
    del graph.node[:], graph.value_info[:]
    graph.initializer.append(helper.make_tensor("loop_n", TensorProto.INT64, [], [2]))
    results = ["loop_k_last", *(value.name for value in graph.output)]
    graph.node.append(helper.make_node("Loop", ["loop_n", "", "loop_n"], results, body=body))
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    return True


def perturbed(feeds: Mapping[str, Any], rng: Any) -> dict[str, Any]:
    """Inputs that are moved by about a unit in the last place."""
    return {
        name: (value * (1 + UNITS[value.dtype] * rng.choice([-1, 0, 1], value.shape))).astype(
            value.dtype
        )
        if value.dtype in UNITS
        else value
        for name, value in feeds.items()
    }


def is_quantized(model: onnx.ModelProto) -> bool:
    """Whether numbers are rounded to few bits, where one unit in the last place is much."""
    return any("Quant" in node.op_type or "Integer" in node.op_type for node in model.graph.node)


def judge(got: Any, want: Any, moved: Any, least: float) -> str:
    """What is wrong with `got`; "" where it is what roundings may make of it."""
    for k, (one, other, third) in enumerate(zip(got, want, moved, strict=True)):
        found = difference(one, other)
        least = max(least, 5e-3 if np.asarray(other).dtype == np.float16 else LEAST)
        if found > max(CHAOS * difference(third, other), least):
            shapes = f"{np.shape(one)} and {np.shape(other)}"
            return f"output {k} differs by {found:.2g} of its largest element, shapes {shapes}"
    return ""


def _open_session(model: onnx.ModelProto, path: str, form: str) -> Any:
    import loopc

    options = loopc.SessionOptions(cache_dir="off", check_accesses=form == "checked")
    options.intra_op_num_threads = 1
    if form in ("open", "checked"):
        return loopc.InferenceSession(path, options)
    # Beside the model, as others may lie there that it reads.
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=Path(path).parent) as file:
        onnx.save(model, file.name)
        return loopc.InferenceSession(file.name, options)


def _is_refused(peer: Any, model: onnx.ModelProto, path: str, given: Mapping[str, str]) -> bool:
    """Whether onnxruntime has no answer for extents that were fixed either."""
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=Path(path).parent) as file:
        onnx.save(model, file.name)
        try:
            session = peer.InferenceSession(file.name, providers=["CPUExecutionProvider"])
            ports, rng = session.get_inputs(), np.random.default_rng(0)
            bases = symbols_of(ports, given)
            session.run(
                None, {one.name: make_value(one, shape_of(one, bases), given, rng) for one in ports}
            )
        except Exception:  # whatever it is
            return True
    return False


def try_model(path: str, given: Mapping[str, str], form: str, seed: int) -> Iterator[str]:
    """Runs one model; failures, and at the end how many runs there were."""
    import onnxruntime

    rng, numbers = random.Random(f"{seed} {Path(path).name} {form}"), np.random.default_rng(seed)
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    quiet.intra_op_num_threads = 1
    peer = onnxruntime.InferenceSession(path, quiet, providers=["CPUExecutionProvider"])
    bases = symbols_of(peer.get_inputs(), given)
    model, fixed = onnx.load(path, load_external_data=False), {}
    if form == "part":
        fixed = {name: choose(base, rng) for name, base in bases.items() if rng.random() < 0.5}
        fix(model, fixed)
    if form == "loop" and not put_into_loop(model):
        yield "unfit"
        return
    try:
        session = _open_session(model, path, form)
    except Exception as error:  # whatever it is
        if form == "part" and _is_refused(onnxruntime, model, path, given):
            yield "unfit"
            return
        yield f"refused: {fixed} {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        return
    done = tries = 0
    while done < RUNS and tries < TRIES and (bases or not tries):
        tries += 1
        extents = {name: fixed.get(name) or choose(base, rng) for name, base in bases.items()}
        shapes = {port.name: shape_of(port, extents) for port in peer.get_inputs()}
        if any(math.prod(shape) > MOST for shape in shapes.values()):
            continue
        feeds = {
            port.name: make_value(port, shapes[port.name], given, numbers)
            for port in peer.get_inputs()
        }
        try:
            want = peer.run(None, feeds)
            moved = peer.run(None, perturbed(feeds, numbers))
        except Exception:
            continue
        if form == "loop":
            want, moved = ([np.stack([one, one]) for one in some] for some in (want, moved))
        done += 1
        print(json.dumps(extents), file=sys.stderr, flush=True)
        try:
            said = judge(session.run(None, feeds), want, moved, 0.05 * is_quantized(model))
        except Exception as error:  # whatever it is
            said = f"failed: {type(error).__name__}: {str(error).splitlines()[0][:300]}"
        if said:
            yield f"{extents} {said}"
    yield f"runs {done}"


def run(entry: Entry, form: str, seed: int) -> tuple[list[str], int]:
    """Failures of a model, in a process of its own, and how many runs there were."""
    command = [sys.executable, __file__, "--one", "--forms", form, "--seed", str(seed)]
    command += [str(entry.path), *(f"--set={name}={value}" for name, value in entry.given.items())]
    environment = {**os.environ, "LOOPC_COMPILE": "inprocess", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return [f"more than {PATIENCE} seconds"], 0
    lines = [one for one in done.stdout.splitlines() if one != "unfit"]
    runs = sum(int(one.split()[1]) for one in lines if one.startswith("runs "))
    failures = [one for one in lines if not one.startswith("runs ")]
    said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
    if done.returncode < 0:
        failures.append(f"crashed: signal {-done.returncode} behind {said[0]}")
    elif done.returncode and "onnxruntime" not in done.stderr:
        failures.append(f"status {done.returncode}: {said[0]}")
    return failures, runs


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("models", nargs="*", type=Path, metavar="MODEL")
    add("--set", action="append", default=[], metavar="NAME=NUMBER")
    add("--filter", type=re.compile, default=re.compile(""), metavar="REGEX")
    add("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    add("--seed", type=int, default=0)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "loopc-models"
    add("--cache", type=Path, default=cache, metavar="FOLDER", help=f"of packages ({cache})")
    add("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if not all("=" in one for one in options.set):
        parser.error("--set takes NAME=NUMBER")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Prints failures and returns the exit status."""
    options = parse(argv)
    given = dict(one.split("=", 1) for one in options.set)
    if options.one:
        for said in try_model(str(options.models[0]), given, options.forms[0], options.seed):
            print(said, flush=True)
        return 0
    models = runs = failed = 0

    def wanted(entry: Entry) -> bool:
        return bool(options.filter.search(f"{entry.origin} {entry.name}"))

    entries: Iterator[Entry] = (
        iter([Entry("", path, given) for path in options.models])
        if options.models
        else model_packages.find(options.cache, wanted)
    )
    for entry in entries:
        models += 1
        for form in options.forms:
            failures, done = run(entry, form, options.seed)
            runs += done
            failed += bool(failures)
            for said in failures:
                print(f"{entry.origin} {entry.name}, {form}: {said}", flush=True)
    print(f"{models} models, {runs} runs, {failed} with failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
