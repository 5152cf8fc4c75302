//===- SchemasTest.cpp - Schemas that are made when they are asked for ----===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/Schema.h"

#include "onnx/defs/schema.h"

#include "gtest/gtest.h"

using namespace loopc::onnx;
using ::onnx::OpSchema;
using ::onnx::OpSchemaRegistry;

/// Whatever the version that is asked for, it is the schema of the library's
/// own registry that is found.
TEST(SchemasTest, AreThoseOfTheRegistry) {
  std::vector<OpSchema> all = OpSchemaRegistry::get_all_schemas_with_history();
  ASSERT_FALSE(all.empty());
  for (const OpSchema &schema : all)
    for (int offset : {-1, 0, 1}) {
      int version = schema.SinceVersion() + offset;
      const OpSchema *known =
          version > 0 ? OpSchemaRegistry::Schema(schema.Name(), version,
                                                 schema.domain())
                      : nullptr;
      std::optional<int64_t> since =
          resolveSinceVersion(schema.domain(), schema.Name(), version);
      ASSERT_EQ(since.has_value(), known != nullptr)
          << schema.domain() << "." << schema.Name() << " " << version;
      if (known)
        EXPECT_EQ(*since, known->SinceVersion()) << schema.Name();
    }
}

TEST(SchemasTest, KnowsDomainsAndNamesApart) {
  EXPECT_EQ(resolveSinceVersion("", "Add", 1000), 14);
  EXPECT_EQ(resolveSinceVersion("ai.onnx", "Add", 13), 13);
  EXPECT_EQ(resolveSinceVersion("ai.onnx.ml", "Add", 13), std::nullopt);
  EXPECT_EQ(resolveSinceVersion("", "Sum of all", 13), std::nullopt);
  EXPECT_EQ(resolveSinceVersion("", "Add", 0), std::nullopt);
}
