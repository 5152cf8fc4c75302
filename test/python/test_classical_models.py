# ===- test_classical_models.py - Trees, linear models, features ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of ai.onnx.ml as scikit-learn's and LightGBM's exporters write them, by onnxruntime."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
X = np.random.default_rng(3).standard_normal((7, 4)).astype(np.float32)


def make(
    op: str, inputs: dict[str, np.ndarray], outputs: dict[str, int], ml: int = 3, **attributes: Any
) -> bytes:
    """A model of one node."""
    node = helper.make_node(op, list(inputs), list(outputs), domain="ai.onnx.ml", **attributes)
    declared = [
        helper.make_tensor_value_info(
            name,
            STRING if value.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(value.dtype),
            [None] * value.ndim,
        )
        for name, value in inputs.items()
    ]
    results = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()]
    graph = helper.make_graph([node], "m", declared, results)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", ml)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def same(
    op: str, inputs: dict[str, np.ndarray], outputs: dict[str, int], ml: int = 3, **attributes: Any
) -> list[Any]:
    """loopc's outputs, which must be onnxruntime's."""
    model = make(op, inputs, outputs, ml, **attributes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    want = onnxruntime.InferenceSession(model, options).run(None, inputs)
    got = loopc.InferenceSession(model).run(None, inputs)
    for one, other in zip(got, want, strict=True):
        other = np.asarray(other)
        assert one.shape == other.shape
        if other.dtype.kind in "OU":
            assert one.tolist() == other.tolist()
        else:
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return got


def forest(rng: np.random.Generator, trees: int, targets: int, prefix: str, modes: tuple[str, ...] = ("BRANCH_LEQ",),
           missing: bool = False, positive: bool = False, only: int | None = None) -> dict[str, Any]:  # fmt: skip
    """Random complete trees of depth 3 in the form of the older operators."""
    names = (
        "treeids",
        "nodeids",
        "featureids",
        "values",
        "modes",
        "truenodeids",
        "falsenodeids",
        "missing_value_tracks_true",
    )
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in names}
    leaves: dict[str, list[Any]] = {
        f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")
    }
    for tree in range(trees):
        for node in range(15):
            inner = node < 7
            row = (tree, node, int(rng.integers(4)) if inner else 0, float(np.float32(rng.normal())) if inner else 0.0,
                   str(rng.choice(modes)) if inner else "LEAF", 2 * node + 1 if inner else 0,
                   2 * node + 2 if inner else 0, int(missing and rng.integers(2)))  # fmt: skip
            for name, value in zip(names, row, strict=True):
                nodes[f"nodes_{name}"].append(value)
            for target in [] if inner else [only] if only is not None else range(targets):
                weight = float(np.float32(rng.normal()))
                values = (tree, node, target, abs(weight) / trees if positive else weight)
                for key, value in zip(leaves, values, strict=True):
                    leaves[key].append(value)
    return nodes | leaves


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_regressor(aggregate: str, targets: int) -> None:
    trees = forest(np.random.default_rng(1), 5, targets, "target")
    base = [0.5 * k for k in range(1, targets + 1)]
    for extra in ({}, {"base_values": base}):
        same("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, n_targets=targets,
             aggregate_function=aggregate, **trees, **extra)  # fmt: skip


