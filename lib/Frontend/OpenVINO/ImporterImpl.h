//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Inside of the OpenVINO importer: the walk over graphs and bodies, and what
// the layers' own functions are written with.

#ifndef LOOPC_LIB_FRONTEND_OPENVINO_IMPORTERIMPL_H
#define LOOPC_LIB_FRONTEND_OPENVINO_IMPORTERIMPL_H

#include "Reader.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Frontend/GraphBuilder.h"
#include "loopc/Frontend/OpenVINO/Importer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

namespace loopc::openvino {

using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::TensorType;
using mlir::Type;
using mlir::Value;
using Ints = llvm::SmallVector<int64_t>;

class Importer;

/// The MLIR type of "f32" or "FP32"; null where there is none. Elements of nf4
/// become f32: a table says what they stand for.
Type parseElementType(llvm::StringRef name, mlir::MLIRContext &context);

/// "2,?,3" as a shape; nothing for "..." (any rank). Fails where it is none.
FailureOr<std::optional<Ints>> parseShape(llvm::StringRef text);

/// One layer on its way in. What fails says so once, and goes on with values
/// that are of no use: a function of a layer need not ask after every step.
class LayerImport {
public:
  LayerImport(Importer &importer, const Layer &layer, Location loc,
              std::string path)
      : importer(importer), layer(layer), loc(loc), path(std::move(path)) {}

  Importer &importer;
  const Layer &layer;
  Location loc;
  std::string path; ///< of what is inside: "main/Loop 'x'"
  llvm::SmallVector<Value> inputs, results;
  /// The operator, or other word, in the layer's row: which of several like
  /// ones it is.
  llvm::StringRef op;
  bool isBad = false;

  //===--- Inputs, attributes, results ------------------------------------===//

  bool has(unsigned k) const { return k < inputs.size(); }
  Value in(unsigned k);
  void set(Value value) { results.push_back(value); }
  void set(llvm::ArrayRef<Value> values) {
    llvm::append_range(results, values);
  }

  bool hasAttr(const char *name) const;
  llvm::StringRef str(const char *name, llvm::StringRef otherwise);
  /// Without `otherwise` the attribute must be there.
  int64_t integer(const char *name, std::optional<int64_t> otherwise = {});
  double number(const char *name, std::optional<double> otherwise = {});
  bool boolean(const char *name, bool otherwise);
  Ints integers(const char *name, std::optional<Ints> otherwise = {});
  llvm::SmallVector<float> numbers(const char *name);
  /// The items of attribute `name`, a list with commas.
  llvm::SmallVector<llvm::StringRef> parts(const char *name);
  /// The type that attribute `name` names.
  Type elementAttr(const char *name, llvm::StringRef otherwise);

  /// An error at the layer; of several the first is kept.
  mlir::InFlightDiagnostic fail(Diag diag = Diag::IRLayer);
  /// Fails where `value` of attribute `name` is none of `allowed`.
  void expect(const char *name, llvm::StringRef value,
              llvm::ArrayRef<llvm::StringRef> allowed);

  //===--- Types ----------------------------------------------------------===//

