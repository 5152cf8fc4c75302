//===- Regions.h - Nodes that are fused together ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// onnxruntime's interface carries tensors: what makes a sequence that a loop
// reads, and what reads one that it makes, must be fused with it. A fused node
// must not need what is computed of its own results, neither by nodes nor by
// other fused nodes.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_REGIONS_H
#define LOOPC_LIB_ONNXRUNTIME_REGIONS_H

#include "Api.h"

#include <functional>
#include <map>
#include <set>

namespace loopc::ort {

/// The nodes of a graph, and which of them are fused.
class Regions {
public:
  /// \p nodes: all of a graph, in topological order. \p readsSequences: a fused
  /// node may read the sequences that the graph is given.
  Regions(const Api &api, std::vector<const OrtNode *> nodes,
          bool readsSequences);

  bool isFused(const OrtNode *node) const;

  /// `node` and the fewest nodes around it such that tensors alone cross the
  /// border, and sequences as said above; in topological order. Throws
  /// Error(kNotImplemented) where there are none.
  std::vector<const OrtNode *> grow(const OrtNode *node) const;

  using Predicate = std::function<bool(const OrtNode *)>;

  /// The same nodes, and those around them that `isWelcome`: what only they
  /// read, and what reads them. None is added that others would have to follow.
  std::vector<const OrtNode *> widen(const std::vector<const OrtNode *> &region,
                                     const Predicate &isWelcome) const;

  /// The nodes become one, as far as later regions are concerned.
  void fuse(const std::vector<const OrtNode *> &region);

private:
  using Numbers = std::set<size_t>;

  void addProducersAndReaders(size_t number, Numbers &region) const;
  bool addBetween(Numbers &region) const;
  /// Adds what must be in the region, too.
  void complete(Numbers &region) const;
  /// Adds a node with what must follow it, where all of that is welcome.
  bool tryToAdd(size_t number, Numbers &region,
                const Predicate &isWelcome) const;
  std::vector<const OrtNode *> getNodes(const Numbers &region) const;
  Numbers getNeighbours(const Numbers &region) const;
  /// Adds what follows from `found` in the direction of `edges`, without going
  /// through `region`. Fused nodes are found together.
  void follow(const std::vector<Numbers> &edges, const Numbers &region,
              Numbers &found) const;

  /// A sequence or an optional.
  struct Collection {
    bool crossesGraph; ///< an input or an output of the graph
    Numbers nodes;     ///< that make and read it
  };

  std::vector<const OrtNode *> nodes;
  std::map<const OrtNode *, size_t> numbers;
  std::vector<Numbers> before; ///< of each node, those that it reads
  std::vector<Numbers> behind;
  std::vector<bool> makesOutput;                 ///< of the graph
  std::map<std::string, Collection> collections; ///< by name
  std::vector<std::vector<std::string>> touched; ///< collections of each node
  std::vector<bool> isTaken; ///< by another provider, when it was asked before
  std::vector<size_t> fusedAs; ///< 0, or the number of a fused node
  size_t numFused = 0;
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_REGIONS_H
