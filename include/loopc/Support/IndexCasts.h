//===- IndexCasts.h - Conversions that keep a number ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_INDEXCASTS_H
#define LOOPC_SUPPORT_INDEXCASTS_H

#include "mlir/IR/Value.h"

namespace loopc {

/// True for the integers of 64 bits, and for an index, which has as many.
bool isWideInteger(mlir::Type type);

/// `value` without the conversions between integers and indices that it is made
/// by: those that keep the number. One to fewer bits cuts it off, and stays.
mlir::Value withoutIndexCasts(mlir::Value value);

} // namespace loopc

#endif // LOOPC_SUPPORT_INDEXCASTS_H
