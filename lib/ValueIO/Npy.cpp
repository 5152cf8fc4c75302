//===- Npy.cpp - NumPy's .npy format --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format is described in numpy.lib.format: a magic string, a version, the
// length of a header, the header (a Python dict literal), the data.
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Endian.h"

#include <algorithm>

using namespace llvm;
using namespace loopc::io;

static constexpr StringLiteral kMagic("\x93NUMPY");

namespace {
/// The three entries of a header.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// An element as the header describes it.
struct FileType {
  DLDataType dtype = {0, 0, 1}; ///< bits is 0 for strings
  char kind = 0;
  int64_t itemBytes = 0;
  bool swapped = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<Header> parseHeader(StringRef text) {
  Header header;
  auto malformed = [] {
    return makeError("the header of the .npy is damaged");
  };
  // Values contain no quotes or braces of their own but those looked for.
  auto valueOf = [&](StringRef key) -> StringRef {
    for (std::string quoted :
         {"'" + key.str() + "'", "\"" + key.str() + "\""}) {
      size_t at = text.find(quoted);
      if (at == StringRef::npos)
        continue;
      StringRef rest = text.drop_front(at + quoted.size()).ltrim();
      if (rest.consume_front(":"))
        return rest.ltrim();
    }
    return "";
  };

  StringRef descr = valueOf("descr");
  if (descr.starts_with("["))
    return makeError("an array of structures is no tensor");
  if (descr.empty() || (descr[0] != '\'' && descr[0] != '"'))
    return malformed();
  size_t end = descr.find(descr[0], 1);
  if (end == StringRef::npos)
    return malformed();
  header.descr = descr.slice(1, end).str();

  StringRef order = valueOf("fortran_order");
  header.fortranOrder = order.starts_with("True");
  if (!header.fortranOrder && !order.starts_with("False"))
    return malformed();

  StringRef shape = valueOf("shape");
  size_t close = shape.find(')');
  if (!shape.consume_front("(") || close == StringRef::npos)
    return malformed();
  SmallVector<StringRef> parts;
  shape.take_front(close - 1).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    part.consume_back("L"); // files of Python 2
    if (part.empty())
      continue;
    int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 0)
      return malformed();
    header.shape.push_back(extent);
  }
  return header;
}

static Expected<FileType> parseType(StringRef descr) {
  auto unsupported = [&] {
    return makeError("arrays of type '" + descr + "' are not supported");
  };
  FileType type;
  StringRef text = descr;
  char order = '|';
  if (!text.empty() && StringRef("<>|=").contains(text[0])) {
    order = text[0];
    text = text.drop_front();
  }
  if (text.empty())
    return unsupported();
  type.kind = text[0];
  if (type.kind == 'O')
    return makeError("an array of Python objects is not supported (it would "
                     "have to be unpickled)");
  if (text.drop_front().getAsInteger(10, type.itemBytes) ||
      type.itemBytes < 0 || type.itemBytes > (1 << 24))
    return unsupported();
  type.swapped = order == '>' && type.itemBytes > 1;
  auto bits = static_cast<uint8_t>(type.itemBytes * 8);
  int64_t size = type.itemBytes;
  bool isPower = size == 1 || size == 2 || size == 4 || size == 8;
  switch (type.kind) {
  case 'b':
    if (size != 1)
      return unsupported();
    type.dtype = {kDLBool, 8, 1};
    return type;
  case 'i':
  case 'u':
    if (!isPower)
      return unsupported();
    type.dtype = {static_cast<uint8_t>(type.kind == 'i' ? kDLInt : kDLUInt),
                  bits, 1};
    return type;
  case 'f':
    if (!isPower)
      return unsupported();
    // ml_dtypes calls one of its 8-bit floats 'f1'.
    type.dtype = {static_cast<uint8_t>(size == 1 ? kRawCode : kDLFloat), bits,
                  1};
    return type;
  case 'c':
    if (size != 8 && size != 16)
      return unsupported();
    type.dtype = {kDLComplex, bits, 1};
    return type;
  case 'V':
    if (!isPower)
      return unsupported();
    type.dtype = {kRawCode, bits, 1};
    return type;
  case 'S':
    return type;
  case 'U':
    type.itemBytes *= 4;
    return type;
  default:
    return unsupported();
  }
}

