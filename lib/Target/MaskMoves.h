//===- MaskMoves.h - Mask registers that LLVM would lose --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_MASKMOVES_H
#define LOOPC_LIB_TARGET_MASKMOVES_H

namespace loopc {

/// Makes LLVM's code generators keep the instructions that fill mask registers
/// from vectors, and check what they made where --verify-machine-code asks for
/// it. To be called before code is emitted, any number of times.
void adaptCodeGenerators();

} // namespace loopc

#endif // LOOPC_LIB_TARGET_MASKMOVES_H
