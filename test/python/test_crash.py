# ===- test_crash.py - A compiler that crashes ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A crash ends the process, wherever it happens."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import loopc

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
model (float[a, b] x) => (float[a, b] y) {
  s = Softmax (x)
  t = Tanh (s)
  y = Add (t, x)
}
"""

#: A malloc() that crashes while it holds its lock.
CRASHING_MALLOC = """
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
extern void *__libc_malloc(size_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;
void *malloc(size_t size) {
  pthread_mutex_lock(&lock);
  if (++calls == 20000)
    raise(SIGSEGV);
  void *block = __libc_malloc(size);
  pthread_mutex_unlock(&lock);
  return block;
}
"""


def test_compiler_that_crashes_in_its_allocator(tmp_path):
    """What tells of a crash allocates memory: it must not wait for good for that lock."""
    (tmp_path / "malloc.c").write_text(CRASHING_MALLOC)
    library = tmp_path / "malloc.so"
    compiler = shutil.which("clang-22") or shutil.which("cc")
    command = [compiler, "-shared", "-fPIC", "-o", library, tmp_path / "malloc.c", "-pthread"]
    subprocess.run(command, check=True)
    (tmp_path / "model.onnxtxt").write_text(MODEL)
    loopc_tool = Path(loopc._loopc.__file__).parents[2] / "bin/loopc"
    done = subprocess.run(
        [loopc_tool, "model.onnxtxt", "-o", "model.o"], cwd=tmp_path, timeout=60, check=False,
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == -signal.SIGABRT
    assert not (tmp_path / "model.o").exists()
