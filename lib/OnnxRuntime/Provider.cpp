//===- Provider.cpp - The execution provider of a session -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Provider.h"

#include "Files.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace loopc::ort;

/// Whether a node is one of `operators`, which are in order, of ONNX's or of
/// another domain.
template <size_t count>
static bool isOneOf(const Api &api, const OrtNode *node,
                    const std::string_view (&operators)[count],
                    std::string_view wanted = "") {
  std::string_view domain = get<const char *>(api, api.Node_GetDomain, node);
  std::string_view type =
      get<const char *>(api, api.Node_GetOperatorType, node);
  if (domain == "ai.onnx")
    domain = "";
  return domain == wanted &&
         std::binary_search(std::begin(operators), std::end(operators), type);
}

/// Whether an operator is one that the provider is for.
static bool isLoop(const Api &api, const OrtNode *node) {
  static constexpr std::string_view kOperators[] = {
      "GRU", "If", "LSTM", "Loop", "RNN", "Scan", "SequenceMap"};
  static constexpr std::string_view kSearches[] = {
      "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"};
  return isOneOf(api, node, kOperators) ||
         isOneOf(api, node, kSearches, "com.microsoft");
}

/// Whether an operator has a graph and is not computed as what it is:
/// onnxruntime puts a loop in its place when all graphs in it have been asked
/// for, and then asks for those of the loop.
static bool isExpanded(const Api &api, const OrtNode *node) {
  static constexpr std::string_view kOperators[] = {"SequenceMap"};
  return isOneOf(api, node, kOperators);
}

/// Whether an operator may as well be computed beside a loop: one that moves
/// elements, or computes each from one of each operand.
static bool isLight(const Api &api, const OrtNode *node) {
  static constexpr std::string_view kOperators[] = {
      "Abs",       "Add",
      "And",       "Cast",
      "Clip",      "Concat",
      "Div",       "Equal",
      "Exp",       "Expand",
      "Flatten",   "Gather",
      "Greater",   "GreaterOrEqual",
      "Identity",  "LeakyRelu",
      "Less",      "LessOrEqual",
      "Log",       "Max",
      "Min",       "Mul",
      "Neg",       "Not",
      "Or",        "Pad",
      "Pow",       "Relu",
      "Reshape",   "Shape",
      "Sigmoid",   "Slice",
      "Split",     "Sqrt",
      "Squeeze",   "Sub",
      "Tanh",      "Transpose",
      "Unsqueeze", "Where"};
  return isOneOf(api, node, kOperators);
}

Provider::Provider(const Api &api, const OrtLogger *logger, Options options)
    : OrtEp{}, api(api), logger(logger), options(std::move(options)) {
  version = kVersion;
  getName = [](const OrtEp *) { return kProviderName; };
  getCapability = [](OrtEp *self, const OrtGraph *graph,
                     OrtEpGraphSupportInfo *info) {
    auto *provider = static_cast<Provider *>(self);
    return provider->api.guard([&] { provider->claimNodes(graph, info); });
  };
  compile = [](OrtEp *self, const OrtGraph **graphs, const OrtNode **fused,
               size_t count, OrtNodeComputeInfo **infos,
               OrtNode **contextNodes) {
    auto *provider = static_cast<Provider *>(self);
    return provider->api.guard([&] {
      std::vector<std::unique_ptr<Kernel>> kernels;
      for (size_t i = 0; i < count; ++i)
        kernels.push_back(
            provider->compileNodes(graphs[i], fused[i], contextNodes[i]));
      for (size_t i = 0; i < count; ++i)
        infos[i] = kernels[i].release();
      provider->attempts.clear();
    });
  };
  releaseNodeComputeInfos = [](OrtEp *, OrtNodeComputeInfo **infos,
                               size_t count) {
    for (size_t i = 0; i < count; ++i)
      delete static_cast<Kernel *>(infos[i]);
  };
  setDynamicOptions = [](OrtEp *self, const char *const *keys,
                         const char *const *values, size_t count) {
    auto *provider = static_cast<Provider *>(self);
    return provider->api.guard([&] {
      for (size_t i = 0; i < count; ++i)
        provider->setDynamicOption(keys[i], values[i]);
    });
  };
  if (api.seesTermination()) {
    onRunStart = [](OrtEp *self, const OrtRunOptions *given) {
      auto *provider = static_cast<Provider *>(self);
      return provider->api.guard([&] { provider->runs.begin(given); });
    };
    onRunEnd = [](OrtEp *self, const OrtRunOptions *, bool) {
      auto *provider = static_cast<Provider *>(self);
      return provider->api.guard([&] { provider->runs.end(); });
    };
  }
  onSessionInitializationEnd = [](OrtEp *self) -> OrtStatus * {
    static_cast<Provider *>(self)->attempts.clear();
    return nullptr;
  };
  isConcurrentRunSupported = [](OrtEp *, bool *isSupported) -> OrtStatus * {
    *isSupported = true;
    return nullptr;
  };
}

