//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-loop-runtime-to-llvm: what the runtime does for a model. Allocation
// and release of buffers, checks, polls and large constants, in functions whose
// first argument is the run and whose result is a status.

#include "loopc/Conversion/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLOOPRUNTIMETOLLVM
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
class RuntimeLowering {
public:
  RuntimeLowering(ModuleOp module, MLIRContext *context)
      : module(module), rewriter(context), converter(context),
        pointer(LLVM::LLVMPointerType::get(context)),
        i64(rewriter.getI64Type()), i32(rewriter.getI32Type()) {}

  LogicalResult run(func::FuncOp function) {
    Block &entry = function.getBody().front();
    if (entry.getNumArguments() == 0 ||
        entry.getArgument(0).getType() != pointer)
      return loopc::emitError(function.getLoc(), Diag::BadModule)
             << "function '" << function.getName() << "' does not take the run";
    run_ = entry.getArgument(0);
    failure_ = nullptr;
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::DeallocOp, loop::CheckOp, loop::PollOp>(
              op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        lower(alloc, function);
      else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
        lower(dealloc);
      else if (auto check = dyn_cast<loop::CheckOp>(op))
        lower(check, function);
      else
        lowerPoll(op, function);
    }
    return success();
  }

private:
  LLVM::LLVMFuncOp declare(StringRef name, ArrayRef<Type> arguments,
                           Type result) {
    OpBuilder builder(module.getBodyRegion());
    return *LLVM::lookupOrCreateFn(builder, module, name, arguments, result);
  }

  /// The block that returns a non-zero status; the error is recorded already.
  Block *failureBlock(func::FuncOp function) {
    if (failure_)
      return failure_;
    OpBuilder::InsertionGuard guard(rewriter);
    failure_ =
        rewriter.createBlock(&function.getBody(), function.getBody().end());
    Value one = LLVM::ConstantOp::create(rewriter, function.getLoc(), i32, 1);
    func::ReturnOp::create(rewriter, function.getLoc(), one);
    return failure_;
  }

  /// Ends the block before `op`: goes on at `op` where `ok`, else to `target`.
  void branchUnless(Value ok, Operation *op, Block *target) {
    Block *block = op->getBlock();
    Block *rest = rewriter.splitBlock(block, Block::iterator(op));
    rewriter.setInsertionPointToEnd(block);
    auto branch = cf::CondBranchOp::create(rewriter, op->getLoc(), ok, rest,
                                           ValueRange(), target, ValueRange());
    branch.setWeights(ArrayRef<int32_t>{2000, 1});
    rewriter.setInsertionPoint(op);
  }

  Value toI64(Location loc, Value value) {
    Type type = value.getType();
    if (type.isIndex())
      return UnrealizedConversionCastOp::create(rewriter, loc, i64, value)
          .getResult(0);
    if (type == i64)
      return value;
    return LLVM::SExtOp::create(rewriter, loc, i64, value);
  }

  /// Bytes of one element as memory holds it.
  int64_t elementBytes(MemRefType type) {
    Type element = type.getElementType();
    if (element.isIndex())
      return 8;
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * (complex.getElementType().getIntOrFloatBitWidth() / 8);
    return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }

