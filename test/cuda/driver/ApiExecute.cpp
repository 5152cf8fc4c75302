//===- ApiExecute.cpp - Modules, launches, streams and events -------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <chrono>
#include <cstdio>
#include <utility>

using namespace fakecuda;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {

/// Where a caller wants to be told what is wrong with its code.
struct ErrorLog {
  char *buffer = nullptr;
  size_t size = 0;
  void **sizeSlot = nullptr;

  void write(const std::string &text) {
    if (buffer && size) {
      std::snprintf(buffer, size, "%s", text.c_str());
      if (sizeSlot)
        *sizeSlot = reinterpret_cast<void *>(std::min(text.size() + 1, size));
    } else if (sizeSlot) {
      *sizeSlot = nullptr;
    }
  }
};

ErrorLog findErrorLog(unsigned count, const int *options, void **values) {
  ErrorLog log;
  for (unsigned i = 0; i != count; ++i) {
    if (options[i] == 5) // CU_JIT_ERROR_LOG_BUFFER
      log.buffer = static_cast<char *>(values[i]);
    if (options[i] == 6) { // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
      log.size = reinterpret_cast<size_t>(values[i]);
      log.sizeSlot = &values[i];
    }
    if (options[i] == 4) // CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: nothing to tell
      values[i] = nullptr;
  }
  return log;
}

/// Whether the image is machine code: an ELF file or a fat binary.
bool isBinary(const void *image) {
  uint32_t magic;
  std::memcpy(&magic, image, 4);
  return magic == 0x464C457F || magic == 0xBA55ED50;
}

/// The newest PTX that a driver of this version reads, times ten.
unsigned newestPtx(int version) {
  if (version >= 13000)
    return 90 + (version - 13000) / 10;
  if (version >= 12000) { // 12.5 and 12.6 read the same.
    int minor = (version - 12000) / 10;
    return std::min(80 + (minor > 5 ? minor - 1 : minor), 89);
  }
  return std::min(70 + (version - 11000) / 10, 79);
}

CUresult checkTarget(const ptx::Module &module, std::string &message) {
  const Settings &settings = Driver::get().settings;
  if (module.version > newestPtx(settings.version)) {
    message = format("PTX %u.%u is newer than the driver, which reads %u.%u",
                     module.version / 10, module.version % 10,
                     newestPtx(settings.version) / 10,
                     newestPtx(settings.version) % 10);
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  bool isRun = module.targetSuffix ? module.target == settings.capability &&
                                         settings.capabilitySuffix
                                   : module.target <= settings.capability;
  if (isRun)
    return CUDA_SUCCESS;
  message = format(
      "the PTX is for sm_%u%c, the device has sm_%u", module.target,
      module.targetSuffix ? module.targetSuffix : ' ', settings.capability);
  return CUDA_ERROR_INVALID_PTX;
}

CUresult load(CUmodule &result, const void *image, ErrorLog log) {
  Driver &driver = Driver::get();
  if (isBinary(image)) {
    driver.note(" binary");
    return driver.settings.cubinResult;
  }
  std::string message;
  CUresult status = CUDA_ERROR_INVALID_PTX;
  try {
    ptx::Module module = ptx::parse(static_cast<const char *>(image));
    status = checkTarget(module, message);
    if (status == CUDA_SUCCESS) {
      auto loaded = std::make_unique<CUmod_st>();
      loaded->ptxVersion = module.version;
      loaded->program = decode(module, driver.memory);
      for (auto &[name, code] : loaded->program->functions)
        if (code->isEntry) {
          CUfunc_st &function = loaded->functions[name];
          function.module = loaded.get();
          function.code = code.get();
          driver.functions.insert(&function);
        }
      result = loaded.get();
      driver.modules[result] = std::move(loaded);
      return CUDA_SUCCESS;
    }
  } catch (const std::exception &error) {
    message = error.what();
    status = CUDA_ERROR_INVALID_PTX;
  }
  message = "PTX: " + message;
  log.write(message);
  if (!driver.settings.quiet)
    std::fprintf(stderr, "fake CUDA: %s\n", message.c_str());
  return status;
}

bool isModule(CUmodule module) { return Driver::get().modules.count(module); }
bool isFunction(CUfunction function) {
  return Driver::get().functions.count(function);
}

} // namespace

static CUresult loadModule(const char *name, CUmodule *module,
                           const void *image, ErrorLog log) {
  return Driver::get().call(name, "", true, [&]() -> CUresult {
    if (!module || !image)
      return CUDA_ERROR_INVALID_VALUE;
    return load(*module, image, log);
  });
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return loadModule("cuModuleLoadData", module, image, {});
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *options, void **values) {
  if (count && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  return loadModule("cuModuleLoadDataEx", module, image,
                    findErrorLog(count, options, values));
}

CUresult cuModuleUnload(CUmodule module) {
  Driver &driver = Driver::get();
  return driver.call("cuModuleUnload", "", true, [&]() -> CUresult {
    if (!isModule(module))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.runAll();
    for (auto &[name, function] : module->functions)
      driver.functions.erase(&function);
    for (auto &[name, block] : module->program->variables)
      driver.memory.free(block.begin);
    driver.modules.erase(module);
    return driver.status();
  });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  return Driver::get().call("cuModuleGetFunction",
                            std::string(" name=") + (name ? name : ""), true,
                            [&]() -> CUresult {
                              if (!function || !name)
                                return CUDA_ERROR_INVALID_VALUE;
                              if (!isModule(module))
                                return CUDA_ERROR_INVALID_HANDLE;
                              auto found = module->functions.find(name);
                              if (found == module->functions.end())
                                return CUDA_ERROR_NOT_FOUND;
                              *function = &found->second;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes,
                              CUmodule module, const char *name) {
  return Driver::get().call(
      "cuModuleGetGlobal", std::string(" name=") + (name ? name : ""), true,
      [&]() -> CUresult {
        if (!name)
          return CUDA_ERROR_INVALID_VALUE;
        if (!isModule(module))
          return CUDA_ERROR_INVALID_HANDLE;
        auto found = module->program->variables.find(name);
        if (found == module->program->variables.end())
          return CUDA_ERROR_NOT_FOUND;
        if (address)
          *address = found->second.begin;
        if (bytes)
          *bytes = found->second.end - found->second.begin;
        return CUDA_SUCCESS;
      });
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  Driver &driver = Driver::get();
  return driver.call("cuFuncGetAttribute", format(" attribute=%d", attribute),
                     true, [&]() -> CUresult {
                       if (!isFunction(function))
                         return CUDA_ERROR_INVALID_HANDLE;
                       if (!value)
                         return CUDA_ERROR_INVALID_VALUE;
                       const Code &code = *function->code;
                       int capability = int(driver.settings.capability);
                       const int values[] = {int(code.maxThreads),
                                             int(code.sharedBytes),
                                             0,
                                             int(code.localBytes),
                                             32,
                                             int(function->module->ptxVersion),
                                             capability,
                                             0,
                                             function->maxDynamicShared,
                                             -1};
                       if (attribute < 0 || attribute >= int(std::size(values)))
                         return CUDA_ERROR_INVALID_VALUE;
                       *value = values[attribute];
                       return CUDA_SUCCESS;
                     });
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  return Driver::get().call(
      "cuFuncSetAttribute", format(" attribute=%d value=%d", attribute, value),
      true, [&]() -> CUresult {
        if (!isFunction(function))
          return CUDA_ERROR_INVALID_HANDLE;
        if (attribute == 9) // PREFERRED_SHARED_MEMORY_CARVEOUT
          return CUDA_SUCCESS;
        if (attribute != 8 || value < 0 ||
            value + int(function->code->sharedBytes) > mostShared())
          return CUDA_ERROR_INVALID_VALUE;
        function->maxDynamicShared = value;
        return CUDA_SUCCESS;
      });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                     CUfunction function,
                                                     int threads,
                                                     size_t sharedBytes) {
  return Driver::get().call(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor",
      format(" threads=%d shared=%zu", threads, sharedBytes), true,
      [&]() -> CUresult {
        if (!isFunction(function))
          return CUDA_ERROR_INVALID_HANDLE;
        if (!blocks || threads <= 0)
          return CUDA_ERROR_INVALID_VALUE;
        *blocks =
            unsigned(threads) > function->code->maxThreads
                ? 0
                : occupancy(threads, function->code->sharedBytes + sharedBytes);
        return CUDA_SUCCESS;
      });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What is wrong with the clusters of a launch.
static CUresult checkClusters(const LaunchPlan &plan) {
  const Settings &settings = Driver::get().settings;
  const Dims &cluster = plan.cluster;
  if (cluster.count() == 1)
    return CUDA_SUCCESS;
  if (settings.capability < 90 || !settings.mostInCluster)
    return CUDA_ERROR_NOT_SUPPORTED;
  // Those that lie in another direction, and cooperative ones, are left out.
  bool isOne = cluster.x && cluster.y == 1 && cluster.z == 1 &&
               plan.grid.x % cluster.x == 0 && !plan.isCooperative;
  return isOne && cluster.x <= settings.mostInCluster
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/// What is wrong with the shape of a launch.
static CUresult checkShape(const LaunchPlan &plan) {
  const Code &code = *plan.function->code;
  const Dims &grid = plan.grid, &block = plan.block;
  const Settings &settings = Driver::get().settings;
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
      grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535 ||
      block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  if (block.count() > code.maxThreads)
    return CUDA_ERROR_INVALID_VALUE;
  if (const unsigned *wanted = code.requiredThreads;
      wanted[0] &&
      (wanted[0] != block.x || wanted[1] != block.y || wanted[2] != block.z))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t sharedBytes = uint64_t(code.sharedBytes) + plan.sharedBytes;
  if (int64_t(plan.sharedBytes) > plan.function->maxDynamicShared ||
      int64_t(sharedBytes) > mostShared())
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = checkClusters(plan))
    return bad;
  if (!plan.isCooperative)
    return CUDA_SUCCESS;
  if (!settings.hasCooperative)
    return CUDA_ERROR_NOT_SUPPORTED;
  uint64_t most = occupancy(block.count(), sharedBytes);
  return grid.count() > most * settings.limits.multiprocessors
             ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
             : CUDA_SUCCESS;
}

/// The bytes of the arguments as the kernel sees them.
static CUresult collectParams(const Code &code, void **params, void **extra,
                              std::vector<uint8_t> &bytes) {
  bytes.assign(code.paramBytes, 0);
  if (extra) { // CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE, until _END
    const void *buffer = nullptr;
    size_t size = 0;
    for (unsigned i = 0; reinterpret_cast<uint64_t>(extra[i]) != 0; i += 2) {
      if (reinterpret_cast<uint64_t>(extra[i]) == 1)
        buffer = extra[i + 1];
      else if (reinterpret_cast<uint64_t>(extra[i]) == 2)
        size = *static_cast<size_t *>(extra[i + 1]);
      else
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (params || size != bytes.size() || (size && !buffer))
      return CUDA_ERROR_INVALID_VALUE;
    if (size)
      std::memcpy(bytes.data(), buffer, size);
    return CUDA_SUCCESS;
  }
  if (!code.params.empty() && !params)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i != code.params.size(); ++i) {
    if (!params[i])
      return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(bytes.data() + code.params[i].offset, params[i],
                code.params[i].bytes);
  }
  return CUDA_SUCCESS;
}

CUresult LaunchPlan::set(void **newParams, void **extra) {
  if (!isFunction(function))
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult bad = checkShape(*this))
    return bad;
  return collectParams(*function->code, newParams, extra, params);
}

std::string LaunchPlan::describe() const {
  if (!isFunction(function))
    return "";
  std::string text = format(" kernel=%s grid=%ux%ux%u block=%ux%ux%u shared=%u",
                            function->code->name.c_str(), grid.x, grid.y,
                            grid.z, block.x, block.y, block.z, sharedBytes);
  if (cluster.count() != 1)
    text += format(" cluster=%ux%ux%u", cluster.x, cluster.y, cluster.z);
  return text;
}

std::shared_ptr<Launch> LaunchPlan::make() const {
  Driver &driver = Driver::get();
  const Program &program = *function->module->program;
  auto work = std::make_shared<Launch>();
  work->code = function->code;
  work->grid = grid;
  work->block = block;
  work->cluster = cluster;
  work->sharedBytes = function->code->sharedBytes + sharedBytes;
  work->isCooperative = isCooperative;
  work->params = params;
  work->functions = &program.byNumber;
  work->memory = &driver.memory;
  work->limits = driver.settings.limits;
  work->ranges.resize(program.memoryInsts);
  return work;
}

static CUresult launch(const char *name, LaunchPlan plan, CUstream handle,
                       void **params, void **extra) {
  Driver &driver = Driver::get();
  return driver.call(name, "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    CUresult bad = plan.set(params, extra);
    driver.note(plan.describe() + format(" stream=%u", stream->number));
    if (bad)
      return bad;
    ++driver.statistics.launches;
    driver.statistics.cooperative_launches += plan.isCooperative;
    driver.statistics.cluster_launches += plan.cluster.count() != 1;
    driver.submitLong(
        stream,
        [&driver, work = plan.make(), program = plan.function->module->program](
            uint64_t &budget) { return driver.execute(*work, budget); });
    driver.guard();
    return driver.status();
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **params, void **extra) {
  LaunchPlan plan;
  plan.function = function;
  plan.grid = {gridX, gridY, gridZ};
  plan.block = {blockX, blockY, blockZ};
  plan.sharedBytes = sharedBytes;
  return launch("cuLaunchKernel", plan, stream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX,
                                   unsigned gridY, unsigned gridZ,
                                   unsigned blockX, unsigned blockY,
                                   unsigned blockZ, unsigned sharedBytes,
                                   CUstream stream, void **params) {
  LaunchPlan plan;
  plan.function = function;
  plan.grid = {gridX, gridY, gridZ};
  plan.block = {blockX, blockY, blockZ};
  plan.sharedBytes = sharedBytes;
  plan.isCooperative = true;
  return launch("cuLaunchCooperativeKernel", plan, stream, params, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **params, void **extra) {
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  LaunchPlan plan;
  plan.function = function;
  plan.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  plan.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  plan.sharedBytes = config->sharedMemBytes;
  for (unsigned i = 0; i != config->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      plan.isCooperative = attribute.value.cooperative;
    else if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      plan.cluster = {attribute.value.clusterDim.x,
                      attribute.value.clusterDim.y,
                      attribute.value.clusterDim.z};
    else
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return launch("cuLaunchKernelEx", plan, config->hStream, params, extra);
}

CUresult cuLaunchHostFunc(CUstream handle, void (*function)(void *),
                          void *data) {
  Driver &driver = Driver::get();
  return driver.call("cuLaunchHostFunc", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!function)
      return CUDA_ERROR_INVALID_VALUE;
    driver.submit(stream, [=] { function(data); });
    return driver.status();
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static CUresult createStream(const char *name, CUstream *stream,
                             unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call(name, format(" flags=%u", flags), true, [&]() -> CUresult {
    if (!stream || flags > 1)
      return CUDA_ERROR_INVALID_VALUE;
    *stream = driver.createStream(flags == 0).get();
    (*stream)->context = currentContext();
    driver.note(format(" stream=%u", (*stream)->number));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return createStream("cuStreamCreate", stream, flags);
}
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  return createStream("cuStreamCreateWithPriority", stream, flags);
}

/// What is left to do is done later, without anybody who waits for it.
CUresult cuStreamDestroy_v2(CUstream handle) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamDestroy", "", true, [&]() -> CUresult {
    auto found = driver.streams.find(handle);
    if (found == driver.streams.end())
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" stream=%u", handle->number));
    if (!found->second->queue.empty())
      driver.orphans.push_back(found->second);
    driver.streams.erase(found);
    return CUDA_SUCCESS;
  });
}

/// What must not be asked of a stream that is captured ends the capture.
static CUresult endCapture(CUstream_st &stream) {
  if (stream.capture == CU_STREAM_CAPTURE_STATUS_NONE)
    return CUDA_SUCCESS;
  stream.capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult cuStreamSynchronize(CUstream handle) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamSynchronize", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" stream=%u", stream->number));
    if (CUresult bad = endCapture(*stream))
      return bad;
    ++driver.statistics.synchronizations;
    driver.runUntil(*stream, stream->submitted);
    return driver.status();
  });
}

/// Executes some of the work and then tells that there was some, so that who
/// asks until all is done comes to an end.
CUresult cuStreamQuery(CUstream handle) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamQuery", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" stream=%u", stream->number));
    if (CUresult bad = endCapture(*stream))
      return bad;
    bool isDone = driver.runSome(*stream, stream->submitted);
    driver.statistics.completed_queries += isDone;
    CUresult status = driver.status();
    return status || isDone ? status : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamGetCtx", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = stream->context ? stream->context : currentContext();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture_v2(CUstream handle, int) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamBeginCapture", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream == driver.defaultStream)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    stream->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
  });
}

