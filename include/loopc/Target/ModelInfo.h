//===- ModelInfo.h - What a compiled model says of itself -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs and outputs of a model, from the attributes of its module:
//
//   module attributes {
//     loopc.model = "decoder",
//     loopc.inputs = [{name = "x", type = tensor<?x3xf32>, dims = ["N", ""]},
//                     {name = "n", type = tensor<i64>,
//                      default = dense<3> : tensor<i64>}],
//     loopc.outputs = [{name = "y", type = !onnx.seq<tensor<*xui8>>},
//                      {name = "p", type = tensor<?x?xf32>, dims = ["", ""],
//                       declared = tensor<?x2xf32>,
//                       declared_dims = ["N", ""]}]}
//
// What an output is `declared` to be is shown where its type says less; nothing
// else reads it.
// A state has a dictionary with `state` in both, at their ends and in the same
// order, and there a default.
//
// Types are ONNX's: signed integers are signless, bool is i1.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TARGET_MODELINFO_H
#define LOOPC_TARGET_MODELINFO_H

#include "loopc-rt/loopc_rt.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace loopc {

/// Names of the attributes above, and of the one that marks a global whose
/// bytes are a weight (any ElementsAttr).
inline constexpr llvm::StringLiteral kModelNameAttr = "loopc.model";
inline constexpr llvm::StringLiteral kInputsAttr = "loopc.inputs";
inline constexpr llvm::StringLiteral kOutputsAttr = "loopc.outputs";
inline constexpr llvm::StringLiteral kWeightAttr = "loopc.weight";

/// Set on the module of a model that runs with guarded memory.
inline constexpr llvm::StringLiteral kGuardedAttr = "loopc.guarded";
inline constexpr llvm::StringLiteral kProfiledAttr = "loopc.profiled";

/// The function that computes: int32_t (void *run, void **in, void **out).
inline constexpr llvm::StringLiteral kEntryName = "loopc_entry";

/// An input or output.
struct PortInfo {
  std::string name;
  mlir::Type type;
  /// A tensor's dimensions by name; empty where one has none. As long as the
  /// rank, or empty.
  std::vector<std::string> dims;
  /// What an input is where the caller leaves it out; null where it must be
  /// given.
  mlir::ElementsAttr absent = {};
  /// True of what a run hands to the next.
  bool isState = false;
  /// What the model declares an output to be: a hint, for people to read. Null,
  /// or of the kind and elements of `type`.
  mlir::Type declared = {};
  /// Names of the dimensions of the tensor in `declared`; one for each, or
  /// none.
  std::vector<std::string> declaredDims = {};
  /// The map that it is the keys of, or behind these, the values of; "" where
  /// it is part of none.
  std::string map = {};

  /// The port as people are shown it: what `type` and `dims` do not tell is as
  /// it is declared. Its `dims` may be those of a tensor in a collection.
  PortInfo forDisplay() const;

  /// True of a state whose default is zeros (or empty texts): they need no
  /// memory in the object.
  bool isZeroState() const;
};

/// What the table of a compiled model holds.
struct ModelInfo {
  std::string name;   ///< the model's own name, any text
  std::string symbol; ///< NAME of NAME_model and NAME_run
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  bool isGuarded = false;  ///< LOOPC_MODEL_GUARDED
  bool isProfiled = false; ///< LOOPC_MODEL_PROFILED

  /// How many of the last inputs, and outputs, are states.
  size_t getNumStates() const;
};

/// How an element type looks outside.
struct ElementTypeInfo {
  DLDataType dtype;
  int32_t onnxType;     ///< TensorProto.DataType
  llvm::StringRef name; ///< "float32"
};

/// Describes the element type of a tensor; nothing for strings and for types
/// that ONNX does not have.
std::optional<ElementTypeInfo> getElementTypeInfo(mlir::Type type);

/// Reads the attributes of `module`; `symbol`, where not empty, is NAME.
/// `fallbackName` is used for a model without a name. Reports what is wrong.
mlir::FailureOr<ModelInfo> readModelInfo(mlir::ModuleOp module,
                                         llvm::StringRef symbol,
                                         llvm::StringRef fallbackName = "");

/// True if `text` can be NAME.
bool isCIdentifier(llvm::StringRef text);

/// A C identifier that reads like `text`: other characters become '_'.
std::string makeCIdentifier(llvm::StringRef text);

/// The type of a port as users know it, and as the model declares it where less
/// is known: "float32[N, 3]", "sequence(int64[...])".
std::string formatPortType(const PortInfo &port);

} // namespace loopc

#endif // LOOPC_TARGET_MODELINFO_H