/// Calls `store(to, from)` for every element, `to` in C order. In Fortran order
/// the first axis runs fastest in the file.
template <typename Store>
static void forEachElement(const Header &header, int64_t count, Store store) {
  if (!header.fortranOrder || header.shape.size() < 2) {
    for (int64_t i = 0; i < count; ++i)
      store(i, i);
    return;
  }
  size_t rank = header.shape.size();
  std::vector<int64_t> index(rank, 0), strides(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * header.shape[axis - 1];
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      from += index[axis] * strides[axis];
    store(i, from);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < header.shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

/// A fixed-width string of the file: 'S' is bytes, 'U' is UTF-32; both end
/// before trailing nulls.
static std::string decodeString(StringRef item, const FileType &type) {
  if (type.kind == 'S')
    return item.rtrim('\0').str();
  std::vector<UTF32> codes;
  for (size_t i = 0; i + 4 <= item.size(); i += 4)
    codes.push_back(type.swapped ? support::endian::read32be(item.data() + i)
                                 : support::endian::read32le(item.data() + i));
  while (!codes.empty() && codes.back() == 0)
    codes.pop_back();
  std::string text;
  for (UTF32 code : codes) {
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
    char *end = buffer;
    if (!ConvertCodePointToUTF8(code, end)) {
      end = buffer;
      ConvertCodePointToUTF8(UNI_REPLACEMENT_CHAR, end);
    }
    text.append(buffer, end);
  }
  return text;
}

Expected<HostValue> loopc::io::readNpy(StringRef bytes) {
  StringRef rest = bytes;
  if (!rest.consume_front(kMagic) || rest.size() < 4)
    return makeError("this is no .npy file");
  uint8_t major = rest[0];
  rest = rest.drop_front(2);
  if (major < 1 || major > 3)
    return makeError("version " + Twine(unsigned(major)) +
                     " of .npy is not supported");
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return makeError("the .npy file is cut off");
  size_t length = major == 1 ? support::endian::read16le(rest.data())
                             : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return makeError("the .npy file is cut off");
  Expected<Header> header = parseHeader(rest.take_front(length));
  if (!header)
    return header.takeError();
  StringRef data = rest.drop_front(length);
  Expected<FileType> type = parseType(header->descr);
  if (!type)
    return type.takeError();

  std::optional<int64_t> count = countElements(header->shape);
  int64_t needed;
  if (!count || MulOverflow(*count, type->itemBytes, needed) ||
      static_cast<uint64_t>(needed) > data.size())
    return makeError("the .npy file is cut off: its shape asks for more data");
  Expected<HostValue> value = makeTensor(type->dtype, header->shape);
  if (!value)
    return value;
  if (value->kind == LOOPC_STRINGS) {
    forEachElement(*header, *count, [&](int64_t to, int64_t from) {
      value->strings[to] = decodeString(
          data.substr(from * type->itemBytes, type->itemBytes), *type);
    });
    return value;
  }
  int64_t size = type->itemBytes;
  // Both parts of a complex number are swapped by themselves.
  int64_t unit = type->kind == 'c' ? size / 2 : size;
  uint8_t *to = value->bytes.data();
  forEachElement(*header, *count, [&](int64_t toIndex, int64_t fromIndex) {
    uint8_t *element = to + toIndex * size;
    std::copy_n(data.data() + fromIndex * size, size, element);
    if (type->swapped)
      for (int64_t at = 0; at < size; at += unit)
        std::reverse(element + at, element + at + unit);
  });
  return value;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string descrOf(DLDataType dtype) {
  std::string bytes = std::to_string((dtype.bits + 7) / 8);
  switch (dtype.code) {
  case kDLBool:
    return "|b1";
  case kDLInt:
    return dtype.bits < 8 ? "|V1" : (dtype.bits == 8 ? "|i" : "<i") + bytes;
  case kDLUInt:
    return dtype.bits < 8 ? "|V1" : (dtype.bits == 8 ? "|u" : "<u") + bytes;
  case kDLFloat:
    return "<f" + bytes;
  case kDLComplex:
    return "<c" + bytes;
  default:
    return (bytes == "1" ? "|V" : "<V") + bytes;
  }
}

/// Strings as UTF-32, all as long as the longest.
static std::pair<std::string, std::string>
encodeStrings(const HostValue &value) {
  std::vector<std::vector<UTF32>> texts;
  size_t longest = 1;
  for (const std::string &text : value.strings) {
    std::vector<UTF32> codes(text.size());
    auto *from = reinterpret_cast<const UTF8 *>(text.data());
    UTF32 *to = codes.data();
    ConvertUTF8toUTF32(&from, from + text.size(), &to, to + codes.size(),
                       lenientConversion);
    codes.resize(to - codes.data());
    longest = std::max(longest, codes.size());
    texts.push_back(std::move(codes));
  }
  std::string data;
  for (std::vector<UTF32> &codes : texts) {
    codes.resize(longest);
    for (UTF32 code : codes) {
      char bytes[4];
      support::endian::write32le(bytes, code);
      data.append(bytes, 4);
    }
  }
  return {"<U" + std::to_string(longest), std::move(data)};
}

Error loopc::io::writeNpy(const HostValue &value, raw_ostream &os) {
  if (value.kind != LOOPC_TENSOR && value.kind != LOOPC_STRINGS)
    return makeError("an .npy file cannot hold a sequence or an optional");
  std::string descr, unpacked;
  StringRef data(reinterpret_cast<const char *>(value.bytes.data()),
                 value.bytes.size());
  if (value.kind == LOOPC_STRINGS) {
    std::tie(descr, unpacked) = encodeStrings(value);
    data = unpacked;
  } else {
    descr = descrOf(value.dtype);
    if (value.dtype.bits < 8) {
      for (int64_t i = 0, n = value.numElements(); i < n; ++i)
        unpacked.push_back(static_cast<char>(getInteger(value, i)));
      data = unpacked;
    }
  }
  std::string shape;
  for (int64_t extent : value.shape)
    shape += std::to_string(extent) + ", ";
  if (value.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (value.shape.size() == 1)
    shape.pop_back();
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data begins at a multiple of 64.
  size_t begin = kMagic.size() + 4;
  header.append(63 - (begin + header.size()) % 64, ' ');
  header.push_back('\n');
  char length[2];
  support::endian::write16le(length, static_cast<uint16_t>(header.size()));
  os << kMagic << '\x01' << '\0' << StringRef(length, 2) << header << data;
  return Error::success();
}
