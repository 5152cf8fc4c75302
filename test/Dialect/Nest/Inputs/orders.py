# ===- orders.py - A module's functions in each order through passes -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The functions of a module in each order, through loopc-opt with the given passes: the results must be the same.

orders.py FILE PASS...: each function of FILE begins in a line with 'llvm.func' and ends where the next one, or a comment,
begins. The result is written once, its functions in the order of their texts, for FileCheck.
"""

import itertools
import re
import subprocess
import sys

path, *passes = sys.argv[1:]
with open(path) as file:
    lines = [line for line in file if not line.startswith("//")]
functions = re.split(r"(?m)^(?=llvm\.func)", "".join(lines))[1:]
texts = ["".join(order) for order in itertools.permutations(functions)]
run = subprocess.run(
    ["loopc-opt", *passes, "--split-input-file", "-"],
    input="// -----\n".join(texts),
    capture_output=True,
    text=True,
)
if run.returncode:
    sys.exit(f"loopc-opt ends with {run.returncode}\n{run.stderr}")
results = set()
for module in run.stdout.split("// -----"):
    found = re.split(r"(?m)^(?=  llvm\.func)", module.strip().removesuffix("}"))[1:]
    results.add("".join(sorted(text.strip() + "\n" for text in found)))
print(f"{len(texts)} orders, {len(results)} results")
for text in sorted(results):
    print(text)
