# ===- speech.py - Three models in one call, and in a loop of Python ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Features, voice activity and an encoder for each frame of a stream of sound.

    PYTHONPATH=build/python .venv/bin/python benchmarks/speech.py

loopc runs them as one session (`loopc.compose`, states), onnxruntime as three, with Python
between them, each in a process of its own, on one thread and in turns. Prints the least time
of a frame, and how much memory its process has beyond one that has imported it (resident).
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, parser

FRAMES, ROUNDS = 300, 5
STATES = {"before": "after", "state": "stateN", "h": "hN", "c": "cN"}
VAD = {"input": "sound", "output": "voice"}

FRONT = """<ir_version: 8, opset_import: ["" : 13]>
front (float[1,512] frame, float[1,64] before)
    => (float[1,576] sound, float[1,64] after, float[1,1,80] features) {
  sound = Concat <axis = 1> (before, frame)
  from = Constant <value_ints = [-64]> ()
  to = Constant <value_ints = [512]> ()
  axis = Constant <value_ints = [1]> ()
  after = Slice (frame, from, to, axis)
  real = MatMul (sound, cosines)
  imaginary = MatMul (sound, sines)
  real2 = Mul (real, real)
  imaginary2 = Mul (imaginary, imaginary)
  power = Add (real2, imaginary2)
  bands = MatMul (power, mel)
  least = Constant <value_float = 0.00001> ()
  some = Add (bands, least)
  logs = Log (some)
  features = Unsqueeze (logs, zero)
}"""
ENCODER = """<ir_version: 8, opset_import: ["" : 17]>
encoder (float[1,1,80] features, float[2,1,256] h, float[2,1,256] c)
    => (float[1,1,256] encoded, float[2,1,256] hN, float[2,1,256] cN) {
  h0, h1 = Split <axis = 0> (h)
  c0, c1 = Split <axis = 0> (c)
  y0, h0N, c0N = LSTM <hidden_size = 256> (features, W0, R0, B0, , h0, c0)
  rows = Squeeze (y0, one)
  y1, h1N, c1N = LSTM <hidden_size = 256> (rows, W1, R1, B1, , h1, c1)
  encoded = Squeeze (y1, one)
  hN = Concat <axis = 0> (h0N, h1N)
  cN = Concat <axis = 0> (c0N, c1N)
}"""


def with_weights(text: str, weights: dict[str, np.ndarray]) -> Any:
    """A model and its initializers."""
    model = parser.parse_model(text)
    model.graph.initializer.extend(
        numpy_helper.from_array(value, name) for name, value in weights.items()
    )
    return model


def make_models() -> list[Any]:
    """The three models."""
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.outer(np.arange(576), np.arange(257)) / 512
    window = np.hanning(576)[:, None]
    front: dict[str, np.ndarray] = {
        "cosines": (window * np.cos(angles)).astype(np.float32),
        "sines": (window * np.sin(angles)).astype(np.float32),
        "mel": rng.uniform(0, 0.1, (257, 80)).astype(np.float32),
        "zero": np.zeros(1, np.int64),
    }
    encoder: dict[str, np.ndarray] = {"one": np.ones(1, np.int64)}
    for layer, width in enumerate((80, 256)):
        for name, shape in (("W", (1, 1024, width)), ("R", (1, 1024, 256)), ("B", (1, 2048))):
            encoder[f"{name}{layer}"] = rng.normal(0, 0.05, shape).astype(np.float32)
    spec = importlib.util.find_spec("silero_vad")
    assert spec and spec.origin, "pip install silero-vad"
    vad = onnx.load(str(pathlib.Path(spec.origin).parent / "data/silero_vad_16k_op15.onnx"))
    return [with_weights(FRONT, front), vad, with_weights(ENCODER, encoder)]


Step = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def open_loopc(models: list[Any]) -> Step:
    """One session."""
    import loopc

    composed = loopc.compose(models, [{}, VAD, {}], outputs=["voice", "encoded", *STATES.values()])
    options = loopc.SessionOptions(states=STATES, shapes={"state": (2, 1, 128)})
    session = loopc.InferenceSession(composed, options)
    rate = np.array(16000)

    def step(frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        voice, encoded = session.run(None, {"frame": frame, "sr": rate})
        return voice, encoded

    return step


def open_onnxruntime(models: list[Any]) -> Step:
    """Three sessions."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    front, vad, encoder = (
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        for model in models
    )
    rate = np.array(16000)
    before, state = np.zeros((1, 64), np.float32), np.zeros((2, 1, 128), np.float32)
    h = c = np.zeros((2, 1, 256), np.float32)

    def step(frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal before, state, h, c
        sound, before, features = front.run(None, {"frame": frame, "before": before})
        voice, state = vad.run(None, {"input": sound, "state": state, "sr": rate})
        encoded, h, c = encoder.run(None, {"features": features, "h": h, "c": c})
        return voice, encoded

    return step


ENGINES = {"loopc": open_loopc, "onnxruntime": open_onnxruntime}


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measure(engine: str) -> dict[str, Any]:
    """Seconds of a frame, bytes, and what comes out: in the process that this is."""
    __import__(engine)
    begin = resident()
    step = ENGINES[engine](make_models())
    sound = np.random.default_rng(1).normal(0, 0.1, (FRAMES, 1, 512)).astype(np.float32)
    results = [float(np.sum(part)) for frame in sound[:20] for part in step(frame)]
    started = time.perf_counter()
    for frame in sound:
        step(frame)
    taken = (time.perf_counter() - started) / FRAMES
    return {"seconds": taken, "bytes": resident() - begin, "results": results}


def main() -> int:
    """Prints the table; with an engine's name measures that one, and prints JSON."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
        return 0
    found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in ENGINES}
    for _ in range(ROUNDS):
        for engine, rows in found.items():
            command = [sys.executable, __file__, engine]
            rows.append(json.loads(subprocess.run(command, stdout=-1, check=True).stdout))
    ours, theirs = (rows[0]["results"] for rows in found.values())
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)
    best = {engine: min(row["seconds"] for row in rows) for engine, rows in found.items()}
    memory = {engine: min(row["bytes"] for row in rows) for engine, rows in found.items()}
    for engine in ENGINES:
        print(f"{engine:12} {best[engine] * 1e6:8.1f} us a frame {memory[engine] / 1e6:8.1f} MB")
    print(f"onnxruntime / loopc: {best['onnxruntime'] / best['loopc']:.2f} times the time, "
          f"{memory['onnxruntime'] / memory['loopc']:.2f} times the memory")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
