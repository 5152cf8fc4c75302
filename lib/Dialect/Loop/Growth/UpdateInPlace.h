//===- UpdateInPlace.h - Parts that replace others --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_GROWTH_UPDATEINPLACE_H
#define LOOPC_LIB_DIALECT_LOOP_GROWTH_UPDATEINPLACE_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc::loop {

/// Where what carried value `port` becomes is put together of its beginning,
/// something else and its end: an insertion into it, if what is between the two
/// is seen to be as long as what is inserted. Returns whether it was so
/// written.
///
///     %y = concat(%x[0:s], %m, %x[e:])    // e == s + |m|
///     ->  %y = insert %m into %x at s
bool updateInPlace(mlir::RewriterBase &rewriter, LoopOp loop, unsigned port);

} // namespace loopc::loop

#endif // LOOPC_LIB_DIALECT_LOOP_GROWTH_UPDATEINPLACE_H