/// What was captured is not kept: there is no graph.
CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamEndCapture", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream || !graph)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    int status = std::exchange(stream->capture, CU_STREAM_CAPTURE_STATUS_NONE);
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE
               ? CUDA_SUCCESS
               : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamIsCapturing", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!status)
      return CUDA_ERROR_INVALID_VALUE;
    *status = stream->capture;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call("cuStreamWaitEvent", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream || !driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    driver.note(format(" stream=%u event=%u", stream->number, event->number));
    if (!event->stream) // Never recorded: nothing to wait for.
      return CUDA_SUCCESS;
    driver.submitLong(stream, [&driver, other = event->stream,
                               position = event->position](uint64_t &budget) {
      return driver.runFor(*other, position, budget);
    });
    return driver.status();
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call("cuEventCreate", format(" flags=%u", flags), true,
                     [&]() -> CUresult {
                       if (!event || flags & ~3u)
                         return CUDA_ERROR_INVALID_VALUE;
                       auto created = std::make_shared<CUevent_st>();
                       created->number = driver.takeNumber();
                       created->hasTiming = !(flags & 2);
                       *event = created.get();
                       driver.note(format(" event=%u", created->number));
                       driver.events[created.get()] = created;
                       return CUDA_SUCCESS;
                     });
}

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  Driver &driver = Driver::get();
  return driver.call("cuEventRecord", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(streamHandle);
    auto found = driver.events.find(handle);
    if (!stream || found == driver.events.end())
      return CUDA_ERROR_INVALID_HANDLE;
    std::shared_ptr<CUevent_st> event = found->second;
    driver.note(format(" event=%u stream=%u", event->number, stream->number));
    event->stream = stream;
    event->position = stream->submitted + 1;
    event->time.reset();
    driver.submit(stream, [event, position = event->position] {
      if (event->position != position) // Recorded again since.
        return;
      using namespace std::chrono;
      event->time =
          duration<double, std::milli>(steady_clock::now().time_since_epoch())
              .count();
    });
    return driver.status();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  Driver &driver = Driver::get();
  return driver.call("cuEventSynchronize", "", true, [&]() -> CUresult {
    if (!driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" event=%u", event->number));
    ++driver.statistics.synchronizations;
    if (event->stream)
      driver.runUntil(*event->stream, event->position);
    return driver.status();
  });
}

