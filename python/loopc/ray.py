# ===- ray.py - Ray Data ------------------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Ray Data: a class for `ray.data.Dataset.map_batches`.

::

dataset.map_batches(
    loopc.ray.Predictor, fn_constructor_kwargs={"model": "model.onnx"}, concurrency=4
)
"""

import copy
from typing import Any

from loopc import batches
from loopc._extras import require
from loopc._options import Model, SessionOptions

__all__ = ["Predictor"]


class Predictor(batches.Predictor):
    """`loopc.batches.Predictor` with as many threads as its actor has CPUs."""

    def __init__(
        self, model: Model, *, sess_options: SessionOptions | None = None, **options: Any
    ) -> None:
        """Makes the session, in the actor.

        Args:
            model: as `InferenceSession` has it; a path that all nodes have, or bytes.
            sess_options: how to compile and run. Where it does not tell the number of
                threads (`intra_op_num_threads`), that is `num_cpus` of `map_batches`.
            options: as `loopc.batches.Predictor` has them.

        Raises:
            ImportError: Ray is not installed.
            InvalidArgument, CompileError, DeviceError: as `loopc.batches.Predictor`.
        """
        ray = require("ray", "ray.Predictor", '"ray[data]"')
        sess_options = SessionOptions() if sess_options is None else copy.copy(sess_options)
        if sess_options.intra_op_num_threads <= 0 and ray.is_initialized():
            given = ray.get_runtime_context().get_assigned_resources()
            sess_options.intra_op_num_threads = max(int(given.get("CPU", 1)), 1)
        super().__init__(model, sess_options=sess_options, **options)
