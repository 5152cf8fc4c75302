//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What linalg.generic computes of constants: weights less their zero points,
// sums of their columns, products of scales. Operations are done on blocks of
// elements, so that large weights take little time.

#include "ConstantGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace loopc;

/// Elements that are computed at a time.
static constexpr int64_t kBlock = 256;

/// Integers of up to 32 bits and f32 are computed with.
static bool isKnown(Type type) {
  if (type.isF32())
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && (integer.getWidth() == 8 || integer.getWidth() == 16 ||
                     integer.getWidth() == 32);
}

static bool isKnownOperation(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() == 0 ||
      !isKnown(op.getResult(0).getType()) ||
      !llvm::all_of(op.getOperandTypes(), isKnown))
    return false;
  return isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::AddIOp,
             arith::SubIOp, arith::MulIOp, arith::XOrIOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::MulFOp, arith::DivFOp>(op);
}

bool loopc::canEvaluate(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumLoops() == 0)
    return false;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape() || !isKnown(type.getElementType()) ||
        type.getNumElements() == 0)
      return false;
  }
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr>(expr) &&
          expr != getAffineConstantExpr(0, op.getContext()))
        return false;
  auto isConstant = [&](Value value) {
    Attribute attribute;
    return value.getParentBlock() == op.getBody() ||
           (isKnown(value.getType()) &&
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
/// Some neighbours of a value; which of the two is used its type tells.
struct Elements {
  std::array<int64_t, kBlock> integers;
  std::array<float, kBlock> floats;
};

class Evaluation {
public:
  Evaluation(linalg::GenericOp op, ArrayRef<ConstantBytes> operands);
  ConstantBytes run();

private:
  /// The elements `count` of them from `at` on, by loops.
  void runBlock(ArrayRef<int64_t> at, int64_t count);
  void compute(Operation &op, int64_t count);
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
  }
  for (auto [dim, stride] : llvm::enumerate(strides.back())) {
    // The longest, and of those the last one.
    if (stride == 0 || (hasBlocks && ranges[dim] < ranges[blockDim]))
      continue;
    blockDim = dim;
    hasBlocks = true;
  }
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
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return copy(int8_t(), to.integers);
  case 16:
    return copy(int16_t(), to.integers);
  default:
    return copy(int32_t(), to.integers);
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
    elements->floats.fill(number.getValue().convertToFloat());
  else
    elements->integers.fill(
        cast<IntegerAttr>(attribute).getValue().getSExtValue());
  return *elements;
}

void Evaluation::compute(Operation &nested, int64_t count) {
  Value result = nested.getResult(0);
  Value first = nested.getOperand(0), second = nested.getOperands().back();
  const Elements &x = elementsOf(first, count), &y = elementsOf(second, count);
  std::unique_ptr<Elements> &slot = values[result];
  if (!slot)
    slot = std::make_unique<Elements>();
  Elements &to = *slot;
  unsigned from = first.getType().getIntOrFloatBitWidth();
  auto unsignedOf = [&](int64_t value) {
    return static_cast<int64_t>(value & llvm::maskTrailingOnes<uint64_t>(from));
  };
  auto each = [&](auto &target, auto body) {
    for (int64_t k = 0; k < count; ++k)
      target[k] = body(k);
  };
  auto integers = [&](auto body) {
    unsigned width = result.getType().getIntOrFloatBitWidth();
    each(to.integers, [&](int64_t k) { return withSign(body(k), width); });
  };
  llvm::TypeSwitch<Operation *>(&nested)
      .Case<arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { integers([&](int64_t k) { return x.integers[k]; }); })
      .Case([&](arith::ExtUIOp) {
        integers([&](int64_t k) { return unsignedOf(x.integers[k]); });
      })
      .Case([&](arith::AddIOp) {
        integers([&](int64_t k) { return x.integers[k] + y.integers[k]; });
      })
      .Case([&](arith::SubIOp) {
        integers([&](int64_t k) { return x.integers[k] - y.integers[k]; });
      })
      .Case([&](arith::MulIOp) {
        integers([&](int64_t k) { return x.integers[k] * y.integers[k]; });
      })
      .Case([&](arith::XOrIOp) {
        integers([&](int64_t k) { return x.integers[k] ^ y.integers[k]; });
      })
      .Case([&](arith::SIToFPOp) {
        each(to.floats, [&](int64_t k) { return float(x.integers[k]); });
      })
      .Case([&](arith::UIToFPOp) {
        each(to.floats,
             [&](int64_t k) { return float(unsignedOf(x.integers[k])); });
      })
      .Case([&](arith::MulFOp) {
        each(to.floats, [&](int64_t k) { return x.floats[k] * y.floats[k]; });
      })
      .Case([&](arith::DivFOp) {
        each(to.floats, [&](int64_t k) { return x.floats[k] / y.floats[k]; });
      });
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
      load(buffers[k], argument.getType(), offsetOf(k), strides[k][blockDim],
           count, *to);
  }
  for (Operation &nested : body->without_terminator())
    compute(nested, count);
  Value result = body->getTerminator()->getOperand(0);
  const Elements &elements = elementsOf(result, count);
  unsigned last = buffers.size() - 1;
  char *base = buffers[last].data();
  int64_t size = result.getType().getIntOrFloatBitWidth() / 8;
  int64_t offset = offsetOf(last), step = strides[last][blockDim];
  for (int64_t k = 0; k < count; ++k) {
    char *place = base + (offset + k * step) * size;
    // The low bytes of an integer come first here and in the target.
    if (result.getType().isF32())
      std::memcpy(place, &elements.floats[k], size);
    else
      std::memcpy(place, &elements.integers[k], size);
  }
}

ConstantBytes Evaluation::run() {
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
      return std::move(buffers.back());
  }
}

ConstantBytes loopc::evaluate(linalg::GenericOp op,
                              ArrayRef<ConstantBytes> operands) {
  return Evaluation(op, operands).run();
}
