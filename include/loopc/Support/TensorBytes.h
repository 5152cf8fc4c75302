//===- TensorBytes.h - Elements of a tensor in C order ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_TENSORBYTES_H
#define LOOPC_SUPPORT_TENSORBYTES_H

#include "loopc-rt/dlpack.h"

#include <cstddef>
#include <cstring>

namespace loopc {

/// Copies the elements along `axis` and those behind it, which begin at `from`.
/// \returns the place behind the last one.
inline char *copyAxes(const DLTensor &tensor, int32_t axis, const char *from,
                      char *to) {
  ptrdiff_t bytes = tensor.dtype.bits / 8;
  if (axis == tensor.ndim) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    to =
        copyAxes(tensor, axis + 1, from + i * tensor.strides[axis] * bytes, to);
  return to;
}

/// Copies the elements of `tensor`, `size` bytes, in C order. Those of less
/// than a byte have no strides.
inline void copyInOrder(const DLTensor &tensor, char *to, size_t size) {
  if (size == 0)
    return;
  const char *from =
      static_cast<const char *>(tensor.data) + tensor.byte_offset;
  if (tensor.strides && tensor.dtype.bits >= 8)
    copyAxes(tensor, 0, from, to);
  else
    std::memcpy(to, from, size);
}

} // namespace loopc

#endif // LOOPC_SUPPORT_TENSORBYTES_H
