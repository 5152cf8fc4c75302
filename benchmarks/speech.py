# ===- speech.py - Speech in one call, and in a loop of Python -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Features, voice activity, an encoder and a greedy search for each frame of a stream of sound.

    PYTHONPATH=build/python .venv/bin/python benchmarks/speech.py

loopc runs them as one session (`loopc.compose`, states; the search is a model with a Loop).
onnxruntime runs five with Python between them, which is how such models are used: features,
voice activity, encoder, the network that knows the last words, and the one that joins both.
Each engine has a process of its own, one thread, models in files, and a cache of compiled
models where it has one; they take turns. Prints for each width of the encoder the least time
of a frame, and how much memory a process has beyond one that has imported the engine:
resident, and of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

FRAMES, ROUNDS = 300, 5
#: Units of the layers of the encoder.
WIDTHS = (64, 128, 256, 512)
#: Words of a vocabulary, the first of which says that a frame has none; the most of a frame.
WORDS, BLANK, MOST = 500, 0, 3
STATES = {
    "before": "after", "state": "stateN", "h": "hN", "c": "cN", "words": "wordsN",
    "context": "contextN",
}  # fmt: skip
VAD = {"input": "sound", "output": "voice"}

FRONT = """<ir_version: 8, opset_import: ["" : 17]>
front (float[1,512] frame, float[1,64] before)
    => (float[1,576] sound, float[1,64] after, float[1,1,80] features) {
  sound = Concat <axis = 1> (before, frame)
  from = Constant <value_ints = [-64]> ()
  to = Constant <value_ints = [512]> ()
  axis = Constant <value_ints = [1]> ()
  after = Slice (frame, from, to, axis)
  bell = Mul (frame, window)
  last = Constant <value_ints = [2]> ()
  signal = Unsqueeze (bell, last)
  spectrum = DFT <axis = 1, onesided = 1> (signal)
  power = ReduceSumSquare <axes = [2], keepdims = 0> (spectrum)
  bands = MatMul (power, mel)
  least = Constant <value_float = 0.00001> ()
  some = Add (bands, least)
  logs = Log (some)
  features = Unsqueeze (logs, zero)
}"""
ENCODER = """<ir_version: 8, opset_import: ["" : 17]>
encoder (float[1,1,80] features, float[2,1,WIDTH] h, float[2,1,WIDTH] c)
    => (float[1,1,WIDTH] encoded, float[2,1,WIDTH] hN, float[2,1,WIDTH] cN) {
  h0, h1 = Split <axis = 0> (h)
  c0, c1 = Split <axis = 0> (c)
  y0, h0N, c0N = LSTM <hidden_size = WIDTH> (features, W0, R0, B0, , h0, c0)
  rows = Squeeze (y0, one)
  y1, h1N, c1N = LSTM <hidden_size = WIDTH> (rows, W1, R1, B1, , h1, c1)
  encoded = Squeeze (y1, one)
  hN = Concat <axis = 0> (h0N, h1N)
  cN = Concat <axis = 0> (c0N, c1N)
}"""
#: The two words before, as a vector; what a frame and that say about the next word.
CONTEXT = """
  vectors = Gather (embedding, PAIR)
  flat = Reshape (vectors, row)
  both = Gemm (flat, mix, mix_bias)
  OUT = Relu (both)"""
JOIN = """
  given = Add (heard, KNOWN)
  joint = Tanh (given)
  scores = Gemm (joint, spell, spell_bias)"""
PREDICTOR = f"""<ir_version: 8, opset_import: ["" : 17]>
predictor (int64[1,2] words) => (float[1,256] context) {{
{CONTEXT.replace("PAIR", "words").replace("OUT", "context")} }}"""
JOINER = f"""<ir_version: 8, opset_import: ["" : 17]>
joiner (float[1,1,WIDTH] encoded, float[1,256] context) => (float[1,500] scores) {{
  frame = Reshape (encoded, frame_shape)
  heard = MatMul (frame, hear)
{JOIN.replace("KNOWN", "context")} }}"""
SEARCH = f"""<ir_version: 8, opset_import: ["" : 17]>
search (float[1,1,WIDTH] encoded, int64[1,2] words, float[1,256] context)
    => (int64[K] found, int64[1,2] wordsN, float[1,256] contextN) {{
  frame = Reshape (encoded, frame_shape)
  heard = MatMul (frame, hear)
  most = Constant <value = int64 {{3}}> ()
  yes = Constant <value = bool {{1}}> ()
  wordsN, contextN, tokens = Loop (most, yes, words, context) <body = word
    (int64 i, bool more, int64[1,2] pair, float[1,256] known)
    => (bool going, int64[1,2] pairN, float[1,256] knownN, int64[1] token) {{
{JOIN.replace("KNOWN", "known")}
      token = ArgMax <axis = 1, keepdims = 0> (scores)
      spoken = Cast <to = 9> (token)
      going = Squeeze (spoken)
      pairN, knownN = If (going) <then_branch = word () => (int64[1,2] next, float[1,256] vector) {{
          older, newer = Split <axis = 1> (pair)
          line = Unsqueeze (token, zero)
          next = Concat <axis = 1> (newer, line)
{CONTEXT.replace("PAIR", "next").replace("OUT", "vector")}
        }}, else_branch = none () => (int64[1,2] same, float[1,256] old) {{
          same = Identity (pair)
          old = Identity (known)
        }}>
    }}>
  flags = Cast <to = 9> (tokens)
  line = Reshape (tokens, all)
  flat_flags = Reshape (flags, all)
  found = Compress <axis = 0> (line, flat_flags)
}}"""


