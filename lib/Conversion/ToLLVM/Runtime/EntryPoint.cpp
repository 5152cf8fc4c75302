//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-make-entry-point: from the model's function on memrefs to the function
// that the runtime calls:
//
//   i32 loopc_entry(ptr run, ptr inputs, ptr outputs)
//
// where inputs[k] and outputs[k] point to memref descriptors, or to the handle
// of a list (loopc-rt/runtime.h).

#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/IR/TypeConversion.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_MAKEENTRYPOINT
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Description of a port for the back end.
static Attribute describePort(Builder &b, DictionaryAttr attrs, Type type,
                              unsigned number, StringRef kind) {
  NamedAttrList port;
  Attribute name = attrs ? attrs.get("loopc.name") : Attribute();
  port.set("name", name ? name : b.getStringAttr(kind + Twine(number)));
  Attribute original = attrs ? attrs.get(kPortTypeAttrName) : Attribute();
  port.set("type", original ? original : TypeAttr::get(type));
  for (StringRef key : {"dims", "declared", "declared_dims", "default", "map"})
    if (Attribute value =
            attrs ? attrs.get(("loopc." + key).str()) : Attribute())
      port.set(key, value);
  if (attrs && attrs.contains("loopc.state"))
    port.set("state", b.getUnitAttr());
  return port.getDictionary(b.getContext());
}

/// True for the shape of the port before it, whose rank is not known: both
/// stand in one slot, one behind the other.
static bool isShape(DictionaryAttr attrs) {
  return attrs && attrs.contains(kShapeOfAttrName);
}

/// True for the scalar that says whether a state was given: it has a slot
/// behind those of the inputs, and no port.
static bool isStateFlag(DictionaryAttr attrs) {
  return attrs && attrs.contains("loopc.state_flag");
}

