//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

using namespace loopc;

static std::string rowKey(llvm::StringRef domain, llvm::StringRef op) {
  return (domain == "ai.onnx" ? "" : domain.str()) + ":" + op.str();
}

void LoweringTable::add(llvm::ArrayRef<LoweringRow> rows) {
  for (const LoweringRow &row : rows) {
    auto &versions = byName[rowKey(row.domain, row.op)];
    for ([[maybe_unused]] unsigned other : versions)
      assert((row.since > all[other].until || row.until < all[other].since) &&
             "two rows for one version of an operator");
    versions.push_back(all.size());
    all.push_back(row);
  }
}

const LoweringRow *LoweringTable::find(llvm::StringRef domain,
                                       llvm::StringRef op,
                                       int64_t since) const {
  auto it = byName.find(rowKey(domain, op));
  if (it == byName.end())
    return nullptr;
  for (unsigned k : it->second)
    if (all[k].since <= since && since <= all[k].until)
      return &all[k];
  return nullptr;
}

const LoweringTable &LoweringTable::get() {
  static const LoweringTable table = [] {
    LoweringTable t;
    addElementwiseRows(t);
    addCumulativeRows(t);
    addNormalizationRows(t);
    addSoftmaxRows(t);
    addReductionRows(t);
    addUnaryRows(t);
    addCastRows(t);
    addClassicalRows(t);
    addLinearModelRows(t);
    addTreeRows(t);
    addShapeRows(t);
    addMovementRows(t);
    addPaddingRows(t);
    addIndexingRows(t);
    addSelectionRows(t);
    addCollectionRows(t);
    addContractionRows(t);
    addConvolutionRows(t);
    addOrderingRows(t);
    addPoolingRows(t);
    addQuantizationRows(t);
    addRecurrentRows(t);
    addStringRows(t);
    addTextRows(t);
    addRandomRows(t);
    addResizeRows(t);
    addSignalRows(t);
    addTrainingRows(t);
    addVisionRows(t);
    return t;
  }();
  return table;
}
