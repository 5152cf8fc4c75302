# ===- random_engines.py - Ways of a random model through loopc ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random models in other processes, which may die, and says how they ended.

An engine is a way to loopc: from ONNX, from the IR that OpenVINO writes of the
model, inside onnxruntime as its execution provider, from ONNX to kernels on the
first GPU (what LOOPC_CUDA_DRIVER names), or to code for AArch64 (other_machine.py).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import pathlib
import platform
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

import checked_accesses
import engines
import numpy as np
import onnx
import other_machine
from onnx import helper, numpy_helper
from random_checks import (
    Finding,
    NotForEngineError,
    Verdict,
    check,
    check_strictly,
    compare_with_peer,
    graphs,
)
from random_models import RandomModel

ENGINES = ("onnx", "openvino", "onnxruntime", "cuda", "cuda-cluster", "cuda-graph", "cuda-host",
           "aarch64")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Settings:
    """How to compile: loopc.SessionOptions of the same names."""

    opt_level: int | None = None
    intra_op_num_threads: int = 1
    cpu: str = "native"
    check_accesses: bool = dataclasses.field(default_factory=checked_accesses.enabled)


#: What objects for other machines are made for, on those of this kind; all that runs tests has it.
PORTABLE = ("x86-64", "x86-64-v3") if platform.machine() == "x86_64" else ("native", "native")


def settings_of(seed: int) -> Settings:
    """How the program of a seed is compiled: mostly with all optimizations, for this CPU."""
    return Settings(
        opt_level={1: 0, 3: 1}.get(seed % 11, 3),
        intra_op_num_threads=2 if seed % 4 == 2 else 1,
        cpu={0: PORTABLE[0], 4: PORTABLE[1]}.get(seed % 7, "native"),
    )


def judge(
    model: RandomModel, engine: str = "onnx", settings: Settings | None = None, limit: float = 60.0
) -> Finding:
    """Compares an engine with the reference, and where they differ with another engine.

    Args:
        model: what to run.
        engine: one of ENGINES.
        settings: how to compile it.
        limit: seconds after which the model has hung.
    """
    content = model.proto.SerializeToString()
    asked = (content, model.feeds, model.types, engine, settings or Settings())
    outcome = engines.worker(_answer, limit).ask(asked)
    if outcome.values is None:
        if engine == "openvino" and engines.worker(_answer_converted, limit).ask(asked[:3]).crashed:
            return Finding(Verdict.REFUSED, f"OpenVINO dies of it: {outcome.error}")
        theirs = engines.worker(engines.run_ort).ask((content, model.feeds))
        if engine == "onnxruntime" and theirs.crashed:
            return Finding(Verdict.REFUSED, f"onnxruntime dies of it: {outcome.error}")
        return Finding(Verdict.CRASHED, outcome.error or "")
    [finding] = outcome.values
    assert isinstance(finding, Finding)
    if finding.verdict is not Verdict.WRONG:
        return finding
    if engine == "openvino":
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(content)
            theirs = engines.worker(engines.run_openvino).ask((str(path), model.feeds))
    else:
        theirs = engines.worker(engines.run_ort).ask((content, model.feeds))
    return compare_with_peer(finding, theirs.values)


def judge_sets(
    model: RandomModel,
    sets: Sequence[dict[str, Any]],
    settings: Settings | None = None,
    limit: float = 60.0,
    engine: str = "onnx",
) -> list[Finding]:
    """Compares a model that may end in an error with the reference, for each set of inputs.

    The engine is "onnx" or "aarch64". It is compiled once. Where that process dies, each set is asked for by itself, until two
    have died: there are no findings of the sets after these.
    """
    content = model.proto.SerializeToString()
    settings = settings or Settings()
    ask = engines.worker(_answer_sets, limit).ask
    outcome = ask((content, list(sets), model.types, settings, engine))
    if outcome.values is None and len(sets) > 1:
        findings: list[Finding] = []
        for feeds in sets:
            findings += judge_sets(model, [feeds], settings, limit, engine)
            if sum(finding.verdict is Verdict.CRASHED for finding in findings) == 2:
                return findings
        died = "no answer" not in (outcome.error or "")
        if died and all(finding.verdict is not Verdict.CRASHED for finding in findings):
            findings[-1] = Finding(Verdict.CRASHED, f"after other runs: {outcome.error}")
        return findings
    if outcome.values is None:
        return [Finding(Verdict.CRASHED, outcome.error or "")]
    findings = []
    for finding, feeds in zip(outcome.values, sets, strict=False):
        if finding.verdict in (Verdict.WRONG, Verdict.FAILED):
            theirs = engines.worker(engines.run_ort).ask((content, feeds))
            finding = compare_with_peer(finding, theirs.values)
        findings.append(finding)
    return findings


