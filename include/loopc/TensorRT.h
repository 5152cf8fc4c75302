//===- TensorRT.h - Engines under TensorRT's names --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What programs of TensorRT have around a network: builders, engines, contexts
// and the parser of ONNX. A program changes its headers and adds
//
//   #include "loopc/TensorRT.h"
//   namespace nvinfer1 = loopc::network;
//   namespace nvonnxparser = loopc::onnxparser;
//
// Engines run on the CPU, and addresses are those of the host's memory. Where
// something fails the logger is told, and the call returns null or false.
// docs/Network.md says what there is and what differs. Objects that functions
// return belong to the caller, who deletes them.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TENSORRT_H
#define LOOPC_TENSORRT_H

#include "loopc/Frontend/Network/Network.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What a stream is here: it is not used, a run has ended when its call
/// returns.
using loopc_stream = void *;

namespace loopc::network {

/// Is told what goes wrong. Programs derive from it.
class ILogger {
public:
  enum class Severity : int32_t {
    kINTERNAL_ERROR = 0,
    kERROR = 1,
    kWARNING = 2,
    kINFO = 3,
    kVERBOSE = 4,
  };
  virtual void log(Severity severity, const char *message) noexcept = 0;
  ILogger() = default;
  virtual ~ILogger() = default;
};

/// Both are how every network is here.
enum class NetworkDefinitionCreationFlag : int32_t {
  kEXPLICIT_BATCH = 0,
  kSTRONGLY_TYPED = 1,
};

/// Which of a profile's shapes.
enum class OptProfileSelector : int32_t { kMIN = 0, kOPT = 1, kMAX = 2 };

enum class TensorIOMode : int32_t { kNONE = 0, kINPUT = 1, kOUTPUT = 2 };

/// Memory of an engine. Limits are kept, and have no effect on a run.
enum class MemoryPoolType : int32_t {
  kWORKSPACE = 0,
  kDLA_MANAGED_SRAM = 1,
  kDLA_LOCAL_DRAM = 2,
  kDLA_GLOBAL_DRAM = 3,
  kTACTIC_DRAM = 4,
  kTACTIC_SHARED_MEMORY = 5,
};

/// What a builder may do: permissions, which it need not use. Those of
/// refitting are refused, since weights are a part of an engine.
enum class BuilderFlag : int32_t {
  kFP16 = 0,
  kINT8 = 1,
  kDEBUG = 2,
  kGPU_FALLBACK = 3,
  kREFIT = 4,
  kDISABLE_TIMING_CACHE = 5,
  kTF32 = 6,
  kSPARSE_WEIGHTS = 7,
  kSAFETY_SCOPE = 8,
  kOBEY_PRECISION_CONSTRAINTS = 9,
  kPREFER_PRECISION_CONSTRAINTS = 10,
  kDIRECT_IO = 11,
  kREJECT_EMPTY_ALGORITHMS = 12,
  kVERSION_COMPATIBLE = 13,
  kEXCLUDE_LEAN_RUNTIME = 14,
  kFP8 = 15,
  kERROR_ON_TIMING_CACHE_MISS = 16,
  kBF16 = 17,
  kDISABLE_COMPILATION_CACHE = 18,
  kSTRIP_PLAN = 19,
  kREFIT_IDENTICAL = 20,
  kWEIGHT_STREAMING = 21,
  kINT4 = 22,
  kREFIT_INDIVIDUAL = 23,
  kSTRICT_NANS = 24,
  kMONITOR_MEMORY = 25,
};
using BuilderFlags = uint32_t;

/// Where a tensor lies, and how: all do in the memory of the host, row by row.
enum class TensorLocation : int32_t { kDEVICE = 0, kHOST = 1 };
enum class TensorFormat : int32_t { kLINEAR = 0 };

// What configurations of TensorRT say besides. It is kept, and has no effect.
enum class ProfilingVerbosity : int32_t {
  kLAYER_NAMES_ONLY = 0,
  kNONE = 1,
  kDETAILED = 2,
};
enum class EngineCapability : int32_t {
  kSTANDARD = 0,
  kSAFETY = 1,
  kDLA_STANDALONE = 2,
};
enum class HardwareCompatibilityLevel : int32_t {
  kNONE = 0,
  kAMPERE_PLUS = 1,
  kSAME_COMPUTE_CAPABILITY = 2,
};
enum class TacticSource : int32_t {
  kCUBLAS = 0,
  kCUBLAS_LT = 1,
  kCUDNN = 2,
  kEDGE_MASK_CONVOLUTIONS = 3,
  kJIT_CONVOLUTIONS = 4,
};
using TacticSources = uint32_t;
enum class PreviewFeature : int32_t {
  kPROFILE_SHARING_0806 = 0,
  kALIASED_PLUGIN_IO_10_03 = 1,
  kRUNTIME_ACTIVATION_RESIZE_10_10 = 2,
};

/// Bytes: an engine that can be written to a file. loopc.tensorrt in Python
/// reads it, and makes such bytes, too.
class IHostMemory {
public:
  explicit IHostMemory(std::string bytes) : bytes(std::move(bytes)) {}
  void *data() const { return const_cast<char *>(bytes.data()); }
  size_t size() const { return bytes.size(); }
  DataType type() const { return DataType::kINT8; }

private:
  std::string bytes;
};

/// Shapes of inputs: the smallest, the usual and the largest of each. An extent
/// that cannot change is fixed in the engine.
class IOptimizationProfile {
public:
  /// False where the shape does not fit those that were set before.
  bool setDimensions(const char *inputName, OptProfileSelector select,
                     const Dims &dims);
  /// A rank of -1 where nothing was set.
  Dims getDimensions(const char *inputName, OptProfileSelector select) const;
  /// Whether each input that has a shape has all three.
  bool isValid() const;

private:
  friend class IBuilder;
  friend class IBuilderConfig;
  friend class ICudaEngine;
  /// By input: three shapes, of rank -1 where not set.
  std::map<std::string, std::vector<Dims>> shapes;
  ILogger *logger = nullptr;
};

/// How an engine is built.
class IBuilderConfig {
public:
  void setFlag(BuilderFlag flag);
  void clearFlag(BuilderFlag flag) { flags &= ~bitOf(flag); }
  bool getFlag(BuilderFlag flag) const { return flags & bitOf(flag); }
  void setFlags(BuilderFlags bits);
  BuilderFlags getFlags() const { return flags; }
  void setMemoryPoolLimit(MemoryPoolType pool, size_t size) {
    limits[pool] = size;
  }
  size_t getMemoryPoolLimit(MemoryPoolType pool) const;
  /// 0 to 5; from 3 on the compiler does all that it can.
  void setBuilderOptimizationLevel(int32_t level) { this->level = level; }
  int32_t getBuilderOptimizationLevel() const { return level; }
  /// The profile's number, or -1 where it is not valid. The engine is for the
  /// shapes of all profiles.
  int32_t addOptimizationProfile(const IOptimizationProfile *profile);
  int32_t getNbOptimizationProfiles() const {
    return static_cast<int32_t>(profiles.size());
  }
  /// Everything is as in a new configuration.
  void reset();

