//===- HugePages.h - A heap of huge pages -----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of a large model lie scattered over a hundred megabytes, which
// every pass walks through. With pages of 4 KiB the processor knows the places
// of few of them at a time.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_HUGEPAGES_H
#define LOOPC_SUPPORT_HUGEPAGES_H

namespace loopc {

/// Lets the main thread's heap grow in huge pages where the system has them:
/// for programs whose heap is loopc's alone. \returns false, and leaves the
/// heap as it is, with another C library than glibc, another malloc, or a limit
/// of the address space; or where the heap cannot grow by as much.
bool useHugePages();

} // namespace loopc

#endif // LOOPC_SUPPORT_HUGEPAGES_H
