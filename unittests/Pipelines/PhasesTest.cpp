//===- PhasesTest.cpp - What the parts of the pipeline are ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Phases.h"
#include "loopc/Pipelines/PassTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringSet.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace loopc;
using testing::IsEmpty;
using testing::Not;

/// What no phase has more of.
static constexpr size_t kMaxPasses = 15;

/// Options with which each phase for `target` has all passes that it can have.
static PipelineOptions makeOptions(PhaseTarget target) {
  PipelineOptions options;
  options.checkAccesses = true;
  options.profile = true;
  options.weights = WeightType::BF16;
  options.vectors = VectorUnit();
  if (target == PhaseTarget::GPU)
    options.gpu.chip = "sm_90";
  return options;
}

TEST(Phases, AreSmallAndSayWhy) {
  llvm::StringSet<> names;
  for (const Phase &phase : getPhases()) {
    SCOPED_TRACE(phase.name.str());
    EXPECT_TRUE(names.insert(phase.name).second);
    EXPECT_FALSE(phase.summary.empty());
    std::vector<PlacedPass> passes = phase.list(makeOptions(phase.target));
    EXPECT_THAT(passes, Not(IsEmpty()));
    EXPECT_LE(passes.size(), kMaxPasses);
    for (const PlacedPass &pass : passes) {
      SCOPED_TRACE(pass.name);
      EXPECT_THAT(pass.name, Not(IsEmpty()));
      EXPECT_THAT(pass.summary, Not(IsEmpty()));
      EXPECT_THAT(pass.reason, Not(IsEmpty()));
    }
  }
}

TEST(Phases, StagesFollowOneAnother) {
  Stage before = Stage::ONNX;
  for (const Phase &phase : getPhases()) {
    EXPECT_LE(before, phase.stage) << phase.name.str();
    before = phase.stage;
  }
  EXPECT_EQ(before, Stage::LLVM);
}

/// The table of passes says of each pass of a phase what it is there for, and
/// of no other.
TEST(Phases, HaveThePassesOfTheTable) {
  llvm::StringSet<> placed;
  for (const Phase &phase : getPhases())
    for (const PlacedPass &pass : phase.list(makeOptions(phase.target)))
      placed.insert(pass.name);
  for (const PassEntry &entry : getPassTable())
    EXPECT_TRUE(placed.erase(entry.name)) << entry.name.str();
  for (const auto &left : placed)
    ADD_FAILURE() << "'" << left.getKey().str() << "' is not in the table";
}

/// The pipeline is its phases' passes one behind the other: for each target and
/// level those that are part of it, up to the stage.
TEST(Phases, MakeThePipeline) {
  for (PhaseTarget target : {PhaseTarget::CPU, PhaseTarget::GPU})
    for (int level = 0; level <= 3; ++level)
      for (Stage until :
           {Stage::ONNX, Stage::Linalg, Stage::SCF, Stage::LLVM}) {
        PipelineOptions options = makeOptions(target);
        options.optLevel = level;
        OpPassManager whole(ModuleOp::getOperationName());
        buildPipeline(whole, options, until);
        OpPassManager parts(ModuleOp::getOperationName());
        for (const Phase &phase : getPhases())
          if (phase.stage <= until && phase.minLevel <= level &&
              (phase.target == PhaseTarget::Any || phase.target == target))
            phase.populate(PassAdder(parts), options);
        std::string expected, found;
        llvm::raw_string_ostream expectedStream(expected), foundStream(found);
        parts.printAsTextualPipeline(expectedStream);
        whole.printAsTextualPipeline(foundStream);
        EXPECT_EQ(found, expected);
      }
}

TEST(Phases, OfOneTargetAreNotInAnothersPipeline) {
  PipelineOptions cpu = makeOptions(PhaseTarget::CPU);
  PipelineOptions gpu = makeOptions(PhaseTarget::GPU);
  for (const Phase &phase : getPhases()) {
    EXPECT_EQ(phase.isPartOf(cpu), phase.target != PhaseTarget::GPU)
        << phase.name.str();
    EXPECT_EQ(phase.isPartOf(gpu), phase.target != PhaseTarget::CPU)
        << phase.name.str();
  }
  gpu.optLevel = 0;
  for (const Phase &phase : getPhases())
    EXPECT_FALSE(phase.minLevel > 0 && phase.isPartOf(gpu)) << phase.name.str();
}
