//===- Repeats.h - Layers of a network that look alike ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_REPEATS_H
#define LOOPC_SUPPORT_REPEATS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace loopc {

/// Places of a sequence, from `begin` to `end`, each of which but for the first
/// `period` has the kind of the place `period` before it.
struct Repeat {
  size_t begin, end, period;
};

/// The repeat that spares most: `counts` says of each place what another one of
/// its kind is worth. `kinds` are numbers, equal for places that look alike;
/// only those from `begin` to `end` are looked at.
std::optional<Repeat> findRepeat(llvm::ArrayRef<uint64_t> kinds,
                                 llvm::ArrayRef<unsigned> counts, size_t begin,
                                 size_t end);

} // namespace loopc

#endif // LOOPC_SUPPORT_REPEATS_H
