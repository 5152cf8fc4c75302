//===- Options.h - Options of the execution provider ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_OPTIONS_H
#define LOOPC_LIB_ONNXRUNTIME_OPTIONS_H

#include "Api.h"

#include <string>
#include <string_view>

namespace loopc::ort {

/// The most bytes that protobuf reads.
inline constexpr size_t kMaxModelBytes = (size_t(1) << 31) - 1;

/// The provider's name, and what onnxruntime makes its options' prefix of it.
inline constexpr char kProviderName[] = "LoopcExecutionProvider";
inline constexpr char kOptionPrefix[] = "ep.loopcexecutionprovider.";

/// Which nodes the provider takes.
enum class Claim {
  Loops,   ///< loops, branches and recurrent operators
  Regions, ///< and what is little work around them
  All,     ///< all nodes, where loopc takes them all; else regions
};

struct Options {
  Claim claim = Claim::Loops;
  int optLevel = 3;
  bool fpContract = false;
  std::string cpu;      ///< "": this machine's
  std::string features; ///< beside the CPU's own
  std::string cache;    ///< "": the user's; "off": none
  std::string tier;     ///< loopc_compile_options_set_tier()
  double compileTimeout = 0;
  /// The most bytes that a model may have whose constants are all compiled.
  size_t constantLimit = kMaxModelBytes;
  int numThreads = 0;       ///< of a run; 0: see Kernel
  double timeout = 0;       ///< seconds of a run; 0: no limit
  uint64_t memoryLimit = 0; ///< bytes; 0: no limit

  /// Whether parallel loops run on onnxruntime's threads. Where these sleep
  /// behind each of them they come too late for the next one.
  bool borrowsThreads = true;

  // Those of onnxruntime's own about models with compiled code.
  bool makesContext = false;
  bool embedsContext = false;
  std::string contextFile; ///< the model that is written or read; may be ""

  /// Reads those of a session. Throws Error for one that does not exist, or a
  /// value that it cannot have.
  static Options read(const Api &api, const OrtSessionOptions *session);

  /// Throws Error where `read` would for this option.
  static void check(std::string_view name, std::string_view value);
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_OPTIONS_H
