//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// SVMRegressor and SVMClassifier of ai.onnx.ml. A classifier of n classes has
// a score for each pair of them, in the order (0, 1), (0, 2), ..., (1, 2), ...

#include "ContribOperators.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

static int64_t countFloats(const ContribCall &call, StringRef name) {
  const pb::AttributeProto *attr = call.getAttr(name);
  return attr ? attr->floats_size() : 0;
}

/// k: the kernel of the rows of x and those of s, a row of k for one of x. The
/// parameters are gamma, coef0 and degree.
static std::string writeKernel(const ContribCall &call) {
  StringRef type = call.getString("kernel_type");
  if (type.empty() || type == "LINEAR")
    return "k = MatMul(x, columns)\n";
  const pb::AttributeProto *given = call.getAttr("kernel_params");
  if (!given || given->floats_size() != 3)
    return call.refuse("the attribute 'kernel_params' has not three numbers");
  std::string text =
      "k_params = Constant<value_floats: floats = @kernel_params>()\n"
      "k_at0 = Constant<value_int = 0>()\n"
      "k_at1 = Constant<value_int = 1>()\n"
      "k_gamma = Gather(k_params, k_at0)\n"
      "k_coef0 = Gather(k_params, k_at1)\n";
  if (type == "RBF")
    // Not by products: what is left of their differences has few digits.
    return text + "k_axis1 = Constant<value_ints = [1]>()\n"
                  "k_axis2 = Constant<value_ints = [2]>()\n"
                  "k_rows = Unsqueeze(x, k_axis1)\n"
                  "k_apart = Sub(k_rows, s)\n"
                  "k_squares = Mul(k_apart, k_apart)\n"
                  "k_sums = ReduceSum<keepdims = 0>(k_squares, k_axis2)\n"
                  "k_scaled = Mul(k_sums, k_gamma)\n"
                  "k_falling = Neg(k_scaled)\n"
                  "k = Exp(k_falling)\n";
  text += "k_product = MatMul(x, columns)\n"
          "k_scaled = Mul(k_product, k_gamma)\n"
          "k_moved = Add(k_scaled, k_coef0)\n";
  if (type == "POLY") {
    // A constant of its own: a small whole number makes it products.
    double degree = given->floats(2);
    call.addConstant("k_degree", {}, ArrayRef(degree));
    return text + "k = Pow(k_moved, k_degree)\n";
  }
  if (type == "SIGMOID")
    return text + "k = Tanh(k_moved)\n";
  return call.refuse("the kernel '" + type + "' is unknown");
}

/// x: the rows of X, whose kernel with `count` support vectors is k. Without
/// support vectors, k is x, which has `features` columns.
static std::string writeKernelOfRows(const ContribCall &call, int64_t count,
                                     int64_t features) {
  std::string text = "x0 = Cast<to = 1>(X)\n";
  if (count <= 0)
    return text + writeRows(call, "x0", "x", features) + "k = Identity(x)\n";
  int64_t size = countFloats(call, "support_vectors");
  if (size == 0 || size % count)
    return call.refuse(Twine(size) + " numbers for " + Twine(count) +
                       " support vectors");
  return text + writeRows(call, "x0", "x", size / count) +
         llvm::formatv("shape = Constant<value_ints = [{0}, -1]>()\n"
                       "vectors = Constant<value_floats: floats = "
                       "@support_vectors>()\n"
                       "s = Reshape(vectors, shape)\n"
                       "columns = Transpose<perm = [1, 0]>(s)\n",
                       count)
             .str() +
         writeKernel(call);
}

