//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Einsum: an equation of labels, contracted two operands at a time. Labels are
// numbers: the letters' codes, and kEllipsis + d for the axis that is d from
// the right of what an ellipsis stands for.

#include "Contraction.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

namespace {
/// Not a label: an axis of extent 1 that is stretched.
constexpr int kStretched = -1;
constexpr int kEllipsis = 256;

/// A value whose axes have labels. One label may stand at several axes: the
/// diagonal is meant.
struct Term {
  Value value;
  SmallVector<int> labels;

  bool has(int label) const { return llvm::is_contained(labels, label); }
  /// True if neighbours along `label` are neighbours in memory, or the same.
  bool isContiguousAlong(int label) const {
    return !has(label) ||
           (llvm::count(labels, label) == 1 && labels.back() == label);
  }
};

/// Two factors as matrices: labels of both that are kept, of the first alone,
/// of the second alone, and those that are summed over.
struct Matrices {
  SmallVector<int> batch, rows, columns, sums;
};

class Einsum {
public:
  explicit Einsum(NodeLowering &l)
      : l(l), element(l.elementType(0)),
        compute(NodeLowering::computeType(element)),
        isUnsigned(l.isUnsigned(0)) {}

  LogicalResult lower();

private:
  LogicalResult parse();
  LogicalResult parseTerm(StringRef text, unsigned operand);
  LogicalResult parseOutput(StringRef text);
  void implicitOutput();
  /// Settles the extent of every label, checks the operands against it and
  /// stretches those that the run may find to be 1. False where the types tell
  /// that they do not fit: the run ends there.
  bool settleExtents();
  void align(Term &term);
  /// Sums over the labels of term `k` that occur nowhere else.
  void reduceOwn(unsigned k);
  Term takeNext(const Term &current);
  Term combine(ArrayRef<Term> factors, ArrayRef<int> kept);
  /// Labels in the order in which they are looped over.
  SmallVector<int> loopOrder(ArrayRef<Term> factors, ArrayRef<int> kept);
  /// True if vectors can run along the last label that is kept, or along a sum.
  bool hasContiguousLoop(ArrayRef<Term> factors, ArrayRef<int> kept);
  std::optional<Matrices> asMatrices(ArrayRef<Term> factors,
                                     ArrayRef<int> kept);
  /// Elements that the labels have together; dynamic where only the run knows.
  int64_t countElements(ArrayRef<int> labels);
  /// The factor with its axes in the order of the groups' labels, those of each
  /// group as one axis.
  Value asMatrix(Term factor, ArrayRef<ArrayRef<int>> groups);
  Term multiplyMatrices(const Matrices &matrices, ArrayRef<Term> factors,
                        ArrayRef<int> kept);
  bool isNeededBeside(int label, ArrayRef<const Term *> except);

  NodeLowering &l;
  Type element, compute;
  bool isUnsigned;
  SmallVector<Term> terms;
  SmallVector<int> output;
  int64_t ellipsisRank = 0;
  bool hasEllipsis = false;
  llvm::DenseMap<int, OpFoldResult> extents;
};
} // namespace

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

LogicalResult Einsum::parseTerm(StringRef text, unsigned operand) {
  Term term{l.in(operand), {}};
  int64_t rank = l.rank(operand), letters = text.size();
  size_t dots = text.find("...");
  if (dots != StringRef::npos)
    letters -= 3;
  int64_t rest = rank - letters;
  if (rest < 0 || (rest > 0 && dots == StringRef::npos))
    return l.refuse("operand " + Twine(operand) + " has rank " + Twine(rank) +
                    ", its term '" + text + "' " + Twine(letters) + " labels");
  for (size_t at = 0; at < text.size(); ++at) {
    if (at == dots) {
      hasEllipsis = true;
      ellipsisRank = std::max(ellipsisRank, rest);
      for (int64_t k = rest; k-- > 0;)
        term.labels.push_back(kEllipsis + k);
      at += 2;
    } else if (llvm::isAlpha(text[at])) {
      term.labels.push_back(text[at]);
    } else {
      return l.refuse("'" + text + "' is no term of an equation");
    }
  }
  terms.push_back(term);
  return success();
}

