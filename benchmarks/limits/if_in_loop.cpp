//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Two values in registers.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints(), wraps = 0;
  float value = *in[1].floats(), step = *in[2].floats(),
        bound = *in[3].floats();
  for (int64_t i = 0; i < trips; ++i) {
    // Without a jump, and both ways at once: neither waits for the comparison.
    float down = value - bound, up = value + step;
    bool over = value > bound;
    value = over ? down : up;
    wraps += over;
  }
  *allocate<float>(out[0], {}) = value;
  *allocate<int64_t>(out[1], {}) = wraps;
}
