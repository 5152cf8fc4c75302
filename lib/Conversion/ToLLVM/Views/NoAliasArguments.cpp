//===- NoAliasArguments.cpp - Buffers of their own as arguments -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MLIR's conversion of functions drops the attributes of arguments that become
// several, as memrefs do. What says that a buffer is reached through one
// argument alone is kept here:
//
//   func.func private @nest(%x: memref<?xf32> {llvm.noalias})
//
// becomes
//
//   llvm.func @nest(%allocated: !llvm.ptr, %aligned: !llvm.ptr {llvm.noalias},
//                   %offset: i64, %size: i64, %stride: i64)

#include "loopc/Conversion/ToLLVM/NoAliasArguments.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace loopc;

/// The position of the aligned pointer in the descriptor of a memref.
static constexpr unsigned kAlignedPointer = 1;

namespace {
struct ConvertFunctionWithNoAlias : ConvertOpToLLVMPattern<func::FuncOp> {
  ConvertFunctionWithNoAlias(const LLVMTypeConverter &converter,
                             SymbolTableCollection &tables)
      // Before MLIR's pattern for functions.
      : ConvertOpToLLVMPattern(converter, /*benefit=*/2), tables(tables) {}

  LogicalResult
  matchAndRewrite(func::FuncOp function, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    StringRef name = LLVM::LLVMDialect::getNoAliasAttrName();
    SmallVector<unsigned> marked;
    for (BlockArgument argument : function.getArguments())
      if (isa<MemRefType>(argument.getType()) &&
          function.getArgAttr(argument.getArgNumber(), name))
        marked.push_back(argument.getArgNumber());
    if (marked.empty())
      return rewriter.notifyMatchFailure(function, "MLIR's pattern keeps all");
    LLVMTypeConverter::SignatureConversion signature(
        function.getNumArguments());
    const LLVMTypeConverter &converter = *getTypeConverter();
    converter.convertFunctionSignature(
        function.getFunctionType(), /*isVariadic=*/false,
        converter.getOptions().useBarePtrCallConv, signature);
    FailureOr<LLVM::LLVMFuncOp> made =
        convertFuncOpToLLVMFuncOp(function, rewriter, converter, &tables);
    if (failed(made))
      return failure();
    for (unsigned number : marked) {
      auto words = signature.getInputMapping(number);
      if (words->size > kAlignedPointer)
        made->setArgAttr(words->inputNo + kAlignedPointer, name,
                         rewriter.getUnitAttr());
    }
    rewriter.eraseOp(function);
    return success();
  }

private:
  SymbolTableCollection &tables;
};
} // namespace

void loopc::populateNoAliasArgumentPatterns(const LLVMTypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            SymbolTableCollection &tables) {
  patterns.add<ConvertFunctionWithNoAlias>(converter, tables);
}
