//===- Outline.cpp - Shapes of outputs before a run -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outline.h"

#include "loopc/Compiler.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace loopc;
using namespace loopc::network;
using namespace mlir;

/// Constants of more elements become arguments: no shape is computed from so
/// many.
static constexpr int64_t kMaxElements = 1024;

static func::FuncOp getMain(ModuleOp model) {
  return model.lookupSymbol<func::FuncOp>("main");
}

std::string loopc::network::makeOutline(ModuleOp model) {
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
  copy->print(os);
  return text;
}

std::map<std::string, Dims>
loopc::network::inferShapes(StringRef outline,
                            const std::map<std::string, Dims> &inputs) {
  std::map<std::string, Dims> found;
  CompilerOptions options;
  options.format = InputFormat::MLIR;
  for (const auto &[name, dims] : inputs)
    options.shapes[name] = SmallVector<int64_t>(dims.d, dims.d + dims.nbDims);
  Compiler compiler(options);
  DiagnosticCollector said(&compiler.getContext());
  llvm::raw_null_ostream nothing;
  if (failed(compiler.parseBytes("outline.mlir", outline)) ||
      failed(compiler.emit(Output::Loop, nothing)))
    return found;
  func::FuncOp main = getMain(compiler.getModule());
  for (auto [k, type] :
       llvm::enumerate(main ? main.getResultTypes() : ArrayRef<Type>())) {
    auto name = main.getResultAttrOfType<StringAttr>(k, "loopc.name");
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!name || !tensor || tensor.getRank() > Dims::MAX_DIMS)
      continue;
    Dims &dims = found[name.str()];
    dims.nbDims = static_cast<int32_t>(tensor.getRank());
    for (auto [at, extent] : llvm::enumerate(tensor.getShape()))
      dims.d[at] = ShapedType::isDynamic(extent) ? -1 : extent;
  }
  return found;
}
