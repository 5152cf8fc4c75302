//===- QuickCode.h - Machine code that is made quickly ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_QUICKCODE_H
#define LOOPC_LIB_TARGET_QUICKCODE_H

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace loopc {

/// Code generators leave out, for the modules of `context`, all that they can
/// do without, and select instructions quickly. Registers are allocated as
/// ever: what a loop carries stays in them, which is most of what makes the
/// code of -O0 slow.
void generateQuickly(llvm::LLVMContext &context);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_QUICKCODE_H
