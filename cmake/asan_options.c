//===- asan_options.c - AddressSanitizer in programs with LLVM ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's and MLIR's libraries are not built with the sanitizer. Their headers
// poison what their allocators and containers do not hold, and the libraries do
// not lift that. What they read is not checked: memory that is freed is filled,
// so that a pointer in it leads nowhere.
//
//===----------------------------------------------------------------------===//

const char *__asan_default_options(void);

const char *__asan_default_options(void) {
  return "detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0:"
         "allocator_may_return_null=1:"
         "max_free_fill_size=4096:free_fill_byte=165";
}
