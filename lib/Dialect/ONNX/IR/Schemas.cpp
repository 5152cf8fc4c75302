//===- Schemas.cpp - Schemas of the onnx library, one at a time -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library's registry makes the schemas of all operators in all versions
// when it is asked for one, which took longer than the passes of a small model.
// A schema is made here when it is asked for; it says what that of the registry
// says.
//
//===----------------------------------------------------------------------===//

#include "SchemaImpl.h"
#include "onnx/defs/operator_sets.h"
#include "onnx/defs/operator_sets_ml.h"
#include "onnx/defs/operator_sets_preview.h"
#include "onnx/defs/operator_sets_training.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::OpSchema;

namespace {
/// What the library's operator sets say of a schema without making it.
struct SchemaSource {
  const char *name;
  int version;
  OpSchema (*make)();
};

/// A schema, made on the first use. Any thread may ask.
class LazySchema {
public:
  explicit LazySchema(const SchemaSource &source) : source(source) {}

  int getVersion() const { return source.version; }
  const OpSchema &get() {
    std::call_once(isMade, [&] {
      schema = std::make_unique<OpSchema>(source.make());
      schema->Finalize();
    });
    return *schema;
  }

private:
  const SchemaSource &source;
  std::once_flag isMade;
  std::unique_ptr<OpSchema> schema;
};

/// The schemas by their operators' names; those of a name, the newest first.
using Schemas = llvm::StringMap<std::vector<std::unique_ptr<LazySchema>>>;
} // namespace

namespace onnx {
static const SchemaSource sources[] = {
#include "Schemas.inc"
};
} // namespace onnx

static Schemas makeSchemas() {
  Schemas schemas;
  for (const SchemaSource &source : ::onnx::sources)
    schemas[source.name].push_back(std::make_unique<LazySchema>(source));
  for (auto &entry : schemas)
    llvm::sort(entry.second, [](const auto &a, const auto &b) {
      return a->getVersion() > b->getVersion();
    });
  return schemas;
}

std::string loopc::onnx::getRegistryDomain(StringRef domain) {
  return domain == "ai.onnx" ? std::string() : domain.str();
}

const OpSchema *loopc::onnx::findSchema(StringRef domain, StringRef opType,
                                        int64_t version) {
  static Schemas schemas = makeSchemas();
  auto found = schemas.find(opType);
  if (found == schemas.end())
    return nullptr;
  std::string registryDomain = getRegistryDomain(domain);
  try {
    for (const std::unique_ptr<LazySchema> &schema : found->second)
      if (schema->getVersion() <= version &&
          schema->get().domain() == registryDomain)
        return &schema->get();
  } catch (const std::exception &) {
    // A schema that the library itself takes for wrong.
  }
  return nullptr;
}
