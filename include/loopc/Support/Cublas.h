//===- Cublas.h - When cuBLAS multiplies ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_CUBLAS_H
#define LOOPC_SUPPORT_CUBLAS_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace loopc {

/// Which products of matrices on a GPU, outside of loops that are one kernel or
/// graph, are left to cuBLAS where that is installed.
enum class Cublas {
  Auto, ///< those that are known to be large
  On,   ///< all that it can do
  Off
};

/// The one of this name, "auto"; nothing for others.
std::optional<Cublas> parseCublas(llvm::StringRef name);
llvm::StringRef getName(Cublas cublas);

} // namespace loopc

#endif // LOOPC_SUPPORT_CUBLAS_H
