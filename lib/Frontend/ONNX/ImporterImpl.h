//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inside of the ONNX importer: a model with its files, the scopes that names
// are found in, and the walk over graphs, bodies and functions.

#ifndef LOOPC_LIB_FRONTEND_ONNX_IMPORTERIMPL_H
#define LOOPC_LIB_FRONTEND_ONNX_IMPORTERIMPL_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Frontend/GraphBuilder.h"
#include "loopc/Frontend/ONNX/Importer.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include <deque>
#include <memory>

// After MLIR's headers: protobuf's have macros of common names.
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"

namespace loopc::importer {

namespace pb = ::onnx;
using mlir::failure;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// A parsed model and whatever its weights lie in. Weights keep it alive.
struct LoadedModel {
  std::string path;   ///< as locations name it
  std::string folder; ///< where external data may lie; empty: nowhere
  pb::ModelProto proto;
  /// The file, mapped, where the model was read from a large one, and the raw
  /// data that was left in it.
  std::unique_ptr<llvm::MemoryBuffer> file;
  llvm::DenseMap<const pb::TensorProto *, llvm::ArrayRef<char>> mappedData;
  /// Mapped files of external data, by location.
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
  /// Function bodies that schemas made for one node each.
  std::deque<pb::FunctionProto> built;
};
using ModelRef = std::shared_ptr<LoadedModel>;

/// Reads and parses; emits an error where it is no model.
FailureOr<ModelRef> loadFile(llvm::StringRef path, mlir::MLIRContext &context,
                             const ImportOptions &options);
FailureOr<ModelRef> loadBytes(llvm::StringRef name, llvm::StringRef bytes,
                              mlir::MLIRContext &context,
                              const ImportOptions &options);

/// "" for "ai.onnx".
llvm::StringRef normalizeDomain(llvm::StringRef domain);

/// Domain to version, from opset imports; emits an error for versions that
/// are not known.
LogicalResult
readOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &,
           Location loc, llvm::StringMap<int64_t> &opsets);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Turns tensors of a model into attributes; each one once.
class TensorImporter {
public:
  TensorImporter(ModelRef model, mlir::MLIRContext *context)
      : model(std::move(model)), context(context) {}

  /// The tensor must be part of the model, or of a body that was built for it:
  /// large data is referred to, not copied.
  FailureOr<mlir::ElementsAttr> import(const pb::TensorProto &tensor,
                                       Location loc);
  FailureOr<mlir::ElementsAttr> import(const pb::SparseTensorProto &tensor,
                                       Location loc);

private:
  struct Bytes;
  mlir::LogicalResult checkFields(const pb::TensorProto &, Location);
  FailureOr<mlir::RankedTensorType> typeOf(const pb::TensorProto &, Location);
  LogicalResult findBytes(const pb::TensorProto &, mlir::RankedTensorType,
                          Location, Bytes &);
  LogicalResult findExternal(const pb::TensorProto &, uint64_t needed, Location,
                             Bytes &bytes);
  FailureOr<llvm::MemoryBuffer *> openExternal(llvm::StringRef location,
                                               llvm::StringRef tensorName,
                                               Location loc);
  LogicalResult findTyped(const pb::TensorProto &, mlir::RankedTensorType,
                          Location, Bytes &);
  LogicalResult findNarrow(const pb::TensorProto &, mlir::RankedTensorType,
                           Location, Bytes &);
  FailureOr<mlir::ElementsAttr> makeAttr(mlir::RankedTensorType type,
                                         Bytes bytes, llvm::StringRef name,
                                         Location loc);

  ModelRef model;
  mlir::MLIRContext *context;
};

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

struct Scope;
struct Frame;

/// An attribute of a node, and where its graphs and references belong: a graph
/// that was handed to a function sees the names of the place it was written at.
struct NodeAttr {
  const pb::AttributeProto *proto = nullptr;
  Frame *frame = nullptr;
  Scope *scope = nullptr;
};

/// The main graph or one call of a function: versions and attributes.
struct Frame {
  llvm::StringMap<int64_t> opsets;
  llvm::StringMap<NodeAttr> attributes;
  /// What nodes of a function of the model may refer to: its attributes, with
  /// or without a value.
  llvm::StringSet<> parameters;
  /// Of a function that an operator stands for, which is not the model's fault.
  bool isSchemas = false;
  /// Of a function that was written for an operator of onnxruntime.
  bool isContrib = false;
};

/// The names of one graph. Innermost first (name_scope).
struct Scope {
  explicit Scope(Scope *parent, const pb::GraphProto *graph = nullptr)
      : parent(parent), graph(graph) {}
  Scope *parent;               ///< null for the main graph and functions
  const pb::GraphProto *graph; ///< null in a function
  /// True for a body that a schema made from a node with graphs: it sees the
  /// names around the node, as those graphs do, but may take them itself.
  bool mayRepeat = false;
  /// A null value is an optional input of a function that was left out.
  llvm::StringMap<Value> values;
  llvm::StringMap<const pb::TensorProto *> initializers;
  llvm::StringMap<const pb::SparseTensorProto *> sparseInitializers;
};

