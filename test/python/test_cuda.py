# ===- test_cuda.py - Models on a GPU, from Python ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The cases of cuda_cases.py, on the driver of test/cuda, which needs no GPU."""

import os
import pathlib
import subprocess
import sys

import pytest

_HERE = pathlib.Path(__file__).parent
_DRIVER = _HERE.parents[1] / "build" / "test" / "cuda" / "libcuda.so.1"


def _run(case: str, **environment: str) -> None:
    result = subprocess.run(
        [sys.executable, str(_HERE / "cuda_cases.py"), case],
        env={**os.environ, "LOOPC_FAKE_CUDA_QUIET": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "case",
    [
        "device_outputs",
        "element_types",
        "foreign_tensors",
        "io_binding",
        "loops_and_checks",
        "nothing_is_copied",
        "ort_values",
        "providers",
        "shared_library",
        "states",
        "threads",
        "times",
        "wrong_devices",
    ],
)
def test_on_device(case: str) -> None:
    _run(case, LOOPC_CUDA_DRIVER=str(_DRIVER))


def test_failing_driver() -> None:
    _run(
        "failures",
        LOOPC_CUDA_DRIVER=str(_DRIVER),
        LOOPC_FAKE_CUDA_FAIL="cuLaunchKernel=999,cuLaunchCooperativeKernel=999,"
        "cuLaunchKernelEx=999",
    )


def test_lost_context() -> None:
    _run(
        "lost_context",
        LOOPC_CUDA_DRIVER=str(_DRIVER),
        LOOPC_FAKE_CUDA_FAIL="cuLaunchKernel:1=719,cuLaunchCooperativeKernel:1=719,"
        "cuLaunchKernelEx:1=719",
    )


def test_no_driver() -> None:
    _run("no_driver", LOOPC_CUDA_DRIVER="/nowhere/libcuda.so.1")


def test_driver_without_devices() -> None:
    _run(
        "no_driver_devices",
        LOOPC_CUDA_DRIVER=str(_DRIVER),
        LOOPC_FAKE_CUDA_DEVICES="0",
    )
