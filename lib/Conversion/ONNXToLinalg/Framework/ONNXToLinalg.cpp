//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-onnx-to-linalg: walks a function in order, lowers each onnx.node by
// the table's row, then gives everything the element types of toSignless().

#include "Framework/NodeSteps.h"
#include "StringUtils.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Conversion/ONNXToLinalg/OperatorTable.h"
#include "loopc/Conversion/ONNXToLinalg/Passes.h"
#include "loopc/Dialect/Loop/Transforms/RunTimeFailure.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Messages.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTONNXTOLINALG
#include "loopc/Conversion/ONNXToLinalg/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The bits of an integer of fewer than a byte, or of elements that are such;
/// 0 for others.
static unsigned narrowBits(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && toSignless(integer) != integer && integer.getWidth() < 8
             ? integer.getWidth()
             : 0;
}

namespace {
/// An operation of arith on integers of fewer bits than the bytes that hold
/// them: extended by their sign.
struct NarrowOperation {
  Operation *op;
  SmallVector<unsigned> operands, results; ///< bits; 0 for others
};
} // namespace

/// Finds such operations that a model in MLIR has; nothing, with an error,
/// where one computes with what is no number any more.
static FailureOr<SmallVector<NarrowOperation>>
findNarrowOperations(func::FuncOp function) {
  SmallVector<NarrowOperation> found;
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        isa<arith::ConstantOp, arith::SelectOp>(op))
      return WalkResult::advance();
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    auto isBits = [](Type type) {
      Type element = getElementTypeOrSelf(type);
      return (isa<FloatType>(element) && toSignless(element) != element) ||
             (isa<ShapedType>(type) && narrowBits(type));
    };
    bool countsBits = isa<math::CountLeadingZerosOp, math::CountTrailingZerosOp,
                          math::CtPopOp, arith::AddUIExtendedOp,
                          arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op) &&
                      llvm::any_of(types, narrowBits);
    if (countsBits || llvm::any_of(types, isBits)) {
      emitError(op->getLoc(), Diag::LoweringFailed)
          << "'" << op->getName() << "' of " << types.front()
          << " is not compiled: convert it to more bits before";
      return WalkResult::interrupt();
    }
    if (llvm::none_of(types, narrowBits))
      return WalkResult::advance();
    NarrowOperation narrow{op, {}, {}};
    for (Type type : op->getOperandTypes())
      narrow.operands.push_back(narrowBits(type));
    for (Type type : op->getResultTypes())
      narrow.results.push_back(narrowBits(type));
    found.push_back(narrow);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return found;
}

/// `value`, a byte, with what is beyond `bits` bits cut off, and extended by
/// the sign or by zeros.
static Value extendBits(OpBuilder &b, Value value, unsigned bits,
                        bool isSigned) {
  Location loc = value.getLoc();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(number));
  };
  if (!isSigned)
    return arith::AndIOp::create(b, loc, value, constant((1 << bits) - 1));
  Value shift = constant(8 - bits);
  return arith::ShRSIOp::create(
      b, loc, arith::ShLIOp::create(b, loc, value, shift), shift);
}

/// Computes `narrow`, whose integers are bytes now, as it did with its bits.
static void computeNarrow(const NarrowOperation &narrow) {
  Operation *op = narrow.op;
  OpBuilder b(op);
  bool areUnsigned =
      isa<arith::ExtUIOp, arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp,
          arith::ShRUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op);
  for (auto [operand, bits] :
       llvm::zip_equal(op->getOpOperands(), narrow.operands))
    if (bits && areUnsigned)
      operand.set(extendBits(b, operand.get(), bits, /*isSigned=*/false));
  b.setInsertionPointAfter(op);
  for (auto [result, bits] :
       llvm::zip_equal(op->getResults(), narrow.results)) {
    // What is made of two by their bits, or is one of them, is extended.
    if (!bits || isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
                     arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op))
      continue;
    Value cut = extendBits(b, result, bits, /*isSigned=*/true);
    result.replaceAllUsesExcept(
        cut, cut.getDefiningOp()->getOperand(0).getDefiningOp());
  }
}

/// Gives `value` the type `type` as its users know it: static shape
/// information is cast away or in, signs by an unrealized cast.
static Value castToType(OpBuilder &b, Location loc, Value value, Type type) {
  Type signless = toSignless(type);
  if (value.getType() != signless)
    value = tensor::CastOp::create(b, loc, signless, value);
  if (signless != type)
    value =
        UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
  return value;
}

