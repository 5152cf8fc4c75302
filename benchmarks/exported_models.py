# ===- exported_models.py - Models that exporters write ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Small models of scikit-learn by skl2onnx, of LightGBM and of XGBoost by onnxmltools.

They are trained on numbers by chance. Those of packages that are not installed are left
out with a line that says so.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROWS, FEATURES = 600, 24


def _data() -> tuple[np.ndarray, np.ndarray]:
    """Rows, and one of four classes for each."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((ROWS, FEATURES)).astype(np.float32)
    classes = (rows[:, 0] > 0) * 2 + (rows[:, 1] * rows[:, 2] > 0)
    return rows, classes.astype(np.int64)


def _scikit_learn(folder: Path) -> Iterator[Path]:
    from skl2onnx import to_onnx
    from sklearn.ensemble import (
        GradientBoostingRegressor,
        IsolationForest,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    rows, classes = _data()
    estimators: list[Any] = [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
        RandomForestClassifier(100, random_state=0),
        GradientBoostingRegressor(random_state=0),
        IsolationForest(random_state=0),
        MLPClassifier((64, 64), random_state=0, max_iter=50),
        SVC(random_state=0),
        KNeighborsClassifier(),
    ]
    for estimator in estimators:
        name = type(estimator[-1] if hasattr(estimator, "steps") else estimator).__name__
        path = folder / f"{name}.onnx"
        if not path.exists():
            estimator.fit(rows, classes)
            options = {"zipmap": False} if hasattr(estimator, "classes_") else {}
            model = to_onnx(
                estimator, rows[:1], target_opset={"": 18, "ai.onnx.ml": 3},
                options={id(estimator): options} if options else None,
            )  # fmt: skip
            path.write_bytes(model.SerializeToString())
        yield path


def _boosted(folder: Path, estimator: Any, convert: Callable[..., Any]) -> Path:
    from onnxmltools.convert.common.data_types import FloatTensorType

    path = folder / f"{type(estimator).__name__}.onnx"
    if not path.exists():
        rows, classes = _data()
        model = convert(
            estimator.fit(rows, classes),
            initial_types=[("X", FloatTensorType([None, FEATURES]))],
            target_opset=15,
        )
        path.write_bytes(model.SerializeToString())
    return path


def _lightgbm(folder: Path) -> Iterator[Path]:
    import lightgbm
    import onnxmltools

    options = {"n_estimators": 100, "num_leaves": 63, "verbose": -1, "random_state": 0}
    for kind in (lightgbm.LGBMClassifier, lightgbm.LGBMRegressor):
        yield _boosted(folder, kind(**options), onnxmltools.convert_lightgbm)


def _xgboost(folder: Path) -> Iterator[Path]:
    import onnxmltools
    import xgboost

    options = {"n_estimators": 100, "max_depth": 6, "random_state": 0}
    for kind in (xgboost.XGBClassifier, xgboost.XGBRegressor):
        yield _boosted(folder, kind(**options), onnxmltools.convert_xgboost)


def write(folder: Path) -> Iterator[tuple[str, Path]]:
    """The exporters with their versions, and the files of models; those that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for exporter, trained, make in (
        ("skl2onnx", "sklearn", _scikit_learn),
        ("onnxmltools", "lightgbm", _lightgbm),
        ("onnxmltools", "xgboost", _xgboost),
    ):
        if not all(importlib.util.find_spec(name) for name in (exporter, trained)):
            print(f"{exporter}, {trained}: not installed, left out", file=sys.stderr)
            continue
        for path in make(folder):
            yield f"{exporter} {version(exporter)}", path
