//===- GraphLaunches.cpp - The host's side of graphs ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DealNests.h"
#include "DeviceRegions.h"
#include "LoopGraphs.h"
#include "ProductTiles.h"
#include "RotateLoops.h"
#include "StateWords.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_MAKELOOPGRAPHS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// More blocks than that go over a nest in rounds.
static constexpr int64_t kMaxBlocks = int64_t(1) << 20;
/// Blocks for nests whose size is known only when they are reached: two for
/// each multiprocessor of a large device.
static constexpr int64_t kGuessedBlocks = 256;
/// What is taken for the length of a sum that is known only then.
static constexpr int64_t kGuessedLength = 256;

namespace {
class GraphLauncher {
public:
  GraphLauncher(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel,
                ValueRange given, const ProductTarget &target)
      : b(b), kernel(kernel), target(target) {
    mapping.map(kernel.getArguments().drop_front(), given);
  }

  void launch(const LoopGraph &graph, ValueRange given);

private:
  Value known(Value value);
  Value countIterations(scf::ForOp nest);
  Value countThreads(const GraphNode &node);
  Value countBlocks(const GraphNode &node);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  gpu::GPUFuncOp kernel;
  ProductTarget target;
  IRMapping mapping;
};
} // namespace

/// What `value`, of the kernel, is for the host before it begins; null where
/// that is not known.
Value GraphLauncher::known(Value value) {
  if (Value found = mapping.lookupOrNull(value))
    return found;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || !isSafeToSpeculate(def))
    return {};
  for (Value operand : def->getOperands())
    if (!known(operand))
      return {};
  b.clone(*def, mapping);
  return mapping.lookup(value);
}

Value GraphLauncher::countIterations(scf::ForOp nest) {
  Value total = index(1);
  for (scf::ForOp loop : collectSharedLoops(nest)) {
    Value from = known(loop.getLowerBound());
    Value to = known(loop.getUpperBound()), step = known(loop.getStep());
    if (!from || !to || !step)
      return {};
    Value size = b.createOrFold<arith::SubIOp>(to, from);
    size = b.createOrFold<arith::MaxSIOp>(size, index(0));
    size = b.createOrFold<arith::CeilDivUIOp>(size, step);
    total = b.createOrFold<arith::MulIOp>(total, size);
  }
  return total;
}

/// Threads for the nest of a node; null where its size is not known.
Value GraphLauncher::countThreads(const GraphNode &node) {
  Value total = countIterations(node.nest);
  if (!total)
    return {};
  auto orGuess = [&](Value value) {
    Value found = known(value);
    return found ? found : index(kGuessedLength);
  };
  total = countDealtThreads(b, node.nest, total, index(node.threads), orGuess);
  if (node.hasTiles)
    total = countTileThreads(b, node.nest, target, total, orGuess);
  return total;
}

Value GraphLauncher::countBlocks(const GraphNode &node) {
  if (!node.nest)
    return index(1);
  Value total = countThreads(node);
  if (!total)
    return index(kGuessedBlocks);
  Value blocks = b.createOrFold<arith::CeilDivUIOp>(total, index(node.threads));
  blocks = b.createOrFold<arith::MinUIOp>(blocks, index(kMaxBlocks));
  return b.createOrFold<arith::MaxUIOp>(blocks, index(1));
}

