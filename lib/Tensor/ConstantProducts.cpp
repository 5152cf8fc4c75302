//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantProducts.h"
#include "loopc/Support/Contractions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Threading.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace loopc;

/// Columns whose sums are in registers at a time.
static constexpr int64_t kColumns = 32;

// The kernel is compiled for several widths of vectors, of which the dynamic
// linker takes the widest that the machine has. All give the same bits.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define LOOPC_FOR_EACH_WIDTH                                                   \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LOOPC_FOR_EACH_WIDTH
#endif

/// Adds `row` times `panel`, whose rows have `kColumns` elements, to `sums`.
LOOPC_FOR_EACH_WIDTH
static void addRow(const double *row, const double *panel, int64_t depth,
                   double *sums) {
  std::array<double, kColumns> own;
  for (int64_t column = 0; column < kColumns; ++column)
    own[column] = sums[column];
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t column = 0; column < kColumns; ++column)
      own[column] += row[k] * panel[k * kColumns + column];
  for (int64_t column = 0; column < kColumns; ++column)
    sums[column] = own[column];
}

/// Sums of so many products of integers of 16 bits are exact in f64.
static constexpr int64_t kMaxExactDepth = int64_t(1) << 20;

/// True if `op` adds up products of floats whose order and rounding are open.
static bool addsProductsOfFloats(linalg::GenericOp op) {
  auto [sum, product] = findProductOfInputs(op);
  constexpr auto contract = arith::FastMathFlags::contract;
  return product && bitEnumContainsAll(product.getFastmath(), contract) &&
         bitEnumContainsAll(sum.getFastmath(),
                            arith::FastMathFlags::reassoc | contract);
}

/// Whether each of the two inputs is without a sign, if `op` adds up products
/// of integers that are exact in f64.
static std::optional<std::array<bool, 2>>
findProductsOfIntegers(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t depth = 1;
  for (unsigned loop : reductions)
    depth = llvm::SaturatingMultiply<uint64_t>(depth, ranges[loop]);
  BlockArgument before = op.getRegionOutputArgs().front();
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddIOp>();
  if (!sum || !llvm::is_contained(sum->getOperands(), before) ||
      depth > kMaxExactDepth)
    return std::nullopt;
  Value other = sum.getLhs() == before ? sum.getRhs() : sum.getLhs();
  auto product = other.getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  std::array<bool, 2> isUnsigned;
  llvm::SmallSetVector<unsigned, 2> numbers;
  for (Value factor : product->getOperands()) {
    Operation *widen = factor.getDefiningOp();
    if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(widen))
      return std::nullopt;
    auto from = dyn_cast<BlockArgument>(widen->getOperand(0));
    if (!from || from.getOwner() != op.getBody() || from == before ||
        from.getType().getIntOrFloatBitWidth() > 16 ||
        !numbers.insert(from.getArgNumber()))
      return std::nullopt;
    isUnsigned[from.getArgNumber()] = isa<arith::ExtUIOp>(widen);
  }
  return isUnsigned;
}

