//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The loop dialect: see LoopOps.td and docs/Rationale/Loop.md.

#ifndef LOOPC_DIALECT_LOOP_IR_LOOP_H
#define LOOPC_DIALECT_LOOP_IR_LOOP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc::loop {
class LoopOp;
class YieldOp;

/// Marks what runs so seldom that nothing is done that makes it larger: the
/// general version of a loop (loop-version-shapes), the branch where a buffer
/// grows.
constexpr llvm::StringLiteral kColdAttrName = "loopc.cold";

/// Number of extents that stand for a shape, "{*}", in a check's message.
constexpr int64_t kMaxShownRank = 8;

/// A value of which each iteration gets a slice.
struct SlicePort {
  mlir::Value value;
  mlir::Type type; ///< of a slice
  int64_t axis = 0;
  bool isReverse = false;
};

/// What iterations yield, put together along an axis.
struct CollectedPort {
  mlir::Type type; ///< of all together
  int64_t axis = 0;
  bool isReverse = false;
  mlir::Value length = {}; ///< null: as many as there are iterations
};

/// All of a loop.loop but its body. Whoever makes a loop from another one takes
/// that one's signature, changes what is to be different, and builds a loop of
/// it: arguments and results follow from the ports.
struct LoopSignature {
  LoopSignature() = default;
  explicit LoopSignature(LoopOp loop);
  /// `trips` times, an i64.
  explicit LoopSignature(mlir::Value trips);

  mlir::Value tripCount, condition;      ///< null where there is none
  mlir::Type counterType, conditionType; ///< of the arguments
  llvm::SmallVector<mlir::Value> inits;  ///< of what is carried
  llvm::SmallVector<SlicePort> slices;
  llvm::SmallVector<CollectedPort> collected;
  std::optional<int64_t> sinceVersion;
  mlir::DictionaryAttr attributes; ///< discardable ones; null: none
};

/// True for an integer (or i1 where `boolean`) scalar or a tensor or memref of
/// one element of it: what counts, conditions and lengths may be.
bool isScalarLike(mlir::Type type, bool boolean);

/// The type of one iteration's value for a collected result: `type` with `axis`
/// removed; a scalar's rank-0 tensor stands for the scalar. Null if it has
/// none.
mlir::Type getCollectedElementType(mlir::Type type, int64_t axis);

/// The integer or boolean that `value` is if it is a constant of one element.
std::optional<llvm::APInt> getConstantInteger(mlir::Value value);

/// The first version of ONNX Loop whose type list holds `type`, a tensor, a
/// sequence or an optional; nothing where no version's does (loop_types).
std::optional<int64_t> getLoopTypeSince(mlir::Type type);

/// Calls the operation's verifyBody() ahead of the interfaces that follow in
/// its list of traits: see Loop_BodyVerified.
template <typename ConcreteType>
class BodyVerified
    : public mlir::OpTrait::TraitBase<ConcreteType, BodyVerified> {
public:
  static llvm::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return mlir::cast<ConcreteType>(op).verifyBody();
  }
};

} // namespace loopc::loop

#include "loopc/Dialect/Loop/IR/LoopDialect.h.inc"
#include "loopc/Dialect/Loop/IR/VersionedTypes.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/Loop/IR/LoopOps.h.inc"

#endif // LOOPC_DIALECT_LOOP_IR_LOOP_H
