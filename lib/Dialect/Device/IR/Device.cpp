//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Device/IR/Conditions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
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

Scope loopc::device::getWaitScope(Operation *op) {
  if (auto poll = dyn_cast<PollOp>(op))
    return poll.getInBlock() ? Scope::Block : Scope::Grid;
  if (auto part = dyn_cast<PartOp>(op); part && !part.getLast())
    return part.getInBlock() ? Scope::Block : Scope::Grid;
  if (isa<BarrierOp>(op))
    return Scope::Grid;
  return isa<gpu::BarrierOp, gpu::AllReduceOp>(op) ? Scope::Block
                                                   : Scope::Thread;
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

/// A launch must not do with less than the kernel needs.
static LogicalResult verifyShape(RegionOp region, gpu::GPUFuncOp kernel) {
  std::optional<ShapeAttr> shape = region.getShape();
  if (!shape)
    return success();
  if (shape->getTiles() && !kernel.getKnownBlockSize())
    return region.emitOpError("has tiles, for blocks of a fixed size, and a "
                              "kernel for blocks of any");
  if (shape->getBarriers())
    return success();
  WalkResult result = kernel.walk([&](Operation *op) {
    if (getWaitScope(op) != Scope::Grid)
      return WalkResult::advance();
    InFlightDiagnostic error =
        region.emitOpError("has a shape without barriers, and a kernel whose "
                           "blocks wait for one another");
    error.attachNote(op->getLoc()) << "wait here";
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
  return verifyShape(*this, kernel);
}

//===----------------------------------------------------------------------===//
// device.part
//===----------------------------------------------------------------------===//

LogicalResult PartOp::verify() {
  if (!getLast())
    return success();
  if (getInBlock())
    return emitOpError("is the last of its kernel, and nobody of a block waits "
                       "behind it");
  if (!isa<gpu::GPUFuncOp>((*this)->getParentOp()) ||
      (*this)->getNextNode() != (*this)->getBlock()->getTerminator() ||
      (*this)->getBlock()->getNumSuccessors() != 0)
    return emitOpError("is not the last operation of a kernel");
  return success();
}

LogicalResult PartOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Operation *op) {
    if (getWaitScope(op) == Scope::Thread)
      return WalkResult::advance();
    InFlightDiagnostic error = emitOpError("holds '")
                               << op->getName().getStringRef()
                               << "', where threads wait for others that may "
                                  "have left";
    error.attachNote(op->getLoc()) << "waits here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
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

//===----------------------------------------------------------------------===//
// device.graph
//===----------------------------------------------------------------------===//

LogicalResult GraphOp::verify() {
  ArrayRef<int32_t> nodes = getNodes();
  if (nodes.empty() || nodes.size() % 4 != 0)
    return emitOpError("has nodes that are not four numbers each");
  int64_t numHandles = 0;
  size_t numKernels = 0;
  for (; !nodes.empty(); nodes = nodes.drop_front(4)) {
    int32_t body = nodes[0], handle = nodes[1], kernel = nodes[2];
    if (body < -1 || body >= numHandles)
      return emitOpError("has a node in the body of condition ")
             << body << ", which is not in front of it";
    if (handle == -1) {
      ++numKernels;
      if (kernel < 0 || kernel >= static_cast<int64_t>(getKernels().size()))
        return emitOpError("has a node that is kernel ")
               << kernel << " of " << getKernels().size();
    } else if (handle != numHandles++) {
      return emitOpError("has condition ")
             << handle << ", where number " << numHandles - 1 << " is next";
    }
  }
  if (static_cast<int64_t>(getHandles()) != numHandles)
    return emitOpError("has ")
           << numHandles << " conditions and handles for " << getHandles();
  if (getBlocks().size() != numKernels)
    return emitOpError("has ") << numKernels << " nodes that are kernels and "
                               << getBlocks().size() << " counts of blocks";
  if (getWords() < getHandles() + getArguments().size())
    return emitOpError("has a state of ")
           << getWords() << " words for " << getHandles() << " handles and "
           << getArguments().size() << " arguments";
  return success();
}

// A kernel that does not say what it sets clears nothing where it fails, and
// the loop goes on without end.
LogicalResult GraphOp::verifySymbolUses(SymbolTableCollection &symbols) {
  llvm::SmallBitVector set(getHandles());
  for (auto name : getKernels().getAsRange<SymbolRefAttr>()) {
    Operation *kernel = symbols.lookupNearestSymbolFrom(*this, name);
    if (!kernel || !kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      return emitOpError("names ") << name << ", which is no kernel";
    auto conditions =
        kernel->getAttrOfType<DenseI32ArrayAttr>(kConditionsAttrName);
    if (!conditions)
      return emitOpError("names ")
             << name << ", which does not say by '" << kConditionsAttrName
             << "' which conditions it sets";
    for (int32_t handle : conditions.asArrayRef()) {
      if (handle < 0 || handle >= static_cast<int64_t>(getHandles()))
        return emitOpError("names ") << name << ", which sets condition "
                                     << handle << " of " << getHandles();
      set.set(handle);
    }
  }
  if (!set.all())
    return emitOpError("has condition ")
           << set.find_first_unset() << ", which no kernel sets";
  return success();
}
