//===- OldLibc.cpp - What older C libraries lack --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Archives of LLVM and of the C++ library that were built with glibc 2.36 call
// arc4random(), and so would what is linked with them. This one is found before
// the C library's, and takes a kernel of 3.17 and glibc 2.25. Without
// <stdlib.h>, which may declare the function with another visibility.

#include <cstdint>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random();

extern "C" uint32_t arc4random() {
  uint32_t value = 0;
  // So few bytes come at once.
  while (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
  }
  return value;
}
