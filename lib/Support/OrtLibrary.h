//===- OrtLibrary.h - Libraries made for onnxruntime ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_SUPPORT_ORTLIBRARY_H
#define LOOPC_LIB_SUPPORT_ORTLIBRARY_H

#include "loopc-rt/custom.h"

#include <string>
#include <vector>

namespace loopc::ort {

/// Calls RegisterCustomOps of `library`, a handle of dlopen(), and appends
/// descriptions of the operators of the CPU that it registers to `operators`.
/// \returns an empty text, or what is wrong.
std::string registerOperators(void *library,
                              std::vector<const loopc_custom_op *> &operators);

} // namespace loopc::ort

#endif // LOOPC_LIB_SUPPORT_ORTLIBRARY_H
