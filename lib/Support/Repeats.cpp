//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Repeats.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

/// Places behind one another that are looked up together: of fewer there are
/// many in one layer.
static constexpr size_t kLooked = 6;
/// Occurrences before that a place is compared with: as many as one layer may
/// have, so that its own one in the layer before is among them.
static constexpr size_t kBefore = 6;
/// Distances that are tried.
static constexpr size_t kMaxTried = 12;

/// Distances between places that look alike, the most frequent ones first, and
/// of these the shortest.
static SmallVector<size_t> findDistances(ArrayRef<uint64_t> kinds, size_t begin,
                                         size_t end) {
  DenseMap<uint64_t, SmallVector<size_t, kBefore>> last;
  MapVector<size_t, unsigned> votes;
  for (size_t at = begin; at + kLooked <= end; ++at) {
    auto code = static_cast<uint64_t>(
        size_t(hash_combine_range(kinds.slice(at, kLooked))));
    // The last bits are kept from a map's own keys.
    SmallVector<size_t, kBefore> &before = last[code >> 2];
    for (size_t place : before)
      ++votes[at - place];
    if (before.size() == kBefore)
      before.erase(before.begin());
    before.push_back(at);
  }
  SmallVector<std::pair<size_t, unsigned>> sorted(votes.begin(), votes.end());
  stable_sort(sorted, [](const auto &one, const auto &other) {
    return one.second != other.second ? one.second > other.second
                                      : one.first < other.first;
  });
  SmallVector<size_t> found;
  for (auto [distance, count] :
       ArrayRef(sorted).take_front(std::min(sorted.size(), kMaxTried)))
    found.push_back(distance);
  return found;
}

std::optional<loopc::Repeat> loopc::findRepeat(ArrayRef<uint64_t> kinds,
                                               ArrayRef<unsigned> counts,
                                               size_t begin, size_t end) {
  std::optional<Repeat> best;
  uint64_t most = 0;
  for (size_t period : findDistances(kinds, begin, end)) {
    uint64_t spared = 0;
    for (size_t at = begin + period, first = at; at < end; ++at) {
      if (kinds[at] != kinds[at - period]) {
        first = at + 1;
        spared = 0;
        continue;
      }
      spared += counts[at];
      if (spared > most && at + 1 - first >= period) {
        most = spared;
        best = Repeat{first - period, at + 1, period};
      }
    }
  }
  return best;
}
