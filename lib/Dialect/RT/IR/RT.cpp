//===- RT.cpp - The types of what the runtime is given --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/IR/TypeConversion.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc::rt;

#include "loopc/Dialect/RT/IR/RTDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/RT/IR/RTTypes.cpp.inc"

namespace {
struct RTToLLVM : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect>();
  }
  void
  populateConvertToLLVMConversionPatterns(ConversionTarget &,
                                          LLVMTypeConverter &converter,
                                          RewritePatternSet &) const final {
    addTypeConversions(converter);
  }
};
} // namespace

void RTDialect::initialize() {
  addInterfaces<RTToLLVM>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "loopc/Dialect/RT/IR/RTTypes.cpp.inc"
      >();
}

BlockArgument loopc::rt::findRun(FunctionOpInterface function) {
  if (function.isExternal())
    return {};
  for (BlockArgument argument : function.getArguments())
    if (isa<RunType>(argument.getType()))
      return argument;
  return {};
}

void loopc::rt::addTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion([](RunType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  converter.addConversion([](StringType type) {
    Type word = IntegerType::get(type.getContext(), 64);
    return LLVM::LLVMStructType::getLiteral(type.getContext(), {word, word});
  });
}
