//===- FlatView.h - Tensors of any rank as elements and shape -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A tensor whose rank is known only at run time is worked on as its elements in
// C order and its shape, both of rank 1: what code on these is made of.

#ifndef LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATVIEW_H
#define LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATVIEW_H

#include "loopc/Support/IndexEmitter.h"
#include "mlir/IR/BuiltinTypes.h"

namespace loopc {

/// A tensor of any rank.
struct FlatTensor {
  mlir::Value elements; ///< tensor<?xT>, in C order
  mlir::Value shape;    ///< tensor<?xi64>
};

/// The extents before an axis multiplied, along it, and behind it multiplied.
struct AxisView {
  mlir::Value outer, mid, inner;
};

/// The types of the two parts of a tensor with elements of type `element`.
llvm::SmallVector<mlir::Type> flatTypes(mlir::Type element);

/// Builds code on flat tensors. Extents, axes and positions are of type index,
/// shapes and strides are tensor<?xi64>. A read of a shape is guarded, as pure
/// operations may be hoisted over the checks before them, but where it is that
/// of a loop over the shape itself.
class FlatBuilder : IndexEmitter {
public:
  FlatBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : IndexEmitter(loc, builder) {}

  using IndexEmitter::add, IndexEmitter::sub, IndexEmitter::mul;
  using IndexEmitter::b, IndexEmitter::index;

  //===--------------------------------------------------------------------===//
  // To and from
  //===--------------------------------------------------------------------===//

  /// The flat form of a tensor, ranked or not; no copy.
  FlatTensor flatten(mlir::Value tensor);
  /// The tensor of type `type` with these elements and this shape; no copy. The
  /// run ends with an error where a ranked type does not fit.
  mlir::Value unflatten(FlatTensor flat, mlir::TensorType type);
  /// The elements as a tensor with run-time extents `extents` (at least one),
  /// whose product is their number; no copy.
  mlir::Value expand(mlir::Value elements, mlir::ValueRange extents);
  /// The elements of a ranked tensor; no copy.
  mlir::Value collapse(mlir::Value tensor);
  /// The first `count` elements, so that their number is that very value.
  mlir::Value withCount(mlir::Value elements, mlir::Value count);

  //===--------------------------------------------------------------------===//
  // Scalars
  //===--------------------------------------------------------------------===//

