//===- ConvertDialects.cpp - From all dialects to LLVM's ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Conversion/ToLLVM/NoAliasArguments.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTDIALECTSTOLLVM
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Dialects whose own interface has their conversion. That of functions is
/// asked for with a symbol table.
static constexpr StringLiteral kDialects[] = {
    "arith", "cf", "complex", "index", "math", "memref", "rt", "ub", "vector"};

static bool isConverted(StringRef dialect) {
  return dialect == "func" || llvm::is_contained(kDialects, dialect);
}

namespace {
struct ConvertDialectsToLLVM
    : loopc::impl::ConvertDialectsToLLVMBase<ConvertDialectsToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext &context = getContext();
    ConversionTarget target(context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    // Operations that nothing here converts are not folded either, which MLIR
    // cannot take back without rollback.
    for (Dialect *dialect : context.getLoadedDialects())
      if (!isConverted(dialect->getNamespace()))
        target.addLegalDialect(dialect->getNamespace());
    LLVMTypeConverter converter(&context);
    RewritePatternSet patterns(&context);
    for (StringRef name : kDialects)
      // A dialect that is not loaded has no operations here.
      if (Dialect *dialect = context.getLoadedDialect(name))
        if (auto *interface = dyn_cast<ConvertToLLVMPatternInterface>(dialect))
          interface->populateConvertToLLVMConversionPatterns(target, converter,
                                                             patterns);
    SymbolTableCollection tables;
    populateFuncToLLVMConversionPatterns(converter, patterns, &tables);
    populateNoAliasArgumentPatterns(converter, patterns, tables);
    // All patterns are MLIR's or above, and succeed where they begin to write.
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
