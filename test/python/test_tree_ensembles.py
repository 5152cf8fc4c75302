# ===- test_tree_ensembles.py - Ensembles of every form, by their definition ===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Ensembles of every form: numbers of rows around the sizes of blocks, leaves, modes, depths.

The sums have the bits of those of the definition, whose order onnxruntime has as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, parser
from random_trees import MODES, Forest, Node, numbered, placed, scores
from test_classical_models import make

FLOAT = TensorProto.FLOAT
ROWS = (0, 1, 2, 7, 8, 23, 24, 32, 39, 40, 64, 71, 72, 87, 88, 130)
OLDER = MODES[:-1]
INFINITY = float("inf")
# Neighbours, both zeros, the ends.
AWKWARD = (0.0, -0.0, 1.0, float(np.nextafter(np.float32(1), np.float32(2))), -1.5, 1e-45,
           INFINITY, -INFINITY, 3e38)  # fmt: skip


def rows_of(rng: np.random.Generator, features: int, dtype: Any = np.float32,
            values: Sequence[float] = (), nans: bool = False) -> np.ndarray:  # fmt: skip
    """As many rows as the largest test has."""
    shape = (max(ROWS), features)
    x = rng.choice(values, shape) if values else rng.standard_normal(shape)
    if nans:
        x = np.where(rng.random(shape) < 0.2, np.nan, x)
    return x.astype(dtype)


def check(model: bytes, x: np.ndarray, want: np.ndarray, ort: bool = True) -> None:
    """All numbers of rows, in one session."""
    session = loopc.InferenceSession(model)
    for rows in ROWS:
        got = session.run(None, {"x": x[:rows]})[-1]
        np.testing.assert_array_equal(got, want[:rows].astype(got.dtype))
    if ort:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        (other,) = onnxruntime.InferenceSession(model, options).run(None, {"x": x})
        np.testing.assert_allclose(got, other, rtol=1e-5, atol=1e-5)


def leaves_of(kind: str, targets: int, rng: np.random.Generator) -> Any:
    """What the leaves of the next tree contribute to."""
    if kind == "one":
        target = [int(rng.integers(targets))]
        return lambda: target
    if kind == "all":
        return lambda: rng.permutation(targets)
    if kind == "twice":
        return lambda: [0, targets - 1, 0]
    return lambda: rng.permutation(targets)[: rng.integers(min(targets, 3) + 1)]


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("kind", ["one", "all", "some", "twice"])
@pytest.mark.parametrize("targets", [1, 3, 11])
def test_leaves(kind: str, targets: int, aggregate: str) -> None:
    rng = np.random.default_rng(targets)
    forest = Forest(rng)
    trees = [forest.tree(int(n), leaves_of(kind, targets, rng)) for n in rng.integers(1, 20, 70)]
    x = rows_of(rng, 4)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=targets,
                 aggregate_function=aggregate, **numbered(trees))  # fmt: skip
    check(model, x, scores(trees, x, targets, aggregate), ort=kind in ("one", "all"))


@pytest.mark.parametrize("count", [1, 3, 4, 65])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("awkward", [False, True])
def test_modes(count: int, missing: bool, awkward: bool) -> None:
    values = AWKWARD if awkward else ()
    for modes in (OLDER, *((mode,) for mode in OLDER)):
        rng = np.random.default_rng(count)
        forest = Forest(rng, modes=modes, missing=missing, values=values)
        trees = [forest.tree(9, lambda: [0]) for _ in range(count)]
        x = rows_of(rng, 4, values=values, nans=True)
        attributes = numbered(trees, missing=missing)
        model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1, **attributes)
        check(model, x, scores(trees, x, 1))


@pytest.mark.parametrize("awkward", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sets(kind: Any, awkward: bool) -> None:
    values = AWKWARD if awkward else ()
    rng = np.random.default_rng(4)
    forest = Forest(rng, modes=MODES, missing=True, values=values or (0.5, 1.0, 2.0, 3.0, 7.5))
    trees = [forest.tree(12, leaves_of("one", 2, rng)) for _ in range(20)]
    x = rows_of(rng, 4, kind, values=values or (0.5, 1.0, 1.5, 2.0, 3.0, 7.5, 9.0), nans=True)
    tensor = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    model = make("TreeEnsemble", {"x": x}, {"y": tensor}, ml=5, n_targets=2, aggregate_function=1,
                 post_transform=0, **placed(trees, tensor))  # fmt: skip
    check(model, x, scores(trees, x, 2, kind=kind), ort=False)


@pytest.mark.parametrize("count", [4, 65])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_uneven_trees(count: int, missing: bool, kind: Any) -> None:
    """Few rows go through chains one after the other, and turn by branches."""
    rng = np.random.default_rng(count)
    tensor = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    x = rows_of(rng, 4, kind, values=AWKWARD, nans=True)

    def chains(leaves: str, targets: int) -> list[Node]:
        forest = Forest(rng, missing=missing, values=AWKWARD)
        return [forest.tree(40, leaves_of(leaves, targets, rng), chain=True) for _ in range(count)]

    for targets in (1, 3):
        trees = chains("one", targets)
        model = make("TreeEnsemble", {"x": x}, {"y": tensor}, ml=5, n_targets=targets,
                     aggregate_function=1, post_transform=0, **placed(trees, tensor))  # fmt: skip
        check(model, x, scores(trees, x, targets, kind=kind), ort=False)
    for leaves in ("all", "some"):
        trees = chains(leaves, 3)
        attributes = numbered(trees, missing=missing, doubles=kind == np.float64)
        model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=3, **attributes)
        check(model, x, scores(trees, x, 3, kind=kind), ort=False)


