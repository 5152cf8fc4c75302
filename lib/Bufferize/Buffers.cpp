//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-mark-inputs-read-only and loopc-lower-buffer-copies: small steps around
// bufferization.

#include "loopc/Bufferize/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOWERBUFFERCOPIES
#define GEN_PASS_DEF_MARKINPUTSREADONLY
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// True if memory of `type` is known to have no gaps, so that a copy is one
/// memcpy.
static bool isContiguous(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  if (type.getRank() == 1) {
    auto [strides, offset] = type.getStridesAndOffset();
    return strides.front() == 1;
  }
  return memref::isStaticShapeAndContiguousRowMajor(type);
}

/// What `value` is a cast of: folds take that for it, at any time.
static Value skipCasts(Value value) {
  auto cast = value.getDefiningOp<memref::CastOp>();
  while (cast && isa<MemRefType>(cast.getSource().getType())) {
    value = cast.getSource();
    cast = value.getDefiningOp<memref::CastOp>();
  }
  return value;
}

/// A strided copy becomes a loop, which is vectorised like any other; a call of
/// a general copy function would not be.
static void lowerCopy(memref::CopyOp copy) {
  Value source = skipCasts(copy.getSource());
  Value target = skipCasts(copy.getTarget());
  // In code that never runs extents may contradict each other: MLIR does not
  // say what the copy does.
  if (failed(verifyCompatibleShape(source.getType(), target.getType())))
    return copy.erase();
  auto from = dyn_cast<MemRefType>(source.getType());
  auto to = dyn_cast<MemRefType>(target.getType());
  if (!from || !to ||
      (isContiguous(from) && isContiguous(to) &&
       from.getLayout().isIdentity() && to.getLayout().isIdentity()))
    return;
  ImplicitLocOpBuilder b(copy.getLoc(), copy);
  int64_t rank = to.getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, ValueRange(), source, target, maps, iterators,
      [](OpBuilder &nested, Location loc, ValueRange args) {
        linalg::YieldOp::create(nested, loc, args[0]);
      });
  copy.erase();
}

namespace {
struct LowerBufferCopies
    : loopc::impl::LowerBufferCopiesBase<LowerBufferCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    llvm::for_each(copies, lowerCopy);
  }
};

struct MarkInputsReadOnly
    : loopc::impl::MarkInputsReadOnlyBase<MarkInputsReadOnly> {
  void runOnOperation() override {
    Builder b(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      // Bufferization allows the attribute on definitions only.
      if (function.isExternal())
        continue;
      for (auto [k, type] :
           llvm::enumerate(function.getFunctionType().getInputs()))
        if (isa<TensorType>(type))
          function.setArgAttr(k, "bufferization.writable",
                              b.getBoolAttr(false));
    }
  }
};
} // namespace