  void lower(memref::AllocOp alloc, func::FuncOp function) {
    ImplicitLocOpBuilder b(alloc.getLoc(), rewriter);
    MemRefType type = alloc.getType();
    // Sizes and, from the last axis on, strides; then the bytes. A product that
    // overflows becomes negative or absurd, which the runtime refuses.
    SmallVector<Value> sizes, strides(type.getRank());
    unsigned dynamic = 0;
    for (int64_t extent : type.getShape())
      sizes.push_back(
          ShapedType::isDynamic(extent)
              ? toI64(alloc.getLoc(), alloc.getDynamicSizes()[dynamic++])
              : Value(LLVM::ConstantOp::create(b, i64, extent)));
    Value elements = LLVM::ConstantOp::create(b, i64, 1);
    for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
      strides[axis] = elements;
      elements = axis == type.getRank() - 1
                     ? sizes[axis]
                     : Value(LLVM::MulOp::create(b, elements, sizes[axis]));
    }
    Value bytes = LLVM::MulOp::create(
        b, elements, LLVM::ConstantOp::create(b, i64, elementBytes(type)));
    LLVM::LLVMFuncOp fn = declare("loopc_rt_alloc", {pointer, i64}, pointer);
    Value memory =
        LLVM::CallOp::create(b, fn, ValueRange{run_, bytes}).getResult();
    Value null = LLVM::ZeroOp::create(b, pointer);
    Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, memory, null);
    branchUnless(ok, alloc, failureBlock(function));
    b.setInsertionPoint(alloc);
    auto descriptor = MemRefDescriptor::poison(b, alloc.getLoc(),
                                               converter.convertType(type));
    descriptor.setAllocatedPtr(b, alloc.getLoc(), memory);
    descriptor.setAlignedPtr(b, alloc.getLoc(), memory);
    descriptor.setConstantOffset(b, alloc.getLoc(), 0);
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      descriptor.setSize(b, alloc.getLoc(), axis, sizes[axis]);
      descriptor.setStride(b, alloc.getLoc(), axis, strides[axis]);
    }
    rewriter.replaceOp(
        alloc, UnrealizedConversionCastOp::create(b, type, Value(descriptor))
                   .getResults());
  }

  void lower(memref::DeallocOp dealloc) {
    ImplicitLocOpBuilder b(dealloc.getLoc(), rewriter);
    Type type = converter.convertType(dealloc.getMemref().getType());
    Value cast =
        UnrealizedConversionCastOp::create(b, type, dealloc.getMemref())
            .getResult(0);
    Value memory = MemRefDescriptor(cast).allocatedPtr(b, dealloc.getLoc());
    LLVM::LLVMFuncOp fn = declare("loopc_rt_free", {pointer, pointer},
                                  LLVM::LLVMVoidType::get(b.getContext()));
    LLVM::CallOp::create(b, fn, ValueRange{run_, memory});
    rewriter.eraseOp(dealloc);
  }

  /// Address of a constant string, terminated.
  Value stringAddress(ImplicitLocOpBuilder &b, StringRef text) {
    auto [it, isNew] = strings.try_emplace(text, LLVM::GlobalOp());
    if (isNew) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      std::string bytes = text.str();
      bytes.push_back('\0');
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
      it->second = LLVM::GlobalOp::create(
          b, type, /*isConstant=*/true, LLVM::Linkage::Private,
          ("loopc_message_" + Twine(strings.size() - 1)).str(),
          b.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(b, it->second);
  }

  void lower(loop::CheckOp check, func::FuncOp function) {
    Location loc = check.getLoc();
    OpBuilder::InsertionGuard guard(rewriter);
    Block *failing =
        rewriter.createBlock(&function.getBody(), function.getBody().end());
    ImplicitLocOpBuilder b(loc, rewriter);
    Value message = stringAddress(b, check.getMessage());
    Value iteration =
        check.getIteration()
            ? toI64(loc, check.getIteration())
            : Value(LLVM::ConstantOp::create(b, i64, int64_t(-1)));
    Value count =
        LLVM::ConstantOp::create(b, i64, int64_t(check.getValues().size()));
    Value values = LLVM::ZeroOp::create(b, pointer);
    if (!check.getValues().empty())
      values = LLVM::AllocaOp::create(b, pointer, i64, count);
    for (auto [k, value] : llvm::enumerate(check.getValues())) {
      Value slot = LLVM::GEPOp::create(b, pointer, i64, values,
                                       ArrayRef<LLVM::GEPArg>{int32_t(k)});
      LLVM::StoreOp::create(b, toI64(loc, value), slot);
    }
    LLVM::LLVMFuncOp fn =
        declare("loopc_rt_fail", {pointer, pointer, i64, pointer, i64}, i32);
    Value status =
        LLVM::CallOp::create(
            b, fn, ValueRange{run_, message, iteration, values, count})
            .getResult();
    func::ReturnOp::create(b, status);
    branchUnless(check.getCondition(), check, failing);
    rewriter.eraseOp(check);
  }

  void lowerPoll(Operation *poll, func::FuncOp function) {
    ImplicitLocOpBuilder b(poll->getLoc(), rewriter);
    LLVM::LLVMFuncOp fn = declare("loopc_rt_poll", {pointer}, i32);
    Value status = LLVM::CallOp::create(b, fn, ValueRange{run_}).getResult();
    Value zero = LLVM::ConstantOp::create(b, i32, 0);
    Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, status, zero);
    branchUnless(ok, poll, failureBlock(function));
    rewriter.eraseOp(poll);
  }

  ModuleOp module;
  IRRewriter rewriter;
  LLVMTypeConverter converter;
  LLVM::LLVMPointerType pointer;
  Type i64, i32;
  Value run_;
  Block *failure_ = nullptr;
  llvm::StringMap<LLVM::GlobalOp> strings;
};

struct ConvertLoopRuntimeToLLVM
    : loopc::impl::ConvertLoopRuntimeToLLVMBase<ConvertLoopRuntimeToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    RuntimeLowering lowering(module, &getContext());
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(lowering.run(function)))
        return signalPassFailure();
  }
};
} // namespace
