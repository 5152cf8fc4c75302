# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a library again in the order in which its code runs, and says what became of it.

With --idle no program is run with it.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import bolt

library, made = map(pathlib.Path, sys.argv[-2:])
made.parent.mkdir(exist_ok=True)
trained = 0


def train(counting: pathlib.Path) -> None:
    global trained
    trained += 1
    if "--idle" not in sys.argv:
        program = shutil.copy(library.parent / "program", counting.parent)
        subprocess.run([program], check=True, stdout=subprocess.DEVNULL)


names = subprocess.run(
    ["llvm-nm", "--defined-only", library], capture_output=True, text=True, check=True
)
functions = len(bolt.list_functions(names.stdout))
with tempfile.TemporaryDirectory() as scratch:
    bolt.rewrite(library, made, train, pathlib.Path(scratch), hand=-(-functions // 3))
print(f"trained: {trained} times")
sections = subprocess.run(["llvm-readelf", "-SW", made], capture_output=True, text=True, check=True)
for name in (".bolt.org.text", ".text.cold", ".symtab"):
    print(f"{name}: {'there' if f' {name} ' in sections.stdout else 'none'}")
