# ===- test_tokenizer.py - com.microsoft's Tokenizer ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tokenizer beside onnxruntime: separators, patterns, characters, marks; text vectorizers."""

import loopc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

TEXTS = ["Hello, World", "I love  computer science !", "", "über-straße a1 b22 ccc", "a,b;;c", "x"]
STRING = TensorProto.STRING


def model(shape, declared=None, **attributes):
    node = helper.make_node("Tokenizer", ["X"], ["Y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "tokens",
        [helper.make_tensor_value_info("X", STRING, declared or shape)],
        [helper.make_tensor_value_info("Y", STRING, None)],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def compare(texts, **attributes):
    attributes = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}
    x = np.array(texts, dtype=object)
    names = [f"d{k}" for k in range(x.ndim)]
    for declared in (list(x.shape), names):
        made = model(list(x.shape), declared, **attributes)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        peer = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
        (expected,) = peer.run(None, {"X": x})
        (got,) = loopc.InferenceSession(made).run(None, {"X": x})
        assert got.shape == expected.shape
        assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("mark", [0, 1])
@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("separators", [[" "], [" ", ",", ";"], ["[,; ]+"], ["a|ab", "-"], ["o*"]])
def test_separators(mark, least, separators):
    compare(TEXTS, separators=separators, mark=mark, mincharnum=least)
    compare([TEXTS[:3], TEXTS[3:]], separators=separators, mark=mark, mincharnum=least)


@pytest.mark.parametrize("mark", [0, 1])
@pytest.mark.parametrize(
    "pattern", ["[a-zA-Z0-9_]+", "\\b\\w\\w+\\b", "a|ab|abc", ".", "[^ ]", "z"]
)
def test_patterns(mark, pattern):
    compare(TEXTS, tokenexp=pattern, mark=mark)
    compare([TEXTS], tokenexp=pattern, mark=mark, mincharnum=2 if pattern != "." else 1)


@pytest.mark.parametrize("mark", [0, 1])
def test_characters(mark):
    compare(TEXTS, separators=[""], mark=mark, pad_value="")
    compare([[""], [""]], separators=[""], mark=mark)


def test_refused():
    x = np.array(["a"], dtype=object)
    for fault, attributes in [
        ("RE2", {"tokenexp": "(a"}),
        ("one of 'separators' and 'tokenexp'", {}),
        ("less than 1", {"tokenexp": "a", "mincharnum": 0}),
    ]:
        settings = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}
        with pytest.raises(loopc.RunError, match=fault):
            loopc.InferenceSession(model(["n"], **settings)).run(None, {"X": x})


def test_in_front_of_a_vectorizer():
    """As converters of scikit-learn's text vectorizers write it."""
    nodes = [
        helper.make_node("Tokenizer", ["X"], ["tokens"], domain="com.microsoft", mark=0,
                         mincharnum=1, pad_value="#", tokenexp="[a-z]+"),
        helper.make_node("Flatten", ["tokens"], ["flat"], axis=1),
        helper.make_node("TfIdfVectorizer", ["flat"], ["Y"], mode="TF", min_gram_length=1,
                         max_gram_length=1, max_skip_count=0, ngram_counts=[0],
                         ngram_indexes=[0, 1], pool_strings=["cat", "dog"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "vectorizer", [helper.make_tensor_value_info("X", STRING, ["n", 1])],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    x = np.array([["cat dog cat"], ["a dog"], [""]], dtype=object)
    (got,) = loopc.InferenceSession(made).run(None, {"X": x})
    assert got.tolist() == [[2, 1], [0, 1], [0, 0]]
