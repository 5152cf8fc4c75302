//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// onnxruntime's LSTM on integers of 8 bits. Both of its products are products
// of bytes, so what is rounded to bytes, and over which range, belongs to the
// definition; docs/Numerics.md states it. The body is written as a Scan over
// the steps, and uses the lowering of MatMulInteger.

#include "ContribOperators.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
/// An activation as ONNX's recurrent operators name it. The nodes make {1} of
/// {0}; {2} and {3} are alpha and beta.
struct ActivationText {
  StringLiteral name;
  unsigned parameters;
  float alpha, beta;
  StringLiteral nodes;
};
} // namespace

static constexpr ActivationText kActivations[] = {
    {"Sigmoid", 0, 0, 0, "{1} = Sigmoid({0})\n"},
    {"Tanh", 0, 0, 0, "{1} = Tanh({0})\n"},
    {"Relu", 0, 0, 0, "{1} = Relu({0})\n"},
    {"Affine", 2, 1, 0,
     "{1}_alpha = Constant<value_float = {2}>()\n"
     "{1}_beta = Constant<value_float = {3}>()\n"
     "{1} = {0} * {1}_alpha + {1}_beta\n"},
    {"LeakyRelu", 1, 0.01f, 0, "{1} = LeakyRelu<alpha = {2}>({0})\n"},
    {"ThresholdedRelu", 1, 1, 0, "{1} = ThresholdedRelu<alpha = {2}>({0})\n"},
    {"ScaledTanh", 2, 1, 1,
     "{1}_alpha = Constant<value_float = {2}>()\n"
     "{1}_beta = Constant<value_float = {3}>()\n"
     "{1} = Tanh({0} * {1}_beta) * {1}_alpha\n"},
    {"HardSigmoid", 2, 0.2f, 0.5f,
     "{1} = HardSigmoid<alpha = {2}, beta = {3}>({0})\n"},
    {"Elu", 1, 1, 0, "{1} = Elu<alpha = {2}>({0})\n"},
    {"Softsign", 0, 0, 0, "{1} = Softsign({0})\n"},
    {"Softplus", 0, 0, 0, "{1} = Softplus({0})\n"},
};

namespace {
/// DynamicQuantizeLSTM: the parts of its body. Names that end in a digit belong
/// to the direction of that number.
class QuantizedLstm {
public:
  explicit QuantizedLstm(const ContribCall &call) : call(call) {}
  std::string write();

private:
  enum { X, W, R, B, SequenceLens, InitialH, InitialC, P };
  struct Activation {
    const ActivationText *text;
    float alpha, beta;
  };

  bool readDirection();
  bool readActivations();
  std::string writeCommon() const;
  std::string writeLengths() const;
  std::string writeWeights(unsigned d) const;
  std::string writeInputs(unsigned d) const;
  std::string writeStates(unsigned d) const;
  std::string writeGate(unsigned d, StringRef gate, StringRef sum,
                        StringRef cell, unsigned activation) const;
  std::string writeStep(unsigned d) const;
  std::string writeScan(unsigned d) const;
  std::string writeResults(unsigned d) const;
  std::string activate(unsigned d, unsigned k, StringRef from,
                       StringRef to) const;
  bool hasLengths() const { return call.has(SequenceLens); }

  const ContribCall &call;
  SmallVector<bool, 2> reversed;
  SmallVector<Activation, 6> activations;
};
} // namespace

bool QuantizedLstm::readDirection() {
  StringRef direction = call.getString("direction");
  if (direction.empty() || direction == "forward")
    reversed = {false};
  else if (direction == "reverse")
    reversed = {true};
  else if (direction == "bidirectional")
    reversed = {false, true};
  else
    call.refuse("unknown direction '" + direction + "'");
  return !reversed.empty();
}