def test_tree_regressor_modes() -> None:
    modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    x = X.copy()
    x[2, 1] = x[3, :] = np.nan
    for used in (modes, *((mode,) for mode in modes)):
        trees = forest(np.random.default_rng(2), 4, 2, "target", used, missing=True)
        same("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=2, **trees)


def test_tree_regressor_of_doubles() -> None:
    trees = forest(np.random.default_rng(4), 3, 1, "target")
    for name in ("nodes_values", "target_weights"):
        values = trees.pop(name)
        trees[f"{name}_as_tensor"] = helper.make_tensor(
            name, TensorProto.DOUBLE, [len(values)], np.array(values) + 1e-9
        )
    same("TreeEnsembleRegressor", {"x": X.astype(np.float64)}, {"y": FLOAT}, n_targets=1, **trees)


def test_trees_of_large_tensors() -> None:
    """Tensors of more than 1,024 bytes, which stay outside of the IR."""
    trees = forest(np.random.default_rng(4), 40, 1, "target")
    for name in ("nodes_values", "target_weights"):
        values = trees.pop(name)
        assert 8 * len(values) > 1024
        trees[f"{name}_as_tensor"] = helper.make_tensor(
            name, TensorProto.DOUBLE, [len(values)], np.array(values) + 1e-9
        )
    same("TreeEnsembleRegressor", {"x": X.astype(np.float64)}, {"y": FLOAT}, n_targets=1, **trees)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_tree_regressor_rows(rows: int) -> None:
    trees = forest(np.random.default_rng(1), 2, 2, "target")
    model = make("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, n_targets=2, **trees)
    session = loopc.InferenceSession(model)
    whole = session.run(None, {"x": X})[0]
    np.testing.assert_array_equal(session.run(None, {"x": X[:rows]})[0], whole[:rows])
    with pytest.raises(loopc.RunError, match="there are 2 features"):
        session.run(None, {"x": X[:, :2]})


def test_tree_post_transforms() -> None:
    trees = forest(np.random.default_rng(5), 3, 3, "target", positive=True)
    for transform in ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        same("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, n_targets=3,
             post_transform=transform, **trees)  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("strings", [False, True])
def test_tree_classifier(transform: str, strings: bool) -> None:
    trees = forest(np.random.default_rng(6), 5, 3, "class")
    labels: dict[str, Any] = {"classlabels_int64s": [7, -1, 3]}
    if strings:
        labels = {"classlabels_strings": ["a", "größer", ""]}
    for extra in ({}, {"base_values": [0.1, 0.2, -0.3]}):
        same("TreeEnsembleClassifier", {"x": X}, {"y": STRING if strings else INT64, "z": FLOAT},
             post_transform=transform, **labels, **trees, **extra)  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("positive", [False, True])
def test_tree_classifier_of_two(transform: str, positive: bool) -> None:
    """Two classes whose weights all belong to the first, as exporters write them."""
    trees = forest(np.random.default_rng(7), 4, 2, "class", positive=positive, only=0)
    for extra in ({}, {"base_values": [0.1]}):
        same("TreeEnsembleClassifier", {"x": X}, {"y": INT64, "z": FLOAT},
             classlabels_int64s=[0, 1], post_transform=transform, **trees, **extra)  # fmt: skip


def test_tree_classifier_integers() -> None:
    trees = forest(np.random.default_rng(8), 4, 3, "class")
    for dtype in (np.int64, np.int32):
        x = np.random.default_rng(1).integers(-3, 4, (9, 4)).astype(dtype)
        same("TreeEnsembleClassifier", {"x": x}, {"y": INT64, "z": FLOAT},
             classlabels_int64s=[0, 1, 2], **trees)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tree_ensemble(dtype: Any) -> None:
    """The operator of ai.onnx.ml 5, with a set."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = np.array([1.2, 3.4, -0.12, 1.66, 4.14, 1.77], dtype).reshape(3, 2)

    def tensor(name: str, values: list[float], kind: int = kind) -> onnx.TensorProto:
        return helper.make_tensor(name, kind, [len(values)], values)

    for aggregate in range(4):
        model = make(
            "TreeEnsemble", {"x": x}, {"y": kind}, ml=5, n_targets=2,
            aggregate_function=aggregate, post_transform=0, tree_roots=[0],
            nodes_modes=tensor("m", [0, 6, 6], TensorProto.UINT8), nodes_featureids=[0, 0, 0],
            nodes_splits=tensor("s", [3.14, 1.2, 4.2]), nodes_truenodeids=[1, 0, 1],
            nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 2, 3], nodes_falseleafs=[0, 1, 1],
            leaf_targetids=[0, 1, 0, 1], leaf_weights=tensor("w", [5.23, 12.12, -12.23, 7.21]),
            membership_values=tensor("v", [1.2, 3.7, 8, 9, np.nan, 12, 7, 4.14, np.nan]),
        )  # fmt: skip
        (got,) = loopc.InferenceSession(model).run(None, {"x": x})
        # 1.2 is in the first set, -0.12 in none, 4.14 in the second.
        np.testing.assert_allclose(got, np.array([[5.23, 0], [-12.23, 0], [0, 12.12]], dtype))


def test_tree_ensemble_of_large_tensors() -> None:
    """Stumps in tensors of more than 1,024 bytes: stump k is right of k."""
    count = 2000
    x = np.array([[-1.0], [0.5], [1234.5], [1e6]], np.float32)

    def tensor(name: str, values: Any, kind: int = FLOAT) -> onnx.TensorProto:
        return helper.make_tensor(name, kind, [len(values)], values)

    ones, leaves = [1] * count, list(range(count))
    model = make(
        "TreeEnsemble", {"x": x}, {"y": FLOAT}, ml=5, n_targets=1, aggregate_function=1,
        post_transform=0, tree_roots=leaves, nodes_modes=tensor("m", [0] * count, TensorProto.UINT8),
        nodes_featureids=[0] * count, nodes_splits=tensor("s", leaves),
        nodes_truenodeids=[2 * k for k in leaves], nodes_trueleafs=ones,
        nodes_falsenodeids=[2 * k + 1 for k in leaves], nodes_falseleafs=ones,
        leaf_targetids=[0] * (2 * count), leaf_weights=tensor("w", [0.0, 1.0] * count),
    )  # fmt: skip
    (got,) = loopc.InferenceSession(model).run(None, {"x": x})
    np.testing.assert_array_equal(got, np.float32([[0], [1], [1235], [count]]))


def test_labels_of_large_tensors() -> None:
    """Keys and values of more than 1,024 bytes."""
    keys = np.random.default_rng(5).permutation(1000)
    x = np.concatenate([keys[:20], [-5]])
    model = make(
        "LabelEncoder", {"x": x}, {"y": INT64}, ml=4,
        keys_tensor=onnx.numpy_helper.from_array(keys, "k"),
        values_tensor=onnx.numpy_helper.from_array(np.arange(1000), "v"),
        default_tensor=onnx.numpy_helper.from_array(np.array([-1]), "d"),
    )  # fmt: skip
    (got,) = loopc.InferenceSession(model).run(None, {"x": x})
    assert got.tolist() == [*range(20), -1]


REFUSED = {
    "a node that is not there": ({"nodes_truenodeids": [9, 0, 0]}, "leads to a node that is not"),
    "a circle": ({"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
                  "nodes_falsenodeids": [1, 1, 0], "nodes_truenodeids": [2, 2, 0]}, "leads back"),
    "an unknown mode": ({"nodes_modes": ["BRANCH", "LEAF", "LEAF"]}, "no mode 'BRANCH'"),
    "two nodes of one number": ({"nodes_nodeids": [0, 1, 1]}, "two nodes"),
    "lists of several lengths": ({"nodes_values": [1.0]}, "differ in length"),
    "a target too many": ({"target_ids": [0, 4]}, "target 4"),
    "an unknown aggregate": ({"aggregate_function": "PRODUCT"}, "'PRODUCT'"),
    "an unknown transform": ({"post_transform": "CUBE"}, "'CUBE'"),
    "a negative feature": ({"nodes_featureids": [-1, 0, 0]}, "feature -1"),
    "base values": ({"base_values": [1.0, 2.0]}, "2 base values"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_tree_refused(name: str) -> None:
    tree: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "n_targets": 1,
        "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
    }  # fmt: skip
    good = loopc.InferenceSession(make("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, **tree))
    assert good.run(None, {"x": X})[0].shape == (7, 1)
    changed, reason = REFUSED[name]
    with pytest.raises(loopc.CompileError, match=reason):
        loopc.InferenceSession(
            make("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, **(tree | changed))
        )


def test_trees_make_no_code() -> None:
    """A hundred times the trees make a table a hundred times as long, and the same code."""
    sizes = []
    for count in (8, 200):
        trees = forest(np.random.default_rng(1), count, 1, "target")
        model = make("TreeEnsembleRegressor", {"x": X}, {"y": FLOAT}, n_targets=1, **trees)
        session = loopc.InferenceSession(model)
        session.run(None, {"x": X})
        sizes.append(session.last_run_statistics.allocations)
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_linear_regressor(dtype: Any) -> None:
    x = (X * 3).astype(dtype)
    weights = np.arange(8, dtype=np.float32).tolist()
    same("LinearRegressor", {"x": X}, {"y": FLOAT}, coefficients=weights[:4], intercepts=[0.5])
    same("LinearRegressor", {"x": X}, {"y": FLOAT}, coefficients=weights, targets=2)
    model = make("LinearRegressor", {"x": x}, {"y": FLOAT}, coefficients=weights, targets=2,
                 intercepts=[1.0, 2.0])  # fmt: skip
    want = x.astype(np.float32) @ np.reshape(weights, (2, 4)).T + [1, 2]
    (got,) = loopc.InferenceSession(model).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    with pytest.raises(loopc.Error, match="features"):
        loopc.InferenceSession(model).run(None, {"x": x[:, :3]})


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_linear_classifier(transform: str) -> None:
    weights = np.random.default_rng(9).standard_normal(12).astype(np.float32).tolist()
    outputs = {"y": INT64, "z": FLOAT}
    same("LinearClassifier", {"x": X}, outputs, coefficients=weights, post_transform=transform,
         intercepts=[0.1, 0.2, 0.3], classlabels_ints=[5, 6, 7])  # fmt: skip
    same("LinearClassifier", {"x": X}, {"y": STRING, "z": FLOAT}, coefficients=weights[:8],
         intercepts=[0.1, 0.2], classlabels_strings=["no", "yes"], post_transform=transform)  # fmt: skip
    if transform in ("NONE", "LOGISTIC"):
        same("LinearClassifier", {"x": X}, outputs, coefficients=weights[:4], intercepts=[0.1],
             classlabels_ints=[0, 1], post_transform=transform)  # fmt: skip


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm: str) -> None:
    x = np.abs(X) if norm == "MAX" else X.copy()
    x[2] = 0
    for value in (x, x.astype(np.float64), (x * 9).astype(np.int64)):
        same("Normalizer", {"x": value}, {"y": FLOAT}, norm=norm)


def test_imputer() -> None:
    x = X.copy()
    x[1, 2] = x[3, 0] = np.nan
    same("Imputer", {"x": x}, {"y": FLOAT}, imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
         replaced_value_float=np.nan)  # fmt: skip
    same("Imputer", {"x": x}, {"y": FLOAT}, imputed_value_floats=[9.0], replaced_value_float=np.nan)
    same(
        "Imputer",
        {"x": np.round(X)},
        {"y": FLOAT},
        imputed_value_floats=[9.0],
        replaced_value_float=1.0,
    )
    same("Imputer", {"x": np.round(X).astype(np.int64)}, {"y": INT64},
         imputed_value_int64s=[4, 5, 6, 7], replaced_value_int64=0)  # fmt: skip


def test_one_hot_encoder() -> None:
    x = np.array([[1, 5], [3, 2]])
    same("OneHotEncoder", {"x": x}, {"y": FLOAT}, cats_int64s=[5, 1, 2], zeros=1)
    same("OneHotEncoder", {"x": x[0]}, {"y": FLOAT}, cats_int64s=[5, 1, 2], zeros=0)
    same("OneHotEncoder", {"x": x.astype(np.float32)}, {"y": FLOAT}, cats_int64s=[3, 1])
    texts = np.array([["a", "?"], ["c", "a"]], object)
    same("OneHotEncoder", {"x": texts}, {"y": FLOAT}, cats_strings=["c", "a", "b"])
    model = make("OneHotEncoder", {"x": x}, {"y": FLOAT}, cats_int64s=[5, 1, 2], zeros=0)
    with pytest.raises(loopc.RunError, match="none of the categories"):
        loopc.InferenceSession(model).run(None, {"x": x})


def test_feature_vectorizer() -> None:
    inputs = {"x": X, "n": np.arange(14, dtype=np.float32).reshape(7, 2)}
    model = make("FeatureVectorizer", inputs, {"y": FLOAT}, inputdimensions=[3, 4])
    (got,) = loopc.InferenceSession(model).run(None, inputs)
    filled = np.pad(inputs["n"], ((0, 0), (0, 2)))
    np.testing.assert_array_equal(got, np.hstack([X[:, :3], filled]).astype(np.float32))
    same("FeatureVectorizer", {"x": X, "y": X[:, :2]}, {"z": FLOAT}, inputdimensions=[4, 2])


def test_category_mapper() -> None:
    maps: dict[str, Any] = {"cats_int64s": [3, 1], "cats_strings": ["three", "one"]}
    same("CategoryMapper", {"x": np.array([3, 1, 2])}, {"y": STRING}, default_string="?", **maps)
    same(
        "CategoryMapper",
        {"x": np.array(["one", "two"], object)},
        {"y": INT64},
        default_int64=-7,
        **maps,
    )


def test_imports_given_twice() -> None:
    """skl2onnx repeats imports; only two versions contradict each other."""
    model = onnx.load_from_string(
        make("LinearRegressor", {"x": X}, {"y": FLOAT}, coefficients=[1.0, 2.0, 3.0, 4.0])
    )
    model.opset_import.append(model.opset_import[0])
    got = loopc.InferenceSession(model).run(None, {"x": X})[0]
    np.testing.assert_allclose(got, X @ np.float32([[1], [2], [3], [4]]), rtol=1e-5)
    model.opset_import[2].version = 20
    with pytest.raises(loopc.CompileError, match="twice, with versions 21 and 20"):
        loopc.InferenceSession(model)
