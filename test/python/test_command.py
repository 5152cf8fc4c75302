# ===- test_command.py - python -m loopc -----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The command: what it prints, and what it returns."""

import os
import re
import subprocess
import sys

import loopc
import numpy as np
import onnx
import onnx.numpy_helper
import pytest

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
twice (float[N] x) => (float[N] y) { y = Add (x, x) }
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "twice.onnxtxt"
    path.write_text(MODEL)
    return path


def loopc_command(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "loopc", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def test_help():
    status, out, _ = loopc_command("--help")
    assert status == 0
    for command in ("compile", "run", "bench", "explain", "cache", "doctor"):
        assert f"\n  {command} " in out
        status, text, _ = loopc_command(command, "--help")
        assert status == 0
        assert text.startswith(f"usage: python -m loopc {command}")
        # The options are those of the program that does it.
        assert command == "doctor" or ("--dir" if command == "cache" else "--dim") in text
    assert loopc_command()[0] == 2
    assert loopc_command("--version")[1] == f"loopc {loopc.__version__}\n"


def test_unknown_command():
    status, out, err = loopc_command("convert")
    assert (status, out) == (2, "")
    assert "no command 'convert'; there are: compile, run, bench, explain, cache, doctor" in err


def test_compile(model, tmp_path):
    status, out, err = loopc_command("compile", model, "--emit=shared", "-o", tmp_path / "twice.so")
    assert (status, out, err) == (0, "", "")
    (y,) = loopc.load(tmp_path / "twice.so").run(None, {"x": np.ones(2, np.float32)})
    assert y.tolist() == [2, 2]
    status, _, err = loopc_command("compile", tmp_path / "nothing.onnx", "-o", tmp_path / "n.o")
    assert status == 3
    assert "LC0102" in err


def test_run(model):
    status, out, _ = loopc_command("run", model, "--input=x=[1,2.5]")
    assert (status, out) == (0, "y: float32[2] = [2, 5]\n")
    assert loopc_command("run", model, "--input=q=1")[0] == 2


def test_bench(model):
    status, out, _ = loopc_command("bench", model, "--bench=10", "--dim=N=4")
    assert status == 0
    assert "bench: 10 runs" in out
    assert "stats: " in out
    assert "y: " not in out


def test_explain(model, tmp_path):
    status, out, _ = loopc_command("explain", model, f"--svg={tmp_path}/loops.svg")
    assert status == 0
    assert out.startswith("loop ") or "has no loops" in out
    assert (tmp_path / "loops.svg").read_text().startswith("<svg ")
    status, out, _ = loopc_command("explain", "LC0301")
    assert (status, out.splitlines()[0][:26]) == (0, "LC0301 UnsupportedOperator")


def test_cache(model, tmp_path):
    folder = f"--dir={tmp_path / 'cache'}"
    assert loopc_command("cache", "warm", folder, model)[0] == 0
    status, out, _ = loopc_command("cache", "list", folder)
    assert status == 0
    assert out.count("\n") == 1
    assert "twice" in out
    assert loopc_command("cache", "clear", folder)[0] == 0
    assert loopc_command("cache", "list", folder) == (0, "", "")
    status, _, err = loopc_command("cache", "empty", folder)
    assert status == 2
    assert "empty" in err


def test_doctor(tmp_path):
    settings = {"LOOPC_CACHE_DIR": str(tmp_path / "cache"), "LOOPC_COMPILE": ""}
    status, out, err = loopc_command("doctor", **settings)
    assert (status, err) == (0, ""), out
    lines = [line for line in out.splitlines() if not line.startswith("     ")]
    assert len(lines) == 6
    assert all(line.startswith("ok   ") for line in lines)
    assert any("a known model is ready after" in line for line in lines)
    assert loopc_command("doctor", "now")[0] == 2


def test_doctor_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    status, out, _ = loopc_command("doctor", LOOPC_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert status == 1
    assert "FAIL cache: " in out
    assert "set LOOPC_CACHE_DIR to a folder that you can write to" in out
    others = tmp_path / "others"
    others.mkdir()
    others.chmod(0o777)
    status, out, _ = loopc_command("doctor", LOOPC_CACHE_DIR=str(others))
    assert status == 1
    assert f"chmod go-w {others}" in out


def test_standard_output_that_takes_nothing(model):
    for arguments in ("--help", "doctor", f"run {model}"):
        done = subprocess.run(
            f"{sys.executable} -m loopc {arguments} > /dev/full",
            shell=True,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert re.fullmatch(
            "loopc(-run)?: error: cannot write to the standard output: No space left on device\n",
            done.stderr,
        )


def test_standard_streams_that_are_closed(model):
    command = f"{sys.executable} -m loopc run {model} --quiet <&- >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0


@pytest.mark.parametrize("emit", ["obj", "asm"])
def test_compiling_over_what_is_read(tmp_path, emit):
    """A model, or weights beside it, are not written to."""
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Add", ["x", "w"], ["y"])],
            "g",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [512])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [512])],
            [onnx.numpy_helper.from_array(np.ones(512, np.float32), "w")],
        ),
        ir_version=10,
        opset_imports=[onnx.helper.make_opsetid("", 21)],
    )
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data", size_threshold=0)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for output, what in (("m.onnx", "input"), ("m.data", "data of the model")):
        with pytest.raises(loopc.CompileError, match=f"LC0101: {what} and output are one file"):
            loopc.compile(path, tmp_path / output, emit=emit)
        status, _, err = loopc_command("compile", path, "-o", tmp_path / output, f"--emit={emit}")
        assert status == 2
        assert f"LC0101: {what} and output are one file" in err
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