def _answer_sets(
    content: bytes,
    sets: Sequence[dict[str, Any]],
    types: dict[str, int],
    settings: Settings,
    engine: str,
) -> engines.Outcome:
    proto = onnx.load_model_from_string(content)

    @functools.cache
    def compiled() -> Callable[[dict[str, Any]], list[Any]]:
        if engine == "aarch64":
            threads = settings.intra_op_num_threads
            return functools.partial(_library(content, settings).run, threads=threads)
        import loopc

        return functools.partial(loopc.InferenceSession(content, _options(settings)).run, None)

    def run(model: RandomModel) -> list[Any]:
        return list(compiled()(model.feeds))

    findings = [check_strictly(RandomModel(0, proto, feeds, types), run) for feeds in sets]
    return engines.Outcome(values=findings)


def _answer(
    content: bytes,
    feeds: dict[str, Any],
    types: dict[str, int],
    engine: str,
    settings: Settings,
) -> engines.Outcome:
    model = RandomModel(0, onnx.load_model_from_string(content), feeds, types)
    if engine == "openvino":
        model = _as_openvino_reads(model)
    elif engine == "onnxruntime":
        model = dataclasses.replace(model, ort_compat=True)
    run = functools.partial(_RUNS[engine], settings=settings)
    finding = check(model, run)
    if engine == "openvino" and finding.verdict.bad and _loses_initial_values(model):
        reason = "OpenVINO leaves out the initial value of a state that no trip reads"
        finding = Finding(Verdict.REFUSED, f"{reason}: {finding.reason}")
    if engine == "onnxruntime" and finding.verdict is Verdict.WRONG:
        # Some of its operators leave elements of results as memory was.
        alone = check(model, _run_onnxruntime_alone)
        if set(finding.places) <= set(alone.places):
            finding = Finding(Verdict.DISPUTED, f"onnxruntime by itself: {alone.reason}")
    return engines.Outcome(values=[finding])


def _answer_converted(
    content: bytes, feeds: dict[str, Any], types: dict[str, int]
) -> engines.Outcome:
    model = _as_openvino_reads(RandomModel(0, onnx.load_model_from_string(content), feeds, types))
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(NotForEngineError):
        _convert(model, folder)
    return engines.Outcome()


def _as_openvino_reads(model: RandomModel) -> RandomModel:
    """The model where OpenVINO's own meaning of a Loop is that of ONNX.

    What it writes ends where the body yields false, though there was no condition,
    and does not end where the trip count is negative.
    """
    proto = copy.deepcopy(model.proto)
    for nodes in (*(g.node for g in graphs(proto.graph)), *_nodes_of_functions(proto)):
        old = list(nodes)
        del nodes[:]
        for node in old:
            if node.op_type == "Loop" and node.input[0]:
                name = f"{node.output[0]}_count"
                nodes.extend(_not_negative(node.input[0], name))
                node.input[0] = name
            nodes.append(node)
    return dataclasses.replace(model, proto=proto, ort_compat=True)


def _nodes_of_functions(proto: onnx.ModelProto) -> Iterator[Any]:
    for function in proto.functions:
        yield function.node
        for node in function.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    yield from (g.node for g in graphs(attribute.g))


def _not_negative(count: str, name: str) -> Iterator[onnx.NodeProto]:
    """A trip count that is 0 where it was negative, as every operator set says it."""
    zero = numpy_helper.from_array(np.asarray(0, np.float32), f"{name}_zero")
    yield helper.make_node("Constant", [], [zero.name], value=zero)
    yield helper.make_node("Cast", [count], [f"{name}_float"], to=onnx.TensorProto.FLOAT)
    yield helper.make_node("Greater", [f"{name}_float", zero.name], [f"{name}_some"])
    yield helper.make_node("Cast", [f"{name}_some"], [f"{name}_bit"], to=onnx.TensorProto.INT64)
    yield helper.make_node("Mul", [count, f"{name}_bit"], [name])


def _options(settings: Settings) -> Any:
    import loopc

    return loopc.SessionOptions(**dataclasses.asdict(settings))


def _run_onnx(model: RandomModel, settings: Settings) -> list[Any]:
    import loopc

    content = model.proto.SerializeToString()
    return loopc.InferenceSession(content, _options(settings)).run(None, model.feeds)


