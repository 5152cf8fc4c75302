# ===- test_real_models.py - Published models and converters' output -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The voice activity detectors of the package silero-vad, and what skl2onnx writes.

silero-vad's six models hold up to 25 Ifs whose branches differ in rank around
convolutions, a reflecting Pad and an LSTM; one takes a sequence of frames, one
computes in float16. skl2onnx writes pairwise distances as a Scan.
"""

from __future__ import annotations

import importlib.util
import pathlib
import warnings

import loopc
import numpy as np
import onnxruntime
import pytest
from loopc import aot
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.neighbors import KNeighborsRegressor

SECONDS = 30
CONTEXT_MS, CHUNK_MS = 4, 32


def _silero_folder() -> pathlib.Path:
    spec = importlib.util.find_spec("silero_vad")
    assert spec is not None and spec.origin is not None, "silero-vad is not installed"
    return pathlib.Path(spec.origin).parent / "data"


SILERO = sorted(_silero_folder().glob("*.onnx"))


def speech_like(rate: int) -> np.ndarray:
    """SECONDS of harmonics that come and go, with a little noise; shape [n], float32."""
    rng = np.random.default_rng(0)
    t = np.arange(SECONDS * rate) / rate
    pitch = 140 + 30 * np.sin(2 * np.pi * 0.5 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(
        0.3 / k * np.sin(k * phase) * (np.sin(2 * np.pi * 0.7 * t + k) > 0) for k in range(1, 12)
    )
    return (voice * (np.sin(2 * np.pi * 0.9 * t) > 0) + 0.02 * rng.standard_normal(t.size)).astype(
        np.float32
    )


def reference_session(path: pathlib.Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def chunks(rate: int) -> np.ndarray:
    """Frames of CHUNK_MS, each behind the last CONTEXT_MS of the one before; [n, samples]."""
    audio = speech_like(rate)
    size, context = rate * CHUNK_MS // 1000, rate * CONTEXT_MS // 1000
    frames = audio[: audio.size // size * size].reshape(-1, size)
    before = np.vstack([np.zeros((1, context), np.float32), frames[:-1, -context:]])
    return np.concatenate([before, frames], axis=1)


def compiled(path: pathlib.Path, how: str, folder: pathlib.Path) -> loopc.InferenceSession:
    if how == "in process":
        return loopc.InferenceSession(path)
    return loopc.load(aot.compile_shared(path, folder))


@pytest.mark.parametrize("how", ["in process", "ahead of time"])
@pytest.mark.parametrize("path", SILERO, ids=lambda p: p.stem)
def test_silero_vad(path: pathlib.Path, how: str, tmp_path: pathlib.Path) -> None:
    """Chunk after chunk with carried state, both engines each with its own state."""
    theirs, ours = reference_session(path), compiled(path, how, tmp_path)
    names = {i.name for i in theirs.get_inputs()}
    rates = (16000, 8000) if "sr" in names and "16k" not in path.stem else (16000,)
    # Half precision: steps of 2^-11 accumulate over the state.
    tolerance = 5e-3 if "half" in path.stem else 1e-4
    for rate in rates:
        if "state" in names:
            _compare_chunks(theirs, ours, rate, names, tolerance)
        else:
            feeds = {"input": chunks(rate)}
            for name in names - {"input"}:
                feeds[name] = np.zeros((1, 1, 128), np.float32)
            for a, b in zip(theirs.run(None, feeds), ours.run(None, feeds), strict=True):
                np.testing.assert_allclose(b, a, atol=tolerance)


def _compare_chunks(theirs, ours, rate: int, names: set[str], tolerance: float) -> None:
    states = [np.zeros((2, 1, 128), np.float32)] * 2
    spoken = []
    for frame in chunks(rate):
        feeds = {"input": frame[None]}
        if "sr" in names:
            feeds["sr"] = np.array(rate, np.int64)
        (want, want_state), (got, got_state) = (
            engine.run(None, feeds | {"state": state})
            for engine, state in zip((theirs, ours), states, strict=True)
        )
        states = [want_state, got_state]
        np.testing.assert_allclose(got, want, atol=tolerance)
        np.testing.assert_allclose(got_state, want_state, atol=10 * tolerance)
        spoken.append(float(want.item()))
    assert max(spoken) - min(spoken) > 0.01, "the signal tests nothing"


def _fitted() -> dict[str, object]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 3))
    y = np.sin(x.sum(axis=1))
    models = {
        "gpr_rbf": GaussianProcessRegressor(kernels.RBF() + kernels.WhiteKernel(0.1)),
        "gpr_rational": GaussianProcessRegressor(
            kernels.ConstantKernel(2.0) * kernels.RationalQuadratic(), alpha=1e-2
        ),
        "knn": KNeighborsRegressor(3),
        "knn_by_distance": KNeighborsRegressor(4, weights="distance"),
        "knn_manhattan": KNeighborsRegressor(3, metric="manhattan"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models.values():
            model.fit(x, y)
    return models


SKLEARN = _fitted()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SKLEARN)
def test_skl2onnx(name: str, dtype: type) -> None:
    """The converted model, whatever the batch.

    The converter itself departs from scikit-learn in weights by distance.
    """
    from skl2onnx import to_onnx

    batch = np.random.default_rng(1).standard_normal((9, 3)).astype(dtype)
    model = to_onnx(SKLEARN[name], batch[:1], target_opset={"": 18, "ai.onnx.ml": 3})
    data = model.SerializeToString()
    theirs = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    ours = loopc.InferenceSession(data)
    # float32: distances are differences of nearly equal numbers.
    tolerance = 2e-4 if dtype == np.float32 else 1e-9
    for rows in (1, 9):
        feeds = {"X": batch[:rows]}
        for want, got in zip(theirs.run(None, feeds), ours.run(None, feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
