//===- LoopReport.cpp - What became of a model's loops --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Loops are looked at where a pass leaves what the report says: collected
// values when they have their places, carried tensors when they are buffers,
// and all else in front of convert-loop-to-scf, behind which there are no
// loop.loop.

#include "LoopReport.h"
#include "loopc/Bufferize/Storage.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Remarks.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace loopc;
using loop::LoopOp;

//===----------------------------------------------------------------------===//
// What is seen
//===----------------------------------------------------------------------===//

namespace {
/// What is known of the loops of one node.
struct Seen {
  unsigned numCollected = 0;      ///< in front of loop-collect-in-place
  unsigned numCollectedLater = 0; ///< behind it
  /// Carried, behind loopc-bufferize: before collected values that grow are
  /// carried, too.
  unsigned numBuffers = 0, numScalars = 0;
};
} // namespace

struct LoopReport::State {
  /// Nodes of the model that are loops, in their order; each once.
  std::vector<std::string> written;
  llvm::StringMap<Seen> seen;
  std::vector<ReportedLoop> loops;
  std::vector<ReportedRemark> remarks;

  void addRemark(const remark::detail::Remark &found);
  void lookAt(Pass *pass, Operation *op, bool isBehind);
  std::vector<ReportedRemark> takeRemarks(StringRef path);
};

/// True of a version of a loop that hardly ever runs.
static bool isColdVersion(LoopOp loop) {
  return loop->hasAttr(loop::kColdAttrName) || loop::isCold(loop);
}

static bool isOfLoop(Operation *op, LoopOp loop) {
  return op->getParentOfType<LoopOp>() == loop;
}

void LoopReport::State::addRemark(const remark::detail::Remark &found) {
  auto type = found.getRemarkType();
  if (type != llvm::remarks::Type::Passed &&
      type != llvm::remarks::Type::Missed)
    return;
  ReportedRemark made;
  made.place = locationPath(found.getLocation());
  made.isDone = type == llvm::remarks::Type::Passed;
  made.isGeneral = isInGeneralVersion(found.getLocation());
  for (const remark::detail::Remark::Arg &arg : found.getArgs())
    made.text += arg.val;
  for (ReportedRemark &other : remarks)
    if (other.place == made.place && other.text == made.text &&
        other.isGeneral == made.isGeneral) {
      ++other.count;
      return;
    }
  remarks.push_back(std::move(made));
}

//===----------------------------------------------------------------------===//
// Loops of buffers
//===----------------------------------------------------------------------===//

static std::string describeTrips(LoopOp loop) {
  Value trips = loop.getTripCount();
  if (!trips)
    return loop.getCondition() ? "until a condition falls" : "endless";
  std::optional<int64_t> count = getConstantIntValue(trips);
  std::string limit = count ? std::to_string(*count) : "";
  if (!loop.getCondition())
    return count ? limit : "known when it begins";
  return count ? "at most " + limit + ", tests a condition"
               : "tests a condition";
}

/// Where a carried value lives.
static constexpr StringLiteral kInPlace = "in place",
                               kVectors = "in vector registers",
                               kScalars = "in registers", kLists = "as lists",
                               kGrowing = "in buffers that grow",
                               kNew = "in new buffers",
                               kTurns = "in buffers that take turns";

static StringRef describeCarried(LoopOp loop, unsigned k) {
  Type type = loop.getCarriedArgs()[k].getType();
  if (isa<VectorType>(type))
    return kVectors;
  if (type.isIntOrIndexOrFloat() || isa<ComplexType>(type))
    return kScalars;
  if (!isa<BaseMemRefType>(type))
    return kLists;
  Value root = getViewRoot(loop.getYield().getCarried()[k]);
  if (root == loop.getCarriedArgs()[k])
    return kInPlace;
  if (auto branch = root.getDefiningOp<scf::IfOp>())
    if (branch->hasAttr(kGrowsAttrName))
      return kGrowing;
  Operation *made = root.getDefiningOp();
  bool isInside = made && loop.getBody().isAncestor(made->getParentRegion());
  return isInside ? kNew : kTurns;
}

static std::vector<std::string>
describeCounts(const llvm::MapVector<StringRef, unsigned> &counts) {
  std::vector<std::string> texts;
  for (auto [text, count] : counts)
    if (count)
      texts.push_back(std::to_string(count) + " " + text.str());
  return texts;
}

/// Vectors in the loop itself, or nests of scalars, which LLVM may make vectors
/// of.
static std::string describeVectors(LoopOp loop) {
  bool hasVectors = false, hasNests = false;
  loop.getBody().walk([&](Operation *op) {
    if (!isOfLoop(op, loop))
      return;
    hasVectors |= llvm::any_of(op->getResultTypes(),
                               [](Type type) { return isa<VectorType>(type); });
    hasNests |= isa<scf::ForOp>(op);
  });
  return hasVectors ? "yes" : hasNests ? "left to LLVM" : "nothing to";
}

static unsigned countAllocations(LoopOp loop) {
  unsigned count = 0;
  loop.getBody().walk([&](Operation *op) {
    if (!isOfLoop(op, loop) || !isInEachIteration(op, loop))
      return;
    // Of a custom operator each result comes as elements and shape.
    if (isa<memref::AllocOp, rt::CustomOp>(op))
      count += isa<rt::CustomOp>(op) ? op->getNumResults() / 2 : 1;
  });
  return count;
}

