//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/PassTable.h"
#include "loopc/Support/OptionParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace loopc;

// Those that lead to kernels of a GPU count as needed: nothing was tried
// without one of them but loopc-lift-growth. What moves a value into a part of
// a larger buffer may round: rows that lie apart are summed up one by one,
// those of a buffer of its own as one.
static constexpr PassEntry kPasses[] = {
    {"buffer-assign-storage", PassUse::SameBits, "iterations allocate nothing"},
    {"buffer-place-deallocations", PassUse::Needed,
     "each buffer is freed, once"},
    {"buffer-privatize-empty", PassUse::Needed,
     "branches do not write their results in places of other extents"},
    {"buffer-resolve-dropped-axes", PassUse::Needed,
     "subviews must say which dimensions they drop"},
    {"buffer-store-booleans", PassUse::SameBits,
     "truth values are read and written in vectors"},
    {"buffer-write-carried", PassUse::SameBits,
     "what is carried and a scan output is not copied"},
    {"canonicalize", PassUse::Rounding,
     "constants are folded, and dead code is removed"},
    {"convert-dialects-to-llvm", PassUse::Needed,
     "arith, cf, func, math and memref have no other lowering"},
    {"convert-elementwise-to-linalg", PassUse::Needed,
     "arithmetic on tensors has no other lowering"},
    {"convert-gpu-to-nvvm", PassUse::Needed, "kernels have no other lowering"},
    {"convert-launches-to-llvm", PassUse::Needed,
     "launches have no other lowering"},
    {"convert-linalg-to-nests", PassUse::Needed,
     "linalg has no other lowering"},
    {"convert-loop-runtime-to-llvm", PassUse::Needed,
     "memory, checks and lists are calls of the runtime"},
    {"convert-loop-to-scf", PassUse::Needed, "loop.loop has no other lowering"},
    {"convert-onnx-to-linalg", PassUse::Needed,
     "onnx.node has no other lowering"},
    {"cpu-cut-sections", PassUse::SameBits,
     "passes run on sections of a model in parallel"},
    {"cpu-fuse-reductions", PassUse::Rounding,
     "rows are reduced while they are computed"},
    {"cpu-interchange-batches", PassUse::Rounding,
     "all iterations of a batch element run while a cache holds its state"},
    {"cpu-interchange-elements", PassUse::Rounding,
     "all iterations of some elements stay in registers"},
    {"cpu-join-sections", PassUse::Needed, "sections are inlined again"},
    {"cpu-keep-in-registers", PassUse::Rounding,
     "small tensors stay in registers"},
    {"cpu-pack-contractions", PassUse::Rounding,
     "operands of contractions are packed into panels"},
    {"cpu-reduce-columns", PassUse::Rounding,
     "short rows are reduced in the lanes of vectors"},
    {"cpu-tile-chains", PassUse::Rounding,
     "rows between two products stay in a cache"},
    {"cpu-vectorize-contractions", PassUse::Rounding,
     "contractions are computed in registers"},
    {"cpu-vectorize-rows", PassUse::Rounding,
     "rows that broadcast are computed in vectors"},
    {"fold-memref-alias-ops", PassUse::Needed,
     "kernels access buffers, not views of them"},
    {"loop-batch-slices", PassUse::Rounding,
     "contractions of slices are one contraction"},
    {"loop-carry-padded", PassUse::Rounding,
     "fields are not copied into their padding"},
    {"loop-collect-appended", PassUse::SameBits,
     "sequences that are only appended to are scan outputs"},
    {"loop-collect-in-place", PassUse::Rounding,
     "scan outputs are computed in their final place"},
    {"loop-count-trips", PassUse::Rounding,
     "conditions that are counters are trip counts"},
    {"loop-distribute-stages", PassUse::Rounding,
     "each recurrence of a body is a loop of its own"},
    {"loop-fold-bounds", PassUse::Rounding,
     "slices at induction variables have known dimensions"},
    {"loop-fuse-loops", PassUse::Rounding,
     "loops that read one another are fused"},
    {"loop-grow-in-place", PassUse::Rounding,
     "values grow in buffers with room"},
    {"loop-hoist-checks", PassUse::SameBits,
     "induction variables are checked as indices once"},
    {"loop-hoist-dims", PassUse::Rounding,
     "dimensions of carried values are known before the loop"},
    {"loop-hoist-invariants", PassUse::Rounding,
     "loop-invariant operations are computed once"},
    {"loop-lower-collected", PassUse::Needed,
     "scan outputs of unknown length have no other lowering"},
    {"loop-lower-scan", PassUse::Needed, "loop.scan has no other lowering"},
    {"loop-lower-slices", PassUse::Needed,
     "slices of loops have no other lowering"},
    {"loop-merge-lengths", PassUse::Rounding,
     "buffers that grow together have one length"},
    {"loop-scalarize", PassUse::Needed,
     "trip counts and conditions of loops are scalars"},
    {"loop-unroll-small", PassUse::Rounding, "small loops are unrolled"},
    {"loop-version-shapes", PassUse::Rounding,
     "loops have a version for equal dimensions"},
    {"loopc-branches-backwards", PassUse::Needed, "scf has no other lowering"},
    {"loopc-bufferize", PassUse::Needed, "tensors become buffers"},
    {"loopc-check-accesses", PassUse::Needed,
     "it checks what --check-accesses asks for"},
    {"loopc-distribute-kernels", PassUse::Needed,
     "threads share the work of kernels"},
    {"loopc-divide-blocks", PassUse::SameBits,
     "some passes of LLVM are quadratic in the length of a block"},
    {"loopc-eliminate-common", PassUse::SameBits,
     "equal operations are computed once"},
    {"loopc-eliminate-empty-tensors", PassUse::Rounding,
     "results are computed in the slice that they are inserted into"},
    {"loopc-expand-math", PassUse::Needed,
     "elementary functions of vectors have no other lowering"},
    {"loopc-expand-views", PassUse::Needed, "views have no other lowering"},
    {"loopc-externalize-weights", PassUse::SameBits,
     "weights do not go through LLVM"},
    {"loopc-fold-kernel-views", PassUse::Needed,
     "the passes behind it see through no views"},
    {"loopc-fuse-nests", PassUse::Needed,
     "kernels are made of nests that are fused"},
    {"loopc-hoist-allocations", PassUse::Needed, "kernels do not allocate"},
    {"loopc-insert-waits", PassUse::Needed, "the host waits for what it reads"},
    {"loopc-launch-kernels", PassUse::Needed, "it makes the launches"},
    {"loopc-lift-growth", PassUse::SameBits,
     "buffers of a GPU grow between runs of iterations"},
    {"loopc-lower-buffer-copies", PassUse::Needed,
     "copies of strided views have no other lowering"},
    {"loopc-lower-kernels", PassUse::Needed,
     "checks and barriers in kernels have no other lowering"},
    {"loopc-lower-transfers", PassUse::Needed,
     "vectors whose elements are apart have no other lowering"},
    {"loopc-lower-vectors", PassUse::Needed, "vector has no other lowering"},
    {"loopc-make-entry-point", PassUse::Needed,
     "the runtime calls a function of one signature"},
    {"loopc-make-loop-graphs", PassUse::Needed, "it makes the graphs"},
    {"loopc-make-single-iteration-nests", PassUse::Needed,
     "the host waits for nothing that it need not"},
    {"loopc-mark-inputs-read-only", PassUse::Needed,
     "a run does not write to its inputs"},
    {"loopc-outline-kernels", PassUse::Needed, "it makes the kernels"},
    {"loopc-outline-nests", PassUse::SameBits,
     "nests are functions of their own, compiled side by side"},
    {"loopc-parallelize-nests", PassUse::SameBits,
     "iterations are shared by threads"},
    {"loopc-place-buffers", PassUse::Needed,
     "buffers are where kernels reach them"},
    {"loopc-place-outputs", PassUse::SameBits,
     "outputs are computed in memory of the caller"},
    {"loopc-profile-parts", PassUse::Needed,
     "it measures what --profile asks for"},
    {"loopc-promote-accumulators", PassUse::Needed,
     "kernels sum up in registers"},
    {"loopc-prove-kernel-marks", PassUse::Needed,
     "threads share no loops that are not proved independent"},
    {"loopc-retract-packed", PassUse::Needed,
     "later passes rely on the zeros behind packed elements"},
    {"loopc-select-kernels", PassUse::Needed,
     "it chooses what becomes a kernel"},
    {"loopc-set-target", PassUse::Needed,
     "passes that depend on the target agree on it"},
    {"loopc-share-nests", PassUse::SameBits,
     "equal functions are compiled once"},
    {"loopc-slice-kernel-loops", PassUse::Needed, "blocks share loops"},
    {"loopc-split-library-products", PassUse::Needed,
     "products of the library stand alone"},
    {"loopc-split-sums", PassUse::Needed, "blocks share the rows of a sum"},
    {"loopc-verify-stage", PassUse::Needed,
     "it verifies what later stages rely on"},
    {"lower-affine", PassUse::Needed, "affine maps have no other lowering"},
    {"nest-contract-buffers", PassUse::SameBits,
     "a buffer becomes that of one iteration"},
    {"nest-fuse-outermost", PassUse::SameBits,
     "nests that read one another are fused"},
    {"nest-fuse-strips", PassUse::SameBits,
     "rows are computed where they are read"},
    {"nest-make-sections", PassUse::SameBits,
     "independent loops run on a thread each"},
    {"nest-mark-independent", PassUse::SameBits,
     "loops that only collect are shared by threads"},
    {"nest-retract-unproved", PassUse::Needed,
     "iterations that are not proved independent are not shared"},
    {"nest-shorten-recurrences", PassUse::Rounding,
     "dependence chains between iterations are shorter"},
    {"onnx-infer-types", PassUse::Needed,
     "lowerings read the types of the values"},
    {"onnx-lower-unranked", PassUse::Needed,
     "tensors of unknown rank have no other lowering"},
    {"onnx-switch-on-rank", PassUse::Needed,
     "operators want operands of a known rank"},
    {"reconcile-unrealized-casts", PassUse::Needed,
     "casts of conversions have no lowering"},
    {"tensor-choose-layouts", PassUse::Rounding,
     "layouts are chosen so that few tensors are transposed"},
    {"tensor-expand-fourier", PassUse::Rounding,
     "kernels compute transforms, which the host would call the runtime for"},
    {"tensor-expand-repeats", PassUse::Rounding,
     "repeated operands (keys that attention heads share) are not copied"},
    {"tensor-fold-constants", PassUse::Rounding,
     "operations on constants are folded"},
    {"tensor-fuse-elementwise", PassUse::Rounding,
     "elementwise operations are fused"},
    {"tensor-narrow-weights", PassUse::Needed,
     "it rounds what --weights asks for"},
    {"tensor-scale-subnormals", PassUse::Rounding,
     "products with subnormal weights take no longer than others"},
    {"tensor-sink-expansions", PassUse::Rounding,
     "weights of few bits are not converted in each run"},
    {"tensor-sum-classes", PassUse::Rounding,
     "the elements of classes are summed up in registers"},
    {"tensor-tabulate-bytes", PassUse::SameBits,
     "functions of a byte are looked up"},
    {"tensor-version-broadcasts", PassUse::Rounding,
     "operands that broadcast at run time are not copied"},
    {"tensor-version-extents", PassUse::Rounding,
     "elementwise operations have a version for equal dimensions"},
    {"tensor-widen-factors", PassUse::Rounding,
     "factors of sums are not rounded to 16 bits"},
};

