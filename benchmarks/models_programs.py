# ===- models_programs.py - Sequences and whole programs that are timed -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sequences in loops, and real models that are run chunk by chunk; as models_basic.py."""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

import importlib.util
import pathlib
from collections.abc import Callable

import numpy as np
import onnx
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array


def sequence_insert(trips: int = 2_000, width: int = 64) -> Benchmark:
    """Appends a tensor to a sequence in each iteration, and joins them in the end."""
    model = make_model("""(int64 M, float[N] x, float[N] step) => (float[K] y) {
        none = SequenceEmpty<dtype = 1>()
        last, all = Loop<body = body (int64 i, bool c, float[N] v, seq(float[N]) s) => (bool c, float[N] w, seq(float[N]) t) {
            w = Add(v, step)
            t = SequenceInsert(s, w)
        }>(M, "", x, none)
        y = ConcatFromSequence<axis = 0>(all)
    }""")
    # Quarters up to 2^20 are exact in float32.
    feeds = {
        "M": np.array(trips),
        "x": np.round(4 * random_array(width, seed=0)).astype(np.float32) / 4,
        "step": np.round(4 * random_array(width, seed=1)).astype(np.float32) / 4,
    }

    def expect(f: Feeds) -> Outputs:
        times = np.arange(1, trips + 1, dtype=np.float32)[:, None]
        return [(f["x"] + times * f["step"]).reshape(-1)]

    name = f"sequence insert {trips}x[{width}]"
    return Benchmark(name, trips, model, feeds, expect, 0, 0)


def _silero_file() -> pathlib.Path:
    found = importlib.util.find_spec("silero_vad")
    if not found or not found.origin:
        raise ImportError("the package silero-vad is not installed")
    return pathlib.Path(found.origin).parent / "data" / "silero_vad.onnx"


def silero_vad(seconds: int = 30) -> Benchmark:
    """Voice activity detection, chunk by chunk with the state carried by the program."""
    rate, size, context = 16_000, 512, 64
    chunks = seconds * rate // size
    model = onnx.load(_silero_file())
    noise = np.random.default_rng(0).standard_normal(chunks * size)
    time = np.arange(chunks * size) / rate
    # Bursts of a buzzing tone in noise: neither all speech nor all silence.
    tone = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 12))
    burst = np.sin(2 * np.pi * 0.7 * time) > 0
    audio = (0.1 * tone * burst + 0.01 * noise).astype(np.float32)
    feeds = {"audio": audio.reshape(chunks, 1, size)}

    def drive(run: Callable[[Feeds], Outputs], f: Feeds) -> Outputs:
        state = np.zeros((2, 1, 128), np.float32)
        before = np.zeros((1, context), np.float32)
        rows = []
        for chunk in f["audio"]:
            given = np.concatenate([before, chunk], axis=1)
            speech, state = run({"input": given, "state": state, "sr": np.array(rate)})
            before = chunk[:, -context:]
            rows.append(np.array(speech))
        return [np.stack(rows), state]

    def expect(f: Feeds) -> Outputs:
        raise AssertionError("there is no such computation with NumPy")

    name = f"silero-vad, {seconds} s"
    return Benchmark(
        name, chunks, model, feeds, expect, 1e-3, 1e-4, 0, drive, reference="onnxruntime"
    )


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "sequence_insert": sequence_insert,
    "silero_vad": silero_vad,
}
