//===- AxisClasses.h - Axes that a loop's body goes along -----*- C++ -*---===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_REGISTERS_AXISCLASSES_H
#define LOOPC_LIB_CODEGEN_CPU_REGISTERS_AXISCLASSES_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace loopc {

/// Axes of tensors that a loop's body reads and computes, put together to
/// classes: element k along one axis of a class depends on elements k along the
/// others of it, in all iterations. Axes of which that does not hold, since
/// elements are summed up, moved or read elsewhere, are in no class.
class AxisClasses {
public:
  /// Looks at all operations in the body of `loop`, and asks for extents where
  /// slices are taken.
  AxisClasses(mlir::OpBuilder &b, loop::LoopOp loop);

  /// The class of an axis, the same number for all of it; none for an axis that
  /// is in no class.
  std::optional<unsigned> find(mlir::Value tensor, unsigned axis) const;

  /// The axis of `tensor` that is in `number`; none where there is none.
  std::optional<unsigned> axisIn(mlir::Value tensor, unsigned number) const;

  /// The loop of `op` that goes along `number`; none where there is none.
  std::optional<unsigned> loopIn(mlir::linalg::GenericOp op,
                                 unsigned number) const;

  /// True where no tensor that the body knows has two axes of `number`: else
  /// elements off the diagonal would depend on others.
  bool isOneAxisOfEach(unsigned number) const;

  /// The extent of a tensor along an axis, where what the loop carries has the
  /// extents that it begins with.
  mlir::OpFoldResult extentOf(mlir::Value tensor, unsigned axis);

  /// All tensors that the body reads and computes, and those it carries.
  llvm::ArrayRef<mlir::Value> getTensors() const { return tensors; }

private:
  using Axis = std::pair<const void *, unsigned>;

  static Axis axisOf(mlir::Value tensor, unsigned axis) {
    return {tensor.getAsOpaquePointer(), axis};
  }
  static Axis loopOf(mlir::Operation *op, unsigned dim) { return {op, dim}; }
  void join(Axis x, Axis y) { classes.unionSets(x, y); }
  void exclude(Axis x) { join(x, Axis{}); }
  void excludeAll(mlir::Value value);
  void joinAll(mlir::Value x, mlir::Value y);
  void note(mlir::Value value);
  void visit(mlir::Operation *op);
  void visitGeneric(mlir::linalg::GenericOp op);
  void visitReshape(mlir::Value expanded, mlir::Value collapsed,
                    llvm::ArrayRef<mlir::ReassociationIndices> groups);
  void visitSlice(mlir::OffsetSizeAndStrideOpInterface op, mlir::Value whole,
                  mlir::Value part, const llvm::SmallBitVector &dropped);
  std::optional<unsigned> find(Axis axis) const;

  mlir::OpBuilder &b;
  loop::LoopOp loop;
  /// The axes without a class are those of the class of Axis{}.
  llvm::EquivalenceClasses<Axis> classes;
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallDenseSet<mlir::Value> seen;
  /// Numbers of classes, by their leaders.
  llvm::DenseMap<Axis, unsigned> numbers;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_REGISTERS_AXISCLASSES_H
