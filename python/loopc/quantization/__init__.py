# ===- __init__.py - onnxruntime.quantization ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``onnxruntime.quantization`` where ``sys.modules["onnxruntime"]`` is loopc."""

from loopc._ort_tools import become

become(globals())
