//===- FuseNests.h - Nests over the same elements ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_FUSENESTS_H
#define LOOPC_CODEGEN_GPU_REGIONS_FUSENESTS_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Makes one of nests in `root` that follow each other and go over the same
/// elements, where each reads of the others' memory its own element alone: what
/// fills a sum's memory, the sum, and what is done with it. Values are handed
/// on in registers, and memory that nobody reads then is not written. Nests
/// that `staysAlone` names are not made one with others.
void fuseNests(mlir::Operation *root, AliasClasses &classes, bool hasLibdevice,
               llvm::function_ref<bool(mlir::scf::ForOp)> staysAlone = nullptr);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_FUSENESTS_H
