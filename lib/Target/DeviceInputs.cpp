//===- DeviceInputs.cpp - Inputs that only kernels read -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry reads an input so: its second argument is an array of pointers to
// descriptors {allocated, aligned, offset, sizes, strides}.
//
//   %slot = load ptr, ptr (%inputs + k)
//   %descriptor = load {ptr, ptr, i64, ...}, ptr %slot
//   %aligned = extractvalue %descriptor, 1
//   call @loopc_rt_cuda_input(%run, %program, %aligned + n, ...)
//
//===----------------------------------------------------------------------===//

#include "DeviceInputs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The argument of loopc_rt_cuda_input() that is the host's memory.
static constexpr unsigned kHostArgument = 2;

/// True where the address goes to kernels alone.
static bool isForKernels(const Value *address) {
  return all_of(address->uses(), [](const Use &use) {
    if (const auto *offset = dyn_cast<GetElementPtrInst>(use.getUser()))
      return use.getOperandNo() ==
                 GetElementPtrInst::getPointerOperandIndex() &&
             isForKernels(offset);
    const auto *call = dyn_cast<CallInst>(use.getUser());
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName() == "loopc_rt_cuda_input" &&
           use.getOperandNo() == kHostArgument;
  });
}

/// True where of a descriptor the numbers are read, and addresses for kernels.
static bool isForKernels(const LoadInst *descriptor) {
  if (!descriptor->getType()->isStructTy())
    return false;
  return all_of(descriptor->users(), [](const User *user) {
    const auto *part = dyn_cast<ExtractValueInst>(user);
    return part && (!part->getType()->isPointerTy() ||
                    isForKernels(static_cast<const Value *>(part)));
  });
}

/// True where all that is read from the array of inputs at `place` is for
/// kernels.
static bool isSlotForKernels(const Value *slot) {
  return all_of(slot->users(), [](const User *user) {
    const auto *descriptor = dyn_cast<LoadInst>(user);
    return descriptor && isForKernels(descriptor);
  });
}

SmallVector<uint8_t> loopc::findDeviceInputs(const Function &entry,
                                             size_t count) {
  SmallVector<uint8_t> isForKernels(count, 1);
  const DataLayout &layout = entry.getParent()->getDataLayout();
  unsigned pointerBytes = layout.getPointerSize();
  auto visit = [&](const LoadInst *slot, uint64_t number) {
    if (number < count && !isSlotForKernels(slot))
      isForKernels[number] = 0;
  };
  for (const User *user : entry.getArg(1)->users()) {
    if (const auto *slot = dyn_cast<LoadInst>(user)) {
      visit(slot, 0);
      continue;
    }
    const auto *place = dyn_cast<GetElementPtrInst>(user);
    APInt offset(layout.getIndexSizeInBits(0), 0);
    bool isKnown = place && place->accumulateConstantOffset(layout, offset) &&
                   offset.isNonNegative() &&
                   all_of(place->users(), [](const User *reader) {
                     return isa<LoadInst>(reader);
                   });
    // Who knows which input that is.
    if (!isKnown)
      return SmallVector<uint8_t>(count, 0);
    for (const User *reader : place->users())
      visit(cast<LoadInst>(reader), offset.getZExtValue() / pointerBytes);
  }
  return isForKernels;
}
