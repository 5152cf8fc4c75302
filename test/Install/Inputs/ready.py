# ===- ready.py - A session that another process compiles --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Makes a session of a model; the package lies below a prefix, or is on the path."""

import pathlib
import sys

for site in pathlib.Path(sys.argv[2]).glob("lib/python*/site-packages"):
    sys.path.insert(0, str(site))

import loopc  # noqa: E402

loopc.InferenceSession(sys.argv[1])
maps = pathlib.Path("/proc/self/maps").read_text()
print("the compiler is", "here" if "libloopc_compiler" in maps else "elsewhere")
