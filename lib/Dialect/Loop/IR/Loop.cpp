//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/IR/CanonicalPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace loopc::loop;

#include "loopc/Dialect/Loop/IR/LoopDialect.cpp.inc"

void LoopDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/Loop/IR/LoopOps.cpp.inc"
      >();
  addInterfaces<CanonicalPatterns>();
}

bool loopc::loop::isScalarLike(Type type, bool boolean) {
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!isa<TensorType, BaseMemRefType>(type))
      return false;
    // A shape that is not known may turn out to be one element: the lowering
    // checks it.
    if (shaped.hasStaticShape() && shaped.getNumElements() != 1)
      return false;
    type = shaped.getElementType();
  }
  if (boolean)
    return type.isInteger(1);
  return type.isIndex() || (type.isIntOrIndex() && !type.isInteger(1));
}

Type loopc::loop::getCollectedElementType(Type type, int64_t axis) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return {};
  if (!shaped.hasRank())
    return type;
  if (axis < 0 || axis >= shaped.getRank())
    return {};
  SmallVector<int64_t> shape(shaped.getShape());
  shape.erase(shape.begin() + axis);
  if (auto memref = dyn_cast<MemRefType>(type))
    return MemRefType::get(shape, memref.getElementType());
  return shaped.clone(shape);
}

static std::optional<APInt> getInteger(Attribute attr) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return integer.getValue();
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense || dense.getNumElements() != 1 ||
      !dense.getElementType().isIntOrIndex())
    return std::nullopt;
  return *dense.value_begin<APInt>();
}

std::optional<APInt> loopc::loop::getConstantInteger(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  return getInteger(attr);
}

//===----------------------------------------------------------------------===//
// LoopOp: building, printing, parsing
//===----------------------------------------------------------------------===//

LoopSignature::LoopSignature(LoopOp loop)
    : tripCount(loop.getTripCount()), condition(loop.getCondition()),
      counterType(loop.getCounter().getType()),
      conditionType(loop.getConditionArg().getType()), inits(loop.getInits()),
      sinceVersion(loop.getSinceVersion()),
      attributes(loop->getDiscardableAttrDictionary()) {
  for (auto [value, arg, axis, isReverse] :
       llvm::zip_equal(loop.getSlices(), loop.getSliceArgs(),
                       loop.getSliceAxes(), loop.getSliceReverse()))
    slices.push_back({value, arg.getType(), axis, isReverse});
  for (auto [k, type, axis, isReverse] :
       llvm::enumerate(loop.getCollectedResults().getTypes(),
                       loop.getCollectAxes(), loop.getCollectReverse()))
    collected.push_back({type, axis, isReverse, loop.getLengthOf(k)});
}

LoopSignature::LoopSignature(Value trips)
    : tripCount(trips), counterType(trips.getType()),
      conditionType(IntegerType::get(trips.getContext(), 1)) {}

void LoopOp::build(OpBuilder &builder, OperationState &state,
                   const LoopSignature &signature) {
  SmallVector<Value> slices, lengths;
  SmallVector<int64_t> sliceAxes, collectAxes;
  SmallVector<bool> sliceReverse, collectReverse, hasLength;
  SmallVector<Type> arguments{signature.counterType, signature.conditionType};
  llvm::append_range(arguments, ValueRange(signature.inits).getTypes());
  for (const SlicePort &slice : signature.slices) {
    slices.push_back(slice.value);
    sliceAxes.push_back(slice.axis);
    sliceReverse.push_back(slice.isReverse);
    arguments.push_back(slice.type);
  }
  state.addTypes(ValueRange(signature.inits).getTypes());
  for (const CollectedPort &collected : signature.collected) {
    state.addTypes(collected.type);
    collectAxes.push_back(collected.axis);
    collectReverse.push_back(collected.isReverse);
    hasLength.push_back(static_cast<bool>(collected.length));
    if (collected.length)
      lengths.push_back(collected.length);
  }
  if (signature.tripCount)
    state.addOperands(signature.tripCount);
  if (signature.condition)
    state.addOperands(signature.condition);
  state.addOperands(signature.inits);
  state.addOperands(slices);
  state.addOperands(lengths);
  auto &props = state.getOrAddProperties<Properties>();
  props.operandSegmentSizes = {signature.tripCount ? 1 : 0,
                               signature.condition ? 1 : 0,
                               static_cast<int32_t>(signature.inits.size()),
                               static_cast<int32_t>(slices.size()),
                               static_cast<int32_t>(lengths.size())};
  props.slice_axes = builder.getDenseI64ArrayAttr(sliceAxes);
  props.slice_reverse = builder.getDenseBoolArrayAttr(sliceReverse);
  props.collect_axes = builder.getDenseI64ArrayAttr(collectAxes);
  props.collect_reverse = builder.getDenseBoolArrayAttr(collectReverse);
  props.collect_has_length = builder.getDenseBoolArrayAttr(hasLength);
  if (signature.sinceVersion)
    props.since_version = builder.getI64IntegerAttr(*signature.sinceVersion);
  if (signature.attributes)
    state.addAttributes(signature.attributes.getValue());
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(arguments.size(), state.location);
  builder.createBlock(region, {}, arguments, locs);
}

