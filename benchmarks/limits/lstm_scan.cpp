//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// x W for all steps at once, weights packed, gates vectorised.

#include "limit.h"

#include "lstm.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t steps = in[2].shape[0], batch = in[2].shape[1],
          width = in[2].shape[2];
  Packed w(in[3].floats(), width, 4 * width, 4 * width);
  Packed r(in[4].floats(), width, 4 * width, 4 * width);
  float *state = allocate<float>(out[0], {batch, width});
  float *cell = allocate<float>(out[1], {batch, width});
  float *rows = allocate<float>(out[2], {steps, batch, width});
  std::memcpy(state, in[0].data, static_cast<size_t>(batch * width) * 4);
  std::memcpy(cell, in[1].data, static_cast<size_t>(batch * width) * 4);
  runLSTM(in[2].floats(), steps, batch, width, w, r, in[5].floats(), rows,
          state, cell);
}
