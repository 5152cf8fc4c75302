//===- RankRules.cpp - The ranks that operators take ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the definitions of operators say of the ranks of their operands, and
// ONNX's inference of types does not ask, or only where all ranks are known. A
// switch over the ranks of several operands has as few cases as these leave.

#include "RankRules.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;

namespace {
/// A letter for each operand of an operator, the last one for all that follow:
///   0    one element, of any rank    l    a list: its elements
///   1-9  that rank                   v    rank 0 or 1
///   =    the rank of operand 0       p    rank 0, 1 or that of operand 0
///   .    any rank
///   z    that of the one before it; where that is of rank 0 or 1, one element
///   of
///        any rank, or a list
struct RankRule {
  StringLiteral op, operands;
};
} // namespace

static constexpr RankRule kRules[] = {
    {"Adagrad", "00."},
    {"Adam", "00."},
    {"AffineGrid", ".l"},
    {"CenterCropPad", ".l"},
    {"Clip", ".l"},
    {"Col2Im", ".l"},
    {"ConstantOfShape", "l"},
    {"Conv", ".=1"},
    {"ConvInteger", ".=0v"},
    {"ConvTranspose", ".=1"},
    {"CumProd", ".l"},
    {"CumSum", ".l"},
    {"DFT", ".0"},
    {"DeformConv", ".==1="},
    {"DepthToSpace", "4"},
    {"DequantizeLinear", ".pz"},
    {"Dropout", ".l"},
    {"Expand", ".l"},
    {"EyeLike", "2"},
    {"GRU", "333213"},
    {"GatherElements", ".="},
    {"Gemm", "22."},
    {"GridSample", ".="},
    {"LSTM", "33321332"},
    {"MaxRoiPool", "42"},
    {"MaxUnpool", ".=l"},
    {"MelWeightMatrix", "0"},
    {"Momentum", "00."},
    {"NonMaxSuppression", "330"},
    {"OneHot", ".l"},
    {"Pad", ".l"},
    {"QLinearConv", ".00=vv001"},
    {"QuantizeLinear", ".pz"},
    {"RNN", "333213"},
    {"Range", "l"},
    {"Reshape", ".l"},
    {"Resize", ".l"},
    {"ReverseSequence", ".1"},
    {"RoiAlign", "421"},
    {"STFT", ".010"},
    {"Scatter", ".="},
    {"ScatterElements", ".="},
    {"SequenceAt", ".l"},
    {"SequenceErase", ".l"},
    {"SequenceInsert", "..l"},
    {"Slice", ".l"},
    {"SpaceToDepth", "4"},
    {"Split", ".l"},
    {"Squeeze", ".l"},
    {"TensorScatter", ".=1"},
    {"Tile", ".l"},
    {"TopK", ".l"},
    {"Trilu", ".l"},
    {"Unsqueeze", ".l"},
    {"Upsample", ".l"},
};

/// The letter of operand `i` (RankRule).
static char letterOf(onnx::NodeOp node, unsigned i) {
  static const llvm::StringMap<StringRef> rules = [] {
    llvm::StringMap<StringRef> byName;
    for (const RankRule &rule : kRules)
      byName[rule.op] = rule.operands;
    return byName;
  }();
  if (node.getOpType().starts_with("Reduce"))
    return i == 0 ? '.' : 'l';
  StringRef operands = rules.lookup(node.getOpType());
  return operands.empty() ? '.'
                          : operands[std::min<size_t>(i, operands.size() - 1)];
}

OperandForm loopc::formOfOperand(onnx::NodeOp node, unsigned i) {
  switch (letterOf(node, i)) {
  case 'z': {
    std::optional<int64_t> rank = rankOfInput(node, i - 1);
    if (!rank || *rank > 1)
      return OperandForm::Tensor;
    return *rank == 0 ? OperandForm::OneElement : OperandForm::List;
  }
  case 'l':
    return OperandForm::List;
  case '0':
    return OperandForm::OneElement;
  default:
    return OperandForm::Tensor;
  }
}

unsigned loopc::leaderOfRank(onnx::NodeOp node, unsigned i) {
  char letter = letterOf(node, i);
  if (letter == '=')
    return 0;
  return letter == 'z' ? leaderOfRank(node, i - 1) : i;
}

