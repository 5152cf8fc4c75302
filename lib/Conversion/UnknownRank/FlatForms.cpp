//===- FlatForms.cpp - Operators on tensors of any rank -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Support/ConstantElements.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// FlatNode
//===----------------------------------------------------------------------===//

SmallVector<Value> FlatNode::vectorsFrom(unsigned first) {
  SmallVector<Value> values;
  for (unsigned i = first; i < numInputs(); ++i)
    values.push_back(has(i) ? vector(i) : Value(node.getInputs()[i]));
  return values;
}

int64_t FlatNode::intAttr(StringRef name, int64_t fallback) {
  auto value =
      dyn_cast_or_null<IntegerAttr>(onnx::getAttrOrDefault(node, name));
  return value ? value.getInt() : fallback;
}

std::optional<SmallVector<int64_t>> FlatNode::intsAttr(StringRef name) {
  auto value =
      dyn_cast_or_null<DenseI64ArrayAttr>(onnx::getAttrOrDefault(node, name));
  if (!value)
    return std::nullopt;
  return SmallVector<int64_t>(value.asArrayRef());
}

bool FlatNode::hasAttr(StringRef name) {
  return static_cast<bool>(onnx::getAttrOrDefault(node, name));
}

Value FlatNode::axis(StringRef name, int64_t fallback, Value shape) {
  return f.normalizeAxis(f.index(intAttr(name, fallback)), f.length(shape));
}

std::optional<SmallVector<int64_t>> FlatNode::constantInts(unsigned i) {
  if (!has(i))
    return std::nullopt;
  Value value = in(i);
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  DenseElementsAttr dense = getDenseElements(elements);
  if (!dense || !dense.getElementType().isInteger())
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &element : dense.getValues<APInt>())
    values.push_back(element.getSExtValue());
  return values;
}

Value FlatNode::integers(StringRef name, unsigned i) {
  if (std::optional<SmallVector<int64_t>> given = intsAttr(name)) {
    auto type = RankedTensorType::get({static_cast<int64_t>(given->size())},
                                      f.b.getI64Type());
    return arith::ConstantOp::create(
        f.b, DenseElementsAttr::get(type, ArrayRef<int64_t>(*given)));
  }
  return has(i) ? flat(i).elements : Value();
}

onnx::NodeOp FlatNode::make(ValueRange inputs, ArrayRef<int64_t> ranks,
                            ArrayRef<std::pair<StringRef, Attribute>> attrs) {
  SmallVector<Type> types;
  for (auto [result, rank] : llvm::zip_equal(node.getResults(), ranks)) {
    if (isa<NoneType>(result.getType())) {
      types.push_back(result.getType());
      continue;
    }
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
    types.push_back(
        RankedTensorType::get(shape, getElementTypeOrSelf(result.getType())));
  }
  NamedAttrList all(node.getNodeAttributes());
  for (auto [name, value] : attrs) {
    if (value)
      all.set(name, value);
    else
      all.erase(name);
  }
  auto made = cast<onnx::NodeOp>(f.b.clone(*node));
  made->setOperands(inputs);
  made.setNodeAttributesAttr(all.getDictionary(f.b.getContext()));
  for (auto [result, type] : llvm::zip_equal(made.getResults(), types))
    result.setType(type);
  return made;
}

Value FlatNode::constantVector(int64_t value, Type element) {
  auto type = RankedTensorType::get({1}, element);
  return onnx::ConstantOp::create(
      f.b,
      DenseElementsAttr::get(type, APInt(element.getIntOrFloatBitWidth(), value,
                                         /*isSigned=*/true)));
}

Value FlatNode::dim(Value tensor, int64_t axis) {
  return getValueOrCreateConstantIndexOp(
      f.b, f.b.getLoc(), resolveDim(f.b, f.b.getLoc(), tensor, axis));
}

void FlatNode::setResult(unsigned k, FlatTensor flat) {
  if (!node.hasOutput(k))
    return;
  Value result = node.getResult(k);
  results[k] = f.unflatten(flat, cast<TensorType>(result.getType()));
  result.replaceAllUsesWith(results[k]);
}

void FlatNode::setResult(unsigned k, Value tensor) {
  if (!node.hasOutput(k))
    return;
  Value result = node.getResult(k);
  auto type = cast<TensorType>(result.getType());
  if (tensor.getType() != type &&
      !tensor::CastOp::areCastCompatible(tensor.getType(), type))
    return setResult(k, f.flatten(tensor));
  results[k] = tensor.getType() == type
                   ? tensor
                   : tensor::CastOp::create(f.b, type, tensor).getResult();
  result.replaceAllUsesWith(results[k]);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const FlatRow *loopc::findFlatForm(onnx::NodeOp node) {
  static const llvm::StringMap<SmallVector<FlatRow, 2>> table = [] {
    std::vector<FlatRow> rows;
    addFlatElementwise(rows);
    addFlatShapes(rows);
    addFlatAxes(rows);
    addFlatIndexing(rows);
    addFlatReductions(rows);
    llvm::StringMap<SmallVector<FlatRow, 2>> byName;
    for (const FlatRow &row : rows)
      byName[row.op].push_back(row);
    return byName;
  }();
  // No operator of the one has the name of one of the other.
  StringRef domain = node.getDomain();
  if (!domain.empty() && domain != "ai.onnx.preview.training")
    return nullptr;
  auto found = table.find(node.getOpType());
  if (found == table.end())
    return nullptr;
  auto version = static_cast<int64_t>(node.getSinceVersion());
  for (const FlatRow &row : found->second)
    if (row.since <= version && version <= row.until)
      return &row;
  return nullptr;
}
