//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which sums of products of small integers the target has instructions for.

#include "Contractions.h"
#include "Rows/VectorElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// The narrowest vectors of sums that there are instructions for.
static constexpr int64_t kMinLanes = CpuModel::kMinBits / 32;

int64_t loopc::dotLanes(CpuModel cpu, int64_t columns) {
  int64_t most = cpu.lanesOf(32);
  if (ShapedType::isDynamic(columns))
    return most;
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), kMinLanes, most);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// A factor of 32 bits: an argument of the body, or some of its bits, extended,
/// less a zero point.
struct Factor {
  BlockArgument argument;
  bool isUnsigned;
  unsigned firstBit = 0, bits = 0;
  arith::SubIOp difference = {};
};

/// What is summed up.
struct Products {
  SmallVector<std::pair<Factor, Factor>, 2> terms;
  Value start = {};
};

class DotMatcher {
public:
  DotMatcher(linalg::LinalgOp op, CpuModel cpu) : op(op), cpu(cpu) {}
  std::optional<DotProduct> match();

private:
  std::optional<Factor> matchFactor(Value value);
  std::optional<Value> matchStart(Value value);
  bool addProducts(Value value, Value before, Products &products);
  Value findBlock(Value value);
  bool isSameAlong(Value value, unsigned dim);
  bool setSum(DotProduct &dot);
  bool setTerms(DotProduct &dot, const Products &products);
  bool fits(const DotProduct &dot);
  bool fitsBlock(const DotProduct &dot);
  bool isVectorsBehind(const DotProduct &dot);
  bool setMethod(DotProduct &dot);
  AffineMap mapOf(BlockArgument argument) {
    return op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
  }

  linalg::LinalgOp op;
  CpuModel cpu;
};
} // namespace

/// The constant of `value`.
static std::optional<uint64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getZExtValue();
}

/// Removes a mask and a shift from what `factor` is extended from.
static Value removeBits(Value value, Factor &factor) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  unsigned end = width;
  if (auto masked = value.getDefiningOp<arith::AndIOp>()) {
    std::optional<uint64_t> mask = constantOf(masked.getRhs());
    if (!mask || !llvm::isMask_64(*mask))
      return value;
    end = llvm::countr_one(*mask);
    value = masked.getLhs();
  }
  if (auto shifted = value.getDefiningOp<arith::ShRUIOp>())
    if (std::optional<uint64_t> count = constantOf(shifted.getRhs());
        count && *count < width) {
      factor.firstBit = *count;
      value = shifted.getLhs();
    }
  factor.bits = std::min(end, width - factor.firstBit);
  if (factor.bits == width)
    factor.bits = 0;
  return value;
}

std::optional<Factor> DotMatcher::matchFactor(Value value) {
  Factor factor;
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    factor.difference = difference;
    value = difference.getLhs();
  }
  Operation *extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension))
    return std::nullopt;
  factor.isUnsigned = isa<arith::ExtUIOp>(extension);
  value = extension->getOperand(0);
  if (factor.isUnsigned)
    value = removeBits(value, factor);
  factor.argument = dyn_cast<BlockArgument>(value);
  if (!factor.argument || factor.argument.getOwner() != op.getBlock())
    return std::nullopt;
  return factor;
}

/// The value that is added where the innermost loop over the sum is at 0, and
/// 0 elsewhere (hoistZeroPoints()).
std::optional<Value> DotMatcher::matchStart(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compared = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                         : arith::CmpIOp();
  if (!compared || compared.getPredicate() != arith::CmpIPredicate::eq ||
      constantOf(compared.getRhs()) != 0 ||
      constantOf(select.getFalseValue()) != 0)
    return std::nullopt;
  auto index = compared.getLhs().getDefiningOp<linalg::IndexOp>();
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  if (!index || index.getDim() != sums.back())
    return std::nullopt;
  return select.getTrueValue();
}

/// Adds what `value` is the sum of, `before` apart, to `products`.
bool DotMatcher::addProducts(Value value, Value before, Products &products) {
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return addProducts(sum.getLhs(), before, products) &&
           addProducts(sum.getRhs(), before, products);
  if (value == before)
    return true;
  if (std::optional<Value> start = matchStart(value)) {
    bool isFirst = !products.start;
    products.start = *start;
    return isFirst;
  }
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  auto x = matchFactor(product.getLhs()), w = matchFactor(product.getRhs());
  if (!x || !w || x->argument == w->argument)
    return false;
  products.terms.emplace_back(*x, *w);
  return true;
}

