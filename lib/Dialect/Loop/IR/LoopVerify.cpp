//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Verifiers of loop.loop, loop.scan and the loop.yield in them.
//
// verify() looks at operands, results and attributes, and at the body only so
// far as everything after it needs: the number of its arguments and what
// operation ends it. It runs before the body's operations are verified, so it
// asks nothing of the yield. verifyBody() runs when they are: see BodyVerified.
//
// loop_capture has no check: the body may name any value outside, which is what
// dominance says, and no operation on these values changes one.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace loopc::loop;

#include "loopc/Dialect/Loop/IR/VersionedTypes.cpp.inc"

//===----------------------------------------------------------------------===//
// Type lists of the ONNX versions (loop_types)
//===----------------------------------------------------------------------===//

/// The first version of Loop, If and Scan whose lists hold tensors of `type`;
/// nothing where no version does.
static std::optional<int64_t> getElementSince(Type type) {
  if (auto versioned = dyn_cast<VersionedTypeInterface>(type))
    return versioned.getFirstLoopVersion();
  if (isa<loopc::rt::StringType, Float16Type, Float32Type, Float64Type>(type))
    return 1;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (isa<Float32Type, Float64Type>(complex.getElementType()))
      return 1;
    return std::nullopt;
  }
  if (isa<BFloat16Type>(type))
    return 16;
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type,
          Float8E5M2FNUZType>(type))
    return 19;
  if (isa<Float4E2M1FNType>(type))
    return 23;
  if (isa<Float8E8M0FNUType>(type))
    return 24;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return integer.isSignless() ? std::optional<int64_t>(1) : std::nullopt;
  case 2:
    return 25;
  case 4:
    return 21;
  case 8:
  case 16:
  case 32:
  case 64:
    return 1;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> loopc::loop::getLoopTypeSince(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return getElementSince(tensor.getElementType());
  auto versioned = dyn_cast<VersionedTypeInterface>(type);
  return versioned ? versioned.getFirstLoopVersion() : std::nullopt;
}

/// Holds `type` to the list of `since`. Scalars, memrefs and whatever else
/// passes made of ONNX's values are in no list and are let through.
static LogicalResult verifyTypeSince(Operation *op, const Twine &what,
                                     Type type, std::optional<int64_t> since) {
  if (!since || !isa<TensorType, VersionedTypeInterface>(type))
    return success();
  std::optional<int64_t> first = getLoopTypeSince(type);
  if (!first)
    return op->emitOpError()
           << what << ": type " << type << " is in the type list of no version";
  if (*first > *since)
    return op->emitOpError()
           << what << ": type " << type << " needs version " << *first
           << " but the operation is of version " << *since;
  return success();
}

