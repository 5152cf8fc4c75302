//===- Plan.h - The bytes of an engine --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine's bytes are a shared library, behind it a JSON object, the number
// of bytes of that, and a mark. python/loopc/_tensorrt_base.py has the same.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TENSORRT_PLAN_H
#define LOOPC_LIB_TENSORRT_PLAN_H

#include "loopc/TensorRT.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace loopc::network {

/// NAME of the functions NAME_model and NAME_run of an engine's library.
inline constexpr llvm::StringLiteral kEngineSymbol = "engine";

/// What an engine is besides its library.
struct PlanInfo {
  std::string name;
  /// Of each profile by input: the smallest, usual and largest shape.
  std::vector<std::map<std::string, std::vector<Dims>>> profiles;
  /// What shapes of outputs are inferred from (loopc/Outline.h), or "".
  std::string outline;
};

std::string writePlan(llvm::StringRef library, const PlanInfo &info);

/// The library, which is a part of `plan`; nothing where `plan` is no engine.
std::optional<llvm::StringRef> readPlan(llvm::StringRef plan, PlanInfo &info);

} // namespace loopc::network

#endif // LOOPC_LIB_TENSORRT_PLAN_H