namespace {
struct MakeEntryPoint : loopc::impl::MakeEntryPointBase<MakeEntryPoint> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>("main");
    if (!function) {
      auto functions = module.getOps<func::FuncOp>();
      if (llvm::hasSingleElement(functions))
        function = *functions.begin();
    }
    if (!function || function.isExternal()) {
      loopc::emitError(module.getLoc(), Diag::BadModule)
          << "no function 'main' to compile";
      return signalPassFailure();
    }
    for (Type type : function.getFunctionType().getInputs())
      if (!canPass(type) || !mayBeDense(type))
        return refuse(function, "argument", type);
    for (Type type : function.getFunctionType().getResults())
      if (!canPass(type))
        return refuse(function, "result", type);
    if (!function.getBody().hasOneBlock()) {
      loopc::emitError(function.getLoc(), Diag::BadModule)
          << "the model's function has branches between blocks, and only "
             "structured control flow can be compiled";
      return signalPassFailure();
    }
    if (failed(checkOthers(module, function)))
      return signalPassFailure();
    describe(module, function);
    rewriteSignature(function);
  }

  /// True for what a slot of the border holds: a list, or a buffer of numbers.
  bool canPass(Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return isa<list::ListType>(type) ||
           (buffer && !isa<VectorType>(buffer.getElementType()) &&
            rt::TypeConverter(&getContext()).convertType(buffer));
  }

  /// True for what a buffer may be whose rows lie one behind the other, as the
  /// caller's do: known strides would be believed.
  static bool mayBeDense(Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return !buffer || memref::CastOp::areCastCompatible(
                          MemRefType::Builder(buffer).setLayout(
                              MemRefLayoutAttrInterface()),
                          type);
  }

  /// Functions that take the run come later; others would have nobody to tell
  /// of a failure.
  LogicalResult checkOthers(ModuleOp module, func::FuncOp function) {
    for (auto other : module.getOps<func::FuncOp>()) {
      StringRef name = other.getName();
      if (other.isExternal() && !isMathFunction(name) &&
          !getRuntimeFunctionType(&getContext(), name))
        return loopc::emitError(other.getLoc(), Diag::BadModule)
               << "function '" << name
               << "' is declared, but a model is one function: calls must be "
                  "inlined, and what others compute is a custom operator";
      if (other != function && !other.isExternal() && !rt::findRun(other))
        return loopc::emitError(other.getLoc(), Diag::BadModule)
               << "function '" << other.getName()
               << "' is not the model's, and a model is one function: calls "
                  "must be inlined";
    }
    WalkResult found = function.walk([&](func::CallOp call) {
      return call.getCallee() == function.getName() ? WalkResult::interrupt()
                                                    : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return loopc::emitError(function.getLoc(), Diag::BadModule)
             << "the model's function calls itself";
    return success();
  }

  void refuse(func::FuncOp function, StringRef what, Type type) {
    loopc::emitError(function.getLoc(), Diag::UnsupportedBorder)
        << what << " of type " << type
        << " at the border of a model, where tensors and lists of tensors are";
    signalPassFailure();
  }

  void describe(ModuleOp module, func::FuncOp function) {
    Builder b(&getContext());
    SmallVector<Attribute> inputs, outputs;
    FunctionType type = function.getFunctionType();
    for (auto [k, input] : llvm::enumerate(type.getInputs()))
      if (!isShape(function.getArgAttrDict(k)) &&
          !isStateFlag(function.getArgAttrDict(k)))
        inputs.push_back(describePort(b, function.getArgAttrDict(k), input,
                                      inputs.size(), "input"));
    for (auto [k, result] : llvm::enumerate(type.getResults()))
      if (!isShape(function.getResultAttrDict(k)))
        outputs.push_back(describePort(b, function.getResultAttrDict(k), result,
                                       outputs.size(), "output"));
    module->setAttr("loopc.inputs", b.getArrayAttr(inputs));
    module->setAttr("loopc.outputs", b.getArrayAttr(outputs));
    if (!module->hasAttr("loopc.model"))
      module->setAttr("loopc.model", function.getSymNameAttr());
  }

  void rewriteSignature(func::FuncOp function) {
    MLIRContext *context = &getContext();
    rt::TypeConverter converter(context);
    ImplicitLocOpBuilder b(function.getLoc(), context);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Block &entry = function.getBody().front();
    unsigned count = entry.getNumArguments();
    SmallVector<Location> locs(3, function.getLoc());
    SmallVector<Type> types{rt::RunType::get(context), pointer, pointer};
    auto args = entry.addArguments(types, locs);
    Value inputs = *std::next(args.begin(), 1);
    Value outputs = *std::next(args.begin(), 2);
    int32_t port = -1;
    auto slot = [&](Value table, bool shape) -> Value {
      port += shape ? 0 : 1;
      Value address = LLVM::GEPOp::create(b, pointer, pointer, table,
                                          ArrayRef<LLVM::GEPArg>{port});
      Value first = LLVM::LoadOp::create(b, pointer, address);
      if (!shape)
        return first;
      Type elements = converter.convertType(
          MemRefType::get({ShapedType::kDynamic}, b.getI64Type()));
      return LLVM::GEPOp::create(b, pointer, elements, first,
                                 ArrayRef<LLVM::GEPArg>{1});
    };
    auto slotType = [&](Type type) -> Type {
      return isa<list::ListType>(type) ? pointer : converter.convertType(type);
    };
    b.setInsertionPointToStart(&entry);
    for (unsigned k = 0; k < count; ++k) {
      BlockArgument arg = entry.getArgument(k);
      Type descriptor = slotType(arg.getType());
      Value value = LLVM::LoadOp::create(
          b, descriptor, slot(inputs, isShape(function.getArgAttrDict(k))));
      arg.replaceAllUsesWith(
          UnrealizedConversionCastOp::create(b, arg.getType(), value)
              .getResult(0));
    }
    entry.eraseArguments(0, count);
    auto done = cast<func::ReturnOp>(entry.getTerminator());
    b.setInsertionPoint(done);
    port = -1;
    for (auto [k, value] : llvm::enumerate(done.getOperands())) {
      Type descriptor = slotType(value.getType());
      Value cast =
          UnrealizedConversionCastOp::create(b, descriptor, value).getResult(0);
      LLVM::StoreOp::create(
          b, cast, slot(outputs, isShape(function.getResultAttrDict(k))));
    }
    Value ok = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
    func::ReturnOp::create(b, ok);
    done.erase();
    function.setArgAttrsAttr(nullptr);
    function.setResAttrsAttr(nullptr);
    function.setFunctionType(b.getFunctionType(types, b.getI32Type()));
    function.setName("loopc_entry");
  }
};
} // namespace
