//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What linalg.generic computes of constants: weights less their zero points,
// sums of their columns, products of scales, windows and filters. Operations
// are done on blocks of elements, so that large weights take little time.

#include "ConstantGenerics.h"
#include "ConstantNumbers.h"
#include "ConstantProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>
#include <cmath>
#include <functional>
#include <vector>

using namespace mlir;
using namespace loopc;

/// Elements that are computed at a time.
static constexpr int64_t kBlock = 256;

/// Integers of whole bytes, truth values and floats of 16 bits and more are
/// computed with.
static bool isKnown(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth());
}

/// Bits of a number of a body.
static unsigned widthOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

namespace {
using Function = double (*)(double);
} // namespace

/// What `op` computes of one number; null if that is not known.
static Function functionOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Function>(&op)
      .Case([](arith::NegFOp) { return [](double x) { return -x; }; })
      .Case([](math::AbsFOp) { return [](double x) { return std::fabs(x); }; })
      .Case([](math::CeilOp) { return [](double x) { return std::ceil(x); }; })
      .Case(
          [](math::FloorOp) { return [](double x) { return std::floor(x); }; })
      .Case(
          [](math::TruncOp) { return [](double x) { return std::trunc(x); }; })
      .Case([](math::RoundEvenOp) {
        // The mode of the compiler's process: to nearest, ties to even.
        return [](double x) { return std::nearbyint(x); };
      })
      .Case([](math::SqrtOp) { return [](double x) { return std::sqrt(x); }; })
      .Case([](math::SinOp) { return [](double x) { return std::sin(x); }; })
      .Case([](math::CosOp) { return [](double x) { return std::cos(x); }; })
      .Case([](math::ExpOp) { return [](double x) { return std::exp(x); }; })
      .Case([](math::LogOp) { return [](double x) { return std::log(x); }; })
      .Case([](math::TanhOp) { return [](double x) { return std::tanh(x); }; })
      .Case([](math::ErfOp) { return [](double x) { return std::erf(x); }; })
      .Default([](Operation *) { return nullptr; });
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

static bool isKnownOperation(Operation &op) {
  auto isNumber = [](Type type) { return type.isIndex() || isKnown(type); };
  if (op.getNumResults() != 1 || !isNumber(op.getResult(0).getType()) ||
      !llvm::all_of(op.getOperandTypes(), isNumber))
    return false;
  if (isa<arith::BitcastOp>(op) &&
      isa<FloatType>(op.getOperand(0).getType()) ==
          isa<FloatType>(op.getResult(0).getType()))
    return false;
  // f64 would round what 16 bits round again.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
      widthOf(op.getOperand(0).getType()) == 64 &&
      widthOf(op.getResult(0).getType()) == 16)
    return false;
  return isa<linalg::IndexOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
             arith::XOrIOp, arith::AndIOp, arith::OrIOp, arith::ShLIOp,
             arith::ShRUIOp, arith::ShRSIOp, arith::BitcastOp, arith::CmpIOp,
             arith::SelectOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtFOp,
             arith::TruncFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::DivFOp, arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp,
             arith::FPToSIOp, math::PowFOp>(op) ||
         functionOf(op);
}

std::optional<BlockNumber> loopc::matchBlockNumber(AffineExpr expr) {
  auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(quotient.getLHS());
  auto length = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  if (!dim || !length || length.getValue() < 1)
    return std::nullopt;
  return BlockNumber{dim.getPosition(), length.getValue()};
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// The operation that combines the result so far with what the rest of the body
/// makes of an element, if `op` ends with one and reads the result nowhere
/// else.
static Operation *findCombiner(linalg::GenericOp op) {
  Operation *last =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument before = op.getRegionOutputArgs().front();
  bool isLast = last && last->getBlock() == op.getBody() &&
                before.hasOneUse() && *before.user_begin() == last;
  return isLast ? last : nullptr;
}

/// True if `op` adds up floats in an order that it leaves open: how a sum is
/// rounded the order tells, which is the run's otherwise.
static bool isSumInAnyOrder(linalg::GenericOp op) {
  auto sum = dyn_cast_or_null<arith::AddFOp>(findCombiner(op));
  return sum &&
         bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc);
}

/// True if the order in which `op` combines floats does not matter, or is left
/// open.
static bool hasAnyOrder(linalg::GenericOp op) {
  return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(
             findCombiner(op)) ||
         isSumInAnyOrder(op);
}

