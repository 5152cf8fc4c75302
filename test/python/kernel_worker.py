# ===- kernel_worker.py - Runs of test_kernels.py ----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What the process does that test_kernels.py starts.

A process opens one CUDA driver and keeps it: that of these tests is not that of
others.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def begin(driver: str, log: str, environment: Mapping[str, str] | None = None) -> None:
    """Makes `driver` the CUDA driver of this process, which writes its calls to `log`.

    `environment` goes to that of the process.
    """
    os.environ["LOOPC_CUDA_DRIVER"] = driver
    os.environ["LOOPC_FAKE_CUDA_LOG"] = log
    os.environ["LOOPC_FAKE_CUDA_QUIET"] = "1"
    # PTX is what the driver runs.
    os.environ["LOOPC_PTXAS"] = ""
    os.environ.update(environment or {})


@functools.lru_cache(maxsize=8)
def _session(model: bytes, **options: Any) -> Any:
    """A session for the GPU, kept for the next runs of the model."""
    import loopc

    return loopc.InferenceSession(model, device="cuda:0", **options)


def run(
    model: bytes,
    feeds: dict[str, np.ndarray],
    min_kernel_work: int = 0,
    timeout: float | None = None,
    count: int = 1,
    **options: Any,
) -> list[np.ndarray] | str:
    """The outputs of `model` on the GPU in the last of `count` runs, or the error's message."""
    import loopc

    try:
        session = _session(model, min_kernel_work=min_kernel_work, **options)
        for _ in range(count - 1):
            session.run(None, feeds)
        return session.run(None, feeds, loopc.RunOptions(timeout=timeout))
    except loopc.RunError as error:
        return str(error)