@pytest.mark.parametrize("leaves", [32, 33, 64, 65])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_bits_of_leaves(leaves: int, kind: Any) -> None:
    """Up to 64 leaves are bits of a word; NaN goes either way, and chains are as deep as can be."""
    rng = np.random.default_rng(leaves)
    tensor = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    x = rows_of(rng, 3, kind, values=AWKWARD, nans=True)
    forest = Forest(rng, features=3, missing=True, values=AWKWARD)
    trees = [
        forest.tree(count, leaves_of("one", 2, rng), chain=chain)
        for count in (leaves, 2, leaves - 1)
        for chain in (False, True)
    ]
    model = make("TreeEnsemble", {"x": x}, {"y": tensor}, ml=5, n_targets=2, aggregate_function=1,
                 post_transform=0, **placed(trees, tensor))  # fmt: skip
    check(model, x, scores(trees, x, 2, kind=kind), ort=False)


def test_doubles() -> None:
    rng = np.random.default_rng(5)
    forest = Forest(rng)
    trees = [forest.tree(30, lambda: [0, 1]) for _ in range(10)]
    # Splits that are no floats, and numbers on both sides of them.
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        if node.mode:
            node.split += 1e-12
            waiting += [n for n in (node.yes, node.no) if n]
    x = rows_of(rng, 4, np.float64)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=2,
                 **numbered(trees, doubles=True))  # fmt: skip
    check(model, x, scores(trees, x, 2, kind=np.float64).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_integers(dtype: Any) -> None:
    rng = np.random.default_rng(6)
    forest = Forest(rng, values=(-2.0, 0.5, 1.0, 3.0))
    trees = [forest.tree(10, lambda: [0]) for _ in range(10)]
    x = rng.integers(-4, 5, (max(ROWS), 4)).astype(dtype)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1, **numbered(trees))
    check(model, x, scores(trees, x, 1), ort=False)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_depths(kind: Any) -> None:
    """Leaves beside chains of a thousand nodes."""
    rng = np.random.default_rng(7)
    forest = Forest(rng, modes=("BRANCH_LEQ", "BRANCH_GT"))
    trees = [forest.tree(n, lambda: [0], chain=n > 100) for n in (1, 1000, 2, 1, 5, 1000, 40)]
    x = rows_of(rng, 4, kind)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1,
                 **numbered(trees, doubles=kind == np.float64))  # fmt: skip
    check(model, x, scores(trees, x, 1, kind=kind))


@pytest.mark.parametrize("targets", [1, 2])
def test_leaves_alone(targets: int) -> None:
    """Trees without a node that asks; rows without features."""
    forest = Forest(np.random.default_rng(8))
    trees = [forest.leaf(range(targets)) for _ in range(70)]
    x = np.zeros((max(ROWS), 0), np.float32)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=targets,
                 **numbered(trees))  # fmt: skip
    check(model, x, scores(trees, x, targets), ort=False)


def test_many_features() -> None:
    """Features and distances that one word of 32 bits does not hold beside one another."""
    rng = np.random.default_rng(9)
    forest = Forest(rng, features=300_000)
    trees = [forest.tree(n, lambda: [0]) for n in (5000, 5000, 1, 7, 9000)]
    x = np.zeros((max(ROWS), 300_000), np.float32)
    x[:, :] = np.float32(rng.standard_normal((1, 300_000)))
    x += np.float32(rng.standard_normal((len(x), 1)))
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1, **numbered(trees))
    check(model, x, scores(trees, x, 1))


def test_large() -> None:
    """Trees of more than a group, which a cache holds."""
    rng = np.random.default_rng(10)
    forest = Forest(rng)
    trees = [forest.tree(17_000, lambda: [0]) for _ in range(3)]
    x = rows_of(rng, 4)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1, **numbered(trees))
    check(model, x, scores(trees, x, 1))