void LoopOp::build(OpBuilder &builder, OperationState &state, Type counterType,
                   Type conditionType, Value tripCount, Value condition,
                   ValueRange inits) {
  LoopSignature signature;
  signature.counterType = counterType;
  signature.conditionType = conditionType;
  signature.tripCount = tripCount;
  signature.condition = condition;
  signature.inits.assign(inits.begin(), inits.end());
  build(builder, state, signature);
}

YieldOp LoopOp::getYield() {
  return cast<YieldOp>(getLoopBody()->getTerminator());
}
YieldOp ScanOp::getYield() {
  return cast<YieldOp>(getScanBody()->getTerminator());
}

Value LoopOp::getLengthOf(unsigned k) {
  ArrayRef<bool> has = getCollectHasLength();
  if (k >= has.size() || !has[k])
    return {};
  return getLengths()[llvm::count(has.take_front(k), true)];
}

/// Prints `(arg = operand : type ...suffix, ...)`.
static void printBindings(OpAsmPrinter &p, ValueRange args, ValueRange operands,
                          llvm::function_ref<void(unsigned)> suffix = {}) {
  p << "(";
  llvm::interleaveComma(
      llvm::seq<unsigned>(0, operands.size()), p, [&](unsigned k) {
        p << args[k] << " = " << operands[k] << " : " << operands[k].getType();
        if (suffix)
          suffix(k);
      });
  p << ")";
}

static void printAxis(OpAsmPrinter &p, ArrayRef<int64_t> axes,
                      ArrayRef<bool> reverse, unsigned k) {
  p << " axis " << axes[k];
  if (reverse[k])
    p << " reverse";
}

/// Prints ` keyword(arg = operand : type axis 0 -> type, ...)`, if any.
static void printSlices(OpAsmPrinter &p, StringRef keyword, ValueRange args,
                        ValueRange operands, ArrayRef<int64_t> axes,
                        ArrayRef<bool> reverse) {
  if (operands.empty())
    return;
  p << " " << keyword;
  printBindings(p, args, operands, [&](unsigned k) {
    printAxis(p, axes, reverse, k);
    p << " -> " << args[k].getType();
  });
}

/// Prints ` keyword(type axis 0 ...suffix, ...)`, if any.
static void printCollected(OpAsmPrinter &p, StringRef keyword,
                           ValueRange results, ArrayRef<int64_t> axes,
                           ArrayRef<bool> reverse,
                           llvm::function_ref<void(unsigned)> suffix) {
  if (results.empty())
    return;
  p << " " << keyword << "(";
  llvm::interleaveComma(llvm::seq<unsigned>(0, results.size()), p,
                        [&](unsigned k) {
                          p << results[k].getType();
                          printAxis(p, axes, reverse, k);
                          suffix(k);
                        });
  p << ")";
}

