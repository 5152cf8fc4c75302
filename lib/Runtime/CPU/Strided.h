//===- Strided.h - Loops over strided tensors -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_STRIDED_H
#define LOOPC_LIB_RUNTIME_CPU_STRIDED_H

#include <stddef.h>
#include <stdint.h>

namespace loopc::rt {

/// A dimension of a loop over two tensors of one shape.
struct StridedDim {
  int64_t extent;
  int64_t src;
  int64_t dst;
};

/// The dimensions of a loop over a strided tensor, outermost first, without
/// those of extent 1: with at most 2^63 elements no more than 62 remain, so
/// there is no limit on ranks.
struct StridedLoop {
  /// \p srcStrides, \p dstStrides in elements; null stands for C order.
  StridedLoop(int64_t rank, const int64_t *shape, const int64_t *srcStrides,
              const int64_t *dstStrides, int64_t scale);

  bool isEmpty = false; ///< there are no elements
  int count = 0;        ///< of dims
  StridedDim dims[64];
};

/// Calls `fn(offset, stride, count)` for each innermost row of `loop` in C
/// order; offset and stride count in units of the source.
template <typename Fn> void forEachRow(const StridedLoop &loop, Fn fn) {
  if (loop.isEmpty)
    return;
  if (loop.count == 0) {
    fn(int64_t{0}, int64_t{0}, int64_t{1});
    return;
  }
  const StridedDim &row = loop.dims[loop.count - 1];
  int64_t index[64];
  for (int dim = 0; dim < loop.count; ++dim)
    index[dim] = 0;
  int64_t offset = 0;
  while (true) {
    fn(offset, row.src, row.extent);
    int dim = loop.count - 2;
    for (; dim >= 0; --dim) {
      offset += loop.dims[dim].src;
      if (++index[dim] < loop.dims[dim].extent)
        break;
      offset -= loop.dims[dim].src * loop.dims[dim].extent;
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

/// Copies between tensors of one shape and `elementBytes` bytes an element;
/// strides in elements, null for C order. The tensors are the same or do not
/// overlap. \returns the number of bytes copied.
uint64_t copyStrided(int64_t elementBytes, int64_t rank, const int64_t *shape,
                     const void *src, const int64_t *srcStrides, void *dst,
                     const int64_t *dstStrides);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_STRIDED_H
