# ===- test_attention_groups.py - Heads that share keys ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Attention whose heads share keys and values, beside NumPy."""

import itertools

import loopc
import numpy as np
import onnx
import pytest

HEADS, SHARED, WIDTH = 6, 2, 8

#: As ONNX's operator, and as torch's exporters write it: keys and values repeated for each head.
MODELS = {
    "operator": """<ir_version: 10, opset_import: ["" : 23]>
g (float[b,6,s,8] q, float[b,2,t,8] k, float[b,2,t,8] v) => (float[b,6,s,8] y) {
  y = Attention (q, k, v)
}""",
    "repeated": """<ir_version: 10, opset_import: ["" : 21]>
g (float[b,6,s,8] q, float[b,2,t,8] k, float[b,2,t,8] v) => (float[b,6,s,8] y) {
  two = Constant <value_ints = [2]> ()
  times = Constant <value_ints = [1, 1, 3, 1, 1]> ()
  batch = Shape <end = 1> (k)
  heads = Constant <value_ints = [6]> ()
  rest = Shape <start = 2> (k)
  shape = Concat <axis = 0> (batch, heads, rest)
  k1 = Unsqueeze (k, two)
  k2 = Expand (k1, times)
  k3 = Reshape <allowzero = 1> (k2, shape)
  v1 = Unsqueeze (v, two)
  v2 = Expand (v1, times)
  v3 = Reshape <allowzero = 1> (v2, shape)
  kt = Transpose <perm = [0, 1, 3, 2]> (k3)
  products = MatMul (q, kt)
  root = Constant <value_float = 0.35355339> ()
  scaled = Mul (products, root)
  weights = Softmax <axis = 3> (scaled)
  y = MatMul (weights, v3)
}""",
}

#: TorchScript's form, in which an extent of 0 in a shape stands for the input's.
SCRIPTED = MODELS["repeated"].replace("<allowzero = 1>", "")


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The attention of q [b, 6, s, 8] to k and v [b, 2, t, 8]; 0 where there are no keys."""
    k, v = (np.repeat(x, HEADS // SHARED, axis=1).astype(np.float64) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(WIDTH)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis=3, keepdims=True).clip(1e-300) @ v


@pytest.fixture(scope="module", params=itertools.product(MODELS, (True, False)), ids=str)
def session(request):
    """A model, with the pass that reads shared keys in place and without."""
    name, in_place = request.param
    options = loopc.SessionOptions()
    if not in_place:
        options.disabled_passes = ["tensor-expand-repeats"]
    return loopc.InferenceSession(
        onnx.parser.parse_model(MODELS[name]).SerializeToString(), options
    )


@pytest.mark.parametrize(
    ("batch", "new", "keys"),
    [(1, 1, 1), (1, 1, 50), (2, 3, 5), (2, 40, 70), (1, 300, 300), (2, 3, 0), (0, 3, 4), (2, 0, 3)],
)
def test_shared_keys(session, batch, new, keys):
    random = np.random.default_rng(keys)
    q = random.standard_normal((batch, HEADS, new, WIDTH)).astype(np.float32)
    k, v = random.standard_normal((2, batch, SHARED, keys, WIDTH)).astype(np.float32)
    (got,) = session.run(None, {"q": q, "k": k, "v": v})
    np.testing.assert_allclose(got, expected(q, k, v), rtol=1e-4, atol=1e-5)


def test_scores_stay_in_the_cache(session):
    """Of many rows the scores of some at a time are there, and no copies of the keys."""
    new = keys = 1024
    q = np.ones((1, HEADS, new, WIDTH), np.float32)
    k = np.ones((1, SHARED, keys, WIDTH), np.float32)
    session.run(None, {"q": q, "k": k, "v": k})
    assert session.last_run_statistics.peak_bytes < 4 * HEADS * new * keys / 4


def test_shapes_whose_zeros_stand_for_extents():
    session = loopc.InferenceSession(onnx.parser.parse_model(SCRIPTED).SerializeToString())
    random = np.random.default_rng(0)
    for batch, new, keys in ((2, 3, 5), (0, 3, 4), (1, 2, 0)):
        q = random.standard_normal((batch, HEADS, new, WIDTH)).astype(np.float32)
        k, v = random.standard_normal((2, batch, SHARED, keys, WIDTH)).astype(np.float32)
        feeds = {"q": q, "k": k, "v": v}
        if keys == 0:
            with pytest.raises(loopc.Error, match="element 2 of the shape is 0"):
                session.run(None, feeds)
        else:
            (got,) = session.run(None, feeds)
            np.testing.assert_allclose(got, expected(q, k, v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("softcap", [0.0, 2.0])
@pytest.mark.parametrize("mode", range(4))
def test_scores_that_are_given(mode, softcap):
    """Scores where the mask is false are -inf, as ONNX defines; onnxruntime gives -3.4e38."""
    session = loopc.InferenceSession(
        onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 23]>
        g (float[1,2,s,8] q, float[1,2,t,8] k, float[1,2,t,8] v, bool[s,u] mask, float[1,2,p,8] pk,
           float[1,2,p,8] pv) => (float[1,2,s,8] y, float[1,2,u,8] nk, float[1,2,u,8] nv,
                                  float[1,2,s,u] scores) {{
          y, nk, nv, scores = Attention <qk_matmul_output_mode = {mode}, softcap: float = {softcap}>
              (q, k, v, mask, pk, pv)
        }}""").SerializeToString()
    )
    random = np.random.default_rng(mode)
    q, k, v, pk, pv = random.standard_normal((5, 1, 2, 3, WIDTH)).astype(np.float32)
    mask = random.random((3, 6)) < 0.5
    mask[1] = False
    feeds = {"q": q, "k": k, "v": v, "mask": mask, "pk": pk, "pv": pv}
    given = [q @ np.concatenate([pk, k], 2).swapaxes(2, 3) / np.float32(np.sqrt(WIDTH))]
    given.append(softcap * np.tanh(given[0] / softcap) if softcap else given[0])
    given.append(np.where(mask, given[1], -np.inf))
    weights = np.where(mask, np.exp(given[1]), 0)
    given.append(weights / weights.sum(3, keepdims=True).clip(1e-30))
    got = session.run(None, feeds)
    np.testing.assert_allclose(got[3], given[mode], rtol=1e-4, atol=1e-5)
    y = given[3] @ np.concatenate([pv, v], 2)
    np.testing.assert_allclose(got[0], y, rtol=1e-4, atol=1e-5)