def with_weights(text: str, weights: dict[str, np.ndarray]) -> Any:
    """A model and its initializers: those that it names."""
    from onnx import numpy_helper, parser

    model = parser.parse_model(text)
    model.graph.initializer.extend(
        numpy_helper.from_array(value, name)
        for name, value in weights.items()
        if re.search(rf"\b{name}\b", text)
    )
    return model


def make_models(width: int) -> dict[str, Any]:
    """All models, by name, for an encoder of that width."""
    import onnx

    rng = np.random.default_rng(0)

    def draw(spread: float, *shape: int) -> np.ndarray:
        return rng.normal(0, spread, shape).astype(np.float32)

    weights: dict[str, np.ndarray] = {
        "window": np.hanning(512).astype(np.float32)[None],
        "mel": np.maximum(0, 1 - abs(np.arange(257)[:, None] / 3.2 - np.arange(80))).astype(
            np.float32
        ),
        "zero": np.zeros(1, np.int64),
        "one": np.ones(1, np.int64),
    }
    for layer, given in enumerate((80, width)):
        for name, columns in (("W", given), ("R", width)):
            weights[f"{name}{layer}"] = draw(0.8 / width**0.5, 1, 4 * width, columns)
        weights[f"B{layer}"] = draw(0.05, 1, 8 * width)
    search: dict[str, np.ndarray] = {
        "embedding": draw(1, WORDS, 256),
        "mix": draw(0.05, 512, 256),
        "mix_bias": draw(0.05, 256),
        "hear": draw(16 / width**0.5, width, 256),
        "spell": draw(0.05, 256, WORDS),
        "spell_bias": np.zeros(WORDS, np.float32),
        "row": np.array([1, 512]),
        "frame_shape": np.array([1, width]),
        "all": np.array([-1]),
        "zero": weights["zero"],
    }
    # A word in every second frame, or less.
    search["spell_bias"][BLANK] = 2.7
    spec = importlib.util.find_spec("silero_vad")
    assert spec and spec.origin, "pip install silero-vad"
    vad = pathlib.Path(spec.origin).parent / "data/silero_vad_16k_op15.onnx"
    return {
        "front": with_weights(FRONT, weights),
        "vad": onnx.load(str(vad)),
        "encoder": with_weights(ENCODER.replace("WIDTH", str(width)), weights),
        "predictor": with_weights(PREDICTOR, search),
        "joiner": with_weights(JOINER.replace("WIDTH", str(width)), search),
        "search": with_weights(SEARCH.replace("WIDTH", str(width)), search),
    }


def write_models(folder: pathlib.Path, width: int) -> None:
    """Writes the models, and the one that they are together."""
    import loopc
    import onnx

    models = make_models(width)
    for name, model in models.items():
        onnx.save(model, folder / f"{name}.onnx")
    composed = loopc.compose(
        [models[name] for name in ("front", "vad", "encoder", "search")],
        [{}, VAD, {}, {}],
        outputs=["voice", "found", "encoded", *STATES.values()],
    )
    onnx.save(composed, folder / "composed.onnx")


Step = Callable[[np.ndarray], list[np.ndarray]]


def open_loopc(folder: pathlib.Path) -> Step:
    """One session."""
    import loopc

    options = loopc.SessionOptions(states=STATES, shapes={"state": (2, 1, 128)})
    session = loopc.InferenceSession(folder / "composed.onnx", options)
    rate = np.array(16000)

    def step(frame: np.ndarray) -> list[np.ndarray]:
        return session.run(None, {"frame": frame, "sr": rate})

    return step


