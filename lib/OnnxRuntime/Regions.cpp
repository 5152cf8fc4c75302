//===- Regions.cpp - Nodes that are fused together ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions.h"

#include <algorithm>

using namespace loopc::ort;

/// The kind of a value; what has no type is a tensor.
static int32_t getKind(const Api &api, const OrtValueInfo *value) {
  auto *type = get<const OrtTypeInfo *>(api, api.GetValueInfoTypeInfo, value);
  return type ? get<int32_t>(api, api.GetOnnxTypeFromTypeInfo, type)
              : int32_t(kTensor);
}

Regions::Regions(const Api &api, std::vector<const OrtNode *> givenNodes,
                 bool readsSequences)
    : nodes(std::move(givenNodes)), before(nodes.size()), behind(nodes.size()),
      makesOutput(nodes.size()), touched(nodes.size()), isTaken(nodes.size()),
      fusedAs(nodes.size()) {
  std::map<std::string, size_t> producers;
  auto touch = [&](const OrtValueInfo *value, size_t number, bool isMade) {
    std::string name = get<const char *>(api, api.GetValueInfoName, value);
    bool isOutput = get<bool>(api, api.ValueInfo_IsGraphOutput, value);
    if (isMade)
      producers.emplace(name, number);
    makesOutput[number] = makesOutput[number] || (isMade && isOutput);
    auto producer = producers.find(name);
    if (!isMade && producer != producers.end()) {
      before[number].insert(producer->second);
      behind[producer->second].insert(number);
    }
    int32_t kind = getKind(api, value);
    bool isGiven = producer == producers.end();
    if (kind == kTensor || (kind == kSequence && isGiven && readsSequences))
      return;
    bool isBorder = producer == producers.end() || isOutput;
    auto [place, isNew] =
        collections.try_emplace(name, Collection{isBorder, {}});
    place->second.nodes.insert(number);
    touched[number].push_back(name);
  };
  for (size_t number = 0; number < nodes.size(); ++number) {
    const OrtNode *node = nodes[number];
    numbers.emplace(node, number);
    auto *provider = get<const char *>(api, api.Node_GetEpName, node);
    isTaken[number] = provider && *provider;
    for (auto *input : getList<const OrtValueInfo *>(api, api.Node_GetNumInputs,
                                                     api.Node_GetInputs, node))
      if (input)
        touch(input, number, /*isMade=*/false);
    for (auto *input :
         getList<const OrtValueInfo *>(api, api.Node_GetNumImplicitInputs,
                                       api.Node_GetImplicitInputs, node))
      if (input)
        touch(input, number, /*isMade=*/false);
    for (auto *output : getList<const OrtValueInfo *>(
             api, api.Node_GetNumOutputs, api.Node_GetOutputs, node))
      if (output)
        touch(output, number, /*isMade=*/true);
  }
}

bool Regions::isFused(const OrtNode *node) const {
  return fusedAs[numbers.at(node)] != 0;
}

void Regions::addProducersAndReaders(size_t number, Numbers &region) const {
  for (const std::string &name : touched[number]) {
    const Collection &value = collections.at(name);
    if (value.crossesGraph)
      throw Error(kNotImplemented,
                  "'" + name +
                      "' is an optional that the graph takes or a collection "
                      "that it returns, which onnxruntime's interface cannot "
                      "carry");
    region.insert(value.nodes.begin(), value.nodes.end());
  }
}

void Regions::follow(const std::vector<Numbers> &edges, const Numbers &region,
                     Numbers &found) const {
  std::vector<size_t> open(found.begin(), found.end());
  auto add = [&](size_t number) {
    if (!region.contains(number) && found.insert(number).second)
      open.push_back(number);
  };
  while (!open.empty()) {
    size_t number = open.back();
    open.pop_back();
    for (size_t next : edges[number])
      add(next);
    for (size_t other = 0; fusedAs[number] && other < nodes.size(); ++other)
      if (fusedAs[other] == fusedAs[number])
        add(other);
  }
}

/// Adds nodes that read what the region computes, and compute what it reads.
bool Regions::addBetween(Numbers &region) const {
  auto getFollowers = [&](const std::vector<Numbers> &edges) {
    Numbers found;
    for (size_t number : region)
      for (size_t next : edges[number])
        if (!region.contains(next))
          found.insert(next);
    follow(edges, region, found);
    return found;
  };
  Numbers readers = getFollowers(behind);
  size_t size = region.size();
  for (size_t number : getFollowers(before))
    if (readers.contains(number))
      region.insert(number);
  return region.size() != size;
}

void Regions::complete(Numbers &region) const {
  size_t size;
  do {
    size = region.size();
    for (size_t number : Numbers(region))
      addProducersAndReaders(number, region);
  } while (addBetween(region) || region.size() != size);
  if (std::any_of(region.begin(), region.end(),
                  [&](size_t number) { return isTaken[number]; }))
    throw Error(kNotImplemented, "it cannot be computed apart from nodes that "
                                 "another provider has already");
}

std::vector<const OrtNode *> Regions::getNodes(const Numbers &region) const {
  std::vector<const OrtNode *> result;
  for (size_t number : region)
    result.push_back(nodes[number]);
  return result;
}

std::vector<const OrtNode *> Regions::grow(const OrtNode *node) const {
  Numbers region = {numbers.at(node)};
  complete(region);
  for (size_t number : region)
    if (fusedAs[number])
      throw Error(kNotImplemented,
                  "it cannot be computed apart from nodes that are fused "
                  "already");
  return getNodes(region);
}

Regions::Numbers Regions::getNeighbours(const Numbers &region) const {
  Numbers found;
  for (size_t number : region) {
    for (size_t next : behind[number])
      if (!region.contains(next))
        found.insert(next);
    for (size_t next : before[number])
      if (!region.contains(next) && !makesOutput[next] &&
          std::includes(region.begin(), region.end(), behind[next].begin(),
                        behind[next].end()))
        found.insert(next);
  }
  return found;
}

bool Regions::tryToAdd(size_t number, Numbers &region,
                       const Predicate &isWelcome) const {
  Numbers wider = region;
  wider.insert(number);
  try {
    complete(wider);
  } catch (const Error &) {
    return false;
  }
  for (size_t one : wider)
    if (!region.contains(one) && (fusedAs[one] || !isWelcome(nodes[one])))
      return false;
  region = std::move(wider);
  return true;
}

std::vector<const OrtNode *>
Regions::widen(const std::vector<const OrtNode *> &given,
               const Predicate &isWelcome) const {
  Numbers region, refused;
  for (const OrtNode *node : given)
    region.insert(numbers.at(node));
  size_t size;
  do {
    size = region.size();
    for (size_t number : getNeighbours(region))
      if (!region.contains(number) && !refused.contains(number) &&
          !tryToAdd(number, region, isWelcome))
        refused.insert(number);
  } while (region.size() != size);
  return getNodes(region);
}

void Regions::fuse(const std::vector<const OrtNode *> &region) {
  ++numFused;
  for (const OrtNode *node : region)
    fusedAs[numbers.at(node)] = numFused;
}
