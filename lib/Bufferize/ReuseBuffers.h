//===- ReuseBuffers.h - Buffers that take the place of others ---*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A buffer that nobody reads any more has room for what is computed next.

#ifndef LOOPC_LIB_BUFFERIZE_REUSEBUFFERS_H
#define LOOPC_LIB_BUFFERIZE_REUSEBUFFERS_H

#include "loopc/Support/Casts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// The one dealloc of `buffer` in `block`; null if it is not freed there.
mlir::memref::DeallocOp deallocIn(mlir::Value buffer, mlir::Block *block);

/// The operations of a block that use a buffer, but for casts and what frees
/// it.
struct BufferSpan {
  mlir::memref::DeallocOp dealloc; ///< in the block; null where it is not freed
  mlir::Operation *first = nullptr, *last = nullptr;
  /// They use it otherwise than as an operand.
  bool isFirstIndirect = false, isLastIndirect = false;
  bool isInside = true; ///< nothing outside of the block uses it
};

/// What is known of buffers while others take their places. A buffer that
/// hundreds of operations write over is not gone through again for each.
struct BufferSpans {
  llvm::DenseMap<mlir::Value, BufferSpan> known;
  unsigned work = 0; ///< how many uses of buffers were looked at
};

/// True if what is written to `alloc` may be written to `dying` instead, which
/// `dealloc` frees: what uses `dying` comes before what uses `alloc`; one
/// operation may use both where it computes the one from the other element by
/// element.
bool canReplace(mlir::memref::AllocOp alloc, mlir::Value dying,
                mlir::memref::DeallocOp dealloc);

/// What `op` computes element by element from a buffer of the same size that
/// nobody reads behind it is written over that buffer:
///
///     %t = alloc; generic ins(%x, ...) outs(%t); dealloc %x; ... %t
///     ->  generic ins(%x, ...) outs(%x); ... %x
///
/// Nothing else may change uses of buffers while `spans` are kept.
bool writeOverInput(mlir::linalg::GenericOp op, mlir::IRRewriter &rewriter,
                    BufferSpans &spans);

} // namespace loopc

#endif // LOOPC_LIB_BUFFERIZE_REUSEBUFFERS_H
