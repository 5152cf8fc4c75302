//===- PassTableTest.cpp - Which passes may be left out -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The table of passes holds all of the pipelines' passes and no others, and a
// model does not get through without those that it calls needed.
// test/fuzz/passes_off.py runs models without the others.

#include "loopc/Pipelines/PassTable.h"
#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Pipelines/Registration.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cctype>

using namespace mlir;
using namespace loopc;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Loops, scans and branches on tensors, one of them of an unknown rank.
static constexpr StringLiteral kTensors = R"mlir(
func.func @main(%x: tensor<?x4xf32> {loopc.name = "x"}, %m: tensor<i64> {loopc.name = "m"},
                %b: tensor<i1> {loopc.name = "b"}, %u: tensor<*xf32> {loopc.name = "u"},
                %h: tensor<f64> {loopc.name = "h"})
    -> (tensor<4x?xf32> {loopc.name = "y"}, tensor<?x4xf32> {loopc.name = "rows"},
        tensor<?xf32> {loopc.name = "z"}, tensor<?x2x2xf32> {loopc.name = "w"},
        tensor<f32> {loopc.name = "v"}, tensor<f64> {loopc.name = "e"}) {
  %zero = onnx.constant dense<0.0> : tensor<4xf32>
  %one = onnx.constant dense<1> : tensor<1xi64>
  %axis = onnx.constant dense<0> : tensor<1xi64>
  %shape = onnx.constant dense<[-1, 2, 2]> : tensor<3xi64>
  %scan:2 = loop.scan states(%s = %zero : tensor<4xf32>)
      inputs(%row = %x : tensor<?x4xf32> axis 0 -> tensor<4xf32>)
      outputs(tensor<?x4xf32> axis 0) since 21 {
    %p = onnx.node "Atanh"(%row) since 9 : (tensor<4xf32>) -> tensor<4xf32>
    %t = arith.addf %p, %s : tensor<4xf32>
    %erf = onnx.node "Erf"(%t) since 13 : (tensor<4xf32>) -> tensor<4xf32>
    loop.yield carried(%t : tensor<4xf32>) collect(%erf : tensor<4xf32>)
  }
  %loop:2 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      while(%b : tensor<i1>) carried(%s = %scan#0 : tensor<4xf32>)
      collect(tensor<?x?xf32> axis 0) since 21 {
    %go = onnx.node "Greater"(%m, %i) since 13 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %flag = onnx.node "And"(%go, %b) since 7 : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %g = onnx.node "Gather"(%x, %i) since 13 : (tensor<?x4xf32>, tensor<i64>) -> tensor<4xf32>
    %t = onnx.node "Mul"(%g, %s) since 14 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %tanh = onnx.node "Tanh"(%t) since 13 : (tensor<4xf32>) -> tensor<4xf32>
    %some = onnx.node "Compress"(%tanh, %flag) since 11 : (tensor<4xf32>, tensor<i1>) -> tensor<?xf32>
    loop.yield while(%flag : tensor<i1>) carried(%t : tensor<4xf32>) collect(%some : tensor<?xf32>)
  }
  %taken = tensor.extract %b[] : tensor<i1>
  %max = scf.if %taken -> tensor<?x4xf32> {
    %most = onnx.node "ReduceMax"(%scan#1, %axis) since 20 : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
    %cast = tensor.cast %most : tensor<1x4xf32> to tensor<?x4xf32>
    scf.yield %cast : tensor<?x4xf32>
  } else {
    %less = onnx.node "Neg"(%scan#1) since 13 : (tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %less : tensor<?x4xf32>
  }
  %z = onnx.node "ReduceSum"(%max, %one) since 13 {keepdims = 0 : i64} : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  %y = onnx.node "Transpose"(%scan#1) since 21 {perm = array<i64: 1, 0>} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %w = onnx.node "Reshape"(%scan#1, %shape) since 21 : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x2x2xf32>
  %v = onnx.node "ReduceSum"(%u) since 13 {keepdims = 0 : i64} : (tensor<*xf32>) -> tensor<f32>
  %rows = tensor.cast %loop#1 : tensor<?x?xf32> to tensor<?x4xf32>
  %e = onnx.node "Erf"(%h) since 13 : (tensor<f64>) -> tensor<f64>
  return %y, %rows, %z, %w, %v, %e : tensor<4x?xf32>, tensor<?x4xf32>, tensor<?xf32>, tensor<?x2x2xf32>, tensor<f32>, tensor<f64>
}
)mlir";

/// Lists, parts of rows backwards, rows of which nobody knows the number, and
/// an input that is updated.
static constexpr StringLiteral kLists = R"mlir(
func.func @main(%x: tensor<?x?xf32> {loopc.name = "x"}, %b: tensor<i1> {loopc.name = "b"},
                %at: tensor<i64> {loopc.name = "at"})
    -> (tensor<?x?xf32> {loopc.name = "y"}, tensor<?x?xf32> {loopc.name = "rows"},
        tensor<?x?xf32> {loopc.name = "part"}, tensor<?x?xf32> {loopc.name = "updated"}) {
  %start = onnx.constant dense<-1> : tensor<1xi64>
  %end = onnx.constant dense<-9> : tensor<1xi64>
  %axis = onnx.constant dense<1> : tensor<1xi64>
  %step = onnx.constant dense<-2> : tensor<1xi64>
  %three = onnx.constant dense<3> : tensor<i64>
  %back = onnx.node "Slice"(%x, %start, %end, %axis, %step) since 13 : (tensor<?x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  %y = onnx.node "Concat"(%back, %x) since 13 {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %none = onnx.node "SequenceEmpty"() since 11 {dtype = 1 : i64} : () -> !onnx.seq<tensor<*xf32>>
  %empty = onnx.cast %none : !onnx.seq<tensor<*xf32>> to !onnx.seq<tensor<?x?xf32>>
  %loop:2 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) while(%b : tensor<i1>)
      carried(%list = %empty : !onnx.seq<tensor<?x?xf32>>) collect(tensor<?x?xf32> axis 0) since 21 {
    %row = onnx.node "Gather"(%x, %i) since 13 : (tensor<?x?xf32>, tensor<i64>) -> tensor<?xf32>
    %least = onnx.node "ReduceMin"(%row) since 20 {keepdims = 0 : i64} : (tensor<?xf32>) -> tensor<f32>
    %number = onnx.node "Cast"(%least) since 21 {to = 7 : i64} : (tensor<f32>) -> tensor<i64>
    %go = onnx.node "Less"(%number, %three) since 13 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %longer = onnx.node "SequenceInsert"(%list, %back) since 11 : (!onnx.seq<tensor<?x?xf32>>, tensor<?x?xf32>) -> !onnx.seq<tensor<?x?xf32>>
    loop.yield while(%go : tensor<i1>) carried(%longer : !onnx.seq<tensor<?x?xf32>>) collect(%row : tensor<?xf32>)
  }
  %part = onnx.node "SequenceAt"(%loop#0, %at) since 11 : (!onnx.seq<tensor<?x?xf32>>, tensor<i64>) -> tensor<?x?xf32>
  %place = onnx.constant dense<0> : tensor<1x1xi64>
  %number = onnx.constant dense<2.0> : tensor<1x1xf32>
  %updated = onnx.node "ScatterElements"(%x, %place, %number) since 18 : (tensor<?x?xf32>, tensor<1x1xi64>, tensor<1x1xf32>) -> tensor<?x?xf32>
  return %y, %loop#1, %part, %updated : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
)mlir";

/// Needed passes without which both programs get through the pipeline.
static constexpr StringLiteral kNotProved[] = {
    // What they lower is not in these programs.
    "cpu-join-sections",
    "loopc-lower-transfers",
    "reconcile-unrealized-casts",
    // Without it code is made for any CPU.
    "loopc-set-target",
    // They mend what is wrong in few programs.
    "buffer-privatize-empty",
    "buffer-resolve-dropped-axes",
    "loopc-retract-packed",
    "nest-retract-unproved",
    // It is what would say so.
    "loopc-verify-stage",
};

/// The passes of a pipeline in order: operations that passes are nested under
/// stand in front of a parenthesis, options between braces.
static std::vector<std::string> listPasses(const PipelineOptions &options) {
  std::vector<std::string> passes;
  OpPassManager manager(ModuleOp::getOperationName());
  buildPipeline(manager, options, Stage::LLVM);
  std::string text, name;
  llvm::raw_string_ostream os(text);
  manager.printAsTextualPipeline(os);
  int depth = 0;
  for (char c : text + ",") {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth || c == '}')
      continue;
    if (isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.') {
      name += c;
      continue;
    }
    if (c != '(' && !name.empty())
      passes.push_back(name);
    name.clear();
  }
  return passes;
}

static void collectNames(const PipelineOptions &options,
                         llvm::StringSet<> &names) {
  for (const std::string &pass : listPasses(options))
    names.insert(pass);
}

static const PassEntry *findEntry(StringRef name) {
  for (const PassEntry &entry : getPassTable())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

TEST(PassTable, HasThePassesOfAllPipelines) {
  llvm::StringSet<> names;
  for (int level : {0, 3})
    for (StringRef chip : {"", "sm_90"})
      for (bool check : {false, true}) {
        PipelineOptions options;
        options.optLevel = level;
        options.gpu.chip = chip.str();
        options.checkAccesses = check;
        options.profile = check;
        options.weights = check ? WeightType::Int8 : WeightType::Model;
        options.vectors = VectorUnit();
        collectNames(options, names);
      }
  for (const auto &entry : names)
    EXPECT_TRUE(findEntry(entry.getKey()))
        << "'" << entry.getKey().str() << "' is not in the table";
  StringRef before;
  for (const PassEntry &entry : getPassTable()) {
    EXPECT_TRUE(names.contains(entry.name))
        << "'" << entry.name.str() << "' is in no pipeline";
    EXPECT_LT(before, entry.name);
    EXPECT_FALSE(entry.reason.empty());
    before = entry.name;
  }
}

/// Compile time: each run goes through all of a function.
TEST(PassTable, SimplifiesOnlyWhereSomethingIsFound) {
  PipelineOptions options;
  options.optLevel = 3;
  options.vectors = VectorUnit();
  std::vector<std::string> passes = listPasses(options);
  EXPECT_LE(llvm::count(passes, "canonicalize"), 16);
  EXPECT_LE(llvm::count(passes, "loopc-eliminate-common"), 13);
}

TEST(PassTable, LeavesOutWhatIsSwitchedOff) {
  for (const PassEntry &entry : getPassTable()) {
    PipelineOptions options;
    options.gpu.chip = "sm_90";
    options.vectors = VectorUnit();
    options.disabledPasses = {entry.name.str()};
    llvm::StringSet<> names;
    collectNames(options, names);
    EXPECT_FALSE(names.contains(entry.name)) << entry.name.str();
    EXPECT_GT(names.size(), 20u);
  }
}

TEST(PassTable, RefusesNames) {
  EXPECT_THAT(checkDisabledPasses({}), IsEmpty());
  EXPECT_THAT(checkDisabledPasses({"loopc-share-nests", "canonicalize"}),
              IsEmpty());
  EXPECT_THAT(checkDisabledPasses({"loopc-eliminate-common", "cs"}),
              StartsWith("there is no pass 'cs'; what can be left out is "
                         "buffer-assign-storage, "));
  std::string text = checkDisabledPasses({"loopc-bufferize"});
  EXPECT_THAT(text, StartsWith("'loopc-bufferize' is needed: "));
  EXPECT_THAT(text, HasSubstr(", loop-fuse-loops, "));
  EXPECT_THAT(text, testing::Not(HasSubstr("loop-scalarize")));
}

namespace {
/// Runs programs through pipelines.
class NeededPasses : public testing::Test {
protected:
  NeededPasses() : context(makeRegistry()) {}

  /// Whether a program is compiled without a pass; if not, an error says so.
  bool isCompiledWithout(StringRef pass, StringRef program) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(program, &context);
    EXPECT_TRUE(module);
    if (!module)
      return false;
    PipelineOptions options;
    options.optLevel = 3;
    options.disabledPasses = {pass.str()};
    PassManager manager(&context);
    buildPipeline(manager, options, Stage::LLVM);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += diagnostic.str() + "\n";
    });
    bool hasFailed = failed(manager.run(*module));
    EXPECT_EQ(hasFailed, !said.empty()) << pass.str() << ": " << said;
    return !hasFailed;
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  MLIRContext context;
};
} // namespace

TEST_F(NeededPasses, AreMissed) {
  for (StringRef program : {kTensors, kLists})
    ASSERT_TRUE(isCompiledWithout("", program));
  PipelineOptions options;
  options.optLevel = 3;
  llvm::StringSet<> names;
  collectNames(options, names);
  for (const PassEntry &entry : getPassTable()) {
    if (entry.use != PassUse::Needed || !names.contains(entry.name))
      continue;
    bool isMissed = !isCompiledWithout(entry.name, kTensors) ||
                    !isCompiledWithout(entry.name, kLists);
    EXPECT_EQ(isMissed, !llvm::is_contained(kNotProved, entry.name))
        << entry.name.str();
  }
}
