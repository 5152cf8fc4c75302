//===- Unicode.h - Characters of UTF-8 --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_UNICODE_H
#define LOOPC_LIB_RUNTIME_CPU_UNICODE_H

#include <stdint.h>

namespace loopc::rt {

/// Bytes that are no character, as numbers beyond all code points: they stay
/// what they are.
inline constexpr uint32_t kInvalidByte = 0x80000000;

/// The character at `at`, before `end`, which becomes the position behind it. A
/// byte that begins no character of valid UTF-8 is kInvalidByte plus the byte.
uint32_t decodeUtf8(const char *&at, const char *end);

/// Writes a character, 1 to 4 bytes. \returns their number.
int encodeUtf8(uint32_t character, char *out);

/// White space as Python's str.split() has it.
bool isSpace(uint32_t character);

/// Writes the character at `at` of [begin, end) in the other case, up to 12
/// bytes, and moves `at` behind it. \returns the number of bytes. One character
/// may become several; a sigma looks at its neighbours.
int changeCaseOf(const char *&at, const char *begin, const char *end,
                 bool upper, char *out);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_UNICODE_H
