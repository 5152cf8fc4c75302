# ===- _pybind_state.py - Another name -------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``onnxruntime.capi._pybind_state``: the same as onnxruntime_pybind11_state."""

from loopc.capi.onnxruntime_pybind11_state import *  # noqa: F403
