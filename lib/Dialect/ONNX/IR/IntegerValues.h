//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the inference cache holds. No onnx headers here.

#ifndef LOOPC_LIB_DIALECT_ONNX_IR_INTEGERVALUES_H
#define LOOPC_LIB_DIALECT_ONNX_IR_INTEGERVALUES_H

#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "llvm/ADT/DenseMap.h"

namespace loopc::onnx {

/// A dimension or an element of an integer tensor: a value, or a name that
/// stands for one value (not negative: names are those of dimensions), or
/// unknown.
struct Quantity {
  std::optional<int64_t> value;
  unsigned name = 0;

  static Quantity of(int64_t value) { return {value, 0}; }
  static Quantity named(unsigned name) { return {std::nullopt, name}; }
  /// True if the two are the same number for certain.
  bool isKnownEqual(const Quantity &other) const {
    return value ? value == other.value : name && name == other.name;
  }
};
using Quantities = llvm::SmallVector<Quantity, 4>;

/// Values of more elements than this are not looked at.
constexpr int64_t maxElements = 4096;

struct InferenceCache::Impl {
  /// The dimensions of a ranked tensor; those that are not static are named.
  std::optional<Quantities> getShape(mlir::Value value);
  /// The elements of a tensor of i32, i64 or i1 of rank 0 or 1.
  std::optional<Quantities> getElements(mlir::Value value);
  /// Says what the dimensions of `value` are; those unknown get new names.
  void setShape(mlir::Value value, Quantities shape);
  void forget(mlir::Value value);

private:
  std::optional<Quantities> computeElements(mlir::Value value);

  llvm::DenseMap<mlir::Value, Quantities> shapes;
  llvm::DenseMap<mlir::Value, std::optional<Quantities>> elements;
  unsigned lastName = 0;
};

/// The constant that `value` is, of at most maxElements elements; else null.
mlir::ElementsAttr getSmallConstant(mlir::Value value);

} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_IR_INTEGERVALUES_H
