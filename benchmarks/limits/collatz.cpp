//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One number in a register, both ways at once: nothing waits for the parity.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t trips = *in[0].ints(), start = *in[1].ints(), total = 0;
  for (int64_t i = 0; i < trips; ++i) {
    int64_t n = start + i;
    do {
      // Of an even number half is exact: a shift, also where it is negative.
      int64_t half = n >> 1, odd = 3 * n + 1;
      n = n & 1 ? odd : half;
      ++total;
    } while (n > 1);
  }
  *allocate<int64_t>(out[0], {}) = total;
}
