//===- OrtKernels.cpp - onnxruntime's functions for kernels ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrtTable.h"

#include <algorithm>
#include <cstdlib>

using namespace loopc;
using namespace loopc::ort;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

using Attribute = OrtKernelInfo::Attribute;

/// The attribute of this kind; null, and `status` is an error.
static const Attribute *findAttribute(const OrtKernelInfo *info,
                                      const char *name, loopc_custom_kind kind,
                                      OrtStatus *&status) {
  for (const Attribute &attribute : info->attributes)
    if (attribute.name == name) {
      if (attribute.kind == kind)
        return &attribute;
      status =
          fail(kFail, "attribute '" + attribute.name + "' is of another kind");
      return nullptr;
    }
  status = fail(kFail, "the node has no attribute '" + std::string(name) + "'");
  return nullptr;
}

/// Copies `count` elements to `room`, which has `*size`. Without room it is
/// told how many there are.
template <typename T>
static OrtStatus *copyOut(const T *values, size_t count, T *room,
                          size_t *size) {
  size_t given = *size;
  *size = count;
  if (!room)
    return nullptr;
  if (given < count)
    return fail(kInvalidArgument, "there is no room for the result");
  std::copy_n(values, count, room);
  return nullptr;
}
static OrtStatus *copyText(const std::string &text, char *room, size_t *size) {
  return copyOut(text.c_str(), text.size() + 1, room, size);
}

static OrtStatus *getFloat(const OrtKernelInfo *info, const char *name,
                           float *result) {
  OrtStatus *status = nullptr;
  if (auto *found = findAttribute(info, name, LOOPC_CUSTOM_FLOAT, status))
    *result = found->floats[0];
  return status;
}
static OrtStatus *getInt(const OrtKernelInfo *info, const char *name,
                         int64_t *result) {
  OrtStatus *status = nullptr;
  if (auto *found = findAttribute(info, name, LOOPC_CUSTOM_INT, status))
    *result = found->integers[0];
  return status;
}
static OrtStatus *getString(const OrtKernelInfo *info, const char *name,
                            char *room, size_t *size) {
  OrtStatus *status = nullptr;
  if (auto *found = findAttribute(info, name, LOOPC_CUSTOM_STRING, status))
    return copyText(found->texts[0], room, size);
  return status;
}
static OrtStatus *getFloats(const OrtKernelInfo *info, const char *name,
                            float *room, size_t *size) {
  OrtStatus *status = nullptr;
  if (auto *found = findAttribute(info, name, LOOPC_CUSTOM_FLOATS, status))
    return copyOut(found->floats.data(), found->floats.size(), room, size);
  return status;
}
static OrtStatus *getInts(const OrtKernelInfo *info, const char *name,
                          int64_t *room, size_t *size) {
  OrtStatus *status = nullptr;
  if (auto *found = findAttribute(info, name, LOOPC_CUSTOM_INTS, status))
    return copyOut(found->integers.data(), found->integers.size(), room, size);
  return status;
}
static OrtStatus *getStrings(const OrtKernelInfo *info, const char *name,
                             OrtAllocator *allocator, char ***result,
                             size_t *size) {
  OrtStatus *status = nullptr;
  auto *found = findAttribute(info, name, LOOPC_CUSTOM_STRINGS, status);
  if (!found)
    return status;
  *size = found->texts.size();
  *result =
      static_cast<char **>(allocator->Alloc(allocator, *size * sizeof(char *)));
  for (size_t k = 0; k < *size; ++k) {
    const std::string &text = found->texts[k];
    (*result)[k] =
        static_cast<char *>(allocator->Alloc(allocator, text.size() + 1));
    std::copy_n(text.c_str(), text.size() + 1, (*result)[k]);
  }
  return nullptr;
}

