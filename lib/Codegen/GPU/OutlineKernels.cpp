//===- OutlineKernels.cpp - Nests and loops as kernels --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-outline-kernels: nests whose iterations are independent, and whole
// loops around such nests, become kernels of a GPU; the host launches them.

#include "Accumulators.h"
#include "BlockState.h"
#include "DealNests.h"
#include "DeviceCode.h"
#include "FoldViews.h"
#include "FuseNests.h"
#include "GraphLaunches.h"
#include "Grids.h"
#include "HoistAllocations.h"
#include "KernelBody.h"
#include "KernelLoops.h"
#include "KernelRegions.h"
#include "LibraryProducts.h"
#include "LoneWork.h"
#include "LoopSlices.h"
#include "Placement.h"
#include "RotateLoops.h"
#include "SplitSums.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "loopc/Codegen/GPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// Makes one kernel.
class KernelOutliner {
public:
  KernelOutliner(gpu::GPUModuleOp kernels, func::FuncOp function,
                 AliasClasses &classes, const ProductTarget &target,
                 DeviceLoops loops, Cublas cublas)
      : kernels(kernels), function(function), classes(classes), target(target),
        loops(loops), cublas(cublas), b(function.getLoc(), function),
        converter(function.getContext()), grids(b, target, loops) {}

  /// Moves `region` into a kernel, or a graph of some, that the host launches
  /// in its place. \returns what it has become.
  std::string outline(Operation *region);

private:
  gpu::GPUFuncOp makeKernel(Operation *region, ValueRange captures,
                            ArrayRef<Operation *> constants,
                            ValueRange mailboxes);
  void storeResults(Operation *made, ValueRange mailboxes);
  SmallVector<Value> makeMailboxes(Operation *region);
  void loadResults(Operation *region, ValueRange mailboxes);
  Value rebuild(MemRefType type, Value mailbox);
  std::string nameKernel(Operation *region);
  std::string launchKernel(Operation *region, gpu::GPUFuncOp kernel,
                           ValueRange given, const KernelShape &shape);
  gpu::LaunchFuncOp launch(gpu::GPUFuncOp kernel, const Grid &grid,
                           ValueRange given);
  std::string makeGraph(gpu::GPUFuncOp kernel, ValueRange given,
                        StringRef reason);
  gpu::GPUFuncOp prepareKernel(Operation *region, const Captures &captures,
                               ValueRange given, ValueRange mailboxes);
  std::string finishKernel(Operation *region, gpu::GPUFuncOp kernel,
                           ValueRange given, bool isApart);
  std::string launchSlices(const LoopSlices &slices, gpu::GPUFuncOp kernel,
                           ValueRange given);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  gpu::GPUModuleOp kernels;
  func::FuncOp function;
  AliasClasses &classes;
  ProductTarget target;
  DeviceLoops loops;
  Cublas cublas;
  ImplicitLocOpBuilder b;
  LLVMTypeConverter converter;
  GridChooser grids;
  unsigned numKernels = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Words that describe a buffer: where it is, the offset, sizes and strides.
static int64_t countWords(MemRefType type) { return 2 + 2 * type.getRank(); }

/// Memory that kernel and host reach, one for each result that is read; null
/// for the others. Made once a run.
SmallVector<Value> KernelOutliner::makeMailboxes(Operation *region) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  SmallVector<Value> mailboxes;
  for (Value result : region->getResults()) {
    if (result.use_empty()) {
      mailboxes.push_back(Value());
      continue;
    }
    auto buffer = dyn_cast<MemRefType>(result.getType());
    auto type = buffer ? MemRefType::get({countWords(buffer)}, b.getIndexType())
                       : MemRefType::get({1}, result.getType());
    mailboxes.push_back(gpu::AllocOp::create(b, type, Type(), ValueRange(),
                                             ValueRange(), ValueRange(),
                                             /*hostShared=*/true)
                            .getMemref());
  }
  return mailboxes;
}

/// At the end of a kernel.
void KernelOutliner::storeResults(Operation *made, ValueRange mailboxes) {
  for (auto [result, mailbox] :
       llvm::zip_equal(made->getResults(), mailboxes)) {
    if (!mailbox)
      continue;
    SmallVector<Value> words{result};
    if (auto buffer = dyn_cast<MemRefType>(result.getType())) {
      auto view = memref::ExtractStridedMetadataOp::create(b, result);
      words = {memref::ExtractAlignedPointerAsIndexOp::create(b, result),
               view.getOffset()};
      llvm::append_range(words, view.getSizes());
      llvm::append_range(words, view.getStrides());
    }
    for (auto [k, word] : llvm::enumerate(words))
      memref::StoreOp::create(b, word, mailbox, ValueRange{index(k)});
  }
}