bool loopc::canEvaluate(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumLoops() == 0)
    return false;
  if (op.getNumReductionLoops() > 0 && isFloat(op.getResult(0)) &&
      !hasAnyOrder(op))
    return false;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() || !isKnown(type.getElementType()) ||
        type.getNumElements() == 0)
      return false;
  }
  for (OpOperand &operand : op->getOpOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      if (!isa<AffineDimExpr>(expr) &&
          expr != getAffineConstantExpr(0, op.getContext()) &&
          !(op.isDpsInput(&operand) && matchBlockNumber(expr)))
        return false;
  auto isConstant = [&](Value value) {
    Attribute attribute;
    return value.getParentBlock() == op.getBody() ||
           ((value.getType().isIndex() || isKnown(value.getType())) &&
            matchPattern(value, m_Constant(&attribute)) &&
            isa<IntegerAttr, FloatAttr>(attribute));
  };
  for (Operation &nested : op.getBody()->without_terminator())
    if (!isKnownOperation(nested) ||
        !llvm::all_of(nested.getOperands(), isConstant))
      return false;
  return isConstant(op.getBody()->getTerminator()->getOperand(0));
}

namespace {
/// Some neighbours of a value; which of the two is used its type tells. Sums,
/// products, quotients and roots of f32 (f16, bf16) that are computed with f64
/// and rounded to f32 (f16, bf16) are those of f32 (f16, bf16).
struct Elements {
  std::array<int64_t, kBlock> integers;
  std::array<double, kBlock> floats;
};

class Evaluation {
public:
  Evaluation(linalg::GenericOp op, ArrayRef<ConstantBytes> operands);
  ConstantBytes run();

private:
  /// Adds up the products that `op` is, as f64.
  void runProducts(const ProductLoops &loops);
  void chooseReducedBlocks();
  /// The elements of operand `number` as f64.
  std::vector<double> widen(unsigned number, bool isUnsigned = false);
  /// Sums as f64, which are rounded once, and what becomes of them.
  void widenSums();
  ConstantBytes roundSums();
  /// The type of what the loops make of argument `number` of the body.
  Type typeOf(unsigned number);
  /// The elements `count` of them from `at` on, by loops.
  void runBlock(ArrayRef<int64_t> at, int64_t count);
  void compute(Operation &op, int64_t count);
  void computeFloats(Operation &op, int64_t count, Elements &to);
  void computeIntegers(Operation &op, int64_t count, Elements &to);
  /// The places along loop `dim` from `at` on.
  void fillIndices(int64_t dim, ArrayRef<int64_t> at, int64_t count,
                   Elements &to);
  /// Repeats the elements of `operand`, an input that is read by blocks, so
  /// that there is one for each point of the loops.
  void repeatBlocks(OpOperand &operand);
  void load(const ConstantBytes &from, Type type, int64_t offset, int64_t step,
            int64_t count, Elements &to);
  Elements &elementsOf(Value value, int64_t count);

  linalg::GenericOp op;
  SmallVector<ConstantBytes> buffers;
  SmallVector<int64_t> ranges;
  /// For each operand how far apart neighbours along each loop are.
  SmallVector<SmallVector<int64_t>> strides;
  /// The loop along which blocks are: one that is not summed over, if any is.
  unsigned blockDim = 0;
  bool hasBlocks = false;
  /// What the body ends with, if blocks are along a reduction: each element of
  /// a block is combined with what the one before it gave.
  Operation *combiner = nullptr;
  /// What `combiner` combines with, while it is computed.
  Elements *before = nullptr;
  /// The loops of a product of matrices, if that is what `op` is.
  std::optional<ProductLoops> products;
  /// The sum that the body ends with, if sums are f64.
  Operation *sum = nullptr;
  llvm::DenseMap<Value, std::unique_ptr<Elements>> values;
};
} // namespace

