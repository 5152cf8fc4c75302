//===- ConstantElements.h - What is in a constant ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The elements of constant tensors, which are held by dense attributes, or by
// resources where they are many or come from a file.

#ifndef LOOPC_SUPPORT_CONSTANTELEMENTS_H
#define LOOPC_SUPPORT_CONSTANTELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace loopc {

/// The bytes of `elements` as they are held: those of one element where all are
/// equal. Nothing of a resource without bytes, of other attributes, or of null.
llvm::ArrayRef<char> getRawBytes(mlir::Attribute elements);

/// `elements` as a dense attribute; null where it is none: a resource without
/// bytes or with too few, other attributes, or null. Nor are truth values of
/// resources, each of which has a byte there.
mlir::DenseElementsAttr getDenseElements(mlir::Attribute elements);

} // namespace loopc

#endif // LOOPC_SUPPORT_CONSTANTELEMENTS_H
