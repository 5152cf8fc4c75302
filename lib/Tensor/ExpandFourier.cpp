//===- ExpandFourier.cpp - Fourier transforms by elements -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-expand-fourier: rt.fourier as tensors that are computed element by
// element, which threads of a GPU can share; a CPU calls the runtime
// (lib/Runtime/CPU/Fourier.cpp), whose methods these are: Stockham's passes,
// and Bluestein's convolution where a prime factor is large. An element of a
// pass is a sum that one thread forms, so that a pass reads each element as
// often as its radix says; those reads come from the caches.

#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace loopc {
#define GEN_PASS_DEF_TENSOREXPANDFOURIER
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;
using IP = arith::CmpIPredicate;

/// Prime factors up to here are a radix. A convolution takes two transforms of
/// more than twice the length, which is more work than sums of so few.
static constexpr int64_t kLargestRadix = 64;
/// Sums up to here are written out.
static constexpr int64_t kLongestSum = 8;
/// Terms of the series of sine and cosine up to pi / 4: the first one that is
/// left out is less than half of the last place.
static constexpr int64_t kTerms = 9;

namespace {
struct Number {
  Value re, im;
};

/// Reads or computes element `k` of the numbers at `batch`.
using Reader = std::function<Number(ValueRange batch, Value k)>;

class Expansion : IndexEmitter {
public:
  Expansion(IRRewriter &rewriter, rt::FourierOp op)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op),
        f64(b.getF64Type()), element(ComplexType::get(f64)) {}

  void run();

private:
  using Extents = ArrayRef<OpFoldResult>;

  Value generate(Extents dims, Type type,
                 llvm::function_ref<Value(ValueRange)> body);
  Value makeNumbers(Extents batch, Value n, const Reader &reader);
  Reader readerOf(Value numbers);

  Number rootOfOne(Value k, Value n);
  Value makeRoots(Value n);
  Value makePass(const Reader &x, Extents batch, Value n, Value left,
                 Value stride, Value radix, Value roots);
  Number addTerm(const Reader &x, ValueRange batch, Value place, Value roots,
                 Value at, Number sum);
  Value findRadix(Value left);
  Value hasSmallFactors(Value n);
  Value transform(const Reader &x, Extents batch, Value n);
  Value transformDynamic(const Reader &x, Extents batch, Value n);
  Value convolve(const Reader &x, Extents batch, Value n);
  Value transformAny(const Reader &x, Extents batch, Value n);

  Number multiply(Number x, Number y) {
    return {sub(mul(x.re, y.re), mul(x.im, y.im)),
            add(mul(x.re, y.im), mul(x.im, y.re))};
  }
  Number conjugate(Number x) { return {x.re, negate(x.im)}; }
  Number select(Value when, Number x, Number y) {
    return {select(when, x.re, y.re), select(when, x.im, y.im)};
  }
  Number zeros() { return {real(0), real(0)}; }

  Value real(double value) {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  }
  bool isReal(Value value) { return isa<FloatType>(value.getType()); }
  Value add(Value x, Value y) {
    return isReal(x) ? b.createOrFold<arith::AddFOp>(x, y)
                     : b.createOrFold<arith::AddIOp>(x, y);
  }
  Value sub(Value x, Value y) {
    return isReal(x) ? b.createOrFold<arith::SubFOp>(x, y)
                     : b.createOrFold<arith::SubIOp>(x, y);
  }
  Value mul(Value x, Value y) {
    return isReal(x) ? b.createOrFold<arith::MulFOp>(x, y)
                     : b.createOrFold<arith::MulIOp>(x, y);
  }
  Value negate(Value x) { return b.createOrFold<arith::NegFOp>(x); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value compare(IP how, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(how, x, y);
  }
  Value select(Value when, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(when, x, y);
  }
  Value toReal(Value x) {
    Value word = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), x);
    return b.createOrFold<arith::SIToFPOp>(f64, word);
  }

  IRRewriter &rewriter;
  rt::FourierOp op;
  Type f64, element;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value Expansion::generate(Extents dims, Type type,
                          llvm::function_ref<Value(ValueRange)> body) {
  Value init = tensor::EmptyOp::create(b, dims, type);
  auto rank = static_cast<unsigned>(dims.size());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange(), init,
             b.getMultiDimIdentityMap(rank), iterators,
             [&](OpBuilder &inner, Location loc, ValueRange) {
               OpBuilder::InsertionGuard guard(b);
               b.setInsertionPoint(inner.getInsertionBlock(),
                                   inner.getInsertionPoint());
               SmallVector<Value> at;
               for (unsigned k = 0; k < rank; ++k)
                 at.push_back(linalg::IndexOp::create(b, k));
               linalg::YieldOp::create(b, body(at));
             })
      .getResult(0);
}