Evaluation::Evaluation(linalg::GenericOp op, ArrayRef<ConstantBytes> operands)
    : op(op), buffers(operands), ranges(op.getStaticLoopRanges()) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    SmallVector<int64_t> own = mlir::computeStrides(type.getShape());
    SmallVector<int64_t> &byLoops = strides.emplace_back(ranges.size(), 0);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        byLoops[dim.getPosition()] += own[axis];
    if (llvm::any_of(map.getResults(), [](AffineExpr expr) {
          return matchBlockNumber(expr).has_value();
        }))
      repeatBlocks(operand);
  }
  for (auto [dim, stride] : llvm::enumerate(strides.back())) {
    // The longest, and of those the last one.
    if (stride == 0 || (hasBlocks && ranges[dim] < ranges[blockDim]))
      continue;
    blockDim = dim;
    hasBlocks = true;
  }
  if (op.getNumReductionLoops() == 0)
    return;
  products = findProductLoops(op);
  if (products || (isFloat(op.getResult(0)) && isSumInAnyOrder(op)))
    widenSums();
  chooseReducedBlocks();
}

/// Blocks along a reduction that is longer than what is not summed over, if it
/// may be combined in another order.
void Evaluation::chooseReducedBlocks() {
  Operation *last = findCombiner(op);
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::AndIOp,
                       arith::OrIOp, arith::XOrIOp>(last) &&
      !hasAnyOrder(op))
    return;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  for (unsigned loop : reductions) {
    if (hasBlocks && ranges[loop] <= ranges[blockDim])
      continue;
    blockDim = loop;
    hasBlocks = true;
    combiner = last;
  }
}

std::vector<double> Evaluation::widen(unsigned number, bool isUnsigned) {
  Type type = getElementTypeOrSelf(op->getOperand(number).getType());
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(widthOf(type));
  int64_t count = buffers[number].size() / llvm::divideCeil(widthOf(type), 8);
  std::vector<double> wide(count);
  Elements some;
  for (int64_t first = 0; first < count; first += kBlock) {
    int64_t part = std::min(kBlock, count - first);
    load(buffers[number], type, first, 1, part, some);
    if (isa<FloatType>(type))
      std::copy_n(some.floats.begin(), part, wide.begin() + first);
    else
      std::transform(some.integers.begin(), some.integers.begin() + part,
                     wide.begin() + first, [&](int64_t element) {
                       return isUnsigned ? double(element & mask)
                                         : double(element);
                     });
  }
  return wide;
}

/// The bytes of `numbers`.
static ConstantBytes bytesOf(ArrayRef<double> numbers) {
  auto *first = reinterpret_cast<const char *>(numbers.data());
  return ConstantBytes(first, first + numbers.size() * sizeof(double));
}

void Evaluation::widenSums() {
  sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  buffers.back() = bytesOf(widen(buffers.size() - 1));
}

void Evaluation::runProducts(const ProductLoops &loops) {
  SmallVector<ProductOperand> inputs;
  for (unsigned number : llvm::seq(2u))
    inputs.push_back(
        {widen(number, loops.isUnsigned[number]), strides[number]});
  ProductOperand sums{{}, strides.back()};
  sums.elements.resize(buffers.back().size() / sizeof(double));
  std::memcpy(sums.elements.data(), buffers.back().data(),
              buffers.back().size());
  addProducts(op, loops, inputs, sums);
  buffers.back() = bytesOf(sums.elements);
}

ConstantBytes Evaluation::roundSums() {
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  int64_t size = widthOf(type) / 8;
  int64_t count = buffers.back().size() / sizeof(double);
  ConstantBytes rounded(count * size);
  for (int64_t k : llvm::seq(count)) {
    double number;
    std::memcpy(&number, buffers.back().data() + k * sizeof(double),
                sizeof(double));
    int64_t bits = isa<FloatType>(type) ? bitsOf(number, type)
                                        : static_cast<int64_t>(number);
    std::memcpy(rounded.data() + k * size, &bits, size);
  }
  return rounded;
}

Type Evaluation::typeOf(unsigned number) {
  return sum && number + 1 == buffers.size()
             ? Type(Float64Type::get(op.getContext()))
             : op.getBody()->getArgument(number).getType();
}

void Evaluation::repeatBlocks(OpOperand &operand) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  SmallVector<int64_t> own = mlir::computeStrides(type.getShape());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned number = operand.getOperandNumber();
  int64_t size = llvm::divideCeil(widthOf(type.getElementType()), 8);
  SmallVector<int64_t> &byLoops = strides[number];
  byLoops = mlir::computeStrides(ranges);
  ConstantBytes repeated;
  for (int64_t point : llvm::seq(llvm::product_of(ranges))) {
    SmallVector<int64_t> at = mlir::delinearize(point, byLoops);
    int64_t offset = 0;
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), own)) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        offset += at[dim.getPosition()] * stride;
      else if (auto block = matchBlockNumber(expr))
        offset += at[block->dim] / block->length * stride;
    }
    const char *from = buffers[number].data() + offset * size;
    repeated.append(from, from + size);
  }
  buffers[number] = std::move(repeated);
}

