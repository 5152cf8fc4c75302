//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The interface between convert-onnx-to-linalg and the families of lowerings:
// what one lowering sees of its node, and the table that they are found in.

#ifndef LOOPC_CONVERSION_ONNXTOLINALG_NODELOWERING_H
#define LOOPC_CONVERSION_ONNXTOLINALG_NODELOWERING_H

#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSet.h"

namespace loopc {

struct BranchDims;
using Dims = llvm::SmallVector<mlir::OpFoldResult>;

/// Lowers one onnx.node. Inputs are seen with the element types of toSignless()
/// (MLIR's arithmetic knows no others): isUnsigned() and declaredType() tell
/// what they were. A lowering
/// builds at `b`, hands over every result by setResult() and returns success,
/// or returns the failure of refuse() or unsupported(). Every attribute of the
/// node must be read: one that nobody asked for is an error.
class NodeLowering {
public:
  NodeLowering(onnx::NodeOp node, mlir::OpBuilder &builder);

  onnx::NodeOp node;
  mlir::ImplicitLocOpBuilder b;
  /// True if the order of axes is chosen later (tensor-choose-layouts), so that
  /// an operator may use the one that it is fastest with.
  bool channelsLast = false;
  /// True if many threads compute: integers of 8 bits are multiplied as they
  /// are, without their zero points, and order comes from reductions.
  bool forKernels = false;
  /// Bits of the integers that the target multiplies and sums up at once: 8
  /// (unsigned by signed) and 16, 16 alone, or 0.
  unsigned dotBits = 0;
  /// What the lowerings of other nodes have found; null where nobody keeps it.
  BranchDims *branchDims = nullptr;

  //===--------------------------------------------------------------------===//
  // Inputs and results
  //===--------------------------------------------------------------------===//

  unsigned numInputs() { return node.getInputs().size(); }
  bool has(unsigned i) { return static_cast<bool>(node.getInputOrNull(i)); }
  /// Input `i`, signless; null where it is left out.
  mlir::Value in(unsigned i);
  /// All inputs that are there.
  llvm::SmallVector<mlir::Value> allInputs();
  mlir::RankedTensorType inType(unsigned i);
  int64_t rank(unsigned i) { return inType(i).getRank(); }
  mlir::Type elementType(unsigned i) { return inType(i).getElementType(); }
  /// Element type of input `i` (result `i`) as the model has it.
  mlir::Type declaredType(unsigned i);
  mlir::Type declaredResultType(unsigned i = 0);
  /// True if input `i` has an unsigned integer (or bool) element type.
  bool isUnsigned(unsigned i);
  /// True if input `i` is there and holds strings (see getStringType).
  bool isString(unsigned i);

  unsigned numResults() { return node.getNumResults(); }
  bool hasResult(unsigned i) { return node.hasOutput(i); }
  /// Signless element type that result `i` must have.
  mlir::Type resultElementType(unsigned i = 0);
  bool isResultUnsigned(unsigned i = 0);
  /// Type of result `i` as inferred, signless; unranked where unknown.
  mlir::TensorType resultType(unsigned i = 0);
  void setResult(unsigned i, mlir::Value value);
  void setResult(mlir::Value value) { setResult(0, value); }
  mlir::Value getLoweredResult(unsigned i) { return results[i]; }

  //===--------------------------------------------------------------------===//
  // Attributes: the node's own, else the schema's default
  //===--------------------------------------------------------------------===//