  // These are kept, and have no effect.
  void setProfilingVerbosity(ProfilingVerbosity it) { verbosity = it; }
  ProfilingVerbosity getProfilingVerbosity() const { return verbosity; }
  void setEngineCapability(EngineCapability it) { capability = it; }
  EngineCapability getEngineCapability() const { return capability; }
  void setHardwareCompatibilityLevel(HardwareCompatibilityLevel it) {
    hardware = it;
  }
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const {
    return hardware;
  }
  bool setTacticSources(TacticSources bits) {
    tactics = bits;
    return true;
  }
  TacticSources getTacticSources() const { return tactics; }
  void setPreviewFeature(PreviewFeature feature, bool isOn) {
    previews[feature] = isOn;
  }
  bool getPreviewFeature(PreviewFeature feature) const {
    auto entry = previews.find(feature);
    return entry != previews.end() && entry->second;
  }
  void setMaxAuxStreams(int32_t count) { streams = count; }
  int32_t getMaxAuxStreams() const { return streams; }
  void setAvgTimingIterations(int32_t count) { timings = count; }
  int32_t getAvgTimingIterations() const { return timings; }
  void setProfileStream(loopc_stream it) { stream = it; }
  loopc_stream getProfileStream() const { return stream; }

private:
  friend class IBuilder;
  static BuilderFlags bitOf(BuilderFlag flag) {
    return BuilderFlags(1) << static_cast<int32_t>(flag);
  }
  BuilderFlags flags = 0;
  int32_t level = 3;
  std::map<MemoryPoolType, size_t> limits;
  std::vector<const IOptimizationProfile *> profiles;
  ProfilingVerbosity verbosity = ProfilingVerbosity::kLAYER_NAMES_ONLY;
  EngineCapability capability = EngineCapability::kSTANDARD;
  HardwareCompatibilityLevel hardware = HardwareCompatibilityLevel::kNONE;
  TacticSources tactics = 0;
  std::map<PreviewFeature, bool> previews;
  int32_t streams = 0, timings = 1;
  loopc_stream stream = nullptr;
  ILogger *logger = nullptr;
};

class ICudaEngine;

/// Gives memory to an output whose shape only the run knows; both are the
/// program's.
class IOutputAllocator {
public:
  virtual void *reallocateOutput(const char *tensorName, void *currentMemory,
                                 uint64_t size, uint64_t alignment) = 0;
  virtual void notifyShape(const char *tensorName,
                           const Dims &dims) noexcept = 0;
  virtual ~IOutputAllocator() = default;
};

/// Runs of an engine, which must live as long, with the addresses that they
/// read and write. Contexts of one engine may run at the same time.
class IExecutionContext {
public:
  /// Whether the shape fits the engine, and the profile that was chosen.
  bool setInputShape(const char *tensorName, const Dims &dims);
  /// Extents of an input or output; -1 where they are not known. Before a run
  /// an output's are those that follow from the shapes of the inputs, which the
  /// compiler infers when it is first asked for such shapes (some 50 ms).
  Dims getTensorShape(const char *tensorName) const;
  bool setTensorAddress(const char *tensorName, void *data);
  bool setInputTensorAddress(const char *tensorName, const void *data) {
    return setTensorAddress(tensorName, const_cast<void *>(data));
  }
  bool setOutputTensorAddress(const char *tensorName, void *data) {
    return setTensorAddress(tensorName, data);
  }
  void *getTensorAddress(const char *tensorName) const;
  void *getOutputTensorAddress(const char *tensorName) const {
    return getTensorAddress(tensorName);
  }
  /// In elements, from one index of an axis to the next; a rank of -1 where the
  /// shape is not known.
  Dims getTensorStrides(const char *tensorName) const;
  bool setOutputAllocator(const char *tensorName, IOutputAllocator *allocator);
  IOutputAllocator *getOutputAllocator(const char *tensorName) const;
  bool setOptimizationProfileAsync(int32_t index, loopc_stream stream);
  int32_t getOptimizationProfile() const { return profile; }
  /// Whether all inputs have extents.
  bool allInputDimensionsSpecified() const;
  /// True: there are no inputs whose values are shapes.
  bool allInputShapesSpecified() const { return true; }
  /// The names of inputs that have none go to `names`; their number.
  int32_t inferShapes(int32_t nbMaxNames, const char **names) const;
  /// The bytes of an output whose extents are known; 0 of another.
  int64_t getMaxOutputSize(const char *tensorName) const;

