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
#include <utility>
#include <vector>

namespace loopc::ort {

/// Large constants are borrowed: a model of many of them is put together once.
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
      addByte(bits >> shift);
  }

  void addBytes(unsigned field, std::string_view value) {
    addKey(field, kLength);
    addVarint(value.size());
    getText() += value;
    size += value.size();
  }

  /// The same for bytes that live as long as the message.
  void borrowBytes(unsigned field, std::string_view value) {
    addKey(field, kLength);
    addVarint(value.size());
    getText();
    pieces.back().borrowed = value;
    size += value.size();
  }

  void add(unsigned field, Message message) {
    addKey(field, kLength);
    addVarint(message.size);
    size += message.size;
    for (Piece &piece : message.pieces)
      pieces.push_back(std::move(piece));
  }

  size_t getSize() const { return size; }

  /// Calls `function` with the bytes, piece by piece.
  template <typename Function> void visit(Function function) const {
    for (const Piece &piece : pieces) {
      function(std::string_view(piece.text));
      function(piece.borrowed);
    }
  }

  std::string get() const {
    std::string bytes;
    bytes.reserve(size);
    visit([&](std::string_view piece) { bytes += piece; });
    return bytes;
  }

private:
  enum Encoding : unsigned { kVarint = 0, kLength = 2, kFixed32 = 5 };

  /// A text, and what comes behind it.
  struct Piece {
    std::string text;
    std::string_view borrowed;
  };

  std::string &getText() {
    if (pieces.empty() || !pieces.back().borrowed.empty())
      pieces.emplace_back();
    return pieces.back().text;
  }

  void addByte(uint64_t byte) {
    getText() += static_cast<char>(byte);
    ++size;
  }

  void addKey(unsigned field, Encoding encoding) {
    addVarint(field << 3 | encoding);
  }

  void addVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      addByte(value | 0x80);
    addByte(value);
  }

  std::vector<Piece> pieces;
  size_t size = 0;
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_PROTO_H
