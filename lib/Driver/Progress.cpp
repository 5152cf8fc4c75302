//===- Progress.cpp - How far a compilation is ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Driver/Progress.h"

using namespace loopc;

namespace {
/// A timer of the compiler's, what it is called for people, and the part of the
/// work that lies behind its beginning.
struct Phase {
  llvm::StringLiteral timer;
  llvm::StringLiteral words;
  double begin;
};
} // namespace

static constexpr Phase kPhases[] = {
    {"Read", "reading", 0},
    {"Import", "reading", 0.01},
    {"Passes", "optimising", 0.03},
    {"Translate to LLVM", "optimising code", 0.4},
    {"LLVM's passes", "optimising code", 0.45},
    {"Machine code", "writing code", 0.7},
    {"Join", "writing code", 0.93},
    {"Link", "writing code", 0.95}};

void *
ProgressManager::nestTimer(void *timer, const void *id,
                           llvm::function_ref<std::string()> nameBuilder) {
  auto depth = reinterpret_cast<uintptr_t>(timer);
  // Below the phases are passes, of which one goes through others.
  constexpr uintptr_t kDeepest = 4;
  // Where other threads are there, it has begun something.
  if (owner == std::thread::id())
    owner = std::this_thread::get_id();
  if (depth < kDeepest && std::this_thread::get_id() == owner &&
      noted.insert(id).second)
    note(nameBuilder());
  return toTimer(depth + 1);
}

void ProgressManager::note(llvm::StringRef name) {
  for (const Phase &one : kPhases) {
    if (one.timer != name)
      continue;
    phase = name.str();
    listener(one.words, one.begin);
    return;
  }
  if (phase != "Passes")
    return;
  // There are more in some pipelines than in others.
  constexpr double kBegin = 0.03, kAll = 0.37, kHalf = 50;
  ++numPasses;
  listener("optimising", kBegin + kAll * numPasses / (numPasses + kHalf));
}