ArrayRef<PassEntry> loopc::getPassTable() { return kPasses; }

std::string loopc::checkDisabledPasses(ArrayRef<std::string> names) {
  for (StringRef name : names) {
    const auto *found = find_if(
        kPasses, [&](const PassEntry &entry) { return entry.name == name; });
    if (found != std::end(kPasses) && found->use != PassUse::Needed)
      continue;
    SmallVector<StringRef> optional;
    for (const PassEntry &entry : kPasses)
      if (entry.use != PassUse::Needed)
        optional.push_back(entry.name);
    std::string problem =
        found == std::end(kPasses)
            ? ("there is no pass '" + name + "'").str()
            : ("'" + name + "' is needed: " + found->reason).str();
    return problem + "; what can be left out is " + joinNames(optional);
  }
  return "";
}

static StringRef describe(PassUse use) {
  switch (use) {
  case PassUse::Needed:
    return "needed";
  case PassUse::SameBits:
    return "same bits";
  case PassUse::Rounding:
    return "rounding";
  }
  llvm_unreachable("a use that PassUse does not have");
}

void loopc::printPassTable(raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/1);
  json.array([&] {
    for (const PassEntry &entry : kPasses)
      json.object([&] {
        json.attribute("name", entry.name);
        json.attribute("use", describe(entry.use));
        json.attribute("reason", entry.reason);
      });
  });
  os << "\n";
}