static std::string writeSvmRegressor(const ContribCall &call) {
  StringRef after = call.getString("post_transform");
  if (!after.empty() && after != "NONE")
    return call.refuse("the transform '" + after + "' of the result");
  std::string text =
      writeKernelOfRows(call, call.getInt("n_supports"),
                        countFloats(call, "coefficients")) +
      "last = Constant<value_ints = [-1, 1]>()\n"
      "weights0 = Constant<value_floats: floats = @coefficients>()\n"
      "weights = Reshape(weights0, last)\n"
      "rho = Constant<value_floats: floats = @rho>()\n"
      "sum = MatMul(k, weights)\n"
      "value = Add(sum, rho)\n";
  if (!call.getInt("one_class"))
    return text + "Y = Identity(value)\n";
  return text + "zero = Sub(value, value)\n"
                "one = Exp(zero)\n"
                "other = Neg(one)\n"
                "inside = Greater(value, zero)\n"
                "Y = Where(inside, one, other)\n";
}

//===----------------------------------------------------------------------===//
// Classifiers
//===----------------------------------------------------------------------===//

namespace {
/// SVMClassifier: the parts of its body.
class SvmClassifier {
public:
  explicit SvmClassifier(const ContribCall &call) : call(call) {}
  std::string write();

private:
  bool read();
  bool checkSizes() const;
  bool hasVectors() const { return !supports.empty(); }
  bool hasProbabilities() const { return countFloats(call, "prob_a") > 0; }
  int64_t numPairs() const { return classes * (classes - 1) / 2; }

  static constexpr int64_t kMostClasses = 512;

  std::string writePairScores() const;
  std::string writeVotes() const;
  std::string writeLinearScores() const;
  std::string writeLinearClass() const;
  std::string writePairProbabilities() const;
  std::string writeCoupling() const;
  std::string writeScores() const;
  std::string writeTransform() const;
  std::string writeLabels() const;

  const ContribCall &call;
  int64_t classes = 0;
  SmallVector<int64_t> supports; ///< of each class
  bool hasTexts = false;
};
} // namespace

bool SvmClassifier::read() {
  const pb::AttributeProto *texts = call.getAttr("classlabels_strings");
  const pb::AttributeProto *numbers = call.getAttr("classlabels_ints");
  hasTexts = texts && texts->strings_size();
  classes = hasTexts  ? texts->strings_size()
            : numbers ? numbers->ints_size()
                      : 0;
  if (const pb::AttributeProto *counts = call.getAttr("vectors_per_class"))
    supports.assign(counts->ints().begin(), counts->ints().end());
  if (llvm::all_of(supports, [](int64_t count) { return count == 0; }))
    supports.clear();
  return checkSizes();
}

bool SvmClassifier::checkSizes() const {
  auto fail = [&](const Twine &why) {
    call.refuse(why);
    return false;
  };
  if (classes < 2)
    return fail(Twine(classes) + " labels of classes");
  // Votes are a product with a matrix of classes and pairs.
  if (classes > kMostClasses)
    return fail(Twine(classes) + " classes: more than " + Twine(kMostClasses));
  int64_t total = 0, coefficients = countFloats(call, "coefficients");
  for (int64_t count : supports) {
    if (count < 0 || count > coefficients)
      return fail("a class of " + Twine(count) + " support vectors");
    total += count;
  }
  if (!hasVectors())
    return (coefficients > 0 && coefficients % classes == 0 &&
            countFloats(call, "rho") > 0) ||
           fail(Twine(coefficients) + " coefficients for " + Twine(classes) +
                " classes, or no 'rho'");
  if (static_cast<int64_t>(supports.size()) != classes)
    return fail("support vectors of " + Twine(supports.size()) +
                " classes for " + Twine(classes) + " labels");
  if (coefficients != total * (classes - 1))
    return fail(Twine(coefficients) + " coefficients for " + Twine(total) +
                " support vectors of " + Twine(classes) + " classes");
  for (StringRef name : {"rho", "prob_a", "prob_b"}) {
    bool isThere = name == "rho" || hasProbabilities();
    if (isThere && countFloats(call, name) != numPairs())
      return fail(Twine(countFloats(call, name)) + " numbers of '" + name +
                  "' for " + Twine(numPairs()) + " pairs of classes");
  }
  return true;
}

