# ===- random_trees.py - Random tree ensembles ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random ensembles of trees, as attributes of ai.onnx.ml's operators and by their definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "MEMBER")
ASKS: dict[str, Callable[[Any, Any], bool]] = {
    "BRANCH_LEQ": lambda x, split: x <= split,
    "BRANCH_LT": lambda x, split: x < split,
    "BRANCH_GTE": lambda x, split: x >= split,
    "BRANCH_GT": lambda x, split: x > split,
    "BRANCH_EQ": lambda x, split: x == split,
    "BRANCH_NEQ": lambda x, split: x != split,
    "MEMBER": lambda x, split: any(x == member for member in split),
}


@dataclass
class Node:
    """A node, or a leaf (no mode) with its contributions (target, weight)."""

    mode: str = ""
    feature: int = 0
    split: Any = 0.0
    tracks_true: bool = False
    yes: Node | None = None
    no: Node | None = None
    weights: list[tuple[int, float]] = field(default_factory=list)


@dataclass
class Forest:
    """What random trees are made of."""

    rng: np.random.Generator
    features: int = 4
    modes: tuple[str, ...] = ("BRANCH_LEQ",)
    missing: bool = False
    values: Sequence[float] = ()  # of splits and members; empty: any

    def value(self) -> float:
        """A number to compare with."""
        return float(np.float32(self.rng.choice(self.values) if self.values else self.rng.normal()))

    def leaf(self, targets: Sequence[int]) -> Node:
        """A leaf that contributes to `targets`."""
        return Node(weights=[(int(t), float(np.float32(self.rng.normal()))) for t in targets])

    def tree(self, leaves: int, targets: Callable[[], Sequence[int]], chain: bool = False) -> Node:
        """A tree of as many leaves; a chain's nodes lead to a leaf and the next one."""
        root = self.leaf(targets())
        ends = [root]
        while len(ends) < leaves:
            node = ends.pop(-1 if chain else int(self.rng.integers(len(ends))))
            node.mode = str(self.rng.choice(self.modes))
            node.feature = int(self.rng.integers(self.features))
            node.split = self.value()
            if node.mode == "MEMBER":
                node.split = sorted({self.value() for _ in range(self.rng.integers(1, 6))})
            node.tracks_true = bool(self.missing and self.rng.integers(2))
            node.weights = []
            node.yes, node.no = self.leaf(targets()), self.leaf(targets())
            two = [node.yes, node.no]
            ends += two if self.rng.integers(2) else two[::-1]
        return root


def scores(trees: list[Node], x: np.ndarray, targets: int, aggregate: str = "SUM",
           kind: Any = np.float32) -> np.ndarray:  # fmt: skip
    """The definition: leaf by leaf, in the order of the trees, in the type `kind`."""
    result = np.zeros((len(x), targets), kind)
    with np.errstate(over="ignore", invalid="ignore"):
        for row, sums in zip(x.astype(kind), result, strict=True):
            given: set[int] = set()
            for node in trees:
                while node.mode:
                    number = row[node.feature]
                    goes = ASKS[node.mode](number, node.split)
                    goes = goes or (node.tracks_true and bool(np.isnan(number)))
                    node = node.yes if goes else node.no
                for target, weight in node.weights:
                    if aggregate in ("SUM", "AVERAGE"):
                        sums[target] += kind(weight)
                    elif target not in given:
                        sums[target] = weight
                    else:
                        sums[target] = (min if aggregate == "MIN" else max)(sums[target], weight)
                    given.add(target)
    return result / kind(len(trees)) if aggregate == "AVERAGE" else result


def _listed(root: Node) -> list[Node]:
    """The nodes of a tree, each before those that it leads to; shared ones once."""
    order: dict[int, Node] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in order:
            order[id(node)] = node
            waiting += [node.no, node.yes] if node.mode else []
    return list(order.values())


def numbered(trees: list[Node], prefix: str = "target", missing: bool = True,
             doubles: bool = False) -> dict[str, Any]:  # fmt: skip
    """Attributes of TreeEnsembleRegressor ("target") and TreeEnsembleClassifier ("class")."""
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")  # fmt: skip
    nodes: dict[str, Any] = {f"nodes_{name}": [] for name in names}
    leaves: dict[str, Any] = {f"{prefix}_{n}": [] for n in ("treeids", "nodeids", "ids", "weights")}
    for tree, root in enumerate(trees):
        order = _listed(root)
        number = {id(node): k for k, node in enumerate(order)}
        for k, node in enumerate(order):
            ways = [number[id(node.yes)], number[id(node.no)]] if node.mode else [0, 0]
            row = (
                tree,
                k,
                node.feature,
                node.mode or "LEAF",
                node.split,
                *ways,
                int(node.tracks_true),
            )
            for name, value in zip(nodes, row, strict=True):
                nodes[name].append(value)
            for target, weight in node.weights:
                for name, value in zip(leaves, (tree, k, target, weight), strict=True):
                    leaves[name].append(value)
    if not missing:
        del nodes["nodes_missing_value_tracks_true"]
    for table, name in ((nodes, "nodes_values"), (leaves, f"{prefix}_weights")) if doubles else ():
        values = table.pop(name)
        table[f"{name}_as_tensor"] = helper.make_tensor(
            name, TensorProto.DOUBLE, [len(values)], values
        )
    return nodes | leaves


def placed(trees: list[Node], kind: int = TensorProto.FLOAT) -> dict[str, Any]:
    """Attributes of TreeEnsemble (ai.onnx.ml 5), whose roots are no leaves."""
    inner: dict[int, int] = {}
    leaf: dict[int, int] = {}
    nodes = list({id(n): n for root in trees for n in _listed(root)}.values())
    for node in nodes:
        (inner if node.mode else leaf)[id(node)] = len(inner if node.mode else leaf)
    asking = [node for node in nodes if node.mode]
    ends = [node for node in nodes if not node.mode]

    def tensor(name: str, values: list[float], kind: int = kind) -> TensorProto:
        return helper.make_tensor(name, kind, [len(values)], values)

    def ways(name: str, targets: list[Any]) -> dict[str, list[int]]:
        places = [inner.get(id(n), leaf.get(id(n), 0)) for n in targets]
        return {
            f"nodes_{name}nodeids": places,
            f"nodes_{name}leafs": [int(id(n) in leaf) for n in targets],
        }

    sets = [member for n in asking if n.mode == "MEMBER" for member in (*n.split, np.nan)]
    splits = [0.0 if n.mode == "MEMBER" else n.split for n in asking]
    return {
        "tree_roots": [inner[id(root)] for root in trees],
        "nodes_modes": tensor("m", [MODES.index(n.mode) for n in asking], TensorProto.UINT8),
        "nodes_featureids": [n.feature for n in asking],
        "nodes_splits": tensor("s", splits),
        "nodes_missing_value_tracks_true": [int(n.tracks_true) for n in asking],
        **ways("true", [n.yes for n in asking]),
        **ways("false", [n.no for n in asking]),
        "leaf_targetids": [n.weights[0][0] for n in ends],
        "leaf_weights": tensor("w", [n.weights[0][1] for n in ends]),
        **({"membership_values": tensor("v", sets)} if sets else {}),
    }
