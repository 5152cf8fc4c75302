//===- LaunchesToLLVM.cpp - The host's side of kernels --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-launches-to-llvm: what the host does for a GPU becomes calls of
// loopc_rt_cuda; see loopc-rt/cuda.h.

#include "KernelBody.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Kernels/DeviceProgram.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Conversion/ToLLVM/BufferBytes.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/LibraryCalls.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLAUNCHESTOLLVM
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
class LaunchLowering {
public:
  LaunchLowering(ModuleOp module, func::FuncOp function)
      : module(module), function(function), rewriter(module.getContext()),
        b(function.getLoc(), rewriter), converter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(b.getI32Type()), i64(b.getI64Type()), run_(rt::findRun(function)) {}

  void run();

private:
  void lower(gpu::AllocOp alloc);
  void lower(gpu::DeallocOp dealloc);
  void lower(gpu::MemcpyOp copy);
  void lower(gpu::LaunchFuncOp launch);
  void lower(device::GraphOp graph);
  void lower(device::ViewOp view);
  void lower(device::ResultOp result);
  void lower(device::WaitOp wait);
  void lower(func::CallOp product);

  Value call(StringRef name, ValueRange arguments);
  void returnUnlessZero(Value status, Operation *behind);
  void returnUnless(Value ok, Operation *behind);
  Value program();
  Value descriptorOf(Value buffer);
  Value dataOf(Value buffer, MemRefDescriptor &descriptor);
  Value bytesOf(Value buffer, MemRefDescriptor &descriptor);
  SmallVector<Value> sizesOf(MemRefDescriptor &descriptor, MemRefType type);
  void replaceByBuffer(Operation *op, MemRefType type, Value memory,
                       ArrayRef<Value> sizes);
  void addArgument(Value operand, SmallVectorImpl<Value> &places);
  Value describe(device::GraphOp graph);
  Value makeTable(Type type, ValueRange values);
  Value allocaAtBegin(Type type, int64_t count);
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, value);
  }
  Value toI64(Value index) {
    return UnrealizedConversionCastOp::create(b, i64, index).getResult(0);
  }

  ModuleOp module;
  func::FuncOp function;
  IRRewriter rewriter;
  ImplicitLocOpBuilder b;
  LLVMTypeConverter converter;
  Type pointer, i32, i64;
  Value run_;
  Block *failing = nullptr;
  llvm::StringMap<int32_t> kernels;
  llvm::StringSet<> waiting; ///< kernels whose blocks wait for one another
  unsigned numGraphs = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value LaunchLowering::call(StringRef name, ValueRange arguments) {
  Value run = UnrealizedConversionCastOp::create(b, pointer, run_).getResult(0);
  SmallVector<Value> all{run};
  llvm::append_range(all, arguments);
  auto made =
      LLVM::CallOp::create(b, declareRuntimeFunction(module, name), all);
  return made.getNumResults() ? made.getResult() : Value();
}

/// Goes on at `behind` where `ok`; else the run ends, with an error recorded.
void LaunchLowering::returnUnless(Value ok, Operation *behind) {
  if (!failing) {
    OpBuilder::InsertionGuard guard(b);
    failing = b.createBlock(&function.getBody(), function.getBody().end());
    func::ReturnOp::create(b, constant(i32, 1));
  }
  Block *block = behind->getBlock();
  Block *rest = rewriter.splitBlock(block, Block::iterator(behind));
  b.setInsertionPointToEnd(block);
  auto branch = cf::CondBranchOp::create(b, ok, rest, ValueRange(), failing,
                                         ValueRange());
  branch.setWeights(ArrayRef<int32_t>{2000, 1});
  b.setInsertionPoint(behind);
}

void LaunchLowering::returnUnlessZero(Value status, Operation *behind) {
  Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, status,
                                  constant(i32, 0));
  returnUnless(ok, behind);
}

/// The address of the device code; the back end gives it its contents.
Value LaunchLowering::program() {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kProgramName);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), sizeof(loopc_cuda_program)),
        /*isConstant=*/false, LLVM::Linkage::External, kProgramName,
        Attribute());
  }
  return LLVM::AddressOfOp::create(b, global);
}

