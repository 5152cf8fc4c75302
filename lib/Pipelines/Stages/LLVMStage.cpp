//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Codegen/GPU/Kernels/DeviceProgram.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace loopc;

/// True for what kernels may call: libdevice, and CUDA's own.
static bool isDeviceFunction(StringRef name) {
  return name.starts_with("__nv_") || name == kSetConditionName;
}

/// A function without a body is one that somebody else has.
static void verifyDeclaration(LLVM::LLVMFuncOp function, StageErrors &errors) {
  StringRef name = function.getName();
  if (function->getParentOfType<gpu::GPUModuleOp>()) {
    if (!isDeviceFunction(name))
      errors.emit(function)
          << "declares '" << name << "', which neither libdevice nor CUDA has";
    return;
  }
  auto type = getRuntimeFunctionType(function.getContext(), name);
  if (!type && !isMathFunction(name))
    errors.emit(function) << "declares '" << name
                          << "', which neither the runtime nor libm has";
  if (type && type != function.getFunctionType())
    errors.emit(function) << "declares '" << name << "' of "
                          << function.getFunctionType()
                          << ", and the runtime has it of " << type;
}

/// What the marks of a function say of it.
static void verifyMarks(LLVM::LLVMFuncOp function, StageErrors &errors) {
  if (function->hasAttr(kOutlinedAttrName) &&
      function.getLinkage() != LLVM::Linkage::Internal)
    errors.emit(function) << "is marked '" << kOutlinedAttrName
                          << "', and is not internal";
  if (!function->hasAttr(kNestAttrName))
    return;
  function.walk([&](LLVM::CallOp call) {
    std::optional<StringRef> callee = call.getCallee();
    if (!callee || !getRuntimeFunctionType(call.getContext(), *callee))
      return WalkResult::advance();
    errors.emit(call) << "calls '" << *callee << "' in a function that is "
                      << "marked '" << kNestAttrName << "'";
    return WalkResult::interrupt();
  });
}

void loopc::verifyLLVMStage(ModuleOp module, StageErrors &errors) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    verifyUsers(op, errors);
    bool isContainer = isa<ModuleOp, gpu::GPUModuleOp>(op);
    bool isForDevice = isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()) &&
                       op->getParentOfType<gpu::GPUModuleOp>();
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      if (function.isExternal())
        verifyDeclaration(function, errors);
      verifyMarks(function, errors);
    } else if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) &&
               !isContainer && !isForDevice) {
      errors.emit(op) << "is not of the LLVM dialect";
    }
    return errors.areEnough() ? WalkResult::interrupt() : WalkResult::advance();
  });
}