static std::pair<uint64_t, uint64_t> hashOf(const Message &message) {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(
      XXH3_createState(), XXH3_freeState);
  if (!state || XXH3_128bits_reset(state.get()) != XXH_OK)
    throw std::bad_alloc();
  message.visit([&](std::string_view piece) {
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  });
  XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

const Provider::Attempt &Provider::compileOnce(const Message &message) {
  auto [place, isNew] = attempts.try_emplace(hashOf(message));
  Attempt &attempt = place->second;
  if (!isNew)
    return attempt;
  try {
    compileInto(attempt, message.get());
    if (attempt.model)
      attempt.unfitPort = attempt.model->findUnfitPort(!options.makesContext);
  } catch (const Error &error) {
    attempt.refusal = error.what();
  }
  return attempt;
}

void Provider::compileInto(Attempt &attempt, const std::string &bytes) const {
  if (!options.makesContext) {
    attempt.model = std::make_shared<const Model>(bytes, options);
    return;
  }
  TemporaryFile file;
  Model::compile(bytes, options, file.getPath());
  attempt.library = readFile(file.getPath());
  // It may be for another CPU.
  try {
    attempt.model = std::make_shared<const Model>(file.getPath());
  } catch (const Error &error) {
    attempt.problem = error.what();
  }
}

ExportedModel
Provider::writeModel(const OrtGraph *graph,
                     const std::vector<const OrtNode *> &nodes) const {
  // What an EPContext node reads are no constants of the model that is written.
  return exportNodes(api, graph, nodes,
                     options.makesContext ? kMaxModelBytes
                                          : options.constantLimit);
}

std::string Provider::findRefusal(const OrtGraph *graph,
                                  const std::vector<const OrtNode *> &nodes) {
  try {
    const Attempt &attempt = compileOnce(writeModel(graph, nodes).message);
    return attempt.refusal.empty() ? attempt.unfitPort : attempt.refusal;
  } catch (const Error &error) {
    return error.what();
  }
}

/// onnxruntime asks for the nodes of a body or a branch before it asks for the
/// operator that this belongs to. Where that one will be taken, they must be
/// left in it. Its sequences are no reason against that: what it is fused with
/// is not known yet.
bool Provider::isInClaimed(const OrtGraph *graph) {
  auto *parent = get<const OrtNode *>(api, api.Graph_GetParentNode, graph);
  if (parent && isExpanded(api, parent))
    return true;
  if (!parent || !isLoop(api, parent))
    return false;
  try {
    return compileOnce(writeModel(graph, {parent}).message).refusal.empty();
  } catch (const Error &) {
    return false;
  }
}

std::vector<const OrtNode *>
Provider::widen(const OrtGraph *graph, const Regions &regions,
                const std::vector<const OrtNode *> &region) {
  auto wider = regions.widen(region, [&](const OrtNode *node) {
    return isLoop(api, node) || isLight(api, node);
  });
  return findRefusal(graph, wider).empty() ? wider : region;
}

void Provider::claimNodes(const OrtGraph *graph, OrtEpGraphSupportInfo *info) {
  auto nodes = getList<const OrtNode *>(api, api.Graph_GetNumNodes,
                                        api.Graph_GetNodes, graph);
  auto claim = [&](const std::vector<const OrtNode *> &region) {
    bool sharesConstants = !isContextNode(api, region.front()) &&
                           writeModel(graph, region).sharesConstants;
    OrtNodeFusionOptions fusion = {kVersion,
                                   /*dropsConstants=*/!sharesConstants};
    api.check(api.EpGraphSupportInfo_AddNodesToFuse(info, region.data(),
                                                    region.size(), &fusion));
  };
  std::vector<const OrtNode *> wanted;
  for (const OrtNode *node : nodes) {
    // Whether its code can be loaded is seen when it is.
    if (isContextNode(api, node))
      claim({node});
    else if (isLoop(api, node))
      wanted.push_back(node);
  }
  bool wantsAll = options.claim == Claim::All && !nodes.empty();
  if ((wanted.empty() && !wantsAll) || isInClaimed(graph))
    return;
  if (wantsAll && findRefusal(graph, nodes).empty())
    return claim(nodes);
  // An EPContext node has tensors alone.
  Regions regions(api, nodes, /*readsSequences=*/!options.makesContext);
  for (const OrtNode *node : wanted) {
    if (regions.isFused(node))
      continue;
    std::vector<const OrtNode *> region;
    std::string refusal;
    try {
      region = regions.grow(node);
      refusal = findRefusal(graph, region);
      if (refusal.empty() && options.claim != Claim::Loops)
        region = widen(graph, regions, region);
    } catch (const Error &error) {
      refusal = error.what();
    }
    if (refusal.empty()) {
      claim(region);
      regions.fuse(region);
    } else {
      api.log(logger, kWarning,
              describe(api, node) + " stays with onnxruntime: " + refusal);
    }
  }
}

/// Where each of `names` is among `values`.
static std::vector<size_t>
findPlaces(const Api &api, const std::vector<std::string> &names,
           const std::vector<const OrtValueInfo *> &values, const char *what) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i])
      places.emplace(get<const char *>(api, api.GetValueInfoName, values[i]),
                     i);
  std::vector<size_t> result;
  for (const std::string &name : names) {
    auto place = places.find(name);
    if (place == places.end())
      throw Error(kProviderFail,
                  std::string("onnxruntime's fused node has no ") + what +
                      " '" + name + "'");
    result.push_back(place->second);
  }
  return result;
}

