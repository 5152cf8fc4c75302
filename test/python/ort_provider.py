# ===- ort_provider.py - Sessions of onnxruntime with loopc in them ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sessions of onnxruntime that give their loops to loopc, and models for them."""

import warnings

import loopc
import loopc.onnxruntime
import numpy as np
import onnx
import onnx.parser
import onnxruntime


def open_session(model, log_level=3, session_options=None, **options):
    """A session with the provider, which records who has which node."""
    session_options = session_options or onnxruntime.SessionOptions()
    session_options.log_severity_level = log_level
    session_options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    loopc.onnxruntime.add_provider(session_options, **options)
    if isinstance(model, onnx.ModelProto):
        model = model.SerializeToString()
    session = onnxruntime.InferenceSession(model, session_options)
    session.disable_fallback()
    return session


def parse(text, opset=17):
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>\n'
    return onnx.parser.parse_model(head + text)


def find_refusal(capfd, **options):
    """What onnxruntime says of options that are wrong, where `add_provider` has not refused them.

    Until 1.31 its Python prints the error, and makes a session without the provider.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = onnxruntime.SessionOptions()
            texts = {name: str(value) for name, value in options.items()}
            given.add_provider_for_devices(loopc.onnxruntime.register(), texts)
            session = onnxruntime.InferenceSession(parse(GROWTH).SerializeToString(), given)
    except Exception as error:  # onnxruntime's errors have no common base.
        return str(error)
    assert session.get_providers() == ["CPUExecutionProvider"]
    return capfd.readouterr().out


def get_nodes(session, provider):
    """The operators that a provider has."""
    return sorted(
        node.op_type
        for graph in session.get_provider_graph_assignment_info()
        if graph.ep_name == provider
        for node in graph.get_nodes()
    )


def get_ours(session):
    return get_nodes(session, loopc.onnxruntime.PROVIDER)


def run_alone(model, feeds):
    """By onnxruntime without the provider."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def open_claiming(ours, model, **options):
    """A session in which loopc has these operators."""
    session = open_session(model, **options)
    assert get_ours(session) == ours
    return session


def assert_like_alone(session, model, feeds):
    assert_equal(session.run(None, feeds), run_alone(model, feeds))


def assert_equal(got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        if isinstance(other, list):
            assert_equal(one, other)
        elif other is None:
            assert one is None
        elif np.asarray(other).dtype.kind in "OUS":
            assert np.asarray(one).tolist() == np.asarray(other).tolist()
        else:
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, 1e-4, 1e-5)


# An iteration adds a captured tensor, doubles, and collects.
GROWTH = """
g (int64 n, float[N] x, float[N] y) => (float[N] r, float[T, N] c) <float[1] w = {2.0}> {
  z = Add(x, y)
  t = Constant<value = bool {1}>()
  r, c = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2, float[N] o) {
    k2 = Identity(k)
    s1 = Add(s, z)
    s2 = Mul(s1, w)
    o = Identity(s2)
  }>(n, t, x)
}"""


def growth_feeds(trips=3, extent=4):
    x = np.linspace(-1, 1, extent, dtype=np.float32)
    return {"n": np.array(trips), "x": x, "y": np.cos(x)}


# A loop in a loop; the outer one has an operator more.
NESTED = """
g (int64 n, float[N] x, float[N] y) => (float[N] r, float[T] c)
    <float[1] w = {2.0}, int64[1] zero = {0}> {
  z = Add(x, y)
  t = Constant<value = bool {1}>()
  r, c = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2, float o) {
    k2 = Identity(k)
    s0 = OPERATOR(s)
    q, s1 = Loop<body = b2 (int64 j, bool kk, float[N] u) => (bool kk2, float[N] v, float[N] v2) {
      kk2 = Identity(kk)
      v1 = Add(u, z)
      v = Mul(v1, w)
      v2 = Mul(v, s0)
    }>(n, k, s)
    s2 = Add(q, s0)
    o = ReduceSum<keepdims = 0>(s1)
  }>(n, t, x)
}"""
