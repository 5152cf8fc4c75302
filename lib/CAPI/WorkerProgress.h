//===- WorkerProgress.h - What a worker says while it works -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_WORKERPROGRESS_H
#define LOOPC_LIB_CAPI_WORKERPROGRESS_H

#include "mlir/Support/Timing.h"

namespace loopc::capi {

/// Whether this process is a worker: alone with one compilation.
bool isWorker();

/// By which a worker tells how far a Compiler is, whose timing it is set to be;
/// nothing elsewhere.
mlir::TimingScope reportProgress();

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_WORKERPROGRESS_H