std::unique_ptr<Kernel> Provider::compileNodes(const OrtGraph *graph,
                                               const OrtNode *fused,
                                               OrtNode *&contextNode) {
  auto nodes = getList<const OrtNode *>(api, api.Graph_GetNumNodes,
                                        api.Graph_GetNodes, graph);
  std::string name = describe(api, nodes.front());
  CompiledNodes compiled;
  if (isContextNode(api, nodes.front())) {
    compiled = loadContextNode(api, graph, nodes.front(), options);
  } else {
    ExportedModel exported = writeModel(graph, nodes);
    compiled.inputs =
        findPlaces(api, exported.inputs,
                   getList<const OrtValueInfo *>(api, api.Node_GetNumInputs,
                                                 api.Node_GetInputs, fused),
                   "input");
    compiled.outputs =
        findPlaces(api, exported.outputs,
                   getList<const OrtValueInfo *>(api, api.Node_GetNumOutputs,
                                                 api.Node_GetOutputs, fused),
                   "output");
    const Attempt &attempt = compileOnce(exported.message);
    if (!attempt.refusal.empty() || !attempt.unfitPort.empty())
      throw Error(kProviderFail,
                  name + ": " + attempt.refusal + attempt.unfitPort);
    compiled.model = attempt.model;
    compiled.problem = attempt.problem;
    if (options.makesContext)
      contextNode = makeContextNode(api, graph, fused, attempt.library, options,
                                    compiled);
  }
  return std::make_unique<Kernel>(api, logger, std::move(name),
                                  std::move(compiled), options, runs);
}

void Provider::setDynamicOption(std::string_view key, std::string_view value) {
  if (key != "cancel" || (value != "0" && value != "1"))
    throw Error(kInvalidArgument,
                std::string(kProviderName) +
                    " has one option that can be set while it runs, 'cancel', "
                    "which is 0 or 1");
  if (value == "1")
    loopc_cancel(&runs.cancel);
  else
    runs.cancel = {};
}
