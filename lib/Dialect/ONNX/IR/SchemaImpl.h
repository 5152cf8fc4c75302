//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The side of the schema adaptor that sees the onnx library.

#ifndef LOOPC_LIB_DIALECT_ONNX_IR_SCHEMAIMPL_H
#define LOOPC_LIB_DIALECT_ONNX_IR_SCHEMAIMPL_H

#include "IntegerValues.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Dialect/ONNX/IR/Schemas.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/Support/RWMutex.h"
#include <map>
#include <memory>

namespace loopc::onnx {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The library's name of a domain: "ai.onnx" is the long name of the empty one.
std::string getRegistryDomain(llvm::StringRef domain);

/// Holds `node` against its schema, its results only `withResults`. `schema` is
/// null afterwards where the node's domain has no schemas.
mlir::LogicalResult checkNode(NodeOp node, bool withResults,
                              const ::onnx::OpSchema *&schema,
                              EmitError emitError);

/// What the dialect remembers of the library's answers, so that a node is not
/// held against its schema anew by every verifier and every inference. All it
/// depends on is uniqued by the context and never changes. Any thread may ask.
class SchemaCache : public mlir::DialectInterface::Base<SchemaCache> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SchemaCache)
  explicit SchemaCache(mlir::Dialect *dialect) : Base(dialect) {}
  static SchemaCache &of(NodeOp node);

  /// The schema of a node of this operator and version, with these attributes
  /// and numbers of operands and results, that was found to be well formed;
  /// null where there was none.
  const ::onnx::OpSchema *lookup(NodeOp node) const;
  void remember(NodeOp node, const ::onnx::OpSchema &schema);
  /// The library's name of `type`; null where ONNX has no such type.
  ::onnx::DataType getDataType(mlir::Type type);

private:
  using Form = std::tuple<const void *, const void *, const void *,
                          const void *, size_t, size_t>;
  static Form getForm(NodeOp node);

  mutable llvm::sys::RWMutex mutex;
  llvm::DenseMap<Form, const ::onnx::OpSchema *> wellFormed;
  /// By the type of a collection, or a tensor's element type.
  llvm::DenseMap<mlir::Type, ::onnx::DataType> dataTypes;
};

/// What the library's inference functions see of a node. Attributes that the
/// node lacks have the schema's defaults: some functions know other ones. What
/// nobody asks for is not converted.
class NodeContext final : public ::onnx::InferenceContext {
public:
  NodeContext(NodeOp node, const ::onnx::OpSchema &schema,
              InferenceCache::Impl &cache);
  /// What `other` was made of, but every dimension and every element of a shape
  /// that is not known is `probe`.
  NodeContext(const NodeContext &other, int64_t probe);

  const ::onnx::AttributeProto *
  getAttribute(const std::string &name) const override;
  size_t getNumInputs() const override { return inputs.size(); }
  const ::onnx::TypeProto *getInputType(size_t index) const override;
  bool hasInput(size_t index) const override;
  const ::onnx::TensorProto *getInputData(size_t index) const override;
  const ::onnx::TensorShapeProto *getSymbolicInput(size_t index) const override;
  size_t getNumOutputs() const override { return outputs.size(); }
  ::onnx::TypeProto *getOutputType(size_t index) override;
  bool hasOutput(size_t index) override;
  ::onnx::GraphInferencer *
  getGraphAttributeInferencer(const std::string &name) override;
  const ::onnx::SparseTensorProto *getInputSparseData(size_t) const override {
    return nullptr;
  }
  std::string getDisplayName() const override;

  NodeOp getNode() const { return node; }
  /// Shape of tensor input `index`, or null.
  const ::onnx::TensorShapeProto *getInputShape(size_t index) const;
  /// True if a dimension of an input, or an element of a shape, is not known.
  bool hasUnknowns() const;
  /// True if the rank of an input is not known.
  bool hasUnknownRanks() const { return unknownRanks; }
  /// Another input at the end, whose value is `data`.
  void addInput(::onnx::TensorProto data);
  void addAttribute(::onnx::AttributeProto attribute);
  /// Forgets what was said of the shapes of outputs.
  void clearOutputShapes();
  /// Forgets the extents of inputs, but not their ranks.
  void clearInputExtents();
  /// Forgets what is known of inputs but their element types.
  void clearInputShapes();
  /// Takes the outputs of `other`, a context of the same node.
  void setOutputs(const NodeContext &other) { outputs = other.outputs; }

private:
  struct Input {
    bool present = false;
    ::onnx::TypeProto type;
    /// A null pointer within: there is none.
    mutable std::optional<std::shared_ptr<const ::onnx::TensorProto>> data;
    mutable std::optional<std::optional<::onnx::TensorShapeProto>> symbolic;
  };
  /// Attributes of the node that were asked for; null: ONNX has no such one.
  using Exported =
      std::map<std::string, std::unique_ptr<::onnx::AttributeProto>>;

  void exportQuantity(const Quantity &quantity,
                      ::onnx::TensorShapeProto::Dimension &dim) const;
  void noteUnknowns(const ::onnx::TypeProto &type);

  /// Mutable as operations have no const accessors.
  mutable NodeOp node;
  const ::onnx::OpSchema &schema;
  InferenceCache::Impl &cache;
  std::optional<int64_t> probe;
  bool unknownDims = false;
  bool unknownRanks = false;
  /// One for all contexts of the node.
  std::shared_ptr<Exported> exported = std::make_shared<Exported>();
  std::map<std::string, ::onnx::AttributeProto> added;
  std::vector<Input> inputs;
  std::vector<::onnx::TypeProto> outputs;
};

/// Inference for what the library does not infer, or not soundly. True if it
/// has done all there is to do for this node. May throw the library's errors.
bool inferByRule(NodeContext &context, const ::onnx::OpSchema &schema);
/// The same for operators that change shapes.
bool inferShapeByRule(NodeContext &context, const ::onnx::OpSchema &schema);
/// As many windows as strides, rounded up, are none over an axis without
/// elements; the library's quotient of a negative number counts one where they
/// are shorter than their stride.
void dropWindowsOfNothing(NodeContext &context);

} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_IR_SCHEMAIMPL_H
