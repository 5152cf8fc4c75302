//===- Runs.cpp - Which runs of a session are going on --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runs.h"

#include <algorithm>

using namespace loopc::ort;

void Runs::begin(const OrtRunOptions *options) {
  std::lock_guard lock(mutex);
  active.push_back({std::this_thread::get_id(), options});
}

void Runs::end() {
  std::lock_guard lock(mutex);
  auto entry = std::find_if(active.rbegin(), active.rend(), [](auto &run) {
    return run.thread == std::this_thread::get_id();
  });
  if (entry != active.rend())
    active.erase(std::next(entry).base());
}

const OrtRunOptions *Runs::find() const {
  std::lock_guard lock(mutex);
  auto entry = std::find_if(active.rbegin(), active.rend(), [](auto &run) {
    return run.thread == std::this_thread::get_id();
  });
  if (entry != active.rend())
    return entry->options;
  return active.size() == 1 ? active.front().options : nullptr;
}
