//===- StandardStreams.h - Standard input, output and errors ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What programs do at their beginning and at their end, for callers that closed
// a standard stream, or gave one that takes nothing.

#ifndef LOOPC_SUPPORT_STANDARDSTREAMS_H
#define LOOPC_SUPPORT_STANDARDSTREAMS_H

#include <system_error>

namespace loopc {

/// Takes the places of standard streams that are closed, which a file that is
/// opened later would have: a model would be read from what is written, and
/// messages would go into it. Reading standard input and writing to standard
/// output fail as before; what is said to standard error is lost.
void reserveStandardStreams();

/// Writes what is buffered for standard output, and returns why it cannot be
/// written. LLVM would end the program at its exit, with a status of its own,
/// for this and for messages that nobody can read.
std::error_code finishStandardStreams();

} // namespace loopc

#endif // LOOPC_SUPPORT_STANDARDSTREAMS_H
