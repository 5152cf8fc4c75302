//===- Npz.cpp - NumPy's .npz format --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ZIP archive (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5): the central
// directory at its end names the members. Members are stored or deflated;
// sizes of 4 GiB and more are in ZIP64 fields.
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Files.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <zlib.h>

using namespace llvm;
using namespace loopc::io;
using support::endian::read16le;
using support::endian::read32le;
using support::endian::read64le;

static constexpr uint32_t kLocalHeader = 0x04034b50;
static constexpr uint32_t kCentralHeader = 0x02014b50;
static constexpr uint32_t kEnd = 0x06054b50;
static constexpr uint32_t kEnd64 = 0x06064b50;
static constexpr uint32_t kEnd64Locator = 0x07064b50;
static constexpr uint16_t kZip64Field = 1;
static constexpr uint32_t kIn64 = UINT32_MAX;

namespace {
struct Member {
  StringRef name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packedSize = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

/// Reads little-endian fields; whatever is out of range is an error.
class Reader {
public:
  explicit Reader(StringRef bytes) : bytes(bytes) {}

  Expected<StringRef> slice(uint64_t offset, uint64_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset)
      return makeError("the .npz file is cut off or damaged");
    return bytes.substr(offset, size);
  }

  Expected<std::vector<Member>> readDirectory() const;
  Expected<Bytes> extract(const Member &member) const;

private:
  Expected<std::pair<uint64_t, uint64_t>> findDirectory() const;
  static Error readZip64(StringRef extra, Member &member);

  StringRef bytes;
};
} // namespace

/// Offset of the central directory and the number of its entries.
Expected<std::pair<uint64_t, uint64_t>> Reader::findDirectory() const {
  // The end record is 22 bytes and a comment of up to 64 KiB.
  constexpr size_t kEndSize = 22;
  if (bytes.size() < kEndSize)
    return makeError("this is no .npz file");
  size_t first = bytes.size() - kEndSize;
  size_t last = first > UINT16_MAX ? first - UINT16_MAX : 0;
  size_t at = first + 1;
  do {
    if (at-- == last)
      return makeError("this is no .npz file");
  } while (read32le(bytes.data() + at) != kEnd);
  uint64_t entries = read16le(bytes.data() + at + 10);
  uint64_t offset = read32le(bytes.data() + at + 16);
  if (offset != kIn64 && entries != UINT16_MAX)
    return std::pair(offset, entries);
  if (at < 20 || read32le(bytes.data() + at - 20) != kEnd64Locator)
    return std::pair(offset, entries);
  Expected<StringRef> end64 = slice(read64le(bytes.data() + at - 12), 56);
  if (!end64)
    return end64.takeError();
  if (read32le(end64->data()) != kEnd64)
    return makeError("the .npz file is damaged");
  return std::pair(read64le(end64->data() + 48), read64le(end64->data() + 32));
}

/// Takes the sizes that do not fit in 32 bits from the ZIP64 extra field, where
/// only those are.
Error Reader::readZip64(StringRef extra, Member &member) {
  while (extra.size() >= 4) {
    uint16_t id = read16le(extra.data()), size = read16le(extra.data() + 2);
    extra = extra.drop_front(4);
    if (size > extra.size())
      break;
    StringRef field = extra.take_front(size);
    extra = extra.drop_front(size);
    if (id != kZip64Field)
      continue;
    for (uint64_t *value : {&member.size, &member.packedSize, &member.offset}) {
      if (*value != kIn64)
        continue;
      if (field.size() < 8)
        return makeError("the .npz file is damaged");
      *value = read64le(field.data());
      field = field.drop_front(8);
    }
    return Error::success();
  }
  return makeError("the .npz file is damaged");
}

Expected<std::vector<Member>> Reader::readDirectory() const {
  auto directory = findDirectory();
  if (!directory)
    return directory.takeError();
  auto [offset, entries] = *directory;
  std::vector<Member> members;
  for (uint64_t i = 0; i < entries; ++i) {
    Expected<StringRef> fixed = slice(offset, 46);
    if (!fixed)
      return fixed.takeError();
    const char *at = fixed->data();
    if (read32le(at) != kCentralHeader)
      return makeError("the .npz file is damaged");
    Member member;
    member.flags = read16le(at + 8);
    member.method = read16le(at + 10);
    member.crc = read32le(at + 16);
    member.packedSize = read32le(at + 20);
    member.size = read32le(at + 24);
    member.offset = read32le(at + 42);
    uint16_t nameSize = read16le(at + 28), extraSize = read16le(at + 30),
             commentSize = read16le(at + 32);
    Expected<StringRef> rest =
        slice(offset + 46, uint64_t(nameSize) + extraSize + commentSize);
    if (!rest)
      return rest.takeError();
    member.name = rest->take_front(nameSize);
    if (member.packedSize == kIn64 || member.size == kIn64 ||
        member.offset == kIn64)
      if (Error error = readZip64(rest->substr(nameSize, extraSize), member))
        return std::move(error);
    offset += 46 + rest->size();
    members.push_back(member);
  }
  return members;
}

/// Undoes deflate (RFC 1951) into exactly `size` bytes.
static Error inflateBytes(StringRef packed, Bytes &to) {
  auto damaged = [] { return makeError("its deflated data is damaged"); };
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return makeError("there is no memory to inflate it");
  scope_exit cleanUp([&] { inflateEnd(&stream); });
  // zlib counts in 32 bits.
  size_t taken = 0, made = 0;
  while (true) {
    constexpr size_t kChunk = size_t(1) << 30;
    uInt in = std::min(packed.size() - taken, kChunk);
    uInt out = std::min(to.size() - made, kChunk);
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + taken));
    stream.avail_in = in;
    // zlib wants a pointer even where there is no room.
    Bytef nothing;
    stream.next_out = out ? to.data() + made : &nothing;
    stream.avail_out = out;
    int result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (result == Z_STREAM_END)
      return made == to.size() ? Error::success() : damaged();
    if (result != Z_OK || (stream.avail_in == in && stream.avail_out == out))
      return damaged();
  }
}

