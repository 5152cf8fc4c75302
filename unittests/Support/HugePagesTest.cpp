//===- HugePagesTest.cpp - Tests of the heap of huge pages ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/HugePages.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace loopc;

/// The flags of the mapping that `address` lies in (VmFlags of proc(5)).
static std::string flagsOf(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  bool isInside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end, place = reinterpret_cast<uintptr_t>(address);
    char dash;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-')
      isInside = begin <= place && place < end;
    else if (isInside && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

TEST(HugePages, HeapGrowsInThem) {
  if (!useHugePages())
    GTEST_SKIP() << "a sanitizer's malloc, or a limit of the address space";
  // As operations come, and more of them than the heap had room for before.
  std::unique_ptr<char[]> blocks[4096];
  for (std::unique_ptr<char[]> &block : blocks)
    block.reset(new char[4096]);
  EXPECT_NE(flagsOf(blocks[4095].get()).find(" hg "), std::string::npos);
}

// A huge page of which a part is something else would be 512 small ones, each
// of which is a fault.
TEST(HugePages, FirstBlocksAreInWholeOnes) {
  if (!useHugePages())
    GTEST_SKIP() << "a sanitizer's malloc, or a limit of the address space";
  constexpr uintptr_t kHugePage = 2 << 20, kBlock = 256 << 10;
  std::unique_ptr<char[]> block(new char[kBlock]);
  uintptr_t page = reinterpret_cast<uintptr_t>(block.get()) & -kHugePage;
  EXPECT_NE(flagsOf(reinterpret_cast<void *>(page)).find(" hg "),
            std::string::npos);
}

// Where the system promises no more memory than it has, as much as at first may
// not be there again.
TEST(HugePages, HeapGrowsByLittleLater) {
  if (!useHugePages())
    GTEST_SKIP() << "a sanitizer's malloc, or a limit of the address space";
  constexpr size_t kBlock = 2 << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  auto *end = static_cast<char *>(sbrk(0));
  while (sbrk(0) == end && blocks.size() < 512)
    blocks.emplace_back(new char[kBlock]);
  ptrdiff_t growth = static_cast<char *>(sbrk(0)) - end;
  EXPECT_GT(growth, 0);
  EXPECT_LT(growth, 64 << 20);
}
