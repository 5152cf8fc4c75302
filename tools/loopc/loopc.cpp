//===- loopc.cpp - Models to native code ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Driver/Driver.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <csignal>

int main(int argc, char **argv) {
  llvm::setBugReportMsg("This is a fault of loopc. Please report it, with the "
                        "model, and the text below.\n");
  llvm::InitLLVM init(argc, argv);
  // A file that becomes too large is an error of writing it.
  std::signal(SIGXFSZ, SIG_IGN);
  return loopc::runDriver(argc, argv);
}
