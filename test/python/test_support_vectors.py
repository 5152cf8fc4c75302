# ===- test_support_vectors.py - SVMClassifier, SVMRegressor -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Support vector machines as scikit-learn's exporter writes them, by onnxruntime."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import pytest
from test_classical_models import FLOAT, INT64, STRING, TRANSFORMS, X, make, same

KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_regressor(kernel: str, one_class: int) -> None:
    rng = np.random.default_rng(4)
    numbers = {"support_vectors": rng.standard_normal(20).astype(np.float32).tolist(),
               "coefficients": rng.standard_normal(5).astype(np.float32).tolist()}  # fmt: skip
    for rows in (X[:0], X[:1], X, X[0]):
        same("SVMRegressor", {"x": rows}, {"y": FLOAT}, kernel_type=kernel, n_supports=5,
             kernel_params=[0.5, 0.25, 3.0], rho=[0.125], one_class=one_class, **numbers)  # fmt: skip


def test_linear_regressor() -> None:
    same("SVMRegressor", {"x": X}, {"y": FLOAT}, coefficients=[1.0, -2.0, 0.5, 3.0], rho=[0.5],
         kernel_type="LINEAR", kernel_params=[0.0, 0.0, 3.0])  # fmt: skip
    model = make("SVMRegressor", {"x": X}, {"y": FLOAT}, coefficients=[1.0] * 4, rho=[0.5],
                 post_transform="LOGISTIC")  # fmt: skip
    with pytest.raises(loopc.CompileError, match="'LOGISTIC'"):
        loopc.InferenceSession(model)


def classifier(counts: list[int], kernel: str, probabilities: bool, seed: int = 5) -> dict[str, Any]:  # fmt: skip
    """Random support vectors, `counts` of each class."""
    rng = np.random.default_rng(seed)
    total, classes = sum(counts), len(counts)
    pairs = classes * (classes - 1) // 2

    def numbers(count: int) -> list[float]:
        return rng.standard_normal(count).astype(np.float32).tolist()

    found: dict[str, Any] = {
        "vectors_per_class": counts,
        "support_vectors": numbers(total * 4),
        "coefficients": numbers(total * (classes - 1)),
        "rho": numbers(pairs),
        "kernel_type": kernel,
        "kernel_params": [0.3, 0.25, 3.0],
    }
    if probabilities:
        found |= {"prob_a": [-abs(a) for a in numbers(pairs)], "prob_b": numbers(pairs)}
    return found


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("counts", [[2, 3], [2, 3, 1], [1, 2, 2, 3, 1]])
def test_classifier(kernel: str, probabilities: bool, counts: list[int]) -> None:
    model = classifier(counts, kernel, probabilities)
    labels = list(range(10, 10 + len(counts)))
    texts = [f"class {k}" for k in labels]
    outputs = {"y": INT64, "z": FLOAT}
    if kernel == "POLY":
        same(
            "SVMClassifier", {"x": X}, {"y": STRING, "z": FLOAT}, classlabels_strings=texts, **model
        )
    else:
        same("SVMClassifier", {"x": X}, outputs, classlabels_ints=labels, **model)


@pytest.mark.parametrize("probabilities", [False, True])
def test_inputs_of_a_classifier(probabilities: bool) -> None:
    model = classifier([2, 3, 1], "RBF", probabilities) | {"classlabels_ints": [1, 0, 2]}
    for x in (X[:1], X[:0], X[0], X.astype(np.float64), (X * 3).astype(np.int64)):
        same("SVMClassifier", {"x": x}, {"y": INT64, "z": FLOAT}, **model)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("counts", [[2, 3], [2, 3, 1]])
def test_transforms(transform: str, probabilities: bool, counts: list[int]) -> None:
    """PROBIT of scores that are no probabilities is no number."""
    model = classifier(counts, "RBF", probabilities) | {"post_transform": transform}
    if transform == "PROBIT" and not probabilities:
        if len(counts) == 2:
            content = make("SVMClassifier", {"x": X}, {"y": INT64, "z": FLOAT},
                           classlabels_ints=[0, 1], **model)  # fmt: skip
            with pytest.raises(loopc.CompileError, match="'PROBIT'"):
                loopc.InferenceSession(content)
        return
    same("SVMClassifier", {"x": X}, {"y": INT64, "z": FLOAT},
         classlabels_ints=list(range(len(counts))), **model)  # fmt: skip


def test_many_classes_and_rows() -> None:
    model = classifier([3] * 12, "RBF", True)
    x = np.random.default_rng(1).standard_normal((200, 4)).astype(np.float32)
    same("SVMClassifier", {"x": x}, {"y": INT64, "z": FLOAT}, classlabels_ints=list(range(12)), **model)  # fmt: skip


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(classes: int, positive: bool, transform: str) -> None:
    weights = np.random.default_rng(2).standard_normal(4 * classes).astype(np.float32)
    weights = np.abs(weights) if positive else weights
    same("SVMClassifier", {"x": X}, {"y": INT64, "z": FLOAT}, coefficients=weights.tolist(),
         kernel_type="LINEAR", kernel_params=[0.0, 0.0, 3.0], rho=[0.25], classlabels_ints=list(range(classes)), post_transform=transform)  # fmt: skip


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a label too few": ({"classlabels_ints": [1]}, "1 labels"),
    "a number of 'rho' too many": ({"rho": [1.0] * 4}, "4 numbers of 'rho' for 3 pairs"),
    "a coefficient too few": (
        {"coefficients": [1.0] * 11},
        "11 coefficients for 6 support vectors",
    ),
    "an unknown kernel": ({"kernel_type": "CUBE"}, "'CUBE'"),
    "an unknown transform": ({"post_transform": "CUBE"}, "'CUBE'"),
    "half a vector": ({"support_vectors": [1.0] * 7}, "7 numbers for 6 support vectors"),
    "a class too many": ({"vectors_per_class": [2, 2, 1, 1]}, "of 4 classes for 3 labels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    changed, reason = REFUSED[name]
    model = classifier([2, 3, 1], "RBF", False) | {"classlabels_ints": [0, 1, 2]} | changed
    content = make("SVMClassifier", {"x": X}, {"y": INT64, "z": FLOAT}, **model)
    with pytest.raises(loopc.CompileError, match=reason):
        loopc.InferenceSession(content)


def test_other_numbers_of_features_are_errors() -> None:
    model = classifier([2, 3], "RBF", False) | {"classlabels_ints": [0, 1]}
    content = make("SVMClassifier", {"x": X}, {"y": INT64, "z": FLOAT}, **model)
    session = loopc.InferenceSession(content)
    for features in (1, 2, 8):
        with pytest.raises(loopc.Error):
            session.run(None, {"x": np.ones((2, features), np.float32)})