def open_onnxruntime(folder: pathlib.Path) -> Step:
    """Five sessions, and a search of Python."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    front, vad, encoder, predictor, joiner = (
        onnxruntime.InferenceSession(
            str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
        )
        for name in ("front", "vad", "encoder", "predictor", "joiner")
    )
    rate = np.array(16000)
    before, state = np.zeros((1, 64), np.float32), np.zeros((2, 1, 128), np.float32)
    h = c = np.zeros(encoder.get_inputs()[1].shape, np.float32)
    words, context = np.zeros((1, 2), np.int64), np.zeros((1, 256), np.float32)

    def search(encoded: np.ndarray) -> np.ndarray:
        nonlocal words, context
        found: list[int] = []
        while len(found) < MOST:
            (scores,) = joiner.run(None, {"encoded": encoded, "context": context})
            word = int(scores.argmax())
            if word == BLANK:
                break
            found.append(word)
            words = np.array([[words[0, 1], word]])
            (context,) = predictor.run(None, {"words": words})
        return np.array(found, np.int64)

    def step(frame: np.ndarray) -> list[np.ndarray]:
        nonlocal before, state, h, c
        sound, before, features = front.run(None, {"frame": frame, "before": before})
        voice, state = vad.run(None, {"input": sound, "state": state, "sr": rate})
        encoded, h, c = encoder.run(None, {"features": features, "h": h, "c": c})
        return [voice, search(encoded), encoded]

    return step


ENGINES = {"loopc": open_loopc, "onnxruntime": open_onnxruntime}


def memory() -> tuple[int, ...]:
    """Bytes of this process that are in memory, and those that no other process shares."""
    text = pathlib.Path("/proc/self/smaps_rollup").read_text()
    found = {line.split()[0]: line.split() for line in text.splitlines()[1:]}
    return tuple(1024 * int(found[key][1]) for key in ("Rss:", "Private_Dirty:"))


def make_sound() -> np.ndarray:
    """Frames of 512 samples: tones of seven frames each, and noise."""
    rng = np.random.default_rng(1)
    tones = rng.uniform(0.02, 2, FRAMES // 7 + 1).repeat(7)[:FRAMES].repeat(512)
    sound = 0.5 * np.sin(np.cumsum(tones)) + rng.normal(0, 0.05, tones.size)
    return sound.reshape(FRAMES, 1, 512).astype(np.float32)


def measure(engine: str, folder: pathlib.Path) -> dict[str, Any]:
    """Seconds of a frame, bytes, and what comes out: in the process that this is."""
    __import__(engine)
    sound = make_sound()
    begin = memory()
    step = ENGINES[engine](folder)
    frames = [step(frame) for frame in sound]
    used = [after - before for after, before in zip(memory(), begin, strict=True)]
    started = time.perf_counter()
    for frame in sound:
        step(frame)
    taken = (time.perf_counter() - started) / FRAMES
    sums = [[float(np.sum(part)) for part in frame[:3]] for frame in frames]
    words = sum(len(found) for _, found, *_ in frames)
    return {"figures": [taken, *used], "results": sums, "words": words}


def compare(folder: pathlib.Path, width: int) -> None:
    """Measures both in turns, and prints a row."""
    write_models(folder, width)
    environment = {**os.environ, "LOOPC_CACHE_DIR": str(folder / "cache"), "LOOPC_TIER": "off"}
    found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in ENGINES}
    for _ in range(ROUNDS):
        for engine, rows in found.items():
            command = [sys.executable, __file__, engine, str(folder)]
            done = subprocess.run(command, stdout=-1, check=True, env=environment)
            rows.append(json.loads(done.stdout))
    ours, theirs = (rows[0]["results"] for rows in found.values())
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-3)
    best = {engine: np.min([row["figures"] for row in rows], 0) for engine, rows in found.items()}
    lines = [f"{a * 1e6:8.1f} {b / 1e6:6.1f} {c / 1e6:6.1f}" for a, b, c in best.values()]
    ratios = " ".join(f"{ratio:6.2f}" for ratio in best["onnxruntime"] / best["loopc"])
    print(
        f"{width:5} {found['loopc'][0]['words']:5} {lines[0]} | {lines[1]} | {ratios}", flush=True
    )


def main() -> int:
    """Prints the table; with an engine's name and a folder measures that one, as JSON."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], pathlib.Path(sys.argv[2]))))
        return 0
    figures = f"{'us':>8} {'MB':>6} {'own':>6}"
    print(f"{FRAMES} frames; microseconds of one, MB resident and of the process's own")
    print(f"{'width':5} {'words':5} {figures} | {figures} | onnxruntime / loopc")
    for width in WIDTHS:
        with tempfile.TemporaryDirectory() as folder:
            compare(pathlib.Path(folder), width)
    return 0


if __name__ == "__main__":
    sys.exit(main())