LogicalResult Einsum::parseOutput(StringRef text) {
  size_t dots = text.find("...");
  for (size_t at = 0; at < text.size(); ++at) {
    if (at == dots) {
      for (int64_t k = ellipsisRank; k-- > 0;)
        output.push_back(kEllipsis + k);
      at += 2;
      continue;
    }
    int label = text[at];
    if (!llvm::isAlpha(text[at]) ||
        llvm::none_of(terms, [&](Term &term) { return term.has(label); }))
      return l.refuse("the output's '" + text.substr(at, 1) +
                      "' is no label of an operand");
    if (llvm::is_contained(output, label))
      return l.refuse("the output's label '" + text.substr(at, 1) +
                      "' is there twice");
    output.push_back(label);
  }
  if (dots == StringRef::npos && ellipsisRank > 0)
    return l.refuse("the operands have an ellipsis, the output has none");
  return success();
}

void Einsum::implicitOutput() {
  for (int64_t k = ellipsisRank; k-- > 0;)
    output.push_back(kEllipsis + k);
  // Labels that are there once, in the order of their codes.
  for (int label = 'A'; label <= 'z'; ++label) {
    int64_t count = 0;
    for (Term &term : terms)
      count += llvm::count(term.labels, label);
    if (count == 1)
      output.push_back(label);
  }
}

