//===- training.c - Compiles models, one after the other ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: training FOLDER MODEL.onnx...
//
// FOLDER then has a shared library of each model. The compiler is in this
// process, so that one profile is of several models (training.py).

#include "loopc-c/loopc.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  for (int k = 2; k < argc; ++k) {
    const char *slash = strrchr(argv[k], '/');
    char output[4096];
    snprintf(output, sizeof(output), "%s/%s.so", argv[1],
             slash ? slash + 1 : argv[k]);
    loopc_diagnostics *said = NULL;
    if (loopc_compile_file(argv[k], LOOPC_EMIT_SHARED, output, NULL, &said)) {
      fprintf(stderr, "%s: %s\n", argv[k],
              loopc_diagnostics_get(said, 0).message);
      return 1;
    }
    loopc_diagnostics_destroy(said);
  }
  return 0;
}