def test_shared_nodes() -> None:
    """TreeEnsemble's nodes may be those of several trees, in diamonds of any depth."""
    rng = np.random.default_rng(11)
    forest = Forest(rng)
    end: Node = forest.tree(8, lambda: [1])
    for _ in range(40):
        end = Node("BRANCH_LEQ", int(rng.integers(4)), forest.value(), False, *[
            Node("BRANCH_LT", int(rng.integers(4)), forest.value(), False, end,
                 forest.leaf([0]) if rng.integers(4) else end)
            for _ in range(2)
        ])  # fmt: skip
    trees = [end, forest.tree(5, lambda: [0]), end.yes, end.no, end]
    x = rows_of(rng, 4)
    model = make("TreeEnsemble", {"x": x}, {"y": FLOAT}, ml=5, n_targets=2, aggregate_function=1,
                 post_transform=0, **placed([t for t in trees if t]))  # fmt: skip
    check(model, x, scores([t for t in trees if t], x, 2), ort=False)


def test_any_order() -> None:
    """Nodes in any order, with any numbers, and trees as well."""
    rng = np.random.default_rng(12)
    forest = Forest(rng, missing=True)
    trees = [forest.tree(20, lambda: [0]) for _ in range(8)]
    x = rows_of(rng, 4, nans=True)
    attributes = numbered(trees)
    order = rng.permutation(len(attributes["nodes_modes"]))
    number = rng.permutation(1000)
    for name, values in attributes.items():
        if name.endswith("nodeids"):
            values = [int(number[v]) - 500 for v in values]
        if name.startswith("nodes_"):
            values = [values[k] for k in order]
        attributes[name] = values
    # The sum is in the order in which the roots stand.
    roots = [tree for tree, n in zip(attributes["nodes_treeids"], attributes["nodes_nodeids"], strict=True)
             if n == number[0] - 500]  # fmt: skip
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=1, **attributes)
    check(model, x, scores([trees[k] for k in roots], x, 1), ort=False)


@pytest.mark.parametrize("batch", [1, 64, 100])
def test_fixed_batch(batch: int) -> None:
    rng = np.random.default_rng(13)
    forest = Forest(rng)
    trees = [forest.tree(20, lambda: [0, 1, 2]) for _ in range(30)]
    x = rows_of(rng, 4)[:batch]
    model = onnx.load_from_string(
        make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=3, **numbered(trees))
    )
    for dim, extent in zip(model.graph.input[0].type.tensor_type.shape.dim, x.shape, strict=True):
        dim.dim_value = extent
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_array_equal(got, scores(trees, x, 3))


