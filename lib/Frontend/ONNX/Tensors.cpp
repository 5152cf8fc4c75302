//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Weights: where their bytes are, and attributes that refer to them. A large
// weight becomes a resource whose data is the mapped file or the parsed message
// itself; it is copied only where its layout is another one.

#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Support/ReadFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "raw_data is little endian, and so is what MLIR holds here");

/// What a sparse tensor may take once it is dense: as much as a whole model.
static constexpr uint64_t kLargestDense = std::numeric_limits<int32_t>::max();

/// Bytes as they stand in raw_data or an external file. `owned` holds them
/// where they had to be made.
struct TensorImporter::Bytes {
  ArrayRef<char> data;
  std::shared_ptr<SmallVector<char, 0>> owned;
  bool mapped = false; ///< data is a part of a mapped file

  /// Room for `size` bytes of its own.
  char *make(size_t size) {
    owned = std::make_shared<SmallVector<char, 0>>(size);
    data = *owned;
    return owned->data();
  }
};

/// Bits of an element in raw_data.
static uint64_t getBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

static std::string named(const pb::TensorProto &tensor) {
  return tensor.name().empty() ? "the tensor"
                               : "tensor '" + tensor.name() + "'";
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  os << "]";
  return text;
}

/// Data stands in one field, or in an external file: of two nobody can say
/// which one holds.
LogicalResult TensorImporter::checkFields(const pb::TensorProto &tensor,
                                          Location loc) {
  SmallVector<StringRef> fields;
  auto add = [&](bool is, StringRef name) {
    if (is)
      fields.push_back(name);
  };
  add(tensor.data_location() == pb::TensorProto::EXTERNAL, "external data");
  add(tensor.has_raw_data() || model->mappedData.contains(&tensor), "raw_data");
  add(tensor.float_data_size(), "float_data");
  add(tensor.int32_data_size(), "int32_data");
  add(tensor.string_data_size(), "string_data");
  add(tensor.int64_data_size(), "int64_data");
  add(tensor.double_data_size(), "double_data");
  add(tensor.uint64_data_size(), "uint64_data");
  if (fields.size() < 2)
    return success();
  return loopc::emitError(loc, Diag::BadTensor)
         << named(tensor) << " has both " << fields[0] << " and " << fields[1];
}