void LoopOp::print(OpAsmPrinter &p) {
  auto typed = [&](Value v) { p << v << " : " << v.getType(); };
  p << " (";
  typed(getCounter());
  p << ", ";
  typed(getConditionArg());
  p << ")";
  auto clause = [&](StringRef keyword, Value v) {
    if (!v)
      return;
    p << " " << keyword << "(";
    typed(v);
    p << ")";
  };
  clause("trips", getTripCount());
  clause("while", getCondition());
  if (!getInits().empty()) {
    p << " carried";
    printBindings(p, getCarriedArgs(), getInits());
  }
  printSlices(p, "slices", getSliceArgs(), getSlices(), getSliceAxes(),
              getSliceReverse());
  printCollected(p, "collect", getCollectedResults(), getCollectAxes(),
                 getCollectReverse(),
                 [&](unsigned k) { clause("length", getLengthOf(k)); });
  if (getSinceVersion())
    p << " since " << *getSinceVersion();
  SmallVector<StringRef> elided = {"operandSegmentSizes", "slice_axes",
                                   "slice_reverse",       "collect_axes",
                                   "collect_reverse",     "collect_has_length",
                                   "since_version"};
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

namespace {
using Arg = OpAsmParser::Argument;
using Operand = OpAsmParser::UnresolvedOperand;

/// What the clauses of loop.loop and loop.scan say, while they are parsed.
struct LoopParts {
  OpAsmParser &parser;
  OperationState &state;
  SmallVector<Arg> args;
  SmallVector<Type> resultTypes = {};
  SmallVector<int32_t> segments = {};
  SmallVector<int64_t> sliceAxes = {}, collectAxes = {};
  SmallVector<bool> sliceReverse = {}, collectReverse = {}, hasLength = {};

  ParseResult typedOperand(Operand &operand, Type &type) {
    return failure(parser.parseOperand(operand) || parser.parseColonType(type));
  }
  /// `( operand : type )`, resolved into the state.
  ParseResult parenOperand() {
    Operand operand;
    Type type;
    return failure(parser.parseLParen() || typedOperand(operand, type) ||
                   parser.parseRParen() ||
                   parser.resolveOperand(operand, type, state.operands));
  }
  ParseResult optionalClause(StringRef keyword) {
    if (failed(parser.parseOptionalKeyword(keyword))) {
      segments.push_back(0);
      return success();
    }
    segments.push_back(1);
    return parenOperand();
  }
  /// `keyword(%arg = %operand : type, ...)`; `suffix` reads what follows a type
  /// and may change it into the argument's type.
  ParseResult bindings(
      StringRef keyword,
      llvm::function_ref<ParseResult(Type operandType, Type &argType)> suffix) {
    segments.push_back(0);
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return parser.parseCommaSeparatedList(
        OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
          Arg arg;
          Operand operand;
          Type type;
          if (parser.parseArgument(arg) || parser.parseEqual() ||
              typedOperand(operand, type))
            return failure();
          arg.type = type;
          if (suffix(type, arg.type))
            return failure();
          args.push_back(arg);
          ++segments.back();
          return parser.resolveOperand(operand, type, state.operands);
        });
  }
  ParseResult axis(SmallVectorImpl<int64_t> &axes, SmallVectorImpl<bool> &rev) {
    int64_t value;
    if (parser.parseKeyword("axis") || parser.parseInteger(value))
      return failure();
    axes.push_back(value);
    rev.push_back(succeeded(parser.parseOptionalKeyword("reverse")));
    return success();
  }
  /// What is carried, whose types the results have, too.
  ParseResult carried(StringRef keyword) {
    return bindings(keyword, [&](Type type, Type &) {
      resultTypes.push_back(type);
      return success();
    });
  }
  ParseResult slices(StringRef keyword) {
    return bindings(keyword, [&](Type, Type &argType) -> ParseResult {
      return failure(axis(sliceAxes, sliceReverse) || parser.parseArrow() ||
                     parser.parseType(argType));
    });
  }
  /// `suffix` reads what follows a type and its axis.
  ParseResult collected(StringRef keyword,
                        llvm::function_ref<ParseResult()> suffix) {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return parser.parseCommaSeparatedList(
        OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
          Type type;
          if (parser.parseType(type) || axis(collectAxes, collectReverse))
            return failure();
          resultTypes.push_back(type);
          return suffix();
        });
  }
  /// Attributes and body; `clauses` is what may stand before them, in order.
  ParseResult region(StringRef clauses) {
    Region *body = state.addRegion();
    if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword(&keyword)))
      return parser.emitError(loc)
             << "'" << keyword << "' is not expected here; the clauses are "
             << clauses << ", in this order";
    return parser.parseRegion(*body, args);
  }
  ParseResult since(IntegerAttr &attr) {
    if (failed(parser.parseOptionalKeyword("since")))
      return success();
    int64_t version;
    if (parser.parseInteger(version))
      return failure();
    attr = parser.getBuilder().getI64IntegerAttr(version);
    return success();
  }
};
} // namespace

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &state) {
  LoopParts parts{parser, state, {}};
  Builder &b = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  for (StringRef _ : {"counter", "condition"}) {
    Arg arg;
    if (parts.args.empty() ? parser.parseLParen() : parser.parseComma())
      return failure();
    if (parser.parseArgument(arg, /*allowType=*/true))
      return failure();
    parts.args.push_back(arg);
  }
  if (parser.parseRParen() || parts.optionalClause("trips") ||
      parts.optionalClause("while") || parts.carried("carried") ||
      parts.slices("slices"))
    return failure();
  parts.segments.push_back(0);
  auto parseLength = [&]() -> ParseResult {
    bool hasLength = succeeded(parser.parseOptionalKeyword("length"));
    parts.hasLength.push_back(hasLength);
    if (!hasLength)
      return success();
    ++parts.segments.back();
    return parts.parenOperand();
  };
  if (parts.collected("collect", parseLength) ||
      parts.since(props.since_version) ||
      parts.region("trips, while, carried, slices, collect, since, attributes"))
    return failure();
  llvm::copy(parts.segments, props.operandSegmentSizes.begin());
  props.slice_axes = b.getDenseI64ArrayAttr(parts.sliceAxes);
  props.slice_reverse = b.getDenseBoolArrayAttr(parts.sliceReverse);
  props.collect_axes = b.getDenseI64ArrayAttr(parts.collectAxes);
  props.collect_reverse = b.getDenseBoolArrayAttr(parts.collectReverse);
  props.collect_has_length = b.getDenseBoolArrayAttr(parts.hasLength);
  state.addTypes(parts.resultTypes);
  return success();
}

