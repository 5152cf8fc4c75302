//===- Kernels.cpp - PTX and cubin of the kernels -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Translate.h"
#include "loopc-rt/cuda.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/ScratchFile.h"
#include "loopc/Target/CodeGen.h"
#include "loopc/Target/Cuda.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace loopc;

gpu::GPUModuleOp loopc::findKernels(ModuleOp module) {
  auto all = module.getOps<gpu::GPUModuleOp>();
  return all.empty() ? gpu::GPUModuleOp() : *all.begin();
}

//===----------------------------------------------------------------------===//
// The toolkit
//===----------------------------------------------------------------------===//

/// A file of the CUDA toolkit, looked for as its own tools do; empty where
/// there is none.
static std::string findToolkitFile(StringRef name) {
  std::vector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (auto value = llvm::sys::Process::GetEnv(variable))
      roots.push_back(*value);
  roots.push_back("/usr/local/cuda");
  roots.push_back("/usr/lib/cuda");
  roots.push_back("/usr/lib/nvidia-cuda-toolkit");
  for (const std::string &root : roots) {
    SmallString<128> path(root);
    llvm::sys::path::append(path, name);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

static std::string findLibdevice() {
  // An empty setting: as if there were none.
  if (auto set = llvm::sys::Process::GetEnv("LOOPC_LIBDEVICE"))
    return *set;
  return findToolkitFile("nvvm/libdevice/libdevice.10.bc");
}

bool loopc::hasLibdevice() { return !findLibdevice().empty(); }

static std::string findPtxas() {
  if (auto set = llvm::sys::Process::GetEnv("LOOPC_PTXAS"))
    return *set;
  std::string found = findToolkitFile("bin/ptxas");
  if (!found.empty())
    return found;
  auto onPath = llvm::sys::findProgramByName("ptxas");
  return onPath ? *onPath : "";
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

/// 8.1, which came with CUDA 12.1, has room for many arguments; chips that are
/// younger have a version of their own, which is LLVM's default.
static StringRef getPtxFeature(unsigned number) {
  return number < 100 ? "+ptx81" : "";
}

static FailureOr<std::unique_ptr<llvm::TargetMachine>>
createDeviceMachine(const TargetOptions &options, Location loc) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return emitError(loc, Diag::UnknownTarget) << problem;
  StringRef chip = options.chip;
  unsigned number = 0;
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  StringRef digits = chip;
  bool isNamed =
      digits.consume_front("sm_") && !digits.consumeInteger(10, number);
  if (!isNamed || !generic->isCPUStringValid(chip) || number < 70)
    return emitError(loc, Diag::UnknownCpu)
           << "'" << chip
           << "' is not a chip to compile for: sm_70 or a later one of LLVM's";
  llvm::TargetOptions llvmOptions;
  llvmOptions.AllowFPOpFusion =
      options.fpContract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, getPtxFeature(number), llvmOptions, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

LogicalResult loopc::checkChip(const TargetOptions &options, Location loc) {
  return createDeviceMachine(options, loc);
}

/// Functions of libdevice that are an instruction: they need no library.
static llvm::Intrinsic::ID getInstruction(StringRef name) {
  name.consume_front("__nv_");
  // Of f32; those of f64 have no ending.
  static constexpr std::pair<StringLiteral, llvm::Intrinsic::ID> kKnown[] = {
      {"fabs", llvm::Intrinsic::fabs},
      {"floor", llvm::Intrinsic::floor},
      {"ceil", llvm::Intrinsic::ceil},
      {"trunc", llvm::Intrinsic::trunc},
      {"rint", llvm::Intrinsic::roundeven},
      {"sqrt", llvm::Intrinsic::sqrt},
      {"fma", llvm::Intrinsic::fma},
      {"copysign", llvm::Intrinsic::copysign}};
  for (auto [known, instruction] : kKnown)
    if (name == known || (name.ends_with("f") && name.drop_back() == known))
      return instruction;
  return llvm::Intrinsic::not_intrinsic;
}

static void useInstructions(llvm::Module &module) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || !function.getName().starts_with("__nv_"))
      continue;
    llvm::Intrinsic::ID instruction = getInstruction(function.getName());
    if (instruction == llvm::Intrinsic::not_intrinsic)
      continue;
    function.replaceAllUsesWith(llvm::Intrinsic::getOrInsertDeclaration(
        &module, instruction, {function.getReturnType()}));
    function.eraseFromParent();
  }
}