bool QuantizedLstm::readActivations() {
  SmallVector<StringRef> names;
  if (const pb::AttributeProto *given = call.getAttr("activations"))
    names.append(given->strings().begin(), given->strings().end());
  if (names.empty())
    for ([[maybe_unused]] bool direction : reversed)
      names.append({"Sigmoid", "Tanh", "Tanh"});
  if (names.size() != 3 * reversed.size()) {
    call.refuse("'activations' has " + Twine(names.size()) +
                " names, expected " + Twine(3 * reversed.size()));
    return false;
  }
  // Parameters are used up in the order of the activations that take one.
  const pb::AttributeProto *alphas = call.getAttr("activation_alpha");
  const pb::AttributeProto *betas = call.getAttr("activation_beta");
  int nextAlpha = 0, nextBeta = 0;
  for (StringRef name : names) {
    const ActivationText *text =
        llvm::find_if(kActivations, [&](const ActivationText &kind) {
          return name.equals_insensitive(kind.name);
        });
    if (text == std::end(kActivations)) {
      call.refuse("unknown activation '" + name + "'");
      return false;
    }
    Activation activation{text, text->alpha, text->beta};
    if (text->parameters > 0 && alphas && nextAlpha < alphas->floats_size())
      activation.alpha = alphas->floats(nextAlpha++);
    if (text->parameters > 1 && betas && nextBeta < betas->floats_size())
      activation.beta = betas->floats(nextBeta++);
    activations.push_back(activation);
  }
  return true;
}

/// `text` with each '#' replaced by the number of a direction.
static std::string ofDirection(StringRef text, unsigned d) {
  std::string result;
  for (char c : text)
    result += c == '#' ? std::to_string(d) : std::string(1, c);
  return result;
}

std::string QuantizedLstm::activate(unsigned d, unsigned k, StringRef from,
                                    StringRef to) const {
  const Activation &activation = activations[3 * d + k];
  auto number = [](float value) {
    return llvm::formatv("{0:e9}", value).str();
  };
  return llvm::formatv(/*Validate=*/false, activation.text->nodes.data(), from,
                       to, number(activation.alpha), number(activation.beta));
}

//===----------------------------------------------------------------------===//
// What comes before the steps
//===----------------------------------------------------------------------===//

/// Extents, and a Split of one part wherever an extent must be another: it
/// fails where it is not.
std::string QuantizedLstm::writeCommon() const {
  std::string text =
      "zero = Constant<value_float = 0.0>()\n"
      "first = Constant<value_ints = [0]>()\n"
      "second = Constant<value_ints = [1]>()\n"
      "all_steps = Shape<end = 1>(X)\n"
      "batch = Shape<start = 1, end = 2>(X)\n" +
      std::string(call.getAttr("hidden_size")
                      ? "size = Constant<value_int: int = @hidden_size>()\n"
                        "hidden = Unsqueeze(size, first)\n"
                      : "hidden = Shape<start = 1, end = 2>(R)\n") +
      "gates = hidden * [4]\n"
      "state_shape = Concat<axis = 0>(batch, hidden)\n"
      "zeros = ConstantOfShape(state_shape)\n" +
      llvm::formatv("directions = Constant<value_ints = [{0}]>()\n",
                    reversed.size())
          .str();
  for (StringRef name : {"W", "R"})
    text += llvm::formatv(
        "{0}_all = Split<axis = 2>(Split<axis = 0>({0}, directions), gates)\n",
        name);
  return text;
}

/// The steps up to the end of the longest sequence are quantized, padding of
/// the shorter ones included.
std::string QuantizedLstm::writeLengths() const {
  if (!hasLengths())
    return "longest = Identity(all_steps)\n"
           "lives = all_steps > first\n"
           "shown = Identity(X)\n";
  // A length that is negative is too large as an unsigned one; Gather fails.
  return "lengths0 = Gather(Range(0, Squeeze(all_steps + second, first), 1), "
         "int64(uint32(sequence_lens)))\n"
         "lengths = Split<axis = 0>(lengths0, batch)\n"
         "longest = Max(ReduceMax<keepdims = 1>(lengths), first)\n"
         "shown = Slice(X, first, longest, first)\n"
         "times = Range(0, Squeeze(longest, first), 1)\n"
         "column = Unsqueeze(lengths, second)\n"
         "lives = column > first\n";
}

std::string QuantizedLstm::writeWeights(unsigned d) const {
  std::string text = llvm::formatv("at{0} = Constant<value_int = {0}>()\n", d);
  for (StringRef name : {"W", "R"})
    text += llvm::formatv("{0}{1} = Gather<axis = 0>({0}_all, at{1})\n"
                          "{0}_scale{1} = Gather<axis = 0>({0}_scale, at{1})\n"
                          "{0}_zero{1} = Gather<axis = 0>({0}_zero_point, "
                          "at{1})\n",
                          name, d);
  if (call.has(P))
    text += ofDirection("P_own# = Gather<axis = 0>(P, at#)\n"
                        "three# = Concat<axis = 0>(hidden, hidden, hidden)\n"
                        "pi#, po#, pf# = Split<axis = 0>(P_own#, three#)\n",
                        d);
  return text;
}

