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

#include <memory>
#include <optional>
#include <sys/types.h>

namespace loopc::capi {

/// Whether compilations are to get processes of their own. The environment's
/// LOOPC_COMPILE=inprocess says no: for tests of many small models, each of
/// which would load the compiler anew.
bool wantsWorker();

/// A process that was started. Its end is waited for here; one that has not
/// answered is ended.
class WorkerProcess {
public:
  explicit WorkerProcess(pid_t id) : id(id) {}
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;
  ~WorkerProcess();

  /// Nothing that it does from now on matters; it ends by itself.
  void leave() { isLeaving = true; }
  /// \returns how it ended, as waitpid() says.
  int wait(bool kill);

private:
  void stop();
  bool endsWithin(int milliseconds) const;

  pid_t id;
  int status = 0;
  bool isLeaving = false;
};

/// Compiles in a new process, which ends when this one does. `model` is what
/// the worker reads, or none where it opens the file itself.
/// \returns nothing where no worker could be started, or it is of another
/// build. A worker that crashed, or was ended by `watch`, is a Reply that says
/// so. One that has answered gives its memory back, which takes milliseconds:
/// it is in `process` then, for its end to be waited for when all else is done.
std::optional<Reply> runWorker(const Request &request, const Descriptor &model,
                               Watch &watch,
                               std::unique_ptr<WorkerProcess> &process);

/// Starts a process that compiles in the background, waits for its turn there,
/// and outlives this one. Nothing is said where that cannot be.
void startLater(const Request &request, const Descriptor &model);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_WORKER_H
