//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "linear_attention.h"

extern "C" void limit(const Tensor *in, Tensor *out) {
  attendLoop</*Gated=*/false, /*Delta=*/false>(in, out);
}
