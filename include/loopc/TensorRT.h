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

private:
  friend class IBuilder;
  static BuilderFlags bitOf(BuilderFlag flag) {
    return BuilderFlags(1) << static_cast<int32_t>(flag);
  }
  BuilderFlags flags = 0;
  int32_t level = 3;
  std::map<MemoryPoolType, size_t> limits;
  std::vector<const IOptimizationProfile *> profiles;
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
  /// an output's are those that the names of the inputs' extents tell.
  Dims getTensorShape(const char *tensorName) const;
  bool setTensorAddress(const char *tensorName, void *data);
  bool setInputTensorAddress(const char *tensorName, const void *data) {
    return setTensorAddress(tensorName, const_cast<void *>(data));
  }
  void *getTensorAddress(const char *tensorName) const;
  bool setOutputAllocator(const char *tensorName, IOutputAllocator *allocator);
  IOutputAllocator *getOutputAllocator(const char *tensorName) const;
  bool setOptimizationProfileAsync(int32_t index, loopc_stream stream);
  int32_t getOptimizationProfile() const { return profile; }
  /// Whether all inputs have extents.
  bool allInputDimensionsSpecified() const;
  /// The names of inputs that have none go to `names`; their number.
  int32_t inferShapes(int32_t nbMaxNames, const char **names) const;
  /// The bytes of an output whose extents are known; 0 of another.
  int64_t getMaxOutputSize(const char *tensorName) const;

  /// Runs, and returns when the outputs are there.
  bool enqueueV3(loopc_stream stream);
  /// The same with an address for each tensor, in the engine's order.
  bool executeV2(void *const *bindings);

  const ICudaEngine &getEngine() const { return engine; }
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
  std::map<std::string, Dims> shapes;
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
  bool isShapeInferenceIO(const char *) const { return false; }
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

private:
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
  int32_t getNbDLACores() const { return 0; }
  ILogger *getLogger() const { return &logger; }

private:
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
