//===- FuseProducts.h - Sums of products, rounded once ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_FUSEPRODUCTS_H
#define LOOPC_LIB_TARGET_FUSEPRODUCTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace loopc {

/// Makes `llvm.fmuladd` of a product and the sum, or difference, that alone
/// reads it, where both may be contracted; of all of them where `all`. The
/// target rounds it once if it has an instruction that does.
///
/// LLVM would do so itself where it selects instructions, but not at all levels
/// of optimisation, and what stands beside one another by then depends on the
/// passes before. So one model has the same bits at all levels.
void fuseProducts(llvm::Module &module, bool all);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_FUSEPRODUCTS_H