//===----------------------------------------------------------------------===//
// ScanOp: printing and parsing
//===----------------------------------------------------------------------===//

void ScanOp::print(OpAsmPrinter &p) {
  Block *body = getScanBody();
  unsigned states = getNumStates();
  if (getBatched())
    p << " batched";
  if (!getInits().empty()) {
    p << " states";
    printBindings(p, body->getArguments().take_front(states), getInits());
  }
  printSlices(p, "inputs", body->getArguments().drop_front(states), getInputs(),
              getInputAxes(), getInputReverse());
  if (Value lens = getSequenceLens())
    p << " lengths(" << lens << " : " << lens.getType() << ")";
  printCollected(p, "outputs", getResults().drop_front(states), getOutputAxes(),
                 getOutputReverse(), [](unsigned) {});
  if (getSinceVersion())
    p << " since " << *getSinceVersion();
  SmallVector<StringRef> elided = {
      "operandSegmentSizes", "input_axes", "input_reverse", "output_axes",
      "output_reverse",      "batched",    "since_version"};
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &state) {
  LoopParts parts{parser, state, {}};
  Builder &b = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("batched")))
    props.batched = b.getUnitAttr();
  if (parts.carried("states") || parts.slices("inputs") ||
      parts.optionalClause("lengths") ||
      parts.collected("outputs", [] { return success(); }) ||
      parts.since(props.since_version))
    return failure();
  // States come bare outside of batched scans and with a batch axis inside: the
  // body's argument types of a batched scan are its operands' without axis 0.
  if (props.batched)
    for (unsigned k = 0; k < static_cast<unsigned>(parts.segments[0]); ++k)
      if (Type type = getCollectedElementType(parts.args[k].type, 0))
        parts.args[k].type = type;
  if (parts.region("batched, states, inputs, lengths, outputs, since, "
                   "attributes"))
    return failure();
  llvm::copy(parts.segments, props.operandSegmentSizes.begin());
  props.input_axes = b.getDenseI64ArrayAttr(parts.sliceAxes);
  props.input_reverse = b.getDenseBoolArrayAttr(parts.sliceReverse);
  props.output_axes = b.getDenseI64ArrayAttr(parts.collectAxes);
  props.output_reverse = b.getDenseBoolArrayAttr(parts.collectReverse);
  state.addTypes(parts.resultTypes);
  return success();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

/// True if all values of `type` have one shape.
static bool hasFixedShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || shaped.hasStaticShape();
}

/// The extent of `type` along `axis`, counted from the end where negative;
/// dynamic where it is not known.
static int64_t getExtent(Type type, int64_t axis) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return ShapedType::kDynamic;
  return shaped.getDimSize(axis < 0 ? axis + shaped.getRank() : axis);
}