/// Where to check `extent`: before anything that `node` was lowered to, which
/// comes behind `before`, if it is known there, else as soon as it is.
static void setInsertionPointFor(OpBuilder &b, Value extent, Operation *before,
                                 onnx::NodeOp node) {
  Block *block = node->getBlock();
  Operation *def = extent.getDefiningOp();
  if (def && def->getBlock() == block &&
      (!before || before->isBeforeInBlock(def)))
    before = def;
  if (before)
    b.setInsertionPointAfter(before);
  else
    b.setInsertionPointToStart(block);
}

/// What inference says of the extents of result `k`, and the operands' types do
/// not prove, is checked at run time: the library derives an extent from one
/// operand where another may contradict, and everything behind this node
/// believes the type. What is computed by then may be folded to the inferred
/// type, too: the check stands before it. `before` is what the node followed
/// before it was lowered.
static void checkExtents(NodeLowering &l, unsigned k, Value value, Type type,
                         Operation *before) {
  auto found = dyn_cast<RankedTensorType>(value.getType());
  auto inferred = dyn_cast<RankedTensorType>(type);
  if (!found || !inferred || found.getRank() != inferred.getRank())
    return;
  for (int64_t axis : llvm::seq(found.getRank())) {
    if (!found.isDynamicDim(axis) || inferred.isDynamicDim(axis))
      continue;
    Value extent = l.asIndex(l.dim(value, axis));
    OpBuilder::InsertionGuard guard(l.b);
    setInsertionPointFor(l.b, extent, before, l.node);
    Value expected = l.index(inferred.getDimSize(axis));
    l.check(l.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, extent,
                                            expected),
            "axis " + Twine(axis) + " of output " + Twine(k) +
                " has extent {}, not {} as the types of the operands say",
            ValueRange{extent, expected});
  }
}

/// True for two tensor types that only extents keep apart.
static bool differInExtents(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return x && y && x.getRank() == y.getRank() &&
         x.getElementType() == y.getElementType();
}

namespace {
/// Why a node is not lowered.
struct Refusal {
  /// What is to be reported: the first error.
  std::optional<Diagnostic> error;
  /// What it says if the node contradicts itself, so that no run can compute
  /// it; nothing if loopc is what it is too much for.
  std::optional<std::string> contradiction;
};
} // namespace

/// What inference and lowering say of result `k` contradicts each other. Where
/// only extents do, operands that are known do not fit each other.
static LogicalResult refuseType(onnx::NodeOp node, unsigned k, Type found,
                                Type inferred, Refusal &refusal) {
  loopc::emitError(node.getLoc(), Diag::TypeInference)
      << "result #" << k << " has type " << found
      << " but was inferred to have type " << inferred;
  if (differInExtents(found, inferred))
    llvm::raw_string_ostream(refusal.contradiction.emplace())
        << "the operands do not fit: output " << k << " is " << found
        << " by one of them and " << inferred << " by another";
  return failure();
}

/// The run that comes to the node ends with `message`, in which "{}" stands for
/// the next of `values`. What a lowering left between `before` and the node
/// goes.
static void failAtRunTime(NodeLowering &l, Operation *before,
                          const Twine &message, ValueRange values) {
  onnx::NodeOp node = l.node;
  if (l.branchDims)
    l.branchDims->found.clear();
  while (Operation *left = node->getPrevNode()) {
    if (left == before)
      break;
    left->erase();
  }
  SmallVector<Value> used;
  SmallVector<Type> types;
  for (Value result : node.getResults())
    if (!isa<NoneType>(result.getType())) {
      used.push_back(result);
      types.push_back(toSignless(result.getType()));
    }
  OpBuilder b(node);
  Location loc = node.getLoc();
  SmallVector<Value> unreached =
      createRunTimeFailure(b, loc, l.path() + ": " + message, values, types);
  for (auto [result, value] : llvm::zip_equal(used, unreached))
    result.replaceAllUsesWith(castToType(b, loc, value, result.getType()));
  node.erase();
}