/// A node on its way in.
struct NodeContext {
  const pb::NodeProto &node;
  Frame &frame;
  Scope &scope;
  std::string graphPath; ///< "main/Loop 'decode'/body"
  unsigned index;
  llvm::StringRef domain; ///< "" for ai.onnx
  int64_t opset = 0;      ///< 0 where the domain has no opset import
  int64_t since = 0;
  const pb::OpSchema *schema = nullptr;
  Location loc;

  bool hasGraphs() const;

  /// "main/Loop 'decode'/body/Scan 'x'": what is inside of this node.
  std::string innerPath() const;
};

/// What becomes of a node.
enum class NodeKind {
  Control,         ///< Constant, If, Loop, Scan, SequenceMap
  LocalFunction,   ///< expanded from the model's functions
  Lowered,         ///< an onnx.node
  SchemaFunction,  ///< expanded from its schema
  ContextFunction, ///< expanded from a body that its schema makes for it
  GraphCall,       ///< a graph that a ContribFunction's node has
  ContribFunction, ///< an operator of onnxruntime: a body is written for it
  Unsupported,
};

/// `type` with all shapes in it unknown.
Type forgetShape(Type type);

/// True if both are the same but for shapes.
bool sameButShape(Type a, Type b);

//===----------------------------------------------------------------------===//
// The importer
//===----------------------------------------------------------------------===//

