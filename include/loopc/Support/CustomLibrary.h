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

} // namespace loopc

#endif // LOOPC_SUPPORT_CUSTOMLIBRARY_H