Value LaunchLowering::allocaAtBegin(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(b, pointer, type, constant(i64, count));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value LaunchLowering::descriptorOf(Value buffer) {
  return UnrealizedConversionCastOp::create(
             b, converter.convertType(buffer.getType()), buffer)
      .getResult(0);
}

/// Where the first element of `buffer` is.
Value LaunchLowering::dataOf(Value buffer, MemRefDescriptor &descriptor) {
  auto type = cast<MemRefType>(buffer.getType());
  Value bytes = LLVM::MulOp::create(b, descriptor.offset(b, b.getLoc()),
                                    constant(i64, getElementBytes(type)));
  return LLVM::GEPOp::create(b, pointer, b.getI8Type(),
                             descriptor.alignedPtr(b, b.getLoc()),
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value LaunchLowering::bytesOf(Value buffer, MemRefDescriptor &descriptor) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(descriptor.size(b, b.getLoc(), axis));
  return countBufferBytes(b, type, sizes);
}

SmallVector<Value> LaunchLowering::sizesOf(MemRefDescriptor &descriptor,
                                           MemRefType type) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(descriptor.size(b, b.getLoc(), axis));
  return sizes;
}

/// Replaces `op` by a buffer of these extents in C order at `memory`; the run
/// ends where that is null.
void LaunchLowering::replaceByBuffer(Operation *op, MemRefType type,
                                     Value memory, ArrayRef<Value> sizes) {
  Location loc = b.getLoc();
  Value null = LLVM::ZeroOp::create(b, pointer);
  returnUnless(LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, memory, null),
               op);
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, memory);
  descriptor.setAlignedPtr(b, loc, memory);
  descriptor.setConstantOffset(b, loc, 0);
  Value stride = constant(i64, 1);
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    descriptor.setSize(b, loc, axis, sizes[axis]);
    descriptor.setStride(b, loc, axis, stride);
    stride = LLVM::MulOp::create(b, stride, sizes[axis]);
  }
  rewriter.replaceOp(
      op, UnrealizedConversionCastOp::create(b, type, Value(descriptor)));
}

void LaunchLowering::lower(gpu::AllocOp alloc) {
  MemRefType type = alloc.getType();
  SmallVector<Value> sizes;
  unsigned dynamic = 0;
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent)
                        ? toI64(alloc.getDynamicSizes()[dynamic++])
                        : constant(i64, extent));
  Value space = constant(i32, alloc.getHostShared() ? LOOPC_CUDA_SHARED
                                                    : LOOPC_CUDA_DEVICE);
  Value memory = call("loopc_rt_cuda_alloc",
                      ValueRange{countBufferBytes(b, type, sizes), space});
  replaceByBuffer(alloc, type, memory, sizes);
}

void LaunchLowering::lower(gpu::DeallocOp dealloc) {
  MemRefDescriptor descriptor(descriptorOf(dealloc.getMemref()));
  call("loopc_rt_cuda_free",
       ValueRange{descriptor.allocatedPtr(b, b.getLoc())});
  rewriter.eraseOp(dealloc);
}

void LaunchLowering::lower(gpu::MemcpyOp copy) {
  MemRefDescriptor from(descriptorOf(copy.getSrc()));
  MemRefDescriptor to(descriptorOf(copy.getDst()));
  Value status =
      call("loopc_rt_cuda_copy",
           ValueRange{dataOf(copy.getDst(), to), dataOf(copy.getSrc(), from),
                      bytesOf(copy.getSrc(), from)});
  returnUnlessZero(status, copy);
  rewriter.eraseOp(copy);
}

void LaunchLowering::lower(device::ViewOp view) {
  auto type = cast<MemRefType>(view.getHost().getType());
  MemRefDescriptor host(descriptorOf(view.getHost()));
  Value space =
      constant(i32, view.getShared() ? LOOPC_CUDA_SHARED : LOOPC_CUDA_DEVICE);
  Value memory = call("loopc_rt_cuda_input",
                      ValueRange{program(), dataOf(view.getHost(), host),
                                 bytesOf(view.getHost(), host), space,
                                 constant(i32, view.getConstant())});
  replaceByBuffer(view, type, memory, sizesOf(host, type));
}

