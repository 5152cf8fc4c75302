//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-pack-contractions: the operand of a matrix product that is read as
// vectors is brought into panels where that is done once for many reads.

#include "ContractionPlan.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/ConstantElements.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/Walk.h"
#include "loopc/Tensor/Expansions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_CPUPACKCONTRACTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Operands of this many bytes are packed in front of a product of many rows.
static constexpr int64_t kLarge = 192 << 10;
/// So many rows.
static constexpr int64_t kManyRows = 64;
/// So many rows are worth that columns are brought together for each product.
static constexpr int64_t kRowsOfColumns = 16;

namespace {
/// An operand that can be packed.
struct Candidate {
  OpOperand *operand;
  /// The loop along which vectors run.
  unsigned dim;
  /// What is packed: the operand, or what it is a transpose of.
  Value source;
  /// Axes of `source` by the loops that they belong to.
  AffineMap map;
  int64_t width;
  int64_t rows;
  /// What is summed by groups.
  std::optional<PanelGroup> group = {};
  /// The loop along which vectors run instead, where `dim` is too short for
  /// them: each column is brought together.
  std::optional<unsigned> sum = {};
  /// Scales have a width of 0: their axes change places, alone.
  bool isPanels() const { return !sum && width != 0; }
};

class Packing {
public:
  explicit Packing(MLIRContext *context, CpuModel cpu)
      : rewriter(context), cpu(cpu) {}
  void run(linalg::GenericOp op);

  unsigned constants = 0, packed = 0;

private:
  std::optional<Candidate> find(linalg::GenericOp op);
  /// Makes one loop of those that count rows, so that there are many rows where
  /// one of the loops has few of them.
  linalg::GenericOp mergeRows(linalg::GenericOp op, const Candidate &candidate);
  Value packConstant(const Candidate &candidate, AffineMap target);
  Value packAtRunTime(const Candidate &candidate, AffineMap target,
                      Operation *place);
  /// Lets `op` read what its operand is a transpose of, where an unknown number
  /// of rows transposes in strips; false if it does not.
  bool readThrough(linalg::GenericOp op, const Candidate &candidate);
  bool replaceOperand(linalg::GenericOp op, const Candidate &candidate,
                      AffineMap target, Operation *place);
  void turnScales(linalg::GenericOp op, const OpOperand &panels,
                  unsigned columns);
  /// The place in front of which packing pays; null if nowhere.
  Operation *placeFor(linalg::GenericOp op, const Candidate &candidate);

  IRRewriter rewriter;
  CpuModel cpu;
  /// What was packed already, by source, place and maps.
  std::map<std::tuple<void *, void *, void *, void *>, Value> done;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be packed
//===----------------------------------------------------------------------===//

static int64_t elementBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Bytes of a value of `type`; none if that is known at run time only.
static std::optional<int64_t> bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (!shaped.hasStaticShape())
    return std::nullopt;
  return shaped.getNumElements() * elementBytes(shaped.getElementType());
}

static bool hasWholeBytes(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0;
}

/// True if the last axis is the one that `dim` loops over.
static bool endsWith(AffineMap map, unsigned dim) {
  return map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(dim, map.getContext());
}

namespace {
/// A value whose elements are neighbours in a constant.
struct ConstantPart {
  arith::ConstantOp constant;
  int64_t firstElement = 0;
};
} // namespace

/// The first element of `slice` in its source if all are neighbours there.
static std::optional<int64_t> firstOf(tensor::ExtractSliceOp slice) {
  auto from = cast<RankedTensorType>(slice.getSource().getType());
  if (!slice.getType().hasStaticShape() || !from.hasStaticShape() ||
      !slice.hasUnitStride() ||
      llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<int64_t> strides = mlir::computeStrides(from.getShape());
  int64_t first = 0;
  bool isWhole = true;
  for (int64_t k = from.getRank() - 1; k >= 0; --k) {
    // Behind an axis of which there is a part all axes are whole.
    if (!isWhole && slice.getStaticSizes()[k] != 1)
      return std::nullopt;
    isWhole &= slice.getStaticSizes()[k] == from.getDimSize(k);
    first += slice.getStaticOffsets()[k] * strides[k];
  }
  return first;
}

/// The constant that `value` is a part, or another shape, of.
static std::optional<ConstantPart> constantOf(Value value) {
  ConstantPart part;
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      part.constant = constant;
      return part;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      std::optional<int64_t> first = firstOf(slice);
      if (!first)
        return std::nullopt;
      part.firstElement += *first;
    } else if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      return std::nullopt;
    }
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// The loop of `op` that it sums over, if vectors can run along it once the
/// columns of `operand` are brought together.
static std::optional<unsigned> sumForVectors(linalg::GenericOp op,
                                             OpOperand *operand) {
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  if (sums.size() != 1 || !reorderableAddition(op))
    return std::nullopt;
  unsigned sum = sums.front();
  int64_t extent = op.getStaticLoopRanges()[sum];
  if (ShapedType::isStatic(extent) && extent < kLongColumn)
    return std::nullopt;
  Type element = getElementTypeOrSelf(op.getDpsInits()[0]);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isa<FloatType>(element) ||
        getElementTypeOrSelf(input->get()) != element ||
        (input != operand && map.isFunctionOfDim(sum) && !endsWith(map, sum)))
      return std::nullopt;
  }
  return sum;
}

