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

Term Einsum::combine(ArrayRef<Term> factors, ArrayRef<int> kept) {
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
