//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Layer by layer: x W for all steps at once, then the recurrence.

#include "limit.h"

#include <utility>

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t steps = in[3].shape[0], batch = in[3].shape[1],
          width = in[3].shape[2], count = batch * width;
  std::vector<float> none(static_cast<size_t>(width)),
      sums(static_cast<size_t>(count)),
      other(static_cast<size_t>(steps * count));
  float *rows = allocate<float>(out[3], {steps, batch, width});
  // The last layer writes into the output.
  float *to = rows, *spare = other.data();
  const float *from = in[3].floats();
  for (int layer = 0; layer < 3; ++layer) {
    Packed w(in[4 + 2 * layer].floats(), width, width, width);
    Packed r(in[5 + 2 * layer].floats(), width, width, width);
    multiply(from, steps * batch, width, w, none.data(), 0, to, width);
    const float *state = in[layer].floats();
    for (int64_t t = 0; t < steps; ++t) {
      float *row = to + t * count;
      multiply(state, batch, width, r, row, width, sums.data(), width);
      for (int64_t k = 0; k < count; ++k)
        row[k] = tanhOf(sums[static_cast<size_t>(k)]);
      state = row;
    }
    float *last = allocate<float>(out[layer], {batch, width});
    std::memcpy(last, state, static_cast<size_t>(count) * 4);
    from = to;
    std::swap(to, spare);
  }
}