  /// Runs, and returns when the outputs are there.
  bool enqueueV3(loopc_stream stream);
  /// The same with an address for each tensor, in the engine's order.
  bool executeV2(void *const *bindings);

  const ICudaEngine &getEngine() const { return engine; }
  /// True: inputs have been read when a run returns, which waits for no event.
  bool setInputConsumedEvent(void *) { return true; }
  void setDebugSync(bool isOn) { sync = isOn; }
  bool getDebugSync() const { return sync; }
  void setName(const char *text) { name = text; }
  const char *getName() const { return name.c_str(); }

private:
  friend class ICudaEngine;
  explicit IExecutionContext(const ICudaEngine &engine) : engine(engine) {}
  struct Run;
  bool fail(const std::string &text) const;

  const ICudaEngine &engine;
  std::string name;
  int32_t profile = 0;
  bool sync = false;
  std::map<std::string, Dims> shapes;
  /// Of outputs, from the shapes that the inputs have.
  mutable std::optional<std::map<std::string, Dims>> inferred;
  std::map<std::string, void *> addresses;
  std::map<std::string, IOutputAllocator *> allocators;
};

/// A compiled model, whose tensors are its inputs and then its outputs.
class ICudaEngine {
public:
  ~ICudaEngine();
  ICudaEngine(const ICudaEngine &) = delete;
  ICudaEngine &operator=(const ICudaEngine &) = delete;

