//===- Successor.h - Code that takes the place of another -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_SUCCESSOR_H
#define LOOPC_LIB_CAPI_SUCCESSOR_H

#include "Cache.h"

#include <atomic>
#include <limits>

namespace loopc::capi {

/// The optimised code of a session that has begun with code which was made
/// quickly. Another process compiles it into the cache, where runs look for it
/// now and then; no thread waits for it, so that a process may fork.
class Successor {
public:
  /// `key` is that of the optimised code, `quick` the library that the session
  /// has, which stays open as long as the session.
  Successor(Cache cache, Hash key,
            std::vector<const loopc_custom_op *> operators, void *quick)
      : cache(std::move(cache)), key(std::move(key)),
        operators(std::move(operators)), quick(quick) {}
  ~Successor();
  Successor(const Successor &) = delete;
  Successor &operator=(const Successor &) = delete;

  /// What a run that begins now runs; null: the session's own model. Any number
  /// of threads may ask.
  const loopc_model *get() {
    if (due.load(std::memory_order_relaxed) != kNever)
      look();
    return optimized.load(std::memory_order_acquire);
  }

private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void look();
  void open(const Entry &entry);
  /// Says once that there will be no optimised code, where that is so.
  void lookForFailure(int64_t now);

  Cache cache;
  Hash key;
  std::vector<const loopc_custom_op *> operators;
  void *quick;
  void *library = nullptr;
  std::atomic<const loopc_model *> optimized = nullptr;
  /// When to look next, in nanoseconds of the steady clock.
  std::atomic<int64_t> due = 0;
  /// When to look next for what went wrong; of the thread that looks.
  int64_t failureDue = 0;
};

/// Whether the last compilation in the background to this key, in the cache of
/// this folder, has ended without code (Tiers.cpp).
bool hasFailedInBackground(const std::string &folder, const Hash &key);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_SUCCESSOR_H