def test_in_a_loop() -> None:
    """Boosting by hand: each iteration asks for what the one before has left."""
    rng = np.random.default_rng(14)
    forest = Forest(rng)
    trees = [forest.tree(10, lambda: [0]) for _ in range(10)]
    model = parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
    m (int64 n, float[N, 4] x) => (float[N, 4] y, float[T, N, 1] all) {
      y, all = Loop (n, , x) <body = b (int64 i, bool c, float[N, 4] v) =>
        (bool d, float[N, 4] w, float[N, 1] s) {
        d = Identity(c)
        s = ai.onnx.ml.TreeEnsembleRegressor(v)
        w = Add(v, s)
      }>
    }""")
    node = model.graph.node[0].attribute[0].g.node[1]
    for name, value in numbered(trees).items():
        node.attribute.append(helper.make_attribute(name, value))
    node.attribute.append(helper.make_attribute("n_targets", 1))
    session = loopc.InferenceSession(model.SerializeToString())
    start = rows_of(rng, 4)
    for trips, rows in ((0, 3), (1, 0), (1, 70), (4, 5), (3, 130)):
        x = start[:rows]
        got, collected = session.run(None, {"n": np.array(trips), "x": x})
        assert len(collected) == trips
        for step in range(trips):
            want = scores(trees, x, 1)
            np.testing.assert_array_equal(collected[step], want)
            x = x + want
        np.testing.assert_array_equal(got, x)


def test_threads() -> None:
    """Blocks of rows are shared among threads; the bits stay."""
    rng = np.random.default_rng(15)
    forest = Forest(rng)
    trees = [forest.tree(60, leaves_of("one", 3, rng)) for _ in range(100)]
    x = rng.standard_normal((3000, 4)).astype(np.float32)
    model = make("TreeEnsembleRegressor", {"x": x}, {"y": FLOAT}, n_targets=3, **numbered(trees))
    options = loopc.SessionOptions()
    options.intra_op_num_threads = 2
    one = loopc.InferenceSession(model).run(None, {"x": x})[0]
    two = loopc.InferenceSession(model, options).run(None, {"x": x})[0]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:50], scores(trees, x[:50], 3))


PLACED = {
    "a circle": ({"nodes_truenodeids": [1, 0], "nodes_trueleafs": [0, 0]}, "leads back to itself"),
    "a leaf that is not there": ({"nodes_falsenodeids": [0, 7]}, "leads to a node that is not"),
    "a node before the first": ({"nodes_truenodeids": [-1, 1]}, "leads to a node that is not"),
    "a root that is not there": ({"tree_roots": [2]}, "root 2 is no node"),
    "a target too many": ({"leaf_targetids": [0, 1, 5]}, "target 5 is not one of 2"),
    "a feature before the first": ({"nodes_featureids": [0, -3]}, "feature -3 is negative"),
    "a feature that no input has": ({"nodes_featureids": [0, 1 << 40]}, "has a feature 10995"),
    "a leaf too few": ({"leaf_targetids": [0, 1]}, "must have same length"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACED)
def test_refused(name: str) -> None:
    """What no run could compute is one error, which says where."""

    def tensor(values: list[float], kind: int = FLOAT) -> onnx.TensorProto:
        return helper.make_tensor("t", kind, [len(values)], values)

    attributes: dict[str, Any] = {
        "tree_roots": [0], "nodes_modes": tensor([0, 0], TensorProto.UINT8),
        "nodes_featureids": [0, 1], "nodes_splits": tensor([0.5, 1.0]),
        "nodes_truenodeids": [1, 1], "nodes_trueleafs": [0, 1],
        "nodes_falsenodeids": [0, 2], "nodes_falseleafs": [1, 1],
        "leaf_targetids": [0, 1, 0], "leaf_weights": tensor([1.0, 2.0, 4.0]),
    }  # fmt: skip
    x = np.float32([[0, 0], [1, 0], [0, 2]])

    def model(changed: dict[str, Any]) -> bytes:
        return make("TreeEnsemble", {"x": x}, {"y": FLOAT}, ml=5, n_targets=2,
                    aggregate_function=1, post_transform=0, **(attributes | changed))  # fmt: skip

    (got,) = loopc.InferenceSession(model({})).run(None, {"x": x})
    np.testing.assert_array_equal(got, np.float32([[0, 2], [1, 0], [4, 0]]))
    changed, reason = PLACED[name]
    with pytest.raises(loopc.CompileError, match=f"main/#0 .*TreeEnsemble.*{reason}"):
        loopc.InferenceSession(model(changed))


#: Prints the peak of its memory in KiB. What getrusage() says begins with that of the process
#: that it was forked from.
PEAK = """
import re, sys, loopc
loopc.InferenceSession(sys.argv[1])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


def large(path: Path, trees: int) -> int:
    """Full trees of 1,023 nodes as LightGBM's converter writes them. Returns the bytes of the file."""
    inner, leaves = 511, 512
    nodes = np.tile(np.arange(inner + leaves), trees)
    tree = np.repeat(np.arange(trees), inner + leaves)
    is_inner = nodes < inner
    leaf = nodes[~is_inner]
    columns: dict[str, Any] = {
        "nodes_treeids": tree, "nodes_nodeids": nodes, "nodes_featureids": nodes % 7,
        "nodes_truenodeids": np.where(is_inner, 2 * nodes + 1, 0),
        "nodes_falsenodeids": np.where(is_inner, 2 * nodes + 2, 0),
        "nodes_missing_value_tracks_true": nodes % 2, "target_treeids": tree[~is_inner],
        "target_nodeids": leaf, "target_ids": leaf * 0,
        "nodes_values": nodes / 1024.0, "nodes_hitrates": nodes * 0 + 1.0,
        "target_weights": leaf / 7.0,
    }  # fmt: skip
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml",
                            n_targets=1, **{name: list(v) for name, v in columns.items()},
                            nodes_modes=np.where(is_inner, "BRANCH_LEQ", "LEAF").tolist())  # fmt: skip
    graph = helper.make_graph([node], "trees", [helper.make_tensor_value_info("x", FLOAT, ["n", 7])],
                              [helper.make_tensor_value_info("y", FLOAT, ["n", 1])])  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    path.write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    )
    return path.stat().st_size


def test_memory_of_a_session(tmp_path):
    """What a larger file adds to the peak: its message of protobuf, its lists, its table.

    onnxruntime takes 10 to 15 times the file for the same models.
    """
    peaks, sizes = [], []
    for trees in (20, 400):
        path = tmp_path / f"{trees}.onnx"
        sizes.append(large(path, trees))
        ran = subprocess.run([sys.executable, "-c", PEAK, str(path)], check=True, text=True,
                             capture_output=True,
                             env=os.environ | {"LOOPC_COMPILE": "inprocess", "LOOPC_CACHE_DIR": "off"})  # fmt: skip
        peaks.append(1024 * int(ran.stdout))
    assert peaks[1] - peaks[0] < 9 * (sizes[1] - sizes[0])