std::optional<Candidate> Packing::find(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      !isContraction(op))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  Type element = getElementTypeOrSelf(init->get());
  if (!out.isProjectedPermutation() || out.getNumResults() == 0 ||
      !hasWholeBytes(element) || element.getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  unsigned dim = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  if (computesOfRowsAndSum(op, dim))
    return std::nullopt;
  auto types = op.getIteratorTypesArray();
  SmallVector<int64_t> statics = op.getStaticLoopRanges();
  Candidate found{};
  std::optional<DotProduct> dot = matchDotProduct(op, cpu);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(dim) || (dot && operand != dot->vectors))
      continue;
    bool sums = llvm::any_of(llvm::seq(op.getNumLoops()), [&](unsigned d) {
      return types[d] == IteratorType::reduction && map.isFunctionOfDim(d);
    });
    // Scales of the columns of narrow weights, or of blocks.
    bool isLess = found.map && found.map.getNumResults() > map.getNumResults();
    if ((isLess || !sums || !map.isProjectedPermutation()) &&
        constantOf(operand->get()))
      continue;
    if (found.operand || !sums || !map.isProjectedPermutation() ||
        !hasWholeBytes(getElementTypeOrSelf(operand->get())))
      return std::nullopt;
    found = {operand, dim, operand->get(), map, 0, 1};
  }
  if (dot)
    found.group = dot->sum;
  if (!found.operand)
    return std::nullopt;
  if (statics[dim] < kFewLongColumns && !ShapedType::isDynamic(statics[dim]) &&
      !dot) {
    if (statics[dim] > 1)
      found.sum = sumForVectors(op, found.operand);
    if (!found.sum)
      return std::nullopt;
  }
  for (unsigned d : llvm::seq(op.getNumLoops())) {
    if (types[d] != IteratorType::parallel || found.map.isFunctionOfDim(d) ||
        found.rows == ShapedType::kDynamic)
      continue;
    found.rows = ShapedType::isDynamic(statics[d])
                     ? ShapedType::kDynamic
                     : std::max(found.rows, statics[d]);
  }
  int64_t lanes = cpu.lanesOf(element.getIntOrFloatBitWidth());
  if (!ShapedType::isDynamic(statics[dim]))
    lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(statics[dim]));
  if (dot)
    lanes = dotLanes(cpu, statics[dim]);
  // A wide tile reads several panels: in wider ones more would be padding.
  found.width =
      lanes * std::min<int64_t>(
                  CpuModel::kPanelVectors,
                  chooseTile(cpu, found.rows, statics[dim], lanes).vectors);
  if (auto transpose = found.source.getDefiningOp<linalg::TransposeOp>()) {
    SmallVector<AffineExpr> exprs(found.map.getNumResults());
    for (auto [k, axis] : llvm::enumerate(transpose.getPermutation()))
      exprs[axis] = found.map.getResult(k);
    found.source = transpose.getInput();
    found.map =
        AffineMap::get(found.map.getNumDims(), 0, exprs, rewriter.getContext());
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Where it pays
//===----------------------------------------------------------------------===//

Operation *Packing::placeFor(linalg::GenericOp op, const Candidate &candidate) {
  Operation *place = nullptr;
  for (Operation *parent = op->getParentOp();
       parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (!loop)
      continue;
    if (!loop.isDefinedOutsideOfLoop(candidate.source))
      break;
    place = parent;
  }
  std::optional<int64_t> bytes = bytesOf(candidate.source.getType());
  if (candidate.sum)
    return place || ShapedType::isDynamic(candidate.rows) ||
                   candidate.rows < kRowsOfColumns
               ? place
               : op;
  bool isGood = endsWith(candidate.map, candidate.dim);
  if (place)
    return isGood && bytes && *bytes <= CpuModel::kSmallOperand &&
                   !candidate.group
               ? nullptr
               : place;
  if (ShapedType::isDynamic(candidate.rows) || candidate.rows < kManyRows)
    return nullptr;
  if (!isGood || (bytes && *bytes >= kLarge))
    return op;
  return nullptr;
}

/// True if `source` is a constant with elements of its own.
static bool isPackable(Value source) {
  std::optional<ConstantPart> part = constantOf(source);
  if (!part || !cast<ShapedType>(source.getType()).hasStaticShape())
    return false;
  auto value = dyn_cast<ElementsAttr>(part->constant.getValue());
  if (!value || value.getNumElements() == 0)
    return false;
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return !dense.isSplat();
  return isa<DenseResourceElementsAttr>(value);
}

/// True if `source` is a constant that only matrix products read, so that
/// packing it does not keep a second copy.
static bool isOwnConstant(Value source) {
  if (!isPackable(source))
    return false;
  std::function<bool(Value)> isRead = [&](Value read) {
    return llvm::all_of(read.getUsers(), [&](Operation *user) {
      if (isa<linalg::TransposeOp, tensor::CollapseShapeOp,
              tensor::ExpandShapeOp, tensor::ExtractSliceOp>(user))
        return isRead(user->getResult(0));
      auto product = dyn_cast<linalg::GenericOp>(user);
      return product && product.getNumReductionLoops() > 0;
    });
  };
  return isRead(constantOf(source)->constant.getResult());
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The map of the packed operand: what is not summed, panels, what is summed,
/// the elements of a panel's row; of whole columns: what is summed last.
static AffineMap packedMap(linalg::GenericOp op, const Candidate &candidate) {
  SmallVector<AffineExpr> front, sums;
  auto types = op.getIteratorTypesArray();
  if (candidate.sum) {
    AffineExpr along = getAffineDimExpr(*candidate.sum, op.getContext());
    llvm::append_range(front, candidate.map.getResults());
    llvm::erase(front, along);
    front.push_back(along);
    return AffineMap::get(candidate.map.getNumDims(), 0, front,
                          op.getContext());
  }
  for (AffineExpr expr : candidate.map.getResults()) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    if (d == candidate.dim)
      continue;
    (types[d] == IteratorType::reduction ? sums : front).push_back(expr);
  }
  // In the order of the loops.
  llvm::sort(sums, [](AffineExpr x, AffineExpr y) {
    return cast<AffineDimExpr>(x).getPosition() <
           cast<AffineDimExpr>(y).getPosition();
  });
  AffineExpr d = getAffineDimExpr(candidate.dim, op.getContext());
  front.push_back(d.floorDiv(candidate.width));
  if (candidate.group) {
    AffineExpr sum = getAffineDimExpr(candidate.group->dim, op.getContext());
    llvm::replace(sums, sum, sum.floorDiv(candidate.group->size));
    llvm::append_range(front, sums);
    front.append({d % candidate.width, sum % candidate.group->size});
  } else {
    llvm::append_range(front, sums);
    front.push_back(d % candidate.width);
  }
  return AffineMap::get(candidate.map.getNumDims(), 0, front, op.getContext());
}

namespace {
/// `dim floordiv size`, `dim mod size` or, with a size of 1, `dim`.
struct Part {
  unsigned dim;
  AffineExprKind kind = AffineExprKind::FloorDiv;
  int64_t size = 1;
};
} // namespace

static Part partOf(AffineExpr expr) {
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return {d.getPosition()};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return {cast<AffineDimExpr>(binary.getLHS()).getPosition(), binary.getKind(),
          cast<AffineConstantExpr>(binary.getRHS()).getValue()};
}

/// Extents of the packed operand from those of the source.
static SmallVector<OpFoldResult> packedSizes(OpBuilder &b, Location loc,
                                             const Candidate &candidate,
                                             AffineMap target,
                                             ArrayRef<OpFoldResult> extents) {
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr expr : target.getResults()) {
    Part part = partOf(expr);
    OpFoldResult extent = extents[part.dim];
    std::optional<int64_t> fixed = getConstantIntValue(extent);
    if (part.kind == AffineExprKind::Mod) {
      sizes.push_back(b.getIndexAttr(part.size));
    } else if (part.size == 1) {
      sizes.push_back(extent);
    } else if (fixed) {
      sizes.push_back(b.getIndexAttr(llvm::divideCeil(*fixed, part.size)));
    } else {
      Value size = arith::ConstantIndexOp::create(b, loc, part.size);
      sizes.push_back(
          arith::CeilDivUIOp::create(b, loc, cast<Value>(extent), size)
              .getResult());
    }
  }
  return sizes;
}