/// True if `value` of the body is one value for all of the loop `dim`.
bool DotMatcher::isSameAlong(Value value, unsigned dim) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBlock())
    return !op.isDpsInit(op.getMatchingOpOperand(argument)) &&
           !mapOf(argument).isFunctionOfDim(dim);
  Operation *from = value.getDefiningOp();
  if (!from || from->getBlock() != op.getBlock())
    return true;
  return !isa<linalg::IndexOp>(from) &&
         llvm::all_of(from->getOperands(),
                      [&](Value operand) { return isSameAlong(operand, dim); });
}

/// The integer of which `value` is a multiple: a chain of products with what is
/// one value for all of the sum.
Value DotMatcher::findBlock(Value value) {
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  while (auto product = value.getDefiningOp<arith::MulFOp>()) {
    bool isRight = isSameAlong(product.getLhs(), sums.back());
    if (!isRight && !isSameAlong(product.getRhs(), sums.back()))
      return {};
    value = isRight ? product.getRhs() : product.getLhs();
  }
  auto converted = value.getDefiningOp<arith::SIToFPOp>();
  return converted && converted.getIn().getType().isInteger(32)
             ? converted.getIn()
             : Value();
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// True if `operand` has one axis for `dim`, which is the last one.
static bool endsWithAlone(AffineMap map, unsigned dim) {
  return map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(dim, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(dim);
         });
}

/// Sets which factors are read as vectors, all parts of one operand.
bool DotMatcher::setTerms(DotProduct &dot, const Products &products) {
  for (auto [elements, vectors] : products.terms) {
    if (mapOf(elements.argument).isFunctionOfDim(dot.columns))
      std::swap(elements, vectors);
    OpOperand *operand = op.getMatchingOpOperand(vectors.argument);
    bool isFirst = dot.terms.empty();
    if (isFirst) {
      dot.vectors = operand;
      dot.areVectorsUnsigned = vectors.isUnsigned;
      dot.sum.size =
          32 / getElementTypeOrSelf(operand->get()).getIntOrFloatBitWidth();
    }
    unsigned bits =
        getElementTypeOrSelf(operand->get()).getIntOrFloatBitWidth();
    bool fitsSigns = bits == 8 ? elements.isUnsigned != vectors.isUnsigned
                               : !elements.isUnsigned && !vectors.isUnsigned;
    bool isSame = operand == dot.vectors &&
                  vectors.isUnsigned == dot.areVectorsUnsigned &&
                  (isFirst || !vectors.difference == !dot.hasZeros());
    if (!isSame || !fitsSigns || elements.difference || elements.bits != 0 ||
        elements.argument.getType() != vectors.argument.getType() ||
        mapOf(elements.argument).isFunctionOfDim(dot.columns) ||
        !endsWithAlone(mapOf(elements.argument), dot.sum.dim))
      return false;
    dot.terms.push_back({op.getMatchingOpOperand(elements.argument),
                         vectors.firstBit, vectors.bits, vectors.difference});
  }
  return !dot.terms.empty();
}

/// True for a number of at most 8 bits.
static bool isByte(Value value) {
  constexpr int64_t kMaxByte = 255;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known >= -kMaxByte && *known <= kMaxByte;
  Operation *extension = value.getDefiningOp();
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension) &&
         extension->getOperand(0).getType().getIntOrFloatBitWidth() <= 8;
}

/// True if what the body makes of the sums of `dot`, and begins them with, is
/// computed in vectors.
bool DotMatcher::isVectorsBehind(const DotProduct &dot) {
  Block *body = op.getBlock();
  SetVector<Value> open;
  open.insert(body->getTerminator()->getOperand(0));
  for (const DotProduct::Term &term : dot.terms)
    if (Value zero = term.zero())
      open.insert(zero);
  if (dot.start)
    open.insert(dot.start);
  for (size_t k = 0; k < open.size(); ++k) {
    Operation *made = open[k].getDefiningOp();
    if (open[k] == dot.block || !made || made->getBlock() != body)
      continue;
    if (!isVectorOperation(*made) && !made->hasTrait<OpTrait::ConstantLike>())
      return false;
    open.insert_range(made->getOperands());
  }
  return true;
}