LogicalResult Einsum::parse() {
  std::string equation = l.stringAttr("equation");
  llvm::erase_if(equation, [](char c) { return llvm::isSpace(c); });
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (texts.size() != l.numInputs())
    return l.refuse("the equation has " + Twine(texts.size()) + " terms for " +
                    Twine(l.numInputs()) + " operands");
  for (auto [k, text] : llvm::enumerate(texts))
    if (failed(parseTerm(text, k)))
      return failure();
  if (StringRef(equation).contains("->"))
    return parseOutput(right);
  implicitOutput();
  return success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

static std::string labelName(int label) {
  return label < kEllipsis ? std::string(1, static_cast<char>(label)) : "...";
}

bool Einsum::settleExtents() {
  bool fits = true;
  llvm::MapVector<int, Dims> found;
  for (Term &term : terms) {
    Dims dims = l.dims(term.value);
    for (auto [axis, label] : llvm::enumerate(term.labels)) {
      // Within one operand a label's axes must be equal.
      size_t first = llvm::find(term.labels, label) - term.labels.begin();
      if (first == axis)
        found[label].push_back(dims[axis]);
      else
        fits &= requireEqual(l, dims[first], dims[axis],
                             "axes of label '" + labelName(label) + "'");
    }
  }
  for (auto &[label, dims] : found) {
    extents[label] =
        l.broadcastExtent(dims, "label '" + labelName(label) + "'");
    fits &= mayBroadcast(dims);
  }
  if (fits)
    llvm::for_each(terms, [&](Term &term) { align(term); });
  return fits;
}

void Einsum::align(Term &term) {
  Dims dims = l.dims(term.value);
  for (auto [extent, label] : llvm::zip_equal(dims, term.labels)) {
    OpFoldResult wanted = extents[label];
    if (isConstantIntValue(extent, 1) && !isConstantIntValue(wanted, 1))
      label = kStretched;
    else
      extent = wanted;
  }
  term.value = l.broadcastTo(term.value, dims);
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

SmallVector<int> Einsum::loopOrder(ArrayRef<Term> factors, ArrayRef<int> kept) {
  SmallVector<int> sums;
  for (const Term &factor : factors)
    for (int label : factor.labels)
      if (label != kStretched && !llvm::is_contained(kept, label) &&
          !llvm::is_contained(sums, label))
        sums.push_back(label);
  auto isContiguous = [&](int label) {
    return llvm::all_of(factors, [&](const Term &factor) {
      return factor.isContiguousAlong(label);
    });
  };
  SmallVector<int> order(kept);
  bool lastIsGood = !kept.empty() && isContiguous(kept.back()) &&
                    !isConstantIntValue(extents[kept.back()], 1);
  auto innerSum = llvm::find_if(sums, isContiguous);
  if (!lastIsGood && (innerSum != sums.end() || kept.empty())) {
    // Sums along rows: as the innermost loop.
    if (innerSum != sums.end())
      std::rotate(innerSum, innerSum + 1, sums.end());
    order.append(sums);
    return order;
  }
  order.insert(order.end() - (kept.empty() ? 0 : 1), sums.begin(), sums.end());
  return order;
}

/// The sum of one operand over what `maps` does not keep, or a permutation.
static Value sumOf(NodeLowering &l, Value value, bool isUnsigned, Value init,
                   ArrayRef<AffineMap> maps) {
  AffineMap out = maps.back();
  SmallVector<IteratorType> iterators;
  for (unsigned k : llvm::seq(out.getNumDims()))
    iterators.push_back(out.isFunctionOfDim(k) ? IteratorType::parallel
                                               : IteratorType::reduction);
  bool sums = llvm::is_contained(iterators, IteratorType::reduction);
  auto flags = sums && iterators.back() == IteratorType::reduction
                   ? arith::FastMathFlags::reassoc
                   : arith::FastMathFlags::none;
  Type type = getElementTypeOrSelf(init.getType());
  return linalg::GenericOp::create(
             l.b, init.getType(), value, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value x = NodeLowering::castScalar(b, loc, args[0], isUnsigned,
                                                  type, isUnsigned);
               if (sums && isa<FloatType>(type))
                 x = arith::AddFOp::create(b, loc, args[1], x, flags);
               else if (sums)
                 x = arith::AddIOp::create(b, loc, args[1], x);
               linalg::YieldOp::create(b, loc, x);
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

// Where neighbours along no loop are neighbours in all operands, each element
// would be read by itself. Operands whose elements are read often are stored in
// another order once, and multiplied as matrices are:
//
//   bildsk,biokl->bolsd   x[b, i, l, d, s, k], w[b, i, o, k, l]
//     becomes
//   product[bl, sd, o] += x'[bl, sd, ik] * w'[bl, ik, o], and y of product

/// An element that is read so often is worth being stored in another order.
static constexpr int64_t kReadOften = 8;
/// So many columns fill vectors well.
static constexpr int64_t kManyColumns = 32;

bool Einsum::hasContiguousLoop(ArrayRef<Term> factors, ArrayRef<int> kept) {
  constexpr int64_t kShort = 4;
  auto isContiguous = [&](int label) {
    std::optional<int64_t> extent = getConstantIntValue(extents[label]);
    return (!extent || *extent >= kShort) &&
           llvm::all_of(factors, [&](const Term &factor) {
             return factor.isContiguousAlong(label);
           });
  };
  return (!kept.empty() && isContiguous(kept.back())) ||
         llvm::any_of(factors[0].labels, [&](int label) {
           return !llvm::is_contained(kept, label) && isContiguous(label);
         });
}

int64_t Einsum::countElements(ArrayRef<int> labels) {
  int64_t count = 1;
  for (int label : labels) {
    std::optional<int64_t> extent = getConstantIntValue(extents[label]);
    if (!extent || llvm::MulOverflow(count, *extent, count))
      return ShapedType::kDynamic;
  }
  return count;
}

std::optional<Matrices> Einsum::asMatrices(ArrayRef<Term> factors,
                                           ArrayRef<int> kept) {
  if (factors.size() != 2)
    return std::nullopt;
  for (const Term &factor : factors)
    for (int label : factor.labels)
      if (label == kStretched || llvm::count(factor.labels, label) > 1)
        return std::nullopt;
  if (hasContiguousLoop(factors, kept))
    return std::nullopt;
  Matrices made;
  for (int label : kept)
    (!factors[0].has(label)   ? made.columns
     : !factors[1].has(label) ? made.rows
                              : made.batch)
        .push_back(label);
  for (int label : factors[0].labels)
    if (!llvm::is_contained(kept, label)) {
      if (!factors[1].has(label))
        return std::nullopt;
      made.sums.push_back(label);
    }
  auto isReadOften = [&](ArrayRef<int> others) {
    int64_t times = countElements(others);
    return ShapedType::isDynamic(times) || times >= kReadOften;
  };
  if (made.sums.empty() || !isReadOften(made.rows) ||
      !isReadOften(made.columns))
    return std::nullopt;
  return made;
}

Value Einsum::asMatrix(Term factor, ArrayRef<ArrayRef<int>> groups) {
  SmallVector<int64_t> order;
  SmallVector<ReassociationIndices> axes;
  for (ArrayRef<int> group : groups) {
    if (group.empty())
      continue;
    axes.emplace_back();
    for (int label : group) {
      axes.back().push_back(order.size());
      order.push_back(llvm::find(factor.labels, label) - factor.labels.begin());
    }
  }
  Value value = factor.value;
  if (!llvm::is_sorted(order))
    value = reordered(l, value, order);
  if (axes.size() == order.size())
    return value;
  return tensor::CollapseShapeOp::create(l.b, value, axes);
}

Term Einsum::multiplyMatrices(const Matrices &matrices, ArrayRef<Term> factors,
                              ArrayRef<int> kept) {
  const auto &[batch, rows, columns, sums] = matrices;
  Value lhs = asMatrix(factors[0], {batch, rows, sums});
  Value rhs = asMatrix(factors[1], {batch, sums, columns});
  unsigned first = batch.empty() ? 0 : 1, rank = first + 3;
  Dims target = l.dims(lhs);
  target.back() = l.dim(rhs, rank - 2);
  auto map = [&](unsigned row, unsigned column) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : llvm::seq(first))
      exprs.push_back(l.b.getAffineDimExpr(d));
    exprs.push_back(l.b.getAffineDimExpr(row));
    exprs.push_back(l.b.getAffineDimExpr(column));
    return AffineMap::get(rank, 0, exprs, l.b.getContext());
  };
  unsigned m = first, k = first + 1, n = first + 2;
  Value value = multiplyAdd(l, {lhs, isUnsigned}, {rhs, isUnsigned},
                            l.filled(target, l.constant(compute, 0)),
                            {map(m, k), map(k, n), map(m, n)});
  SmallVector<int> labels;
  SmallVector<ReassociationIndices> groups;
  for (ArrayRef<int> group :
       {ArrayRef(batch), ArrayRef(rows), ArrayRef(columns)})
    if (!group.empty()) {
      auto from = static_cast<int64_t>(labels.size());
      groups.push_back(llvm::to_vector<2>(
          llvm::seq(from, from + static_cast<int64_t>(group.size()))));
      llvm::append_range(labels, group);
    }
  Dims dims;
  for (int label : labels)
    dims.push_back(extents[label]);
  if (labels.size() != target.size()) {
    auto [shape, open] = decomposeMixedValues(dims);
    value = tensor::ExpandShapeOp::create(
        l.b, RankedTensorType::get(shape, compute), value, groups, dims);
  }
  SmallVector<int64_t> order;
  for (int label : kept)
    order.push_back(llvm::find(labels, label) - labels.begin());
  if (!llvm::is_sorted(order))
    value = reordered(l, value, order);
  return {value, SmallVector<int>(kept)};
}

Term Einsum::combine(ArrayRef<Term> factors, ArrayRef<int> kept) {
  if (std::optional<Matrices> matrices = asMatrices(factors, kept)) {
    // Vectors run along the columns: of two groups with enough of them those
    // that are last in the result.
    auto columnsOf = [&](ArrayRef<int> labels) {
      int64_t count = countElements(labels);
      return ShapedType::isDynamic(count) ? kManyColumns
                                          : std::min(count, kManyColumns);
    };
    int64_t rows = columnsOf(matrices->rows),
            columns = columnsOf(matrices->columns);
    if (rows < columns ||
        (rows == columns && !llvm::is_contained(matrices->rows, kept.back())))
      return multiplyMatrices(*matrices, factors, kept);
    std::swap(matrices->rows, matrices->columns);
    return multiplyMatrices(*matrices, {factors[1], factors[0]}, kept);
  }
  SmallVector<int> order = loopOrder(factors, kept);
  auto map = [&](ArrayRef<int> labels) {
    SmallVector<AffineExpr> exprs;
    for (int label : labels)
      exprs.push_back(
          label == kStretched
              ? l.b.getAffineConstantExpr(0)
              : l.b.getAffineDimExpr(llvm::find(order, label) - order.begin()));
    return AffineMap::get(order.size(), 0, exprs, l.b.getContext());
  };
  SmallVector<AffineMap> maps;
  for (const Term &factor : factors)
    maps.push_back(map(factor.labels));
  maps.push_back(map(kept));
  Dims dims;
  for (int label : kept)
    dims.push_back(extents[label]);
  bool sums = order.size() > kept.size() || factors.size() > 1;
  Value init =
      sums ? l.filled(dims, l.constant(compute, 0)) : l.empty(dims, compute);
  Value value = factors.size() == 1
                    ? sumOf(l, factors[0].value, isUnsigned, init, maps)
                    : multiplyAdd(l, {factors[0].value, isUnsigned},
                                  {factors[1].value, isUnsigned}, init, maps);
  return {value, SmallVector<int>(kept)};
}

bool Einsum::isNeededBeside(int label, ArrayRef<const Term *> except) {
  return llvm::is_contained(output, label) ||
         llvm::any_of(terms, [&](const Term &term) {
           return !llvm::is_contained(except, &term) && term.has(label);
         });
}

void Einsum::reduceOwn(unsigned k) {
  Term &term = terms[k];
  SmallVector<int> kept;
  bool sums = false;
  for (int label : term.labels) {
    if (label == kStretched)
      continue;
    if (!isNeededBeside(label, &term))
      sums = true;
    else if (!llvm::is_contained(kept, label))
      kept.push_back(label);
  }
  if (sums)
    term = combine(term, kept);
}

/// The term to multiply next: the first that shares a label, so that no outer
/// product grows where a sum is possible.
Term Einsum::takeNext(const Term &current) {
  auto next = llvm::find_if(terms, [&](const Term &term) {
    return llvm::any_of(term.labels, [&](int label) {
      return label != kStretched && current.has(label);
    });
  });
  if (next == terms.end())
    next = terms.begin();
  Term taken = *next;
  terms.erase(next);
  return taken;
}

LogicalResult Einsum::lower() {
  if (failed(parse()))
    return failure();
  if (!settleExtents()) {
    Dims dims;
    for (int label : output)
      dims.push_back(extents[label]);
    l.setResult(l.empty(dims, element));
    return success();
  }
  if (terms.size() > 1)
    for (unsigned k : llvm::seq(terms.size()))
      reduceOwn(k);
  Term current = terms.front();
  terms.erase(terms.begin());
  if (terms.empty())
    current = combine(current, output);
  while (!terms.empty()) {
    Term next = takeNext(current);
    SmallVector<int> kept;
    for (const Term *term : {&current, &next})
      for (int label : term->labels)
        if (label != kStretched && isNeededBeside(label, {}) &&
            !llvm::is_contained(kept, label))
          kept.push_back(label);
    current = combine({current, next}, terms.empty() ? output : kept);
  }
  l.setResult(castElements(l, current.value, element, isUnsigned));
  return success();
}

LogicalResult loopc::lowerEinsum(NodeLowering &l) { return Einsum(l).lower(); }
