//===- OutlineKernels.cpp - Nests and loops as kernels --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-outline-kernels: the loop of each device.region becomes a kernel, as
// code for one thread.

#include "DeviceRegions.h"
#include "Grids.h"
#include "KernelLoops.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/FuseNests.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// Makes a kernel of each region of one function.
class KernelOutliner : IndexEmitter {
public:
  KernelOutliner(gpu::GPUModuleOp kernels, func::FuncOp function,
                 unsigned &numKernels)
      : IndexEmitter(function.getLoc(), function), kernels(kernels),
        function(function), classes(function), numKernels(numKernels) {}

  void outline(device::RegionOp region);

private:
  gpu::GPUFuncOp makeKernel(Operation *loop, const Captures &captures,
                            ValueRange mailboxes);
  void storeResults(Operation *made, ValueRange mailboxes);
  SmallVector<Value> makeMailboxes(device::RegionOp region);
  void loadResults(device::RegionOp region, ValueRange mailboxes,
                   const Captures &captures);
  std::string nameKernel(Operation *loop);

  gpu::GPUModuleOp kernels;
  func::FuncOp function;
  AliasClasses classes;
  /// In all functions: each has a number in its name.
  unsigned &numKernels;
};
} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Words that describe a buffer: where it is, the offset, sizes and strides.
static int64_t countWords(MemRefType type) { return 2 + 2 * type.getRank(); }

/// Memory that kernel and host reach, one for each result that is read; null
/// for the others. Made once a run.
SmallVector<Value> KernelOutliner::makeMailboxes(device::RegionOp region) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  SmallVector<Value> mailboxes;
  for (Value result : region.getResults()) {
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

/// Behind `region`.
void KernelOutliner::loadResults(device::RegionOp region, ValueRange mailboxes,
                                 const Captures &captures) {
  for (auto [result, mailbox] :
       llvm::zip_equal(region.getResults(), mailboxes)) {
    if (!mailbox)
      continue;
    Value loaded;
    if (auto buffer = dyn_cast<MemRefType>(result.getType())) {
      SmallVector<Value> sources;
      for (Value value : captures.values)
        if (isa<MemRefType>(value.getType()) &&
            classes.of(value) == classes.of(result))
          sources.push_back(value);
      loaded = device::BufferOp::create(b, buffer, mailbox, sources);
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
std::string KernelOutliner::nameKernel(Operation *loop) {
  std::string name = isSharedLoop(loop) ? "nest" : "loop";
  Location loc = loop->getLoc();
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

gpu::GPUFuncOp KernelOutliner::makeKernel(Operation *loop,
                                          const Captures &captures,
                                          ValueRange mailboxes) {
  SmallVector<Value> given(captures.values.begin(), captures.values.end());
  for (Value mailbox : mailboxes)
    if (mailbox)
      given.push_back(mailbox);
  SmallVector<Type> types{LLVM::LLVMPointerType::get(b.getContext())};
  llvm::append_range(types, ValueRange(given).getTypes());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(kernels.getBody());
  auto made = gpu::GPUFuncOp::create(b, nameKernel(loop),
                                     b.getFunctionType(types, TypeRange()));
  made->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // At most: a launch may have fewer.
  int32_t threads = isSharedLoop(loop) ? kNestThreads : kLoneThreads;
  made.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));
  Block &entry = made.getBody().front();
  b.setInsertionPointToStart(&entry);
  IRMapping mapping;
  for (auto [outside, inside] :
       llvm::zip_equal(given, entry.getArguments().drop_front()))
    mapping.map(outside, inside);
  for (Operation *constant : captures.constants)
    b.clone(*constant, mapping);
  Operation *clone = b.clone(*loop, mapping);
  SmallVector<Value> inside;
  for (Value mailbox : mailboxes)
    inside.push_back(mailbox ? mapping.lookup(mailbox) : Value());
  storeResults(clone, inside);
  gpu::ReturnOp::create(b);
  return made;
}

void KernelOutliner::outline(device::RegionOp region) {
  b.setLoc(region.getLoc());
  Operation *loop = region.getLoop();
  Captures captures;
  captures.addAll(loop);
  SmallVector<Value> mailboxes = makeMailboxes(region);
  SmallVector<Value> given(captures.values.begin(), captures.values.end());
  for (Value mailbox : mailboxes)
    if (mailbox)
      given.push_back(mailbox);
  gpu::GPUFuncOp kernel = makeKernel(loop, captures, mailboxes);
  b.setInsertionPoint(region);
  auto made = device::RegionOp::create(
      b, TypeRange(),
      SymbolRefAttr::get(kernels.getNameAttr(),
                         {FlatSymbolRefAttr::get(kernel.getNameAttr())}),
      device::ShapeAttr(), given, /*grid=*/ValueRange());
  loadResults(region, mailboxes, captures);
  Block &body = made.getBody().emplaceBlock();
  loop->moveBefore(&body, body.end());
  b.setInsertionPointToEnd(&body);
  device::YieldOp::create(b, ValueRange());
  region.getBody().front().back().erase();
  classes.erase(region);
  simplifyKernel(kernel);
  // Copies are nests now.
  fuseNests(kernel, *getKernelClasses(made, kernel, classes),
            /*hasLibdevice=*/true);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OutlineKernels : loopc::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<func::FuncOp, SmallVector<device::RegionOp>>> all;
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<device::RegionOp> regions;
      function.walk([&](device::RegionOp region) {
        if (!region.getKernel())
          regions.push_back(region);
      });
      if (!regions.empty())
        all.push_back({function, std::move(regions)});
    }
    if (all.empty())
      return;
    OpBuilder b(&getContext());
    b.setInsertionPointToEnd(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(b, module.getLoc(), "loopc_kernels");
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    unsigned number = 0;
    for (auto &[function, regions] : all) {
      KernelOutliner outliner(kernels, function, number);
      for (device::RegionOp region : regions)
        outliner.outline(region);
    }
    numKernels = number;
  }
};
} // namespace
