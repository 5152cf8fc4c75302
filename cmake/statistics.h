//===- statistics.h - LLVM's statistics as its libraries have them -*- C++ -*-//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without NDEBUG llvm/ADT/Statistic.h declares a class with members, which the
// constructor in the libraries, built with NDEBUG, does not know and leaves as
// they are. So builds with assertions include it as those without do.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/Compiler.h"

#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