/// score (f64): of classes a < b, the support vectors of a times row b - 1 of
/// the coefficients, and those of b times row a. A product for each class has
/// the sums for all rows, which lie side by side.
std::string SvmClassifier::writePairScores() const {
  int64_t total = 0, rows = classes - 1;
  std::string sums, names;
  for (auto [c, count] : llvm::enumerate(supports)) {
    sums += llvm::formatv("begin{0} = Constant<value_ints = [{1}]>()\n"
                          "end{0} = Constant<value_ints = [{2}]>()\n"
                          "k{0} = Slice(wide, begin{0}, end{0}, axis1)\n"
                          "w{0} = Slice(weights, begin{0}, end{0}, axis0)\n"
                          "sums{0} = MatMul(k{0}, w{0})\n",
                          c, total, total + count);
    names += llvm::formatv("{0}sums{1}", c ? ", " : "", c);
    total += count;
  }
  std::vector<int64_t> firsts, seconds;
  for (int64_t a = 0; a < classes; ++a)
    for (int64_t b = a + 1; b < classes; ++b) {
      firsts.push_back(a * rows + b - 1);
      seconds.push_back(b * rows + a);
    }
  call.addConstant("ofFirst", {numPairs()}, firsts);
  call.addConstant("ofSecond", {numPairs()}, seconds);
  return writeKernelOfRows(call, total, 0) +
         llvm::formatv("rowsShape = Constant<value_ints = [{0}, {1}]>()\n",
                       rows, total)
             .str() +
         "axis0 = Constant<value_ints = [0]>()\n"
         "axis1 = Constant<value_ints = [1]>()\n"
         "wide = Cast<to = 11>(k)\n"
         "given0 = Constant<value_floats: floats = @coefficients>()\n"
         "given1 = Reshape(given0, rowsShape)\n"
         "given2 = Cast<to = 11>(given1)\n"
         "weights = Transpose<perm = [1, 0]>(given2)\n" +
         sums + "sums = Concat<axis = 1>(" + names + ")\n" +
         "firstSums = Gather<axis = 1>(sums, ofFirst)\n"
         "secondSums = Gather<axis = 1>(sums, ofSecond)\n"
         "both = Add(firstSums, secondSums)\n"
         "rho0 = Constant<value_floats: floats = @rho>()\n"
         "rho = Cast<to = 11>(rho0)\n"
         "score = Add(both, rho)\n"
         "pairs = Cast<to = 1>(score)\n";
}

/// class: the one that wins most of its pairs, the first of equal ones.
std::string SvmClassifier::writeVotes() const {
  std::vector<double> gains(numPairs() * classes), given(classes);
  int64_t pair = 0;
  for (int64_t a = 0; a < classes; ++a)
    for (int64_t b = a + 1; b < classes; ++b, ++pair) {
      // A vote is for b unless the score says that it is for a.
      gains[pair * classes + a] = 1;
      gains[pair * classes + b] = -1;
      given[b] += 1;
    }
  call.addConstant("gains", {numPairs(), classes}, gains);
  call.addConstant("others0", {classes}, given);
  return "none = Constant<value_float = 0.0>()\n"
         "none64 = Cast<to = 11>(none)\n"
         "isFirst = Greater(score, none64)\n"
         "won = Cast<to = 11>(isFirst)\n"
         "gained = MatMul(won, gains)\n"
         "votes = Add(gained, others0)\n"
         "class = ArgMax<axis = 1, keepdims = 0>(votes)\n";
}

/// scores: one for each class, of a model without support vectors.
std::string SvmClassifier::writeLinearScores() const {
  int64_t features = countFloats(call, "coefficients") / classes;
  return writeKernelOfRows(call, 0, features) +
         llvm::formatv("shape = Constant<value_ints = [{0}, {1}]>()\n", classes,
                       features)
             .str() +
         "rows0 = Constant<value_floats: floats = @coefficients>()\n"
         "rows = Reshape(rows0, shape)\n"
         "weights = Transpose<perm = [1, 0]>(rows)\n"
         "first = Constant<value_ints = [0]>()\n"
         "rhos = Constant<value_floats: floats = @rho>()\n"
         "rho = Gather(rhos, first)\n"
         "sums = MatMul(x, weights)\n"
         "scores = Add(sums, rho)\n";
}

