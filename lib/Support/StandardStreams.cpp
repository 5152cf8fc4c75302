//===- StandardStreams.cpp - Standard input, output and errors ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/StandardStreams.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

void loopc::reserveStandardStreams() {
  // What is opened for the other direction fails with EBADF, as nothing does.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF)
      continue;
    // The least number that is free: those before it are open by now.
    if (open("/dev/null", kModes[stream]) != stream)
      return;
  }
}

std::error_code loopc::finishStandardStreams() {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  llvm::errs().flush();
  llvm::errs().clear_error();
  return error;
}
