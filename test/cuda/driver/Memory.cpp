//===- Memory.cpp - Memory of the device that is not there ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace fakecuda;

namespace {
/// Between two allocations, so that running over the end is found.
constexpr uint64_t kRedZone = 4096;
/// Allocations of at least so many bytes give their pages back.
constexpr uint64_t kLarge = 1 << 16;
constexpr uint64_t kPage = 4096;

uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

void *mapPages(uint64_t bytes, int protection) {
  void *result = mmap(nullptr, bytes, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return result == MAP_FAILED ? nullptr : result;
}
} // namespace

Memory::~Memory() {
  clear();
  if (deviceBegin) {
    munmap(reinterpret_cast<void *>(deviceBegin), kReserved);
    munmap(reinterpret_cast<void *>(bytesBegin), kReserved);
  }
}

bool Memory::reserve() {
  if (deviceBegin)
    return true;
  void *addresses = mapPages(kReserved, PROT_NONE);
  void *bytes = mapPages(kReserved, PROT_READ | PROT_WRITE);
  if (!addresses || !bytes) {
    if (addresses)
      munmap(addresses, kReserved);
    if (bytes)
      munmap(bytes, kReserved);
    return false;
  }
  deviceBegin = reinterpret_cast<uint64_t>(addresses);
  bytesBegin = reinterpret_cast<uint64_t>(bytes);
  return true;
}

/// Addresses go up until the reservation ends; then the first gap is taken.
uint64_t Memory::findDeviceAddress(uint64_t bytes) {
  uint64_t needed = roundUp(bytes, 256) + kRedZone;
  if (next + needed <= kReserved) {
    uint64_t result = deviceBegin + next;
    next += needed;
    return result;
  }
  uint64_t candidate = deviceBegin;
  for (const auto &[begin, block] : blocks) {
    if (!isDeviceAddress(begin))
      continue;
    if (begin >= candidate + needed)
      return candidate;
    candidate = roundUp(block.end, 256) + kRedZone;
  }
  return candidate + needed <= deviceBegin + kReserved ? candidate : 0;
}

void Memory::trimPool(uint64_t bytes) {
  if (pooled <= bytes)
    return;
  used -= pooled - bytes;
  pooled = bytes;
}

Block *Memory::allocate(uint64_t bytes, Block::Kind kind, bool isAsync) {
  uint64_t kept = isAsync ? std::min(pooled, bytes) : 0;
  // All but pinned memory counts.
  if (kind != Block::Pinned && (bytes > total || used - kept > total - bytes))
    return nullptr;
  if (!reserve())
    return nullptr;
  Block block;
  block.kind = kind;
  block.isAsync = isAsync;
  if (kind == Block::Device || kind == Block::Global) {
    block.begin = findDeviceAddress(bytes);
    if (!block.begin)
      return nullptr;
    block.delta = static_cast<int64_t>(bytesBegin - deviceBegin);
  } else {
    // A page behind it that nobody may touch, and the end right before it.
    block.mappedBytes = roundUp(bytes, kPage) + kPage;
    block.mapping = mapPages(block.mappedBytes, PROT_READ | PROT_WRITE);
    if (!block.mapping)
      return nullptr;
    auto *base = static_cast<char *>(block.mapping);
    mprotect(base + block.mappedBytes - kPage, kPage, PROT_NONE);
    block.begin = reinterpret_cast<uint64_t>(base) + block.mappedBytes - kPage -
                  roundUp(bytes, 256);
  }
  block.end = block.begin + bytes;
  std::memset(block.host(block.begin), kPoison, bytes);
  if (kind != Block::Pinned)
    used += bytes - kept;
  pooled -= kept;
  return &(blocks[block.begin] = block);
}

void Memory::free(uint64_t address) {
  auto found = blocks.find(address);
  if (found == blocks.end())
    return;
  Block &block = found->second;
  uint64_t bytes = block.end - block.begin;
  if (block.isAsync) {
    pooled += bytes;
    trimPool(poolLimit);
  } else if (block.kind != Block::Pinned) {
    used -= bytes;
  }
  if (block.mapping) {
    munmap(block.mapping, block.mappedBytes);
  } else if (bytes >= kLarge) {
    uint64_t first = roundUp(block.begin + block.delta, kPage);
    uint64_t last = (block.end + block.delta) / kPage * kPage;
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  }
  blocks.erase(found);
}

void Memory::clear() {
  while (!blocks.empty())
    free(blocks.begin()->first);
}

Block *Memory::find(uint64_t address) {
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return nullptr;
  Block &block = std::prev(next)->second;
  return address < block.end ? &block : nullptr;
}

/// Managed memory above that is taken to be shared out.
static constexpr uint64_t kLargeShared = 64 << 10;

void Memory::protect(const Block &block, bool isOpen) {
  // Whoever shares out large blocks keeps notes in front of what kernels get,
  // on a page that none of them touches.
  uint64_t open = block.end - block.begin > kLargeShared ? kPage : 0;
  mprotect(static_cast<char *>(block.mapping) + open,
           block.mappedBytes - kPage - open,
           isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void Memory::guard() {
  for (auto &[begin, block] : blocks)
    if (block.kind == Block::Managed)
      block.isGuarded = true;
  openGuarded(false);
}

void Memory::openGuarded(bool isOpen) {
  for (auto &[begin, block] : blocks)
    if (block.isGuarded)
      protect(block, isOpen);
}

void Memory::unguard() {
  openGuarded(true);
  for (auto &[begin, block] : blocks)
    block.isGuarded = false;
}
