//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-externalize-weights: constants do not enter LLVM IR when they are
// large: a 64 MB one cost llc 405 MB and its textual form 2.6 GB.

#include "loopc/Conversion/ToLLVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_EXTERNALIZEWEIGHTS
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Bytes of one element as memory holds it: a byte for bool and below.
static int64_t elementBytes(Type element) {
  if (element.isIndex())
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

namespace {
struct ExternalizeWeights
    : loopc::impl::ExternalizeWeightsBase<ExternalizeWeights> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<LLVM::GlobalOp> weights;
    for (auto global :
         llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      if (auto value = dyn_cast_or_null<ElementsAttr>(
              global.getInitialValue().value_or(Attribute()));
          value && (!value.getNumElements() || !isSmall(value))) {
        // Of the attribute, which outlives the operation. In `map[key] = value`
        // the value comes first.
        StringRef name = global.getName();
        weights[name] = value.getNumElements() ? externalize(global, value)
                                               : makeEmpty(global);
      }
    module.walk([&](memref::GetGlobalOp use) {
      if (auto it = weights.find(use.getName()); it != weights.end())
        replace(use, it->second);
    });
  }

private:
  bool isSmall(ElementsAttr value) {
    return isa<DenseElementsAttr>(value) &&
           value.getNumElements() * elementBytes(value.getElementType()) <=
               static_cast<int64_t>(threshold);
  }

  LLVM::GlobalOp externalize(memref::GlobalOp global, ElementsAttr value) {
    OpBuilder b(global);
    int64_t bytes =
        value.getNumElements() * elementBytes(value.getElementType());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
    auto weight = LLVM::GlobalOp::create(
        b, global.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::External,
        global.getName(), Attribute(), /*alignment=*/64);
    weight->setAttr("loopc.weight", value);
    global.erase();
    return weight;
  }

  /// A constant without elements is an address: as nested arrays LLVM would
  /// spell out its other extents, of which a model may give any.
  LLVM::GlobalOp makeEmpty(memref::GlobalOp global) {
    OpBuilder b(global);
    auto none = RankedTensorType::get({0}, b.getI8Type());
    auto empty = LLVM::GlobalOp::create(
        b, global.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
        /*isConstant=*/true, LLVM::Linkage::Private, global.getName(),
        DenseElementsAttr::get(none, ArrayRef<int8_t>()), /*alignment=*/64);
    global.erase();
    return empty;
  }

  /// memref.get_global  ->  a descriptor around the symbol's address
  void replace(memref::GetGlobalOp use, LLVM::GlobalOp weight) {
    ImplicitLocOpBuilder b(use.getLoc(), use);
    LLVMTypeConverter converter(&getContext());
    Value address = LLVM::AddressOfOp::create(b, weight);
    auto type = cast<MemRefType>(use.getType());
    Value descriptor = MemRefDescriptor::fromStaticShape(
        b, use.getLoc(), converter, type, address);
    use.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0));
    use.erase();
  }
};
} // namespace