static ReportedLoop describe(LoopOp loop, const Seen &seen) {
  ReportedLoop row;
  row.path = locationPath(loop.getLoc());
  for (Operation *op = loop->getParentOp(); op; op = op->getParentOp())
    row.depth += isa<LoopOp>(op);
  row.trips = describeTrips(loop);
  llvm::MapVector<StringRef, unsigned> carried, collected;
  carried[kInPlace] = 0;
  for (unsigned k : llvm::seq(loop.getNumCarried()))
    ++carried[describeCarried(loop, k)];
  // Collected values that grow are carried with their numbers of rows.
  unsigned &growing = carried[kGrowing], &scalars = carried[kScalars];
  growing -= std::min(growing, seen.numCollectedLater);
  scalars = std::min(scalars, seen.numScalars);
  // A buffer that stays the same from one iteration to the next is carried no
  // more.
  unsigned numBuffers =
      growing + carried[kInPlace] + carried[kNew] + carried[kTurns];
  if (seen.numBuffers > numBuffers)
    carried[kInPlace] += seen.numBuffers - numBuffers;
  row.carried = describeCounts(carried);
  collected["written into their final place"] =
      seen.numCollected - std::min(seen.numCollected, seen.numCollectedLater);
  collected[kGrowing] = seen.numCollectedLater;
  row.collected = describeCounts(collected);
  row.vectors = describeVectors(loop);
  row.allocations = countAllocations(loop);
  return row;
}

void LoopReport::State::lookAt(Pass *pass, Operation *op, bool isBehind) {
  StringRef name = pass->getArgument();
  auto walk = [&](auto function) {
    op->walk<WalkOrder::PreOrder>([&](LoopOp loop) {
      if (!isColdVersion(loop))
        function(loop, seen[locationPath(loop.getLoc())]);
    });
  };
  if (written.empty() && !isBehind)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (!isa<LoopOp, loop::ScanOp>(inner))
        return;
      std::string path = locationPath(inner->getLoc());
      if (!llvm::is_contained(written, path))
        written.push_back(std::move(path));
    });
  if (name == "loop-collect-in-place")
    walk([&](LoopOp loop, Seen &one) {
      (isBehind ? one.numCollectedLater : one.numCollected) =
          loop.getNumCollected();
    });
  if (name == "loopc-bufferize" && isBehind)
    walk([&](LoopOp loop, Seen &one) {
      one.numBuffers = one.numScalars = 0;
      for (Value value : loop.getCarriedArgs()) {
        one.numBuffers += isa<BaseMemRefType>(value.getType());
        one.numScalars += value.getType().isIntOrIndexOrFloat();
      }
    });
  if (name == "convert-loop-to-scf" && !isBehind)
    walk([&](LoopOp loop, Seen &one) { loops.push_back(describe(loop, one)); });
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

namespace {
/// Hands remarks on to a report.
class RemarkTaker : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkTaker(LoopReport::State &state) : state(state) {}
  void streamOptimizationRemark(const remark::detail::Remark &found) override {
    state.addRemark(found);
  }

private:
  LoopReport::State &state;
};

class PassWatcher : public PassInstrumentation {
public:
  explicit PassWatcher(LoopReport::State &state) : state(state) {}
  void runBeforePass(Pass *pass, Operation *op) override {
    state.lookAt(pass, op, /*isBehind=*/false);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    state.lookAt(pass, op, /*isBehind=*/true);
  }

private:
  LoopReport::State &state;
};
} // namespace

LoopReport::LoopReport() : state(std::make_unique<State>()) {}
LoopReport::~LoopReport() = default;

void LoopReport::watch(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = ".*";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkTaker>(*state),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

void LoopReport::watch(PassManager &passes) {
  passes.addInstrumentation(std::make_unique<PassWatcher>(*state));
}

/// "main/Loop 'decode'" for "main/#3 Loop 'decode' (opset 21)": what paths of
/// the nodes in its body begin with.
static std::string innerPath(StringRef path) {
  auto [front, node] = path.rsplit("/#");
  if (node.empty())
    return path.str();
  auto [index, rest] = node.split(' ');
  rest = rest.substr(0, rest.rfind(" (opset"));
  bool isNamed = rest.ends_with("'");
  return (front + "/" + rest + (isNamed ? "" : " #" + index)).str();
}

/// Removes the remarks of the node and of what is in it.
std::vector<ReportedRemark> LoopReport::State::takeRemarks(StringRef path) {
  std::string inner = innerPath(path) + "/";
  std::vector<ReportedRemark> taken, left;
  for (ReportedRemark &one : remarks) {
    bool isOwn = one.place == path || StringRef(one.place).starts_with(inner);
    (isOwn ? taken : left).push_back(std::move(one));
  }
  remarks = std::move(left);
  return taken;
}

std::vector<ReportedLoop> LoopReport::takeLoops() {
  // What loops within a loop say is theirs: innermost first.
  std::vector<ReportedLoop> loops = std::move(state->loops);
  std::vector<unsigned> order(loops.size());
  for (auto [k, place] : llvm::enumerate(order))
    place = k;
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tie(loops[b].depth, a) < std::tie(loops[a].depth, b);
  });
  for (unsigned k : order) {
    loops[k].remarks = state->takeRemarks(loops[k].path);
    for (const ReportedRemark &one : loops[k].remarks)
      if (one.isDone && !one.isGeneral &&
          StringRef(one.text).ends_with("threads of the run"))
        ++loops[k].sharedNests;
    llvm::erase(state->written, loops[k].path);
  }
  return loops;
}

std::vector<ReportedLoop> LoopReport::takeGone() {
  std::vector<ReportedLoop> gone;
  for (const std::string &path : state->written) {
    ReportedLoop &row = gone.emplace_back();
    row.path = path;
    row.remarks = state->takeRemarks(row.path);
  }
  return gone;
}