class Importer : private GraphBuilder {
public:
  Importer(ModelRef model, mlir::MLIRContext &context,
           const ImportOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;

  //===--- Maps.cpp -------------------------------------------------------===//

  /// Makes inputs, outputs and nodes of the main graph that are maps, or read
  /// them, those of their keys and values.
  LogicalResult splitMaps();
  /// Adds the names of inputs that were maps to `maps`.
  LogicalResult splitMapInputs(llvm::StringSet<> &maps);

  //===--- Importer.cpp: graphs and nodes ---------------------------------===//

  LogicalResult importMain();
  LogicalResult importInputs(mlir::func::FuncOp func, Scope &scope);
  LogicalResult checkPortName(llvm::StringRef name, llvm::StringRef kind);
  /// The initializer of an input of the model; null where it has none.
  FailureOr<mlir::ElementsAttr> defaultOf(Scope &scope, llvm::StringRef name);
  LogicalResult checkDefault(llvm::StringRef name, Type type,
                             mlir::ElementsAttr value);
  FailureOr<Type> inputType(const pb::ValueInfoProto &input,
                            llvm::SmallVectorImpl<mlir::Attribute> &dimNames);
  LogicalResult importOutputs(mlir::func::FuncOp func, Scope &scope);
  LogicalResult checkPins(Location loc);
  LogicalResult addInitializers(const pb::GraphProto &graph, Scope &scope,
                                bool inputsWin, Location loc);
  LogicalResult importNodes(const NodeList &nodes, Frame &frame, Scope &scope,
                            llvm::StringRef path);
  LogicalResult importNode(const pb::NodeProto &node, unsigned index,
                           Frame &frame, Scope &scope, llvm::StringRef path);
  LogicalResult importGenericNode(NodeContext &nc);
  LogicalResult importConstant(NodeContext &nc);
  FailureOr<mlir::ElementsAttr> constantValue(NodeContext &nc,
                                              const pb::AttributeProto &attr);

  /// Location "path/#index op 'name' (opset n)".
  Location nodeLoc(llvm::StringRef path, unsigned index,
                   const pb::NodeProto &node, std::optional<int64_t> opset);
  /// Location of a place that is no node: "main".
  Location pathLoc(llvm::StringRef path);

  /// The value of `name`, null for "" and what was left out. Fails where there
  /// is none, `what` saying who asked.
  FailureOr<Value> lookup(Scope &scope, llvm::StringRef name, Location loc,
                          const llvm::Twine &what);
  static bool isVisible(Scope &scope, llvm::StringRef name);
  /// Names a node's output (name_shadow).
  LogicalResult define(NodeContext &nc, llvm::StringRef name, Value value);
  /// Names outputs of the node; more outputs than values are an error
  /// (name_outputs).
  LogicalResult defineOutputs(NodeContext &nc, mlir::ValueRange values);
  /// All inputs, null where left out.
  LogicalResult lookupInputs(NodeContext &nc,
                             llvm::SmallVectorImpl<Value> &inputs);

  /// The attribute with references to function attributes followed; its
  /// proto is null where the node does not have it.
  NodeAttr getAttr(NodeContext &nc, llvm::StringRef name);
  NodeAttr resolve(const pb::AttributeProto &attr, Frame &frame, Scope &scope);
  /// That references have something to refer to, and attributes hold nothing
  /// but a value of their kind.
  LogicalResult checkValues(NodeContext &nc);
  /// Refuses attributes that the schema does not have, ones that are there
  /// twice, and ones of the wrong kind.
  LogicalResult checkAttributes(NodeContext &nc);
  FailureOr<const pb::GraphProto *>
  getGraph(NodeContext &nc, llvm::StringRef name, NodeAttr &attr);
  FailureOr<llvm::SmallVector<int64_t>>
  getInts(NodeContext &nc, llvm::StringRef name, size_t count);
  FailureOr<mlir::DictionaryAttr> convertAttributes(NodeContext &nc);

  /// The constant of a TensorProto or a SparseTensorProto, made once.
  template <typename Proto>
  FailureOr<Value> constant(const Proto &tensor, Location loc);
  Value none();
  /// What the graph declares for a value, where operators do not tell.
  Type declaredType(const Scope &scope, llvm::StringRef name);
  /// Creates an onnx.node of one output that the importer itself needs, and
  /// infers its type.
  FailureOr<Value> makeNode(NodeContext &nc, llvm::StringRef opType,
                            mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::NamedAttribute> attrs = {});

  //===--- Loops.cpp: control flow ----------------------------------------===//

  LogicalResult importIf(NodeContext &nc);
  LogicalResult importLoop(NodeContext &nc);
  /// Warns of loops that onnxruntime ends where the body yields false, and that
  /// ONNX does not end there (loop_cond_ignored).
  void warnOfIgnoredConditions();
  LogicalResult importScan(NodeContext &nc);
  LogicalResult importSequenceMap(NodeContext &nc);
  /// Inlines the graph that a body written for the node's operator calls.
  LogicalResult importGraphCall(NodeContext &nc);
  /// The length of all sequences among `inputs`; checked to be one at run time.
  FailureOr<Value> commonLength(NodeContext &nc, llvm::ArrayRef<Value> inputs);
  /// The body of the loop for a SequenceMap, and the types that it carries.
  LogicalResult importMapBody(NodeContext &nc, const pb::GraphProto &graph,
                              const NodeAttr &attr,
                              llvm::ArrayRef<Value> inputs,
                              mlir::Region &region,
                              llvm::SmallVectorImpl<Type> &types);
  struct LoopParts;
  LogicalResult readLoop(NodeContext &nc, LoopParts &parts);
  /// Trip count, condition, and the types of what the body sees of them.
  LogicalResult readLoopBounds(NodeContext &nc, LoopParts &parts);
  LogicalResult settleLoopTypes(NodeContext &nc, LoopParts &parts);
  /// Joins the types of the carried values with what the body yields into
  /// `next`; where they are the same, writes the yield.
  LogicalResult finishLoopBody(NodeContext &nc, LoopParts &parts,
                               llvm::ArrayRef<Value> outputs,
                               llvm::SmallVectorImpl<Type> &next);
  LogicalResult buildLoop(NodeContext &nc, LoopParts &parts);
  struct ScanParts;
  LogicalResult readScan(NodeContext &nc, ScanParts &parts);
  LogicalResult findScanArguments(NodeContext &nc, ScanParts &parts);
  LogicalResult checkSequenceLengths(NodeContext &nc, ScanParts &parts);
  LogicalResult finishScanBody(NodeContext &nc, ScanParts &parts,
                               llvm::ArrayRef<Value> outputs);

  /// Imports the nodes of a graph at the insertion point, its inputs being
  /// `inputs`, and finds its outputs.
  LogicalResult importGraph(NodeContext &nc, const pb::GraphProto &graph,
                            const NodeAttr &attr, llvm::StringRef name,
                            mlir::ValueRange inputs,
                            llvm::SmallVectorImpl<Value> &outputs);
  /// Imports a body into `region`, whose block gets `arguments`. On success the
  /// builder's insertion point is the end of that block only within
  /// `finish`, which gets the values of the outputs.
  LogicalResult importBody(
      NodeContext &nc, const pb::GraphProto &graph, const NodeAttr &attr,
      llvm::StringRef name, mlir::TypeRange arguments, mlir::Region &region,
      llvm::function_ref<LogicalResult(llvm::SmallVectorImpl<Value> &)> finish);
  /// Holds a declared type against what a body input gets (name_declared).
  LogicalResult checkDeclared(NodeContext &nc, llvm::StringRef body,
                              const pb::ValueInfoProto &info, unsigned index,
                              Type type);
  /// The declared type; null where there is none or it cannot be expressed.
  Type declaredType(const pb::ValueInfoProto &info);

  /// The one element of `value` as a scalar; checked at run time where types
  /// leave it open. `what` is for messages.
  FailureOr<Value> oneElement(NodeContext &nc, Value value, Type elementType,
                              Diag diag, llvm::StringRef what);
  /// `value` as `type`, a tensor of one element of rank 0 or 1.
  FailureOr<Value> oneElementTensor(NodeContext &nc, Value value,
                                    mlir::RankedTensorType type, Diag diag,
                                    llvm::StringRef what);
  /// `value` as `type`, a tensor type, what types leave open being checked at
  /// run time.
  FailureOr<Value> castChecked(NodeContext &nc, Value value, Type type,
                               const llvm::Twine &what);
  /// Ends the run with `message` where `condition` does not hold.
  void check(NodeContext &nc, Value condition, const llvm::Twine &message,
             mlir::ValueRange values);
  /// Holds a type against those that the schema gives for the node's outputs.
  LogicalResult checkVersionAllows(NodeContext &nc, Type type,
                                   const llvm::Twine &what);

  //===--- Functions.cpp: what is expanded --------------------------------===//

  /// Walks everything that is known before types are: finds missing opset
  /// imports, recursive functions, all operators that loopc does not have, and
  /// functions that call others so often that there is no sense in it. Each
  /// function is walked once. `count` grows by the nodes that the import will
  /// at least come to.
  LogicalResult scanModel();
  LogicalResult scanNodes(const NodeList &nodes, Frame &frame,
                          llvm::StringRef path, unsigned level,
                          uint64_t &count);
  LogicalResult scanFunction(NodeContext &nc, const pb::FunctionProto &fn,
                             bool isLocal, unsigned level, uint64_t &count);
  /// Resolves opset, version and schema of the node.
  FailureOr<NodeKind> classifyNode(NodeContext &nc);
  const pb::FunctionProto *findLocalFunction(const pb::NodeProto &node);
  LogicalResult readFunctionOpsets(NodeContext &nc, const pb::FunctionProto &fn,
                                   bool isLocal, Frame &frame);
  /// Opset imports and attributes for a call of `fn` by the node; `isLocal`: it
  /// is a function of the model, not of a schema.
  LogicalResult makeFunctionFrame(NodeContext &nc, const pb::FunctionProto &fn,
                                  bool isLocal, Frame &frame);
  LogicalResult expandFunction(NodeContext &nc, const pb::FunctionProto &fn,
                               bool isLocal);
  LogicalResult expandSchemaFunction(NodeContext &nc);
  LogicalResult expandContextFunction(NodeContext &nc);
  LogicalResult expandContribFunction(NodeContext &nc);
  /// Writes the function of a node for inputs of these types; else `reason`
  /// says why there is none.
  using BuildFunction = llvm::function_ref<bool(
      const pb::NodeProto &node, llvm::ArrayRef<mlir::Type> types,
      pb::FunctionProto &fn, std::string &reason)>;
  LogicalResult expandBuilt(NodeContext &nc, BuildFunction build, bool isLocal);
  /// The node as it would stand outside of any function: references to
  /// attributes followed, inputs that were left out having no name.
  pb::NodeProto standAlone(NodeContext &nc, llvm::ArrayRef<Value> inputs);
  /// Fails with `what` the operator has no body for, and with `reason` if there
  /// is one.
  LogicalResult refuseExpansion(NodeContext &nc, llvm::StringRef reason);
  void addUnsupported(const NodeContext &nc);
  /// Emits one error for every operator that was found; fails if there is one.
  LogicalResult reportUnsupported();

  //===--------------------------------------------------------------------===//

  ModelRef model;
  ImportOptions options;
  TensorImporter tensors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Location fileLoc;

  /// Names of the keys and the values of maps, to those of the maps.
  llvm::StringMap<std::string> mapOfPort;

  llvm::DenseMap<const void *, Value> constantOf;

  llvm::StringMap<const pb::FunctionProto *> localFunctions;
  /// Functions that were scanned, and the nodes that a call expands to.
  llvm::DenseMap<const pb::FunctionProto *, uint64_t> scanned;
  llvm::SetVector<const pb::FunctionProto *> active;
  unsigned depth = 0;
  /// Nodes that were imported so far, those of a body as often as its types
  /// took to settle; and how many there may be.
  uint64_t importedNodes = 0;
  static constexpr uint64_t kMaxNodes = 1 << 19;
  /// Types of the carried values that a loop ended with.
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<Type>> settledTypes;

  /// An operator that loopc does not have, and the nodes that use it.
  struct Unsupported {
    Diag diag = Diag::UnsupportedOperator;
    llvm::MapVector<Location, bool> places;
  };
  llvm::MapVector<mlir::StringAttr, Unsupported> unsupported;
};

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_IMPORTERIMPL_H
