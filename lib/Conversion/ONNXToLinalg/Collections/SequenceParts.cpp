//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Framework/NodeSteps.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

namespace {
/// A tensor that is split into slices of one element along an axis.
struct Parts {
  Value whole;
  int64_t axis;
  bool keepsAxis;
};
} // namespace

static bool isNode(Operation *op, StringRef name) {
  auto node = dyn_cast_or_null<onnx::NodeOp>(op);
  return node && node.getDomain().empty() && node.getOpType() == name;
}

/// What `node` splits; none where that is not by one element each.
static std::optional<Parts> partsOf(onnx::NodeOp node) {
  auto type = dyn_cast<RankedTensorType>(node.getInputs().front().getType());
  if (!type || !type.getElementType().isIntOrFloat() || node.getInputOrNull(1))
    return std::nullopt;
  auto attribute = [&](StringRef name, int64_t otherwise) {
    auto value = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr(name));
    return value ? value.getInt() : otherwise;
  };
  int64_t axis = attribute("axis", 0);
  if (axis < 0)
    axis += type.getRank();
  if (axis < 0 || axis >= type.getRank())
    return std::nullopt;
  return Parts{node.getInputs().front(), axis, attribute("keepdims", 1) != 0};
}

static Value makeNode(OpBuilder &b, Location loc, StringRef op, Type type,
                      ValueRange operands,
                      ArrayRef<NamedAttribute> attributes = {}) {
  return onnx::NodeOp::create(b, loc, TypeRange{type}, b.getStringAttr(op),
                              b.getStringAttr(""), b.getI64IntegerAttr(13),
                              operands, b.getDictionaryAttr(attributes))
      .getResult(0);
}

/// The element that `node`, a SequenceAt, reads; null where it has to stay.
static Value partAt(onnx::NodeOp node, const Parts &parts) {
  auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
  Value position = node.getInputs()[1];
  auto scalar = dyn_cast<RankedTensorType>(position.getType());
  auto whole = cast<RankedTensorType>(parts.whole.getType());
  if (!type || !scalar || scalar.getRank() != 0 ||
      type.getRank() != whole.getRank() - !parts.keepsAxis)
    return {};
  OpBuilder b(node);
  SmallVector<int64_t> shape(whole.getShape());
  shape.erase(shape.begin() + parts.axis);
  NamedAttribute axis(b.getStringAttr("axis"), b.getI64IntegerAttr(parts.axis));
  Value part = makeNode(b, node.getLoc(), "Gather",
                        RankedTensorType::get(shape, type.getElementType()),
                        {parts.whole, position}, axis);
  if (parts.keepsAxis) {
    auto list = RankedTensorType::get({1}, b.getI64Type());
    Value axes = onnx::ConstantOp::create(
        b, node.getLoc(), DenseIntElementsAttr::get(list, {parts.axis}));
    shape.insert(shape.begin() + parts.axis, 1);
    part = makeNode(b, node.getLoc(), "Unsqueeze",
                    RankedTensorType::get(shape, type.getElementType()),
                    {part, axes});
  }
  if (part.getType() != type)
    part = tensor::CastOp::create(b, node.getLoc(), type, part);
  return part;
}

static Value countOf(onnx::NodeOp node, const Parts &parts) {
  OpBuilder b(node);
  Value extent =
      tensor::DimOp::create(b, node.getLoc(), parts.whole, parts.axis);
  Value count =
      arith::IndexCastOp::create(b, node.getLoc(), b.getI64Type(), extent);
  return tensor::FromElementsOp::create(
      b, node.getLoc(), cast<RankedTensorType>(node.getResult(0).getType()),
      count);
}

/// Replaces what reads from `list`, a sequence of `parts`.
static void replaceReads(Value list, const Parts &parts) {
  for (Operation *user : llvm::make_early_inc_range(list.getUsers())) {
    if (isa<onnx::CastOp>(user)) {
      replaceReads(user->getResult(0), parts);
      if (user->use_empty())
        user->erase();
      continue;
    }
    Value by;
    if (isNode(user, "SequenceAt"))
      by = partAt(cast<onnx::NodeOp>(user), parts);
    else if (isNode(user, "SequenceLength"))
      by = countOf(cast<onnx::NodeOp>(user), parts);
    if (!by)
      continue;
    user->getResult(0).replaceAllUsesWith(by);
    user->erase();
  }
}

void loopc::readPartsInPlace(func::FuncOp function) {
  SmallVector<onnx::NodeOp> splits;
  function.walk([&](onnx::NodeOp node) {
    if (isNode(node, "SplitToSequence"))
      splits.push_back(node);
  });
  for (onnx::NodeOp node : splits) {
    std::optional<Parts> parts = partsOf(node);
    if (!parts)
      continue;
    replaceReads(node.getResult(0), *parts);
    if (node->use_empty())
      node.erase();
  }
}