/// class: that of the highest score. Of two classes it is the second where the
/// score is high enough, as onnxruntime has it.
std::string SvmClassifier::writeLinearClass() const {
  std::string text = "best = ArgMax<axis = 1, keepdims = 0>(scores)\n";
  if (classes != 2 || hasProbabilities())
    return text + "class = Identity(best)\n";
  bool isPositive = llvm::all_of(call.getAttr("coefficients")->floats(),
                                 [](float value) { return value >= 0; });
  return text +
         (isPositive ? "bound = Constant<value_float = 0.5>()\n"
                     : "bound = Constant<value_float = 0.0>()\n") +
         "axis1 = Constant<value_ints = [1]>()\n"
         "second = Constant<value_int = 1>()\n"
         "highest = ReduceMax<keepdims = 0>(scores, axis1)\n" +
         (isPositive ? "isSecond = GreaterOrEqual(highest, bound)\n"
                     : "isSecond = Greater(highest, bound)\n") +
         "class = Where(isSecond, second, best)\n";
}

/// r[n, a, b]: how probable class a is where it is a or b (Platt,
/// "Probabilistic outputs for support vector machines"); 0 where these are the
/// same.
std::string SvmClassifier::writePairProbabilities() const {
  std::vector<int64_t> places(classes * classes);
  std::vector<double> apart(classes * classes, 1);
  int64_t pair = 0;
  for (int64_t a = 0; a < classes; ++a) {
    apart[a * classes + a] = 0;
    for (int64_t b = a + 1; b < classes; ++b, ++pair) {
      places[a * classes + b] = pair;
      places[b * classes + a] = numPairs() + pair;
    }
  }
  call.addConstant("places", {classes, classes}, places);
  call.addConstant("apart64", {classes, classes}, apart);
  return "a = Constant<value_floats: floats = @prob_a>()\n"
         "b = Constant<value_floats: floats = @prob_b>()\n"
         "steep = Mul(pairs, a)\n"
         "moved = Add(steep, b)\n"
         "turned = Neg(moved)\n"
         "likely = Sigmoid(turned)\n"
         "least = Constant<value_float = 1e-7>()\n"
         "one = Constant<value_float = 1.0>()\n"
         "most = Sub(one, least)\n"
         "firsts = Clip(likely, least, most)\n"
         "seconds = Sub(one, firsts)\n"
         "all = Concat<axis = 1>(firsts, seconds)\n"
         "apart = Cast<to = 1>(apart64)\n"
         "table = Gather<axis = 1>(all, places)\n"
         "r = Mul(table, apart)\n";
}