/// True if sums of integers of `dot`, which are added up as floats, cannot
/// overflow, and what is added to them is the same along the sum.
bool DotMatcher::fitsBlock(const DotProduct &dot) {
  int64_t extent = knownExtents(op)[dot.sum.dim];
  int64_t most = int64_t(dot.terms.size()) << 16;
  if (ShapedType::isDynamic(extent) || extent >= (int64_t(1) << 30) / most ||
      !reorderableAddition(op) || !isVectorsBehind(dot) ||
      (dot.start && dot.hasZeros()) ||
      (dot.start && !isSameAlong(dot.start, dot.sum.dim)))
    return false;
  AffineMap first = op.getMatchingIndexingMap(dot.terms.front().elements);
  return llvm::all_of(dot.terms, [&](const DotProduct::Term &term) {
    Value zero = term.zero();
    return op.getMatchingIndexingMap(term.elements) == first &&
           (!zero || (isSameAlong(zero, dot.sum.dim) && isByte(zero) &&
                      zero == dot.terms.front().zero()));
  });
}

/// True if there are instructions for `dot`.
bool DotMatcher::fits(const DotProduct &dot) {
  unsigned bits =
      getElementTypeOrSelf(dot.vectors->get()).getIntOrFloatBitWidth();
  AffineMap map = op.getMatchingIndexingMap(dot.vectors);
  int64_t extent = knownExtents(op)[dot.columns];
  bool isWide = ShapedType::isDynamic(extent) || extent >= kMinLanes;
  // Without masks there are whole vectors only.
  if (!cpu.canMask(32))
    isWide =
        !ShapedType::isDynamic(extent) && extent > 0 && extent % kMinLanes == 0;
  return (bits == 8 || bits == 16) && isWide &&
         map.isFunctionOfDim(dot.columns) && map.isFunctionOfDim(dot.sum.dim);
}

/// Sets how groups are multiplied; false if in no way that pays: a sum of bytes
/// alone is made one of 16 bits where the target has no instruction for it.
bool DotMatcher::setMethod(DotProduct &dot) {
  bool areBytes = dot.sum.size == 4;
  // Where bytes are multiplied, pairs of 16 bits are, too.
  if (cpu.dotBits == 8 || (cpu.dotBits == 16 && !areBytes))
    return true;
  if (!areBytes || !dot.block)
    return false;
  if (cpu.dotBits == 0) {
    dot.method = DotProduct::Method::Multiples;
    return true;
  }
  // Sums of two products of bytes fit into 16 bits if one of them has at most 7
  // bits.
  bool areShort = dot.areVectorsUnsigned &&
                  llvm::all_of(dot.terms, [](const DotProduct::Term &term) {
                    return term.bits != 0 && term.bits <= 7;
                  });
  dot.method = areShort && cpu.bits >= 256 ? DotProduct::Method::Pairs
                                           : DotProduct::Method::Words;
  return true;
}

std::optional<DotProduct> DotMatcher::match() {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isProjectedPermutation() || out.getNumResults() == 0)
    return std::nullopt;
  DotProduct dot{};
  dot.columns = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  dot.sum.dim = sums.back();
  Value result = op.getBlock()->getTerminator()->getOperand(0);
  Value before = op.getRegionOutputArgs()[0];
  Products products;
  if (auto added = result.getDefiningOp<arith::AddFOp>()) {
    bool isRight = added.getLhs() == before;
    if (!isRight && added.getRhs() != before)
      return std::nullopt;
    dot.block = findBlock(isRight ? added.getRhs() : added.getLhs());
    if (!dot.block || !addProducts(dot.block, {}, products))
      return std::nullopt;
  } else {
    auto sum = result.getDefiningOp<arith::AddIOp>();
    if (!sum || !sum.getType().isInteger(32) || !before.hasOneUse() ||
        !addProducts(result, before, products) || products.start)
      return std::nullopt;
  }
  dot.start = products.start;
  if (!setTerms(dot, products) || !fits(dot))
    return std::nullopt;
  bool isPure =
      static_cast<int64_t>(dot.terms.size()) + 1 == op.getNumDpsInputs() &&
      !dot.hasZeros();
  if (dot.block ? !fitsBlock(dot) : !isPure)
    return std::nullopt;
  if (!setMethod(dot))
    return std::nullopt;
  return dot;
}

std::optional<DotProduct> loopc::matchDotProduct(linalg::LinalgOp op,
                                                 CpuModel cpu) {
  return DotMatcher(op, cpu).match();
}