/// Links the functions of libdevice that `module` calls.
static LogicalResult linkLibdevice(llvm::Module &module, Location loc) {
  useInstructions(module);
  bool isNeeded = llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
  if (!isNeeded)
    return success();
  std::string path = findLibdevice();
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> library =
      llvm::parseIRFile(path, problem, module.getContext());
  if (!library)
    return emitError(loc, Diag::CannotRead)
           << "CUDA's libdevice '" << path
           << "' cannot be read: " << problem.getMessage();
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  for (llvm::Function &function : *library)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  if (llvm::Linker::linkModules(module, std::move(library),
                                llvm::Linker::LinkOnlyNeeded))
    return emitError(loc, Diag::CodeGeneration)
           << "CUDA's libdevice '" << path << "' cannot be linked";
  for (llvm::Function &function : module)
    if (function.hasLinkOnceODRLinkage())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return success();
}

/// The function that sets a condition of a graph, which the driver and ptxas
/// have.
static constexpr StringLiteral kSetCondition = "cudaGraphSetConditional";

/// Nothing is left that no kernel has.
static LogicalResult checkCalls(const llvm::Module &module, Location loc) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty() && function.getName() != kSetCondition)
      return emitError(loc, Diag::CodeGeneration)
             << "a kernel calls '" << function.getName()
             << "', which the GPU does not have";
  return success();
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

/// `ptx` as machine code of `chip`, by the toolkit's assembler; empty where it
/// has none, or does not know the chip.
static FailureOr<std::string> assemble(StringRef ptx, StringRef chip,
                                       Location loc) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return std::string();
  llvm::Expected<ScratchFile> source = ScratchFile::createWith(ptx),
                              object = ScratchFile::create(),
                              log = ScratchFile::create();
  llvm::Error error = source.takeError();
  for (auto *file : {&object, &log})
    error = llvm::joinErrors(std::move(error), file->takeError());
  if (error)
    return emitError(loc, Diag::CannotWrite)
           << "no temporary file can be written for ptxas: "
           << llvm::toString(std::move(error));
  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {
      ptxas, arch, "-O3", source->getPath(), "-o", object->getPath()};
  std::optional<StringRef> redirects[] = {std::nullopt, log->getPath(),
                                          log->getPath()};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                         redirects, 0, 0, &problem);
  if (status != 0) {
    llvm::Expected<std::string> text = log->read();
    bool isSaid = static_cast<bool>(text) && !StringRef(*text).trim().empty();
    if (!text)
      llvm::consumeError(text.takeError());
    return emitError(loc, Diag::CodeGeneration)
           << "ptxas (" << ptxas << ") refuses the device code: "
           << (isSaid ? StringRef(*text).trim() : StringRef(problem));
  }
  llvm::Expected<std::string> made = object->read();
  if (made && !made->empty())
    return std::move(*made);
  if (!made)
    llvm::consumeError(made.takeError());
  return emitError(loc, Diag::CannotRead)
         << "ptxas (" << ptxas << ") wrote nothing";
}

