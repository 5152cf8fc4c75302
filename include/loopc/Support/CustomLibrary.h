//===- CustomLibrary.h - Libraries of custom operators ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM: the library that runs models has none, and loads them, too.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_CUSTOMLIBRARY_H
#define LOOPC_SUPPORT_CUSTOMLIBRARY_H

#include "loopc-rt/custom.h"

#include <string>
#include <string_view>
#include <vector>

namespace loopc {

/// The words of a text, which blanks divide.
std::vector<std::string_view> splitWords(std::string_view text);

/// Loads the shared library `path` and appends its operators, which are well
/// formed, to `operators`. It stays in the process: code may call it to the
/// end.
/// \returns an empty text, or what is wrong.
std::string loadCustomLibrary(const std::string &path,
                              std::vector<const loopc_custom_op *> &operators);

/// An operator of ONNX that a library of loopc's own computes, which is loaded
/// for models that have it and for no others.
struct OwnOperator {
  const char *domain, *name;
  int64_t sinceVersion;
  const char *library; ///< file name, beside libloopc.so
  const char *symbol;  ///< of its loopc_custom_op
};

/// All of them, up to the first whose `library` is null.
const OwnOperator *getOwnOperators();

/// Loads the library of `own`: from the folder of the library or program that
/// this code is in, or from lib/ beside that folder. `path` is the file.
/// \returns an empty text, or what is wrong.
std::string loadOwnOperator(const OwnOperator &own, const loopc_custom_op *&op,
                            std::string &path);

} // namespace loopc

#endif // LOOPC_SUPPORT_CUSTOMLIBRARY_H