bool loopc::mayHaveRank(onnx::NodeOp node, unsigned i, int64_t rank) {
  switch (letterOf(node, i)) {
  case 'v':
    return rank <= 1;
  case 'p':
    return rank <= 1 || rankOfInput(node, 0).value_or(rank) == rank;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// The one rank of an operand
//===----------------------------------------------------------------------===//

static RankedTensorType rankedInput(onnx::NodeOp node, unsigned i) {
  Value value = node.getInputOrNull(i);
  return value ? dyn_cast<RankedTensorType>(value.getType())
               : RankedTensorType();
}

std::optional<int64_t> loopc::rankOfInput(onnx::NodeOp node, unsigned i) {
  RankedTensorType type = rankedInput(node, i);
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

/// The length of input `i` of `node`, a list, where its type tells.
static std::optional<int64_t> lengthOfInput(onnx::NodeOp node, unsigned i) {
  RankedTensorType type = rankedInput(node, i);
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

/// The number of subscripts of term `i` of an equation of Einsum.
static std::optional<int64_t> rankOfTerm(onnx::NodeOp node, unsigned i) {
  auto equation = dyn_cast_or_null<StringAttr>(node.getNodeAttr("equation"));
  if (!equation || equation.getValue().contains('.'))
    return std::nullopt;
  SmallVector<StringRef> terms;
  equation.getValue().split("->").first.split(terms, ',');
  if (i >= terms.size())
    return std::nullopt;
  return llvm::count_if(terms[i], [](char c) { return c != ' '; });
}

std::optional<int64_t> loopc::rankOfUpdates(onnx::NodeOp node) {
  std::optional<int64_t> data = rankOfInput(node, 0),
                         rank = rankOfInput(node, 1);
  if (!data || !rank || *rank == 0)
    return std::nullopt;
  RankedTensorType indices = rankedInput(node, 1);
  if (indices.isDynamicDim(*rank - 1))
    return std::nullopt;
  return *data - indices.getDimSize(*rank - 1) + *rank - 1;
}

/// The rank of an operand that must have the same one as operand `i`.
static std::optional<int64_t> rankOfEqual(onnx::NodeOp node, unsigned i) {
  unsigned leader = leaderOfRank(node, i);
  for (unsigned k = 0; k < node.getInputs().size(); ++k)
    if (leaderOfRank(node, k) == leader && letterOf(node, k) != 'z')
      if (std::optional<int64_t> rank = rankOfInput(node, k))
        return rank;
  return std::nullopt;
}

/// The rank of operand `i` by attributes and lists.
static std::optional<int64_t> rankByValues(onnx::NodeOp node, unsigned i) {
  StringRef op = node.getOpType();
  auto listAttr = [&](StringRef name, int64_t more) -> std::optional<int64_t> {
    auto list = dyn_cast_or_null<DenseI64ArrayAttr>(node.getNodeAttr(name));
    return list ? std::optional<int64_t>(list.size() + more) : std::nullopt;
  };
  if (op == "Transpose")
    return listAttr("perm", 0);
  if (op == "Einsum")
    return rankOfTerm(node, i);
  if ((op == "AveragePool" || op == "MaxPool" || op == "LpPool") && i == 0)
    return listAttr("kernel_shape", 2);
  if (op.starts_with("Conv") && i < 2)
    return listAttr("kernel_shape", 2);
  if (op == "Pad" && i == 0 && node.getInputs().size() < 4)
    if (std::optional<int64_t> length = lengthOfInput(node, 1))
      return *length / 2;
  if (op == "ScatterND" && i == 2)
    return rankOfUpdates(node);
  return std::nullopt;
}

std::optional<int64_t> loopc::requiredRank(onnx::NodeOp node, unsigned i) {
  char letter = letterOf(node, i);
  if (letter >= '1' && letter <= '9')
    return letter - '0';
  if (std::optional<int64_t> rank = rankOfEqual(node, i))
    return rank;
  return rankByValues(node, i);
}

int64_t loopc::leastRankOfCollected(loop::LoopOp loop, unsigned k) {
  int64_t axis = loop.getCollectAxes()[k];
  return std::max<int64_t>(axis < 0 ? -axis : axis + 1,
                           loop.getLengthOf(k) ? 2 : 1);
}
