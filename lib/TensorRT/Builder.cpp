//===- Builder.cpp - Builders, and the parser of ONNX ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "loopc/Compiler.h"
#include "loopc/Outline.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace loopc::network;
using llvm::StringRef;
using Severity = ILogger::Severity;

//===----------------------------------------------------------------------===//
// Profiles and configurations
//===----------------------------------------------------------------------===//

static Dims unknown() {
  Dims dims;
  dims.nbDims = -1;
  return dims;
}

/// Whether no extent of `a` is larger than that of `b`.
static bool isBelow(const Dims &a, const Dims &b) {
  if (a.nbDims < 0 || b.nbDims < 0)
    return true;
  return a.nbDims == b.nbDims &&
         std::equal(a.d, a.d + a.nbDims, b.d, std::less_equal<int64_t>());
}

bool IOptimizationProfile::setDimensions(const char *inputName,
                                         OptProfileSelector select,
                                         const Dims &dims) {
  auto [entry, isNew] =
      shapes.try_emplace(inputName, std::vector<Dims>(3, unknown()));
  std::vector<Dims> made = entry->second;
  made[static_cast<int32_t>(select)] = dims;
  bool isGood = dims.nbDims >= 0 && dims.nbDims <= Dims::MAX_DIMS &&
                llvm::all_of(toVector(dims), [](int64_t k) { return k >= 0; });
  if (isGood && isBelow(made[0], made[1]) && isBelow(made[1], made[2]) &&
      isBelow(made[0], made[2])) {
    entry->second = std::move(made);
    return true;
  }
  if (isNew)
    shapes.erase(entry);
  if (logger)
    logger->log(Severity::kERROR,
                llvm::formatv("the profile's shapes of '{0}': kMIN, kOPT and "
                              "kMAX must have one rank and ascend",
                              inputName)
                    .str()
                    .c_str());
  return false;
}

Dims IOptimizationProfile::getDimensions(const char *inputName,
                                         OptProfileSelector select) const {
  auto entry = shapes.find(inputName);
  return entry == shapes.end() ? unknown()
                               : entry->second[static_cast<int32_t>(select)];
}

bool IOptimizationProfile::isValid() const {
  return llvm::all_of(shapes, [](const auto &entry) {
    return llvm::all_of(entry.second,
                        [](const Dims &dims) { return dims.nbDims >= 0; });
  });
}

void IBuilderConfig::setFlag(BuilderFlag flag) {
  switch (flag) {
  case BuilderFlag::kREFIT:
  case BuilderFlag::kREFIT_IDENTICAL:
  case BuilderFlag::kREFIT_INDIVIDUAL:
  case BuilderFlag::kSTRIP_PLAN:
    if (logger)
      logger->log(Severity::kERROR,
                  "an engine cannot be refitted: weights are a part of it");
    return;
  default:
    flags |= bitOf(flag);
  }
}

void IBuilderConfig::setFlags(BuilderFlags bits) {
  flags = 0;
  for (int32_t k = 0; k < 32; ++k)
    if (bits >> k & 1)
      setFlag(static_cast<BuilderFlag>(k));
}

void IBuilderConfig::reset() {
  ILogger *kept = logger;
  *this = IBuilderConfig();
  logger = kept;
}

size_t IBuilderConfig::getMemoryPoolLimit(MemoryPoolType pool) const {
  auto entry = limits.find(pool);
  return entry == limits.end() ? 0 : entry->second;
}

