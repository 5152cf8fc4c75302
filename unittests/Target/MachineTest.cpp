//===- MachineTest.cpp - Targets, CPUs and features -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Machine.h"
#include "Runtime/CPU/CpuFeatures.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "loopc/Target/CodeGen.h"

#include "llvm/MC/MCSubtargetInfo.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace loopc;

namespace {

class MachineTest : public testing::Test {
protected:
  mlir::FailureOr<Machine> create(const TargetOptions &options) {
    return createMachine(options, mlir::UnknownLoc::get(&context));
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// The names of "+a,+b".
std::vector<std::string> split(llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef> entries;
  features.split(entries, ',', -1, /*KeepEmpty=*/false);
  std::vector<std::string> names;
  for (llvm::StringRef entry : entries)
    names.push_back(entry.drop_front().str());
  return names;
}

} // namespace

// Whatever CPU an object is made for, the runtime can tell whether it has one.
TEST_F(MachineTest, TheRuntimeKnowsWhatObjectsNeed) {
  auto generic = create({});
  ASSERT_TRUE(succeeded(generic));
  size_t numChecked = 0;
  for (const llvm::SubtargetSubTypeKV &cpu :
       generic->llvm->getMCSubtargetInfo()->getAllProcessorDescriptions()) {
    TargetOptions options;
    options.cpu = cpu.Key;
    // 32-bit CPUs are refused.
    mlir::ScopedDiagnosticHandler quiet(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    auto machine = create(options);
    if (failed(machine))
      continue;
    for (const std::string &name : split(machine->requiredFeatures)) {
      ++numChecked;
      EXPECT_NE(rt::findCpuFeature(name.data(), name.size()),
                rt::FeatureState::Unknown)
          << name << " of " << cpu.Key;
    }
  }
  EXPECT_GT(numChecked, 100u);
}

// What is compiled for this machine runs on it.
TEST_F(MachineTest, NativeRunsHere) {
  auto machine = create({});
  ASSERT_TRUE(succeeded(machine));
  const char *name = nullptr;
  size_t size = 0;
  EXPECT_EQ(rt::checkCpuFeatures(machine->requiredFeatures.c_str(), name, size),
            rt::FeatureState::Present)
      << std::string(name ? name : "", size);
}

TEST_F(MachineTest, NativeIsThisMachineOnly) {
  TargetOptions options;
  options.cpu = "native";
#ifdef __x86_64__
  options.triple = "aarch64-linux-gnu";
#else
  options.triple = "x86_64-linux-gnu";
#endif
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  EXPECT_TRUE(failed(create(options)));
  EXPECT_THAT(message, testing::HasSubstr("LC0602: cpu 'native'"));
}

// What describes a CPU to LLVM is made once for all that need it one after the
// other, and once more for who needs it at the same time.
TEST_F(MachineTest, MachinesGoBackToTheirStore) {
  TargetOptions options;
  options.machines = createMachineStore();
  const llvm::TargetMachine *first, *second;
  {
    auto one = create(options), other = create(options);
    ASSERT_TRUE(succeeded(one) && succeeded(other));
    first = one->llvm.get();
    second = other->llvm.get();
    EXPECT_NE(first, second);
  }
  auto again = create(options);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->llvm.get() == first || again->llvm.get() == second);
  EXPECT_EQ(again->requiredFeatures, create({})->requiredFeatures);
}

// So have targets, and CPUs that are asked for by other names or features.
TEST_F(MachineTest, MachinesOfAnotherTargetAreOthers) {
  TargetOptions options;
  options.machines = createMachineStore();
  options.triple = "x86_64-linux-gnu";
  options.cpu = "haswell";
  auto featuresOf = [&](const TargetOptions &asked) {
    auto machine = create(asked);
    return succeeded(machine) ? machine->requiredFeatures : "nothing";
  };
  std::string ofHaswell = featuresOf(options);
  TargetOptions other = options;
  other.cpu = "x86-64";
  EXPECT_NE(featuresOf(other), ofHaswell);
  other = options;
  other.features = "-avx2";
  EXPECT_NE(featuresOf(other), ofHaswell);
  other = options;
  other.fpContract = true;
  EXPECT_EQ(create(other)->llvm->Options.AllowFPOpFusion,
            llvm::FPOpFusion::Fast);
  other.triple = "aarch64-linux-gnu";
  other.cpu = "generic";
  EXPECT_TRUE(create(other)->llvm->getTargetTriple().isAArch64());
  EXPECT_EQ(featuresOf(options), ofHaswell);
}

// Levels of optimisation have machines of their own.
TEST_F(MachineTest, MachinesOfAnotherLevelAreOthers) {
  TargetOptions options;
  options.machines = createMachineStore();
  const llvm::TargetMachine *fast = create(options)->llvm.get();
  options.optLevel = 0;
  auto slow = create(options);
  ASSERT_TRUE(succeeded(slow));
  EXPECT_NE(slow->llvm.get(), fast);
  EXPECT_EQ(slow->llvm->getOptLevel(), llvm::CodeGenOptLevel::None);
  options.optLevel = 3;
  EXPECT_EQ(create(options)->llvm.get(), fast);
}