static LogicalResult verifyVersion(Operation *op, std::optional<int64_t> since,
                                   ArrayRef<int64_t> versions) {
  if (!since || llvm::is_contained(versions, *since))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "'since_version' is " << *since
                                              << " but the versions are ";
  llvm::interleaveComma(versions, diag);
  return diag;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// An attribute with one element for each of `count` things.
template <typename Array>
static LogicalResult verifyLength(Operation *op, StringRef name, Array array,
                                  size_t count, StringRef things) {
  if (array.size() == count)
    return success();
  return op->emitOpError() << "'" << name << "' has " << array.size()
                           << " elements but there are " << count << " "
                           << things;
}

/// The number of arguments of the body, `expected`, of which `parts` tells what
/// they are; and the operation at its end.
static LogicalResult verifyBodyShape(Operation *op, Block &body,
                                     unsigned expected, const Twine &parts) {
  if (body.getNumArguments() != expected)
    return op->emitOpError()
           << "body has " << body.getNumArguments() << " arguments, expected "
           << expected << ": " << parts;
  if (isa<YieldOp>(body.back()))
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "body must end in 'loop.yield' but ends in '"
                            << body.back().getName() << "'";
  diag.attachNote(body.back().getLoc()) << "ends here";
  return diag;
}

/// `whole`, of which each iteration reads or writes a piece `one` that lacks
/// `axes`. Axes may be negative where `fromEnd`.
static LogicalResult verifyPiece(Operation *op, const Twine &what, Type whole,
                                 ArrayRef<int64_t> axes, bool fromEnd,
                                 const Twine &oneName, Type one,
                                 std::optional<Location> note) {
  auto shaped = dyn_cast<ShapedType>(whole);
  if (!isa<TensorType, BaseMemRefType>(whole))
    return op->emitOpError() << what << ": has type " << whole
                             << " but must be a tensor or a memref";
  int64_t rank =
      shaped.hasRank() ? shaped.getRank() : std::numeric_limits<int64_t>::max();
  SmallVector<bool> removed(shaped.hasRank() ? rank : 0, false);
  // Until the rank is known an axis that counts from the end stays so.
  fromEnd |= !shaped.hasRank();
  for (int64_t axis : axes) {
    if (axis >= rank || axis < (fromEnd ? -rank : 0))
      return op->emitOpError() << what << ": axis " << axis
                               << " is out of range for type " << whole;
    if (shaped.hasRank())
      removed[axis < 0 ? axis + rank : axis] = true;
  }
  auto fail = [&]() {
    InFlightDiagnostic diag = op->emitOpError()
                              << what << ": " << oneName << " has type " << one
                              << " but an iteration's part is " << whole;
    if (axes.size() == 1)
      diag << " without axis " << axes[0];
    else
      diag << " without axes 0 and 1";
    if (note)
      diag.attachNote(*note) << "yielded here";
    return diag;
  };
  if (getElementTypeOrSelf(one) != shaped.getElementType())
    return fail();
  SmallVector<int64_t> shape;
  for (auto [dim, gone] : llvm::zip(
           shaped.hasRank() ? shaped.getShape() : ArrayRef<int64_t>(), removed))
    if (!gone)
      shape.push_back(dim);
  auto part = dyn_cast<ShapedType>(one);
  if (!part) // A scalar stands for its tensor of rank 0.
    return shaped.hasRank() && !shape.empty() ? LogicalResult(fail())
                                              : success();
  if (isa<TensorType>(part) != isa<TensorType>(whole) ||
      !isa<TensorType, BaseMemRefType>(part))
    return fail();
  if (!shaped.hasRank() || !part.hasRank() ||
      succeeded(verifyCompatibleShape(shape, part.getShape())))
    return success();
  return fail();
}

/// The numbers of the operands of `yield`, which are checked before anything
/// reads them one by one.
static LogicalResult verifyYieldCounts(Operation *op, YieldOp yield,
                                       size_t carried, StringRef carriedName,
                                       size_t collected) {
  auto fail = [&](size_t found, size_t expected, const Twine &what) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "'loop.yield' gives " << found << " " << what
                              << " but the loop has " << expected;
    diag.attachNote(yield.getLoc()) << "yielded here";
    return diag;
  };
  if (yield.getCarried().size() != carried)
    return fail(yield.getCarried().size(), carried, carriedName);
  if (yield.getCollected().size() != collected)
    return fail(yield.getCollected().size(), collected, "collected values");
  return success();
}

