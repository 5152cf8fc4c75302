//===- GraphBuilder.cpp - What front ends build functions with ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/GraphBuilder.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value GraphBuilder::constantAt(Location loc, ElementsAttr value) {
  OpBuilder::InsertionGuard guard(builder);
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(entryBlock);
  auto op = onnx::ConstantOp::create(builder, loc, value);
  lastConstant = op;
  return op;
}

Value GraphBuilder::sharedConstant(Location loc, ElementsAttr value) {
  Value &known = shared[value];
  return known ? known : known = constantAt(loc, value);
}

Value GraphBuilder::noneAt(Location loc) {
  if (noneValue)
    return noneValue;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entryBlock);
  auto op = onnx::NoneOp::create(builder, loc, builder.getNoneType());
  if (!lastConstant)
    lastConstant = op;
  return noneValue = op;
}

void GraphBuilder::eraseUnusedConstants() {
  for (Operation &op : llvm::make_early_inc_range(*entryBlock)) {
    bool isLast = &op == lastConstant;
    if (isa<onnx::ConstantOp, onnx::NoneOp>(op) && op.use_empty())
      op.erase();
    if (isLast)
      break;
  }
}

void GraphBuilder::forgetFunction() {
  entryBlock = nullptr;
  lastConstant = nullptr;
  noneValue = {};
  shared.clear();
  cache.reset();
}

/// Values of up to this size are written as they are.
static constexpr size_t kInlineBytes = 1024;

ElementsAttr
loopc::makeElements(RankedTensorType type, ArrayRef<char> data,
                    std::shared_ptr<const void> owner, StringRef name,
                    llvm::function_ref<void(ArrayRef<char>, char *)> copyTo) {
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  Type part = complex ? complex.getElementType() : element;
  size_t alignment = llvm::divideCeil(part.getIntOrFloatBitWidth(), 8);
  size_t width = complex ? 2 * alignment : alignment;
  auto copied = [&](auto &&fill) {
    auto copy = std::make_shared<std::vector<char>>(data.size());
    fill(copy->data());
    data = ArrayRef<char>(*copy);
    owner = copy;
  };
  // MLIR wants bools to be 0 or 1.
  if (element.isInteger(1) && llvm::any_of(data, [](char c) { return c & ~1; }))
    copied([&](char *to) {
      llvm::transform(data, to, [](char c) -> char { return c != 0; });
    });
  bool isSplat =
      data.size() > width &&
      std::memcmp(data.data(), data.data() + width, data.size() - width) == 0;
  if (isSplat || data.size() <= kInlineBytes) {
    data = isSplat ? data.take_front(width) : data;
    if (element.isInteger(1)) {
      SmallVector<bool> values(
          llvm::map_range(data, [](char c) -> bool { return c != 0; }));
      return cast<ElementsAttr>(
          Attribute(DenseElementsAttr::get(type, ArrayRef<bool>(values))));
    }
    return cast<ElementsAttr>(
        Attribute(DenseElementsAttr::getFromRawBuffer(type, data)));
  }
  // Files may put a tensor anywhere; loads of its elements want it aligned.
  if (reinterpret_cast<uintptr_t>(data.data()) % alignment)
    copied([&](char *to) {
      if (copyTo)
        copyTo(data, to);
      else
        llvm::copy(data, to);
    });
  // What is said of it is printed: it does not depend on where it happens to
  // be.
  AsmResourceBlob blob(
      data, alignment, [owner](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
  return cast<ElementsAttr>(Attribute(DenseResourceElementsAttr::get(
      type, name.empty() ? "constant" : name, std::move(blob))));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

onnx::NodeOp GraphBuilder::untypedNode(Location loc, StringRef op,
                                       int64_t since, ValueRange inputs,
                                       ArrayRef<NamedAttribute> attributes,
                                       unsigned count) {
  SmallVector<Type> types(count, UnrankedTensorType::get(builder.getF32Type()));
  return onnx::NodeOp::create(builder, loc, types, builder.getStringAttr(op),
                              builder.getStringAttr(""),
                              builder.getI64IntegerAttr(since), inputs,
                              builder.getDictionaryAttr(attributes));
}

onnx::InferenceOptions GraphBuilder::inferenceOptions() {
  if (!cache)
    cache.emplace();
  onnx::InferenceOptions options;
  options.cache = &*cache;
  options.lenient = conditionalDepth > 0;
  return options;
}

LogicalResult
GraphBuilder::inferTypes(onnx::NodeOp node,
                         llvm::function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<Type> types;
  auto error = [&]() {
    InFlightDiagnostic diag =
        emitError ? emitError()
                  : loopc::emitError(node.getLoc(), Diag::TypeInference);
    diag << "'" << node.getOpType() << "' ";
    return diag;
  };
  if (failed(onnx::inferNodeTypes(node, types, error, inferenceOptions())))
    return failure();
  for (auto [result, type] : llvm::zip_equal(node.getResults(), types))
    result.setType(type);
  return success();
}

Value GraphBuilder::castTo(Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<TensorType>(type))
    return tensor::CastOp::create(builder, loc, type, value);
  return onnx::CastOp::create(builder, loc, type, value);
}

NamedAttribute GraphBuilder::attr(StringRef name, int64_t value) {
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}
NamedAttribute GraphBuilder::attr(StringRef name, double value) {
  return builder.getNamedAttr(
      name, builder.getF32FloatAttr(static_cast<float>(value)));
}
NamedAttribute GraphBuilder::attr(StringRef name, ArrayRef<int64_t> values) {
  return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
}
NamedAttribute GraphBuilder::attr(StringRef name, StringRef value) {
  return builder.getNamedAttr(name, builder.getStringAttr(value));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void GraphBuilder::finishFunction(func::FuncOp func, Location loc,
                                  ValueRange values,
                                  ArrayRef<DictionaryAttr> attrs) {
  func::ReturnOp::create(builder, loc, values);
  func.setType(
      builder.getFunctionType(func.getArgumentTypes(), values.getTypes()));
  func.setAllResultAttrs(attrs);
}