/// gates: what the inputs and the biases give to each step.
std::string QuantizedLstm::writeInputs(unsigned d) const {
  StringRef text = "integers# = MatMulInteger(bytes, W#, byte_zero, W_zero#)\n"
                   "floats# = float(integers#)\n"
                   "factor# = Mul(byte_scale, W_scale#)\n"
                   "product# = Mul(floats#, factor#)\n";
  StringRef bias = "B_own# = Gather<axis = 0>(B, at#)\n"
                   "halves# = Concat<axis = 0>(gates, gates)\n"
                   "B_w#, B_r# = Split<axis = 0>(B_own#, halves#)\n"
                   "bias# = Add(B_w#, B_r#)\n"
                   "inputs# = Add(product#, bias#)\n";
  // Sequences are reversed each by itself: the steps of all of them begin
  // together, and the range of the states is one of equal steps.
  StringRef order = reversed[d] && hasLengths()
                        ? "gates# = ReverseSequence<time_axis = 0, batch_axis "
                          "= 1>(inputs#, lengths)\n"
                        : "gates# = Identity(inputs#)\n";
  return ofDirection(
      (text + (call.has(B) ? bias : "inputs# = Identity(product#)\n") + order)
          .str(),
      d);
}

std::string QuantizedLstm::writeStates(unsigned d) const {
  std::string text;
  for (auto [name, input] : {std::pair<StringRef, unsigned>{"h", InitialH},
                             std::pair<StringRef, unsigned>{"c", InitialC}}) {
    if (call.has(input))
      text += llvm::formatv(
          "{0}_begin{1} = Split<axis = 1>(Split<axis = 0>(Gather<axis = "
          "0>(initial_{0}, at{1}), batch), hidden)\n",
          name, d);
    else
      text += llvm::formatv("{0}_begin{1} = Identity(zeros)\n", name, d);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

/// `gate`: the activation of the sum `sum`. `cell`: the state that the peephole
/// looks at, empty for none.
std::string QuantizedLstm::writeGate(unsigned d, StringRef gate, StringRef sum,
                                     StringRef cell,
                                     unsigned activation) const {
  std::string text, from = sum.str();
  if (call.has(P) && !cell.empty()) {
    text +=
        llvm::formatv("{0}_seen = {3} + p{0}{1} * {2}\n", gate, d, cell, from);
    from = (gate + "_seen").str();
  }
  if (call.getAttr("clip")) {
    text +=
        llvm::formatv("{0}_clipped = Clip({1}, lowest, highest)\n", gate, from);
    from = (gate + "_clipped").str();
  }
  return text + activate(d, activation, from, gate);
}

std::string QuantizedLstm::writeStep(unsigned d) const {
  std::string text;
  // What onnxruntime quantizes is the row of the step before in Y, which is
  // zero behind the end of a sequence; without Y, the last state stays there.
  if (!hasLengths())
    text = "known = Identity(h)\n";
  else if (call.wants(0))
    text = "counts = t <= column\n"
           "known = Where(counts, h, zero)\n";
  else
    text = "counts = t <= column | lives\n"
           "known = Where(counts, h, zero)\n";
  text += ofDirection(
      "state, state_scale, state_zero = DynamicQuantizeLinear(known)\n"
      "integers = MatMulInteger(state, R#, state_zero, R_zero#)\n"
      "floats = float(integers)\n"
      "factor = Mul(state_scale, R_scale#)\n"
      "product = floats * factor\n"
      "i_sum, o_sum, f_sum, c_sum = Split<axis = -1, num_outputs = 4>(x + "
      "product)\n",
      d);
  text += writeGate(d, "i", "i_sum", "c", 0);
  if (call.getInt("input_forget"))
    text += "f = 1.0 - i\n";
  else
    text += writeGate(d, "f", "f_sum", "c", 0);
  text += writeGate(d, "g", "c_sum", "", 1);
  text += "c_new = f * c + i * g\n";
  text += writeGate(d, "o", "o_sum", "c_new", 0);
  text += activate(d, 2, "c_new", "m");
  text += "h_new = o * m\n";
  if (!hasLengths())
    return text + "h_next = Identity(h_new)\n"
                  "c_next = Identity(c_new)\n"
                  "y = Identity(h_new)\n";
  return text + "alive = t < column\n"
                "h_next = Where(alive, h_new, h)\n"
                "c_next = Where(alive, c_new, c)\n"
                "y = Where(alive, h_new, zero)\n";
}

std::string QuantizedLstm::writeScan(unsigned d) const {
  StringRef backwards = reversed[d] && !hasLengths()
                            ? ", scan_input_directions = [1], "
                              "scan_output_directions = [1]"
                            : "";
  bool counts = hasLengths();
  return ofDirection(("h_end#, c_end#, steps# = Scan<num_scan_inputs = " +
                      Twine(counts ? 2 : 1) + backwards +
                      ", body = step# (h, c, x" + (counts ? ", t" : "") +
                      ") => (h_next, c_next, y) {\n")
                         .str(),
                     d) +
         writeStep(d) +
         ofDirection(("}>(h_begin#, c_begin#, gates#" +
                      StringRef(counts ? ", times" : "") + ")\n")
                         .str(),
                     d);
}

/// Results without steps are zeros, in sequences of none, too.
std::string QuantizedLstm::writeResults(unsigned d) const {
  std::string text = "h_last# = Where(lives, h_end#, zero)\n"
                     "c_last# = Where(lives, c_end#, zero)\n"
                     "steps_shape# = Concat<axis = 0>(longest, state_shape)\n"
                     "done# = Reshape<allowzero = 1>(steps#, steps_shape#)\n";
  if (!hasLengths())
    text += "whole# = Identity(done#)\n";
  else
    text +=
        std::string(reversed[d] ? "placed# = ReverseSequence<time_axis = 0, "
                                  "batch_axis = 1>(done#, lengths)\n"
                                : "placed# = Identity(done#)\n") +
        "rest# = Sub(all_steps, longest)\n"
        "rest_shape# = Concat<axis = 0>(rest#, state_shape)\n"
        "behind# = ConstantOfShape(rest_shape#)\n"
        "whole# = Concat<axis = 0>(placed#, behind#)\n";
  text += "Y# = Unsqueeze(whole#, second)\n"
          "Y_h# = Unsqueeze(h_last#, first)\n"
          "Y_c# = Unsqueeze(c_last#, first)\n";
  return ofDirection(text, d);
}

std::string QuantizedLstm::write() {
  for (unsigned k : {8, 9, 10, 11})
    if (!call.has(k))
      return call.refuse("no scale or zero point for the weights");
  if (!readDirection() || !readActivations())
    return {};
  std::string text = writeCommon() + writeLengths();
  text += "bytes, byte_scale, byte_zero = DynamicQuantizeLinear(shown)\n";
  if (call.getAttr("clip"))
    text += "highest = @clip\n"
            "lowest = Neg(highest)\n";
  for (unsigned d = 0; d < reversed.size(); ++d)
    text += writeWeights(d) + writeInputs(d) + writeStates(d) + writeScan(d) +
            writeResults(d);
  for (auto [name, axis] :
       {std::pair<StringRef, int>{"Y", 1}, std::pair<StringRef, int>{"Y_h", 0},
        std::pair<StringRef, int>{"Y_c", 0}})
    text += (name + " = Concat<axis = " + Twine(axis) + ">(" + name + "0" +
             (reversed.size() > 1 ? ", " + name.str() + "1" : "") + ")\n")
                .str();
  return text;
}

static std::string writeDynamicQuantizeLstm(const ContribCall &call) {
  return QuantizedLstm(call).write();
}

ArrayRef<ContribOperator> loopc::importer::getContribRecurrent() {
  static const ContribOperator operators[] = {
      {kContribDomain, "DynamicQuantizeLSTM",
       "activation_alpha, activation_beta, activations, clip, direction, "
       "hidden_size, input_forget",
       "X, W, R, B, sequence_lens, initial_h, initial_c, P, W_scale, "
       "W_zero_point, R_scale, R_zero_point",
       "Y, Y_h, Y_c", writeDynamicQuantizeLstm},
  };
  return operators;
}
