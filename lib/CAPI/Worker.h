//===- Worker.h - Compiling in a process of its own -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_WORKER_H
#define LOOPC_LIB_CAPI_WORKER_H

#include "Files.h"
#include "Protocol.h"
#include "Watch.h"

#include <optional>

namespace loopc::capi {

/// Whether compilations are to get processes of their own. The environment's
/// LOOPC_COMPILE=inprocess says no: for tests of many small models, each of
/// which would load the compiler anew.
bool wantsWorker();

/// Compiles in a new process, which ends when this one does. `model` is what
/// the worker reads, or none where it opens the file itself.
/// \returns nothing where no worker could be started, or it is of another
/// build. A worker that crashed, or was ended by `watch`, is a Reply that says
/// so.
std::optional<Reply> runWorker(const Request &request, const Descriptor &model,
                               Watch &watch);

/// Starts a process that compiles in the background, waits for its turn there,
/// and outlives this one. Nothing is said where that cannot be.
void startLater(const Request &request, const Descriptor &model);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_WORKER_H
