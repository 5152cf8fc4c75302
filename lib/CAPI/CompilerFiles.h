//===- CompilerFiles.h - Where the compiler of this library is --*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_COMPILERFILES_H
#define LOOPC_LIB_CAPI_COMPILERFILES_H

#include <string>

namespace loopc::capi {

/// Files that were built or installed together.
struct CompilerFiles {
  std::string runtime;  ///< this libloopc.so
  std::string compiler; ///< libloopc_compiler.so
  std::string program;  ///< the program loopc, which is a worker, too; or ""
};

/// Found from where this library is: in a build tree, an installed prefix, a
/// wheel.
const CompilerFiles &getCompilerFiles();

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_COMPILERFILES_H