int32_t
IBuilderConfig::addOptimizationProfile(const IOptimizationProfile *profile) {
  if (profile && profile->isValid()) {
    profiles.push_back(profile);
    return getNbOptimizationProfiles() - 1;
  }
  if (logger)
    logger->log(Severity::kERROR, "the profile is not valid: an input has no "
                                  "kMIN, kOPT or kMAX");
  return -1;
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

INetworkDefinition *IBuilder::createNetworkV2(uint32_t) {
  return new INetworkDefinition("network");
}

IBuilderConfig *IBuilder::createBuilderConfig() {
  auto *config = new IBuilderConfig();
  config->logger = &logger;
  return config;
}

IOptimizationProfile *IBuilder::createOptimizationProfile() {
  profiles.push_back(std::make_unique<IOptimizationProfile>());
  profiles.back()->logger = &logger;
  return profiles.back().get();
}

/// Extents of an input that are one number in all profiles, others open; false
/// where their ranks differ.
static bool
fixExtents(const std::vector<std::map<std::string, std::vector<Dims>>> &all,
           llvm::StringMap<llvm::SmallVector<int64_t>> &fixed) {
  for (const auto &profile : all)
    for (const auto &[input, shapes] : profile) {
      const Dims &least = shapes.front(), &most = shapes.back();
      llvm::SmallVector<int64_t> own;
      for (int32_t k = 0; k < least.nbDims; ++k)
        own.push_back(least.d[k] == most.d[k] ? least.d[k]
                                              : mlir::ShapedType::kDynamic);
      auto [entry, isNew] = fixed.try_emplace(input, own);
      if (entry->second.size() != own.size())
        return false;
      for (auto [known, extent] : llvm::zip_equal(entry->second, own))
        known = known == extent ? known : mlir::ShapedType::kDynamic;
    }
  return true;
}

/// The model of a network whose inputs may have got other shapes.
static mlir::LogicalResult readParsed(loopc::Compiler &compiler,
                                      const ParsedModel &model) {
  return model.bytes.empty() ? compiler.parseFile(model.name)
                             : compiler.parseBytes(model.name, model.bytes);
}

IHostMemory *IBuilder::buildSerializedNetwork(INetworkDefinition &network,
                                              IBuilderConfig &config) {
  auto fail = [&](const std::string &text) -> IHostMemory * {
    logger.log(Severity::kERROR, text.c_str());
    return nullptr;
  };
  PlanInfo info{network.getName(), {}, ""};
  for (const IOptimizationProfile *profile : config.profiles)
    info.profiles.push_back(profile->shapes);
  CompilerOptions options;
  options.target.cpu = "native";
  options.target.optLevel =
      std::clamp(config.getBuilderOptimizationLevel(), 0, 3);
  options.target.name = kEngineSymbol.str();
  const ParsedModel *parsed = network.getParsedModel();
  for (int32_t k = 0; parsed && k < network.getNbInputs(); ++k) {
    const ITensor &input = *network.getInput(k);
    llvm::SmallVector<int64_t> shape;
    for (int64_t extent : toVector(input.getDeclaredDimensions()))
      shape.push_back(extent < 0 ? mlir::ShapedType::kDynamic : extent);
    if (input.getDeclaredDimensions().nbDims >= 0)
      options.shapes[input.getName()] = shape;
  }
  if (!fixExtents(info.profiles, options.shapes))
    return fail("the profiles of an input differ in their rank");

  loopc::Compiler compiler(options);
  loopc::DiagnosticCollector diagnostics(&compiler.getContext());
  llvm::SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("loopc-engine", "so", file))
    return fail("cannot make a temporary file: " + error.message());
  llvm::FileRemover remover(file);
  if (parsed && !network.getErrors().empty())
    return fail(network.getErrors().front());
  if (failed(parsed ? readParsed(compiler, *parsed)
                    : compiler.importNetwork(network)))
    return fail(diagnostics.str());
  info.outline = makeOutline(compiler.getModule());
  if (failed(compiler.emitShared(file, "")))
    return fail(diagnostics.str());
  auto library = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!library)
    return fail("cannot read '" + file.str().str() +
                "': " + library.getError().message());
  return new IHostMemory(writePlan((*library)->getBuffer(), info));
}

ICudaEngine *IBuilder::buildEngineWithConfig(INetworkDefinition &network,
                                             IBuilderConfig &config) {
  std::unique_ptr<IHostMemory> plan(buildSerializedNetwork(network, config));
  return plan ? IRuntime(logger).deserializeCudaEngine(plan->data(),
                                                       plan->size())
              : nullptr;
}

bool IBuilder::isNetworkSupported(INetworkDefinition &network,
                                  IBuilderConfig &config) {
  std::unique_ptr<IHostMemory> plan(buildSerializedNetwork(network, config));
  return plan != nullptr;
}

//===----------------------------------------------------------------------===//
// The parser
//===----------------------------------------------------------------------===//

