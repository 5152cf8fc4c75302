//===- Outputs.cpp - Values on their way out of a model -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "DeviceBorder.h"
#include "Strided.h"
#include "Value.h"

#include <string.h>

using namespace loopc::rt;

/// True for an output that the runtime is to allocate.
static bool isToBeAllocated(const loopc_value &value) {
  return value.kind == 0;
}

static bool isAllZero(const loopc_value &value) {
  static const loopc_value zero = {};
  return memcmp(&value, &zero, sizeof(value)) == 0;
}

static int32_t checkOutput(loopc_run &run, const PortName &port,
                           const loopc_type &type, const loopc_value &value) {
  if (isToBeAllocated(value)) {
    if (isAllZero(value))
      return LOOPC_OK;
    return recordPortError(run, LOOPC_ERROR_OUTPUT, port,
                           "an output without a kind must be all zero");
  }
  // Nobody could say how much room a sequence or a text needs.
  if (type.kind != LOOPC_TENSOR)
    return recordPortError(run, LOOPC_ERROR_OUTPUT, port,
                           "an output of kind %s is allocated by the run: it "
                           "must be given all zero",
                           getKindName(type.kind));
  if (int32_t status = checkTensor(run, LOOPC_ERROR_OUTPUT, port, type, value))
    return status;
  const DLTensor &tensor = value.as.tensor;
  if (isContiguous(tensor.ndim, tensor.shape, tensor.strides))
    return LOOPC_OK;
  return recordPortError(run, LOOPC_ERROR_OUTPUT, port,
                         "the buffer is not in C order");
}

int32_t loopc::rt::checkOutputs(loopc_run &run, const loopc_model &model,
                                const loopc_value *outputs) {
  for (size_t k = 0; k < model.num_outputs; ++k) {
    const loopc_type &type = *model.outputs[k].type;
    if (int32_t status =
            checkOutput(run, getOutputName(model, k), type, outputs[k]))
      return status;
  }
  return LOOPC_OK;
}

/// A copy of the shape in the second descriptor of a slot, whose rank is not 0.
/// A copy, since the descriptor may be a view of the shape of an input, and the
/// caller may use one array for the shapes of inputs and outputs.
static const int64_t *readShape(loopc_run &run, const Descriptor &descriptor) {
  int64_t rank = descriptor.sizes()[0];
  int64_t elementBytes = sizeof(int64_t);
  auto *shape =
      static_cast<int64_t *>(allocate(run, rank * elementBytes, false));
  if (!shape)
    return nullptr;
  const char *data = descriptor.aligned() + descriptor.offset() * elementBytes;
  copyStrided(elementBytes, 1, descriptor.sizes(), data, descriptor.strides(1),
              shape, nullptr);
  return shape;
}

/// Reads the descriptors of a slot. What they say is checked where a mistake of
/// the compiler would let the runtime write out of bounds.
static int32_t readResult(loopc_run &run, const PortName &port,
                          const loopc_type &type, int64_t *slot,
                          Result &result) {
  Descriptor elements = {slot};
  if (type.kind == LOOPC_STRINGS)
    result.layout = getStringLayout();
  else
    getElementLayout(type.dtype, result.layout);
  result.rank = type.rank;
  result.shape = elements.sizes();
  if (type.rank < 0) {
    Descriptor shape = {slot + Descriptor::getNumWords(1)};
    int64_t rank = shape.sizes()[0];
    if (rank < 0 || rank > INT32_MAX)
      return recordPortError(run, LOOPC_ERROR_ABI, port,
                             "the model returned rank %lld",
                             static_cast<long long>(rank));
    result.rank = static_cast<int32_t>(rank);
    if (rank != 0 && !(result.shape = readShape(run, shape)))
      return getStatus(run);
  }
  bool isValid = true;
  for (int32_t dim = 0; dim < result.rank; ++dim)
    isValid &= result.shape[dim] >= 0;
  if (!isValid || !getNumElements(result.rank, result.shape,
                                  result.layout.innerBytes, result.count))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned shape %s",
                           ShapeText(result.rank, result.shape).text);
  if (type.rank < 0 && elements.sizes()[0] != result.count)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned %lld elements for shape %s",
                           static_cast<long long>(elements.sizes()[0]),
                           ShapeText(result.rank, result.shape).text);
  result.memoryRank = type.rank < 0 ? 1 : type.rank;
  result.memoryShape = elements.sizes();
  result.memoryStrides = elements.strides(result.memoryRank);
  result.bytes =
      result.layout.getBorderBytes(static_cast<uint64_t>(result.count));
  result.data = elements.aligned();
  if (result.count != 0)
    result.data += elements.offset() * result.layout.innerBytes;
  result.handOver = false;
  result.block = nullptr;
  result.onDevice = isOnDevice(run, result);
  if (!result.onDevice) {
    result.block = findBlock(run, elements.allocated());
    return LOOPC_OK;
  }
  if (!isContiguous(result.memoryRank, result.memoryShape,
                    result.memoryStrides))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned memory of a device that is not "
                           "in C order");
  return result.layout.isPacked ? fetchResult(run, result)
                                : static_cast<int32_t>(LOOPC_OK);
}

