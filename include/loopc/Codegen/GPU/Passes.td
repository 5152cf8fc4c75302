//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_PASSES_TD
#define LOOPC_CODEGEN_GPU_PASSES_TD

include "loopc/Codegen/GPU/SelectionPasses.td"
include "loopc/Codegen/GPU/KernelPasses.td"

#endif // LOOPC_CODEGEN_GPU_PASSES_TD
