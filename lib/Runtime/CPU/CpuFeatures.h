//===- CpuFeatures.h - What this CPU can do ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_CPUFEATURES_H
#define LOOPC_LIB_RUNTIME_CPU_CPUFEATURES_H

#include <stddef.h>
#include <string.h>

namespace loopc::rt {

enum class FeatureState {
  Present,
  Missing, ///< the CPU lacks it, or the operating system does not enable it
  Unknown  ///< not a feature that this runtime can look for
};

/// Looks for one of LLVM's feature names ("avx2"). Names of tuning options,
/// which change no instruction set, count as present.
FeatureState findCpuFeature(const char *name, size_t size);

/// Goes through an LLVM feature string ("+avx2,-sse4a"). \returns Present where
/// all features with a plus are; else what the first one that is not is, with
/// its name in `name`, `size`. Entries without a sign are Unknown.
FeatureState checkCpuFeatures(const char *features, const char *&name,
                              size_t &size);

/// Whether `name` is one of `entries`, of which beginnings of names end in '-'.
template <size_t count>
bool isListed(const char *const (&entries)[count], const char *name,
              size_t size) {
  for (const char *entry : entries) {
    size_t length = strlen(entry);
    bool isPrefix = entry[length - 1] == '-';
    if ((isPrefix ? size > length : size == length) &&
        memcmp(name, entry, length) == 0)
      return true;
  }
  return false;
}

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_CPUFEATURES_H
