//===- PassTrace.cpp - Which passes a model exercises ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/PassTrace.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace mlir;
using namespace loopc;

namespace {
/// Compares the IR before and after each pass, and writes the names when the
/// pass manager ends.
class PassTrace : public PassInstrumentation {
public:
  PassTrace(std::string file, std::set<std::string> lines)
      : file(std::move(file)), lines(std::move(lines)) {}

  ~PassTrace() override {
    // Compilations at the same time, of other processes too, write one file.
    std::error_code error;
    llvm::raw_fd_ostream os(file, error, llvm::sys::fs::OF_Append);
    if (error)
      return;
    std::string text;
    for (const std::string &line : lines)
      text += line + "\n";
    os << text;
  }

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      before.insert_or_assign(pass, OperationFingerPrint(op));
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    auto found = before.find(pass);
    if (found == before.end())
      return;
    if (found->second != OperationFingerPrint(op))
      lines.insert("pass " + pass->getArgument().str());
    before.erase(found);
  }

private:
  std::string file;
  std::set<std::string> lines;
  std::map<Pass *, OperationFingerPrint> before;
};
} // namespace

void loopc::tracePasses(PassManager &passes, ModuleOp module) {
  std::optional<std::string> file =
      llvm::sys::Process::GetEnv("LOOPC_TRACE_PASSES");
  if (!file || file->empty())
    return;
  std::set<std::string> lines;
  module.walk([&](onnx::NodeOp node) {
    lines.insert("node " + node.getOpType().str());
  });
  passes.addInstrumentation(
      std::make_unique<PassTrace>(std::move(*file), std::move(lines)));
}