  /// Towards zero; `y` is not 0.
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::DivSIOp>(x, y);
  }
  mlir::Value rem(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::RemSIOp>(x, y);
  }
  mlir::Value maximum(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MaxSIOp>(x, y);
  }
  mlir::Value minimum(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinSIOp>(x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(predicate, x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpIPredicate::slt, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AndIOp>(x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::OrIOp>(x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SelectOp>(condition, x, y);
  }
  /// An integer as index; an index as i64.
  mlir::Value toIndex(mlir::Value value, bool isUnsigned = false);
  mlir::Value toI64(mlir::Value value);

  /// The value of `yes` or `no`, of which only one is computed; of type `type`
  /// (default: index).
  mlir::Value ifElse(mlir::Value condition,
                     llvm::function_ref<mlir::Value()> yes,
                     llvm::function_ref<mlir::Value()> no,
                     mlir::Type type = {});
  using ForBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value k, mlir::ValueRange carried)>;
  /// A loop over [from, to) that carries values.
  llvm::SmallVector<mlir::Value> forEach(mlir::Value from, mlir::Value to,
                                         mlir::ValueRange inits, ForBody body);

  /// The tensor that `body` computes from the elements of `inputs`, element by
  /// element in the place of `init`.
  mlir::Value fill(mlir::Value init, mlir::ValueRange inputs,
                   llvm::ArrayRef<mlir::AffineMap> maps,
                   llvm::function_ref<mlir::Value(mlir::ValueRange)> body);

  /// The run ends with `message` where `condition` is false; each "{}" stands
  /// for one of `values`.
  void check(mlir::Value condition, const llvm::Twine &message,
             mlir::ValueRange values = {});

  /// The values that stand for "{*}" in a message: `shape`.
  llvm::SmallVector<mlir::Value> shownShape(mlir::Value shape);

  //===--------------------------------------------------------------------===//
  // Shapes
  //===--------------------------------------------------------------------===//

  /// Number of elements of a tensor of rank 1.
  mlir::Value length(mlir::Value vector);
  mlir::Value rank(FlatTensor flat) { return length(flat.shape); }
  mlir::Value count(FlatTensor flat) { return length(flat.elements); }
  /// Element `k` of a tensor of integers of rank 1, as index, in code that runs
  /// only where there is one.
  mlir::Value read(mlir::Value vector, mlir::Value k, bool isUnsigned = false);
  /// Element `k` of a tensor of integers of rank 1, as index; `other` (default:
  /// 1) where there is none.
  mlir::Value at(mlir::Value vector, mlir::Value k, mlir::Value other = {},
                 bool isUnsigned = false);
  /// shape[k] of a shape of rank `own`, aligned at the end of one of rank
  /// `rank`; 1 before its begin.
  mlir::Value alignedAt(mlir::Value shape, mlir::Value own, mlir::Value rank,
                        mlir::Value k);
  /// The product of the extents [from, to) of `shape`.
  mlir::Value product(mlir::Value shape, mlir::Value from, mlir::Value to);
  mlir::Value product(mlir::Value shape) {
    return product(shape, index(0), length(shape));
  }
  /// The number of elements of a shape that a model computes: the largest index
  /// where it is larger still, which no memory holds.
  mlir::Value countElements(mlir::Value shape);
  /// A shape of `rank` extents, those that `extent` gives for each position.
  mlir::Value makeShape(mlir::Value rank,
                        llvm::function_ref<mlir::Value(mlir::Value k)> extent);
  /// A shape of these extents.
  mlir::Value shapeOf(mlir::ValueRange extents);
  /// Extents [from, to) of `shape`; no copy.
  mlir::Value part(mlir::Value shape, mlir::Value from, mlir::Value to);
  mlir::Value concat(mlir::Value first, mlir::Value second);
  mlir::Value withExtent(mlir::Value shape, mlir::Value axis,
                         mlir::Value extent);
  mlir::Value withoutAxis(mlir::Value shape, mlir::Value axis);
  /// `shape` with a new extent in front of its axis `axis`.
  mlir::Value withNewAxis(mlir::Value shape, mlir::Value axis,
                          mlir::Value extent);
  /// `shape` with its axis `axis` replaced by all of `inserted`.
  mlir::Value withAxes(mlir::Value shape, mlir::Value axis,
                       mlir::Value inserted);
  /// Whether two shapes are the same.
  mlir::Value sameShape(mlir::Value x, mlir::Value y);
  /// Whether two shapes of one rank are the same beside axis `axis`.
  mlir::Value sameBeside(mlir::Value x, mlir::Value y, mlir::Value axis);

  /// `axis`, counted from the end where negative. The run ends with an error
  /// where a value of rank `rank` has no such axis.
  mlir::Value normalizeAxis(mlir::Value axis, mlir::Value rank);
  AxisView viewAt(mlir::Value shape, mlir::Value axis);

  /// The shape that both broadcast to (NumPy's rules); the run ends with an
  /// error where there is none.
  mlir::Value broadcastShapes(mlir::Value x, mlir::Value y);
  /// The strides in C order of a tensor of shape `shape`.
  mlir::Value stridesOf(mlir::Value shape);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// A new tensor of shape `shape` (`count` elements in all), of as many axes
  /// as there are strides, whose element at i is element `base` + sum(i[k] *
  /// strides[k]) of `elements`.
  mlir::Value stridedCopy(mlir::Value elements, mlir::Value base,
                          mlir::Value strides, mlir::Value shape,
                          mlir::Value count);
  /// The elements of `flat` broadcast to `shape`, which has `count` elements
  /// and which it is known to broadcast to; no copy where nothing is repeated.
  mlir::Value broadcastTo(FlatTensor flat, mlir::Value shape,
                          mlir::Value count);
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATVIEW_H
