//===- loopc-run.cpp - Runs models ----------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTool.h"

#include "loopc/Support/StandardStreams.h"

#include "llvm/Support/PrettyStackTrace.h"

#include <csignal>

int main(int argc, char **argv) {
  loopc::reserveStandardStreams();
  llvm::setBugReportMsg("This is a fault of loopc-run. Please report it, with "
                        "the model, and the text below.\n");
  // A file that becomes too large is an error of writing it.
  std::signal(SIGXFSZ, SIG_IGN);
  return loopc::run::runTool(argc, argv);
}