static uint32_t checksum(const uint8_t *data, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, data, size));
}

Expected<Bytes> Reader::extract(const Member &member) const {
  Expected<StringRef> local = slice(member.offset, 30);
  if (!local)
    return local.takeError();
  if (read32le(local->data()) != kLocalHeader)
    return makeError("the .npz file is damaged");
  if (member.flags & 1)
    return makeError("it is encrypted");
  Expected<StringRef> packed =
      slice(member.offset + 30 + read16le(local->data() + 26) +
                read16le(local->data() + 28),
            member.packedSize);
  if (!packed)
    return packed.takeError();
  // Deflate makes data at most 1032 times smaller: what claims to be larger
  // than that is not believed, nor is memory taken for it.
  if (member.size / 1032 > member.packedSize + 1)
    return makeError("the .npz file is damaged");
  Bytes data(member.size);
  if (member.method == 8) {
    if (Error error = inflateBytes(*packed, data))
      return std::move(error);
  } else if (member.method == 0 && member.size == member.packedSize) {
    std::copy(packed->begin(), packed->end(), data.begin());
  } else {
    return makeError("compression method " + Twine(member.method) +
                     " is not supported");
  }
  if (checksum(data.data(), data.size()) != member.crc)
    return makeError("its checksum is wrong");
  return data;
}

Expected<std::vector<NamedValue>> loopc::io::readNpz(StringRef bytes) {
  Reader reader(bytes);
  Expected<std::vector<Member>> members = reader.readDirectory();
  if (!members)
    return members.takeError();
  std::vector<NamedValue> values;
  for (const Member &member : *members) {
    StringRef name = member.name;
    if (!name.consume_back(".npy"))
      continue;
    auto inMember = [&](Error error) {
      return makeError("'" + member.name + "': " + toString(std::move(error)));
    };
    Expected<Bytes> data = reader.extract(member);
    if (!data)
      return inMember(data.takeError());
    Expected<HostValue> value = readNpy(
        StringRef(reinterpret_cast<const char *>(data->data()), data->size()));
    if (!value)
      return inMember(value.takeError());
    values.emplace_back(name.str(), std::move(*value));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Appends little-endian fields to a string.
struct Fields {
  std::string text;
  Fields &u16(uint16_t value) {
    char bytes[2];
    support::endian::write16le(bytes, value);
    text.append(bytes, 2);
    return *this;
  }
  Fields &u32(uint32_t value) {
    char bytes[4];
    support::endian::write32le(bytes, value);
    text.append(bytes, 4);
    return *this;
  }
  Fields &u64(uint64_t value) {
    char bytes[8];
    support::endian::write64le(bytes, value);
    text.append(bytes, 8);
    return *this;
  }
};
} // namespace

static constexpr uint16_t kVersion = 45;        // ZIP64
static constexpr uint16_t kUtf8Names = 1 << 11; // of flags
static constexpr uint16_t kDate = 1 << 5 | 1;   // 1 January 1980

Error loopc::io::writeNpz(ArrayRef<NamedValue> values, raw_ostream &os) {
  Fields directory;
  uint64_t offset = 0;
  for (const auto &[plainName, value] : values) {
    std::string name = plainName + ".npy", data;
    raw_string_ostream stream(data);
    if (Error error = writeNpy(value, stream))
      return makeError("'" + plainName + "': " + toString(std::move(error)));
    if (name.size() > UINT16_MAX)
      return makeError("'" + plainName + "': the name is too long");
    uint32_t crc =
        checksum(reinterpret_cast<const uint8_t *>(data.data()), data.size());
    // Sizes always in ZIP64 fields: one form for all.
    Fields local;
    local.u32(kLocalHeader).u16(kVersion).u16(kUtf8Names).u16(0);
    local.u16(0).u16(kDate).u32(crc).u32(kIn64).u32(kIn64);
    local.u16(name.size()).u16(20);
    local.text += name;
    local.u16(kZip64Field).u16(16).u64(data.size()).u64(data.size());
    os << local.text << data;

    directory.u32(kCentralHeader).u16(kVersion).u16(kVersion);
    directory.u16(kUtf8Names).u16(0).u16(0).u16(kDate).u32(crc);
    directory.u32(kIn64).u32(kIn64).u16(name.size()).u16(28).u16(0).u16(0);
    directory.u16(0).u32(0).u32(kIn64);
    directory.text += name;
    directory.u16(kZip64Field).u16(24).u64(data.size()).u64(data.size());
    directory.u64(offset);
    offset += local.text.size() + data.size();
  }
  Fields end;
  end.u32(kEnd64).u64(44).u16(kVersion).u16(kVersion).u32(0).u32(0);
  end.u64(values.size()).u64(values.size());
  end.u64(directory.text.size()).u64(offset);
  end.u32(kEnd64Locator).u32(0).u64(offset + directory.text.size()).u32(1);
  end.u32(kEnd).u16(0).u16(0).u16(UINT16_MAX).u16(UINT16_MAX);
  end.u32(kIn64).u32(kIn64).u16(0);
  os << directory.text << end.text;
  return Error::success();
}
