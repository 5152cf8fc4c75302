//===- ReservedNames.h - Names that no model has ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_RESERVEDNAMES_H
#define LOOPC_SUPPORT_RESERVEDNAMES_H

#include <string_view>

namespace loopc {

/// True where NAME_model or NAME_run is a function of loopc_rt.h or loopc.h:
/// such a pair in a library is not of a model.
constexpr bool isReservedModelName(std::string_view name) {
  return name == "loopc" || name == "loopc_model" || name == "loopc_session";
}

} // namespace loopc

#endif // LOOPC_SUPPORT_RESERVEDNAMES_H