void LaunchLowering::lower(device::ResultOp result) {
  auto type = cast<MemRefType>(result.getDevice().getType());
  MemRefDescriptor device(descriptorOf(result.getDevice()));
  Value memory = call("loopc_rt_cuda_output",
                      ValueRange{dataOf(result.getDevice(), device),
                                 bytesOf(result.getDevice(), device)});
  replaceByBuffer(result, type, memory, sizesOf(device, type));
}

void LaunchLowering::lower(device::WaitOp wait) {
  returnUnlessZero(call("loopc_rt_cuda_sync", ValueRange()), wait);
  rewriter.eraseOp(wait);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Puts the arguments that `operand` is for a kernel where they can be pointed
/// to: of a buffer each word of its descriptor.
void LaunchLowering::addArgument(Value operand,
                                 SmallVectorImpl<Value> &places) {
  Type type = converter.convertType(operand.getType());
  Value value = operand;
  if (type != operand.getType())
    value = UnrealizedConversionCastOp::create(b, type, operand).getResult(0);
  Value place = allocaAtBegin(type, 1);
  LLVM::StoreOp::create(b, value, place);
  auto buffer = dyn_cast<MemRefType>(operand.getType());
  if (!buffer) {
    places.push_back(place);
    return;
  }
  auto field = [&](ArrayRef<LLVM::GEPArg> at) {
    places.push_back(LLVM::GEPOp::create(b, pointer, type, place, at));
  };
  for (int32_t word : {0, 1, 2})
    field({0, word});
  for (int32_t part : {3, 4})
    for (int32_t axis = 0; axis < buffer.getRank(); ++axis)
      field({0, part, axis});
}

void LaunchLowering::lower(gpu::LaunchFuncOp launch) {
  SmallVector<Value> places;
  for (Value operand : launch.getKernelOperands())
    addArgument(operand, places);
  Value table = makeTable(pointer, places);
  Value number =
      constant(i32, kernels.lookup(launch.getKernelName().getValue()));
  Value threads = LLVM::TruncOp::create(b, i32, toI64(launch.getBlockSizeX()));
  int32_t flags = 0;
  // A launch that is made anew may have lost what it says, the kernel has not:
  // blocks that do not run together would wait for ever.
  if (launch->hasAttr(kCooperativeAttrName) ||
      waiting.contains(launch.getKernelName().getValue()))
    flags |= LOOPC_CUDA_COOPERATIVE;
  if (launch->hasAttr(kClusterAttrName))
    flags |= LOOPC_CUDA_CLUSTER;
  Value status =
      call("loopc_rt_cuda_launch",
           ValueRange{program(), number, toI64(launch.getGridSizeX()), threads,
                      constant(i32, flags), table});
  returnUnlessZero(status, launch);
  rewriter.eraseOp(launch);
}

/// A product that the library may compute: its words in memory.
void LaunchLowering::lower(func::CallOp product) {
  auto kernel = product->getAttrOfType<StringAttr>(kProductAttrName);
  SmallVector<Value> words{constant(i64, kernels.lookup(kernel.getValue()))};
  for (Value operand : product.getOperands())
    words.push_back(toI64(operand));
  Value status = call("loopc_rt_cuda_product",
                      ValueRange{program(), makeTable(i64, words)});
  Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sle, status,
                                  constant(i32, 0));
  returnUnless(ok, product);
  auto declared = module.lookupSymbol<func::FuncOp>(product.getCallee());
  rewriter.replaceOp(product, status);
  if (declared && SymbolTable::symbolKnownUseEmpty(declared, module))
    declared.erase();
}

