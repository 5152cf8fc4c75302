//===- CommandLine.h - The options of loopc ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_DRIVER_COMMANDLINE_H
#define LOOPC_LIB_DRIVER_COMMANDLINE_H

#include "loopc/Compiler.h"
#include "loopc/Support/OutputFile.h"

#include <string>

namespace loopc {

/// What the command line says, checked.
struct DriverOptions {
  CompilerOptions compiler;
  Output output = Output::Object;
  std::string input;
  std::string outputPath; ///< never empty
  std::string headerPath; ///< empty: none
  bool remarks = false;
  bool explain = false; ///< `outputPath` is for the report, which is made alone
  std::string svgPath;  ///< a picture of the report; empty: none
  bool timing = false;
  bool verbose = false;
};

/// Reads the command line; ends the program after --help and --version.
/// \returns false after having printed what is wrong.
bool parseCommandLine(int argc, const char *const *argv,
                      DriverOptions &options);

/// All files that are written, or may be.
llvm::SmallVector<NamedFile> getWrittenFiles(const DriverOptions &options);

} // namespace loopc

#endif // LOOPC_LIB_DRIVER_COMMANDLINE_H
