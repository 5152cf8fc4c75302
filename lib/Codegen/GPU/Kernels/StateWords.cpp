//===- StateWords.cpp - Values as words of memory -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateWords.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

/// Which numbers of a layout only the run knows: of the offset, the extents and
/// the strides.
static SmallVector<int64_t> listLayout(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> numbers{offset};
  llvm::append_range(numbers, type.getShape());
  llvm::append_range(numbers, strides);
  return numbers;
}

unsigned loopc::countWords(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer)
    return isa<ComplexType>(type) ? 2 : 1;
  return 1 + llvm::count_if(listLayout(buffer), [](int64_t number) {
           return ShapedType::isDynamic(number);
         });
}

/// The bits of a number.
static Value toWord(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType(), word = b.getI64Type();
  if (type == word)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, word, value);
  if (isa<FloatType>(type)) {
    Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(b, bits, value);
    if (bits == word)
      return value;
  }
  return arith::ExtUIOp::create(b, word, value);
}

static Value fromWord(ImplicitLocOpBuilder &b, Type type, Value word) {
  if (type == word.getType())
    return word;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, word);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64)
    word = arith::TruncIOp::create(b, b.getIntegerType(width), word);
  if (word.getType() == type)
    return word;
  return arith::BitcastOp::create(b, type, word);
}

SmallVector<Value> loopc::toWords(ImplicitLocOpBuilder &b, Value value) {
  if (isa<ComplexType>(value.getType()))
    return {toWord(b, complex::ReOp::create(b, value)),
            toWord(b, complex::ImOp::create(b, value))};
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return {toWord(b, value)};
  SmallVector<Value> words{toWord(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, value).getResult())};
  SmallVector<int64_t> numbers = listLayout(type);
  if (countWords(type) == 1)
    return words;
  auto view = memref::ExtractStridedMetadataOp::create(b, value);
  SmallVector<Value> layout{view.getOffset()};
  llvm::append_range(layout, view.getSizes());
  llvm::append_range(layout, view.getStrides());
  for (auto [number, known] : llvm::zip_equal(layout, numbers))
    if (ShapedType::isDynamic(known))
      words.push_back(toWord(b, number));
  return words;
}

/// A buffer with these numbers as its layout.
static Value makeBuffer(ImplicitLocOpBuilder &b, MemRefType type, Value address,
                        ArrayRef<Value> layout) {
  Location loc = b.getLoc();
  LLVMTypeConverter converter(b.getContext());
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, address);
  descriptor.setAlignedPtr(b, loc, address);
  descriptor.setOffset(b, loc, layout.front());
  unsigned rank = type.getRank();
  for (unsigned axis = 0; axis < rank; ++axis) {
    descriptor.setSize(b, loc, axis, layout[1 + axis]);
    descriptor.setStride(b, loc, axis, layout[1 + rank + axis]);
  }
  return UnrealizedConversionCastOp::create(b, type, Value(descriptor))
      .getResult(0);
}

Value loopc::makeBufferAt(ImplicitLocOpBuilder &b, MemRefType type,
                          Value address) {
  SmallVector<Value> layout;
  for (int64_t number : listLayout(type))
    layout.push_back(LLVM::ConstantOp::create(b, b.getI64Type(), number));
  return makeBuffer(b, type, address, layout);
}

Value loopc::fromWords(ImplicitLocOpBuilder &b, Type type, ValueRange words) {
  if (auto pair = dyn_cast<ComplexType>(type)) {
    Type part = pair.getElementType();
    Value re = fromWord(b, part, words[0]), im = fromWord(b, part, words[1]);
    return complex::CreateOp::create(b, type, re, im);
  }
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer)
    return fromWord(b, type, words.front());
  // All that kernels are given is global memory: the accesses can say so.
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  auto global = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Value address = LLVM::IntToPtrOp::create(b, global, words.front());
  address = LLVM::AddrSpaceCastOp::create(b, generic, address);
  words = words.drop_front();
  SmallVector<Value> layout;
  for (int64_t number : listLayout(buffer)) {
    if (!ShapedType::isDynamic(number)) {
      layout.push_back(LLVM::ConstantOp::create(b, b.getI64Type(), number));
      continue;
    }
    layout.push_back(words.front());
    words = words.drop_front();
  }
  return makeBuffer(b, buffer, address, layout);
}