/// A loopc_cuda_graph with its nodes.
Value LaunchLowering::describe(device::GraphOp graph) {
  ArrayRef<int32_t> given = graph.getNodes();
  SmallVector<int32_t> words{static_cast<int32_t>(given.size() / 4),
                             static_cast<int32_t>(graph.getHandles()),
                             static_cast<int32_t>(graph.getArguments().size()),
                             static_cast<int32_t>(graph.getWords())};
  static_assert(sizeof(loopc_cuda_graph) == 4 * sizeof(int32_t) &&
                sizeof(loopc_cuda_node) == 4 * sizeof(int32_t));
  for (; !given.empty(); given = given.drop_front(4)) {
    llvm::append_range(words, given.take_front(4));
    if (given[1] >= 0)
      continue;
    auto name = cast<SymbolRefAttr>(graph.getKernels()[given[2]]);
    words[words.size() - 2] = kernels.lookup(name.getLeafReference());
  }
  auto data = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(words.size())}, i32),
      ArrayRef<int32_t>(words));
  OpBuilder globals(module.getBodyRegion());
  auto global = LLVM::GlobalOp::create(
      globals, b.getLoc(), LLVM::LLVMArrayType::get(i32, words.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      ("loopc_cuda_graph_" + Twine(numGraphs++)).str(), data,
      /*alignment=*/8);
  return LLVM::AddressOfOp::create(b, global);
}

/// Memory with these values, one behind the other.
Value LaunchLowering::makeTable(Type type, ValueRange values) {
  Value table = allocaAtBegin(type, values.size());
  for (auto [k, value] : llvm::enumerate(values)) {
    Value slot =
        LLVM::GEPOp::create(b, pointer, type, table,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(k)});
    LLVM::StoreOp::create(b, value, slot);
  }
  return table;
}

void LaunchLowering::lower(device::GraphOp graph) {
  // A count for each node, of conditions too.
  SmallVector<Value> blocks;
  ValueRange counts = graph.getBlocks();
  for (size_t k = 0; k < graph.getNodes().size(); k += 4) {
    bool isKernel = graph.getNodes()[k + 1] < 0;
    blocks.push_back(isKernel ? toI64(counts.front()) : constant(i64, 0));
    counts = counts.drop_front(isKernel);
  }
  Value description = describe(graph);
  Value status = call("loopc_rt_cuda_graph",
                      ValueRange{program(), description, makeTable(i64, blocks),
                                 makeTable(i64, graph.getArguments())});
  returnUnlessZero(status, graph);
  rewriter.eraseOp(graph);
}

void LaunchLowering::run() {
  int32_t number = 0;
  module.walk([&](LLVM::LLVMFuncOp kernel) {
    if (kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
        kernel->hasAttr("nvvm.kernel"))
      kernels[kernel.getName()] = number++;
    kernel.walk([&](LLVM::CallOp call) {
      if (call.getCallee() == kBarrierName)
        waiting.insert(kernel.getName());
    });
  });
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<gpu::AllocOp, gpu::DeallocOp, gpu::MemcpyOp, gpu::LaunchFuncOp,
            device::GraphOp, device::ViewOp, device::ResultOp, device::WaitOp>(
            op) ||
        op->hasAttr(kProductAttrName))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    llvm::TypeSwitch<Operation *>(op)
        .Case<gpu::AllocOp, gpu::DeallocOp, gpu::MemcpyOp, gpu::LaunchFuncOp,
              device::GraphOp, device::ViewOp, device::ResultOp, device::WaitOp,
              func::CallOp>([&](auto known) { lower(known); });
  }
  if (ops.empty())
    return;
  // First of all: opens the driver and loads the code.
  Operation *first = &function.getBody().front().front();
  while (isa<LLVM::AllocaOp, LLVM::ConstantOp>(first))
    first = first->getNextNode();
  b.setInsertionPoint(first);
  returnUnlessZero(call("loopc_rt_cuda_begin", ValueRange{program()}), first);
}

namespace {
struct ConvertLaunchesToLLVM
    : loopc::impl::ConvertLaunchesToLLVMBase<ConvertLaunchesToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // The model's function is given the run; launches stand in no other.
    for (auto function : module.getOps<func::FuncOp>())
      if (rt::findRun(function) && !function.isPrivate())
        LaunchLowering(module, function).run();
  }
};
} // namespace