/// `value` as what `width` bits of it are, with a sign.
static int64_t withSign(int64_t value, unsigned width) {
  return llvm::SignExtend64(static_cast<uint64_t>(value), width);
}

void Evaluation::load(const ConstantBytes &from, Type type, int64_t offset,
                      int64_t step, int64_t count, Elements &to) {
  auto copy = [&](auto kind, auto &target) {
    const char *base = from.data() + offset * sizeof(kind);
    for (int64_t k = 0; k < count; ++k) {
      std::memcpy(&kind, base + k * step * sizeof(kind), sizeof(kind));
      target[k] = kind;
    }
  };
  if (type.isF32())
    return copy(float(), to.floats);
  if (type.isF64())
    return copy(double(), to.floats);
  if (isa<FloatType>(type)) {
    const std::vector<double> &numbers = numbersOf(type);
    for (int64_t k = 0; k < count; ++k) {
      uint16_t bits;
      std::memcpy(&bits, from.data() + (offset + k * step) * sizeof(bits),
                  sizeof(bits));
      to.floats[k] = numbers[bits];
    }
    return;
  }
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    copy(int8_t(), to.integers);
    for (int64_t k = 0; k < count; ++k)
      to.integers[k] = withSign(to.integers[k], 1);
    return;
  case 8:
    return copy(int8_t(), to.integers);
  case 16:
    return copy(int16_t(), to.integers);
  case 32:
    return copy(int32_t(), to.integers);
  default:
    return copy(int64_t(), to.integers);
  }
}

Elements &Evaluation::elementsOf(Value value, int64_t count) {
  std::unique_ptr<Elements> &elements = values[value];
  if (elements)
    return *elements;
  // A constant from outside of the body.
  elements = std::make_unique<Elements>();
  Attribute attribute;
  matchPattern(value, m_Constant(&attribute));
  if (auto number = dyn_cast<FloatAttr>(attribute))
    elements->floats.fill(number.getValueAsDouble());
  else
    elements->integers.fill(
        cast<IntegerAttr>(attribute).getValue().getSExtValue());
  return *elements;
}

void Evaluation::computeFloats(Operation &nested, int64_t count, Elements &to) {
  Value first = nested.getOperand(0);
  const Elements &x = elementsOf(first, count);
  const Elements &y = elementsOf(nested.getOperands().back(), count);
  auto each = [&](auto body) {
    for (int64_t k = 0; k < count; ++k) {
      to.floats[k] = body(k);
      if (before && k + 1 < count)
        before->floats[k + 1] = to.floats[k];
    }
  };
  auto ofTwo = [&](auto body) {
    each([&](int64_t k) { return body(x.floats[k], y.floats[k]); });
  };
  llvm::TypeSwitch<Operation *>(&nested)
      .Case([&](arith::SIToFPOp op) {
        bool isSingle = op.getType().isF32();
        each([&](int64_t k) {
          return isSingle ? float(x.integers[k]) : double(x.integers[k]);
        });
      })
      .Case([&](arith::UIToFPOp op) {
        bool isSingle = op.getType().isF32();
        uint64_t mask =
            llvm::maskTrailingOnes<uint64_t>(widthOf(first.getType()));
        each([&](int64_t k) {
          uint64_t number = x.integers[k] & mask;
          return isSingle ? float(number) : double(number);
        });
      })
      .Case([&](arith::SelectOp op) {
        const Elements &yes = elementsOf(op.getTrueValue(), count);
        each([&](int64_t k) {
          return x.integers[k] & 1 ? yes.floats[k] : y.floats[k];
        });
      })
      .Case([&](arith::AddFOp) { ofTwo(std::plus<double>()); })
      .Case([&](arith::SubFOp) { ofTwo(std::minus<double>()); })
      .Case([&](arith::MulFOp) { ofTwo(std::multiplies<double>()); })
      .Case([&](arith::DivFOp) { ofTwo(std::divides<double>()); })
      .Case([&](arith::MaximumFOp) {
        ofTwo([](double a, double b) { return extreme(a, b, false); });
      })
      .Case([&](arith::MinimumFOp) {
        ofTwo([](double a, double b) { return extreme(a, b, true); });
      })
      .Case([&](math::PowFOp) {
        ofTwo([](double a, double b) { return std::pow(a, b); });
      })
      .Case([&](arith::BitcastOp op) {
        each([&](int64_t k) { return fromBits(x.integers[k], op.getType()); });
      })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { each([&](int64_t k) { return x.floats[k]; }); })
      .Default([&](Operation *) {
        Function function = functionOf(nested);
        each([&](int64_t k) { return function(x.floats[k]); });
      });
  Type type = nested.getResult(0).getType();
  // The larger and the smaller one of two numbers of a type is one of it.
  if (&nested == sum || before)
    return;
  if (type.isF32())
    each([&](int64_t k) { return static_cast<float>(to.floats[k]); });
  else if (!type.isF64())
    each([&](int64_t k) { return roundTo(to.floats[k], type); });
}

