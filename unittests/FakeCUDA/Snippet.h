//===- Snippet.h - Tests of single instructions --------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_UNITTESTS_SNIPPET_H
#define LOOPC_UNITTESTS_SNIPPET_H

#include "FakeCudaTest.h"

/// Up to four inputs are in %d0 to %d3, their lower bits in %r0 and %h0 ff.;
/// the result is that of %p9, %h9, %r9 and %d9 which the text names.
struct Snippet {
  std::string text;
  std::vector<uint64_t> inputs;
  uint64_t expected;
};

class SnippetTest : public FakeCudaTest {
protected:
  /// Runs each as a kernel of its own and compares the result.
  void check(const std::vector<Snippet> &snippets) {
    for (const Snippet &snippet : snippets) {
      SCOPED_TRACE(snippet.text);
      EXPECT_EQ(evaluate(snippet), snippet.expected);
    }
  }

  uint64_t evaluate(const Snippet &snippet) {
    std::string body = "ld.param.b64 %d20, [p0];\n";
    for (unsigned i = 0; i != 4; ++i) {
      std::string n = std::to_string(i);
      body += "ld.global.b64 %d" + n + ", [%d20+" + std::to_string(8 * i) +
              "];\ncvt.u32.u64 %r" + n + ", %d" + n + ";\ncvt.u16.u64 %h" + n +
              ", %d" + n + ";\n";
    }
    body += snippet.text + "\n";
    if (snippet.text.find("%p9") != std::string::npos)
      body += "selp.b64 %d9, 1, 0, %p9;\n";
    else if (snippet.text.find("%h9") != std::string::npos)
      body += "cvt.u64.u16 %d9, %h9;\n";
    else if (snippet.text.find("%r9") != std::string::npos)
      body += "cvt.u64.u32 %d9, %r9;\n";
    body += "st.global.b64 [%d20+32], %d9;";
    EXPECT_EQ(load(entry(body, 1, "", target)), CUDA_SUCCESS) << error;
    std::vector<uint64_t> memory = snippet.inputs;
    memory.resize(5);
    CUdeviceptr pointer = upload(memory);
    EXPECT_EQ(run("k", 1, 1, {pointer}), CUDA_SUCCESS)
        << fake_cuda_last_fault();
    uint64_t result = download<uint64_t>(pointer, 5)[4];
    EXPECT_EQ(cuMemFree_v2(pointer), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return result;
  }

  std::string target = "sm_90";
};

#endif // LOOPC_UNITTESTS_SNIPPET_H