def _library(content: bytes, settings: Settings) -> other_machine.Library:
    flags = [f"-O{settings.opt_level}"] if settings.opt_level is not None else []
    flags += [f"--cpu={settings.cpu}"] if settings.cpu != "native" else []
    return other_machine.Library(content, flags)


def _run_aarch64(model: RandomModel, settings: Settings) -> list[Any]:
    library = _library(model.proto.SerializeToString(), settings)
    return library.run(model.feeds, settings.intra_op_num_threads)


def _run_onnxruntime_alone(model: RandomModel) -> list[Any]:
    alone = engines.run_ort(model.proto.SerializeToString(), model.feeds)
    if alone.values is None:
        raise NotForEngineError(f"onnxruntime does not run it: {alone.error}")
    return alone.values


def _run_in_onnxruntime(model: RandomModel, settings: Settings) -> list[Any]:
    """By onnxruntime with loopc in it, which has all loops, branches and recurrent operators.

    A model that onnxruntime does not run by itself is none for it: its own operators
    are the rest of the model.
    """
    import onnxruntime
    import ort_provider

    _run_onnxruntime_alone(model)
    # What is claimed, and what onnxruntime makes of the model before, go by the model.
    kind = zlib.crc32(model.proto.SerializeToString())
    options: dict[str, Any] = {
        "intra_op_num_threads": settings.intra_op_num_threads,
        "claim": ("loops", "regions", "all")[kind % 3],
    }
    if settings.opt_level is not None:
        options["opt_level"] = settings.opt_level
    of_session = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    of_session.graph_optimization_level = (
        levels.ORT_ENABLE_ALL,
        levels.ORT_DISABLE_ALL,
        levels.ORT_ENABLE_BASIC,
    )[kind // 3 % 3]
    session = ort_provider.open_session(model.proto, session_options=of_session, **options)
    return list(session.run(None, model.feeds))


def _run_cuda(model: RandomModel, settings: Settings, device_loops: str = "auto") -> list[Any]:
    import loopc

    session = loopc.InferenceSession(
        model.proto.SerializeToString(),
        _options(settings),
        device="cuda:0",
        min_kernel_work=0,
        device_loops=device_loops,
    )
    session.run(None, model.feeds)
    # The second run is given what the first one left: memory, graphs.
    return session.run(None, model.feeds)


def _convert(model: RandomModel, folder: str) -> pathlib.Path:
    """The IR that OpenVINO writes of a model."""
    import openvino

    path = pathlib.Path(folder) / "model.onnx"
    path.write_bytes(model.proto.SerializeToString())
    written = path.with_suffix(".xml")
    try:
        converted = openvino.convert_model(path)
        openvino.save_model(converted, written, compress_to_fp16=False)
    except Exception as error:  # OpenVINO's errors have no common base.
        raise NotForEngineError(f"OpenVINO does not convert it: {error}") from error
    if b'type="NullNode"' in written.read_bytes():
        raise NotForEngineError("OpenVINO writes an input that is left out, and does not read it")
    return written


def _loses_initial_values(model: RandomModel) -> bool:
    """Whether a loop of the IR yields what was a state, and begins with nothing for it.

    OpenVINO takes a state out that the body does not read. After no trip nobody
    knows then what it was.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = ElementTree.parse(_convert(model, folder)).getroot()
    for layer in root.iter("layer"):
        if layer.get("type") != "Loop":
            continue
        carried = {edge.get("from-layer") for edge in layer.iterfind("back_edges/edge")}
        for port in layer.iterfind("port_map/output"):
            is_last = port.get("axis") is None and port.get("purpose") is None
            if is_last and port.get("internal_layer_id") not in carried:
                return True
    return False


def _run_openvino(model: RandomModel, settings: Settings) -> list[Any]:
    import loopc

    with tempfile.TemporaryDirectory() as folder:
        session = loopc.InferenceSession(_convert(model, folder), _options(settings))
    names = {port.name for port in session.get_inputs()}
    if not names <= set(model.feeds):
        raise NotForEngineError("OpenVINO writes captured values as inputs of the model")
    return session.run(None, {name: model.feeds[name] for name in names})


_RUNS: dict[str, Callable[..., list[Any]]] = {
    "onnx": _run_onnx,
    "openvino": _run_openvino,
    "onnxruntime": _run_in_onnxruntime,
    "cuda": _run_cuda,
    "cuda-cluster": functools.partial(_run_cuda, device_loops="cluster"),
    "cuda-graph": functools.partial(_run_cuda, device_loops="graph"),
    "cuda-host": functools.partial(_run_cuda, device_loops="host"),
    "aarch64": _run_aarch64,
}
