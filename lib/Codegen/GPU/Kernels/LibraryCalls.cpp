//===- LibraryCalls.cpp - Products that cuBLAS computes -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "loopc-rt/cuda.h"
#include "loopc/Dialect/Loopc/IR/LibraryCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

namespace {
/// Where one of the three matrices lies.
struct Place {
  Value address;
  /// Elements from one number of a loop to the next.
  SmallVector<Value> strides;
};
} // namespace

static Value makeIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Place findPlace(ImplicitLocOpBuilder &b, const Product &product,
                       TypedValue<MemRefType> buffer, ValueRange indices) {
  auto layout = memref::ExtractStridedMetadataOp::create(b, buffer);
  SmallVector<OpFoldResult> mixed = layout.getConstifiedMixedStrides();
  SmallVector<Value> strides =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), mixed);
  auto loops = getProductLoops(product);
  Place place;
  place.strides.assign(loops.size(), makeIndex(b, 0));
  Value offset = layout.getOffset();
  for (auto [at, stride] : llvm::zip_equal(indices, strides)) {
    auto *it = llvm::find_if(loops, [&, at = at](auto &entry) {
      return entry.first.getInductionVar() == at;
    });
    if (it == loops.end()) {
      offset = b.createOrFold<arith::AddIOp>(
          offset, b.createOrFold<arith::MulIOp>(at, stride));
      continue;
    }
    Value &sum = place.strides[it - loops.begin()];
    sum = b.createOrFold<arith::AddIOp>(sum, stride);
  }
  int64_t bytes =
      llvm::divideCeil(buffer.getType().getElementTypeBitWidth(), 8);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  place.address = b.createOrFold<arith::AddIOp>(
      base, b.createOrFold<arith::MulIOp>(offset, makeIndex(b, bytes)));
  return place;
}

Value loopc::callLibrary(ImplicitLocOpBuilder &b, LibraryProduct found,
                         ModuleOp module, StringRef kernel) {
  const Product &product = found.product;
  Place left =
      findPlace(b, product, found.left.getMemref(), found.left.getIndices());
  Place right =
      findPlace(b, product, found.right.getMemref(), found.right.getIndices());
  Place result =
      findPlace(b, product, found.store.getMemref(), found.store.getIndices());
  auto loops = getProductLoops(product);
  SmallVector<Value> words{left.address, right.address, result.address,
                           makeIndex(b, found.kind),
                           makeIndex(b, static_cast<int64_t>(loops.size()))};
  for (auto [k, entry] : llvm::enumerate(loops))
    llvm::append_values(words, makeIndex(b, entry.second),
                        Value(entry.first.getUpperBound()), left.strides[k],
                        right.strides[k], result.strides[k]);
  // A declaration for each number of loops, which goes with the calls.
  std::string name = "loopc_cuda_product_" + std::to_string(loops.size());
  if (!module.lookupSymbol(name)) {
    OpBuilder declarations(module.getBodyRegion());
    SmallVector<Type> types(words.size(), b.getIndexType());
    auto declared =
        func::FuncOp::create(declarations, b.getLoc(), name,
                             b.getFunctionType(types, {b.getI32Type()}));
    declared.setPrivate();
  }
  auto call = func::CallOp::create(b, name, b.getI32Type(), words);
  call->setAttr(kProductAttrName, b.getStringAttr(kernel));
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, call.getResult(0),
      arith::ConstantIntOp::create(b, b.getI32Type(), LOOPC_CUDA_NOT_DONE));
}