/// `map` and `target` as maps of loops over the axes of the source alone.
static std::pair<AffineMap, AffineMap> compressed(AffineMap map,
                                                  AffineMap target) {
  unsigned rank = map.getNumResults();
  SmallVector<AffineExpr> dims(map.getNumDims(),
                               getAffineConstantExpr(0, map.getContext()));
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    dims[cast<AffineDimExpr>(expr).getPosition()] =
        getAffineDimExpr(k, map.getContext());
  return {AffineMap::getMultiDimIdentityMap(rank, map.getContext()),
          target.replaceDimsAndSymbols(dims, {}, rank, 0)};
}

Value Packing::packAtRunTime(const Candidate &candidate, AffineMap target,
                             Operation *place) {
  ImplicitLocOpBuilder b(candidate.operand->getOwner()->getLoc(), place);
  SmallVector<OpFoldResult> own =
      tensor::getMixedSizes(b, b.getLoc(), candidate.source);
  SmallVector<OpFoldResult> extents(candidate.map.getNumDims());
  for (auto [expr, size] : llvm::zip_equal(candidate.map.getResults(), own))
    extents[cast<AffineDimExpr>(expr).getPosition()] = size;
  Type element = getElementTypeOrSelf(candidate.source);
  Value init = tensor::EmptyOp::create(
      b, packedSizes(b, b.getLoc(), candidate, target, extents), element);
  auto isPadded = [&](AffineExpr expr) {
    Part part = partOf(expr);
    std::optional<int64_t> extent = getConstantIntValue(extents[part.dim]);
    return part.size > 1 && (!extent || *extent % part.size);
  };
  if (llvm::any_of(target.getResults(), isPadded)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    init = linalg::FillOp::create(b, zero, init)->getResult(0);
  }
  auto [from, to] = compressed(candidate.map, target);
  SmallVector<IteratorType> iterators(from.getNumDims(),
                                      IteratorType::parallel);
  ++packed;
  auto copy = linalg::GenericOp::create(
      b, init.getType(), candidate.source, init, ArrayRef{from, to}, iterators,
      [](OpBuilder &nested, Location loc, ValueRange args) {
        linalg::YieldOp::create(nested, loc, args[0]);
      });
  if (candidate.isPanels())
    copy->setAttr(kPackedAttrName, b.getUnitAttr());
  return copy.getResult(0);
}