CUresult cuEventQuery(CUevent event) {
  Driver &driver = Driver::get();
  return driver.call("cuEventQuery", "", true, [&]() -> CUresult {
    if (!driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" event=%u", event->number));
    bool isDone =
        !event->stream || driver.runSome(*event->stream, event->position);
    driver.statistics.completed_queries += isDone;
    CUresult status = driver.status();
    return status || isDone ? status : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
  Driver &driver = Driver::get();
  return driver.call("cuEventElapsedTime", "", true, [&]() -> CUresult {
    if (!driver.events.count(first) || !driver.events.count(last) ||
        !first->hasTiming || !last->hasTiming || !first->stream ||
        !last->stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds)
      return CUDA_ERROR_INVALID_VALUE;
    if (!first->time || !last->time)
      return CUDA_ERROR_NOT_READY;
    *milliseconds = float(*last->time - *first->time);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent first,
                               CUevent last) {
  return cuEventElapsedTime(milliseconds, first, last);
}

CUresult cuEventDestroy_v2(CUevent event) {
  Driver &driver = Driver::get();
  return driver.call("cuEventDestroy", "", true, [&]() -> CUresult {
    if (!driver.events.count(event))
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(format(" event=%u", event->number));
    driver.events.erase(event);
    return CUDA_SUCCESS;
  });
}
