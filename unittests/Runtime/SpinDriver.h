//===- SpinDriver.h - A driver whose kernels take their time ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_UNITTESTS_RUNTIME_SPINDRIVER_H
#define LOOPC_UNITTESTS_RUNTIME_SPINDRIVER_H

namespace loopc::test {

/// The kernel that is begun next runs until its cancel word is set.
__attribute__((visibility("default"))) void makeNextKernelSpin();

/// How often the driver was asked whether it is done.
__attribute__((visibility("default"))) int countQueriesWhileSpinning();

} // namespace loopc::test

#endif // LOOPC_UNITTESTS_RUNTIME_SPINDRIVER_H