Value Packing::packConstant(const Candidate &candidate, AffineMap target) {
  ConstantPart part = *constantOf(candidate.source);
  auto constant = part.constant;
  auto value = cast<ElementsAttr>(constant.getValue());
  auto type = cast<RankedTensorType>(candidate.source.getType());
  int64_t size = elementBytes(type.getElementType());
  ArrayRef<char> bytes = getRawBytes(value);
  if (static_cast<int64_t>(bytes.size()) != value.getNumElements() * size ||
      type.getNumElements() == 0)
    return {};
  bytes = bytes.slice(part.firstElement * size, type.getNumElements() * size);
  SmallVector<int64_t> shape;
  auto [from, to] = compressed(candidate.map, target);
  for (AffineExpr expr : to.getResults()) {
    Part part = partOf(expr);
    shape.push_back(
        part.kind == AffineExprKind::Mod
            ? part.size
            : llvm::divideCeil(type.getDimSize(part.dim), part.size));
  }
  auto packedType = RankedTensorType::get(shape, type.getElementType());
  // Offsets in the result, for each axis of the source by its positions.
  SmallVector<SmallVector<int64_t>> offsets;
  SmallVector<int64_t> strides = mlir::computeStrides(shape);
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    SmallVector<int64_t> &list = offsets.emplace_back(extent, 0);
    for (auto [k, expr] : llvm::enumerate(to.getResults())) {
      Part part = partOf(expr);
      bool isWithin = part.kind == AffineExprKind::Mod;
      for (int64_t at : llvm::seq(part.dim == axis ? extent : 0))
        list[at] += (isWithin ? at % part.size : at / part.size) * strides[k];
    }
  }
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
      packedType.getNumElements() * size, /*align=*/64);
  char *out = blob.getMutableData().data();
  std::memset(out, 0, blob.getData().size());
  SmallVector<int64_t> at(type.getRank(), 0);
  int64_t last = type.getRank() - 1;
  const char *in = bytes.data();
  for (int64_t rows = type.getNumElements() / type.getDimSize(last); rows--;) {
    int64_t base = 0;
    for (int64_t axis : llvm::seq(last))
      base += offsets[axis][at[axis]];
    for (int64_t offset : offsets[last]) {
      std::memcpy(out + (base + offset) * size, in, size);
      in += size;
    }
    for (int64_t axis = last - 1; axis >= 0; --axis) {
      if (++at[axis] < type.getDimSize(axis))
        break;
      at[axis] = 0;
    }
  }
  ++constants;
  OpBuilder b(constant);
  auto packedValue = DenseResourceElementsAttr::get(packedType, "loopc_packed",
                                                    std::move(blob));
  return arith::ConstantOp::create(b, constant.getLoc(), packedType,
                                   packedValue);
}