/// The buffer that a kernel described.
Value KernelOutliner::rebuild(MemRefType type, Value mailbox) {
  auto word = [&](int64_t k) -> Value {
    Value loaded = memref::LoadOp::create(b, mailbox, ValueRange{index(k)});
    return UnrealizedConversionCastOp::create(b, b.getI64Type(), loaded)
        .getResult(0);
  };
  Type layout = converter.convertType(type);
  Value descriptor = LLVM::PoisonOp::create(b, layout);
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    descriptor = LLVM::InsertValueOp::create(b, descriptor, value, place);
  };
  Value data = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), word(0));
  set(data, {0});
  set(data, {1});
  set(word(1), {2});
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    set(word(2 + axis), {3, axis});
    set(word(2 + type.getRank() + axis), {4, axis});
  }
  return UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0);
}

void KernelOutliner::loadResults(Operation *region, ValueRange mailboxes) {
  for (auto [result, mailbox] :
       llvm::zip_equal(region->getResults(), mailboxes)) {
    if (!mailbox)
      continue;
    Value loaded;
    if (auto buffer = dyn_cast<MemRefType>(result.getType())) {
      loaded = rebuild(buffer, mailbox);
      classes.join(result, loaded);
    } else {
      loaded = memref::LoadOp::create(b, mailbox, ValueRange{index(0)});
    }
    result.replaceAllUsesWith(loaded);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A name for the code and for messages: the node's, as far as C allows.
std::string KernelOutliner::nameKernel(Operation *region) {
  std::string name = isSharedLoop(region) ? "nest" : "loop";
  Location loc = region->getLoc();
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    // "main/Loop 'decode'/body/#4 Cast (opset 21)"
    StringRef path = named.getName().getValue();
    path = path.substr(0, path.rfind(" ("));
    std::string clean;
    for (char c : path.take_back(64))
      if (llvm::isAlnum(c))
        clean += c;
      else if (!clean.empty() && clean.back() != '_')
        clean += '_';
    name = clean.empty() ? name : StringRef(clean).rtrim('_').str();
    return WalkResult::interrupt();
  });
  if (llvm::isDigit(name.front()))
    name.insert(name.begin(), '_');
  return name + "_" + std::to_string(numKernels++);
}

gpu::GPUFuncOp KernelOutliner::makeKernel(Operation *region,
                                          ValueRange captures,
                                          ArrayRef<Operation *> constants,
                                          ValueRange mailboxes) {
  SmallVector<Value> given(captures);
  for (Value mailbox : mailboxes)
    if (mailbox)
      given.push_back(mailbox);
  SmallVector<Type> types{LLVM::LLVMPointerType::get(b.getContext())};
  llvm::append_range(types, ValueRange(given).getTypes());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(kernels.getBody());
  auto made = gpu::GPUFuncOp::create(b, nameKernel(region),
                                     b.getFunctionType(types, TypeRange()));
  made->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // At most: a launch may have fewer.
  int32_t threads = isSharedLoop(region) ? kNestThreads : kLoneThreads;
  made.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));
  Block &entry = made.getBody().front();
  b.setInsertionPointToStart(&entry);
  IRMapping mapping;
  for (auto [outside, inside] :
       llvm::zip_equal(given, entry.getArguments().drop_front()))
    mapping.map(outside, inside);
  for (Operation *constant : constants)
    b.clone(*constant, mapping);
  Operation *clone = b.clone(*region, mapping);
  SmallVector<Value> inside;
  for (Value mailbox : mailboxes)
    inside.push_back(mailbox ? mapping.lookup(mailbox) : Value());
  storeResults(clone, inside);
  gpu::ReturnOp::create(b);
  return made;
}

/// The classes of the buffers in `kernel`; of its arguments those of `given`.
static std::unique_ptr<AliasClasses>
classesIn(gpu::GPUFuncOp kernel, ValueRange given, const AliasClasses &outer) {
  auto classes = std::make_unique<AliasClasses>(kernel);
  DenseMap<const void *, Value> firsts;
  for (auto [outside, inside] :
       llvm::zip_equal(given, kernel.getArguments().drop_front()))
    if (isa<MemRefType>(outside.getType())) {
      auto [it, isNew] = firsts.try_emplace(outer.of(outside), inside);
      if (!isNew)
        classes->join(it->second, inside);
    }
  return classes;
}

