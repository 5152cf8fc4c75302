//===- Profile.h - Where the time of a run goes -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_PROFILE_H
#define LOOPC_LIB_RUNTIME_CPU_PROFILE_H

#include "Run.h"

namespace loopc::rt {

/// The model's code has ended, or failed.
void stopProfile(loopc_run &run);

/// Reports the profile of `run`, which has one, and frees it.
void endProfile(loopc_run &run, const char *model);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_PROFILE_H