  static Type element(Value value) { return element(value.getType()); }
  static Type element(Type type) { return mlir::getElementTypeOrSelf(type); }
  bool isFloat(Value value) {
    return mlir::isa<mlir::FloatType>(element(value));
  }
  bool isBool(Value value) { return element(value).isInteger(1); }
  /// Rank of `value`; an error and 0 where it is not known.
  int64_t rank(Value value);
  bool isRanked(Value value);
  /// Extent of a dimension; dynamic where it is not known.
  int64_t extent(Value value, int64_t axis);
  /// `axis`, which may count from the end, of `rank`; an error where it is out
  /// of range.
  int64_t axisOf(int64_t axis, int64_t rank);
  Ints axesOf(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// The elements of an integer constant.
  std::optional<Ints> constantOf(Value value);
  /// The only element of a boolean tensor, if it is a constant, or compares
  /// integers that are known, as extents are.
  std::optional<bool> truthOf(Value value);
  /// The same; an error where it is none. `what` is for the message.
  Ints needConstant(Value value, llvm::StringRef what);

  //===--- Values ---------------------------------------------------------===//

  mlir::OpBuilder &builder();
  Value constant(mlir::ElementsAttr value);
  Value ints(llvm::ArrayRef<int64_t> values);
  Value scalarInt(int64_t value);
  /// A constant of rank 0 (of any element type).
  Value scalar(Type element, double value);
  /// `value` of the element type of `like`.
  Value scalarLike(Value like, double value) {
    return scalar(element(like), value);
  }
  Value boolean(bool value);
  Value none();

  /// A node of one output in the operator's newest version. A null input is
  /// one left out.
  Value node(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  llvm::SmallVector<Value>
  nodes(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
        llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned count);
  template <typename T>
  mlir::NamedAttribute attr(llvm::StringRef name, const T &value);
  mlir::NamedAttribute attr(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> value);

  Value cast(Value value, Type element);
  Value toI64(Value value);
  Value shapeOf(Value value) { return node("Shape", {value}); }
  /// The extent as a tensor of shape [1].
  Value extentOf(Value value, int64_t axis);
  Value concat(llvm::ArrayRef<Value> parts, int64_t axis = 0);
  /// Reshape in which 0 is 0.
  Value reshape(Value value, Value shape);
  Value reshape(Value value, llvm::ArrayRef<int64_t> shape) {
    return reshape(value, ints(shape));
  }
  Value unsqueeze(Value value, llvm::ArrayRef<int64_t> axes);
  Value squeeze(Value value, llvm::ArrayRef<int64_t> axes);
  Value transpose(Value value, llvm::ArrayRef<int64_t> order);
  Value slice(Value value, int64_t begin, int64_t end, int64_t axis,
              int64_t step = 1);
  /// Makes axes `axis` and `axis + 1` one.
  Value mergeAxes(Value value, int64_t axis);
  /// Splits `axis` into parts of `size`: the new axis of that extent is behind.
  Value splitAxis(Value value, int64_t axis, int64_t size);
  /// The one element of `value` as a tensor of rank 0.
  Value oneElement(Value value);
  /// The same as a scalar.
  Value extract(Value value);
  /// Ends the run where the scalars differ.
  void checkEqual(Value a, Value b, llvm::StringRef message);
};

/// What a layer type becomes. Bit k of `opsets` stands for opset k.
struct LayerRow {
  llvm::StringLiteral type;
  uint32_t opsets;
  void (*import)(LayerImport &);
  llvm::StringLiteral op = ""; ///< LayerImport::op
};

constexpr uint32_t opsets(std::initializer_list<unsigned> versions) {
  uint32_t bits = 0;
  for (unsigned version : versions)
    bits |= 1u << version;
  return bits;
}

llvm::ArrayRef<LayerRow> getElementwiseRows();
llvm::ArrayRef<LayerRow> getActivationRows();
llvm::ArrayRef<LayerRow> getShapeRows();
llvm::ArrayRef<LayerRow> getIndexingRows();
llvm::ArrayRef<LayerRow> getReductionRows();
llvm::ArrayRef<LayerRow> getProductRows();
llvm::ArrayRef<LayerRow> getPoolingRows();
llvm::ArrayRef<LayerRow> getNormalizationRows();
llvm::ArrayRef<LayerRow> getRecurrentRows();
llvm::ArrayRef<LayerRow> getImageRows();
llvm::ArrayRef<LayerRow> getSpaceRows();
llvm::ArrayRef<LayerRow> getVideoRows();
llvm::ArrayRef<LayerRow> getDecodingRows();

/// The row for `type` in that opset; null where there is none.
const LayerRow *findRow(llvm::StringRef type, unsigned opset);

class Importer : private GraphBuilder {
public:
  Importer(File &file, mlir::MLIRContext &context,
           const ImportOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  friend class LayerImport;
  using Values = std::vector<llvm::SmallVector<Value>>;

  //===--- Importer.cpp ---------------------------------------------------===//

  LogicalResult checkSupported();
  LogicalResult importMain();
  LogicalResult importInputs(mlir::func::FuncOp func, Values &values);
  FailureOr<Type> parameterType(const Layer &layer);
  FailureOr<Type> pinnedType(const Layer &layer, llvm::StringRef name);
  LogicalResult importOutputs(mlir::func::FuncOp func, const Values &values);
  /// Imports the layers of a graph; `values` has those of its Parameters.
  LogicalResult importGraph(const Graph &graph, llvm::StringRef path,
                            Values &values);
  LogicalResult importLayer(const Graph &graph, unsigned index,
                            llvm::StringRef path, Values &values);
  LogicalResult checkOutputs(LayerImport &l);
  Location layerLoc(llvm::StringRef path, const Layer &layer);

  //===--- Constants.cpp --------------------------------------------------===//

  Value constant(mlir::ElementsAttr value) {
    return sharedConstant(file.locAt(-1), value);
  }
  Value none() { return noneAt(file.locAt(-1)); }
  FailureOr<Value> importConst(const Layer &layer, Location loc);
  LogicalResult openWeights(Location loc);
  FailureOr<mlir::ElementsAttr> readConst(const Layer &layer, Location loc);
  FailureOr<mlir::ElementsAttr>
  readStrings(llvm::ArrayRef<char> data, RankedTensorType type, Location loc);

  //===--- Loops.cpp ------------------------------------------------------===//

  struct LoopParts;
  LogicalResult importLoop(LayerImport &l);
  LogicalResult readLoop(LoopParts &parts);
  LogicalResult readPortMap(LoopParts &parts);
  LogicalResult readInputEntry(LoopParts &parts, const MapEntry &entry);
  LogicalResult readOutputEntry(LoopParts &parts, const MapEntry &entry);
  LogicalResult readBackEdges(LoopParts &parts);
  LogicalResult addSlice(LoopParts &parts, const MapEntry &entry,
                         unsigned parameter, Value value);
  LogicalResult settleLoop(LoopParts &parts);
  LogicalResult importLoopBody(LoopParts &parts,
                               llvm::SmallVectorImpl<Type> &next);
  LogicalResult finishLoopBody(LoopParts &parts, const Values &values,
                               llvm::SmallVectorImpl<Type> &next);
  void buildLoop(LoopParts &parts);
  LogicalResult importIf(LayerImport &l);
  /// An If whose condition is known: `branch` in its place.
  LogicalResult importTaken(LayerImport &l, unsigned branch);
  LogicalResult importBranch(LayerImport &l, unsigned branch,
                             mlir::Region &region,
                             llvm::SmallVectorImpl<Value> &outputs);
  /// The body's layer that an entry or edge names; it must be of that type.
  FailureOr<unsigned> findInner(const Graph &body, int64_t id,
                                llvm::StringRef type, pugi::xml_node node);
  /// Holds a Parameter against what it gets.
  LogicalResult checkParameter(const Layer &parameter, Type type);

  //===--- State.cpp ------------------------------------------------------===//

  /// What ReadValue and Assign of one variable_id are about.
  struct Variable {
    const Layer *read = nullptr, *assign = nullptr;
    Type type;
    unsigned argument = 0, flag = 0; ///< of the function
    Value next;
  };
  LogicalResult readVariables();
  LogicalResult refuseStateIn(const Graph &graph, llvm::StringRef path);
  FailureOr<Type> variableType(const Variable &variable);
  void addStateInputs(llvm::SmallVectorImpl<Type> &types,
                      llvm::SmallVectorImpl<mlir::DictionaryAttr> &attrs);
  void addStateOutputs(llvm::SmallVectorImpl<Value> &results,
                       llvm::SmallVectorImpl<mlir::DictionaryAttr> &attrs);
  Value fitVariable(LayerImport &l, Value value, Type type,
                    llvm::StringRef what);
  LogicalResult importReadValue(LayerImport &l);
  LogicalResult importAssign(LayerImport &l);

  File &file;
  const ImportOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<llvm::MemoryBuffer> weights;
  llvm::DenseMap<const Layer *, Value> constLayers;
  uint64_t importedLayers = 0;
  llvm::MapVector<llvm::StringRef, Variable> variables;
  llvm::DenseMap<const Layer *, llvm::SmallVector<Type>> settled;
};

template <typename T>
mlir::NamedAttribute LayerImport::attr(llvm::StringRef name, const T &value) {
  return importer.attr(name, value);
}

} // namespace loopc::openvino

#endif // LOOPC_LIB_FRONTEND_OPENVINO_IMPORTERIMPL_H
