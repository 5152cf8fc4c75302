//===- OperatorTable.cpp - What the table of operators says ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which operators can fail at run time. test/python/test_guards.py asks for the
// table and wants a failing node of each of them in loops and branches that do
// not happen; convert-onnx-to-linalg refuses to compile where a lowering makes
// a check for an operator that is said to have none. So neither a new operator
// nor a new check goes without a test.

#include "loopc/Conversion/ONNXToLinalg/OperatorTable.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace loopc;

/// Functions of one tensor, whatever its extents, and what takes no tensor.
/// That a form does not take each rank is another matter, the same for all.
static constexpr StringLiteral kNeverFail[] = {
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitCast",
    "BitwiseNot",
    "Ceil",
    "Celu",
    "Cos",
    "Cosh",
    "DynamicQuantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "EyeLike",
    "Flatten",
    "Floor",
    "Gelu",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "IsInf",
    "IsNaN",
    "LRN",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "Mish",
    "Neg",
    "NonZero",
    "Not",
    "Optional",
    "OptionalHasElement",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Reciprocal",
    "RegexFullMatch",
    "Relu",
    "Round",
    "Selu",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceLength",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "StringSplit",
    "Swish",
    "Tan",
    "Tanh",
    "TfIdfVectorizer",
    "ThresholdedRelu",
    "Transpose",
    "Unique",
    "ai.onnx.ml:Binarizer",
    "ai.onnx.ml:CategoryMapper",
    "ai.onnx.ml:LabelEncoder",
    "ai.onnx.ml:Normalizer",
};

bool loopc::canFail(StringRef domain, StringRef op) {
  std::string name = domain.empty() || domain == "ai.onnx"
                         ? op.str()
                         : (domain + ":" + op).str();
  return !llvm::is_contained(kNeverFail, name);
}

Operation *loopc::findFallible(Block::iterator begin, Block::iterator end) {
  Operation *found = nullptr;
  for (Operation &op : llvm::make_range(begin, end)) {
    op.walk([&](Operation *inner) {
      auto check = dyn_cast<loop::CheckOp>(inner);
      auto call = dyn_cast<rt::CallOp>(inner);
      // A check that holds whenever the node is reached is erased later.
      if (!(check && !matchPattern(check.getCondition(), m_One())) &&
          !(call && call.getWhere()))
        return WalkResult::advance();
      found = inner;
      return WalkResult::interrupt();
    });
    if (found)
      break;
  }
  return found;
}

void loopc::printOperatorTable(raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.arrayBegin();
  for (const LoweringRow &row : LoweringTable::get().rows())
    json.object([&] {
      json.attribute("domain", row.domain);
      json.attribute("operator", row.op);
      json.attribute("since", row.since);
      json.attribute("until", row.until == kLatest
                                  ? llvm::json::Value(nullptr)
                                  : llvm::json::Value(row.until));
      json.attribute("can_fail", canFail(row.domain, row.op));
    });
  json.arrayEnd();
  os << "\n";
}
