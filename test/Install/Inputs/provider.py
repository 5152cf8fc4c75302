# ===- provider.py - The execution provider of a wheel ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Prints where the provider's library is, and what onnxruntime calls the provider.

The package is that below the prefix in the arguments, or the one on the path.
"""

import pathlib
import sys

for prefix in map(pathlib.Path, sys.argv[1:]):
    sys.path[:0] = map(str, prefix.glob("lib/python3.*/site-packages"))

import loopc.onnxruntime  # noqa: E402

print(loopc.get_ep_library())
print(loopc.onnxruntime.register()[0].ep_name)