std::optional<ProductLoops> loopc::findProductLoops(linalg::GenericOp op) {
  auto isUnsigned = findProductsOfIntegers(op);
  if (!isUnsigned && !addsProductsOfFloats(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    if (getElementTypeOrSelf(operand.get().getType()).getIntOrFloatBitWidth() >
            32 ||
        !op.getMatchingIndexingMap(&operand).isProjectedPermutation(
            /*allowZeroInResults=*/true))
      return std::nullopt;
  }
  auto uses = [&](unsigned operand, unsigned loop) {
    return op.getIndexingMapsArray()[operand].isFunctionOfDim(loop);
  };
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  std::optional<ProductLoops> found;
  std::optional<unsigned> depth;
  for (unsigned loop : llvm::seq(op.getNumLoops())) {
    if (!uses(2, loop)) {
      if (!depth || ranges[loop] > ranges[*depth])
        depth = loop;
    } else if (uses(0, loop) != uses(1, loop) &&
               (!found || ranges[loop] >= ranges[found->column])) {
      unsigned columns = uses(1, loop) ? 1 : 0;
      found = ProductLoops{columns, 1 - columns, loop, 0};
    }
  }
  if (!found || !depth)
    return std::nullopt;
  found->depth = *depth;
  if (isUnsigned)
    found->isUnsigned = *isUnsigned;
  return found;
}

/// Copies `count` elements of `from` that are `step` apart behind one another.
static void gather(const double *from, int64_t step, int64_t count,
                   double *to) {
  for (int64_t k = 0; k < count; ++k)
    to[k] = from[k * step];
}

namespace {
/// The sums of up to `kColumns` columns from `first` on.
struct Columns {
  const ProductLoops &loops;
  ArrayRef<int64_t> ranges;
  const ProductOperand &rows, &columns;
  ProductOperand &sums;
  int64_t first;
  std::vector<double> row, panel;

  void run(ArrayRef<unsigned> others) {
    panel.assign(ranges[loops.depth] * kColumns, 0);
    row.resize(ranges[loops.depth]);
    runFrom(others, 0, first * sums.strides[loops.column],
            first * columns.strides[loops.column], /*hasPanel=*/false);
  }

private:
  /// Runs the loops `others` inwards. Those that tell which columns there are
  /// come first, so that the panel is made once for what is in them.
  void runFrom(ArrayRef<unsigned> others, int64_t rowAt, int64_t sumAt,
               int64_t columnAt, bool hasPanel) {
    bool isLast = others.empty() || columns.strides[others.front()] == 0;
    if (!hasPanel && isLast)
      makePanel(columnAt);
    if (others.empty())
      return addSums(rowAt, sumAt);
    unsigned loop = others.front();
    for (int64_t k = 0; k < ranges[loop]; ++k)
      runFrom(others.drop_front(), rowAt + k * rows.strides[loop],
              sumAt + k * sums.strides[loop],
              columnAt + k * columns.strides[loop], hasPanel || isLast);
  }

  int64_t count() const {
    return std::min(kColumns, ranges[loops.column] - first);
  }

  void makePanel(int64_t at) {
    for (int64_t k = 0; k < ranges[loops.depth]; ++k)
      gather(&columns.elements[at + k * columns.strides[loops.depth]],
             columns.strides[loops.column], count(), &panel[k * kColumns]);
  }

  void addSums(int64_t rowAt, int64_t sumAt) {
    gather(&rows.elements[rowAt], rows.strides[loops.depth],
           ranges[loops.depth], row.data());
    std::array<double, kColumns> own = {};
    int64_t step = sums.strides[loops.column];
    gather(&sums.elements[sumAt], step, count(), own.data());
    addRow(row.data(), panel.data(), ranges[loops.depth], own.data());
    for (int64_t k = 0; k < count(); ++k)
      sums.elements[sumAt + k * step] = own[k];
  }
};
} // namespace

void loopc::addProducts(linalg::GenericOp op, const ProductLoops &loops,
                        ArrayRef<ProductOperand> inputs, ProductOperand &sums) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  const ProductOperand &columns = inputs[loops.columns];
  SmallVector<unsigned> others;
  for (unsigned loop : llvm::seq(op.getNumLoops()))
    if (loop != loops.column && loop != loops.depth)
      others.push_back(loop);
  std::stable_partition(others.begin(), others.end(), [&](unsigned loop) {
    return columns.strides[loop] != 0;
  });
  parallelFor(op.getContext(), 0,
              llvm::divideCeil(ranges[loops.column], kColumns),
              [&](size_t part) {
                Columns{loops,   ranges, inputs[loops.rows],
                        columns, sums,   static_cast<int64_t>(part) * kColumns,
                        {},      {}}
                    .run(others);
              });
}
