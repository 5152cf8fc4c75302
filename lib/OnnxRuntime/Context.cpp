//===- Context.cpp - Compiled nodes in models -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "Files.h"

#include <charconv>
#include <filesystem>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace loopc::ort;
namespace fs = std::filesystem;

/// Attributes of an EPContext node.
static constexpr char kData[] = "ep_cache_context";
static constexpr char kIsEmbedded[] = "embed_mode";
static constexpr char kIsMain[] = "main_context";
static constexpr char kNotes[] = "notes";
static constexpr char kPartition[] = "partition_name";
static constexpr char kSource[] = "source";
static constexpr char kVersionOfMaker[] = "ep_sdk_version";

/// The most that an attribute may have.
static constexpr size_t kMaxEmbedded = INT32_MAX / 2;

//===----------------------------------------------------------------------===//
// What a node says beside its library
//===----------------------------------------------------------------------===//

static std::string join(const std::vector<size_t> &numbers) {
  std::string text;
  for (size_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

/// "HASH inputs 0,1 outputs 0": a damaged library is not loaded, and the order
/// of the ports does not hang on their names, which onnxruntime may change.
static std::string makeNotes(const std::string &library,
                             const CompiledNodes &places) {
  XXH128_hash_t hash = XXH3_128bits(library.data(), library.size());
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return std::string(digits) + " inputs " + join(places.inputs) + " outputs " +
         join(places.outputs);
}

/// Reads the numbers behind `word`, of ports of which the node has `count`.
static std::vector<size_t> readPlaces(std::string_view notes,
                                      std::string_view word, size_t count) {
  std::vector<size_t> places;
  size_t begin = notes.find(word);
  if (begin == std::string_view::npos)
    return places;
  const char *at = notes.data() + begin + word.size();
  const char *end = notes.data() + notes.size();
  for (size_t place;; ++at) {
    auto [next, error] = std::from_chars(at, end, place);
    if (error != std::errc())
      break;
    if (place >= count)
      throw Error(kInvalidGraph,
                  "the notes of an EPContext node name the port " +
                      std::to_string(place) + ", which the node has not");
    places.push_back(place);
    at = next;
    if (at == end || *at != ',')
      break;
  }
  return places;
}

static std::string readText(const Api &api, const OrtNode *node,
                            const char *name) {
  auto *attribute =
      get<const OrtOpAttr *>(api, api.Node_GetAttributeByName, node, name);
  if (!attribute)
    return "";
  std::vector<char> text =
      readAttribute<char>(api, attribute, kStringAttribute);
  return {text.begin(), text.end()};
}

static int64_t readNumber(const Api &api, const OrtNode *node, const char *name,
                          int64_t otherwise) {
  auto *attribute =
      get<const OrtOpAttr *>(api, api.Node_GetAttributeByName, node, name);
  size_t bytes = 0;
  if (attribute)
    api.check(api.ReadOpAttr(attribute, kIntAttribute, &otherwise,
                             sizeof(otherwise), &bytes));
  return otherwise;
}

bool loopc::ort::isContextNode(const Api &api, const OrtNode *node) {
  return std::string_view(get<const char *>(api, api.Node_GetOperatorType,
                                            node)) == "EPContext" &&
         readText(api, node, kSource) == kProviderName;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The path of a model that `graph` belongs to, or that is written of it.
static fs::path getModelPath(const Api &api, const OrtGraph *graph,
                             const Options &options) {
  if (!options.contextFile.empty())
    return options.contextFile;
  return get<const char *>(api, api.Graph_GetModelPath, graph);
}

/// Where the library `name` is, in the folder of the model or one below it.
static std::string findLibrary(const Api &api, const OrtGraph *graph,
                               const Options &options,
                               const std::string &name) {
  fs::path relative = fs::path(name).lexically_normal();
  if (name.empty() || relative.is_absolute() || *relative.begin() == "..")
    throw Error(kInvalidGraph, "an EPContext node names the file '" + name +
                                   "', which is not beside the model");
  fs::path model = getModelPath(api, graph, options);
  if (model.empty())
    throw Error(kNoSuchFile,
                "an EPContext node names the file '" + name +
                    "', but the model was given as bytes: ep.context_file_path "
                    "says where it lies");
  // With a slash, as the loader looks for plain names elsewhere.
  return (fs::absolute(model).parent_path() / relative).string();
}

CompiledNodes loopc::ort::loadContextNode(const Api &api, const OrtGraph *graph,
                                          const OrtNode *node,
                                          const Options &options) {
  std::string data = readText(api, node, kData);
  std::string notes = readText(api, node, kNotes);
  bool isEmbedded = readNumber(api, node, kIsEmbedded, 1) != 0;
  std::string path = isEmbedded ? "" : findLibrary(api, graph, options, data);
  if (!isEmbedded)
    data = readFile(path);
  CompiledNodes result;
  result.inputs = readPlaces(notes, " inputs ",
                             get<size_t>(api, api.Node_GetNumInputs, node));
  result.outputs = readPlaces(notes, " outputs ",
                              get<size_t>(api, api.Node_GetNumOutputs, node));
  // Code that is not what loopc wrote must not be loaded: it may crash.
  if (makeNotes(data, result) != notes)
    throw Error(kInvalidGraph,
                "the compiled code of an EPContext node is damaged" +
                    (isEmbedded ? "" : ": '" + path + "'"));
  if (isEmbedded) {
    TemporaryFile file;
    writeFile(file.getPath(), data);
    result.model = std::make_shared<const Model>(file.getPath());
  } else {
    result.model = std::make_shared<const Model>(path);
  }
  if (result.model->get().num_inputs != result.inputs.size() ||
      result.model->get().num_outputs != result.outputs.size())
    throw Error(kInvalidGraph, "the compiled code of an EPContext node has "
                               "other ports than the node says");
  if (std::string problem =
          result.model->findUnfitPort(/*readsSequences=*/false);
      !problem.empty())
    throw Error(kInvalidGraph,
                "the compiled code of an EPContext node: " + problem);
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::vector<const char *>
getNames(const Api &api, const std::vector<const OrtValueInfo *> &values) {
  std::vector<const char *> names;
  for (auto *value : values)
    names.push_back(value ? get<const char *>(api, api.GetValueInfoName, value)
                          : "");
  return names;
}

/// Writes the library beside the model that onnxruntime writes. \returns its
/// name.
static std::string writeBeside(const Api &api, const OrtGraph *graph,
                               const Options &options, const std::string &name,
                               const std::string &library) {
  fs::path model = getModelPath(api, graph, options);
  if (model.empty())
    throw Error(kInvalidArgument,
                "compiled code is to lie beside a model that has no path: "
                "ep.context_file_path says where, and ep.context_embed_mode "
                "puts the code into the model");
  std::string file = model.stem().string() + "_" + name + ".so";
  replaceFile((fs::absolute(model).parent_path() / file).string(), library);
  return file;
}

OrtNode *loopc::ort::makeContextNode(const Api &api, const OrtGraph *graph,
                                     const OrtNode *fused,
                                     const std::string &library,
                                     const Options &options,
                                     const CompiledNodes &places) {
  std::string name = get<const char *>(api, api.Node_GetName, fused);
  std::string data = library;
  if (options.embedsContext && library.size() > kMaxEmbedded)
    throw Error(kInvalidArgument,
                "the compiled code has " + std::to_string(library.size()) +
                    " bytes, too many for a model: ep.context_embed_mode 0 "
                    "puts it into a file");
  if (!options.embedsContext)
    data = writeBeside(api, graph, options, name, library);

  std::vector<Owned<OrtOpAttr>> owned;
  auto add = [&](const char *key, const void *value, size_t size,
                 AttributeKind kind) {
    owned.push_back(own(get<OrtOpAttr *>(api, api.CreateOpAttr, key, value,
                                         static_cast<int>(size), int32_t(kind)),
                        api.ReleaseOpAttr));
  };
  auto addText = [&](const char *key, const std::string &text) {
    add(key, text.data(), text.size(), kStringAttribute);
  };
  int64_t isMain = 1, isEmbedded = options.embedsContext;
  add(kIsMain, &isMain, 1, kIntAttribute);
  add(kIsEmbedded, &isEmbedded, 1, kIntAttribute);
  addText(kData, data);
  addText(kNotes, makeNotes(library, places));
  addText(kPartition, name);
  addText(kSource, kProviderName);
  addText(kVersionOfMaker, loopc_version());

  auto inputs =
      getNames(api, getList<const OrtValueInfo *>(api, api.Node_GetNumInputs,
                                                  api.Node_GetInputs, fused));
  auto outputs =
      getNames(api, getList<const OrtValueInfo *>(api, api.Node_GetNumOutputs,
                                                  api.Node_GetOutputs, fused));
  std::vector<OrtOpAttr *> attributes;
  // From here on they are onnxruntime's, whatever comes of the node.
  for (auto &attribute : owned)
    attributes.push_back(attribute.release());
  OrtNode *node = nullptr;
  api.check(api.CreateNode("EPContext", "com.microsoft", name.c_str(),
                           inputs.data(), inputs.size(), outputs.data(),
                           outputs.size(), attributes.data(), attributes.size(),
                           &node));
  return node;
}