void Evaluation::computeIntegers(Operation &nested, int64_t count,
                                 Elements &to) {
  Value first = nested.getOperand(0);
  const Elements &x = elementsOf(first, count);
  const Elements &y = elementsOf(nested.getOperands().back(), count);
  unsigned width = widthOf(nested.getResult(0).getType());
  auto each = [&](auto body) {
    for (int64_t k = 0; k < count; ++k) {
      to.integers[k] = withSign(body(k), width);
      if (before && k + 1 < count)
        before->integers[k + 1] = to.integers[k];
    }
  };
  // Without signs: what goes beyond an integer's end begins again.
  auto ofTwo = [&](auto body) {
    each([&](int64_t k) {
      return body(uint64_t(x.integers[k]), uint64_t(y.integers[k]));
    });
  };
  llvm::TypeSwitch<Operation *>(&nested)
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { each([&](int64_t k) { return x.integers[k]; }); })
      .Case([&](arith::ExtUIOp) {
        uint64_t mask =
            llvm::maskTrailingOnes<uint64_t>(widthOf(first.getType()));
        each([&](int64_t k) { return x.integers[k] & mask; });
      })
      .Case([&](arith::AddIOp) { ofTwo(std::plus<uint64_t>()); })
      .Case([&](arith::SubIOp) { ofTwo(std::minus<uint64_t>()); })
      .Case([&](arith::MulIOp) { ofTwo(std::multiplies<uint64_t>()); })
      .Case([&](arith::XOrIOp) { ofTwo(std::bit_xor<uint64_t>()); })
      .Case([&](arith::AndIOp) { ofTwo(std::bit_and<uint64_t>()); })
      .Case([&](arith::OrIOp) { ofTwo(std::bit_or<uint64_t>()); })
      .Case([&](arith::BitcastOp) {
        each([&](int64_t k) { return bitsOf(x.floats[k], first.getType()); });
      })
      // A shift by the width and more has no result.
      .Case([&](arith::ShLIOp) {
        ofTwo([&](uint64_t a, uint64_t b) { return b < width ? a << b : 0; });
      })
      .Case([&](arith::ShRUIOp) {
        uint64_t mask = llvm::maskTrailingOnes<uint64_t>(width);
        ofTwo([&](uint64_t a, uint64_t b) {
          return b < width ? (a & mask) >> b : 0;
        });
      })
      .Case([&](arith::ShRSIOp) {
        ofTwo([&](uint64_t a, uint64_t b) {
          return static_cast<int64_t>(a) >> std::min<uint64_t>(b, width - 1);
        });
      })
      .Case([&](arith::CmpIOp op) {
        unsigned bits = widthOf(first.getType());
        each([&](int64_t k) {
          return arith::applyCmpPredicate(
              op.getPredicate(), APInt(bits, x.integers[k], true, true),
              APInt(bits, y.integers[k], true, true));
        });
      })
      // A number that the integers do not have has no result.
      .Case([&](arith::FPToSIOp) {
        double end = std::ldexp(1.0, width - 1);
        each([&](int64_t k) {
          double number = std::trunc(x.floats[k]);
          return number >= -end && number < end ? static_cast<int64_t>(number)
                                                : 0;
        });
      })
      .Case([&](arith::CmpFOp op) {
        each([&, predicate = op.getPredicate()](int64_t k) {
          return compareFloats(predicate, x.floats[k], y.floats[k]);
        });
      })
      .Case([&](arith::SelectOp op) {
        const Elements &yes = elementsOf(op.getTrueValue(), count);
        each([&](int64_t k) {
          return x.integers[k] & 1 ? yes.integers[k] : y.integers[k];
        });
      });
}

