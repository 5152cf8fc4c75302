//===- Proto.h - Writing ONNX models ----------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message in protobuf's encoding: fields, one behind the other, in any order.
// The protobuf library itself would be a second one in onnxruntime's process,
// and ten times as large as all else here.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_PROTO_H
#define LOOPC_LIB_ONNXRUNTIME_PROTO_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace loopc::ort {

class Message {
public:
  /// A field that is an integer, a bool or an enumeration.
  void addInt(unsigned field, int64_t value) {
    addKey(field, kVarint);
    addVarint(static_cast<uint64_t>(value));
  }

  void addFloat(unsigned field, float value) {
    addKey(field, kFixed32);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(bits >> shift);
  }

  void addBytes(unsigned field, std::string_view value) {
    addKey(field, kLength);
    addVarint(value.size());
    bytes += value;
  }

  void add(unsigned field, const Message &message) {
    addBytes(field, message.bytes);
  }

  const std::string &get() const { return bytes; }
  std::string take() { return std::move(bytes); }

private:
  enum Encoding : unsigned { kVarint = 0, kLength = 2, kFixed32 = 5 };

  void addKey(unsigned field, Encoding encoding) {
    addVarint(field << 3 | encoding);
  }

  void addVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }

  std::string bytes;
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_PROTO_H