/// The result must fit the caller's buffer.
static int32_t checkCapacity(loopc_run &run, const PortName &port,
                             const Result &result, const loopc_value &value) {
  const DLTensor &tensor = value.as.tensor;
  if (result.rank != tensor.ndim)
    return recordPortError(run, LOOPC_ERROR_OUTPUT, port,
                           "the result has shape %s, the buffer has rank %d",
                           ShapeText(result.rank, result.shape).text,
                           tensor.ndim);
  int64_t capacity = 0;
  getNumElements(tensor.ndim, tensor.shape, result.layout.innerBytes, capacity);
  if (result.count > capacity)
    return recordPortError(
        run, LOOPC_ERROR_OUTPUT, port,
        "the result has shape %s, the buffer of shape %s is too small",
        ShapeText(result.rank, result.shape).text,
        ShapeText(tensor.ndim, tensor.shape).text);
  return LOOPC_OK;
}

/// Where an output is to be copied to: memory of the caller; null where it is
/// there, or has none.
static char *getTarget(const Result &result, const loopc_value &output) {
  if (result.isDone)
    return nullptr;
  return result.isNew ? result.place : getBuffer(output);
}

/// The addresses of a result's elements.
static Range getRange(const Result &result) {
  uintptr_t base = reinterpret_cast<uintptr_t>(result.data);
  Range range = {base, base + result.layout.innerBytes};
  if (result.count == 0)
    return {base, base};
  for (int64_t dim = 0; dim < result.memoryRank; ++dim) {
    int64_t reach = (result.memoryShape[dim] - 1) * result.memoryStrides[dim] *
                    result.layout.innerBytes;
    (reach < 0 ? range.begin : range.end) += static_cast<uintptr_t>(reach);
  }
  return range;
}

/// Saves a result that lies in memory to which an output is written: the caller
/// may use one buffer for an input and an output, and the model may return that
/// input.
static int32_t saveFromOverwriting(loopc_run &run, const loopc_model &model,
                                   const Result *results,
                                   const loopc_value *outputs, Result &result) {
  if (result.block || result.onDevice || result.isDone || result.count == 0)
    return LOOPC_OK;
  Range range = getRange(result);
  for (size_t k = 0; k < model.num_outputs; ++k) {
    auto buffer =
        reinterpret_cast<uintptr_t>(getTarget(results[k], outputs[k]));
    if (!buffer || !range.overlaps({buffer, buffer + results[k].bytes}))
      continue;
    void *copy = allocate(run, result.count * result.layout.innerBytes,
                          /*byModel=*/false);
    if (!copy)
      return getStatus(run);
    countCopy(run, copyStrided(result.layout.innerBytes, result.memoryRank,
                               result.memoryShape, result.data,
                               result.memoryStrides, copy, nullptr));
    result.data = static_cast<const char *>(copy);
    result.memoryStrides = nullptr;
    result.block = Block::of(copy);
    return LOOPC_OK;
  }
  return LOOPC_OK;
}

bool loopc::rt::canHandOver(const loopc_run &run, const ElementLayout &layout,
                            const Block *block, uint64_t bytes) {
  constexpr size_t kSmall = 4096;
  return run.defaultAllocator && block && !block->isPromised &&
         !block->destroy && !block->isScratch && !layout.isPacked &&
         (block->capacity <= kSmall || bytes >= block->capacity / 2);
}

static int32_t allocateOutput(loopc_run &run, const PortName &port,
                              const loopc_type &type, Result &result,
                              loopc_value &value) {
  if (type.kind == LOOPC_STRINGS) {
    result.isDone = true;
    return makeStringsOutput(run, port, result.rank, result.shape, result.count,
                             result.data, result.memoryRank, result.memoryShape,
                             result.memoryStrides, value);
  }
  if (run.returnsOnDevice)
    return makeDeviceOutput(run, port, type, result, value);
  void *data = result.place;
  if (!data && canHandOver(run, result.layout, result.block, result.bytes) &&
      isContiguous(result.memoryRank, result.memoryShape,
                   result.memoryStrides)) {
    result.handOver = result.block->isPromised = true;
    data = const_cast<char *>(result.data);
  }
  if (makeTensor(run.allocator, type.dtype, result.rank, result.shape,
                 result.bytes, data, value))
    return LOOPC_OK;
  return recordPortError(
      run, LOOPC_ERROR_MEMORY, port,
      "out of memory: the allocator has no %llu bytes for shape %s",
      static_cast<unsigned long long>(result.bytes),
      ShapeText(result.rank, result.shape).text);
}