/// True if `op` is a product in the middle of others by rows, as in attention:
/// `cpu-tile-chains` wants to see that they all go by the same rows.
static bool isInChain(linalg::GenericOp op) {
  auto goesByRows = [](Operation *other) {
    auto generic = dyn_cast_or_null<linalg::GenericOp>(other);
    return generic && generic.getNumParallelLoops() > 1 &&
           generic.getNumDpsInputs() > 0;
  };
  return llvm::any_of(op.getResult(0).getUsers(), goesByRows) ||
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           return goesByRows(input.getDefiningOp());
         });
}

linalg::GenericOp Packing::mergeRows(linalg::GenericOp op,
                                     const Candidate &candidate) {
  if (!isOwnConstant(candidate.source) && isInChain(op))
    return op;
  // areDimSequencesPreserved() takes every result of a map for a dimension.
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap m) { return m.isProjectedPermutation(); }))
    return op;
  auto types = op.getIteratorTypesArray();
  AffineMap map = op.getMatchingIndexingMap(candidate.operand);
  auto isRow = [&](int64_t d) {
    return types[d] == IteratorType::parallel && !map.isFunctionOfDim(d);
  };
  SmallVector<ReassociationIndices> groups;
  for (int64_t d : llvm::seq<int64_t>(op.getNumLoops())) {
    if (d > 0 && isRow(d) && isRow(d - 1) && !isRowOfImage(op, d, cpu)) {
      ReassociationIndices joined = groups.back();
      joined.push_back(d);
      if (linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), joined)) {
        groups.back() = joined;
        continue;
      }
    }
    groups.push_back({d});
  }
  if (groups.size() == op.getNumLoops())
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> merged =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(merged))
    return op;
  rewriter.replaceOp(op, merged->results);
  return cast<linalg::GenericOp>(merged->collapsedOp.getOperation());
}

