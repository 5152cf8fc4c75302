//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Conversion/ToLLVM/BufferBytes.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

int64_t loopc::getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  if (element.isIndex())
    return 8;
  if (isa<rt::StringType>(element))
    return 16;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * (complex.getElementType().getIntOrFloatBitWidth() / 8);
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Value loopc::countBufferBytes(ImplicitLocOpBuilder &b, MemRefType type,
                              ArrayRef<Value> sizes) {
  Type i64 = b.getI64Type();
  uint64_t known = getElementBytes(type);
  bool fits = true;
  SmallVector<Value> open;
  for (auto [extent, size] : llvm::zip_equal(type.getShape(), sizes)) {
    bool overflows = false;
    if (ShapedType::isDynamic(extent))
      open.push_back(size);
    else
      known = llvm::SaturatingMultiply<uint64_t>(known, extent, &overflows);
    fits &= !overflows;
  }
  if (type.getNumDynamicDims() == 0 || known == 0)
    return LLVM::ConstantOp::create(b, i64,
                                    fits ? static_cast<int64_t>(known) : -1);
  Value bytes =
      LLVM::ConstantOp::create(b, i64, fits ? static_cast<int64_t>(known) : -1);
  Value zero = LLVM::ConstantOp::create(b, i64, 0);
  Value wraps, empty;
  auto either = [&](Value &all, Value one) {
    all = all ? Value(LLVM::OrOp::create(b, all, one)) : one;
  };
  auto pair =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, b.getI1Type()});
  for (Value size : open) {
    Value both = LLVM::UMulWithOverflowOp::create(b, pair, bytes, size);
    bytes = LLVM::ExtractValueOp::create(b, both, 0);
    either(wraps, LLVM::ExtractValueOp::create(b, both, 1));
    either(empty, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, size, zero));
  }
  Value tooMany = LLVM::ConstantOp::create(b, i64, -1);
  bytes = LLVM::SelectOp::create(b, wraps, tooMany, bytes);
  return LLVM::SelectOp::create(b, empty, zero, bytes);
}
