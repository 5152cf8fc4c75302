//===- Key.h - What a compiled model is found by ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_KEY_H
#define LOOPC_LIB_CAPI_KEY_H

#include "Files.h"
#include "Impl.h"

namespace loopc::capi {

/// What this machine's CPU is and can, as far as code depends on it: bytes to
/// compare, not to read.
std::string describeCpu();

/// The compiler that this libloopc starts or loads, and this libloopc, which is
/// the runtime of what it compiles: digits made of their build ids and LLVM's.
const std::string &describeBuild();

/// All that code depends on but the model's bytes: the options, the name of the
/// model's file, the environment's LOOPC_*, `cpu` and `build`.
Hash hashSettings(const loopc_compile_options &options, std::string_view name,
                  std::string_view cpu, std::string_view build);

/// The key of a model whose bytes have the hash `model`, and of the files
/// beside it that it was compiled with.
Hash combine(const Hash &settings, const Hash &model,
             const std::vector<Hash> &files);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_KEY_H
