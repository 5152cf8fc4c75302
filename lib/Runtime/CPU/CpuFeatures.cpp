//===- CpuFeatures.cpp - What this CPU can do -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"

#include <stdint.h>
#include <string.h>

using namespace loopc::rt;

namespace {

/// Feature strings that were found to be present, so that a run compares text
/// instead of looking at the CPU. A slot is written once and never changes.
struct Approved {
  int32_t state; ///< 0 free, 1 being written, 2 valid
  char features[1020];
};
Approved approvedStrings[4];

} // namespace

static bool isApproved(const char *features) {
  for (Approved &slot : approvedStrings)
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == 2 &&
        strcmp(slot.features, features) == 0)
      return true;
  return false;
}

static void approve(const char *features) {
  size_t size = strlen(features) + 1;
  if (size > sizeof(Approved::features))
    return;
  for (Approved &slot : approvedStrings) {
    int32_t expected = 0;
    if (!__atomic_compare_exchange_n(&slot.state, &expected, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    memcpy(slot.features, features, size);
    __atomic_store_n(&slot.state, 2, __ATOMIC_RELEASE);
    return;
  }
}

FeatureState loopc::rt::checkCpuFeatures(const char *features,
                                         const char *&name, size_t &size) {
  if (!features || !*features || isApproved(features))
    return FeatureState::Present;
  for (const char *entry = features; *entry;) {
    const char *end = strchr(entry, ',');
    size_t length = end ? static_cast<size_t>(end - entry) : strlen(entry);
    // "-x" says that the code does without x; empty entries come from joins.
    if (length != 0 && *entry != '-') {
      bool isSigned = *entry == '+';
      name = entry + isSigned;
      size = length - isSigned;
      FeatureState state =
          isSigned ? findCpuFeature(name, size) : FeatureState::Unknown;
      if (state != FeatureState::Present)
        return state;
    }
    entry += length + (end != nullptr);
  }
  approve(features);
  return FeatureState::Present;
}

#if !defined(__x86_64__) && !defined(__aarch64__)
FeatureState loopc::rt::findCpuFeature(const char *, size_t) {
  return FeatureState::Unknown;
}
#endif
