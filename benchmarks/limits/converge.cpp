//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A vector of state; what is collected grows by doubling.

#include "limit.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  using Row = float __attribute__((vector_size(64)));
  Row value, target;
  std::memcpy(&value, in[0].data, sizeof(Row));
  std::memcpy(&target, in[1].data, sizeof(Row));
  float rate = *in[2].floats(), bound = *in[3].floats();
  std::vector<Row> rows;
  std::vector<float> errors;
  float error;
  do {
    value += (target - value) * rate;
    Row distance = target - value;
    error = 0;
    for (int k = 0; k < 16; ++k) {
      float one = std::fabs(distance[k]);
      error = one > error ? one : error;
    }
    rows.push_back(value);
    errors.push_back(error);
  } while (error > bound);
  auto trips = static_cast<int64_t>(rows.size());
  std::memcpy(allocate<float>(out[0], {16}), &value, sizeof(value));
  std::memcpy(allocate<float>(out[1], {trips, 16}), rows.data(),
              rows.size() * sizeof(Row));
  copyOut(out[2], errors, {trips});
}