/// scores: the probabilities of the classes that fit those of the pairs best
/// (Wu, Lin and Weng, "Probability estimates for multi-class classification by
/// pairwise coupling", algorithm 2), as libsvm computes them. A row is done
/// when its error is small.
std::string SvmClassifier::writeCoupling() const {
  return llvm::formatv("axis2 = Constant<value_ints = [2]>()\n"
                       "others = Transpose<perm = [0, 2, 1]>(r)\n"
                       "products = Mul(r, others)\n"
                       "squares = Mul(r, r)\n"
                       "total = ReduceSum<keepdims = 0>(squares, axis1)\n"
                       "column = Unsqueeze(total, axis2)\n"
                       "eye = Sub(one, apart)\n"
                       "diagonal = Mul(column, eye)\n"
                       "q = Sub(diagonal, products)\n"
                       "count = Constant<value_float = {0}.0>()\n"
                       "share = Div(one, count)\n"
                       "bound0 = Constant<value_float = 0.005>()\n"
                       "bound = Div(bound0, count)\n"
                       "two = Constant<value_float = 2.0>()\n"
                       "like = Shape(total)\n"
                       "p0 = Expand(share, like)\n"
                       "tries = Constant<value_int = 100>()\n"
                       "number = Constant<value_int = {0}>()\n"
                       "yes0 = Constant<value_int = 1>()\n"
                       "yes = Cast<to = 9>(yes0)\n",
                       classes)
             .str() +
         R"(scores = Loop<body = again (int64 i, bool c, float[] p) => (bool wanted, float[] p_new) {
  p_row = Unsqueeze(p, axis1)
  parts = Mul(q, p_row)
  qp = ReduceSum<keepdims = 0>(parts, axis2)
  weighted = Mul(p, qp)
  pqp = ReduceSum<keepdims = 1>(weighted, axis1)
  distance = Sub(qp, pqp)
  errors = Abs(distance)
  error = ReduceMax<keepdims = 1>(errors, axis1)
  isDone = Less(error, bound)
  isOpen = Not(isDone)
  p_end, qp_end, pqp_end = Loop<body = each (int64 t, bool d, float[] p_in, float[] qp_in, float[] pqp_in)
      => (bool d_out, float[] p_out, float[] qp_out, float[] pqp_out) {
    d_out = Identity(d)
    t1 = Unsqueeze(t, first)
    q_t = Gather<axis = 1>(q, t)
    q_tt = Gather<axis = 1>(q_t, t1)
    qp_t = Gather<axis = 1>(qp_in, t1)
    gap = Sub(pqp_in, qp_t)
    diff = Div(gap, q_tt)
    at_t = Gather(eye, t)
    step = Mul(diff, at_t)
    p_stepped = Add(p_in, step)
    scale = Add(one, diff)
    twice = Mul(two, qp_t)
    bend = Mul(diff, q_tt)
    slope = Add(bend, twice)
    change = Mul(diff, slope)
    pqp_changed = Add(pqp_in, change)
    pqp_once = Div(pqp_changed, scale)
    pqp_out = Div(pqp_once, scale)
    moved_q = Mul(diff, q_t)
    qp_changed = Add(qp_in, moved_q)
    qp_out = Div(qp_changed, scale)
    p_out = Div(p_stepped, scale)
  }>(number, yes, p, qp, pqp)
  p_new = Where(isOpen, p_end, p)
  open = Cast<to = 7>(isOpen)
  numOpen = ReduceSum<keepdims = 0>(open)
  wanted = Cast<to = 9>(numOpen)
}>(tries, yes, p0)
)";
}

static constexpr char kSoftmaxZero[] =
    "z_axis = Constant<value_ints = [1]>()\n"
    "z_highest = ReduceMax(scores, z_axis)\n"
    "z_apart = Sub(scores, z_highest)\n"
    "z_power = Exp(z_apart)\n"
    "z_size = Abs(scores)\n"
    "z_tiny = Constant<value_float = 1e-7>()\n"
    "z_is_zero = LessOrEqual(z_size, z_tiny)\n"
    "z_down = Neg(z_highest)\n"
    "z_factor = Exp(z_down)\n"
    "z_kept = Mul(scores, z_factor)\n"
    "z_parts = Where(z_is_zero, z_kept, z_power)\n"
    "z_sum = ReduceSum(z_parts, z_axis)\n"
    "Z = Div(z_parts, z_sum)\n";