Speculation::Speculatability LoopOp::getSpeculatability() {
  // A loop without a trip count may never end (loop_cancel), and one that can
  // end in an error must not run where it would not have run (loop_order).
  if (!isKnownToEnd() || !getLengths().empty() ||
      !llvm::all_of(getYield().getCollected().getTypes(), hasFixedShape))
    return Speculation::NotSpeculatable;
  std::optional<APInt> most = getConstantInteger(getTripCount());
  // INT64_MAX is how exporters write "no limit".
  if (most && most->isStrictlyPositive() && most->getActiveBits() > 31)
    return Speculation::NotSpeculatable;
  for (auto [slice, axis] : llvm::zip(getSlices(), getSliceAxes())) {
    int64_t extent = getExtent(slice.getType(), axis);
    if (ShapedType::isDynamic(extent) || !most ||
        most->sgt(APInt(most->getBitWidth(), extent, /*isSigned=*/true,
                        /*implicitTrunc=*/true)))
      return Speculation::NotSpeculatable;
  }
  return Speculation::RecursivelySpeculatable;
}

Speculation::Speculatability ScanOp::getSpeculatability() {
  // As above: lengths that differ, states and outputs that change their shape.
  YieldOp yield = getYield();
  int64_t length = getExtent(getInputs()[0].getType(), getInputAxes()[0]);
  bool safe =
      !getBatched() && llvm::all_of(yield.getOperandTypes(), hasFixedShape);
  for (auto [input, axis] : llvm::zip(getInputs(), getInputAxes()))
    safe &=
        getInputs().size() == 1 || (ShapedType::isStatic(length) &&
                                    getExtent(input.getType(), axis) == length);
  return safe ? Speculation::RecursivelySpeculatable
              : Speculation::NotSpeculatable;
}

void LoopOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() < 2)
    return;
  setName(region.getArgument(0), "i");
  setName(region.getArgument(1), "cond");
}

SmallVector<Region *> LoopOp::getLoopRegions() { return {&getBody()}; }

Block::BlockArgListType LoopOp::getRegionIterArgs() { return getCarriedArgs(); }

std::optional<MutableArrayRef<OpOperand>> LoopOp::getYieldedValuesMutable() {
  return getYield().getCarriedMutable();
}

std::optional<ResultRange> LoopOp::getLoopResults() {
  return getCarriedResults();
}

// getLoopInductionVars() keeps its default, that there are none: analyses ask
// for the bounds of every induction variable, but here the trip count may be
// absent or a tensor, and they take it that a loop with one has no arguments
// but that and the carried values.

std::optional<APInt> LoopOp::getStaticTripCount() {
  // With a condition the count says only how many there are at most.
  if (getCondition() || !getTripCount())
    return std::nullopt;
  std::optional<APInt> count = getConstantInteger(getTripCount());
  if (count && count->isNegative())
    return APInt::getZero(count->getBitWidth());
  return count;
}

FailureOr<LoopLikeOpInterface>
LoopOp::replaceWithAdditionalYields(RewriterBase &rewriter, ValueRange newInits,
                                    bool replaceUses,
                                    const NewYieldValuesFn &newYieldValues) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  LoopSignature signature(*this);
  llvm::append_range(signature.inits, newInits);
  // What passes carry need not be of ONNX's types (loop_types).
  if (!llvm::all_of(newInits.getTypes(), [&](Type type) {
        std::optional<int64_t> since = getLoopTypeSince(type);
        return since && *since <= signature.sinceVersion;
      }))
    signature.sinceVersion.reset();
  auto loop = LoopOp::create(rewriter, getLoc(), signature);
  rewriter.eraseBlock(loop.getLoopBody());
  unsigned carried = getNumCarried();
  YieldOp yield = getYield();
  loop.getBody().takeBody(getBody());
  SmallVector<BlockArgument> added;
  for (auto [k, init] : llvm::enumerate(newInits))
    added.push_back(loop.getBody().insertArgument(
        2 + carried + static_cast<unsigned>(k), init.getType(), init.getLoc()));
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> yielded = newYieldValues(rewriter, getLoc(), added);
  rewriter.modifyOpInPlace(
      yield, [&]() { yield.getCarriedMutable().append(yielded); });
  if (replaceUses)
    for (auto [init, arg] : llvm::zip(newInits, added))
      rewriter.replaceUsesWithIf(init, arg, [&](OpOperand &use) {
        return loop->isProperAncestor(use.getOwner());
      });
  unsigned extra = newInits.size();
  for (unsigned k = 0, e = getNumResults(); k < e; ++k)
    rewriter.replaceAllUsesWith(getResult(k),
                                loop.getResult(k < carried ? k : k + extra));
  rewriter.eraseOp(*this);
  return cast<LoopLikeOpInterface>(loop.getOperation());
}

