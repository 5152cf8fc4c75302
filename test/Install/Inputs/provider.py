# ===- provider.py - The execution provider of a wheel ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Prints where the provider's library is, and what onnxruntime calls the provider."""

import loopc.onnxruntime

print(loopc.get_ep_library())
print(loopc.onnxruntime.register()[0].ep_name)
