# ===- test_user_models.py - Models of packages, for the benchmark ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`./dev bench --models`: models out of wheels, their variants, and what a row says."""

from __future__ import annotations

import gzip
import math
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import exported_models
import model_packages
import user_models


def write_model(path: Path) -> None:
    """y = relu(x) of open extents."""
    shape = ["N", 3, "W"]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "main",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, path)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of one package, whose wheel is in the cache that is returned."""
    cache = tmp_path / "cache"
    (cache / "thing-1.0").mkdir(parents=True)
    write_model(tmp_path / "relu.onnx")
    with zipfile.ZipFile(cache / "thing-1.0/thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(tmp_path / "relu.onnx", "thing/data/relu.onnx")
    (tmp_path / "list.toml").write_text(
        '[[entries]]\npackage = "thing==1.0"\nfiles = ["thing/data/*.onnx"]\n'
        'set = { W = 7 }\nvariants = ["fixed", "float16"]\n'
    )
    monkeypatch.setattr(model_packages, "LIST", tmp_path / "list.toml")
    monkeypatch.setattr(exported_models, "write", lambda folder: iter(()))
    return cache


def test_a_model_that_is_compressed(packages: Path) -> None:
    model = packages.parent / "relu.onnx"
    with zipfile.ZipFile(packages / "thing-1.0/thing-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("thing/small/relu.onnx.gz", gzip.compress(model.read_bytes()))
    model_packages.LIST.write_text(
        '[[entries]]\npackage = "thing==1.0"\nfiles = ["thing/small/*.gz"]\n'
    )
    (entry,) = model_packages.find(packages, lambda entry: True)
    assert entry.name == "relu.onnx"
    assert entry.path.read_bytes() == model.read_bytes()


def test_sources_and_files_beside_a_model(packages: Path) -> None:
    model = packages.parent / "relu.onnx"
    (packages / "other-1.0").mkdir()
    with tarfile.open(packages / "other-1.0/other-1.0.tar.gz", "w:gz") as sources:
        sources.add(model, "other-1.0/relu.onnx")
        sources.add(model, "other-1.0/relu.onnx.data")
    model_packages.LIST.write_text(
        '[[entries]]\npackage = "other==1.0"\nsource = true\nfiles = ["*/relu.onnx"]\n'
        'beside = ["*/relu.onnx.data"]\n'
    )
    (entry,) = model_packages.find(packages, lambda entry: True)
    assert entry.path.read_bytes() == model.read_bytes()
    assert entry.path.with_suffix(".onnx.data").exists()


def test_models_of_a_wheel_and_variants(packages: Path) -> None:
    entries = list(model_packages.find(packages, lambda entry: True))
    assert [one.name for one in entries] == ["relu.onnx", "relu.onnx, fixed", "relu.onnx, float16"]
    assert {one.origin for one in entries} == {"thing 1.0"}
    fixed = onnx.load(entries[1].path).graph.input[0].type.tensor_type.shape.dim
    assert [one.dim_value for one in fixed] == [1, 3, 7]
    half = onnx.load(entries[2].path)
    assert half.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT16


def test_only_what_is_wanted_is_made(packages: Path) -> None:
    entries = list(model_packages.find(packages, lambda entry: entry.variant == "fixed"))
    assert [one.name for one in entries] == ["relu.onnx, fixed"]
    assert not (packages / "thing-1.0/float16").exists()


def test_a_row_of_each_model(packages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cache", str(packages), "--filter", "relu", "--threads", "1,2"]
    assert user_models.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    columns = lines[0].split(" | ")
    assert columns[6:] == [
        "times, 1 thread",
        *(f"{one}, 2 threads" for one in ("loopc, ms", "onnxruntime, ms")),
        "times, 2 threads |",
    ]
    assert [line.split(" | ")[1] for line in lines[2:5]] == [
        "relu.onnx",
        "relu.onnx, fixed",
        "relu.onnx, float16",
    ]
    assert all(len(line.split(" | ")) == len(columns) for line in lines[2:5])
    assert all(line.split(" | ")[3] == "0" for line in lines[2:5])
    assert "3 models of 1 packages and exporters" in lines[-3]
    assert "- 2 threads: " in lines[-1]


def test_a_file_that_the_wheel_lacks(packages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = model_packages.LIST.read_text().replace("*.onnx", "no.onnx")
    model_packages.LIST.write_text(text)
    assert user_models.main(["--cache", str(packages)]) == 1
    assert "has no thing/data/no.onnx" in capsys.readouterr().err


def test_a_wrong_output_is_a_failure(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "relu.onnx"
    monkeypatch.setattr(user_models, "difference", lambda got, want: math.inf)
    assert "differs" in user_models._measure_here(str(path), {}, [1]).problem


@pytest.mark.parametrize(
    ("got", "want", "expected"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([np.inf, 1.0], [np.inf, 1.0], 0.0),
        ([np.inf, 1.0], [1.0, 1.0], math.inf),
        ([np.nan, 1.0], [1.0, 1.0], math.inf),
        ([2e-4], [1e-4], 0.1),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([0.0], [0.0], 0.0),
    ],
)
def test_difference(got: list[float], want: list[float], expected: float) -> None:
    assert user_models.difference(np.float32(got), np.float32(want)) == pytest.approx(expected)


def test_difference_of_kinds() -> None:
    assert user_models.difference(np.zeros(2, np.int64), np.zeros(2, np.int32)) == math.inf
    assert user_models.difference(np.zeros((2, 1)), np.zeros(2)) == math.inf
    assert user_models.difference([np.zeros(1)], [np.zeros(1), np.zeros(1)]) == math.inf
    assert user_models.difference(np.array(["a"], object), np.array(["b"], object)) == math.inf


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "x"],
        ["--threads", "1,0"],
        ["--threads", "two"],
        ["--filter", "("],
        ["--docs", "--filter", "a"],
        ["none.onnx"],
    ],
)
def test_bad_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        user_models.main(arguments)
    assert error.value.code == 2
