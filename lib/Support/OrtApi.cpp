//===- OrtApi.cpp - onnxruntime's functions for custom operators ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrtTable.h"
#include "loopc/Support/CustomLibrary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace loopc;
using namespace loopc::ort;

/// ONNXType and OrtLoggingLevel.
enum : int32_t { kTensorKind = 1 };
enum : int32_t { kWarningLevel = 2 };

OrtStatus *ort::fail(int32_t code, std::string message) {
  return new OrtStatus{code, std::move(message)};
}

std::string ort::takeMessage(OrtStatus *status) {
  std::unique_ptr<OrtStatus> owner(status);
  return std::move(status->message);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

int32_t ort::getElementType(DLDataType type) {
  if (type.code == LOOPC_CUSTOM_TEXT_CODE &&
      type.bits == LOOPC_CUSTOM_TEXT_BITS)
    return kString;
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  if (type.code == CODE && type.bits == BITS)                                  \
    return NUMBER;
#include "loopc-rt/ElementTypes.def"
  return 0;
}

const char *ort::getTypeName(int32_t elementType) {
  if (elementType == kString)
    return "string";
  // Those behind bfloat16 are no elements of custom operators.
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  if (elementType == NUMBER && NUMBER <= 16)                                   \
    return NAME;
#include "loopc-rt/ElementTypes.def"
  return nullptr;
}

/// 0 for a type that this interface does not hand out.
static size_t getElementBytes(int32_t elementType) {
  if (elementType == kString)
    return sizeof(loopc_string);
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  if (elementType == NUMBER)                                                   \
    return BITS / 8;
#include "loopc-rt/ElementTypes.def"
  return 0;
}

//===----------------------------------------------------------------------===//
// Statuses, memory and logs
//===----------------------------------------------------------------------===//

struct OrtMemoryInfo {
  std::string name;
  int32_t allocatorType, id, memoryType;
};
struct OrtLogger {};

/// The version that the tables are of.
static constexpr uint32_t kVersion = 29;

static OrtStatus *createStatus(int32_t code, const char *message) {
  return fail(code, message);
}
static int32_t getErrorCode(const OrtStatus *status) { return status->code; }
static const char *getErrorMessage(const OrtStatus *status) {
  return status->message.c_str();
}

static const OrtMemoryInfo *getCpuMemory() {
  static const OrtMemoryInfo memory = {"Cpu", 0, 0, 0};
  return &memory;
}
static void *allocateBytes(OrtAllocator *, size_t bytes) {
  return bytes == 0 ? nullptr : std::malloc(bytes);
}
static void freeBytes(OrtAllocator *, void *data) { std::free(data); }
static const OrtMemoryInfo *getAllocatorMemory(const OrtAllocator *) {
  return getCpuMemory();
}
OrtAllocator *ort::getAllocator() {
  static OrtAllocator allocator = {
      kVersion,      allocateBytes, freeBytes, getAllocatorMemory,
      allocateBytes, nullptr,       nullptr};
  return &allocator;
}
static OrtStatus *getDefaultAllocator(OrtAllocator **result) {
  *result = getAllocator();
  return nullptr;
}
static OrtStatus *allocate(OrtAllocator *allocator, size_t bytes,
                           void **result) {
  *result = allocator->Alloc(allocator, bytes);
  return nullptr;
}
static OrtStatus *freeAllocated(OrtAllocator *allocator, void *data) {
  allocator->Free(allocator, data);
  return nullptr;
}
static OrtStatus *getInfoOfAllocator(const OrtAllocator *allocator,
                                     const OrtMemoryInfo **result) {
  *result = allocator->Info(allocator);
  return nullptr;
}
/// The allocator is nobody's to release.
static void releaseAllocator(OrtAllocator *) {}

static OrtStatus *createMemoryInfo(const char *name, int32_t allocatorType,
                                   int id, int32_t memoryType,
                                   OrtMemoryInfo **result) {
  *result = new OrtMemoryInfo{name, allocatorType, id, memoryType};
  return nullptr;
}
static OrtStatus *createCpuMemoryInfo(int32_t allocatorType, int32_t memoryType,
                                      OrtMemoryInfo **result) {
  return createMemoryInfo("Cpu", allocatorType, 0, memoryType, result);
}
static OrtStatus *getMemoryName(const OrtMemoryInfo *memory,
                                const char **result) {
  *result = memory->name.c_str();
  return nullptr;
}
static OrtStatus *getMemoryId(const OrtMemoryInfo *memory, int *result) {
  *result = memory->id;
  return nullptr;
}
static OrtStatus *getMemoryType(const OrtMemoryInfo *memory, int32_t *result) {
  *result = memory->memoryType;
  return nullptr;
}

static OrtStatus *getLogSeverity(const OrtLogger *, int32_t *result) {
  *result = kWarningLevel;
  return nullptr;
}
static OrtStatus *logMessage(const OrtLogger *, int32_t severity,
                             const char *message, const char *, int,
                             const char *) {
  if (severity >= kWarningLevel)
    std::fprintf(stderr, "%s\n", message);
  return nullptr;
}
const OrtLogger *ort::getLogger() {
  static const OrtLogger logger;
  return &logger;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static OrtStatus *createDomain(const char *name, OrtCustomOpDomain **result) {
  *result = new OrtCustomOpDomain{name, {}};
  return nullptr;
}
static OrtStatus *addOperator(OrtCustomOpDomain *domain,
                              const OrtCustomOp *op) {
  domain->operators.push_back(op);
  return nullptr;
}
static OrtStatus *addDomain(OrtSessionOptions *options,
                            const OrtCustomOpDomain *domain) {
  options->domains.push_back(domain);
  return nullptr;
}
/// Options of the session that a library asks for have not been set.
static OrtStatus *hasConfigEntry(const OrtSessionOptions *, const char *,
                                 int *result) {
  *result = 0;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

static OrtStatus *createTensorInfo(OrtTensorTypeAndShapeInfo **result) {
  *result = new OrtTensorTypeAndShapeInfo;
  return nullptr;
}
static OrtStatus *setElementType(OrtTensorTypeAndShapeInfo *info,
                                 int32_t elementType) {
  info->elementType = elementType;
  return nullptr;
}
static OrtStatus *setDimensions(OrtTensorTypeAndShapeInfo *info,
                                const int64_t *shape, size_t rank) {
  info->shape.assign(shape, shape + rank);
  info->hasShape = true;
  return nullptr;
}
static OrtStatus *getInfoElementType(const OrtTensorTypeAndShapeInfo *info,
                                     int32_t *result) {
  *result = info->elementType;
  return nullptr;
}
static OrtStatus *getDimensionsCount(const OrtTensorTypeAndShapeInfo *info,
                                     size_t *result) {
  *result = info->shape.size();
  return nullptr;
}
static OrtStatus *getDimensions(const OrtTensorTypeAndShapeInfo *info,
                                int64_t *extents, size_t count) {
  std::copy_n(info->shape.begin(), std::min(count, info->shape.size()),
              extents);
  return nullptr;
}
static OrtStatus *getSymbolicDimensions(const OrtTensorTypeAndShapeInfo *,
                                        const char **names, size_t count) {
  std::fill_n(names, count, "");
  return nullptr;
}
static size_t countElements(const int64_t *shape, size_t rank) {
  size_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis)
    count *= static_cast<size_t>(shape[axis]);
  return count;
}
static OrtStatus *getElementCount(const OrtTensorTypeAndShapeInfo *info,
                                  size_t *result) {
  if (std::any_of(info->shape.begin(), info->shape.end(),
                  [](int64_t extent) { return extent < 0; }))
    return fail(kFail, "the number of elements is not known");
  *result = countElements(info->shape.data(), info->shape.size());
  return nullptr;
}
static bool hasShape(const OrtTensorTypeAndShapeInfo *info) {
  return info->hasShape;
}
static OrtStatus *castToTensorInfo(const OrtTypeInfo *type,
                                   const OrtTensorTypeAndShapeInfo **result) {
  *result = &type->tensor;
  return nullptr;
}
static OrtStatus *getTypeKind(const OrtTypeInfo *, int32_t *result) {
  *result = kTensorKind;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static OrtTensorTypeAndShapeInfo infoOf(const OrtValue &value) {
  return {value.elementType,
          std::vector<int64_t>(value.shape, value.shape + value.rank),
          /*hasShape=*/true};
}
static OrtStatus *getTypeAndShape(const OrtValue *value,
                                  OrtTensorTypeAndShapeInfo **result) {
  *result = new OrtTensorTypeAndShapeInfo(infoOf(*value));
  return nullptr;
}
static OrtStatus *getTypeInfo(const OrtValue *value, OrtTypeInfo **result) {
  *result = new OrtTypeInfo{infoOf(*value)};
  return nullptr;
}
static OrtStatus *getTypeAndShapeData(const OrtValue *value,
                                      int32_t *elementType,
                                      const int64_t **shape, size_t *rank) {
  *elementType = value->elementType;
  *shape = value->shape;
  *rank = value->rank;
  return nullptr;
}
/// Values are tensors, and those that are missing are null.
static OrtStatus *answerYes(const OrtValue *, int *result) {
  *result = 1;
  return nullptr;
}
static OrtStatus *getValueKind(const OrtValue *, int32_t *result) {
  *result = kTensorKind;
  return nullptr;
}
static OrtStatus *getMutableData(OrtValue *value, void **result) {
  if (value->elementType == kString)
    return fail(kNotImplemented,
                "loopc keeps texts otherwise than onnxruntime: the elements of "
                "a tensor of texts have no address");
  *result = value->data;
  return nullptr;
}
static OrtStatus *getData(const OrtValue *value, const void **result) {
  void *data = nullptr;
  OrtStatus *status = getMutableData(const_cast<OrtValue *>(value), &data);
  *result = data;
  return status;
}
static OrtStatus *getSizeInBytes(const OrtValue *value, size_t *result) {
  *result = value->count * getElementBytes(value->elementType);
  return nullptr;
}
static OrtStatus *getValueMemory(const OrtValue *,
                                 const OrtMemoryInfo **result) {
  *result = getCpuMemory();
  return nullptr;
}

static OrtStatus *createTensorOn(void *data, const int64_t *shape, size_t rank,
                                 int32_t elementType, OrtValue **result) {
  if (elementType == kString || getElementBytes(elementType) == 0)
    return fail(kNotImplemented, "loopc makes no tensors of this type for an "
                                 "operator: " +
                                     std::to_string(elementType));
  auto value = std::make_unique<OrtValue>();
  value->elementType = elementType;
  value->ownShape.assign(shape, shape + rank);
  value->shape = value->ownShape.data();
  value->rank = rank;
  value->count = countElements(shape, rank);
  value->data = data;
  if (!data) {
    size_t bytes = value->count * getElementBytes(elementType);
    value->ownData = {std::malloc(std::max<size_t>(bytes, 1)), std::free};
    value->data = value->ownData.get();
    if (!value->data)
      return fail(kFail, "out of memory");
  }
  *result = value.release();
  return nullptr;
}
static OrtStatus *createTensor(OrtAllocator *, const int64_t *shape,
                               size_t rank, int32_t elementType,
                               OrtValue **result) {
  return createTensorOn(nullptr, shape, rank, elementType, result);
}
static OrtStatus *createTensorWithData(const OrtMemoryInfo *, void *data,
                                       size_t bytes, const int64_t *shape,
                                       size_t rank, int32_t elementType,
                                       OrtValue **result) {
  if (countElements(shape, rank) * getElementBytes(elementType) > bytes)
    return fail(kInvalidArgument, "the data has fewer bytes than the shape");
  return createTensorOn(data, shape, rank, elementType, result);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// An error unless `value` has a text at `index`.
static OrtStatus *checkText(const OrtValue *value, size_t index) {
  if (value->elementType != kString)
    return fail(kFail, "the tensor has no texts");
  if (index >= value->count)
    return fail(kInvalidArgument, "there is no text " + std::to_string(index) +
                                      " of " + std::to_string(value->count));
  return nullptr;
}
static OrtStatus *getTextBytes(const OrtValue *value, size_t *result) {
  *result = 0;
  if (value->elementType != kString)
    return fail(kFail, "the tensor has no texts");
  for (size_t k = 0; k < value->count; ++k)
    *result += textsOf(value)[k].size;
  return nullptr;
}
static OrtStatus *getTextContent(const OrtValue *value, void *room,
                                 size_t bytes, size_t *offsets, size_t count) {
  size_t needed = 0;
  if (OrtStatus *status = getTextBytes(value, &needed))
    return status;
  if (bytes < needed || count < value->count)
    return fail(kInvalidArgument, "there is no room for the texts");
  size_t offset = 0;
  for (size_t k = 0; k < value->count; ++k) {
    const loopc_string &text = textsOf(value)[k];
    std::copy_n(text.data, text.size, static_cast<char *>(room) + offset);
    offsets[k] = offset;
    offset += text.size;
  }
  return nullptr;
}
static OrtStatus *getTextLength(const OrtValue *value, size_t index,
                                size_t *result) {
  if (OrtStatus *status = checkText(value, index))
    return status;
  *result = textsOf(value)[index].size;
  return nullptr;
}
static OrtStatus *getText(const OrtValue *value, size_t bytes, size_t index,
                          void *room) {
  if (OrtStatus *status = checkText(value, index))
    return status;
  const loopc_string &text = textsOf(value)[index];
  if (bytes < text.size)
    return fail(kInvalidArgument, "there is no room for the text");
  std::copy_n(text.data, text.size, static_cast<char *>(room));
  return nullptr;
}
static OrtStatus *resizeText(OrtValue *value, size_t index, size_t bytes,
                             char **room) {
  if (OrtStatus *status = checkText(value, index))
    return status;
  *room = value->call
              ? loopc_custom_text(value->call, static_cast<int64_t>(bytes))
              : nullptr;
  if (!*room)
    return fail(kFail, "there is no memory for the text");
  textsOf(value)[index] = {*room, bytes};
  return nullptr;
}
static OrtStatus *fillText(OrtValue *value, const char *text, size_t index) {
  char *room = nullptr;
  if (OrtStatus *status = resizeText(value, index, strlen(text), &room))
    return status;
  std::copy_n(text, strlen(text), room);
  return nullptr;
}
static OrtStatus *fillTexts(OrtValue *value, const char *const *texts,
                            size_t count) {
  if (count != value->count)
    return fail(kInvalidArgument, std::to_string(count) + " texts for " +
                                      std::to_string(value->count) +
                                      " elements");
  for (size_t k = 0; k < count; ++k)
    if (OrtStatus *status = fillText(value, texts[k], k))
      return status;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::string getFunctionName(size_t place) {
  static const std::vector<std::string_view> names = splitWords(
#include "OrtFunctions.def"
  );
  return place < names.size() ? std::string(names[place])
                              : "number " + std::to_string(place);
}

/// Stands where loopc has no function. The arguments are left alone: whoever
/// calls passes them in registers or takes them from the stack again.
template <size_t place> static OrtStatus *refuseCall() {
  return fail(kNotImplemented, "loopc does not have the function " +
                                   getFunctionName(place) +
                                   " of onnxruntime's C API");
}

template <size_t... places>
static Table makeRefusals(std::index_sequence<places...>) {
  return {reinterpret_cast<Place>(&refuseCall<places>)...};
}

/// Statuses, registration, memory and logs.
static void setGeneral(Table &table) {
  set(table, 0, createStatus);
  set(table, 1, getErrorCode);
  set(table, 2, getErrorMessage);
  set(table, 93, release<OrtStatus>);
  set(table, 26, createDomain);
  set(table, 27, addOperator);
  set(table, 28, addDomain);
  set(table, 101, release<OrtCustomOpDomain>);
  set(table, 237, hasConfigEntry);
  set(table, 68, createMemoryInfo);
  set(table, 69, createCpuMemoryInfo);
  set(table, 71, getMemoryName);
  set(table, 72, getMemoryId);
  set(table, 73, getMemoryType);
  set(table, 94, release<OrtMemoryInfo>);
  set(table, 75, allocate);
  set(table, 76, freeAllocated);
  set(table, 77, getInfoOfAllocator);
  set(table, 78, getDefaultAllocator);
  set(table, 132, releaseAllocator);
  set(table, 247, logMessage);
  set(table, 248, getLogSeverity);
}

static void setValues(Table &table) {
  set(table, 48, createTensor);
  set(table, 49, createTensorWithData);
  set(table, 50, answerYes); // IsTensor
  set(table, 51, getMutableData);
  set(table, 52, fillTexts);
  set(table, 53, getTextBytes);
  set(table, 54, getTextContent);
  set(table, 55, castToTensorInfo);
  set(table, 56, getTypeKind);
  set(table, 57, createTensorInfo);
  set(table, 58, setElementType);
  set(table, 59, setDimensions);
  set(table, 60, getInfoElementType);
  set(table, 61, getDimensionsCount);
  set(table, 62, getDimensions);
  set(table, 63, getSymbolicDimensions);
  set(table, 64, getElementCount);
  set(table, 65, getTypeAndShape);
  set(table, 66, getTypeInfo);
  set(table, 67, getValueKind);
  set(table, 96, release<OrtValue>);
  set(table, 98, release<OrtTypeInfo>);
  set(table, 99, release<OrtTensorTypeAndShapeInfo>);
  set(table, 127, getTextLength);
  set(table, 128, getText);
  set(table, 129, fillText);
  set(table, 192, answerYes); // HasValue
  set(table, 194, getValueMemory);
  set(table, 252, resizeText);
  set(table, 318, getSizeInBytes);
  set(table, 378, getData);
  set(table, 390, hasShape);
  set(table, 414, getTypeAndShapeData);
}

static Table makeTable() {
  Table table = makeRefusals(std::make_index_sequence<kPlaces>());
  setGeneral(table);
  setValues(table);
  setKernels(table);
  return table;
}

const OrtApi *ort::getApi() {
  static const Table table = makeTable();
  return reinterpret_cast<const OrtApi *>(table.data());
}

/// The tables of all versions are one: later ones only have more places.
static const OrtApi *getApiOfVersion(uint32_t) { return ort::getApi(); }
static const char *getVersionString() { return "1.29.0"; }

const OrtApiBase *ort::getApiBase() {
  static const OrtApiBase base = {getApiOfVersion, getVersionString};
  return &base;
}
