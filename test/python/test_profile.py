# ===- test_profile.py - Where the time of runs goes --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""enable_profiling: a table and a trace, with onnxruntime's names, and the same results."""

import json
import re
import threading
from pathlib import Path

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest

READER = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    reader (int64 n, float[T, 64] words, float[1, 64] start, float[64, 64] mix)
        => (float[T, 64] scores) {
      last, read = Loop (n, , start) <body = sentence
        (int64 i, bool going, float[1, 64] before)
        => (bool more, float[1, 64] after, float[64] kept) {
          word = Gather <axis = 0> (words, i)
          [pick] mixed = MatMul (before, mix)
          heard = Add (mixed, word)
          after = Tanh (heard)
          axis = Constant <value_ints = [0]> ()
          kept = Squeeze (after, axis)
          more = Identity (going)
        }>
      scores = Softmax <axis = -1> (read)
    }"""
)


def feeds(count: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)

    def some(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    return {
        "n": np.array(count),
        "words": some(count, 64),
        "start": some(1, 64),
        "mix": some(64, 64) / 8,
    }


def profiled(**options) -> loopc.InferenceSession:
    chosen = loopc.SessionOptions(**options)
    chosen.enable_profiling = True
    return loopc.InferenceSession(READER, chosen)


def lines(table: str) -> dict[str, float]:
    """The calls, or iterations, of each line by its name."""
    return {
        found[2].strip(): float(found[1])
        for found in re.finditer(r"^ *[\d.]+ +[\d.]+ +(\d+) +[\d.]+  (.*)$", table, re.MULTILINE)
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("level", [0, 3])
def test_the_table_counts_nodes_and_iterations(level, threads):
    session = profiled(opt_level=level, intra_op_num_threads=threads)
    plain = loopc.InferenceSession(READER, loopc.SessionOptions(opt_level=level))
    given = feeds(50)
    for _ in range(3):
        np.testing.assert_array_equal(session.run(None, given)[0], plain.run(None, given)[0])
    table = session.get_profiling_table()
    assert table.startswith("profile: 3 runs of reader, ")
    counts = lines(table)
    assert counts["main/Loop #0/body/#1 MatMul 'pick' (opset 21)"] == 150
    assert counts["main/#0 Loop (opset 21)"] == 150


def test_the_trace_has_the_form_of_onnxruntimes(tmp_path):
    session = profiled()
    session._options.profile_file_prefix = str(tmp_path / "reader")
    assert session.get_profiling_start_time_ns() > 0
    session.run(None, feeds(20))
    name = session.end_profiling()
    assert re.fullmatch(r"reader_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.json", Path(name).name)
    events = json.loads(Path(name).read_text())
    runs = [event for event in events if event.get("cat") == "Session"]
    nodes = [event for event in events if event.get("cat") == "Node"]
    iterations = [event for event in events if event.get("cat") == "Iteration"]
    assert [event["name"] for event in runs] == ["model_run"]
    assert {"pick_kernel_time", "Loop_0_kernel_time"} <= {event["name"] for event in nodes}
    picked = next(event for event in nodes if event["name"] == "pick_kernel_time")
    assert picked["args"]["op_name"] == "MatMul"
    assert picked["args"]["path"] == "main/Loop #0/body/#1 MatMul 'pick' (opset 21)"
    numbers = [event["args"]["iteration"] for event in iterations]
    assert numbers == sorted(set(numbers)) and numbers[0] == 0 and numbers[-1] < 20
    # Perfetto shows what lies within another bar below it.
    loop = next(event for event in nodes if event["name"] == "Loop_0_kernel_time")
    for inner in iterations:
        assert loop["ts"] <= inner["ts"] + 0.002
        assert inner["ts"] + inner["dur"] <= loop["ts"] + loop["dur"] + 0.002
    # It was ended: nothing is measured any more.
    session.run(None, feeds(20))
    assert session.end_profiling() == "" and session.get_profiling_table() == ""


def test_runs_of_two_threads_at_a_time_are_summed_up():
    session = profiled()
    given = feeds(30)

    def run() -> None:
        for _ in range(20):
            session.run(None, given)

    workers = [threading.Thread(target=run) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    table = session.get_profiling_table()
    assert table.startswith("profile: 40 runs of reader, ")
    assert lines(table)["main/#0 Loop (opset 21)"] == 1200


def test_a_profile_is_another_model_of_the_cache(tmp_path):
    options = loopc.SessionOptions(cache_dir=tmp_path)
    loopc.InferenceSession(READER, options)
    options.enable_profiling = True
    session = loopc.InferenceSession(READER, options)
    session.run(None, feeds(3))
    assert "main/#0 Loop" in session.get_profiling_table()


def test_a_library_is_measured_where_it_was_made_for_it(tmp_path):
    options = loopc.SessionOptions()
    options.enable_profiling = True
    for profile in (True, False):
        library = tmp_path / f"reader{profile}.so"
        loopc.compile(READER, library, emit="shared", profile=profile)
        session = loopc.InferenceSession(library, options)
        if profile:
            session.run(None, feeds(3))
            assert "MatMul 'pick'" in session.get_profiling_table()
        else:
            with pytest.raises(loopc.InvalidArgument, match="compile it with --profile"):
                session.run(None, feeds(3))


def test_a_model_without_a_profile_has_none(tmp_path):
    session = loopc.InferenceSession(READER)
    assert session.end_profiling() == "" and session.get_profiling_table() == ""
    assert session.get_profiling_start_time_ns() == 0
    loopc.compile(READER, tmp_path / "plain.mlir", emit="llvm")
    assert "profile" not in (tmp_path / "plain.mlir").read_text()


def test_a_model_without_parts_has_a_table():
    options = loopc.SessionOptions()
    options.enable_profiling = True
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        tiny (float x) => (float y) { y = Add (x, x) }"""
    )
    session = loopc.InferenceSession(model, options)
    assert session.run(None, {"x": np.float32(2)})[0] == 4
    assert session.get_profiling_table().splitlines()[-1].endswith("between nodes")


def test_errors(tmp_path):
    session = profiled()
    session._options.profile_file_prefix = str(tmp_path / "no" / "folder")
    with pytest.raises(OSError, match="cannot write the profile: No such file"):
        session.end_profiling()
    with pytest.raises(loopc.CompileError, match="code for GPUs is not measured"):
        loopc.compile(READER, tmp_path / "x.o", chip="sm_90", profile=True)
    # A run that fails is measured up to there.
    session = profiled()
    wrong = feeds(5) | {"n": np.array(9)}
    with pytest.raises(loopc.RunError, match="Gather"):
        session.run(None, wrong)
    assert session.get_profiling_table().startswith("profile: 1 run of reader, ")
