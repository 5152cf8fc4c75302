//===- Descriptor.cpp - The table of a compiled model ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptor.h"
#include "DeviceInputs.h"
#include "Kernels.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"

#include "llvm/IR/IRBuilder.h"

using namespace loopc;
using mlir::cast;
using mlir::dyn_cast;
using mlir::isa;

namespace {

/// Builds constants in the layout of the structs of loopc_rt.h: LLVM lays a
/// struct out as C does.
class TableBuilder {
public:
  TableBuilder(llvm::Module &module, const ModelInfo &info,
               const WeightSet &weights)
      : module(module), context(module.getContext()), info(info),
        weights(weights), pointerType(llvm::PointerType::getUnqual(context)),
        sizeType(module.getDataLayout().getIntPtrType(context)) {}

  llvm::GlobalVariable *build(llvm::Function *entry,
                              llvm::StringRef cpuFeatures);

private:
  llvm::Constant *getInt(unsigned bits, int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value,
                                  /*IsSigned=*/true);
  }
  llvm::Constant *getNull() {
    return llvm::ConstantPointerNull::get(pointerType);
  }
  llvm::GlobalVariable *addGlobal(llvm::Constant *value, llvm::Twine name);
  llvm::Constant *getString(llvm::StringRef text);
  llvm::Constant *getArray(llvm::ArrayRef<llvm::Constant *> values,
                           llvm::Twine name);
  llvm::Constant *getDtype(DLDataType dtype);
  llvm::Constant *getType(mlir::Type type, llvm::ArrayRef<std::string> dims);
  llvm::Constant *getPorts(llvm::ArrayRef<PortInfo> ports, llvm::Twine name);
  llvm::Constant *getDeclaredOutputs();
  llvm::Constant *getMaps();
  llvm::Constant *getTexts(mlir::DenseStringElementsAttr texts);
  llvm::Constant *getDefault(size_t number);
  llvm::Constant *getDefaults();

  llvm::Module &module;
  llvm::LLVMContext &context;
  const ModelInfo &info;
  const WeightSet &weights;
  llvm::PointerType *pointerType;
  llvm::IntegerType *sizeType;
};

} // namespace

