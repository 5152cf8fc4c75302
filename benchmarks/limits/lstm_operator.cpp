//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// As lstm_scan.cpp, with ONNX's layout of the weights: i, o, f, c.

#include "limit.h"

#include "lstm.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t steps = in[0].shape[0], batch = in[0].shape[1],
          depth = in[0].shape[2], width = in[2].shape[2];
  Packed w = Packed::transposed(in[1].floats(), depth, 4 * width);
  Packed r = Packed::transposed(in[2].floats(), width, 4 * width);
  const float *biases = in[3].floats();
  std::vector<float> bias(biases, biases + 4 * width);
  for (int64_t k = 0; k < 4 * width; ++k)
    bias[static_cast<size_t>(k)] += biases[4 * width + k];
  float *rows = allocate<float>(out[0], {steps, 1, batch, width});
  float *state = allocate<float>(out[1], {1, batch, width});
  float *cell = allocate<float>(out[2], {1, batch, width});
  std::memcpy(state, in[4].data, static_cast<size_t>(batch * width) * 4);
  std::memcpy(cell, in[5].data, static_cast<size_t>(batch * width) * 4);
  runLSTM(in[0].floats(), steps, batch, width, w, r, bias.data(), rows, state,
          cell);
}