Value Expansion::makeNumbers(Extents batch, Value n, const Reader &reader) {
  SmallVector<OpFoldResult> dims(batch);
  dims.push_back(getAsOpFoldResult(n));
  return generate(dims, element, [&](ValueRange at) -> Value {
    Number x = reader(at.drop_back(), at.back());
    return complex::CreateOp::create(b, element, x.re, x.im);
  });
}

Reader Expansion::readerOf(Value numbers) {
  return [this, numbers](ValueRange batch, Value k) -> Number {
    SmallVector<Value> at(batch);
    at.push_back(k);
    Value x = tensor::ExtractOp::create(b, numbers, at);
    return {complex::ReOp::create(b, x), complex::ImOp::create(b, x)};
  };
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// e^(-2 pi i k / n) for 0 <= k < n, by the series of an angle of at most pi /
/// 4 and turns by quarters.
Number Expansion::rootOfOne(Value k, Value n) {
  Value eight = index(8), one = index(1);
  Value eighths = mul(eight, k), eighth = div(eighths, n);
  Value isNext = compare(IP::eq, rem(eighth, index(2)), one);
  Value next = sub(mul(add(eighth, one), n), eighths);
  Value rest = select(isNext, next, sub(eighths, mul(eighth, n)));
  Value part = b.createOrFold<arith::DivFOp>(toReal(rest), toReal(n));
  Value angle = mul(real(llvm::numbers::pi / 4), part);
  Value square = mul(angle, angle);
  // 1 - x^2/2! + x^4/4! - ..., x - x^3/3! + ..., the small terms first.
  Value cosine, sine;
  for (int64_t term = kTerms - 1; term >= 0; --term) {
    double even = 1, odd = 1;
    for (int64_t j = 2; j <= 2 * term + 1; ++j) {
      odd /= static_cast<double>(j);
      even /= j <= 2 * term ? static_cast<double>(j) : 1;
    }
    double sign = term % 2 ? -1 : 1;
    Value ofCosine = real(sign * even), ofSine = real(sign * odd);
    cosine = cosine ? add(mul(cosine, square), ofCosine) : ofCosine;
    sine = sine ? add(mul(sine, square), ofSine) : ofSine;
  }
  sine = negate(mul(sine, angle));
  // Back from the next quarter.
  Number root = {cosine, select(isNext, negate(sine), sine)};
  Value quarter = rem(div(add(eighth, one), index(2)), index(4));
  Value isOdd = compare(IP::eq, rem(quarter, index(2)), one);
  root = select(isOdd, {root.im, negate(root.re)}, root);
  Value isOver = compare(IP::uge, quarter, index(2));
  return select(isOver, {negate(root.re), negate(root.im)}, root);
}

/// All of them: [n].
Value Expansion::makeRoots(Value n) {
  return makeNumbers(
      {}, n, [&](ValueRange, Value k) -> Number { return rootOfOne(k, n); });
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

Number Expansion::addTerm(const Reader &x, ValueRange batch, Value place,
                          Value roots, Value at, Number sum) {
  Number term = multiply(x(batch, place), readerOf(roots)({}, at));
  return {add(sum.re, term.re), add(sum.im, term.im)};
}

/// One pass: `left` is the length that is left, `stride` the product of the
/// radices before. Number q + stride (radix k + j) is
///
///     W_left^(j k) sum of x[q + stride (k + left / radix i)] W_radix^(i j)
///
/// and both roots are in the table: i steps through it.
Value Expansion::makePass(const Reader &x, Extents batch, Value n, Value left,
                          Value stride, Value radix, Value roots) {
  Value distance = mul(stride, div(left, radix));
  std::optional<int64_t> known = getConstantIntValue(radix);
  return makeNumbers(batch, n, [&](ValueRange batch, Value number) -> Number {
    Value q = rem(number, stride), rest = div(number, stride);
    Value j = rem(rest, radix), k = div(rest, radix);
    Value place = add(q, mul(stride, k));
    Value at = mul(mul(j, k), stride), step = mul(j, distance);
    auto further = [&](Value at) {
      Value next = add(at, step);
      return select(compare(IP::uge, next, n), sub(next, n), next);
    };
    if (known && *known <= kLongestSum) {
      Number sum = zeros();
      for (int64_t i = 0; i < *known; ++i) {
        sum = addTerm(x, batch, place, roots, at, sum);
        place = add(place, distance);
        at = further(at);
      }
      return sum;
    }
    Number zero = zeros();
    auto loop = scf::ForOp::create(b, index(0), radix, index(1),
                                   ValueRange{place, at, zero.re, zero.im});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto carried = loop.getRegionIterArgs();
    Number sum = addTerm(x, batch, carried[0], roots, carried[1],
                         {carried[2], carried[3]});
    scf::YieldOp::create(b, ValueRange{add(carried[0], distance),
                                       further(carried[1]), sum.re, sum.im});
    return {loop.getResult(2), loop.getResult(3)};
  });
}

/// A factor of `left`, kLargestRadix at most; 4 rather than 2. What it divides
/// into is smaller, or it is more than kLargestRadix and no factor.
Value Expansion::findRadix(Value left) {
  Value limit = index(kLargestRadix);
  auto isFactor = [&](Value p) {
    return compare(IP::eq, rem(left, p), index(0));
  };
  auto search = scf::WhileOp::create(
      b, b.getIndexType(), index(2),
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        Value isBelow = compare(IP::ule, carried[0], limit);
        Value isNone = compare(IP::ne, rem(left, carried[0]), index(0));
        Value goesOn = b.createOrFold<arith::AndIOp>(isBelow, isNone);
        scf::ConditionOp::create(b, goesOn, carried);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(b, add(carried[0], index(1)));
      });
  return select(isFactor(index(4)), index(4), search.getResult(0));
}

/// Whether passes alone are a transform of `n`.
Value Expansion::hasSmallFactors(Value n) {
  Type type = b.getIndexType();
  auto divide = scf::WhileOp::create(
      b, TypeRange{type}, ValueRange{n},
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        Value radix = findRadix(carried[0]);
        Value isMore = compare(IP::ugt, carried[0], index(1));
        Value isSmall = compare(IP::ule, radix, index(kLargestRadix));
        Value goesOn = b.createOrFold<arith::AndIOp>(isMore, isSmall);
        // Of what is no factor the quotient is not wanted.
        Value next = select(goesOn, div(carried[0], radix), carried[0]);
        scf::ConditionOp::create(b, goesOn, next);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(b, carried);
      });
  return compare(IP::ule, divide.getResult(0), index(1));
}

