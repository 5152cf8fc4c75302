//===- WeightType.h - What constant weights are stored as -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_WEIGHTTYPE_H
#define LOOPC_SUPPORT_WEIGHTTYPE_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace loopc {

/// What constant f32 weights of products of matrices are rounded to.
enum class WeightType {
  Model, ///< nothing: they stay what they are in the model
  BF16,
  F16,
  Int8, ///< with a scale for each output channel, symmetric around 0
};

/// The one of this name, "model", "bf16", "f16" or "int8"; nothing for others.
std::optional<WeightType> parseWeightType(llvm::StringRef name);

} // namespace loopc

#endif // LOOPC_SUPPORT_WEIGHTTYPE_H
