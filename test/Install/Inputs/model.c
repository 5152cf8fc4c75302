//===- model.c - A model that the build has compiled
//-----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Its header, and a run that it refuses.

#include "kepler.h"

#include <stdio.h>

int main(void) {
  int64_t shape[] = kepler_INPUT_0_SHAPE;
  loopc_error error = {0};
  printf("kepler_INPUT_0_SHAPE is %d\n", (int)shape[0]);
  return kepler_run(NULL, NULL, 0, NULL, 0, &error) != LOOPC_ERROR_INPUT;
}
