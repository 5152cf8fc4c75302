//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Greedy decoding of connectionist temporal classification, without a loop: the
// likeliest class of each step; those that count are moved to the front.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

namespace {
/// What both decoders have: values are [batch, steps].
struct Decoder {
  LayerImport &l;
  Value classes; ///< i64
  Value isValid; ///< i1: the step belongs to the sequence
  Value blank;   ///< i64, a scalar

  /// The classes in front, filled up with -1, and how many there are.
  std::pair<Value, Value> decode(bool merges);
};
} // namespace

std::pair<Value, Value> Decoder::decode(bool merges) {
  Type i64 = l.builder().getI64Type();
  Value zero = l.scalarInt(0), one = l.scalarInt(1);
  Value isBlank = l.node("Equal", {classes, blank});
  Value counts = l.node("And", {isValid, l.node("Not", {isBlank})});
  if (merges) {
    // -1 is before the first step.
    Value first =
        l.node("Sub", {l.node("Mul", {l.slice(classes, 0, 1, 1), zero}), one});
    Value before = l.concat({first, l.slice(classes, 0, -1, 1)}, 1);
    Value isSame = l.node("Equal", {classes, before});
    counts = l.node("And", {counts, l.node("Not", {isSame})});
  }
  Value number = l.cast(counts, i64);
  Value length =
      l.node("ReduceSum", {number, l.ints({1})}, {l.attr("keepdims", 0)});
  // What does not count goes to a place behind the last.
  Value steps = l.extentOf(classes, 1);
  Value place = l.node("Sub", {l.node("CumSum", {number, one}), one});
  place = l.node("Where", {counts, place, steps});
  Value shape =
      l.concat({l.extentOf(classes, 0), l.node("Add", {steps, l.ints({1})})});
  Value empty = l.node("Expand", {l.scalarInt(-1), shape});
  Value all =
      l.node("ScatterElements", {empty, place, classes}, {l.attr("axis", 1)});
  return {l.slice(all, 0, -1, 1), length};
}

/// [steps, batch, classes] and a mask, 0 from where a sequence has ended; the
/// last class is blank.
static void importGreedyDecoder(LayerImport &l) {
  Value logits = l.in(0);
  Type i64 = l.builder().getI64Type();
  Value classes =
      l.node("ArgMax", {logits}, {l.attr("axis", 2), l.attr("keepdims", 0)});
  Value ended =
      l.node("CumSum",
             {l.cast(l.node("Equal", {l.in(1), l.scalarLike(l.in(1), 0)}), i64),
              l.scalarInt(0)});
  Value blank =
      l.node("Sub", {l.oneElement(l.extentOf(logits, 2)), l.scalarInt(1)});
  Value isValid = l.node("Equal", {ended, l.scalarInt(0)});
  if (l.isBad)
    return;
  Decoder decoder{l, l.transpose(classes, {1, 0}), l.transpose(isValid, {1, 0}),
                  blank};
  Value found = decoder.decode(l.boolean("ctc_merge_repeated", true)).first;
  l.set(l.cast(l.unsqueeze(found, {2, 3}), l.element(logits)));
}

/// [batch, steps, classes] and the sequences' lengths.
static void importGreedyDecoderLengths(LayerImport &l) {
  Value logits = l.in(0);
  Type indexType = l.elementAttr("classes_index_type", "i32"),
       lengthType = l.elementAttr("sequence_length_type", "i32");
  Value classes =
      l.node("ArgMax", {logits}, {l.attr("axis", 2), l.attr("keepdims", 0)});
  Value steps =
      l.node("Range", {l.scalarInt(0), l.oneElement(l.extentOf(logits, 1)),
                       l.scalarInt(1)});
  Value isValid = l.node("Less", {steps, l.unsqueeze(l.toI64(l.in(1)), {1})});
  Value blank = l.has(2) ? l.oneElement(l.toI64(l.in(2)))
                         : l.node("Sub", {l.oneElement(l.extentOf(logits, 2)),
                                          l.scalarInt(1)});
  if (l.isBad)
    return;
  Decoder decoder{l, classes, isValid, blank};
  auto [found, length] = decoder.decode(l.boolean("merge_repeated", true));
  l.set(l.cast(found, indexType));
  l.set(l.cast(length, lengthType));
}

llvm::ArrayRef<LayerRow> openvino::getDecodingRows() {
  static const LayerRow rows[] = {
      {"CTCGreedyDecoder", opsets({1}), importGreedyDecoder},
      {"CTCGreedyDecoderSeqLen", opsets({6}), importGreedyDecoderLengths}};
  return rows;
}