FailureOr<DeviceCode> loopc::compileKernels(gpu::GPUModuleOp kernels,
                                            const TargetOptions &options) {
  Location loc = kernels.getLoc();
  auto machine = createDeviceMachine(options, loc);
  if (failed(machine))
    return failure();
  // Accesses are as wide as their alignment allows, which the layout tells.
  kernels->setAttr(
      LLVM::LLVMDialect::getDataLayoutAttrName(),
      StringAttr::get(
          kernels.getContext(),
          (*machine)->createDataLayout().getStringRepresentation()));
  LLVMModule translated = LLVMModule::create();
  translated.module =
      translateModuleToLLVMIR(kernels, *translated.context, "kernels");
  if (failed(translated.report(loc)) || !translated.module)
    return failure();
  llvm::Module &module = *translated.module;
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  DeviceCode code;
  for (llvm::Function &function : module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      code.kernels.push_back(function.getName().str());
  for (const std::string &name : code.kernels) {
    auto kernel = kernels.lookupSymbol<LLVM::LLVMFuncOp>(name);
    code.nodes.push_back(kernel ? locationPath(kernel.getLoc()) : "");
  }
  if (failed(linkLibdevice(module, loc)))
    return failure();
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems))
    return emitError(loc, Diag::CodeGeneration) << problem;
  optimizeModule(module, **machine, options.optLevel);
  if (failed(checkCalls(module, loc)))
    return failure();
  const llvm::Function *sets = module.getFunction(kSetCondition);
  code.hasGraphs = sets && !sets->use_empty();
  SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  emitCode(module, **machine, llvm::CodeGenFileType::AssemblyFile, os);
  if (failed(translated.report(loc)))
    return failure();
  code.ptx = text.str().str();
  for (Attribute message : kernels->getAttrOfType<ArrayAttr>("loopc.messages"))
    code.messages.push_back(cast<StringAttr>(message).str());
  FailureOr<std::string> cubin = assemble(code.ptx, options.chip, loc);
  if (failed(cubin))
    return failure();
  code.cubin = std::move(*cubin);
  return code;
}

//===----------------------------------------------------------------------===//
// In the object
//===----------------------------------------------------------------------===//

void loopc::addProgram(llvm::Module &module, const DeviceCode &code,
                       StringRef chip) {
  // Where no kernel is begun the runtime alone reads it: the model takes
  // tensors on the device all the same.
  llvm::GlobalVariable *program = module.getNamedGlobal(kProgramName);
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  llvm::Constant *null = llvm::ConstantPointerNull::get(b.getPtrTy());
  auto addConstant = [&](llvm::Constant *value, StringRef name) {
    auto *global = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::InternalLinkage, value, "loopc_cuda_" + name);
    global->setAlignment(llvm::Align(16));
    return global;
  };
  auto addBytes = [&](StringRef bytes, StringRef name, bool isText) {
    return addConstant(
        llvm::ConstantDataArray::getString(module.getContext(), bytes, isText),
        name);
  };
  auto addTable = [&](ArrayRef<std::string> texts,
                      StringRef name) -> llvm::Constant * {
    if (texts.empty())
      return null;
    SmallVector<llvm::Constant *> entries;
    for (const std::string &text : texts)
      entries.push_back(addBytes(text, name, /*isText=*/true));
    auto *type = llvm::ArrayType::get(ptr, entries.size());
    return addConstant(llvm::ConstantArray::get(type, entries), name);
  };
  auto word = [&](uint64_t value) {
    return llvm::ConstantInt::get(i32, value);
  };
  auto number = [&](uint64_t value) {
    return llvm::ConstantInt::get(i64, value);
  };
  // Field by field as in loopc-rt/cuda.h.
  llvm::Constant *fields[] = {
      word(LOOPC_CUDA_VERSION),
      word(code.kernels.size()),
      addTable(code.kernels, "kernel"),
      addBytes(code.ptx, "ptx", /*isText=*/true),
      number(code.ptx.size() + 1),
      code.cubin.empty() ? null
                         : addBytes(code.cubin, "cubin", /*isText=*/false),
      number(code.cubin.size()),
      addBytes(chip, "chip", /*isText=*/true),
      word(code.messages.size()),
      word(code.hasGraphs ? LOOPC_CUDA_HAS_GRAPHS : 0),
      addTable(code.messages, "message"),
      addTable(code.nodes, "node"),
      null};
  SmallVector<llvm::Type *> types;
  for (llvm::Constant *field : fields)
    types.push_back(field->getType());
  auto *value = llvm::ConstantStruct::get(
      llvm::StructType::get(module.getContext(), types), fields);
  static_assert(sizeof(loopc_cuda_program) == 88);
  auto *defined =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/false,
                               llvm::GlobalValue::InternalLinkage, value, "");
  defined->setAlignment(llvm::Align(16));
  if (!program) {
    defined->setName(kProgramName);
    return;
  }
  defined->takeName(program);
  program->replaceAllUsesWith(defined);
  program->eraseFromParent();
}
