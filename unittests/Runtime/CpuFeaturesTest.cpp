//===- CpuFeaturesTest.cpp - What this CPU can do -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "Runtime/CPU/CpuFeatures.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <thread>

using namespace loopc::rt;
using namespace loopc::test;

namespace {

Outcome runWith(const char *features) {
  TestModel model([](void *, void **, void **) { return int32_t{0}; });
  model.model.cpu_features = features;
  std::vector<loopc_value> outputs;
  Outcome outcome = runModel(model, {}, outputs);
  loopc_error error;
  EXPECT_EQ(loopc_model_check(model.get(), &error), outcome.status);
  EXPECT_EQ(outcome.message, error.message);
  return outcome;
}

TEST(CpuFeatures, NothingNeeded) {
  EXPECT_EQ(runWith("").status, LOOPC_OK);
  EXPECT_EQ(runWith(nullptr).status, LOOPC_OK);
  EXPECT_EQ(runWith("-warp-drive,-avx512f").status, LOOPC_OK);
  EXPECT_EQ(runWith(",,").status, LOOPC_OK);
}

TEST(CpuFeatures, Unknown) {
  for (const char *features :
       {"+warp-drive", "-x,+warp-drive,+other", ",+warp-drive", "warp-drive"}) {
    Outcome outcome = runWith(features);
    EXPECT_EQ(outcome.status, LOOPC_ERROR_CPU);
    EXPECT_EQ(outcome.message,
              "model 'test' needs the CPU feature 'warp-drive', which this "
              "runtime does not know");
  }
  EXPECT_EQ(runWith("+").status, LOOPC_ERROR_CPU);
}

#if defined(__x86_64__) || defined(__aarch64__)

/// The flags that the kernel reports: an independent witness.
bool kernelHas(const std::string &flag) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0)
      continue;
    std::istringstream words(line);
    std::string word;
    while (words >> word)
      if (word == flag)
        return true;
    return false;
  }
  return false;
}

struct FeatureName {
  const char *llvm;
  const char *kernel;
};

#ifdef __x86_64__
const FeatureName kNames[] = {
    {"sse2", "sse2"},
    {"sse3", "pni"},
    {"ssse3", "ssse3"},
    {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},
    {"popcnt", "popcnt"},
    {"lzcnt", "abm"},
    {"movbe", "movbe"},
    {"avx", "avx"},
    {"f16c", "f16c"},
    {"fma", "fma"},
    {"fma4", "fma4"},
    {"xop", "xop"},
    {"tbm", "tbm"},
    {"sse4a", "sse4a"},
    {"bmi", "bmi1"},
    {"bmi2", "bmi2"},
    {"avx2", "avx2"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"},
    {"avx512cd", "avx512cd"},
    {"avx512ifma", "avx512ifma"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512vnni", "avx512_vnni"},
    {"avx512bf16", "avx512_bf16"},
    {"avx512fp16", "avx512_fp16"},
    {"avx512vp2intersect", "avx512_vp2intersect"},
    {"avxvnni", "avx_vnni"},
    {"amx-tile", "amx_tile"},
    {"amx-int8", "amx_int8"},
    {"amx-bf16", "amx_bf16"},
    {"gfni", "gfni"},
    {"vaes", "vaes"},
    {"sha", "sha_ni"},
    {"xsavec", "xsavec"},
    {"clzero", "clzero"},
    {"cx16", "cx16"},
    {"fsgsbase", "fsgsbase"},
};
const char *kAlways = "+64bit,+cx8,+mmx,+sse,+sse2,+x87,+fxsr,+cmov";
const char *kTuningOnly = "+fast-gather,+prefer-256-bit,+macrofusion";
const char *kNoTuning = "+fast-";
#else
const FeatureName kNames[] = {
    {"fp-armv8", "fp"}, {"neon", "asimd"},       {"crc", "crc32"},
    {"lse", "atomics"}, {"fullfp16", "fphp"},    {"rdm", "asimdrdm"},
    {"rcpc", "lrcpc"},  {"dotprod", "asimddp"},  {"sve", "sve"},
    {"sve2", "sve2"},   {"i8mm", "i8mm"},        {"bf16", "bf16"},
    {"sha3", "sha3"},   {"fp16fml", "asimdfhm"}, {"sme", "sme"},
};
const char *kAlways = "+neon,+fp-armv8,+v8a";
const char *kTuningOnly = "+fuse-aes,+use-postra-scheduler,+perfmon";
const char *kNoTuning = "+fuse-";
#endif

TEST(CpuFeatures, AgreeWithTheKernel) {
  if (!kernelHas("fpu") && !kernelHas("asimd"))
    GTEST_SKIP() << "/proc/cpuinfo has no flags on this machine";
  for (const FeatureName &name : kNames) {
    std::string features = std::string("+") + name.llvm;
    Outcome outcome = runWith(features.c_str());
    if (kernelHas(name.kernel)) {
      EXPECT_EQ(outcome.status, LOOPC_OK) << outcome.message;
      continue;
    }
    EXPECT_EQ(outcome.status, LOOPC_ERROR_CPU) << name.llvm;
    EXPECT_EQ(outcome.message, std::string("model 'test' needs the CPU "
                                           "feature '") +
                                   name.llvm + "', which this machine lacks");
  }
}

TEST(CpuFeatures, Baseline) {
  EXPECT_EQ(runWith(kAlways).status, LOOPC_OK);
  EXPECT_EQ(runWith(kTuningOnly).status, LOOPC_OK);
  EXPECT_EQ(runWith(kNoTuning).status, LOOPC_ERROR_CPU);
}

TEST(CpuFeatures, OneOfSeveralIsMissing) {
  // No CPU has both.
#ifdef __x86_64__
  const char *features = "+sse2,+fma4,+amx-tile";
#else
  const char *features = "+neon,+lut,+sme-fa64,+nothing";
#endif
  Outcome outcome = runWith(features);
  EXPECT_EQ(outcome.status, LOOPC_ERROR_CPU);
  EXPECT_THAT(outcome.message, testing::HasSubstr("needs the CPU feature '"));
}

TEST(CpuFeatures, ManyStringsFromManyThreads) {
  // More than are remembered, and one too long to be.
  std::vector<std::string> strings(20, kAlways);
  for (size_t i = 0; i < strings.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      strings[i] += std::string(",-x") + std::to_string(i);
  for (int k = 0; k < 300; ++k)
    strings.back() += ",-feature";
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&strings] {
      for (int round = 0; round < 20; ++round)
        for (const std::string &features : strings) {
          const char *name;
          size_t size;
          EXPECT_EQ(checkCpuFeatures(features.c_str(), name, size),
                    FeatureState::Present);
          std::string longer = features + ",+none";
          EXPECT_EQ(checkCpuFeatures(longer.c_str(), name, size),
                    FeatureState::Unknown);
          EXPECT_EQ(std::string(name, size), "none");
        }
    });
  for (std::thread &thread : threads)
    thread.join();
}

#endif // defined(__x86_64__) || defined(__aarch64__)

} // namespace