void Evaluation::compute(Operation &nested, int64_t count) {
  std::unique_ptr<Elements> &slot = values[nested.getResult(0)];
  if (!slot)
    slot = std::make_unique<Elements>();
  // Another value's may move the slot, not what is in it.
  Elements &to = *slot;
  before = &nested == combiner ? values[op.getRegionOutputArgs().front()].get()
                               : nullptr;
  if (isa<FloatType>(nested.getResult(0).getType()))
    computeFloats(nested, count, to);
  else
    computeIntegers(nested, count, to);
}

void Evaluation::fillIndices(int64_t dim, ArrayRef<int64_t> at, int64_t count,
                             Elements &to) {
  for (int64_t k = 0; k < count; ++k)
    to.integers[k] = at[dim] + (dim == blockDim ? k : 0);
}

void Evaluation::runBlock(ArrayRef<int64_t> at, int64_t count) {
  auto offsetOf = [&](unsigned operand) {
    int64_t offset = 0;
    for (auto [place, stride] : llvm::zip_equal(at, strides[operand]))
      offset += place * stride;
    return offset;
  };
  Block *body = op.getBody();
  for (auto [k, argument] : llvm::enumerate(body->getArguments())) {
    std::unique_ptr<Elements> &to = values[argument];
    if (!to)
      to = std::make_unique<Elements>();
    if (!argument.use_empty())
      load(buffers[k], typeOf(k), offsetOf(k), strides[k][blockDim], count,
           *to);
  }
  for (Operation &nested : body->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(nested);
    if (!index) {
      compute(nested, count);
      continue;
    }
    std::unique_ptr<Elements> &to = values[index.getResult()];
    if (!to)
      to = std::make_unique<Elements>();
    fillIndices(index.getDim(), at, count, *to);
  }
  Value result = body->getTerminator()->getOperand(0);
  const Elements &elements = elementsOf(result, count);
  unsigned last = buffers.size() - 1;
  char *base = buffers[last].data();
  Type type = sum ? typeOf(last) : result.getType();
  int64_t offset = offsetOf(last), step = strides[last][blockDim];
  // The low bytes of an integer come first here and in the target.
  auto store = [&](auto kind, const auto &from) {
    for (int64_t k = 0; k < count; ++k) {
      kind = static_cast<decltype(kind)>(from[k]);
      std::memcpy(base + (offset + k * step) * sizeof(kind), &kind,
                  sizeof(kind));
    }
  };
  if (type.isF32())
    return store(float(), elements.floats);
  if (type.isF64())
    return store(double(), elements.floats);
  if (isa<FloatType>(type)) {
    std::array<uint16_t, kBlock> bits;
    for (int64_t k = 0; k < count; ++k)
      bits[k] = toSmall(elements.floats[k], type);
    return store(uint16_t(), bits);
  }
  switch (llvm::divideCeil(widthOf(type), 8)) {
  case 1:
    return store(int8_t(), elements.integers);
  case 2:
    return store(int16_t(), elements.integers);
  case 4:
    return store(int32_t(), elements.integers);
  default:
    return store(int64_t(), elements.integers);
  }
}

ConstantBytes Evaluation::run() {
  if (products) {
    runProducts(*products);
    return roundSums();
  }
  int64_t block = hasBlocks ? kBlock : 1;
  SmallVector<int64_t> at(ranges.size(), 0);
  while (true) {
    runBlock(at, std::min(block, ranges[blockDim] - at[blockDim]));
    int64_t axis = static_cast<int64_t>(ranges.size()) - 1;
    for (; axis >= 0; --axis) {
      at[axis] += axis == blockDim ? block : 1;
      if (at[axis] < ranges[axis])
        break;
      at[axis] = 0;
    }
    if (axis < 0)
      return sum ? roundSums() : std::move(buffers.back());
  }
}

ConstantBytes loopc::evaluate(linalg::GenericOp op,
                              ArrayRef<ConstantBytes> operands) {
  return Evaluation(op, operands).run();
}
