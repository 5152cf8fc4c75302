//===- WeightType.cpp - What constant weights are stored as ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/WeightType.h"

#include "llvm/ADT/StringSwitch.h"

using namespace loopc;

std::optional<WeightType> loopc::parseWeightType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<WeightType>>(name)
      .Case("model", WeightType::Model)
      .Case("bf16", WeightType::BF16)
      .Case("f16", WeightType::F16)
      .Case("int8", WeightType::Int8)
      .Default(std::nullopt);
}
