//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The products vectorise; the sum goes on in order, as the loop's does.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints();
  const float *x = in[1].floats(), *w = in[2].floats();
  float scale = *in[3].floats(), value = 0;
  float *sums = allocate<float>(out[1], {trips});
  for (int64_t i = 0; i < trips; ++i) {
    float sum = value;
    for (int64_t j = 0; j < trips; ++j)
      sum += x[i] * w[j] * scale;
    sums[i] = sum;
    value = sum * scale;
  }
  *allocate<float>(out[0], {}) = value;
}