template <std::vector<OrtKernelInfo::Port> OrtKernelInfo::*ports>
static OrtStatus *countPorts(const OrtKernelInfo *info, size_t *result) {
  *result = (info->*ports).size();
  return nullptr;
}
template <std::vector<OrtKernelInfo::Port> OrtKernelInfo::*ports>
static OrtStatus *getPortName(const OrtKernelInfo *info, size_t index,
                              char *room, size_t *size) {
  if (index >= (info->*ports).size())
    return fail(kInvalidArgument, "the node has no such input or output");
  return copyText((info->*ports)[index].name, room, size);
}
template <std::vector<OrtKernelInfo::Port> OrtKernelInfo::*ports>
static OrtStatus *getPortType(const OrtKernelInfo *info, size_t index,
                              OrtTypeInfo **result) {
  if (index >= (info->*ports).size())
    return fail(kInvalidArgument, "the node has no such input or output");
  *result = new OrtTypeInfo((info->*ports)[index].type);
  return nullptr;
}
template <std::string OrtKernelInfo::*text>
static OrtStatus *getInfoText(const OrtKernelInfo *info, char *room,
                              size_t *size) {
  return copyText(info->*text, room, size);
}
static OrtStatus *getSinceVersion(const OrtKernelInfo *info, int *result) {
  *result = info->sinceVersion;
  return nullptr;
}
/// A kernel is made once for all runs: no input is known to be constant.
static OrtStatus *getConstantInput(const OrtKernelInfo *, size_t,
                                   int *isConstant, const OrtValue **result) {
  *isConstant = 0;
  *result = nullptr;
  return nullptr;
}
static OrtStatus *copyInfo(const OrtKernelInfo *info, OrtKernelInfo **result) {
  *result = new OrtKernelInfo(*info);
  return nullptr;
}
static OrtStatus *getInfoLogger(const OrtKernelInfo *,
                                const OrtLogger **result) {
  *result = getLogger();
  return nullptr;
}
static OrtStatus *getInfoAllocator(const OrtKernelInfo *, int32_t,
                                   OrtAllocator **result) {
  *result = getAllocator();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static OrtStatus *countInputs(const OrtKernelContext *context, size_t *result) {
  *result = context->inputs.size();
  return nullptr;
}
static OrtStatus *countOutputs(const OrtKernelContext *context,
                               size_t *result) {
  *result = context->outputs.size();
  return nullptr;
}
static OrtStatus *getInput(const OrtKernelContext *context, size_t index,
                           const OrtValue **result) {
  bool isGiven = index < context->inputs.size() &&
                 context->call->inputs[index].is_given != 0;
  *result = isGiven ? &context->inputs[index] : nullptr;
  return nullptr;
}

static OrtStatus *getOutput(OrtKernelContext *context, size_t index,
                            const int64_t *shape, size_t rank,
                            OrtValue **result) {
  *result = nullptr;
  if (index >= context->outputs.size())
    return fail(kInvalidArgument,
                "the node has no output #" + std::to_string(index));
  loopc_custom_tensor &tensor = context->call->outputs[index];
  if (!tensor.is_given)
    return nullptr;
  OrtValue &value = context->outputs[index];
  if (tensor.data) {
    if (!std::equal(shape, shape + rank, tensor.shape,
                    tensor.shape + tensor.rank))
      return fail(kInvalidArgument, "output #" + std::to_string(index) +
                                        " was made with another shape");
    *result = &value;
    return nullptr;
  }
  void *data = loopc_custom_allocate(context->call, static_cast<int64_t>(index),
                                     shape, static_cast<int64_t>(rank));
  if (!data)
    return fail(kFail, "output #" + std::to_string(index) + " cannot be made");
  value.elementType = getElementType(tensor.dtype);
  value.shape = tensor.shape;
  value.rank = rank;
  value.count = static_cast<size_t>(tensor.count);
  value.data = data;
  value.call = context->call;
  if (value.elementType == kString)
    std::fill_n(textsOf(&value), value.count, loopc_string{"", 0});
  *result = &value;
  return nullptr;
}

static OrtStatus *getContextLogger(const OrtKernelContext *,
                                   const OrtLogger **result) {
  *result = getLogger();
  return nullptr;
}
static OrtStatus *getContextAllocator(const OrtKernelContext *,
                                      const OrtMemoryInfo *,
                                      OrtAllocator **result) {
  *result = getAllocator();
  return nullptr;
}
/// There is no stream on the CPU.
static OrtStatus *getStream(const OrtKernelContext *, void **result) {
  *result = nullptr;
  return nullptr;
}
static OrtStatus *runAll(const OrtKernelContext *, void (*work)(void *, size_t),
                         size_t count, size_t, void *data) {
  for (size_t k = 0; k < count; ++k)
    work(data, k);
  return nullptr;
}
static OrtStatus *getScratch(const OrtKernelContext *context,
                             const OrtMemoryInfo *, size_t bytes,
                             void **result) {
  std::shared_ptr<void> room(std::malloc(std::max<size_t>(bytes, 1)),
                             std::free);
  *result = room.get();
  const_cast<OrtKernelContext *>(context)->scratch.push_back(std::move(room));
  return *result ? nullptr : fail(kFail, "out of memory");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void ort::setKernels(Table &table) {
  constexpr auto inputs = &OrtKernelInfo::inputs;
  constexpr auto outputs = &OrtKernelInfo::outputs;
  set(table, 85, getFloat);
  set(table, 86, getInt);
  set(table, 87, getString);
  set(table, 162, getFloats);
  set(table, 163, getInts);
  set(table, 417, getStrings);
  set(table, 217, copyInfo);
  set(table, 218, release<OrtKernelInfo>);
  set(table, 230, countPorts<inputs>);
  set(table, 231, countPorts<outputs>);
  set(table, 232, getPortName<inputs>);
  set(table, 233, getPortName<outputs>);
  set(table, 234, getPortType<inputs>);
  set(table, 235, getPortType<outputs>);
  set(table, 244, getInfoText<&OrtKernelInfo::nodeName>);
  set(table, 245, getInfoLogger);
  set(table, 249, getConstantInput);
  set(table, 278, getInfoAllocator);
  set(table, 392, getInfoText<&OrtKernelInfo::domain>);
  set(table, 393, getInfoText<&OrtKernelInfo::operatorName>);
  set(table, 394, getSinceVersion);
  set(table, 88, countInputs);
  set(table, 89, countOutputs);
  set(table, 90, getInput);
  set(table, 91, getOutput);
  set(table, 193, getStream);
  set(table, 246, getContextLogger);
  set(table, 253, getContextAllocator);
  set(table, 274, runAll);
  set(table, 277, getScratch);
}
