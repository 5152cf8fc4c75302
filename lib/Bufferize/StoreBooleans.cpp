//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-store-booleans: buffers of truth values become buffers of bytes, which
// they are in memory. A vector of i1 is packed bits and one of i8 is not, so
// that passes that make vectors would have to leave i1 alone.
//
//   %c = memref.load %m[%i] : memref<?xi1>
//     becomes
//   %b = memref.load %m[%i] : memref<?xi8>
//   %c = arith.trunci %b : i8 to i1
//
// The same in bodies of linalg operations, where what is handed on as it is
// stays a byte.

#include "loopc/Bufferize/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERSTOREBOOLEANS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;

/// The type of `type`'s bytes if it is a buffer of truth values; else null.
static MemRefType bytesOf(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !buffer.getElementType().isInteger(1))
    return {};
  return MemRefType::Builder(buffer).setElementType(
      IntegerType::get(type.getContext(), 8));
}

static Type convert(Type type) {
  MemRefType bytes = bytesOf(type);
  return bytes ? Type(bytes) : type;
}

static bool isBoolean(Value value) { return value.getType().isInteger(1); }

static Value toByte(OpBuilder &b, Location loc, Value boolean) {
  return arith::ExtUIOp::create(b, loc, b.getI8Type(), boolean);
}

/// The byte that `boolean` is the truth value of, if it was read as one.
static Value readByte(Value boolean) {
  auto trunc = boolean.getDefiningOp<arith::TruncIOp>();
  return trunc && trunc.getIn().getType().isInteger(8) ? trunc.getIn()
                                                       : Value();
}

/// `boolean`, which a body yields, as a byte: what combines two bytes is
/// computed in bytes, so that sums are seen to be sums.
static Value yieldedByte(OpBuilder &b, Location loc, Value boolean) {
  if (Value byte = readByte(boolean))
    return byte;
  Operation *op = boolean.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    Value left = readByte(op->getOperand(0));
    Value right = readByte(op->getOperand(1));
    if (left && right)
      return b
          .create(loc, op->getName().getIdentifier(), ValueRange{left, right},
                  left.getType())
          ->getResult(0);
  }
  return toByte(b, loc, boolean);
}

/// Arguments of the body of `op`, whose operands have their new types, and what
/// it yields.
static void convertBody(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  OpBuilder b = OpBuilder::atBlockBegin(body);
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = body->getArgument(operand.getOperandNumber());
    if (!isBoolean(argument) || !isa<MemRefType>(operand.get().getType()))
      continue;
    argument.setType(b.getI8Type());
    if (argument.use_empty())
      continue;
    auto read = arith::TruncIOp::create(b, loc, b.getI1Type(), argument);
    argument.replaceAllUsesExcept(read, read);
  }
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  for (auto [result, init] :
       llvm::zip_equal(yield->getOpOperands(), op.getDpsInits()))
    if (isBoolean(result.get()) && isa<MemRefType>(init.getType()))
      result.set(yieldedByte(b, loc, result.get()));
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

/// The number that is filled in is a byte before the operation, whose body is
/// always the same.
static void convertFill(linalg::FillOp fill) {
  OpOperand &number = fill->getOpOperand(0);
  if (!isBoolean(number.get()))
    return;
  OpBuilder b(fill);
  number.set(toByte(b, fill.getLoc(), number.get()));
  for (BlockArgument argument : fill.getBlock()->getArguments())
    argument.setType(b.getI8Type());
}

/// What goes between buffers and values.
static void convertAccess(Operation *op) {
  OpBuilder b(op);
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    b.setInsertionPointAfter(load);
    Value value = load.getResult();
    value.setType(b.getI8Type());
    auto read = arith::TruncIOp::create(b, load.getLoc(), b.getI1Type(), value);
    value.replaceAllUsesExcept(read, read);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    store.getValueMutable().assign(
        toByte(b, store.getLoc(), store.getValueToStore()));
  } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    convertFill(fill);
  } else {
    convertBody(cast<linalg::LinalgOp>(op));
  }
}

/// True if `op` has truth values, or vectors of them, of a buffer: its operands
/// or results go with the type of the buffer's elements.
static bool isElementAccess(Operation *op) {
  auto areTruthValues = [](Type type) {
    return !isa<BaseMemRefType>(type) &&
           getElementTypeOrSelf(type).isInteger(1);
  };
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || (llvm::none_of(op->getOperandTypes(), areTruthValues) &&
                     llvm::none_of(op->getResultTypes(), areTruthValues)))
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](MemoryEffects::EffectInstance &effect) {
    return effect.getValue() && bytesOf(effect.getValue().getType());
  });
}

/// The elements of a constant as bytes, which those of a resource are.
static Attribute convertElements(ElementsAttr value) {
  ShapedType type = value.getShapedType();
  Type byte = IntegerType::get(type.getContext(), 8);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type.clone(byte),
                                          resource.getRawHandle());
  return cast<DenseElementsAttr>(value).mapValues(
      byte, [](const APInt &bit) { return bit.zext(8); });
}

namespace {
struct BufferStoreBooleans
    : loopc::impl::BufferStoreBooleansBase<BufferStoreBooleans> {
  void runOnOperation() override {
    // Operations whose meaning goes with the element type.
    SmallVector<Operation *> accesses;
    // Of vectors, say, which a person writes, all buffers stay as they are.
    WalkResult known = getOperation().walk([&](Operation *op) {
      if (llvm::none_of(op->getOperandTypes(), bytesOf))
        return WalkResult::advance();
      if (isa<memref::LoadOp, memref::StoreOp, linalg::LinalgOp>(op))
        accesses.push_back(op);
      else if (isElementAccess(op))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (known.wasInterrupted())
      return;
    getOperation().walk([&](Operation *op) { convertTypes(op); });
    llvm::for_each(accesses, convertAccess);
  }

private:
  void convertTypes(Operation *op) {
    for (Value result : op->getResults())
      result.setType(convert(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(convert(argument.getType()));
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      FunctionType type = function.getFunctionType();
      function.setFunctionType(FunctionType::get(
          &getContext(), llvm::map_to_vector(type.getInputs(), convert),
          llvm::map_to_vector(type.getResults(), convert)));
    } else if (auto global = dyn_cast<memref::GlobalOp>(op)) {
      convertGlobal(global);
    }
  }

  void convertGlobal(memref::GlobalOp global) {
    MemRefType bytes = bytesOf(global.getType());
    if (!bytes)
      return;
    global.setType(bytes);
    if (auto value = dyn_cast_or_null<ElementsAttr>(
            global.getInitialValue().value_or(Attribute())))
      global.setInitialValueAttr(convertElements(value));
  }
};
} // namespace
