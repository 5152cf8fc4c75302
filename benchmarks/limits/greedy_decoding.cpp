//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Weights packed; x W is a row of E W + bias, of words that were chosen only.

#include "limit.h"

#include "gru.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  int64_t limit = *in[0].ints(), word = *in[1].ints(), eos = *in[2].ints();
  int64_t width = in[3].shape[1], words = in[8].shape[1];
  const float *embedding = in[4].floats(), *bias = in[7].floats();
  Packed w(in[5].floats(), width, 3 * width, 3 * width);
  Packed v(in[8].floats(), width, words, words);
  GRU gru(in[6].floats(), width);
  std::vector<float> given(static_cast<size_t>(3 * width));
  std::vector<float> logits(static_cast<size_t>(words));
  std::vector<int64_t> chosen;
  float *state = allocate<float>(out[1], {1, width});
  std::memcpy(state, in[3].data, static_cast<size_t>(width) * 4);
  for (int64_t i = 0; i < limit; ++i) {
    multiply(embedding + word * width, 1, width, w, bias, 0, given.data(),
             3 * width);
    gru.step(given.data(), state);
    multiply(state, 1, width, v, nullptr, 0, logits.data(), words);
    word = 0;
    for (int64_t k = 1; k < words; ++k)
      if (logits[static_cast<size_t>(k)] > logits[static_cast<size_t>(word)])
        word = k;
    chosen.push_back(word);
    if (word == eos)
      break;
  }
  copyOut(out[0], chosen, {static_cast<int64_t>(chosen.size()), 1});
}
