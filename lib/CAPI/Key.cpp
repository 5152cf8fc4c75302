//===- Key.cpp - What a compiled model is found by ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Key.h"

#include "CompilerFiles.h"
#include "Interface.h"
#include "Protocol.h"

#include <algorithm>
#include <cstdlib>
#include <sys/auxv.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace loopc::capi;

extern char **environ;

#if defined(__x86_64__)
/// What LLVM asks the CPU for, without what differs from core to core.
std::string loopc::capi::describeCpu() {
  struct Leaf {
    unsigned number, subleaf;
    bool hasEbx; ///< else it tells which core this is
  };
  static constexpr Leaf kLeaves[] = {
      {0, 0, true},         {1, 0, false},          {7, 0, true},
      {7, 1, true},         {7, 2, true},           {0xd, 1, false},
      {0x14, 0, true},      {0x19, 0, true},        {0x1e, 1, true},
      {0x24, 0, true},      {0x80000001, 0, false}, {0x80000008, 0, true},
      {0x80000021, 0, true}};
  Writer writer;
  for (const Leaf &leaf : kLeaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(leaf.number, leaf.subleaf, &a, &b, &c, &d);
    // The last one counts the cores there.
    if (leaf.number == 0x80000008)
      a = c = d = 0;
    writer(a, leaf.hasEbx ? b : 0, c, d);
    // Whether the system keeps the large registers.
    constexpr unsigned kHasXgetbv = 1u << 27; // OSXSAVE
    if (leaf.number == 1 && (c & kHasXgetbv)) {
      unsigned low, high;
      __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      writer(low, high);
    }
  }
  return writer.take();
}
#else
std::string loopc::capi::describeCpu() {
  Writer writer;
  writer(uint64_t(getauxval(AT_HWCAP)), uint64_t(getauxval(AT_HWCAP2)));
  // Which core it is; the text is that of the system.
  std::string identity;
  if (Descriptor file = openToRead(
          "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1")) {
    char text[64];
    ssize_t count = read(file.get(), text, sizeof(text));
    identity.assign(text, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  writer(identity);
  return writer.take();
}
#endif

const std::string &loopc::capi::describeBuild() {
  static const std::string build = [] {
    Writer writer;
    const CompilerFiles &files = getCompilerFiles();
    writer(std::string(LOOPC_VERSION), readBuildId(files.runtime),
           readBuildId(files.compiler));
    // LLVM as the system has it may be another one than it was linked with. In
    // a wheel it is a part of the compiler.
    struct stat status;
    if (stat(LOOPC_LLVM_LIBRARY, &status) == 0) {
      FileStamp stamp = FileStamp::of(status);
      writer(stamp.size, stamp.modified);
    }
    return toHex(hashOf(writer.get()));
  }();
  return build;
}

extern "C" const char *loopc_build_id(void) { return describeBuild().c_str(); }

/// Variables that may change what the compiler does: all of ours but those that
/// say where and how it runs.
static std::vector<std::string> getEnvironment() {
  static constexpr std::string_view kOthers[] = {
      "LOOPC_CACHE_DIR=",   "LOOPC_CACHE_SIZE=", "LOOPC_COMPILE=",
      "LOOPC_CUDA_DRIVER=", "LOOPC_CUBLAS=",     "LOOPC_VERIFY_EACH=",
      "LOOPC_TIER="};
  std::vector<std::string> variables;
  for (char **one = environ; one && *one; ++one) {
    std::string_view text = *one;
    if (text.starts_with("LOOPC_") &&
        std::none_of(std::begin(kOthers), std::end(kOthers),
                     [&](auto other) { return text.starts_with(other); }))
      variables.emplace_back(text);
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

Hash loopc::capi::hashSettings(const loopc_compile_options &options,
                               std::string_view name, std::string_view cpu,
                               std::string_view build) {
  loopc_compile_options sorted = options;
  std::sort(sorted.dims.begin(), sorted.dims.end());
  std::sort(sorted.shapes.begin(), sorted.shapes.end());
  // Where files beside the model, and libraries, lie says nothing about what is
  // in them, which the caller adds.
  sorted.customLibraries.clear();
  sorted.baseDirectory = options.baseDirectory.empty() ? "" : "given";
  Writer writer;
  visitOptions(writer, std::as_const(sorted));
  writer(std::string(name), std::string(cpu), std::string(build),
         getEnvironment());
  return hashOf(writer.get());
}

Hash loopc::capi::combine(const Hash &settings, const Hash &model,
                          const std::vector<Hash> &files) {
  Writer writer;
  writer(settings, model, files);
  return hashOf(writer.get());
}