  int32_t getNbIOTensors() const;
  /// Null where there is none.
  const char *getIOTensorName(int32_t index) const;
  TensorIOMode getTensorIOMode(const char *tensorName) const;
  /// Extents, -1 where the run chooses one.
  Dims getTensorShape(const char *tensorName) const;
  DataType getTensorDataType(const char *tensorName) const;
  int32_t getTensorBytesPerComponent(const char *tensorName) const;
  TensorLocation getTensorLocation(const char *) const {
    return TensorLocation::kHOST;
  }
  TensorFormat getTensorFormat(const char *) const {
    return TensorFormat::kLINEAR;
  }
  const char *getTensorFormatDesc(const char *) const {
    return "row-major linear";
  }
  /// -1: no axis is packed.
  int32_t getTensorComponentsPerElement(const char *) const { return -1; }
  int32_t getTensorVectorizedDim(const char *) const { return -1; }
  bool isShapeInferenceIO(const char *) const { return false; }
  bool isRefittable() const { return false; }
  bool hasImplicitBatchDimension() const { return false; }
  EngineCapability getEngineCapability() const {
    return EngineCapability::kSTANDARD;
  }
  int32_t getNbAuxStreams() const { return 0; }
  /// 0: a run takes the memory that it needs.
  int64_t getDeviceMemorySizeV2() const { return 0; }
  int32_t getNbOptimizationProfiles() const;
  /// A rank of -1 where the profile has no shape for the input.
  Dims getProfileShape(const char *tensorName, int32_t profileIndex,
                       OptProfileSelector select) const;
  IExecutionContext *createExecutionContext() const;
  IHostMemory *serialize() const;
  const char *getName() const;

private:
  friend class IExecutionContext;
  friend class IRuntime;
  struct Impl;
  explicit ICudaEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Makes engines of bytes.
class IRuntime {
public:
  explicit IRuntime(ILogger &logger) : logger(logger) {}
  /// Null where the bytes are no engine, or one for another machine.
  ICudaEngine *deserializeCudaEngine(const void *blob, size_t size);
  ILogger *getLogger() const { return &logger; }
  /// Kept, without an effect.
  bool setMaxThreads(int32_t count) { return (threads = count) > 0; }
  int32_t getMaxThreads() const { return threads; }

private:
  int32_t threads = 1;
  ILogger &logger;
};

/// Makes networks and engines.
class IBuilder {
public:
  explicit IBuilder(ILogger &logger) : logger(logger) {}
  /// An empty network; the flags make no difference.
  INetworkDefinition *createNetworkV2(uint32_t flags);
  IBuilderConfig *createBuilderConfig();
  /// The builder's own: it lives as long.
  IOptimizationProfile *createOptimizationProfile();
  /// Compiles for this machine; null where that fails.
  IHostMemory *buildSerializedNetwork(INetworkDefinition &network,
                                      IBuilderConfig &config);
  ICudaEngine *buildEngineWithConfig(INetworkDefinition &network,
                                     IBuilderConfig &config);
  bool isNetworkSupported(INetworkDefinition &network, IBuilderConfig &config);
  bool platformHasFastFp16() const { return true; }
  bool platformHasFastInt8() const { return true; }
  bool platformHasTf32() const { return true; }
  int32_t getNbDLACores() const { return 0; }
  ILogger *getLogger() const { return &logger; }
  /// Kept, without an effect.
  bool setMaxThreads(int32_t count) { return (threads = count) > 0; }
  int32_t getMaxThreads() const { return threads; }
  /// Everything is as in a new builder; its profiles are gone.
  void reset() {
    profiles.clear();
    threads = 1;
  }

private:
  int32_t threads = 1;
  ILogger &logger;
  std::vector<std::unique_ptr<IOptimizationProfile>> profiles;
};

inline IBuilder *createInferBuilder(ILogger &logger) {
  return new IBuilder(logger);
}
inline IRuntime *createInferRuntime(ILogger &logger) {
  return new IRuntime(logger);
}

} // namespace loopc::network

namespace loopc::onnxparser {

/// What is wrong with a model; where, stands in its words.
class IParserError {
public:
  explicit IParserError(std::string text) : text(std::move(text)) {}
  const char *desc() const { return text.c_str(); }

private:
  std::string text;
};

/// Reads an ONNX model into an empty network: it shows the model's inputs and
/// outputs, and takes no layers.
class IParser {
public:
  IParser(network::INetworkDefinition &network, network::ILogger &logger)
      : network(network), logger(logger) {}
  /// `path` says where the model's external data lie.
  bool parse(const void *model, size_t size, const char *path = nullptr);
  bool parseFromFile(const char *path, int32_t verbosity = 0);
  int32_t getNbErrors() const { return static_cast<int32_t>(errors.size()); }
  /// Null where there is none.
  const IParserError *getError(int32_t index) const;
  void clearErrors() { errors.clear(); }

private:
  bool fail(std::string text);
  network::INetworkDefinition &network;
  network::ILogger &logger;
  std::vector<IParserError> errors;
};

inline IParser *createParser(network::INetworkDefinition &network,
                             network::ILogger &logger) {
  return new IParser(network, logger);
}

} // namespace loopc::onnxparser

#endif // LOOPC_TENSORRT_H
