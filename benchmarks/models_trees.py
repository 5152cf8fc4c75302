# ===- models_trees.py - Tree ensembles that are timed -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Ensembles of decision trees, as gradient boosting makes them; as models_basic.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from models_basic import Benchmark, Feeds, Outputs
from onnx import TensorProto, helper


def _grow(rng: np.random.Generator, leaves: int) -> np.ndarray:
    """The two nodes behind each node of a random tree (2 * leaves - 1, 2); leaves have zeros."""
    behind = np.zeros((2 * leaves - 1, 2), np.int64)
    ends = [0]
    for count in range(1, 2 * leaves - 1, 2):
        node = ends.pop(int(rng.integers(len(ends))))
        behind[node] = count, count + 1
        ends += [count, count + 1]
    return behind


def tree_ensemble(
    rows: int = 64, trees: int = 300, leaves: int = 255, features: int = 50
) -> Benchmark:
    """Rows through trees that grew where chance wanted, so that depths differ much."""
    rng = np.random.default_rng(0)
    behind = np.stack([_grow(rng, leaves) for _ in range(trees)])
    inner = behind[:, :, 0] > 0
    feature = np.where(inner, rng.integers(0, features, inner.shape), 0)
    split = np.where(inner, rng.standard_normal(inner.shape), 0).astype(np.float32)
    weight = rng.standard_normal(inner.shape).astype(np.float32)
    tree = np.broadcast_to(np.arange(trees)[:, None], inner.shape)
    number = np.broadcast_to(np.arange(inner.shape[1]), inner.shape)
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=tree.ravel().tolist(), nodes_nodeids=number.ravel().tolist(),
        nodes_featureids=feature.ravel().tolist(), nodes_values=split.ravel().tolist(),
        nodes_modes=np.where(inner, "BRANCH_LEQ", "LEAF").ravel().tolist(),
        nodes_truenodeids=behind[:, :, 0].ravel().tolist(),
        nodes_falsenodeids=behind[:, :, 1].ravel().tolist(),
        target_treeids=tree[~inner].tolist(), target_nodeids=number[~inner].tolist(),
        target_ids=[0] * int((~inner).sum()), target_weights=weight[~inner].tolist(),
    )  # fmt: skip
    graph = helper.make_graph(
        [node],
        "benchmark",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", features])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {"x": rng.standard_normal((rows, features)).astype(np.float32)}

    def expect(f: Feeds) -> Outputs:
        all_trees, row = np.arange(trees), np.arange(len(f["x"]))[:, None]
        at = np.zeros((len(f["x"]), trees), np.int64)
        while inner[all_trees, at].any():
            goes = f["x"][row, feature[all_trees, at]] <= split[all_trees, at]
            after = behind[all_trees, at, np.where(goes, 0, 1)]
            at = np.where(inner[all_trees, at], after, at)
        return [weight[all_trees, at].sum(axis=1, keepdims=True)]

    return Benchmark(f"tree ensemble of {rows} rows", trees * rows, model, feeds, expect, atol=1e-4)


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {"tree_ensemble": tree_ensemble}
