//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Device/IR/Device.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc::device;

#include "loopc/Dialect/Device/IR/DeviceDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "loopc/Dialect/Device/IR/DeviceAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/Device/IR/DeviceOps.cpp.inc"

void DeviceDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "loopc/Dialect/Device/IR/DeviceAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/Device/IR/DeviceOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// device.region
//===----------------------------------------------------------------------===//

gpu::GPUFuncOp RegionOp::findKernel() {
  SymbolRefAttr name = getKernelAttr();
  return name
             ? SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(*this, name)
             : gpu::GPUFuncOp();
}

LogicalResult RegionOp::verify() {
  if (!getKernel() && (!getGiven().empty() || !getGrid().empty() || getShape()))
    return emitOpError("says how a kernel is launched, but names none");
  if (!getGrid().empty() && getGrid().size() != 2)
    return emitOpError("has a grid of ")
           << getGrid().size() << " numbers, expected blocks and threads";
  if (getKernel() && getNumResults() != 0)
    return emitOpError("has results, which those of a kernel are loaded from "
                       "memory");
  return success();
}

LogicalResult RegionOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 0)
    return emitOpError("has a body with arguments");
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || block.getOperations().size() != 2 ||
      !isa<scf::ForOp, scf::WhileOp>(block.front()))
    return emitOpError("expects one 'scf.for' or 'scf.while', and a "
                       "'device.yield'");
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError("yields other types than those of its results");
  for (Value value : yield.getValues())
    if (value.getDefiningOp() != &block.front())
      return emitOpError("yields what is no result of its loop");
  WalkResult result =
      block.front().walk<WalkOrder::PreOrder>([&](Operation *op) {
        bool isForbidden =
            isa<memref::AllocOp, memref::DeallocOp, gpu::AllocOp,
                gpu::DeallocOp, gpu::LaunchFuncOp, gpu::MemcpyOp>(op) ||
            isa<CallOpInterface>(op) || isa<DeviceDialect>(op->getDialect());
        if (!isForbidden)
          return WalkResult::advance();
        emitOpError("holds '")
            << op->getName().getStringRef() << "', which no kernel can";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

LogicalResult RegionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SymbolRefAttr name = getKernelAttr();
  if (!name)
    return success();
  auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(*this, name);
  if (!kernel || !kernel.isKernel())
    return emitOpError("names ") << name << ", which is no kernel";
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (types.empty() || !isa<LLVM::LLVMPointerType>(types.front()) ||
      types.drop_front() != ArrayRef(llvm::to_vector(getGiven().getTypes())))
    return emitOpError("is given other types than those of ") << name;
  return success();
}

//===----------------------------------------------------------------------===//
// device.buffer
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  auto type = dyn_cast<MemRefType>(getBuffer().getType());
  if (!type)
    return emitOpError("makes a buffer of unknown rank");
  int64_t words = cast<MemRefType>(getWords().getType()).getDimSize(0);
  if (words != 2 + 2 * type.getRank())
    return emitOpError("reads ")
           << words << " words for a buffer of rank " << type.getRank();
  return success();
}
