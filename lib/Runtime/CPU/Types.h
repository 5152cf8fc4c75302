//===- Types.h - Element types and kinds ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_TYPES_H
#define LOOPC_LIB_RUNTIME_CPU_TYPES_H

#include "loopc-rt/loopc_rt.h"

#include <stddef.h>
#include <stdint.h>

namespace loopc::rt {

/// How elements of a type lie at the border and inside a model.
struct ElementLayout {
  uint32_t bits;       ///< of one element at the border
  uint32_t innerBytes; ///< of one element inside the model
  uint32_t alignment;  ///< that compiled code relies on
  bool isBool;         ///< normalised to 0 or 1 on entry
  bool isPacked;       ///< several elements a byte at the border
  bool isSigned;       ///< packed and sign-extended on entry

  /// Bytes of `count` elements at the border, C order without gaps.
  uint64_t getBorderBytes(uint64_t count) const {
    return isPacked ? (count * bits + 7) / 8 : count * innerBytes;
  }
};

/// Fills `layout` for an element type that the runtime knows.
bool getElementLayout(DLDataType dtype, ElementLayout &layout);

/// Layout of a loopc_string, inside a model and at the border.
ElementLayout getStringLayout();

/// Text of an element type: "float32", "bool"; of an unknown one its numbers.
struct DtypeText {
  explicit DtypeText(DLDataType dtype);
  char text[64];
};

/// Text of a shape, "[2, 3]"; long ones are cut with "...".
struct ShapeText {
  ShapeText(int32_t rank, const int64_t *shape);
  char text[256];
};

bool operator==(const DLDataType &a, const DLDataType &b);

/// "none", "tensor", "strings", "sequence", "optional", or "unknown kind".
const char *getKindName(int32_t kind);

/// The number of elements of a shape, and false where the dimensions that are
/// not zero, times `elementBytes`, do not fit 63 bits (so that no product of
/// some of the dimensions overflows either). Dimensions must not be negative.
bool getNumElements(int32_t rank, const int64_t *shape, uint32_t elementBytes,
                    int64_t &count);

/// True for C order without gaps (or `strides` null). Dimensions of extent 1
/// may have any stride; a tensor without elements is always contiguous.
bool isContiguous(int64_t rank, const int64_t *shape, const int64_t *strides);

/// The bytes that the `count` elements of a tensor lie in, one at least, from
/// the first to the last.
void getSpan(const DLTensor &tensor, const ElementLayout &layout, int64_t count,
             const char *&begin, uint64_t &bytes);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_TYPES_H