/// Packs elements that lie one a byte, the first in the low bits.
static void pack(const Result &result, unsigned char *dst) {
  uint32_t bits = result.layout.bits;
  unsigned mask = (1u << bits) - 1;
  unsigned shift = 0;
  unsigned byte = 0;
  StridedLoop loop(result.memoryRank, result.memoryShape, result.memoryStrides,
                   nullptr, 1);
  forEachRow(loop, [&](int64_t offset, int64_t stride, int64_t count) {
    const char *row = result.data + offset;
    for (int64_t i = 0; i < count; ++i) {
      byte |= (static_cast<unsigned char>(row[i * stride]) & mask) << shift;
      shift += bits;
      if (shift == 8) {
        *dst++ = static_cast<unsigned char>(byte);
        shift = byte = 0;
      }
    }
  });
  if (shift != 0)
    *dst = static_cast<unsigned char>(byte);
}

void loopc::rt::copyResult(loopc_run &run, const Result &result, char *dst) {
  if (result.count == 0)
    return;
  if (result.layout.isPacked) {
    pack(result, reinterpret_cast<unsigned char *>(dst));
    countCopy(run, result.bytes);
    return;
  }
  countCopy(run, copyStrided(result.layout.innerBytes, result.memoryRank,
                             result.memoryShape, result.data,
                             result.memoryStrides, dst, nullptr));
}

/// Writes a result into the memory of its output.
static int32_t writeResult(loopc_run &run, const Result &result,
                           const loopc_value &output) {
  bool toDevice = isOfDevice(output.as.tensor.device);
  if (toDevice || result.onDevice)
    return copyDeviceResult(run, result, getBuffer(output), toDevice);
  copyResult(run, result, getBuffer(output));
  return LOOPC_OK;
}

/// Makes the shape (and strides, where there are any) of a caller's output that
/// of the result.
static void writeShape(const Result &result, DLTensor &tensor) {
  uint64_t stride = 1;
  for (int32_t dim = result.rank - 1; dim >= 0; --dim) {
    int64_t extent = result.shape[dim];
    tensor.shape[dim] = extent;
    if (tensor.strides)
      tensor.strides[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(extent);
  }
}

static bool isList(const loopc_type &type) {
  return type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL;
}

/// True for a result that was computed in the caller's memory for it.
static bool isInPlace(const Result &result) {
  return result.place && result.data == result.place &&
         isContiguous(result.memoryRank, result.memoryShape,
                      result.memoryStrides);
}

/// Everything that can fail before the first output is written.
static int32_t prepareOutputs(loopc_run &run, const loopc_model &model,
                              void **slots, Result *results,
                              loopc_value *outputs, size_t &numAllocated) {
  auto getPort = [&](size_t k) { return getOutputName(model, k); };
  bool hasBuffers = false;
  for (size_t k = 0; k < model.num_outputs; ++k) {
    results[k].isNew = isToBeAllocated(outputs[k]);
    const loopc_type &type = *model.outputs[k].type;
    if (isList(type))
      continue;
    int32_t status = readResult(run, getPort(k), type,
                                static_cast<int64_t *>(slots[k]), results[k]);
    if (!status)
      status = results[k].isNew
                   ? findPlace(run, model, k, results[k])
                   : checkCapacity(run, getPort(k), results[k], outputs[k]);
    if (status)
      return status;
    results[k].isDone = isInPlace(results[k]);
    hasBuffers |= getTarget(results[k], outputs[k]) != nullptr;
  }
  for (size_t k = 0; hasBuffers && k < model.num_outputs; ++k)
    if (int32_t status =
            saveFromOverwriting(run, model, results, outputs, results[k]))
      return status;
  for (; numAllocated < model.num_outputs; ++numAllocated) {
    size_t k = numAllocated;
    if (!results[k].isNew)
      continue;
    const loopc_type &type = *model.outputs[k].type;
    int32_t status;
    if (isList(type)) {
      results[k].isDone = true;
      const void *list = *static_cast<void *const *>(slots[k]);
      status =
          makeListOutput(run, getPort(k), type,
                         static_cast<const loopc_rt_list *>(list), outputs[k]);
    } else {
      status = allocateOutput(run, getPort(k), type, results[k], outputs[k]);
    }
    if (status)
      return status;
  }
  return LOOPC_OK;
}

int32_t loopc::rt::returnOutputs(loopc_run &run, const loopc_model &model,
                                 void **slots, Result *results,
                                 loopc_value *outputs) {
  size_t numAllocated = 0;
  int32_t status =
      prepareOutputs(run, model, slots, results, outputs, numAllocated);
  for (size_t k = 0; k < model.num_outputs && !status; ++k)
    if (!results[k].isDone && !results[k].handOver)
      status = writeResult(run, results[k], outputs[k]);
  if (status) {
    for (size_t k = 0; k < numAllocated; ++k)
      if (results[k].isNew)
        loopc_value_release(&outputs[k]);
    return status;
  }
  for (size_t k = 0; k < model.num_outputs; ++k)
    if (!results[k].isNew)
      writeShape(results[k], outputs[k].as.tensor);
  for (size_t k = 0; k < model.num_outputs; ++k) {
    Result &result = results[k];
    if (!result.handOver)
      continue;
    detachBlock(run, result.block);
    bindBlock(outputs[k], result.block);
  }
  return LOOPC_OK;
}