gpu::LaunchFuncOp KernelOutliner::launch(gpu::GPUFuncOp kernel,
                                         const Grid &grid, ValueRange given) {
  Value one = index(1);
  SmallVector<Value> arguments{
      LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()))};
  llvm::append_range(arguments, given);
  return gpu::LaunchFuncOp::create(
      b, kernel, gpu::KernelDim3{grid.blocks, one, one},
      gpu::KernelDim3{grid.threads, one, one},
      /*dynamicSharedMemorySize=*/Value(), arguments);
}

std::string KernelOutliner::launchKernel(Operation *region,
                                         gpu::GPUFuncOp kernel,
                                         ValueRange given,
                                         const KernelShape &shape) {
  Grid grid = grids.choose(region, shape);
  int64_t state = 0;
  if (shape.hasBarriers && isConstantIntValue(grid.blocks, 1))
    state = keepInBlock(kernel, given, region, classes);
  std::optional<LibraryProduct> product;
  if (isSharedLoop(region))
    product =
        matchLibraryProduct(cast<scf::ForOp>(region), cublas, target.allowTf32);
  OpBuilder::InsertionGuard guard(b);
  if (product) {
    Value isLeft = callLibrary(
        b, *product, function->getParentOfType<ModuleOp>(), kernel.getName());
    auto branch = scf::IfOp::create(b, isLeft, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  gpu::LaunchFuncOp launched = launch(kernel, grid, given);
  if (shape.hasBarriers)
    launched->setAttr(kCooperativeAttrName, b.getUnitAttr());
  bool mayBeCluster =
      getConstantIntValue(grid.blocks).value_or(2) <= LOOPC_CUDA_MAX_CLUSTER;
  if (shape.hasBarriers && grids.hasClusters() && mayBeCluster &&
      !isConstantIntValue(grid.blocks, 1)) {
    launched->setAttr(kClusterAttrName, b.getUnitAttr());
    kernels->setAttr(kClustersAttrName, b.getUnitAttr());
  }
  if (product)
    return "cuBLAS computes it where the run finds it, else a kernel";
  if (isSharedLoop(region))
    return "its elements are computed by a kernel";
  std::string where = shape.hasBarriers ? grids.describe(grid, state) : "";
  return "the loop runs on the GPU as one kernel" + where;
}

/// `kernel` is what the graph is made of.
std::string KernelOutliner::makeGraph(gpu::GPUFuncOp kernel, ValueRange given,
                                      StringRef reason) {
  rotateLoops(kernel);
  LoopGraph graph =
      makeLoopGraph(kernel, *classesIn(kernel, given, classes), target);
  launchGraph(b, graph, kernel, given, target);
  kernel.erase();
  size_t count = llvm::count_if(
      graph.nodes, [](const GraphNode &node) { return node.handle < 0; });
  return ("the loop runs on the GPU as a graph of " + Twine(count) +
          " kernels: " + reason)
      .str();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

std::string KernelOutliner::launchSlices(const LoopSlices &slices,
                                         gpu::GPUFuncOp kernel,
                                         ValueRange given) {
  separateSlices(slices);
  Grid grid = grids.chooseForSlices(slices, kernel, given);
  distributeKernel(kernel, *classesIn(kernel, given, classes), target);
  launch(kernel, grid, given);
  return "the loop runs on the GPU as one kernel, whose blocks go through it "
         "by "
         "themselves, each with slices of its own";
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

gpu::GPUFuncOp KernelOutliner::prepareKernel(Operation *region,
                                             const Captures &captures,
                                             ValueRange given,
                                             ValueRange mailboxes) {
  gpu::GPUFuncOp kernel =
      makeKernel(region, captures.values.getArrayRef(),
                 captures.constants.getArrayRef(), mailboxes);
  simplifyKernel(kernel);
  // Copies are nests now.
  fuseNests(kernel, *classesIn(kernel, given, classes), /*hasLibdevice=*/true);
  return kernel;
}

/// True where `kernel` has more than the 32,764 bytes of parameters that PTX
/// allows: buffers are their addresses, offsets, extents and strides.
static bool hasTooManyParameters(gpu::GPUFuncOp kernel) {
  constexpr int64_t kMostWords = 32764 / 8;
  int64_t words = 0;
  for (Type type : kernel.getArgumentTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    words += buffer ? 3 + 2 * buffer.getRank() : 1;
  }
  return words > kMostWords;
}

/// Deals `kernel` out to the threads of a grid, or cuts it for a graph;
/// `isApart` where threads go through its loop by themselves.
std::string KernelOutliner::finishKernel(Operation *region,
                                         gpu::GPUFuncOp kernel,
                                         ValueRange given, bool isApart) {
  if (!isSharedLoop(region) && !isApart) {
    std::string reason;
    if (loops == DeviceLoops::Graph)
      reason = "--device-loops=graph";
    else if (hasTooManyParameters(kernel))
      reason = "its buffers are more than a kernel can be given";
    else if (loops == DeviceLoops::Auto)
      reason = findGraphReason(kernel);
    if (!reason.empty())
      return makeGraph(kernel, given, reason);
  }
  KernelShape shape =
      distributeKernel(kernel, *classesIn(kernel, given, classes), target);
  if (shape.hasTiles)
    kernel.setKnownBlockSizeAttr(
        b.getDenseI32ArrayAttr({static_cast<int32_t>(kTileThreads), 1, 1}));
  return launchKernel(region, kernel, given, shape);
}

std::string KernelOutliner::outline(Operation *region) {
  b.setLoc(region->getLoc());
  Captures captures;
  captures.addAll(region);
  SmallVector<Value> mailboxes = makeMailboxes(region);
  SmallVector<Value> given(captures.values.begin(), captures.values.end());
  for (Value mailbox : mailboxes)
    if (mailbox)
      given.push_back(mailbox);
  auto prepare = [&] {
    return prepareKernel(region, captures, given, mailboxes);
  };
  gpu::GPUFuncOp kernel = prepare();
  bool isApart = false;
  std::optional<LoopSlices> slices;
  if (!isSharedLoop(region) && loops != DeviceLoops::Graph &&
      !hasTooManyParameters(kernel)) {
    auto inner = classesIn(kernel, given, classes);
    isApart = interchangeLoops(kernel, *inner);
    if (!isApart)
      slices = findLoopSlices(kernel, *inner);
  }
  b.setInsertionPoint(region);
  Value when = slices ? grids.isWorthSlices(*slices, kernel, given) : Value();
  std::optional<int64_t> known =
      when ? getConstantIntValue(when) : std::optional<int64_t>(0);
  std::string become;
  if (!known) {
    auto branch = scf::IfOp::create(b, when, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    become = launchSlices(*slices, kernel, given) +
             ", where there are enough of them; else: ";
    gpu::GPUFuncOp whole = prepare();
    b.setInsertionPointToStart(branch.elseBlock());
    become += finishKernel(region, whole, given, isApart);
    b.setInsertionPoint(region);
  } else if (*known) {
    become = launchSlices(*slices, kernel, given);
  } else {
    become = finishKernel(region, kernel, given, isApart);
  }
  loadResults(region, mailboxes);
  classes.erase(region);
  return become;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OutlineKernels : loopc::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>("loopc_entry");
    if (!function || function.isExternal())
      return;
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(b, module.getLoc(), "loopc_kernels");
    foldViews(function);
    settleResults(function);
    if (loops != DeviceLoops::Host) {
      hoistAllocations(function, hasLibdevice);
      splitSums(function, hasLibdevice);
    }
    makeLoneNests(function, minWork, hasLibdevice,
                  /*hostDrivesLoops=*/loops == DeviceLoops::Host);
    auto known = std::make_unique<AliasClasses>(function);
    fuseNests(function, *known, hasLibdevice, [&](scf::ForOp nest) {
      return matchLibraryProduct(nest, cublas, allowTf32).has_value();
    });
    if (splitLibraryProducts(function, cublas, allowTf32,
                             /*inLoops=*/loops == DeviceLoops::Host))
      known = std::make_unique<AliasClasses>(function);
    AliasClasses &classes = *known;
    llvm::SetVector<Operation *> chosen = chooseKernels(
        function, classes, minWork, hasLibdevice, loops == DeviceLoops::Host);
    dissolveLoneNests(function,
                      [&](Operation *op) { return chosen.contains(op); });
    if (chosen.empty()) {
      kernels.erase();
      return;
    }
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    SharedMemory shared = placeBuffers(function, classes, chosen);
    ProductTarget target;
    StringRef digits = StringRef(chip).substr(StringRef("sm_").size());
    digits.consumeInteger(10, target.chip);
    target.allowTf32 = allowTf32;
    KernelOutliner outliner(kernels, function, classes, target, loops, cublas);
    for (Operation *region : chosen) {
      bool isNest = isSharedLoop(region);
      Location loc = region->getLoc();
      promoteAccumulators(region, classes);
      remarkDone(loc, "Kernel", outliner.outline(region));
      ++numKernels;
      numLoops += !isNest;
    }
    // What kernels leave for the host.
    function.walk([&](gpu::AllocOp alloc) {
      if (alloc.getHostShared())
        shared.classes.insert(classes.of(alloc.getMemref()));
    });
    insertWaits(function, classes, shared);
  }
};
} // namespace
