//===- CacheTest.cpp - Keys and files of the cache ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI/Cache.h"
#include "CAPI/Key.h"
#include "CAPI/Protocol.h"
#include "CAPI/Worker.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace loopc::capi;

namespace {

Hash hashOfSettings(const loopc_compile_options &options,
                    std::string_view name = "m.onnx",
                    std::string_view cpu = "cpu",
                    std::string_view build = "build") {
  return hashSettings(options, name, cpu, build);
}

/// Each of these makes other code, or other names.
TEST(Key, HoldsAllThatMakesADifference) {
  loopc_compile_options plain;
  std::set<Hash> keys = {hashOfSettings(plain), hashOfSettings(plain, "n.onnx"),
                         hashOfSettings(plain, "m.onnx", "another cpu"),
                         hashOfSettings(plain, "m.onnx", "cpu", "other")};
  using Change = void (*)(loopc_compile_options &);
  static constexpr Change kChanges[] = {
      [](auto &o) { o.target = "x86_64-linux-gnu"; },
      [](auto &o) { o.cpu = "x86-64-v3"; },
      [](auto &o) { o.features = "+avx2"; },
      [](auto &o) { o.chip = "sm_90"; },
      [](auto &o) { o.deviceLoops = "host"; },
      [](auto &o) { o.cublas = "off"; },
      [](auto &o) { o.weights = "bf16"; },
      [](auto &o) { o.name = "m"; },
      [](auto &o) { o.minKernelWork = 0; },
      [](auto &o) { o.allowTf32 = true; },
      [](auto &o) { o.optLevel = 0; },
      [](auto &o) { o.ortCompat = true; },
      [](auto &o) { o.fpContract = true; },
      [](auto &o) { o.verify = true; },
      [](auto &o) { o.checkAccesses = true; },
      [](auto &o) { o.profile = true; },
      [](auto &o) { o.disabledPasses = {"cse"}; },
      [](auto &o) { o.dims = {{"n", 1}}; },
      [](auto &o) { o.shapes = {{"x", {1, 2}}}; },
      [](auto &o) { o.shapes = {{"x", {1}}, {"y", {2}}}; },
      [](auto &o) { o.states = {{"x", "y"}, {"a", "b"}}; },
      [](auto &o) { o.states = {{"a", "b"}, {"x", "y"}}; }};
  for (Change change : kChanges) {
    loopc_compile_options options;
    change(options);
    keys.insert(hashOfSettings(options));
  }
  EXPECT_EQ(keys.size(), 4 + std::size(kChanges));
  setenv("LOOPC_GUARDS", "all", 1);
  keys.insert(hashOfSettings(plain));
  unsetenv("LOOPC_GUARDS");
  EXPECT_EQ(keys.size(), 5 + std::size(kChanges));
}

/// None of these does.
TEST(Key, HoldsNothingElse) {
  loopc_compile_options plain, options;
  options.cache = "folder";
  options.timeoutSeconds = 3;
  options.strictCache = true;
  // What is in a library counts, not where it lies.
  options.customLibraries = {"/a/library.so"};
  EXPECT_EQ(hashOfSettings(plain), hashOfSettings(options));
  options.dims = {{"a", 1}, {"b", 2}};
  plain.dims = {{"b", 2}, {"a", 1}};
  EXPECT_EQ(hashOfSettings(plain), hashOfSettings(options));
  EXPECT_EQ(describeCpu(), describeCpu());
}

TEST(Key, ModelAndFiles) {
  Hash settings = hashOf("s"), model = hashOf("m"), a = hashOf("a"),
       b = hashOf("b");
  std::set<Hash> keys = {
      combine(settings, model, {}), combine(model, settings, {}),
      combine(settings, model, {a}), combine(settings, model, {a, b}),
      combine(settings, model, {b, a})};
  EXPECT_EQ(keys.size(), 5u);
}

TEST(Protocol, ThereAndBack) {
  Reply reply;
  reply.status = LOOPC_COMPILE_OK;
  reply.symbol = "m";
  reply.files = {"a", ""};
  reply.diagnostics = {{LOOPC_SEVERITY_NOTE, "LC0100", "here", "why", "all"}};
  Writer writer;
  Reply::visit(writer, reply);
  Reply read;
  Reader reader(writer.get());
  Reply::visit(reader, read);
  ASSERT_TRUE(reader.isGood());
  EXPECT_EQ(read.status, LOOPC_COMPILE_OK);
  EXPECT_EQ(read.symbol, "m");
  EXPECT_EQ(read.files, reply.files);
  EXPECT_EQ(read.diagnostics.at(0).text, "all");
  // Bytes that end early are refused, and so are lengths beyond the end.
  for (size_t size = 0; size < writer.get().size(); ++size) {
    Reader early(std::string_view(writer.get()).substr(0, size));
    Reply none;
    Reply::visit(early, none);
    EXPECT_FALSE(early.isGood()) << size;
  }
}

TEST(Diagnostics, NamesOfModels) {
  std::vector<loopc_diagnostics::Entry> entries = {
      {LOOPC_SEVERITY_WARNING, "c", "m: main", "m is m", "m: main: m is m"},
      {LOOPC_SEVERITY_WARNING, "c", "m", "", "model: m"}};
  renameModel(entries, "m", "a/m");
  EXPECT_EQ(entries[0].location, "a/m: main");
  EXPECT_EQ(entries[0].message, "m is m");
  EXPECT_EQ(entries[0].text, "a/m: main: m is m");
  EXPECT_EQ(entries[1].location, "a/m");
  EXPECT_EQ(entries[1].text, "model: m");
  renameModel(entries, "", "x");
  EXPECT_EQ(entries[1].location, "a/m");
}

class CacheFiles : public testing::Test {
protected:
  void SetUp() override {
    std::string made = testing::TempDir() + "loopc-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(made.data()));
    folder = made;
    loopc_diagnostics said;
    cache = Cache::open(folder, said);
    ASSERT_TRUE(cache);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder;
  std::optional<Cache> cache;
};

TEST_F(CacheFiles, KeepsAndFinds) {
  loopc_diagnostics said;
  Hash key = hashOf("key");
  EXPECT_FALSE(cache->find(key, /*isStrict=*/false, said));
  WorkFolder work = cache->makeWorkFolder();
  ASSERT_TRUE(work);
  std::string file = work.file("model.so");
  std::ofstream(file) << "code";
  EntryText text = {"m", {{LOOPC_SEVERITY_WARNING, "c", "l", "m", "t"}}};
  std::string path = cache->keep(key, file, "model.onnx", text);
  ASSERT_FALSE(path.empty());
  std::optional<Entry> entry = cache->find(key, /*isStrict=*/false, said);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->path, path);
  EXPECT_EQ(entry->text.symbol, "m");
  EXPECT_EQ(entry->text.diagnostics.at(0).text, "t");
  EXPECT_EQ(cache->list().at(0).name, "model.onnx");
  // One that has another key's name.
  std::filesystem::copy(path, folder + "/" + toHex(hashOf("other")) + ".so");
  EXPECT_FALSE(cache->find(hashOf("other"), /*isStrict=*/false, said));
  EXPECT_EQ(cache->shrink(0), 2u);
  EXPECT_TRUE(said.entries.empty());
}

TEST_F(CacheFiles, NamesOfFiles) {
  Hash key = hashOf("key");
  EXPECT_FALSE(cache->findFiles(key));
  cache->keepFiles(key, {"a", "b"});
  EXPECT_EQ(cache->findFiles(key), (std::vector<std::string>{"a", "b"}));
  std::ofstream(folder + "/" + toHex(key) + ".files", std::ios::app) << "x";
  EXPECT_FALSE(cache->findFiles(key));
}

TEST_F(CacheFiles, AbandonedFoldersGo) {
  std::filesystem::create_directory(folder + "/new-abcdef");
  std::ofstream(folder + "/new-abcdef/model.so") << "half";
  WorkFolder mine = cache->makeWorkFolder();
  WorkFolder::removeAbandoned(folder);
  EXPECT_FALSE(std::filesystem::exists(folder + "/new-abcdef"));
  std::ofstream(mine.file("x")) << "x";
  EXPECT_TRUE(std::filesystem::exists(mine.file("x")));
}

TEST(CacheLimit, Units) {
  for (auto [text, bytes] :
       std::initializer_list<std::pair<const char *, uint64_t>>{
           {"123", 123},
           {"2k", 2048},
           {"3M", 3 << 20},
           {"1G", 1 << 30},
           {"", uint64_t(4) << 30},
           {"x", uint64_t(4) << 30}}) {
    setenv("LOOPC_CACHE_SIZE", text, 1);
    EXPECT_EQ(Cache::getLimit(), bytes) << text;
  }
  unsetenv("LOOPC_CACHE_SIZE");
}

// One that has answered ends by itself, but not for as long as it is stopped.
TEST(Worker, StoppedOneIsNotWaitedFor) {
  pid_t id = fork();
  ASSERT_GE(id, 0);
  if (id == 0) {
    alarm(30);
    raise(SIGSTOP);
    _exit(0);
  }
  ASSERT_EQ(waitpid(id, nullptr, WUNTRACED), id);
  { WorkerProcess(id).leave(); }
  EXPECT_NE(kill(id, 0), 0);
}

} // namespace
