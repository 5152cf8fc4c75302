//===- Outline.cpp - Shapes of outputs before a run -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Outline.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/JSON.h"

using namespace loopc;
using namespace mlir;

/// Constants of more elements become arguments: no shape is computed from so
/// many.
static constexpr int64_t kMaxElements = 1024;

static func::FuncOp getMain(ModuleOp model) {
  return model.lookupSymbol<func::FuncOp>("main");
}

std::string loopc::makeOutline(ModuleOp model) {
  OwningOpRef<ModuleOp> copy = model.clone();
  func::FuncOp main = getMain(*copy);
  auto isOpen = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  if (!main || llvm::none_of(main.getArgumentTypes(), isOpen))
    return "";
  SmallVector<onnx::ConstantOp> large;
  main.walk([&](onnx::ConstantOp constant) {
    if (constant.getValue().getNumElements() > kMaxElements)
      large.push_back(constant);
  });
  Builder builder(main.getContext());
  for (auto [k, constant] : llvm::enumerate(large)) {
    NamedAttrList attributes;
    attributes.set("loopc.name",
                   builder.getStringAttr("weight " + std::to_string(k)));
    unsigned number = main.getNumArguments();
    if (failed(main.insertArgument(number, constant.getType(),
                                   attributes.getDictionary(main.getContext()),
                                   constant.getLoc())))
      return "";
    constant.replaceAllUsesWith(Value(main.getArgument(number)));
    constant.erase();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().assumeVerified());
  return text;
}

SmallVector<std::pair<StringRef, Type>> loopc::getOutputs(ModuleOp model) {
  SmallVector<std::pair<StringRef, Type>> outputs;
  func::FuncOp main = getMain(model);
  for (auto [k, type] :
       llvm::enumerate(main ? main.getResultTypes() : ArrayRef<Type>()))
    if (auto name = main.getResultAttrOfType<StringAttr>(k, "loopc.name"))
      outputs.emplace_back(name, type);
  return outputs;
}

/// A string of JSON, whose bytes that are not UTF-8 are halves of surrogates,
/// as Python has them in names.
static void printString(StringRef text, raw_ostream &os) {
  os << '"';
  while (!text.empty()) {
    size_t valid = text.size();
    if (!llvm::json::isUTF8(text, &valid) && valid == 0) {
      os << llvm::format("\\udc%02x", static_cast<uint8_t>(text.front()));
      text = text.drop_front();
      continue;
    }
    std::string quoted;
    llvm::raw_string_ostream(quoted)
        << llvm::json::Value(text.take_front(valid));
    os << StringRef(quoted).drop_front().drop_back();
    text = text.drop_front(valid);
  }
  os << '"';
}

void loopc::printShapes(ModuleOp model, raw_ostream &os) {
  os << '{';
  llvm::interleaveComma(getOutputs(model), os, [&](const auto &output) {
    printString(output.first, os);
    os << ": ";
    auto tensor = dyn_cast<RankedTensorType>(output.second);
    if (!tensor) {
      os << "null";
      return;
    }
    os << '[';
    llvm::interleaveComma(tensor.getShape(), os, [&](int64_t extent) {
      if (ShapedType::isDynamic(extent))
        os << "null";
      else
        os << extent;
    });
    os << ']';
  });
  os << "}\n";
}
