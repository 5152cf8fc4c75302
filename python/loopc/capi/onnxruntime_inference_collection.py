# ===- onnxruntime_inference_collection.py - Sessions ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``onnxruntime.capi.onnxruntime_inference_collection``: sessions, values and bindings."""

from loopc import InferenceSession, IOBinding, OrtDevice, OrtValue, copy_tensors

#: onnxruntime's base class of sessions.
Session = InferenceSession

__all__ = [
    "IOBinding",
    "InferenceSession",
    "OrtDevice",
    "OrtValue",
    "Session",
    "copy_tensors",
]
