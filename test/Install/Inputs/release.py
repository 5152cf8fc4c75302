# ===- release.py - A release, made twice ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Makes a release twice of a wheel, and prints its files and whether the archives are equal."""

import os
import pathlib
import subprocess
import sys

source, build, out = map(pathlib.Path, sys.argv[1:])
(wheel,) = out.glob("*.whl")
seen = []
for _ in range(2):
    subprocess.run(
        [sys.executable, str(source / "utils/make_release.py"), "--build", str(build),
         "--wheel", str(wheel), "--out", str(out / "release")],
        check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1"})  # fmt: skip
    seen.append((out / "release/SHA256SUMS").read_bytes())
print("\n".join(sorted(file.name for file in (out / "release").iterdir())))
print("the same bytes twice" if seen[0] == seen[1] else "other bytes")
