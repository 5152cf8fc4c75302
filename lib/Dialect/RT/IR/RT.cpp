//===- RT.cpp - The types of what the runtime is given --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc::rt;

#include "loopc/Dialect/RT/IR/RTDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/RT/IR/RTTypes.cpp.inc"

void RTDialect::initialize() {
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