// Winitzki's approximation of the inverse error function, with a = 0.147.
static constexpr char kProbit[] = "z_one = Constant<value_float = 1.0>()\n"
                                  "z_twice = Add(scores, scores)\n"
                                  "z_y = Sub(z_twice, z_one)\n"
                                  "z_less = Sub(z_one, z_y)\n"
                                  "z_more = Add(z_one, z_y)\n"
                                  "z_product = Mul(z_less, z_more)\n"
                                  "z_log = Log(z_product)\n"
                                  "z_half = Constant<value_float = 0.5>()\n"
                                  "z_part = Mul(z_half, z_log)\n"
                                  "z_c = Constant<value_float = 4.330747>()\n"
                                  "z_v = Add(z_c, z_part)\n"
                                  "z_a = Constant<value_float = 0.147>()\n"
                                  "z_share = Div(z_log, z_a)\n"
                                  "z_square = Mul(z_v, z_v)\n"
                                  "z_inner = Sub(z_square, z_share)\n"
                                  "z_outer = Sqrt(z_inner)\n"
                                  "z_under = Sub(z_outer, z_v)\n"
                                  "z_root = Sqrt(z_under)\n"
                                  "z_sign = Sign(z_y)\n"
                                  "z_s = Constant<value_float = 1.41421356>()\n"
                                  "z_scaled = Mul(z_s, z_root)\n"
                                  "Z = Mul(z_scaled, z_sign)\n";

/// Z: the scores, transformed.
std::string SvmClassifier::writeTransform() const {
  StringRef name = call.getString("post_transform");
  if (name.empty() || name == "NONE")
    return "Z = Identity(scores)\n";
  if (name == "SOFTMAX")
    return "Z = Softmax<axis = 1>(scores)\n";
  if (name == "LOGISTIC")
    return "Z = Sigmoid(scores)\n";
  if (name == "SOFTMAX_ZERO")
    return kSoftmaxZero;
  if (name == "PROBIT")
    return kProbit;
  return call.refuse("the transform '" + name + "' of the scores");
}

/// Z: of one pair without probabilities, both signs of its score, or what is
/// left of 1 and the score, as onnxruntime has it.
std::string SvmClassifier::writeScores() const {
  if (classes != 2 || hasProbabilities())
    return std::string(hasProbabilities()
                           ? "first = Constant<value_ints = [0]>()\n" +
                                 writePairProbabilities() + writeCoupling()
                           : "scores = Identity(pairs)\n") +
           writeTransform();
  StringRef name = call.getString("post_transform");
  if (name == "PROBIT")
    return call.refuse("the transform 'PROBIT' of one score for two classes");
  std::string text = name.empty() || name == "NONE" || name == "LOGISTIC"
                         ? "other = Neg(pairs)\n"
                         : "one = Constant<value_float = 1.0>()\n"
                           "other = Sub(one, pairs)\n";
  text += "scores = Concat<axis = 1>(other, pairs)\n";
  return text + (name == "LOGISTIC" ? "Z = Sigmoid(scores)\n"
                                    : "Z = Identity(scores)\n");
}

std::string SvmClassifier::writeLabels() const {
  return std::string(hasTexts ? "labels = Constant<value_strings: strings = "
                                "@classlabels_strings>()\n"
                              : "labels = Constant<value_ints: ints = "
                                "@classlabels_ints>()\n") +
         "Y = Gather(labels, class)\n";
}

std::string SvmClassifier::write() {
  if (!read())
    return {};
  std::string text =
      hasVectors()
          ? writePairScores() + writeVotes() + writeScores()
          : writeLinearScores() + writeLinearClass() + writeTransform();
  return text + writeLabels();
}

static std::string writeSvmClassifier(const ContribCall &call) {
  return SvmClassifier(call).write();
}

ArrayRef<ContribOperator> loopc::importer::getContribSupportVectors() {
  static const ContribOperator operators[] = {
      {"ai.onnx.ml", "SVMRegressor",
       "coefficients, kernel_params, kernel_type, n_supports, one_class, "
       "post_transform, rho, support_vectors",
       "X", "Y", writeSvmRegressor},
      {"ai.onnx.ml", "SVMClassifier",
       "classlabels_ints, classlabels_strings, coefficients, kernel_params, "
       "kernel_type, post_transform, prob_a, prob_b, rho, support_vectors, "
       "vectors_per_class",
       "X", "Y, Z", writeSvmClassifier},
  };
  return operators;
}
