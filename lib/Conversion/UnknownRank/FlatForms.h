//===- FlatForms.h - Operators on tensors of any rank ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The operators that have a form for operands whose rank is known only at run
// time: one or a few nodes on views of known rank, and arithmetic on shapes.

#ifndef LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATFORMS_H
#define LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATFORMS_H

#include "FlatView.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include <vector>

namespace loopc {

/// One node that is being rewritten.
class FlatNode {
public:
  FlatNode(onnx::NodeOp node, mlir::OpBuilder &builder)
      : node(node), f(builder, node.getLoc()), results(node.getNumResults()) {}

  onnx::NodeOp node;
  FlatBuilder f;
  /// What stands for the node's results now; null where nobody needs them.
  llvm::SmallVector<mlir::Value> results;

  unsigned numInputs() { return node.getInputs().size(); }
  bool has(unsigned i) { return static_cast<bool>(node.getInputOrNull(i)); }
  mlir::Value in(unsigned i) { return node.getInputOrNull(i); }
  mlir::Type elementType(unsigned i) {
    return mlir::getElementTypeOrSelf(in(i).getType());
  }
  /// Null where the rank of input `i` is unknown.
  mlir::RankedTensorType rankedType(unsigned i) {
    return mlir::dyn_cast<mlir::RankedTensorType>(in(i).getType());
  }
  FlatTensor flat(unsigned i) { return f.flatten(in(i)); }
  /// Input `i` where its rank is known, else its elements.
  mlir::Value vector(unsigned i) {
    return rankedType(i) ? in(i) : flat(i).elements;
  }
  /// All inputs from `first` on, by vector(); what is left out stays out.
  llvm::SmallVector<mlir::Value> vectorsFrom(unsigned first);

  /// The node's own attribute, else the schema's default, else `fallback`.
  int64_t intAttr(llvm::StringRef name, int64_t fallback);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  bool hasAttr(llvm::StringRef name);
  /// Axis attribute `name` of a value of shape `shape`, checked at run time.
  mlir::Value axis(llvm::StringRef name, int64_t fallback, mlir::Value shape);
  /// The elements of input `i` where they are constant.
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned i);
  /// Attribute `name`, or input `i`, as tensor of integers of rank 1; null
  /// where neither is given.
  mlir::Value integers(llvm::StringRef name, unsigned i);

  /// A node like this one, on other inputs, with results of these ranks and
  /// other attributes where `attrs` names them (a null value drops one).
  onnx::NodeOp
  make(mlir::ValueRange inputs, llvm::ArrayRef<int64_t> ranks,
       llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Attribute>> attrs = {});
  /// The attribute with one integer; with one in a list.
  mlir::Attribute intValue(int64_t value) {
    return f.b.getI64IntegerAttr(value);
  }
  mlir::Attribute intsValue(int64_t value) {
    return f.b.getDenseI64ArrayAttr({value});
  }
  /// A constant tensor of shape [1].
  mlir::Value constantVector(int64_t value, mlir::Type element);

  /// Extent `axis` of a tensor of known rank.
  mlir::Value dim(mlir::Value tensor, int64_t axis);
  /// `flat` as [outer, mid, inner].
  mlir::Value view(FlatTensor flat, const AxisView &at) {
    return f.expand(flat.elements, {at.outer, at.mid, at.inner});
  }

  /// Hands over result `k`: of any rank, or of the rank of `tensor`.
  void setResult(unsigned k, FlatTensor flat);
  void setResult(unsigned k, mlir::Value tensor);
  /// Hands over result `k`: the elements of `tensor` in another shape.
  void setReshaped(unsigned k, mlir::Value tensor, mlir::Value shape) {
    setResult(k, FlatTensor{f.flatten(tensor).elements, shape});
  }
};

/// Rewrites a node; false where it has no such form, and nothing was built.
using FlatForm = bool (*)(FlatNode &);

/// One row: versions [since, until] of an operator.
struct FlatRow {
  llvm::StringRef op;
  int64_t since, until;
  FlatForm rewrite;
  /// The form is wanted too where all operands have known ranks and only the
  /// result's is unknown.
  bool fromRanked = false;
  /// Where the operands can have few combinations of ranks, code for each of
  /// them is better: it has known axes.
  bool switchesOverFew = false;
};

/// The form of `node`; null where it has none.
const FlatRow *findFlatForm(onnx::NodeOp node);

void addFlatElementwise(std::vector<FlatRow> &rows);
void addFlatShapes(std::vector<FlatRow> &rows);
void addFlatIndexing(std::vector<FlatRow> &rows);
void addFlatAxes(std::vector<FlatRow> &rows);
void addFlatReductions(std::vector<FlatRow> &rows);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_UNKNOWNRANK_FLATFORMS_H
