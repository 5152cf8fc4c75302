//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Registration.h"
#include "loopc/Bufferize/Models.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Conversion/LoopToSCF/Passes.h"
#include "loopc/Conversion/ONNXToLinalg/Passes.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Conversion/UnknownRank/Passes.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/Transforms/Passes.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Instrument/Passes.h"
#include "loopc/Pipelines/Passes.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void loopc::registerAllDialects(mlir::DialectRegistry &registry) {
  registerSliceSubsetModels(registry);
  registerConcatBufferizationModel(registry);
  registerYieldBufferizationModel(registry);
  registerVectorWriteModel(registry);
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<LoopcDialect, device::DeviceDialect, list::ListDialect,
                  loop::LoopDialect, onnx::ONNXDialect, rt::RTDialect>();
  loop::registerBufferizableOpInterfaceExternalModels(registry);
}

void loopc::registerAllPasses() {
  mlir::registerAllPasses();
  registerLoopcBufferizePasses();
  registerLoopcCodegenCPUPasses();
  registerLoopcGPURegionsPasses();
  registerLoopcGPUKernelsPasses();
  registerLoopcLoopToSCFPasses();
  registerLoopcONNXToLinalgPasses();
  registerLoopcTensorPasses();
  registerLoopcToLLVMPasses();
  registerLoopcUnknownRankPasses();
  registerLoopcInstrumentPasses();
  registerLoopcNestPasses();
  registerLoopcLoopPasses();
  registerLoopcLoopGrowthPasses();
  onnx::registerLoopcONNXPasses();
  registerLoopcPipelinesPasses();
  registerPipelines();
}