void GraphLauncher::launch(const LoopGraph &graph, ValueRange given) {
  SmallVector<Attribute> kernels;
  SmallVector<int32_t> nodes;
  SmallVector<Value> blocks, words;
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  for (const GraphNode &node : graph.nodes) {
    bool isKernel = node.handle < 0;
    int32_t number = isKernel ? static_cast<int32_t>(kernels.size())
                              : static_cast<int32_t>(node.isLoop);
    llvm::append_values(nodes, node.body, node.handle, number,
                        isKernel ? node.threads : 0);
    if (!isKernel)
      continue;
    auto name = node.kernel;
    kernels.push_back(SymbolRefAttr::get(
        module.getNameAttr(), {FlatSymbolRefAttr::get(name.getNameAttr())}));
    blocks.push_back(countBlocks(node));
  }
  for (unsigned k = 0; k < graph.numOwnWords; ++k)
    words.push_back(
        arith::ConstantOp::create(b, b.getIntegerAttr(b.getI64Type(), 0)));
  for (Value value : given)
    llvm::append_range(words, toWords(b, value));
  device::GraphOp::create(b, b.getArrayAttr(kernels), nodes, graph.numHandles,
                          graph.numWords, blocks, words);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Iterations of a nest above which a kernel for the whole device goes over it
/// in rounds, and how many times as large as the smallest one the largest nest
/// has to be. Guesses: no device was at hand.
static constexpr int64_t kManyIterations = int64_t(1) << 20;
static constexpr int64_t kVeryDifferent = 64;

/// Why the loop of `kernel`, which may become a graph of its nests, should be
/// one rather than a kernel for the whole device; "" where it should not.
static std::string findGraphReason(gpu::GPUFuncOp kernel) {
  int64_t least = 0, most = 0;
  bool isKnown = true;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSharedLoop(op))
      return WalkResult::advance();
    int64_t total = 1;
    for (scf::ForOp loop : collectSharedLoops(cast<scf::ForOp>(op))) {
      std::optional<APInt> trips = loop.getStaticTripCount();
      isKnown &= trips.has_value();
      total *= trips
                   ? std::min<int64_t>(trips->getLimitedValue(1 << 30), 1 << 30)
                   : 1;
      total = std::min<int64_t>(total, int64_t(1) << 31);
    }
    least = least ? std::min(least, total) : total;
    most = std::max(most, total);
    return WalkResult::skip();
  });
  if (!isKnown || most < kManyIterations || most / kVeryDifferent < least)
    return "";
  return "its nests have between " + std::to_string(least) + " and " +
         std::to_string(most) + " elements";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// True where the threads of `kernel` go through its loop together.
static bool hasSequentialLoop(gpu::GPUFuncOp kernel) {
  return llvm::any_of(kernel.getBody().front(), [](Operation &op) {
    return isa<LoopLikeOpInterface>(op) && !isSharedLoop(&op) &&
           hasSharedLoop(&op);
  });
}

namespace {
struct MakeLoopGraphs : loopc::impl::MakeLoopGraphsBase<MakeLoopGraphs> {
  using MakeLoopGraphsBase::MakeLoopGraphsBase;

  void runOnOperation() override {
    LogicalResult result =
        visitRegions(getOperation(),
                     [&](device::RegionOp region, gpu::GPUFuncOp kernel,
                         AliasClasses &classes) -> LogicalResult {
                       std::string reason = findReason(region, kernel);
                       if (!reason.empty())
                         makeGraph(region, kernel, classes, reason);
                       return success();
                     });
    if (failed(result))
      signalPassFailure();
  }

private:
  /// Why the loop of `region` becomes a graph; "" where it does not.
  std::string findReason(device::RegionOp region, gpu::GPUFuncOp kernel) {
    if (isSharedLoop(region.getLoop()) || !region.getGrid().empty())
      return "";
    DeviceLoops loops = getGPUTarget(region).loops;
    if (loops == DeviceLoops::Graph)
      return "--device-loops=graph";
    if (hasTooManyParameters(kernel))
      return "its buffers are more than a kernel can be given";
    return loops == DeviceLoops::Auto && hasSequentialLoop(kernel)
               ? findGraphReason(kernel)
               : "";
  }

  void makeGraph(device::RegionOp region, gpu::GPUFuncOp kernel,
                 AliasClasses &classes, StringRef reason) {
    ProductTarget target = getProductTarget(getOperation());
    rotateLoops(kernel);
    LoopGraph graph = makeLoopGraph(
        kernel, *getKernelClasses(region, kernel, classes), target);
    ImplicitLocOpBuilder b(region.getLoc(), region);
    GraphLauncher(b, kernel, region.getGiven(), target)
        .launch(graph, region.getGiven());
    size_t count = llvm::count_if(
        graph.nodes, [](const GraphNode &node) { return node.handle < 0; });
    remarkDone(region.getLoc(), "Kernel",
               "the loop runs on the GPU as a graph of " + Twine(count) +
                   " kernels: " + reason);
    classes.erase(region);
    kernel.erase();
    ++numGraphs;
  }
};
} // namespace
