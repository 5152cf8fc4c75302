//===- Provider.h - The execution provider of a session ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_PROVIDER_H
#define LOOPC_LIB_ONNXRUNTIME_PROVIDER_H

#include "Export.h"
#include "Kernel.h"
#include "Regions.h"

#include <map>

namespace loopc::ort {

/// Takes nodes of a session's graphs, compiles and runs them.
class Provider : public OrtEp {
public:
  Provider(const Api &api, const OrtLogger *logger, Options options);

private:
  /// A model that was compiled, or why it could not be.
  struct Attempt {
    std::shared_ptr<const Model> model; ///< null where it cannot be run here
    std::string problem;                ///< why
    std::string library;                ///< its bytes, where they are written
    std::string refusal;                ///< where it cannot be compiled
    std::string unfitPort;              ///< where onnxruntime cannot call it
  };

  void claimNodes(const OrtGraph *graph, OrtEpGraphSupportInfo *info);
  bool isInClaimed(const OrtGraph *graph);
  /// Compiles a model once.
  const Attempt &compileOnce(const Message &message);
  void compileInto(Attempt &attempt, const std::string &bytes) const;
  ExportedModel writeModel(const OrtGraph *graph,
                           const std::vector<const OrtNode *> &nodes) const;
  /// Tries nodes of a graph. \returns why loopc does not compile them; "" where
  /// it does.
  std::string findRefusal(const OrtGraph *graph,
                          const std::vector<const OrtNode *> &nodes);
  /// A region with what is little work around it, where loopc compiles that.
  std::vector<const OrtNode *>
  widen(const OrtGraph *graph, const Regions &regions,
        const std::vector<const OrtNode *> &region);
  std::unique_ptr<Kernel> compileNodes(const OrtGraph *graph,
                                       const OrtNode *fused,
                                       OrtNode *&contextNode);
  void setDynamicOption(std::string_view key, std::string_view value);

  const Api &api;
  const OrtLogger *logger;
  Options options;
  Runs runs;
  /// By a hash of the model, until nodes are fused.
  std::map<std::pair<uint64_t, uint64_t>, Attempt> attempts;
};

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_PROVIDER_H
