//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operators that onnxruntime's optimizers and converters write (domain
// com.microsoft, and a few of the standard domain that no version of ONNX has),
// and some of ONNX's that have no body of their own: each is a function whose
// body is written for the node, in ONNX's textual syntax. What they mean:
// onnxruntime's docs/ContribOperators.md.

#ifndef LOOPC_LIB_FRONTEND_ONNX_CONTRIBOPERATORS_H
#define LOOPC_LIB_FRONTEND_ONNX_CONTRIBOPERATORS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

#include "onnx/onnx_pb.h"

namespace loopc::importer {

/// A node that a body is written for.
class ContribCall {
public:
  /// `types`: of the inputs, null where one is left out.
  ContribCall(const ::onnx::NodeProto &node, llvm::ArrayRef<mlir::Type> types)
      : node(node), types(types) {}

  bool has(unsigned input) const {
    return input < types.size() && types[input];
  }
  bool wants(int output) const {
    return output < node.output_size() && !node.output(output).empty();
  }
  unsigned getNumInputs() const { return types.size(); }

  const ::onnx::AttributeProto *getAttr(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t absent = 0) const;
  float getFloat(llvm::StringRef name, float absent) const;
  llvm::StringRef getString(llvm::StringRef name) const;

  std::optional<int64_t> getRank(unsigned input) const;
  /// Where the input's type tells it.
  std::optional<int64_t> getExtent(unsigned input, int64_t axis) const;
  /// Null where the input is no tensor or is left out.
  mlir::Type getElementType(unsigned input) const;

  /// The body cannot be written: what is wrong. For `return call.refuse(...)`.
  std::string refuse(const llvm::Twine &why) const {
    reason = why.str();
    return {};
  }
  const std::string &getReason() const { return reason; }

  /// Gives the body a value of float64 or int64 that is computed for the node.
  void addConstant(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<double> values) const;
  void addConstant(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> values) const;
  /// Constant nodes.
  llvm::ArrayRef<::onnx::NodeProto> getConstants() const { return constants; }

private:
  const ::onnx::NodeProto &node;
  llvm::ArrayRef<mlir::Type> types;
  mutable std::string reason;
  mutable std::vector<::onnx::NodeProto> constants;
};

/// One operator. Attributes, inputs and outputs are written as the header of a
/// function has them, with defaults; inputs of "..." are i0, i1 and so on.
struct ContribOperator {
  llvm::StringLiteral domain, name, attributes, inputs, outputs;
  /// The nodes of the body; empty where the call was refused.
  std::string (*body)(const ContribCall &call);
  /// The version of ONNX that the body is of.
  int opset = 23;
  /// Stands for the function of ONNX's schema, and takes more inputs.
  bool replacesSchema = false;
};

inline constexpr llvm::StringLiteral kContribDomain = "com.microsoft";

/// The operator of bodies, and of nothing else, that calls its attribute
/// 'graph', one of the node's: its nodes with the operator's inputs.
inline constexpr llvm::StringLiteral kCallDomain = "loopc.graph";
inline constexpr llvm::StringLiteral kCallOperator = "Call";
inline constexpr llvm::StringLiteral kCallGraph = "loopc.graph.Call";

/// An attribute of ReduceSum in bodies, and of nothing else: what is summed up
/// are sums of products of the same operator, which may be fused into its sum
/// as those of MatMul are (docs/Numerics.md).
inline constexpr llvm::StringLiteral kSumsProducts = "__sums_products";

/// Nodes that make `to` of input `from` of the body, or of a tensor of its
/// rank: rows of `columns` elements. One of rank 1 is one row; another number
/// of columns is an error of the run.
std::string writeRows(const ContribCall &call, llvm::StringRef from,
                      llvm::StringRef to, int64_t columns);

/// Families of operators, each in a file of its own.
llvm::ArrayRef<ContribOperator> getContribLayers();
llvm::ArrayRef<ContribOperator> getContribAttention();
llvm::ArrayRef<ContribOperator> getContribQuantized();
llvm::ArrayRef<ContribOperator> getContribRecurrent();
llvm::ArrayRef<ContribOperator> getContribStates();
llvm::ArrayRef<ContribOperator> getContribSupportVectors();
llvm::ArrayRef<ContribOperator> getContribMaps();
llvm::ArrayRef<ContribOperator> getContribTensors();
llvm::ArrayRef<ContribOperator> getContribIndexing();
llvm::ArrayRef<ContribOperator> getContribExperts();
llvm::ArrayRef<ContribOperator> getContribSearch();

/// The operator, or null.
const ContribOperator *findContribOperator(llvm::StringRef domain,
                                           llvm::StringRef name);

/// Writes the function for the call; fills `reason` and returns false where
/// there is none for these inputs and attributes. May throw what the onnx
/// library throws.
bool buildContribFunction(const ContribOperator &op, const ContribCall &call,
                          ::onnx::FunctionProto &fn, std::string &reason);

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_CONTRIBOPERATORS_H