using namespace loopc::onnxparser;

bool IParser::fail(std::string text) {
  logger.log(Severity::kERROR, text.c_str());
  errors.emplace_back(std::move(text));
  return false;
}

const IParserError *IParser::getError(int32_t index) const {
  return index >= 0 && index < getNbErrors() ? &errors[index] : nullptr;
}

/// The type and extents of an input or output; nothing for what is no tensor.
static std::optional<std::pair<DataType, Dims>> portOf(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::TensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto element = loopc::getElementTypeInfo(tensor.getElementType());
  Dims dims = unknown();
  if (tensor.hasRank() && tensor.getRank() <= Dims::MAX_DIMS) {
    dims.nbDims = static_cast<int32_t>(tensor.getRank());
    for (auto [k, extent] : llvm::enumerate(tensor.getShape()))
      dims.d[k] = mlir::ShapedType::isDynamic(extent) ? -1 : extent;
  }
  switch (element ? element->onnxType : 8) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case ONNX:                                                                   \
    return std::pair(DataType::k##NAME, dims);
#include "loopc-c/DataTypes.def"
  }
  return std::nullopt;
}

static StringRef nameOf(mlir::DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<mlir::StringAttr>("loopc.name")
                         : mlir::StringAttr();
  return name ? name.getValue() : "";
}

/// Gives `network` the inputs and outputs of `main`.
/// \returns an empty text, or what is wrong.
static std::string describe(mlir::func::FuncOp main, ParsedModel &model,
                            INetworkDefinition &network) {
  for (auto [k, type] : llvm::enumerate(main.getArgumentTypes())) {
    mlir::DictionaryAttr attributes = main.getArgAttrDict(k);
    auto port = portOf(type);
    if (!port)
      return "input '" + nameOf(attributes).str() + "' is no tensor";
    if (attributes.get("loopc.default"))
      continue;
    ITensor *input =
        network.addInput(nameOf(attributes), port->first, port->second);
    auto names = attributes.getAs<mlir::ArrayAttr>("loopc.dims");
    for (auto [at, name] : llvm::enumerate(
             names ? names.getValue() : llvm::ArrayRef<mlir::Attribute>()))
      if (StringRef text = mlir::cast<mlir::StringAttr>(name); !text.empty())
        input->setDimensionName(static_cast<int32_t>(at), text);
  }
  ILayer *layer = network.addNode("Model", nullptr, 0,
                                  static_cast<int32_t>(main.getNumResults()));
  layer->setName(model.name);
  for (auto [k, type] : llvm::enumerate(main.getResultTypes())) {
    StringRef name = nameOf(main.getResultAttrDict(k));
    auto port = portOf(type);
    if (!port)
      return "output '" + name.str() + "' is no tensor";
    model.outputs.push_back(*port);
    ITensor *output = layer->getOutput(static_cast<int32_t>(k));
    output->setName(name);
    network.markOutput(*output);
  }
  return "";
}

/// What both functions of the parser do.
static std::string parseInto(INetworkDefinition &network, ParsedModel model) {
  if (network.getNbLayers() || network.getNbInputs())
    return "a model is parsed into an empty network";
  loopc::Compiler compiler({});
  loopc::DiagnosticCollector diagnostics(&compiler.getContext());
  if (failed(readParsed(compiler, model)))
    return diagnostics.str();
  auto main = compiler.getModule().lookupSymbol<mlir::func::FuncOp>("main");
  if (!main)
    return "the model has no function 'main'";
  if (std::string text = describe(main, model, network); !text.empty())
    return text;
  network.setParsedModel(std::make_shared<ParsedModel>(std::move(model)));
  return "";
}

bool IParser::parse(const void *model, size_t size, const char *path) {
  clearErrors();
  std::string bytes(static_cast<const char *>(model), size);
  if (bytes.empty())
    return fail("the model has no bytes");
  std::string text =
      parseInto(network, {path ? path : "<bytes>", std::move(bytes), {}});
  return text.empty() || fail(std::move(text));
}

bool IParser::parseFromFile(const char *path, int32_t) {
  clearErrors();
  std::string text = parseInto(network, {path, "", {}});
  return text.empty() || fail(std::move(text));
}
