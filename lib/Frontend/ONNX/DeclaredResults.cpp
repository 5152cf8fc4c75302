//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeclaredResults.h"

#include "loopc/Dialect/Loopc/IR/DeclaredResults.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

/// What `info` declares, where that tells a rank; null otherwise.
static RankedTensorType importRanked(MLIRContext *context,
                                     const pb::ValueInfoProto &info) {
  return dyn_cast_or_null<RankedTensorType>(
      loopc::onnx::importType(context, info.type()));
}

/// What `graph` declares of the value `name`, where that tells a rank.
static RankedTensorType findDeclared(MLIRContext *context,
                                     const pb::GraphProto *graph,
                                     StringRef name) {
  if (!graph || name.empty())
    return {};
  for (const auto *infos : {&graph->value_info(), &graph->output()})
    for (const pb::ValueInfoProto &info : *infos)
      if (name == info.name())
        if (RankedTensorType type = importRanked(context, info))
          return type;
  return {};
}

/// Whether `type`, of what is collected along `axis`, leaves a rank or an
/// extent open that inference may not find.
static bool isOpen(Type type, int64_t axis) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return isa<UnrankedTensorType>(type);
  int64_t place = axis < 0 ? axis + ranked.getRank() : axis;
  for (auto [k, extent] : llvm::enumerate(ranked.getShape()))
    if (static_cast<int64_t>(k) != place && ShapedType::isDynamic(extent))
      return true;
  return false;
}

void importer::noteDeclaredResults(const NodeContext &nc, Operation *loop,
                                   unsigned collected, ArrayRef<int64_t> axes,
                                   const pb::GraphProto &body, unsigned first) {
  MLIRContext *context = loop->getContext();
  SmallVector<Type> types(loop->getResultTypes());
  bool isAny = false;
  for (auto [k, axis] : llvm::enumerate(axes)) {
    unsigned number = collected + k;
    if (!isOpen(types[number], axis))
      continue;
    RankedTensorType declared = importRanked(context, body.output(first + k));
    if (declared) {
      SmallVector<int64_t> shape(declared.getShape());
      int64_t place = axis < 0 ? axis + declared.getRank() + 1 : axis;
      if (place < 0 || place > declared.getRank())
        continue;
      shape.insert(shape.begin() + place, ShapedType::kDynamic);
      declared = declared.clone(shape);
    } else if (isa<UnrankedTensorType>(types[number]) &&
               static_cast<int>(number) < nc.node.output_size()) {
      declared = findDeclared(context, nc.scope.graph, nc.node.output(number));
    }
    if (!declared)
      continue;
    types[number] = declared;
    isAny = true;
  }
  if (isAny)
    loop->setDiscardableAttr(kDeclaredResultsAttrName,
                             Builder(context).getTypeArrayAttr(types));
}