bool Packing::readThrough(linalg::GenericOp op, const Candidate &candidate) {
  OpOperand &operand = *candidate.operand;
  OpOperand *init = op.getDpsInitOperand(0);
  Type element = getElementTypeOrSelf(init->get());
  unsigned bits = element.getIntOrFloatBitWidth();
  if (operand.get() == candidate.source || !operand.get().hasOneUse() ||
      !ShapedType::isDynamic(candidate.rows) ||
      op.getNumReductionLoops() != 1 || !cpu.canMask(bits) ||
      cpu.lanesOf(bits) > CpuModel::kSquareLanes || !reorderableAddition(op))
    return false;
  // Few rows go along the sum.
  unsigned sum = 0;
  while (op.getIteratorTypesArray()[sum] != IteratorType::reduction)
    ++sum;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map =
        input == &operand ? candidate.map : op.getMatchingIndexingMap(input);
    if (map.isFunctionOfDim(sum) && !endsWith(map, sum))
      return false;
  }
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand.getOperandNumber()] = candidate.map;
    operand.set(candidate.source);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return true;
}

/// True if `op` makes floats of more bits of what is packed: many rows read
/// these from a strip, which is made of panels.
static bool isWidened(linalg::GenericOp op, const Candidate &candidate) {
  Type sum = getElementTypeOrSelf(op.getDpsInits().front());
  return isa<FloatType>(sum) &&
         getElementTypeOrSelf(candidate.source).getIntOrFloatBitWidth() <
             sum.getIntOrFloatBitWidth();
}

/// Lets `op` read by `target` what `candidate` is packed into at `place`.
bool Packing::replaceOperand(linalg::GenericOp op, const Candidate &candidate,
                             AffineMap target, Operation *place) {
  auto [from, to] = compressed(candidate.map, target);
  Value &value = done[{candidate.source.getAsOpaquePointer(), place,
                       const_cast<void *>(to.getAsOpaquePointer()), nullptr}];
  if (!value)
    value = place ? packAtRunTime(candidate, target, place)
                  : packConstant(candidate, target);
  if (!value)
    return false;
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[candidate.operand->getOperandNumber()] = target;
    candidate.operand->set(value);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    if (candidate.isPanels())
      op->setAttr(kPackedAttrName, rewriter.getUnitAttr());
  });
  return true;
}

/// Drops axes of `operand`, of one element each, that are read at 0 alone.
static void dropZeros(RewriterBase &rewriter, linalg::GenericOp op,
                      OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  llvm::SmallBitVector zeros(map.getNumResults());
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    zeros[axis] = isa<AffineConstantExpr>(expr);
  auto type = cast<RankedTensorType>(operand->get().getType());
  if (zeros.none() || llvm::any_of(zeros.set_bits(), [&](unsigned axis) {
        return type.getDimSize(axis) != 1;
      }))
    return;
  rewriter.setInsertionPoint(op);
  Value whole =
      tensor::dropGivenUnitDims(rewriter, op.getLoc(), operand->get(), zeros);
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] = map.dropResults(zeros);
    operand->set(whole);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// Lets `op` read scales and zero points of the columns, which are no panels,
