# ===- test_random_models.py - Random models with loops -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that random_models.py makes compute what the reference computes.

test/fuzz/loops.py runs more of them, by other ways too, and makes a failing one small.
"""

from __future__ import annotations

import collections
import importlib.util
import pathlib
import subprocess
import sys

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
import random_checks
from random_checks import Verdict
from random_engines import Settings, judge
from random_models import RandomModel, random_model

MODELS, CHUNK = 140, 10
FUZZ = pathlib.Path(__file__).parents[1] / "fuzz"


@pytest.mark.parametrize("first", range(0, MODELS, CHUNK))
def test_random_models(first: int) -> None:
    """Compiled with and without optimizations, for one thread and for two."""
    count: collections.Counter[Verdict] = collections.Counter()
    wrong = []
    for seed in range(first, first + CHUNK):
        settings = Settings(0 if seed % 5 == 1 else 3, 2 if seed % 4 == 2 else 1)
        finding = judge(random_model(seed), settings=settings)
        count[finding.verdict] += 1
        if finding.verdict.bad:
            wrong.append(f"seed {seed}: {finding.verdict.value}: {finding.reason}")
    assert not wrong, "\n".join(wrong)
    # Models that say nothing would pass too.
    assert count[Verdict.SAME] >= CHUNK * 0.7, count


def test_a_seed_is_a_model() -> None:
    one, other = (random_model(7) for _ in range(2))
    assert one.proto == other.proto
    assert one.proto != random_model(8).proto
    for name, value in one.feeds.items():
        np.testing.assert_array_equal(value, other.feeds[name])


def test_models_are_of_every_kind() -> None:
    kinds: collections.Counter[str] = collections.Counter()
    for seed in range(MODELS):
        proto = random_model(seed).proto
        kinds[f"opset {proto.opset_import[0].version}"] += 1
        for depth, graph in _with_depth(proto.graph, 0):
            for node in graph.node:
                kinds[node.op_type] += 1
                kinds[f"{node.op_type} at depth {depth}"] += 1
                if node.op_type == "Loop":
                    kinds["Loop without a trip count"] += not node.input[0]
                    kinds["Loop without a condition"] += not node.input[1]
    wanted = [f"opset {version}" for version in (8, 9, 11, 13, 16, 21)]
    wanted += ["Loop", "Scan", "If", "SequenceInsert", "Loop at depth 1", "Scan at depth 1"]
    wanted += ["If at depth 2", "Loop without a trip count", "Loop without a condition"]
    assert not [kind for kind in wanted if kinds[kind] < 3], kinds


def _with_depth(graph: onnx.GraphProto, depth: int):  # type: ignore[no-untyped-def]
    yield depth, graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _with_depth(attribute.g, depth + 1)


def _model(text: str, **feeds: np.ndarray) -> RandomModel:
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    types = {name: onnx.TensorProto.FLOAT for name in ("y", "z")}
    return RandomModel(0, proto, feeds, types)


def test_what_is_found() -> None:
    """A wrong result is one, and what a rounding changes is not."""
    plain = _model("main (float[n] x) => (float[n] y) { y = Neg(x) }", x=np.ones(3, np.float32))
    right = -np.ones(3, np.float32)
    found = {
        "same": random_checks.check(plain, lambda _: [right]),
        "wrong": random_checks.check(plain, lambda _: [right + 1]),
        "shape": random_checks.check(plain, lambda _: [right[None]]),
        "count": random_checks.check(plain, lambda _: []),
        "failed": random_checks.check(plain, lambda _: 1 / 0),  # type: ignore[arg-type, return-value]
    }
    assert {name: finding.verdict for name, finding in found.items()} == {
        "same": Verdict.SAME,
        "wrong": Verdict.WRONG,
        "shape": Verdict.WRONG,
        "count": Verdict.WRONG,
        "failed": Verdict.FAILED,
    }
    # What another engine computes as well is disputed.
    peer = random_checks.compare_with_peer(found["wrong"], [right + 1])
    assert peer.verdict is Verdict.DISPUTED
    assert random_checks.compare_with_peer(found["wrong"], [right]) == found["wrong"]

    step = _model(
        "main (float[n] x) => (float[n] y) { z = Neg(x) \n y = Floor(z) }", x=np.ones(3, np.float32)
    )
    other = random_checks.check(step, lambda _: [right - 1])
    assert other.verdict is Verdict.CHAOTIC

    empty = _model("main (float[n] x) => (float[n] y) { y = Neg(x) }", x=np.ones(0, np.float32))
    extents = random_checks.check(empty, lambda _: [np.ones((0, 4), np.float32)])
    assert extents.verdict is Verdict.EXTENTS


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_programs_of_the_loop_dialect(first: int) -> None:
    """MLIR as people write it, after passes alone too."""
    sys.path.insert(0, str(FUZZ))
    from mlir_loops import problems

    tools = pathlib.Path(loopc.__file__).parents[2] / "bin"
    wrong = [
        f"seed {seed}: {problem}"
        for seed in range(first, first + 8)
        for problem in problems(seed, tools, passes=1)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_stages_are_read_again(seed: int) -> None:
    sys.path.insert(0, str(FUZZ))
    from stages import problems

    tools = pathlib.Path(loopc.__file__).parents[2] / "bin"
    wrong = list(problems(seed, tools))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_networks(first: int) -> None:
    sys.path.insert(0, str(FUZZ))
    from network_programs import RandomNetwork
    from random_networks import GOOD, outcome

    found = {seed: outcome(RandomNetwork(seed), seed % 4) for seed in range(first, first + 8)}
    assert not {seed: text for seed, text in found.items() if text not in GOOD}
    assert "same" in found.values()


def _fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ / "loops.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_long_runs() -> None:
    run = _fuzz("--seeds", "0:2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2 models in ")
    assert _fuzz("--seeds", "3:1").returncode == 2
    assert _fuzz().returncode == 2


def test_a_failing_model_becomes_small() -> None:
    spec = importlib.util.spec_from_file_location("shrink", FUZZ / "shrink.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    asked = 0

    def fails(model: RandomModel) -> bool:
        nonlocal asked
        asked += 1
        try:
            random_checks.expected(model)
        except Exception:
            return False
        kinds = {n.op_type for g in random_checks.graphs(model.proto.graph) for n in g.node}
        return {"Loop", "Scan"} <= kinds

    seed = next(seed for seed in range(30, 100) if fails(random_model(seed)))
    small = module.shrink(random_model(seed), fails, lambda _: None)
    assert asked > 5
    assert fails(small)
    sizes = [
        sum(len(graph.node) for graph in random_checks.graphs(model.proto.graph))
        for model in (random_model(seed), small)
    ]
    assert sizes[1] <= 16 < sizes[0], sizes
    assert len(small.feeds) <= len(random_model(seed).feeds)
