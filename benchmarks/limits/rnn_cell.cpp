//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// x W for all steps at once, weights packed, tanh vectorised.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t steps = in[1].shape[0], batch = in[1].shape[1],
          width = in[1].shape[2];
  Packed w(in[2].floats(), width, width, width);
  Packed r(in[3].floats(), width, width, width);
  float *rows = allocate<float>(out[1], {steps, batch, width});
  float *last = allocate<float>(out[0], {batch, width});
  multiply(in[1].floats(), steps * batch, width, w, in[4].floats(), 0, rows,
           width);
  const float *state = in[0].floats();
  std::vector<float> sums(static_cast<size_t>(batch * width));
  for (int64_t t = 0; t < steps; ++t) {
    float *row = rows + t * batch * width;
    multiply(state, batch, width, r, row, width, sums.data(), width);
    for (int64_t k = 0; k < batch * width; ++k)
      row[k] = tanhOf(sums[static_cast<size_t>(k)]);
    state = row;
  }
  std::memcpy(last, state, static_cast<size_t>(batch * width) * 4);
}
