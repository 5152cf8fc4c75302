//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each product and each sum is rounded, as ONNX has it: compilers would put
// both into one instruction, which takes less time than two that wait for one
// another (collect_contracted.cpp).

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  using Row = float __attribute__((vector_size(32)));
  int64_t trips = *in[0].ints();
  Row value, a, b;
  std::memcpy(&value, in[1].data, sizeof(Row));
  std::memcpy(&a, in[2].data, sizeof(Row));
  std::memcpy(&b, in[3].data, sizeof(Row));
  Row *rows = reinterpret_cast<Row *>(allocate<float>(out[1], {trips, 8}));
  for (int64_t i = 0; i < trips; ++i) {
    Row product = rounded(value * a);
    rows[i] = value = product + b;
  }
  std::memcpy(allocate<float>(out[0], {8}), &value, sizeof(value));
}