  bool hasAttr(llvm::StringRef name);
  int64_t intAttr(llvm::StringRef name, int64_t fallback = 0);
  double floatAttr(llvm::StringRef name, double fallback = 0);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef fallback = "");
  /// Nothing where neither node nor schema has it.
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name);
  mlir::Attribute attr(llvm::StringRef name);
  /// Says that `name` may be there and has no influence here.
  void ignoreAttr(llvm::StringRef name) { seen.insert(name); }
  /// Attribute `name`, an axis of a value of rank `rank`, made non-negative;
  /// fails (after an error) where it is out of range.
  mlir::FailureOr<int64_t> axisAttr(llvm::StringRef name, int64_t rank,
                                    int64_t fallback = 0);
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// Axes that older versions have as attribute `name` and newer ones as
  /// constant input `input`; nothing where neither is given. Fails where the
  /// input is not a constant.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>>
  axes(llvm::StringRef name, unsigned input, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// The node breaks its operator's rules: by its attributes, by what constants
  /// hold, by extents or ranks that are known. No run can compute it. Emits
  /// "<op>: <reason>"; where perhaps no run comes to the node, that is no error
  /// of the model, and the run that does come there fails with it instead.
  mlir::LogicalResult refuse(const llvm::Twine &reason);
  /// loopc cannot lower this form of the node (a type, a rank or a number that
  /// only a run tells, an attribute), which may well be right. Emits "<op>:
  /// <reason>"; compilation fails wherever the node is.
  mlir::LogicalResult unsupported(const llvm::Twine &reason);
  /// Why no run can compute the node, if that is known: the reason of refuse(),
  /// unless unsupported() was called before, or the message of a check() that
  /// cannot hold.
  const std::optional<std::string> &getContradiction() const {
    return contradiction;
  }
  /// The run ends with `message` (each "{}" is one of `values`) where
  /// `condition` is false. The node's path is put before the message.
  void check(mlir::Value condition, const llvm::Twine &message,
             mlir::ValueRange values = {});

  //===--------------------------------------------------------------------===//
  // Constants, scalars and dimensions
  //===--------------------------------------------------------------------===//

  /// The value of input `i` where it is a constant.
  mlir::DenseElementsAttr constantInput(unsigned i);
  /// Integers of input `i` where it is a constant (any integer type).
  std::optional<llvm::SmallVector<int64_t>> constantInts(unsigned i);
  mlir::Value index(int64_t value);
  /// Of a string: the empty one.
  mlir::Value constant(mlir::Type scalarType, double value);
  mlir::Value constantInt(mlir::Type scalarType, int64_t value);
  mlir::Value asIndex(mlir::OpFoldResult value);
  /// Integer scalar or rank-0 / one-element tensor to index.
  mlir::Value toIndex(mlir::Value value, bool isUnsigned = false);
  /// The one element of a one-element (any rank) tensor, as a scalar; the run
  /// ends with an error where a dynamic shape holds another number.
  mlir::Value scalar(mlir::Value tensor);

  mlir::OpFoldResult dim(mlir::Value value, int64_t axis);
  Dims dims(mlir::Value value);
  mlir::OpFoldResult add(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult sub(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult mul(mlir::OpFoldResult x, mlir::OpFoldResult y);
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> factors);
  mlir::OpFoldResult fold(int64_t value) { return b.getIndexAttr(value); }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> dims, mlir::Type type);
  mlir::Value filled(llvm::ArrayRef<mlir::OpFoldResult> dims,
                     mlir::Value scalar);
  /// `value` with another shape of as many elements, in C order; no copy.
  mlir::Value reshape(mlir::Value value,
                      llvm::ArrayRef<mlir::OpFoldResult> dims);
  /// `value` with the axes of `permutation` (a linalg.transpose).
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// A new tensor whose element at `indices` is what `body` computes.
  mlir::Value
  generate(llvm::ArrayRef<mlir::OpFoldResult> dims, mlir::Type type,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                          mlir::ValueRange indices)>
               body);

  using ScalarBody = llvm::function_ref<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  /// Applies `body` to the elements of `inputs`, which are broadcast against
  /// each other as NumPy does: settled by the types where they are known,
  /// else at run time (equal, 1, or the run ends with an error).
  mlir::Value elementwise(mlir::ValueRange inputs, mlir::Type resultType,
                          ScalarBody body);
  /// `value` broadcast to `dims` (NumPy's rules, one direction).
  mlir::Value broadcastTo(mlir::Value value,
                          llvm::ArrayRef<mlir::OpFoldResult> dims);
  /// The dimensions that `inputs` broadcast to; emits the run-time checks.
  Dims broadcastDims(mlir::ValueRange inputs);
  /// The extent that `extents` broadcast to; emits the run-time checks, whose
  /// messages say `where`.
  mlir::OpFoldResult broadcastExtent(llvm::ArrayRef<mlir::OpFoldResult> extents,
                                     const llvm::Twine &where);

  /// A slice [offset, size, stride] of `value`; no copy.
  mlir::Value slice(mlir::Value value,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    llvm::ArrayRef<mlir::OpFoldResult> strides = {});
  /// `into` with `value`, which has not the axes `dropped`, written to a slice
  /// of it.
  mlir::Value insert(mlir::Value value, mlir::Value into,
                     llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     llvm::ArrayRef<mlir::OpFoldResult> strides = {},
                     llvm::ArrayRef<int64_t> dropped = {});

  /// Converts a scalar between element types with the meaning of ONNX Cast for
  /// numbers (float to integer truncates, out of range wraps; to bool: not 0).
  static mlir::Value castScalar(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value value, bool fromUnsigned,
                                mlir::Type to, bool toUnsigned);
  /// The type that arithmetic on `type` is done in: f32 for f16, bf16 and
  /// smaller floats, otherwise `type`.
  static mlir::Type computeType(mlir::Type type);

  /// Emits the error for attributes that no accessor asked for.
  mlir::LogicalResult checkAttributesSeen();
  /// Path of the node, for messages: "main/Loop 'decode'/body/#3 Gather 'g'".
  std::string path();