// The condition is not forwarded: it decides whether there is an iteration, so
// it is needed where nobody reads its argument. The iteration number and the
// slices come from the loop itself.
OperandRange LoopOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

static RegionSuccessor getBodySuccessor(LoopOp op) {
  return RegionSuccessor(&op.getBody(), op.getCarriedArgs());
}
static RegionSuccessor getResultSuccessor(LoopOp op) {
  return RegionSuccessor(op, op.getCarriedResults());
}

void LoopOp::getSuccessorRegions(RegionBranchPoint,
                                 SmallVectorImpl<RegionSuccessor> &regions) {
  regions.push_back(getBodySuccessor(*this));
  regions.push_back(getResultSuccessor(*this));
}

void LoopOp::getEntrySuccessorRegions(
    ArrayRef<Attribute> operands, SmallVectorImpl<RegionSuccessor> &regions) {
  auto constant = [&](Value operand, unsigned index) -> std::optional<APInt> {
    if (!operand || index >= operands.size())
      return std::nullopt;
    return getInteger(operands[index]);
  };
  std::optional<APInt> trips = constant(getTripCount(), 0);
  std::optional<APInt> condition =
      constant(getCondition(), getTripCount() ? 1 : 0);
  // A loop that runs never still names its body: upstream's remove-dead-values
  // takes apart regions that nothing enters and leaves them half done.
  regions.push_back(getBodySuccessor(*this));
  bool runs = (!getTripCount() || (trips && trips->isStrictlyPositive())) &&
              (!getCondition() || (condition && !condition->isZero()));
  if (!runs)
    regions.push_back(getResultSuccessor(*this));
}

void LoopOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  if (std::optional<APInt> trips = getStaticTripCount();
      trips && trips->getActiveBits() < 31) {
    unsigned n = trips->getZExtValue();
    bounds.emplace_back(n, n);
    return;
  }
  bounds.push_back(InvocationBounds::getUnknown());
}

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  return getCarriedMutable();
}

void YieldOp::getSuccessorRegions(ArrayRef<Attribute>,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  if (auto loop = dyn_cast<LoopOp>((*this)->getParentOp()))
    loop.getSuccessorRegions(
        RegionBranchPoint(
            cast<RegionBranchTerminatorOpInterface>((*this).getOperation())),
        regions);
}

//===----------------------------------------------------------------------===//
// ReserveOp
//===----------------------------------------------------------------------===//

LogicalResult ReserveOp::verify() {
  auto type = cast<ShapedType>(getBuffer().getType());
  int64_t axis = getAxis();
  if (axis >= type.getRank())
    return emitOpError("axis ") << axis << " is not one of the "
                                << type.getRank() << " dimensions of " << type;
  if (!type.isDynamicDim(axis))
    return emitOpError("dimension ")
           << axis << " of " << type << " has a fixed size";
  return success();
}

//===----------------------------------------------------------------------===//
// CheckOp
//===----------------------------------------------------------------------===//

LogicalResult CheckOp::verify() {
  size_t holes = getMessage().count("{}"), shapes = getMessage().count("{*}");
  if (holes + shapes * (1 + kMaxShownRank) == getValues().size())
    return success();
  InFlightDiagnostic error = emitOpError("message has ") << holes << " '{}' ";
  if (shapes)
    error << "and " << shapes << " '{*}' ";
  return error << "but there are " << getValues().size() << " values";
}

namespace {
/// check true  ->  nothing
struct EraseTrueCheck : OpRewritePattern<CheckOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CheckOp op,
                                PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getCondition(), m_One()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void CheckOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<EraseTrueCheck>(context);
}

#define GET_OP_CLASSES
#include "loopc/Dialect/Loop/IR/LoopOps.cpp.inc"
