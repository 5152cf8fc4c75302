//===- VectorUnit.h - The vector registers of a target ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_VECTORUNIT_H
#define LOOPC_SUPPORT_VECTORUNIT_H

namespace loopc {

/// The vector registers of a target, as in #loopc.target (LoopcDialect.td).
struct VectorUnit {
  unsigned bits = 128;
  unsigned registers = 16;
  /// Of the narrowest element that masked loads and stores take; 0: none.
  unsigned maskBits = 0;
  /// There is an instruction for x 2^n (n an integer) of vectors of f32.
  bool scales = false;
  /// Of the integers that an instruction multiplies and sums up, as many as fit
  /// into the 32 bits of a sum: 8 (unsigned by signed), 16 (signed) or 0, where
  /// there is none.
  unsigned dotBits = 0;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_VECTORUNIT_H