private:
  llvm::StringSet<> seen;
  llvm::SmallVector<mlir::Value> inputs; ///< what in() returned
  llvm::SmallVector<mlir::Value> results;
  std::optional<std::string> contradiction;
  bool isUnsupported = false;
};

/// The signless counterpart of an element or tensor type; that of
/// `!onnx.string` is getStringType(); sequences and optionals are lists.
mlir::Type toSignless(mlir::Type type);
/// The same elements in the type of toSignless().
mlir::ElementsAttr toSignless(mlir::ElementsAttr elements);

/// What a string is once its node is lowered: `!rt.string`, which rt.string
/// makes.
mlir::Type getStringType(mlir::MLIRContext *context);

/// One row of the table: operator versions [since, until] of a domain.
struct LoweringRow {
  llvm::StringRef domain, op;
  int64_t since, until;
  mlir::LogicalResult (*lower)(NodeLowering &);
  /// True if the lowering accepts operands of unknown rank itself.
  bool anyRank = false;
};
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

/// All rows, found by operator and version.
class LoweringTable {
public:
  /// The table of all families; made once.
  static const LoweringTable &get();
  /// Null where nothing lowers that version.
  const LoweringRow *find(llvm::StringRef domain, llvm::StringRef op,
                          int64_t since) const;
  void add(llvm::ArrayRef<LoweringRow> rows);
  const std::vector<LoweringRow> &rows() const { return all; }

private:
  std::vector<LoweringRow> all;
  llvm::StringMap<llvm::SmallVector<unsigned, 2>> byName;
};

// The families (lib/Conversion/ONNXToLinalg/<Family>.cpp).
void addElementwiseRows(LoweringTable &);
void addCumulativeRows(LoweringTable &);
void addNormalizationRows(LoweringTable &);
void addSoftmaxRows(LoweringTable &);
void addReductionRows(LoweringTable &);
void addUnaryRows(LoweringTable &);
void addCastRows(LoweringTable &);
void addShapeRows(LoweringTable &);
void addMovementRows(LoweringTable &);
void addPaddingRows(LoweringTable &);
void addIndexingRows(LoweringTable &);
void addSelectionRows(LoweringTable &);
void addCollectionRows(LoweringTable &);
void addContractionRows(LoweringTable &);
void addConvolutionRows(LoweringTable &);
void addOrderingRows(LoweringTable &);
void addPoolingRows(LoweringTable &);
void addQuantizationRows(LoweringTable &);
void addRecurrentRows(LoweringTable &);
void addStringRows(LoweringTable &);
void addTextRows(LoweringTable &);
void addRandomRows(LoweringTable &);
void addSignalRows(LoweringTable &);
void addResizeRows(LoweringTable &);
void addVisionRows(LoweringTable &);
void addTrainingRows(LoweringTable &);
void addClassicalRows(LoweringTable &);
void addLinearModelRows(LoweringTable &);
void addTreeRows(LoweringTable &);

} // namespace loopc

#endif // LOOPC_CONVERSION_ONNXTOLINALG_NODELOWERING_H
