//===- Plan.cpp - The bytes of an engine ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace loopc::network;
using namespace llvm;

static constexpr StringLiteral kMark = "loopc-trt";

static json::Array toJSON(const Dims &dims) {
  json::Array extents;
  for (int64_t extent : toVector(dims))
    extents.push_back(extent);
  return extents;
}

std::string loopc::network::writePlan(StringRef library, const PlanInfo &info) {
  json::Array profiles;
  for (const auto &profile : info.profiles) {
    json::Object made;
    for (const auto &[input, shapes] : profile) {
      json::Array three;
      for (const Dims &dims : shapes)
        three.push_back(toJSON(dims));
      made[input] = std::move(three);
    }
    profiles.push_back(std::move(made));
  }
  std::string text;
  raw_string_ostream(text) << json::Value(
      json::Object{{"name", info.name},
                   {"profiles", std::move(profiles)},
                   {"outline", json::fixUTF8(info.outline)}});
  char size[8];
  support::endian::write64le(size, text.size());
  return (library + text + StringRef(size, sizeof(size)) + kMark).str();
}

/// A shape; false where it is none.
static bool readDims(const json::Value &value, Dims &dims) {
  const json::Array *extents = value.getAsArray();
  if (!extents || extents->size() > Dims::MAX_DIMS)
    return false;
  dims.nbDims = static_cast<int32_t>(extents->size());
  for (auto [k, extent] : enumerate(*extents)) {
    std::optional<int64_t> number = extent.getAsInteger();
    if (!number)
      return false;
    dims.d[k] = *number;
  }
  return true;
}

static bool readInfo(StringRef text, PlanInfo &info) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return consumeError(value.takeError()), false;
  const json::Object *told = value->getAsObject();
  const json::Array *profiles = told ? told->getArray("profiles") : nullptr;
  if (!profiles)
    return false;
  info.name = told->getString("name").value_or("").str();
  info.outline = told->getString("outline").value_or("").str();
  for (const json::Value &profile : *profiles) {
    auto &made = info.profiles.emplace_back();
    if (!profile.getAsObject())
      return false;
    for (const auto &[input, shapes] : *profile.getAsObject()) {
      const json::Array *three = shapes.getAsArray();
      if (!three || three->size() != 3)
        return false;
      for (const json::Value &shape : *three)
        if (!readDims(shape, made[input.str()].emplace_back()))
          return false;
    }
  }
  return true;
}

std::optional<StringRef> loopc::network::readPlan(StringRef plan,
                                                  PlanInfo &info) {
  size_t tail = kMark.size() + 8;
  if (plan.size() < tail || !plan.ends_with(kMark))
    return std::nullopt;
  uint64_t size = support::endian::read64le(plan.end() - tail);
  if (size > plan.size() - tail ||
      !readInfo(plan.drop_back(tail).take_back(size), info))
    return std::nullopt;
  return plan.drop_back(tail + size);
}
