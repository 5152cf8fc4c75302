//===- Guard.h - Buffers that end where memory is unreadable ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of a model with LOOPC_MODEL_GUARDED. Each block lies at the end of
// pages of its own, with an unreadable page behind them:
//
//   | ...  header | data, `bytes` | fill, up to 63 bytes | unreadable |
//
// Data stays aligned to kDataAlignment, which compiled code relies on, so that
// up to 63 bytes remain between its end and the page. They hold a pattern: who
// wrote there is found when the block is freed. New data is full of ones (NaN,
// and -1), so that a result does not depend on memory that nobody wrote by
// being zero. A freed block becomes unreadable, and its addresses are not used
// again until kQuarantine more blocks were freed, or the run ends.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_GUARD_H
#define LOOPC_LIB_RUNTIME_CPU_GUARD_H

#include "Run.h"

namespace loopc::rt {

/// Freed blocks whose addresses are kept.
inline constexpr size_t kQuarantine = 8192;

/// A block with its `destroy` set; null where the system has no pages, or no
/// more pieces of the address space, for it. The heap's lock is held.
Block *createGuardedBlock(size_t bytes);

/// LOOPC_OK, or the status of an error that tells which block of the run was
/// written beyond its end.
int32_t checkGuardedBlocks(loopc_run &run);

/// Gives back the addresses of freed blocks.
void releaseQuarantine(Heap &heap);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_GUARD_H