/// with the columns last.
void Packing::turnScales(linalg::GenericOp op, const OpOperand &panels,
                         unsigned columns) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (operand == &panels || !map.isFunctionOfDim(columns) ||
        endsWith(map, columns))
      continue;
    dropZeros(rewriter, op, operand);
    map = op.getMatchingIndexingMap(operand);
    if (endsWith(map, columns) || !map.isProjectedPermutation())
      continue;
    Candidate scales{operand, columns, operand->get(), map, 0, 1};
    SmallVector<AffineExpr> exprs(map.getResults());
    AffineExpr column = rewriter.getAffineDimExpr(columns);
    llvm::erase(exprs, column);
    exprs.push_back(column);
    auto target =
        AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
    Operation *loop = placeFor(op, scales);
    replaceOperand(op, scales, target,
                   isPackable(scales.source) ? nullptr
                   : loop                    ? loop
                                             : op);
  }
}

void Packing::run(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  std::optional<DotProduct> dot = matchDotProduct(op, cpu);
  if (dot && dot->hasZeros())
    op = hoistZeroPoints(rewriter, op, *dot);
  std::optional<Candidate> candidate = find(op);
  if (!candidate)
    return;
  if (linalg::GenericOp merged = mergeRows(op, *candidate); merged != op) {
    op = merged;
    candidate = find(op);
    if (!candidate)
      return;
  }
  AffineMap target = packedMap(op, *candidate);
  if (target == op.getMatchingIndexingMap(candidate->operand))
    return;
  // Groups are packed in any case: a second copy of what others read as well
  // (a table of embeddings) costs less than one in each run.
  bool isConstant = isOwnConstant(candidate->source) ||
                    (candidate->group && isPackable(candidate->source));
  Operation *place = nullptr;
  if (isConstant) {
    std::optional<int64_t> bytes = bytesOf(candidate->source.getType());
    if (!candidate->sum && endsWith(candidate->map, candidate->dim) &&
        *bytes <= CpuModel::kSmallOperand && !candidate->group &&
        !isWidened(op, *candidate))
      return;
  } else {
    place = placeFor(op, *candidate);
    // Groups are read as such only. Of a matrix times a vector each element is
    // read once, and vectors go along the sum as well.
    bool isReadOnce = candidate->rows == 1 && candidate->group &&
                      endsWith(candidate->map, candidate->group->dim);
    if (!place && candidate->group && !isReadOnce)
      place = op;
    if (!place)
      return (void)(candidate->sum || readThrough(op, *candidate));
  }
  if (replaceOperand(op, *candidate, target, place) && candidate->isPanels())
    turnScales(op, *candidate->operand, candidate->dim);
}

/// Makes expansions of narrow weights parts of the products that read them:
/// what is packed is then as narrow.
static void expandInProducts(Operation *root) {
  auto products = collectOps(root, [&](linalg::GenericOp op) {
    return op.getNumReductionLoops() > 0;
  });
  IRRewriter rewriter(root->getContext());
  for (linalg::GenericOp product : products)
    for (OpOperand *operand : product.getDpsInputOperands()) {
      if (!isExpandedInProduct(*operand) ||
          !linalg::areElementwiseOpsFusable(operand))
        continue;
      Operation *expansion = operand->get().getDefiningOp();
      rewriter.setInsertionPoint(product);
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, operand);
      if (failed(fused))
        continue;
      rewriter.replaceOp(product,
                         fused->replacements.lookup(product.getResult(0)));
      if (expansion->use_empty())
        rewriter.eraseOp(expansion);
      break;
    }
}

namespace {
struct CpuPackContractions
    : loopc::impl::CpuPackContractionsBase<CpuPackContractions> {
  using Base::Base;

  void runOnOperation() override {
    CpuModel cpu(getVectorUnit(getOperation()));
    expandInProducts(getOperation());
    Packing packing(&getContext(), cpu);
    for (linalg::GenericOp op : collectOps<linalg::GenericOp>(getOperation()))
      packing.run(op);
    numConstants += packing.constants;
    numPacked += packing.packed;
  }
};
} // namespace
