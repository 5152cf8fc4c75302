//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LOOP_TRANSFORMS_PASSES_TD
#define LOOPC_LOOP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // LOOPC_LOOP_TRANSFORMS_PASSES_TD
