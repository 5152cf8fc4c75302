//===- QuickCode.cpp - Machine code that is made quickly ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

using namespace llvm;

namespace {
/// Passes of a code generator that can be left out ask this, as they ask for
/// the attribute `optnone` of a function; so does the selection of
/// instructions, which is the quick one then.
class NoneOfThem : public OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef, StringRef) const override { return false; }
};
} // namespace

void loopc::generateQuickly(LLVMContext &context) {
  static NoneOfThem gate;
  context.setOptPassGate(gate);
}
