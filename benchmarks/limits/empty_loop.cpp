//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One addition an iteration, each of which waits for the one before.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  float value = *in[1].floats(), step = *in[2].floats();
  for (int64_t i = 0, trips = *in[0].ints(); i < trips; ++i)
    value += step;
  *allocate<float>(out[0], {}) = value;
}