/// The factor of `left` that a pass takes, 0 where all are large.
static int64_t getRadix(int64_t left) {
  if (left % 4 == 0)
    return 4;
  for (int64_t radix = 2; radix <= kLargestRadix; ++radix)
    if (left % radix == 0)
      return radix;
  return 0;
}

static bool hasSmallFactors(int64_t n) {
  while (n > 1) {
    int64_t radix = getRadix(n);
    if (!radix)
      return false;
    n /= radix;
  }
  return true;
}

/// The transform of numbers whose length has small factors alone.
Value Expansion::transform(const Reader &x, Extents batch, Value n) {
  std::optional<int64_t> known = getConstantIntValue(n);
  if (!known)
    return transformDynamic(x, batch, n);
  if (*known <= 1)
    return makeNumbers(batch, n, x);
  Value roots = makeRoots(n), made;
  for (int64_t left = *known, stride = 1; left > 1;) {
    int64_t radix = getRadix(left);
    made = makePass(made ? readerOf(made) : x, batch, n, index(left),
                    index(stride), index(radix), roots);
    left /= radix;
    stride *= radix;
  }
  return made;
}

/// A loop over the passes, which divides the length that is left.
Value Expansion::transformDynamic(const Reader &x, Extents batch, Value n) {
  Value roots = makeRoots(n), first = makeNumbers(batch, n, x);
  Value isMore = compare(IP::ugt, n, index(1));
  auto loop = LoopOp::create(b, b.getI64Type(), b.getI1Type(), Value(), isMore,
                             ValueRange{n, index(1), first});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getLoopBody());
  Value left = loop.getCarriedArgs()[0], stride = loop.getCarriedArgs()[1];
  Value radix = findRadix(left), rest = div(left, radix);
  Value next = makePass(readerOf(loop.getCarriedArgs()[2]), batch, n, left,
                        stride, radix, roots);
  YieldOp::create(b, compare(IP::ugt, rest, index(1)),
                  ValueRange{rest, mul(stride, radix), next}, ValueRange());
  return loop.getResult(2);
}

//===----------------------------------------------------------------------===//
// Large primes
//===----------------------------------------------------------------------===//

