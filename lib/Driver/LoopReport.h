//===- LoopReport.h - What became of a model's loops ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_DRIVER_LOOPREPORT_H
#define LOOPC_LIB_DRIVER_LOOPREPORT_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace loopc {

/// A remark, and how often it was made.
struct ReportedRemark {
  std::string place; ///< graph path of the node
  std::string text;
  bool isDone = false; ///< else: why something was not done
  /// About the version of a loop for any extents, where there is another one.
  bool isGeneral = false;
  unsigned count = 1;
};

/// One loop of the code.
struct ReportedLoop {
  std::string path; ///< "main/#3 Loop 'decode' (opset 21)"
  unsigned depth = 0;
  std::string trips;
  /// "2 in place", "1 in registers", ...
  std::vector<std::string> carried, collected;
  std::string vectors;
  unsigned sharedNests = 0; ///< nodes whose nests threads share
  unsigned allocations = 0; ///< of buffers, in each iteration
  std::vector<ReportedRemark> remarks;
};

/// Watches a compilation: the loops as the passes leave them, and what they say
/// of them.
class LoopReport {
public:
  LoopReport();
  ~LoopReport();

  /// Takes the remarks of `context`.
  void watch(mlir::MLIRContext &context);
  void watch(mlir::PassManager &passes);

  /// The loops of the code in their order, those within a loop behind it; after
  /// the compilation.
  std::vector<ReportedLoop> takeLoops();
  /// Loops of the model that are none of the code, with what the passes say of
  /// them.
  std::vector<ReportedLoop> takeGone();

  struct State;

private:
  std::unique_ptr<State> state;
};

void printReport(llvm::StringRef model, llvm::ArrayRef<ReportedLoop> loops,
                 llvm::ArrayRef<ReportedLoop> gone, llvm::raw_ostream &os);
/// The same as a picture, SVG.
void drawReport(llvm::StringRef model, llvm::ArrayRef<ReportedLoop> loops,
                llvm::ArrayRef<ReportedLoop> gone, llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_LIB_DRIVER_LOOPREPORT_H