namespace {
struct ConvertONNXToLinalg
    : loopc::impl::ConvertONNXToLinalgBase<ConvertONNXToLinalg> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    dotBits = dotProducts ? getVectorUnit(function).dotBits : 0;
    moveQuantizedIntegers(function);
    if (dotBits != 0)
      foldQuantizedProducts(function);
    readPartsInPlace(function);
    bool failed = false;
    branchDims = BranchDims();
    function.walk([&](scf::IfOp op) { branchDims.branches.insert(op); });
    // In order, so that what a lowering asks of its operands (constants,
    // dimensions) has been lowered; all refusals are reported. Neither has
    // regions; in pre-order they would be looked for in what was erased.
    function.walk([&](Operation *op) {
      if (auto node = dyn_cast<onnx::NodeOp>(op)) {
        if (isRankCase(node))
          lowerRankCase(node);
        else
          failed |= mlir::failed(lower(node));
      } else if (auto constant = dyn_cast<onnx::ConstantOp>(op);
                 constant && !isStrings(constant))
        lower(constant);
    });
    if (reportWork)
      function.emitRemark() << branchDims.work << " branches followed";
    for (auto &[op, cases] : rankCases)
      if (!cases.anyLowered && !(cases.allContradict && mayNeverRun(op))) {
        emitError(op->getLoc()) << cases.refusal;
        failed = true;
      }
    rankCases.clear();
    for (auto [loc, name] : untrueRows) {
      loopc::emitError(loc, Diag::Internal)
          << "the table says that " << name
          << " cannot fail, but its lowering makes a check";
      failed = true;
    }
    untrueRows.clear();
    if (failed)
      return signalPassFailure();
    // Lowerings look for these by their attributes.
    function.walk([](onnx::ConstantOp constant) {
      if (isStrings(constant))
        lowerStringConstant(constant);
    });
    function.walk([](onnx::NoneOp none) {
      if (none->use_empty())
        none->erase();
    });
    if (makeSignless(function).failed())
      return signalPassFailure();
    function.walk(branchAgain);
    if (mlir::failed(decomposeAggregated(function)))
      return signalPassFailure();
    hoistChecks(function);
  }

  /// linalg.softmax, in MLIR that is written by hand, is several operations on
  /// elements.
  static LogicalResult decomposeAggregated(func::FuncOp function) {
    IRRewriter rewriter(function.getContext());
    WalkResult all = function.walk([&](linalg::AggregatedOpInterface op) {
      // On buffers there are no results to replace.
      if (op->getNumResults() == 0)
        return WalkResult::advance();
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
      if (mlir::failed(results)) {
        loopc::emitError(op.getLoc(), Diag::LoweringFailed)
            << "'" << op->getName() << "' cannot be decomposed";
        return WalkResult::interrupt();
      }
      rewriter.replaceOp(op, *results);
      return WalkResult::advance();
    });
    return failure(all.wasInterrupted());
  }

  /// %r = arith.select %c, %x, %y : tensor<?xf32>
  ///   ->  %r = scf.if %c { yield %x } else { yield %y }
  ///
  /// A branch whose tensors are there already is folded to a select. They may
  /// differ in shape, and what lowers elementwise operations on tensors takes
  /// the shapes of its operands for equal.
  static void branchAgain(arith::SelectOp select) {
    auto type = dyn_cast<TensorType>(select.getType());
    if (!type || (type.hasRank() && type.hasStaticShape()) ||
        !select.getCondition().getType().isInteger(1))
      return;
    OpBuilder builder(select);
    auto branch = scf::IfOp::create(builder, select.getLoc(), TypeRange{type},
                                    select.getCondition(),
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, select.getLoc(), select.getTrueValue());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, select.getLoc(), select.getFalseValue());
    select.replaceAllUsesWith(branch.getResult(0));
    select.erase();
  }

  static bool isStrings(onnx::ConstantOp constant) {
    return isa<DenseStringElementsAttr>(constant.getValue());
  }

  /// The switch over a rank that `op` is directly in; null if it is in none.
  static scf::IndexSwitchOp getRankSwitch(Operation *op) {
    auto parent = dyn_cast<scf::IndexSwitchOp>(op->getParentOp());
    if (parent && parent.getArg().getDefiningOp<tensor::RankOp>())
      return parent;
    return {};
  }

  /// Whether `node` is one of the cases that onnx-switch-on-rank made.
  static bool isRankCase(onnx::NodeOp node) {
    return getRankSwitch(node) &&
           llvm::all_of(node.getResultTypes(),
                        llvm::IsaPred<TensorType, NoneType, onnx::SeqType,
                                      onnx::OptionalType>);
  }

  /// A node that refuses one of several ranks that a value could have ends the
  /// run where the value has that rank. A node that refuses all of them is
  /// refused.
  void lowerRankCase(onnx::NodeOp node) {
    scf::IndexSwitchOp parent = getRankSwitch(node), outermost = parent;
    while (scf::IndexSwitchOp next = getRankSwitch(outermost))
      outermost = next;
    RankCases &cases = rankCases[outermost];
    Operation *before = node->getPrevNode();
    OpBuilder builder(node);
    NodeLowering lowering = makeLowering(node, builder);
    Refusal refusal;
    if (succeeded(tryToLower(lowering, refusal))) {
      cases.anyLowered = true;
      return;
    }
    cases.allContradict &= refusal.contradiction.has_value();
    std::string message =
        (node.getOpType() + " cannot take a value of rank {}").str();
    if (refusal.contradiction)
      message += ": " + escapeHoles(*refusal.contradiction);
    if (cases.refusal.empty() && refusal.error)
      cases.refusal = refusal.error->str();
    failAtRunTime(lowering, before, message, parent.getArg());
  }

  NodeLowering makeLowering(onnx::NodeOp node, OpBuilder &builder) {
    NodeLowering lowering(node, builder);
    lowering.channelsLast = channelsLast;
    lowering.forKernels = isForGPU(getOperation());
    lowering.dotBits = dotBits;
    lowering.branchDims = &branchDims;
    return lowering;
  }

  /// Lowers a node. One that contradicts itself is an error of the model where
  /// it certainly runs, and one of the run elsewhere.
  LogicalResult lower(onnx::NodeOp node) {
    Operation *before = node->getPrevNode();
    OpBuilder builder(node);
    NodeLowering lowering = makeLowering(node, builder);
    Refusal refusal;
    if (succeeded(tryToLower(lowering, refusal)))
      return success();
    if (refusal.contradiction && mayNeverRun(node)) {
      failAtRunTime(lowering, before, escapeHoles(*refusal.contradiction), {});
      return success();
    }
    if (refusal.error)
      getContext().getDiagEngine().emit(std::move(*refusal.error));
    return failure();
  }

  /// Replaces the node by what it is lowered to, or says why not. Nothing that
  /// was said to be wrong goes on, also where its family did.
  LogicalResult tryToLower(NodeLowering &lowering, Refusal &refusal) {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      if (!refusal.error) {
        refusal.error = std::move(diagnostic);
        refusal.contradiction = lowering.getContradiction();
      }
      return success();
    });
    onnx::NodeOp node = lowering.node;
    static constexpr LoweringRow kCustom = {
        "", "", 1, kLatest, lowerCustomNode, /*anyRank=*/true};
    const LoweringRow *row =
        onnx::CustomOperators::of(&getContext()).find(node)
            ? &kCustom
            : LoweringTable::get().find(node.getDomain(), node.getOpType(),
                                        node.getSinceVersion());
    if (!row)
      return loopc::emitError(node.getLoc(), Diag::NoLowering)
             << "operator " << node.getOpType() << " of version "
             << node.getSinceVersion() << " has no lowering";
    if (!row->anyRank)
      for (Value input : node.getInputs())
        if (isa<UnrankedTensorType>(input.getType()))
          return lowering.unsupported("an input whose rank is not known at "
                                      "compile time is not supported");
    Operation *before = node->getPrevNode();
    if (failed(row->lower(lowering)) ||
        failed(lowering.checkAttributesSeen()) || refusal.error)
      return failure();
    if (!canFail(row->domain, row->op) &&
        findFallible(before ? std::next(before->getIterator())
                            : node->getBlock()->begin(),
                     node->getIterator()))
      untrueRows.emplace_back(node.getLoc(), row->op);
    // A check that cannot hold: what is behind it, with extents that may make
    // no sense, need not be there.
    if (lowering.getContradiction() && !isRankCase(node) && mayNeverRun(node)) {
      refusal.contradiction = lowering.getContradiction();
      return failure();
    }
    if (failed(checkResults(lowering, refusal)))
      return failure();
    for (auto [k, result] : llvm::enumerate(node.getResults())) {
      if (!node.hasOutput(k))
        continue;
      Value value = lowering.getLoweredResult(k);
      checkExtents(lowering, k, value, toSignless(result.getType()), before);
      result.replaceAllUsesWith(
          castToType(lowering.b, node.getLoc(), value, result.getType()));
    }
    node.erase();
    return success();
  }

  /// Holds what the results were lowered to against their types.
  static LogicalResult checkResults(NodeLowering &lowering, Refusal &refusal) {
    onnx::NodeOp node = lowering.node;
    for (auto [k, result] : llvm::enumerate(node.getResults())) {
      if (!node.hasOutput(k))
        continue;
      Value value = lowering.getLoweredResult(k);
      if (!value)
        return lowering.unsupported("result " + Twine(k) + " is not supported");
      Type type = toSignless(result.getType());
      if (value.getType() != type &&
          !tensor::CastOp::areCastCompatible(value.getType(), type))
        return refuseType(node, k, value.getType(), type, refusal);
    }
    return success();
  }

  void lower(onnx::ConstantOp constant) {
    OpBuilder builder(constant);
    Value value = arith::ConstantOp::create(
        builder, constant.getLoc(),
        cast<TypedAttr>(toSignless(constant.getValue())));
    constant.replaceAllUsesWith(
        castToType(builder, constant.getLoc(), value, constant.getType()));
    constant.erase();
  }

  /// What the ports are in the model, for the border. A function that went
  /// through the pass before knows the element types already.
  static void describePorts(func::FuncOp function) {
    auto describe = [](Type type, bool isFlat) {
      if (isFlat)
        type = UnrankedTensorType::get(getElementTypeOrSelf(type));
      else if (auto buffer = dyn_cast<MemRefType>(type);
               buffer &&
               TensorType::isValidElementType(buffer.getElementType()))
        type =
            RankedTensorType::get(buffer.getShape(), buffer.getElementType());
      return TypeAttr::get(type);
    };
    for (auto [k, type] : llvm::enumerate(function.getArgumentTypes()))
      if (!function.getArgAttr(k, kPortTypeAttrName))
        function.setArgAttr(k, kPortTypeAttrName,
                            describe(type, isFlatArgument(function, k)));
    for (auto [k, type] : llvm::enumerate(function.getResultTypes()))
      if (!function.getResultAttr(k, kPortTypeAttrName))
        function.setResultAttr(k, kPortTypeAttrName,
                               describe(type, isFlatResult(function, k)));
    refreshPortTypes(function);
  }

  /// Retypes every value and drops the casts between signs.
  LogicalResult makeSignless(func::FuncOp function) {
    FailureOr<SmallVector<NarrowOperation>> narrow =
        findNarrowOperations(function);
    if (mlir::failed(narrow))
      return failure();
    auto retype = [](Value value) {
      value.setType(toSignless(value.getType()));
    };
    SmallVector<Operation *> casts;
    function.walk([&](Operation *op) {
      // Folds before the pass make constants of the model's types.
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
          constant.setValueAttr(cast<TypedAttr>(toSignless(elements)));
        else if (unsigned bits = narrowBits(constant.getType()))
          constant.setValueAttr(Builder(op).getI8IntegerAttr(
              cast<IntegerAttr>(constant.getValue())
                  .getValue()
                  .trunc(bits)
                  .getSExtValue()));
      }
      llvm::for_each(op->getResults(), retype);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      if (isa<UnrealizedConversionCastOp, onnx::CastOp>(op))
        casts.push_back(op);
    });
    for (Operation *op : casts)
      if (op->getOperand(0).getType() == op->getResult(0).getType()) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      }
    llvm::for_each(*narrow, computeNarrow);
    describePorts(function);
    Builder b(&getContext());
    FunctionType type = function.getFunctionType();
    auto signless = [](Type type) { return toSignless(type); };
    SmallVector<Type> inputs(llvm::map_range(type.getInputs(), signless));
    SmallVector<Type> results(llvm::map_range(type.getResults(), signless));
    function.setFunctionType(b.getFunctionType(inputs, results));
    return success();
  }

  /// What NodeLowering is told.
  unsigned dotBits = 0;
  BranchDims branchDims;

  struct RankCases {
    bool anyLowered = false;
    bool allContradict = true; ///< of those that are not lowered
    std::string refusal;       ///< the first one
  };
  /// By the outermost of nested switches over ranks.
  llvm::MapVector<Operation *, RankCases> rankCases;
  /// Nodes with a check whose operator cannot fail, says the table. They are
  /// reported at the end: one rank of several may be refused, this may not be.
  SmallVector<std::pair<Location, StringRef>> untrueRows;
};
} // namespace