FailureOr<RankedTensorType>
TensorImporter::typeOf(const pb::TensorProto &tensor, Location loc) {
  Type element = onnx::importElementType(context, tensor.data_type());
  if (!element)
    return loopc::emitError(loc, Diag::UnsupportedType)
           << named(tensor) << " has the unknown element type "
           << tensor.data_type();
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (!onnx::countElements(shape))
    return loopc::emitError(loc, Diag::BadTensor)
           << named(tensor) << " has the impossible shape " << shapeText(shape);
  if (tensor.has_segment())
    return loopc::emitError(loc, Diag::BadTensor)
           << named(tensor) << " is stored in segments, which nothing writes";
  if (failed(checkFields(tensor, loc)))
    return failure();
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

/// True if `file` lies in `folder` or below; both are real paths.
static bool isInside(StringRef file, StringRef folder) {
  auto part = llvm::sys::path::begin(file), end = llvm::sys::path::end(file);
  for (auto outer = llvm::sys::path::begin(folder),
            outerEnd = llvm::sys::path::end(folder);
       outer != outerEnd; ++outer, ++part)
    if (part == end || *part != *outer)
      return false;
  return part != end;
}

FailureOr<llvm::MemoryBuffer *>
TensorImporter::openExternal(StringRef location, StringRef tensorName,
                             Location loc) {
  if (auto known = model->files.find(location); known != model->files.end())
    return known->second.get();
  auto fail = [&]() {
    return loopc::emitError(loc, Diag::ExternalData)
           << "external data of tensor '" << tensorName << "': file '"
           << location << "' ";
  };
  if (model->folder.empty())
    return fail() << "cannot be found: the model was not read from a file";
  // Nothing outside of the model's folder is read, whatever the name says and
  // wherever a link leads.
  if (location.empty() || location.contains('\0') ||
      llvm::sys::path::is_absolute(location) ||
      llvm::is_contained(llvm::make_range(llvm::sys::path::begin(location),
                                          llvm::sys::path::end(location)),
                         StringRef("..")))
    return fail() << "is not a path within the model's folder";
  SmallString<256> path(model->folder), realFolder, realFile;
  llvm::sys::path::append(path, location);
  if (std::error_code error = llvm::sys::fs::real_path(path, realFile))
    return fail() << "cannot be read: " << error.message();
  if (std::error_code error =
          llvm::sys::fs::real_path(model->folder, realFolder))
    return fail() << "cannot be read: " << error.message();
  if (!isInside(realFile, realFolder))
    return fail() << "is a link that leaves the model's folder";
  if (!llvm::sys::fs::is_regular_file(realFile))
    return fail() << "is not a regular file";
  auto buffer = llvm::MemoryBuffer::getFile(realFile, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail() << "cannot be read: " << buffer.getError().message();
  FileRecorder::note(path);
  auto &entry = model->files[location];
  entry = std::move(*buffer);
  return entry.get();
}

LogicalResult TensorImporter::findExternal(const pb::TensorProto &tensor,
                                           uint64_t needed, Location loc,
                                           Bytes &bytes) {
  std::optional<StringRef> location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const pb::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    uint64_t number = 0;
    if ((key == "offset" || key == "length") && value.getAsInteger(10, number))
      return loopc::emitError(loc, Diag::ExternalData)
             << "external data of " << named(tensor) << ": " << key << " '"
             << value << "' is no number of bytes";
    if (key == "location")
      location = value;
    else if (key == "offset")
      offset = number;
    else if (key == "length")
      length = number;
    // 'checksum' and what else there may be says nothing of where data is.
  }
  if (!location)
    return loopc::emitError(loc, Diag::ExternalData)
           << "external data of " << named(tensor) << " has no location";
  FailureOr<llvm::MemoryBuffer *> file =
      openExternal(*location, tensor.name(), loc);
  if (failed(file))
    return failure();
  uint64_t size = (*file)->getBufferSize();
  if (length && *length != needed)
    return loopc::emitError(loc, Diag::ExternalData)
           << "external data of " << named(tensor) << " has " << *length
           << " bytes but its type and shape need " << needed;
  if (offset > size || needed > size - offset)
    return loopc::emitError(loc, Diag::ExternalData)
           << "external data of " << named(tensor) << " is bytes " << offset
           << " to " << offset + needed << " of file '" << *location
           << "', which has " << size;
  bytes.data = ArrayRef<char>((*file)->getBufferStart() + offset, needed);
  bytes.mapped =
      (*file)->getBufferKind() == llvm::MemoryBuffer::MemoryBuffer_MMap;
  return success();
}

//===----------------------------------------------------------------------===//
// Typed fields
//===----------------------------------------------------------------------===//

/// Refers to a list whose elements lie as they would in raw_data.
template <typename List> static ArrayRef<char> viewOf(const List &list) {
  return ArrayRef<char>(reinterpret_cast<const char *>(list.data()),
                        list.size() * sizeof(*list.data()));
}

/// Takes the low `width` bytes of every element.
template <typename List>
static void narrow(const List &list, unsigned width, char *to) {
  for (auto value : list) {
    std::memcpy(to, &value, width);
    to += width;
  }
}

/// Holds the number of entries that a typed field has against what it needs.
static LogicalResult checkEntries(const pb::TensorProto &tensor,
                                  RankedTensorType type, Location loc,
                                  StringRef field, uint64_t needed,
                                  uint64_t has) {
  if (needed == has)
    return success();
  return loopc::emitError(loc, Diag::BadTensor)
         << named(tensor) << " of shape " << shapeText(type.getShape())
         << " needs " << needed << " entries in " << field << " but has "
         << has;
}

LogicalResult TensorImporter::findTyped(const pb::TensorProto &tensor,
                                        RankedTensorType type, Location loc,
                                        Bytes &bytes) {
  uint64_t count = type.getNumElements();
  auto takes = [&](StringRef field, uint64_t has, uint64_t each = 1) {
    return checkEntries(tensor, type, loc, field, count * each, has);
  };
  switch (tensor.data_type()) {
  case pb::TensorProto::FLOAT:
  case pb::TensorProto::COMPLEX64:
    bytes.data = viewOf(tensor.float_data());
    return takes("float_data", tensor.float_data_size(),
                 tensor.data_type() == pb::TensorProto::FLOAT ? 1 : 2);
  case pb::TensorProto::DOUBLE:
  case pb::TensorProto::COMPLEX128:
    bytes.data = viewOf(tensor.double_data());
    return takes("double_data", tensor.double_data_size(),
                 tensor.data_type() == pb::TensorProto::DOUBLE ? 1 : 2);
  case pb::TensorProto::INT64:
    bytes.data = viewOf(tensor.int64_data());
    return takes("int64_data", tensor.int64_data_size());
  case pb::TensorProto::INT32:
    bytes.data = viewOf(tensor.int32_data());
    return takes("int32_data", tensor.int32_data_size());
  case pb::TensorProto::UINT64:
    bytes.data = viewOf(tensor.uint64_data());
    return takes("uint64_data", tensor.uint64_data_size());
  case pb::TensorProto::UINT32:
    if (failed(takes("uint64_data", tensor.uint64_data_size())))
      return failure();
    narrow(tensor.uint64_data(), 4, bytes.make(count * 4));
    return success();
  default:
    return findNarrow(tensor, type, loc, bytes);
  }
}

/// Types of two bytes and less are in int32_data, an element an entry; integers
/// and floats of four bits and less are packed there as in raw_data, four bytes
/// an entry or one (writers differ).
LogicalResult TensorImporter::findNarrow(const pb::TensorProto &tensor,
                                         RankedTensorType type, Location loc,
                                         Bytes &bytes) {
  uint64_t bits = getBits(type.getElementType());
  uint64_t count = type.getNumElements();
  uint64_t has = tensor.int32_data_size();
  uint64_t packed = llvm::divideCeil(count * bits, 8);
  uint64_t words = llvm::divideCeil(packed, 4);
  bool isPacked = bits == 4 || bits == 2;
  bool inWords = isPacked && has == words && words != packed;
  uint64_t needed = inWords ? words : isPacked ? packed : count;
  if (failed(checkEntries(tensor, type, loc, "int32_data", needed, has)))
    return failure();
  if (isPacked) {
    unsigned width = inWords ? 4 : 1;
    narrow(tensor.int32_data(), width, bytes.make(has * width));
    bytes.data = bytes.data.take_front(packed);
    return success();
  }
  if (bits == 6) {
    // An element an entry here, but packed in raw_data.
    char *to = bytes.make(packed);
    for (auto [i, value] : llvm::enumerate(tensor.int32_data())) {
      uint64_t bit = i * bits;
      unsigned word = (value & 0x3f) << (bit % 8);
      to[bit / 8] |= word & 0xff;
      if (word >> 8)
        to[bit / 8 + 1] |= word >> 8;
    }
    return success();
  }
  narrow(tensor.int32_data(), bits / 8, bytes.make(has * (bits / 8)));
  return success();
}

LogicalResult TensorImporter::findBytes(const pb::TensorProto &tensor,
                                        RankedTensorType type, Location loc,
                                        Bytes &bytes) {
  int64_t bits;
  if (llvm::MulOverflow<int64_t>(type.getNumElements(),
                                 getBits(type.getElementType()), bits))
    return loopc::emitError(loc, Diag::BadTensor)
           << named(tensor) << " has the impossible shape "
           << shapeText(type.getShape());
  uint64_t needed = llvm::divideCeil(bits, 8);
  if (tensor.data_location() == pb::TensorProto::EXTERNAL)
    return findExternal(tensor, needed, loc, bytes);
  auto mapped = model->mappedData.find(&tensor);
  if (mapped != model->mappedData.end()) {
    bytes.data = mapped->second;
    bytes.mapped =
        model->file->getBufferKind() == llvm::MemoryBuffer::MemoryBuffer_MMap;
  } else if (tensor.has_raw_data()) {
    bytes.data =
        ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
  } else {
    return findTyped(tensor, type, loc, bytes);
  }
  if (bytes.data.size() == needed)
    return success();
  return loopc::emitError(loc, Diag::BadTensor)
         << named(tensor) << " of shape " << shapeText(type.getShape())
         << " needs " << needed << " bytes of raw_data but has "
         << bytes.data.size();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Gives elements of less than a byte a byte each, which MLIR expects.
static void widen(Type element, int64_t count, ArrayRef<char> data,
                  llvm::function_ref<char *(size_t)> make) {
  uint64_t bits = getBits(element);
  if (bits >= 8)
    return;
  char *to = make(count);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bit = i * bits, byte = bit / 8;
    unsigned word = static_cast<uint8_t>(data[byte]);
    if (byte + 1 < data.size())
      word |= static_cast<unsigned>(static_cast<uint8_t>(data[byte + 1])) << 8;
    to[i] = static_cast<char>((word >> (bit % 8)) & ((1u << bits) - 1));
  }
}

/// Copies `data`; the pages of a mapped file are let go behind, so that a large
/// weight is not in memory twice.
static void copyOut(ArrayRef<char> data, bool mapped, char *to) {
  constexpr size_t kStep = 16 << 20;
  const size_t page = llvm::sys::Process::getPageSizeEstimate();
  for (size_t done = 0; done < data.size(); done += kStep) {
    ArrayRef<char> part = data.drop_front(done).take_front(kStep);
    std::memcpy(to + done, part.data(), part.size());
    auto begin = llvm::alignTo(reinterpret_cast<uintptr_t>(part.data()), page);
    auto end = llvm::alignDown(reinterpret_cast<uintptr_t>(part.end()), page);
    // Only a hint: what is read again comes from the file.
    if (mapped && begin < end)
      ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
}

FailureOr<ElementsAttr> TensorImporter::makeAttr(RankedTensorType type,
                                                 Bytes bytes, StringRef name,
                                                 Location loc) {
  Type element = type.getElementType();
  Bytes wide;
  widen(element, type.getNumElements(), bytes.data,
        [&](size_t size) { return wide.make(size); });
  if (wide.owned)
    bytes = std::move(wide);
  auto owner = std::make_shared<std::pair<ModelRef, decltype(bytes.owned)>>(
      model, bytes.owned);
  return makeElements(
      type, bytes.data, owner, name,
      [&](ArrayRef<char> data, char *to) { copyOut(data, bytes.mapped, to); });
}

FailureOr<ElementsAttr> TensorImporter::import(const pb::TensorProto &tensor,
                                               Location loc) {
  FailureOr<RankedTensorType> type = typeOf(tensor, loc);
  if (failed(type))
    return failure();
  if (isa<onnx::StringType>(type->getElementType())) {
    if (tensor.data_location() == pb::TensorProto::EXTERNAL)
      return loopc::emitError(loc, Diag::ExternalData)
             << named(tensor) << ": strings cannot be external data";
    if (tensor.string_data_size() != type->getNumElements())
      return loopc::emitError(loc, Diag::BadTensor)
             << named(tensor) << " of shape " << shapeText(type->getShape())
             << " needs " << type->getNumElements()
             << " entries in string_data but has " << tensor.string_data_size();
    SmallVector<StringRef> strings(tensor.string_data().begin(),
                                   tensor.string_data().end());
    return cast<ElementsAttr>(
        Attribute(DenseStringElementsAttr::get(*type, strings)));
  }
  Bytes bytes;
  if (failed(findBytes(tensor, *type, loc, bytes)))
    return failure();
  return makeAttr(*type, std::move(bytes), tensor.name(), loc);
}

FailureOr<ElementsAttr>
TensorImporter::import(const pb::SparseTensorProto &sparse, Location loc) {
  const pb::TensorProto &values = sparse.values();
  const pb::TensorProto &indices = sparse.indices();
  auto fail = [&]() {
    return loopc::emitError(loc, Diag::BadTensor)
           << "sparse " << named(values) << ": ";
  };
  FailureOr<RankedTensorType> valuesType = typeOf(values, loc);
  if (failed(valuesType))
    return failure();
  Type element = valuesType->getElementType();
  SmallVector<int64_t> shape(sparse.dims().begin(), sparse.dims().end());
  std::optional<int64_t> count = onnx::countElements(shape);
  uint64_t width = isa<onnx::StringType>(element)
                       ? 0
                       : llvm::divideCeil(getBits(element), 8);
  if (!count || !width || getBits(element) < 8 ||
      static_cast<uint64_t>(*count) > kLargestDense / width)
    return fail() << "the type or the shape " << shapeText(shape)
                  << " is not supported";
  if (valuesType->getRank() != 1)
    return fail() << "the values must have rank 1";
  int64_t stored = valuesType->getNumElements();
  Bytes data, where;
  if (failed(findBytes(values, *valuesType, loc, data)))
    return failure();
  // Without values there need be no indices.
  int64_t rank = shape.size(), columns = 1;
  if (stored) {
    FailureOr<RankedTensorType> type = typeOf(indices, loc);
    if (failed(type) || failed(findBytes(indices, *type, loc, where)))
      return failure();
    bool linear = type->getRank() == 1;
    columns = linear ? 1 : rank;
    SmallVector<int64_t> expected = linear ? SmallVector<int64_t>{stored}
                                           : SmallVector<int64_t>{stored, rank};
    if (!type->getElementType().isSignlessInteger(64) ||
        type->getShape() != ArrayRef<int64_t>(expected))
      return fail() << "the indices must be int64 of shape " << "[" << stored
                    << "] or [" << stored << ", " << rank << "]";
    if (linear)
      shape = {*count};
  }
  Bytes dense;
  char *to = dense.make(*count * width);
  int64_t before = -1;
  for (int64_t i = 0; i < stored; ++i) {
    int64_t position = 0;
    for (int64_t c = 0; c < columns; ++c) {
      int64_t index;
      std::memcpy(&index, where.data.data() + (i * columns + c) * 8, 8);
      if (index < 0 || index >= shape[c])
        return fail() << "index " << index << " of entry " << i
                      << " is out of range";
      position = position * shape[c] + index;
    }
    if (position <= before)
      return fail() << "the indices are not in ascending order";
    before = position;
    std::memcpy(to + position * width, data.data.data() + i * width, width);
  }
  auto type = RankedTensorType::get(
      SmallVector<int64_t>(sparse.dims().begin(), sparse.dims().end()),
      element);
  return makeAttr(type, std::move(dense), values.name(), loc);
}