/// The type of a yielded carried value, or state, against the init's.
static LogicalResult verifyYielded(Operation *op, const Twine &what, Value init,
                                   YieldOp yield, OpOperand &yielded) {
  Type expected = init.getType();
  if (yielded.get().getType() == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << what << ": body argument has type " << expected
                            << " but 'loop.yield' operand #"
                            << yielded.getOperandNumber() << " has type "
                            << yielded.get().getType();
  diag.attachNote(yield.getLoc()) << "yielded here";
  return diag;
}

/// An integer or boolean scalar, or something of one element.
static LogicalResult verifyScalar(Operation *op, const Twine &what, Type type,
                                  bool boolean) {
  if (isScalarLike(type, boolean))
    return success();
  return op->emitOpError() << what << " has type " << type << " but must be "
                           << (boolean ? "a boolean" : "an integer")
                           << " scalar, or have one element";
}

//===----------------------------------------------------------------------===//
// LoopOp
//===----------------------------------------------------------------------===//

/// Trip count, condition, and as many attributes' elements as there are ports.
static LogicalResult verifyPorts(LoopOp op) {
  // loop_m
  if (Value trips = op.getTripCount())
    if (failed(verifyScalar(op, "trip count", trips.getType(), false)))
      return failure();
  // loop_cond
  if (Value condition = op.getCondition())
    if (failed(verifyScalar(op, "condition", condition.getType(), true)))
      return failure();
  // loop_results
  if (op.getNumResults() < op.getNumCarried())
    return op.emitOpError()
           << "has " << op.getNumResults() << " results but carries "
           << op.getNumCarried() << " values";
  size_t slices = op.getSlices().size(), collected = op.getNumCollected();
  if (failed(verifyLength(op, "slice_axes", op.getSliceAxes(), slices,
                          "slices")) ||
      failed(verifyLength(op, "slice_reverse", op.getSliceReverse(), slices,
                          "slices")) ||
      failed(verifyLength(op, "collect_axes", op.getCollectAxes(), collected,
                          "collected values")) ||
      failed(verifyLength(op, "collect_reverse", op.getCollectReverse(),
                          collected, "collected values")) ||
      failed(verifyLength(op, "collect_has_length", op.getCollectHasLength(),
                          collected, "collected values")))
    return failure();
  // loop_collect_length
  size_t lengths = llvm::count(op.getCollectHasLength(), true);
  if (lengths != op.getLengths().size())
    return op.emitOpError()
           << "has " << op.getLengths().size() << " lengths but "
           << "'collect_has_length' names " << lengths;
  for (auto [k, length] : llvm::enumerate(op.getLengths()))
    if (failed(
            verifyScalar(op, "length #" + Twine(k), length.getType(), false)))
      return failure();
  return success();
}

LogicalResult LoopOp::verify() {
  if (failed(verifyPorts(*this)))
    return failure();
  // loop_args
  unsigned carried = getNumCarried(), slices = getSlices().size();
  if (failed(verifyBodyShape(*this, *getLoopBody(), 2 + carried + slices,
                             "the iteration number, the condition, " +
                                 Twine(carried) + " carried values and " +
                                 Twine(slices) + " slices")) ||
      failed(verifyScalar(*this, "body argument #0, the iteration number,",
                          getCounter().getType(), false)) ||
      failed(verifyScalar(*this, "body argument #1, the condition,",
                          getConditionArg().getType(), true)))
    return failure();
  // loop_types
  if (failed(verifyVersion(*this, getSinceVersion(),
                           {1, 11, 13, 16, 19, 21, 23, 24, 25})))
    return failure();
  // loop_carried
  for (unsigned k = 0; k < carried; ++k) {
    Type init = getInits()[k].getType();
    Type arg = getCarriedArgs()[k].getType();
    Type result = getResult(k).getType();
    if (arg != init)
      return emitOpError() << "carried value #" << k << ": init has type "
                           << init << " but body argument #" << 2 + k
                           << " has type " << arg;
    if (result != init)
      return emitOpError() << "carried value #" << k << ": init has type "
                           << init << " but result #" << k << " has type "
                           << result;
    if (failed(verifyTypeSince(*this, "carried value #" + Twine(k), init,
                               getSinceVersion())))
      return failure();
  }
  // loop_slice
  for (unsigned k = 0; k < slices; ++k)
    if (failed(verifyPiece(*this, "slice #" + Twine(k),
                           getSlices()[k].getType(), getSliceAxes()[k],
                           /*fromEnd=*/false,
                           "body argument #" + Twine(2 + carried + k),
                           getSliceArgs()[k].getType(), std::nullopt)))
      return failure();
  for (auto [k, result] : llvm::enumerate(getCollectedResults()))
    if (failed(verifyTypeSince(*this, "collected value #" + Twine(k),
                               result.getType(), getSinceVersion())))
      return failure();
  return success();
}

LogicalResult LoopOp::verifyBody() {
  YieldOp yield = getYield();
  // loop_yield
  if (!yield.getCondition()) {
    InFlightDiagnostic diag = emitOpError()
                              << "'loop.yield' gives no condition";
    Diagnostic &note = diag.attachNote(yield.getLoc()) << "yielded here";
    // loop_cond_ignored
    if (!getCondition())
      note << "; a loop without 'while' ignores it: the body may yield its "
              "argument #1";
    return diag;
  }
  if (failed(verifyYieldCounts(*this, yield, getNumCarried(), "carried values",
                               getNumCollected())) ||
      failed(verifyScalar(*this, "condition of 'loop.yield'",
                          yield.getCondition().getType(), true)))
    return failure();
  // loop_carried
  for (auto [k, init] : llvm::enumerate(getInits()))
    if (failed(verifyYielded(*this, "carried value #" + Twine(k), init, yield,
                             yield.getCarriedMutable()[k])))
      return failure();
  // loop_collect
  unsigned first = yield->getNumOperands() - yield.getCollected().size();
  for (auto [k, result, value] :
       llvm::enumerate(getCollectedResults(), yield.getCollected()))
    if (failed(verifyPiece(*this, "collected value #" + Twine(k),
                           result.getType(), getCollectAxes()[k],
                           /*fromEnd=*/false,
                           "'loop.yield' operand #" + Twine(first + k),
                           value.getType(), yield.getLoc())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

/// scan8_batch, scan8_lengths: what only Scan-8 has, and what it has not.
static LogicalResult verifyBatched(ScanOp op) {
  std::optional<int64_t> since = op.getSinceVersion();
  if (since && op.getBatched() != (*since == 8))
    return op.emitOpError() << (op.getBatched() ? "is" : "is not")
                            << " batched but is of version " << *since;
  Value lens = op.getSequenceLens();
  if (!op.getBatched()) {
    if (lens)
      return op.emitOpError("has sequence lengths but is not batched");
    return success();
  }
  if (lens) {
    auto type = dyn_cast<TensorType>(lens.getType());
    if (!type || !type.getElementType().isIntOrIndex() ||
        type.getElementType().isInteger(1) ||
        (type.hasRank() && type.getRank() != 1))
      return op.emitOpError() << "sequence lengths have type " << lens.getType()
                              << " but must be a tensor of integers of rank 1";
  }
  auto axisOne = [&](StringRef what, ArrayRef<int64_t> axes) -> LogicalResult {
    for (auto [k, axis] : llvm::enumerate(axes))
      if (axis != 1)
        return op.emitOpError() << what << " #" << k << ": axis " << axis
                                << " but a batched scan's is 1";
    return success();
  };
  if (failed(axisOne("input", op.getInputAxes())) ||
      failed(axisOne("output", op.getOutputAxes())))
    return failure();
  for (auto [k, reverse] : llvm::enumerate(op.getOutputReverse()))
    if (reverse)
      return op.emitOpError()
             << "output #" << k << ": a batched scan has no reversed outputs";
  return success();
}

/// The axes that an iteration's part of an input or output lacks.
static SmallVector<int64_t> getCutAxes(ScanOp op, int64_t axis) {
  if (op.getBatched())
    return {0, 1};
  return {axis};
}

/// States: one type outside, and inside (but for the batch's axis).
static LogicalResult verifyStates(ScanOp op) {
  for (auto [k, init] : llvm::enumerate(op.getInits())) {
    std::string what = ("state #" + Twine(k)).str();
    if (!isa<TensorType>(init.getType()))
      return op.emitOpError() << what << ": has type " << init.getType()
                              << " but must be a tensor";
    if (init.getType() != op.getResult(k).getType())
      return op.emitOpError()
             << what << ": init has type " << init.getType() << " but result #"
             << k << " has type " << op.getResult(k).getType();
    Type inside = op.getBatched() ? getCollectedElementType(init.getType(), 0)
                                  : init.getType();
    if (!inside)
      return op.emitOpError() << what << ": type " << init.getType()
                              << " has no axis for the batch";
    Type arg = op.getScanBody()->getArgument(k).getType();
    if (arg != inside)
      return op.emitOpError() << what << ": body argument #" << k
                              << " has type " << arg << ", expected " << inside;
    if (failed(verifyTypeSince(op, what, init.getType(), op.getSinceVersion())))
      return failure();
  }
  return success();
}

LogicalResult ScanOp::verify() {
  unsigned states = getNumStates(), inputs = getInputs().size();
  if (inputs == 0)
    return emitOpError("has no inputs to scan");
  if (getNumResults() < states)
    return emitOpError() << "has " << getNumResults() << " results but "
                         << states << " states";
  if (failed(verifyLength(*this, "input_axes", getInputAxes(), inputs,
                          "inputs")) ||
      failed(verifyLength(*this, "input_reverse", getInputReverse(), inputs,
                          "inputs")) ||
      failed(verifyLength(*this, "output_axes", getOutputAxes(),
                          getNumOutputs(), "outputs")) ||
      failed(verifyLength(*this, "output_reverse", getOutputReverse(),
                          getNumOutputs(), "outputs")))
    return failure();
  // scan_args
  if (failed(verifyBodyShape(*this, *getScanBody(), states + inputs,
                             Twine(states) + " states and " + Twine(inputs) +
                                 " slices")) ||
      failed(verifyVersion(*this, getSinceVersion(),
                           {8, 9, 11, 16, 19, 21, 23, 24, 25})) ||
      failed(verifyBatched(*this)) || failed(verifyStates(*this)))
    return failure();
  // scan_axes
  for (auto [k, input] : llvm::enumerate(getInputs())) {
    if (!isa<TensorType>(input.getType()))
      return emitOpError() << "input #" << k << ": has type " << input.getType()
                           << " but must be a tensor";
    BlockArgument arg = getScanBody()->getArgument(states + k);
    if (failed(verifyPiece(*this, "input #" + Twine(k), input.getType(),
                           getCutAxes(*this, getInputAxes()[k]),
                           /*fromEnd=*/true,
                           "body argument #" + Twine(states + k), arg.getType(),
                           std::nullopt)) ||
        failed(verifyTypeSince(*this, "input #" + Twine(k), input.getType(),
                               getSinceVersion())))
      return failure();
  }
  for (unsigned k = 0; k < getNumOutputs(); ++k) {
    Type type = getResult(states + k).getType();
    if (!isa<TensorType>(type))
      return emitOpError() << "output #" << k << ": has type " << type
                           << " but must be a tensor";
    if (failed(verifyTypeSince(*this, "output #" + Twine(k), type,
                               getSinceVersion())))
      return failure();
  }
  return success();
}

LogicalResult ScanOp::verifyBody() {
  YieldOp yield = getYield();
  // scan_yield
  if (yield.getCondition()) {
    InFlightDiagnostic diag =
        emitOpError() << "'loop.yield' gives a condition, which a scan has not";
    diag.attachNote(yield.getLoc()) << "yielded here";
    return diag;
  }
  if (failed(verifyYieldCounts(*this, yield, getNumStates(), "states",
                               getNumOutputs())))
    return failure();
  // scan_state_shape
  for (unsigned k = 0; k < getNumStates(); ++k)
    if (failed(verifyYielded(*this, "state #" + Twine(k),
                             getScanBody()->getArgument(k), yield,
                             yield.getCarriedMutable()[k])))
      return failure();
  // scan_axes
  unsigned first = yield->getNumOperands() - yield.getCollected().size();
  for (auto [k, value] : llvm::enumerate(yield.getCollected()))
    if (failed(verifyPiece(*this, "output #" + Twine(k),
                           getResult(getNumStates() + k).getType(),
                           getCutAxes(*this, getOutputAxes()[k]),
                           /*fromEnd=*/true,
                           "'loop.yield' operand #" + Twine(first + k),
                           value.getType(), yield.getLoc())))
      return failure();
  return success();
}
