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
      "k_gamma = Gather(k_params, 0)\n"
      "k_coef0 = Gather(k_params, 1)\n";
  if (type == "RBF")
    // Not by products: what is left of their differences has few digits.
    return text + "k_apart = Unsqueeze(x, [1]) - s\n"
                  "k_scaled = ReduceSum<keepdims = 0>(k_apart * k_apart, [2]) "
                  "* k_gamma\n"
                  "k = Exp(Neg(k_scaled))\n";
  text += "k_scaled = MatMul(x, columns) * k_gamma\n"
          "k_moved = k_scaled + k_coef0\n";
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
  std::string text = "x0 = float(X)\n";
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
      "weights0 = Constant<value_floats: floats = @coefficients>()\n"
      "weights = Reshape(weights0, [-1, 1])\n"
      "rho = Constant<value_floats: floats = @rho>()\n"
      "value = MatMul(k, weights) + rho\n";
  if (!call.getInt("one_class"))
    return text + "Y = Identity(value)\n";
  return text + "zero = value - value\n"
                "one = Exp(zero)\n"
                "other = Neg(one)\n"
                "Y = Where(value > zero, one, other)\n";
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

  static constexpr int64_t kMaxClasses = 512;

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
  if (classes > kMaxClasses)
    return fail(Twine(classes) + " classes: more than " + Twine(kMaxClasses));
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
    sums += llvm::formatv("sums{0} = MatMul(Slice(wide, [{1}], [{2}], [1]), "
                          "Slice(weights, [{1}], [{2}], [0]))\n",
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
         "wide = double(k)\n"
         "given0 = Constant<value_floats: floats = @coefficients>()\n"
         "weights = Transpose<perm = [1, 0]>(double(Reshape(given0, "
         "rowsShape)))\n" +
         sums + "sums = Concat<axis = 1>(" + names + ")\n" +
         "rho0 = Constant<value_floats: floats = @rho>()\n"
         "rho = double(rho0)\n"
         "score = Gather<axis = 1>(sums, ofFirst) + Gather<axis = 1>(sums, "
         "ofSecond) + rho\n"
         "pairs = float(score)\n";
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
  return "gained = MatMul(double(score > double(0.0)), gains)\n"
         "class = ArgMax<axis = 1, keepdims = 0>(gained + others0)\n";
}

/// scores: one for each class, of a model without support vectors.
std::string SvmClassifier::writeLinearScores() const {
  int64_t features = countFloats(call, "coefficients") / classes;
  return writeKernelOfRows(call, 0, features) +
         llvm::formatv("shape = Constant<value_ints = [{0}, {1}]>()\n", classes,
                       features)
             .str() +
         "rows0 = Constant<value_floats: floats = @coefficients>()\n"
         "weights = Transpose<perm = [1, 0]>(Reshape(rows0, shape))\n"
         "rhos = Constant<value_floats: floats = @rho>()\n"
         "rho = Gather(rhos, [0])\n"
         "sums = MatMul(x, weights)\n"
         "scores = sums + rho\n";
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
         "highest = ReduceMax<keepdims = 0>(scores, [1])\n" +
         (isPositive ? "isSecond = highest >= bound\n"
                     : "isSecond = highest > bound\n") +
         "class = Where(isSecond, 1, best)\n";
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
         "likely = Sigmoid(Neg(pairs * a + b))\n"
         "one = Constant<value_float = 1.0>()\n"
         "firsts = Clip(likely, 1e-7, one - 1e-7)\n"
         "apart = float(apart64)\n"
         "r = Gather<axis = 1>(Concat<axis = 1>(firsts, one - firsts), places) "
         "* apart\n";
}

/// scores: the probabilities of the classes that fit those of the pairs best
/// (Wu, Lin and Weng, "Probability estimates for multi-class classification by
/// pairwise coupling", algorithm 2), as libsvm computes them. A row is done
/// when its error is small.
std::string SvmClassifier::writeCoupling() const {
  return llvm::formatv("total = ReduceSum<keepdims = 0>(r * r, [1])\n"
                       "eye = one - apart\n"
                       "q = Unsqueeze(total, [2]) * eye - r * Transpose<perm = "
                       "[0, 2, 1]>(r)\n"
                       "count = Constant<value_float = {0}.0>()\n"
                       "bound = 0.005 / count\n"
                       "p0 = Expand(one / count, Shape(total))\n"
                       "number = Constant<value_int = {0}>()\n"
                       "yes = bool(1)\n",
                       classes)
             .str() +
         R"(scores = Loop<body = again (int64 i, bool c, float[] p) => (bool wanted, float[] p_new) {
  qp = ReduceSum<keepdims = 0>(q * Unsqueeze(p, [1]), [2])
  pqp = ReduceSum<keepdims = 1>(p * qp, [1])
  isDone = ReduceMax<keepdims = 1>(Abs(qp - pqp), [1]) < bound
  isOpen = Not(isDone)
  p_end, qp_end, pqp_end = Loop<body = each (int64 t, bool d, float[] p_in, float[] qp_in, float[] pqp_in)
      => (bool d_out, float[] p_out, float[] qp_out, float[] pqp_out) {
    d_out = Identity(d)
    t1 = Unsqueeze(t, [0])
    q_t = Gather<axis = 1>(q, t)
    q_tt = Gather<axis = 1>(q_t, t1)
    qp_t = Gather<axis = 1>(qp_in, t1)
    diff = (pqp_in - qp_t) / q_tt
    scale = one + diff
    pqp_changed = pqp_in + diff * (diff * q_tt + 2.0 * qp_t)
    pqp_out = pqp_changed / scale / scale
    qp_out = (qp_in + diff * q_t) / scale
    p_out = (p_in + diff * Gather(eye, t)) / scale
  }>(number, yes, p, qp, pqp)
  p_new = Where(isOpen, p_end, p)
  wanted = bool(ReduceSum<keepdims = 0>(int64(isOpen)))
}>(100, yes, p0)
)";
}

static constexpr char kSoftmaxZero[] =
    "z_highest = ReduceMax(scores, [1])\n"
    "z_parts = Where(Abs(scores) <= 1e-7, scores * Exp(Neg(z_highest)), "
    "Exp(scores - z_highest))\n"
    "Z = z_parts / ReduceSum(z_parts, [1])\n";

// Winitzki's approximation of the inverse error function, with a = 0.147.
static constexpr char kProbit[] =
    "z_y = scores + scores - 1.0\n"
    "z_log = Log((1.0 - z_y) * (1.0 + z_y))\n"
    "z_v = 4.330747 + 0.5 * z_log\n"
    "z_under = Sqrt(z_v * z_v - z_log / 0.147) - z_v\n"
    "Z = 1.41421356 * Sqrt(z_under) * Sign(z_y)\n";

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
                           ? writePairProbabilities() + writeCoupling()
                           : "scores = Identity(pairs)\n") +
           writeTransform();
  StringRef name = call.getString("post_transform");
  if (name == "PROBIT")
    return call.refuse("the transform 'PROBIT' of one score for two classes");
  std::string text = name.empty() || name == "NONE" || name == "LOGISTIC"
                         ? "other = Neg(pairs)\n"
                         : "one = Constant<value_float = 1.0>()\n"
                           "other = one - pairs\n";
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