llvm::GlobalVariable *TableBuilder::addGlobal(llvm::Constant *value,
                                              llvm::Twine name) {
  auto *global =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, value, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

llvm::Constant *TableBuilder::getString(llvm::StringRef text) {
  // A C string ends at the first zero, and so does the name that holds one.
  auto *value = llvm::ConstantDataArray::getString(context, text);
  llvm::GlobalVariable *global = addGlobal(value, info.symbol + ".text");
  global->setAlignment(llvm::Align(1));
  return global;
}

llvm::Constant *TableBuilder::getArray(llvm::ArrayRef<llvm::Constant *> values,
                                       llvm::Twine name) {
  if (values.empty())
    return getNull();
  auto *type = llvm::ArrayType::get(values.front()->getType(), values.size());
  return addGlobal(llvm::ConstantArray::get(type, values), name);
}

llvm::Constant *TableBuilder::getDtype(DLDataType dtype) {
  return llvm::ConstantStruct::getAnon(
      {getInt(8, static_cast<int8_t>(dtype.code)),
       getInt(8, static_cast<int8_t>(dtype.bits)), getInt(16, dtype.lanes)});
}

llvm::Constant *TableBuilder::getType(mlir::Type type,
                                      llvm::ArrayRef<std::string> dims) {
  int32_t kind = LOOPC_TENSOR;
  int32_t rank = 0;
  ElementTypeInfo element = {};
  llvm::Constant *dimArray = getNull();
  llvm::Constant *inner = getNull();
  if (auto seq = dyn_cast<onnx::SeqType>(type)) {
    kind = LOOPC_SEQUENCE;
    inner = getType(seq.getElementType(), dims);
  } else if (auto optional = dyn_cast<onnx::OptionalType>(type)) {
    kind = LOOPC_OPTIONAL;
    inner = getType(optional.getElementType(), dims);
  } else {
    auto tensor = cast<mlir::TensorType>(type);
    if (auto known = getElementTypeInfo(tensor.getElementType())) {
      element = *known;
    } else {
      kind = LOOPC_STRINGS;
      element.onnxType = 8;
    }
    rank = tensor.hasRank() ? static_cast<int32_t>(tensor.getRank()) : -1;
    llvm::SmallVector<llvm::Constant *> values;
    for (int32_t i = 0; i < rank; ++i)
      values.push_back(llvm::ConstantStruct::getAnon(
          {getInt(64, tensor.isDynamicDim(i) ? -1 : tensor.getDimSize(i)),
           dims.empty() || dims[i].empty() ? getNull() : getString(dims[i])}));
    dimArray = getArray(values, info.symbol + ".dims");
  }
  return addGlobal(
      llvm::ConstantStruct::getAnon(
          {getInt(32, kind), getInt(32, rank), getDtype(element.dtype),
           getInt(32, element.onnxType), dimArray, inner}),
      info.symbol + ".type");
}

llvm::Constant *TableBuilder::getPorts(llvm::ArrayRef<PortInfo> ports,
                                       llvm::Twine name) {
  llvm::SmallVector<llvm::Constant *> values;
  for (const PortInfo &port : ports)
    values.push_back(llvm::ConstantStruct::getAnon(
        {getString(port.name), getType(port.type, port.dims)}));
  return getArray(values, name);
}

/// The outputs as they are declared; null where that says nothing more.
llvm::Constant *TableBuilder::getDeclaredOutputs() {
  if (llvm::none_of(info.outputs,
                    [](const PortInfo &port) { return bool(port.declared); }))
    return getNull();
  std::vector<PortInfo> shown;
  for (const PortInfo &port : info.outputs)
    shown.push_back(port.forDisplay());
  return getPorts(shown, info.symbol + ".declared");
}

/// loopc_map, one behind the other, and one without a name; null where the
/// model has none.
llvm::Constant *TableBuilder::getMaps() {
  llvm::SmallVector<llvm::Constant *> values;
  auto add = [&](llvm::ArrayRef<PortInfo> ports, bool isOutput) {
    for (size_t k = 0; k < ports.size(); ++k) {
      if (ports[k].map.empty())
        continue;
      auto type = cast<mlir::RankedTensorType>(ports[k + 1].type);
      values.push_back(llvm::ConstantStruct::getAnon(
          {getString(ports[k].map), getInt(32, isOutput),
           getInt(32, type.getRank() == 2), getInt(64, k)}));
      ++k;
    }
  };
  add(info.inputs, /*isOutput=*/false);
  add(info.outputs, /*isOutput=*/true);
  if (values.empty())
    return getNull();
  values.push_back(llvm::ConstantStruct::getAnon(
      {getNull(), getInt(32, 0), getInt(32, 0), getInt(64, 0)}));
  return getArray(values, info.symbol + ".maps");
}

/// loopc_strings, one behind the other.
llvm::Constant *TableBuilder::getTexts(mlir::DenseStringElementsAttr texts) {
  llvm::SmallVector<llvm::Constant *> values;
  for (llvm::StringRef text : texts.getValues<llvm::StringRef>())
    values.push_back(llvm::ConstantStruct::getAnon(
        {getString(text), llvm::ConstantInt::get(sizeType, text.size())}));
  return getArray(values, info.symbol + ".texts");
}

/// The loopc_default of an input.
llvm::Constant *TableBuilder::getDefault(size_t number) {
  mlir::ElementsAttr value = info.inputs[number].absent;
  if (!value)
    return llvm::ConstantStruct::getAnon(
        {getNull(), getNull(), getInt(32, -1)});
  llvm::SmallVector<llvm::Constant *> shape;
  for (int64_t extent : value.getShapedType().getShape())
    shape.push_back(getInt(64, extent));
  auto texts = dyn_cast<mlir::DenseStringElementsAttr>(value);
  llvm::Constant *data =
      info.inputs[number].isZeroState() ? getNull()
      : texts ? getTexts(texts)
              : module.getGlobalVariable(weights.getDefault(number));
  return llvm::ConstantStruct::getAnon(
      {data, getArray(shape, info.symbol + ".shape"),
       getInt(32, value.getShapedType().getRank())});
}

llvm::Constant *TableBuilder::getDefaults() {
  if (llvm::none_of(info.inputs,
                    [](const PortInfo &port) { return bool(port.absent); }))
    return getNull();
  llvm::SmallVector<llvm::Constant *> values;
  for (size_t number : llvm::seq(info.inputs.size()))
    values.push_back(getDefault(number));
  return getArray(values, info.symbol + ".defaults");
}

llvm::GlobalVariable *TableBuilder::build(llvm::Function *entry,
                                          llvm::StringRef cpuFeatures) {
  auto *reserved = llvm::ConstantAggregateZero::get(
      llvm::ArrayType::get(llvm::Type::getInt64Ty(context), 2));
  // Of models for GPUs.
  llvm::Constant *program = module.getNamedGlobal(kProgramName);
  llvm::Constant *deviceInputs = getNull();
  if (program && !info.inputs.empty()) {
    auto flags = findDeviceInputs(*entry, info.inputs.size());
    deviceInputs = addGlobal(llvm::ConstantDataArray::get(context, flags),
                             info.symbol + ".device_inputs");
  }
  size_t numStates = info.getNumStates();
  uint32_t flags = (numStates ? LOOPC_MODEL_STATES : 0) |
                   (info.isGuarded ? LOOPC_MODEL_GUARDED : 0) |
                   (info.isProfiled ? LOOPC_MODEL_PROFILED : 0);
  llvm::Constant *table = llvm::ConstantStruct::getAnon(
      {getInt(32, LOOPC_ABI_VERSION), getInt(32, flags), getString(info.name),
       getString("loopc " LOOPC_VERSION), getString(cpuFeatures),
       llvm::ConstantInt::get(sizeType, info.inputs.size()),
       getPorts(info.inputs, info.symbol + ".inputs"),
       llvm::ConstantInt::get(sizeType, info.outputs.size()),
       getPorts(info.outputs, info.symbol + ".outputs"), entry, getDefaults(),
       getInt(64, static_cast<int64_t>(numStates)),
       program ? program : getNull(), deviceInputs, getDeclaredOutputs(),
       getMaps(), reserved});
  llvm::GlobalVariable *global = addGlobal(table, info.symbol + ".table");
  global->setLinkage(llvm::GlobalValue::InternalLinkage);
  return global;
}

void loopc::addModelTable(llvm::Module &module, const ModelInfo &info,
                          const WeightSet &weights, llvm::Function *entry,
                          llvm::StringRef cpuFeatures) {
  llvm::GlobalVariable *table =
      TableBuilder(module, info, weights).build(entry, cpuFeatures);
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *size = module.getDataLayout().getIntPtrType(context);
  auto *status = llvm::Type::getInt32Ty(context);
  auto addFunction = [&](llvm::FunctionType *type, llvm::StringRef suffix) {
    return llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                  info.symbol + suffix, module);
  };
  auto addBody = [&](llvm::Function *function) {
    return llvm::IRBuilder<>(
        llvm::BasicBlock::Create(context, "entry", function));
  };

  llvm::Function *getModel =
      addFunction(llvm::FunctionType::get(pointer, false), "_model");
  addBody(getModel).CreateRet(table);

  // int NAME_run(options, inputs, num_inputs, outputs, num_outputs, error)
  llvm::Type *parameters[] = {pointer, pointer, size, pointer, size, pointer};
  llvm::Function *run =
      addFunction(llvm::FunctionType::get(status, parameters, false), "_run");
  llvm::SmallVector<llvm::Value *> arguments = {table};
  llvm::SmallVector<llvm::Type *> types = {pointer};
  for (llvm::Argument &argument : run->args()) {
    arguments.push_back(&argument);
    types.push_back(argument.getType());
  }
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      "loopc_model_run", llvm::FunctionType::get(status, types, false));
  llvm::IRBuilder<> builder = addBody(run);
  llvm::CallInst *call = builder.CreateCall(callee, arguments);
  call->setTailCall();
  builder.CreateRet(call);
}
