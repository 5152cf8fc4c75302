//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A declared shape is a hint, which may be wrong (name_declared): what a run
// computes has the shape that it has. After no iteration nothing was computed,
// and where types do not tell the rank or an extent either, the declaration is
// all that there is:
//
//   %r = loop.loop ... collect(tensor<*xf32> axis 0)
//       attributes {loopc.declared_results = [tensor<?x4xf32>]}
//   ->
//   %r = loop.loop ... collect(tensor<*xf32> axis 0)
//   %isNone = tensor.dim %r, 0 == 0
//   %none = tensor.cast (tensor.empty() : tensor<0x4xf32>) : tensor<*xf32>
//   %s = arith.select %isNone, %none, %r
//
// An axis that values are collected along is as long as there are iterations:
// its extent is 0 after none, and only then.

#include "InferTypes.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/DeclaredResults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

/// What is declared of a result of `type`, without an element along `axis`: of
/// the declared rank, and of extents that the type tells, else the declared
/// one, else 0. Nothing where that is the result after no iteration anyway.
static std::optional<SmallVector<int64_t>>
findNone(Type type, RankedTensorType declared, int64_t axis) {
  int64_t rank = declared.getRank();
  SmallVector<int64_t> shape(declared.getShape());
  auto known = dyn_cast<RankedTensorType>(type);
  // Of unknown rank it has rank `least`: the axis is its last.
  int64_t least = axis < 0 ? -axis : axis + 1;
  if (known ? known.getRank() != rank : rank <= least)
    return std::nullopt;
  int64_t place = axis < 0 ? axis + rank : axis;
  bool tells = !known;
  for (int64_t k = 0; k < rank; ++k) {
    if (known && !known.isDynamicDim(k)) {
      shape[k] = known.getDimSize(k);
      continue;
    }
    tells |= k != place && shape[k] > 0;
    if (ShapedType::isDynamic(shape[k]))
      shape[k] = 0;
  }
  // Where iterations are counted there is at least one.
  if (!tells || (known && known.getDimSize(place) > 0))
    return std::nullopt;
  shape[place] = 0;
  return shape;
}

/// Makes `result`, which is collected along `axis`, be of the declared shape
/// after no iteration.
static void applyTo(OpResult result, int64_t axis, RankedTensorType declared) {
  std::optional<SmallVector<int64_t>> shape =
      findNone(result.getType(), declared, axis);
  if (!shape)
    return;
  OpBuilder b(result.getContext());
  b.setInsertionPointAfterValue(result);
  Location loc = result.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // What asks for the shape that iterations made.
  llvm::SmallPtrSet<Operation *, 4> own;
  Value place = index(axis);
  if (auto known = dyn_cast<RankedTensorType>(result.getType())) {
    place = index(axis < 0 ? axis + known.getRank() : axis);
  } else if (axis < 0) {
    auto count = tensor::RankOp::create(b, loc, result);
    own.insert(count);
    place = arith::AddIOp::create(b, loc, count, place);
  }
  auto extent = tensor::DimOp::create(b, loc, result, place);
  Value isNone =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, extent, index(0));
  Value empty = tensor::EmptyOp::create(b, loc, *shape,
                                        getElementTypeOrSelf(result.getType()));
  Value none = tensor::CastOp::create(b, loc, result.getType(), empty);
  auto select = arith::SelectOp::create(b, loc, isNone, none, result);
  own.insert(extent);
  own.insert(select);
  result.replaceAllUsesExcept(select, own);
}

void loopc::onnx::applyDeclaredResults(func::FuncOp func) {
  func.walk([&](Operation *op) {
    auto declared = dyn_cast_or_null<ArrayAttr>(
        op->removeDiscardableAttr(kDeclaredResultsAttrName));
    if (!declared)
      return;
    ArrayRef<int64_t> axes;
    unsigned first = 0;
    if (auto loop = dyn_cast<loop::LoopOp>(op)) {
      axes = loop.getCollectAxes();
      first = loop.getNumCarried();
    } else {
      auto scan = cast<loop::ScanOp>(op);
      axes = scan.getOutputAxes();
      first = scan.getNumStates();
    }
    for (auto [k, axis] : llvm::enumerate(axes)) {
      OpResult result = op->getResult(first + k);
      auto type = cast<TypeAttr>(declared[first + k]).getValue();
      auto ranked = dyn_cast<RankedTensorType>(type);
      if (ranked)
        applyTo(result, axis, ranked);
    }
  });
}