/// y_k = c_k sum of (x_m c_m) conj(c_(k - m)) with c_k = e^(-pi i k^2 / n):
/// a convolution, by transforms of a length that is a power of two.
Value Expansion::convolve(const Reader &x, Extents batch, Value n) {
  Value two = index(2);
  Value length = index(1);
  Value least = sub(mul(n, two), index(1));
  if (std::optional<int64_t> known = getConstantIntValue(least)) {
    length = index(static_cast<int64_t>(llvm::PowerOf2Ceil(*known)));
  } else {
    auto twice = scf::WhileOp::create(
        b, b.getIndexType(), length,
        [&](OpBuilder &inner, Location, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          Value isLess = compare(IP::ult, carried[0], least);
          scf::ConditionOp::create(b, isLess, carried);
        },
        [&](OpBuilder &inner, Location, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(b, mul(carried[0], two));
        });
    length = twice.getResult(0);
  }
  Value turn = mul(n, two);
  Value chirps = makeNumbers({}, n, [&](ValueRange, Value k) -> Number {
    return rootOfOne(rem(mul(k, k), turn), turn);
  });
  Reader chirp = readerOf(chirps);
  // What lies outside is read at the last place, and not used.
  Value last = sub(n, index(1)), zero = index(0);
  auto within = [&](Value k) {
    return b.createOrFold<arith::MinUIOp>(k, last);
  };
  Value kernel = transform(
      [&](ValueRange, Value k) -> Number {
        Value back = sub(length, k);
        Value isLow = compare(IP::ult, k, n);
        Value isHigh = compare(IP::ult, back, n);
        Value at = within(select(isLow, k, back));
        Value isAny = b.createOrFold<arith::OrIOp>(isLow, isHigh);
        return select(isAny, conjugate(chirp({}, at)), zeros());
      },
      {}, length);
  Value turned = transform(
      [&](ValueRange batch, Value k) -> Number {
        Value at = within(k), isInside = compare(IP::ult, k, n);
        return select(isInside, multiply(x(batch, at), chirp({}, at)), zeros());
      },
      batch, length);
  // Forth again: that is back, but for the order and a factor.
  Reader left = readerOf(turned), right = readerOf(kernel);
  Value sums = transform(
      [&](ValueRange batch, Value k) -> Number {
        return multiply(left(batch, k), right({}, k));
      },
      batch, length);
  Reader sum = readerOf(sums);
  Value scale = b.createOrFold<arith::DivFOp>(real(1), toReal(length));
  return makeNumbers(batch, n, [&](ValueRange batch, Value k) -> Number {
    Value back = select(compare(IP::eq, k, zero), zero, sub(length, k));
    Number y = multiply(sum(batch, back), chirp({}, k));
    return {mul(scale, y.re), mul(scale, y.im)};
  });
}

Value Expansion::transformAny(const Reader &x, Extents batch, Value n) {
  if (std::optional<int64_t> known = getConstantIntValue(n))
    return ::hasSmallFactors(*known) ? transform(x, batch, n)
                                     : convolve(x, batch, n);
  SmallVector<OpFoldResult> dims(batch);
  dims.push_back(getAsOpFoldResult(n));
  auto type = RankedTensorType::get(decomposeMixedValues(dims).first, element);
  auto branch = scf::IfOp::create(b, TypeRange{type}, hasSmallFactors(n),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, transform(x, batch, n));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, convolve(x, batch, n));
  return branch.getResult(0);
}

void Expansion::run() {
  b.setInsertionPoint(op);
  Value data = op.getData();
  SmallVector<OpFoldResult> dims = resolveDims(b, b.getLoc(), data);
  dims.pop_back();
  Value n = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.back());
  bool isInverse = op.getInverse();
  // An inverse one is a forward one between two conjugations.
  auto forth = [&](Number x) { return isInverse ? conjugate(x) : x; };
  Reader given = [&](ValueRange batch, Value k) -> Number {
    SmallVector<Value> at(batch);
    llvm::append_values(at, k, index(0));
    Value re = tensor::ExtractOp::create(b, data, at);
    at.back() = index(1);
    return forth({re, tensor::ExtractOp::create(b, data, at)});
  };
  Value made = transformAny(given, Extents(dims).drop_back(), n);
  dims.push_back(b.getIndexAttr(2));
  Value parts = generate(dims, f64, [&](ValueRange at) -> Value {
    SmallVector<Value> place(at.drop_back());
    Value k = place.pop_back_val();
    Number x = forth(readerOf(made)(place, k));
    return select(compare(IP::eq, at.back(), index(0)), x.re, x.im);
  });
  Type type = op.getResult().getType();
  rewriter.replaceOp(op, b.createOrFold<tensor::CastOp>(type, parts));
}

namespace {
struct TensorExpandFourier
    : loopc::impl::TensorExpandFourierBase<TensorExpandFourier> {
  void runOnOperation() override {
    SmallVector<rt::FourierOp> found;
    getOperation()->walk([&](rt::FourierOp op) {
      if (isa<RankedTensorType>(op.getData().getType()))
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (rt::FourierOp op : found)
      Expansion(rewriter, op).run();
  }
};
} // namespace
