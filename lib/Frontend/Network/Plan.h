//===- Plan.h - Which layer runs where --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that an output needs, sorted into scopes: the network itself, its
// loops and its conditionals. A layer is in the innermost scope that something
// it uses is in; a scope is in the scopes that what it uses is in
// (trt_membership).
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_FRONTEND_NETWORK_PLAN_H
#define LOOPC_LIB_FRONTEND_NETWORK_PLAN_H

#include "loopc/Frontend/Network/Network.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/SmallVector.h"

namespace loopc::network {

struct Scope;

/// What is run in a scope, as one: a layer, or all of a scope inside of it.
using Item = llvm::PointerUnion<const ILayer *, const Scope *>;

/// The network, a loop or a conditional.
struct Scope {
  const ILoop *loop = nullptr;
  const IIfConditional *conditional = nullptr;
  Scope *parent = nullptr;

  /// In an order in which what is used comes first, recurrences' next values
  /// apart.
  llvm::SmallVector<Item> items;

  // Of a loop: what is needed of its border.
  const ILayer *count = nullptr;
  const ILayer *whileLimit = nullptr;
  llvm::SmallVector<const ILayer *> iterators, recurrences;
  /// Of a loop or a conditional.
  llvm::SmallVector<const ILayer *> outputs;
  // Of a conditional.
  llvm::SmallVector<const ILayer *> inputs;
  const ILayer *condition = nullptr;

  /// "loop 'decode'".
  std::string describe() const;
};

/// Says what is wrong, at a layer or (null) at the network.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic(
    const ILayer *layer, Diag diag)>;

/// The plan of one network.
class Plan {
public:
  /// Fails after saying what is wrong with the network.
  static std::unique_ptr<Plan> make(const INetworkDefinition &network,
                                    EmitError emitError);

  const Scope &getTop() const { return *scopes.front(); }
  /// The scope whose layers may use `tensor` as it is: that of its layer, for
  /// an output of a loop or a conditional the one around it.
  const Scope *scopeOf(const ITensor &tensor) const;
  bool isLive(const ILayer &layer) const { return live.contains(&layer); }

  /// The items of `scope` that compute `wanted` from tensors at its border or
  /// outside of it, in order; those in `given` need not be computed.
  llvm::SmallVector<Item>
  itemsFor(const Scope &scope, llvm::ArrayRef<const ITensor *> wanted,
           const llvm::DenseSet<const ITensor *> &given = {}) const;

  /// What the item uses, but for what it computes itself.
  llvm::SmallVector<const ITensor *> inputsOf(Item item) const;

private:
  Plan(const INetworkDefinition &network, EmitError emitError)
      : network(network), emitError(emitError) {}

  bool run();
  bool checkLayers();
  bool checkLoops();
  bool checkLoop(const ILoop &loop);
  bool checkLoopOutput(const ILayer &layer);
  bool checkConditionals();
  bool checkCycles();
  bool reportCycle(llvm::ArrayRef<const ILayer *> cycle);
  void findLive();
  void markLive(const ILayer *layer);
  bool isOfDeadScope(const ILayer &layer) const;
  void findMembership();
  bool checkMembership();
  bool checkOutside(const ILayer &layer, int32_t input, Diag diag,
                    const char *what);
  bool reportNotNested(unsigned a, unsigned b);
  void buildScopes();
  void sortItems(Scope &scope);

  bool isInput(const ILayer &layer) const;
  bool isOutput(const ILayer &layer) const;
  /// Number of the scope at whose border the layer is; 0 for none.
  unsigned borderOf(const ILayer &layer) const;
  llvm::ArrayRef<const ILayer *> borderLayers(unsigned scope) const {
    return borders[scope];
  }
  llvm::SmallVector<const ILayer *> layersBefore(const ILayer &layer) const;
  /// The item of `scope` that computes `tensor`; null where that is at the
  /// border or outside.
  Item producerOf(const Scope &scope, const ITensor &tensor) const;
  unsigned innermost(const llvm::BitVector &members) const;
  std::string describe(unsigned scope) const {
    return scopes[scope]->describe();
  }

  const INetworkDefinition &network;
  EmitError emitError;
  /// The network, its loops, its conditionals.
  std::vector<std::unique_ptr<Scope>> scopes;
  /// The layers at the border of each.
  std::vector<llvm::SmallVector<const ILayer *>> borders;
  llvm::DenseSet<const ILayer *> live;
  /// The scopes that a layer's outputs are in, that a scope is in.
  std::vector<llvm::BitVector> members, around;
  llvm::DenseMap<const ILayer *, Scope *> scopeOfLayer;
};

} // namespace loopc::network

#endif // LOOPC_LIB_FRONTEND_NETWORK_PLAN_H
