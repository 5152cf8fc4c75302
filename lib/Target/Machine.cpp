//===- Machine.cpp - The machine that code is made for --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "loopc/Support/Diagnostics.h"
#include "loopc/Target/CodeGen.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace mlir;
using namespace loopc;
using llvm::Triple;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmParsers();
    llvm::InitializeAllAsmPrinters();
  });
}

Triple loopc::getTriple(const TargetOptions &options) {
  return Triple(options.triple.empty() ? llvm::sys::getDefaultTargetTriple()
                                       : Triple::normalize(options.triple));
}

/// Features that every x86-64 CPU has, that the code never uses unless asked
/// for by name (privileged instructions, cryptography, hints), or that only
/// tune: a program need not look for them. A name that ends in '-' is a
/// beginning. What is not here is recorded, so that a feature of a later LLVM
/// is looked for (and refused by a runtime that does not know it).
static constexpr StringLiteral kUnrecordedX86[] = {
    "64bit", "64bit-mode", "x87", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2",
    "nopl", "cx16", "sahf",
    // Never without an intrinsic or inline assembly.
    "adx", "aes", "vaes", "sha", "sha512", "sm3", "sm4", "crc32", "cldemote",
    "clflushopt", "clwb", "clzero", "enqcmd", "fsgsbase", "hreset", "invpcid",
    "kl", "widekl", "lwp", "movdir64b", "movdiri", "mwaitx", "pconfig", "pku",
    "prefetchi", "prfchw", "ptwrite", "rdpid", "rdpru", "rdrnd", "rdseed",
    "rtm", "serialize", "sgx", "shstk", "tsxldtrk", "uintr", "usermsr",
    "waitpkg", "wbnoinvd", "xsave", "xsavec", "xsaveopt", "xsaves", "raoint",
    "avx512vp2intersect", "amx-", "evex512", "movrs",
    // Strings that a CPU copies faster; the instruction is always there.
    "ermsb", "fsrm",
    // Tuning.
    "fast-", "faster-", "slow-", "prefer-", "false-deps-", "tuning-", "use-",
    "no-bypass-delay", "no-bypass-delay-", "branchfusion", "macrofusion",
    "allow-light-256-bit", "branch-hint", "idivl-to-divb", "idivq-to-divl",
    "lea-sp", "lea-uses-ag", "pad-short-functions", "vzeroupper",
    "sbb-dep-breaking", "sse-unaligned-mem", "retpoline", "retpoline-",
    "harden-", "lvi-", "seses", "inline-asm-use-gpr32"};

/// The same for AArch64, of the features that are extensions of the
/// architecture; the others name CPUs and tuning.
static constexpr StringLiteral kUnrecordedAArch64[] = {
    "neon", "fp-armv8",
    // Never without an intrinsic or inline assembly, or hints.
    "aes", "sha2", "sha3", "sm4", "crypto", "crc", "sve-aes", "sve2-aes",
    "sve-sha3", "sve2-sha3", "sve-sm4", "sve2-sm4", "bti", "ccdp", "ccpp",
    "dit", "gcs", "jsconv", "mte", "pauth", "pauth-lr", "rand", "sb", "ssbs",
    "wfxt", "predres", "specres2", "rme", "the", "d128", "pan", "pan-rwv",
    "perfmon", "ras", "rasv2", "profile", "spe", "spe-eef", "altnzcv", "flagm",
    "am", "amvs", "brbe", "ccidx", "clrbhb", "ecv", "el2vmsa", "el3", "ete",
    "fgt", "fpac", "hcx", "lor", "ls64", "mpam", "nmi", "nv", "sel2",
    "specrestrict", "tlb-rmi", "tracev8.4", "trbe", "uaops", "vh", "xs", "chk",
    "fp8", "fp8dot2", "fp8dot4", "fp8fma", "sme", "sme-", "sme2", "sme2p1",
    "rcpc", "rcpc-immo", "lse", "lse2"};

static bool isRecorded(StringRef name, const Triple &triple) {
  auto isIn = [&](ArrayRef<StringLiteral> list) {
    return llvm::any_of(list, [&](StringRef entry) {
      return name == entry || (entry.ends_with('-') && name.starts_with(entry));
    });
  };
  if (triple.isX86())
    return !isIn(kUnrecordedX86);
  return llvm::AArch64::targetFeatureToExtension(("+" + name).str()) &&
         !isIn(kUnrecordedAArch64);
}

/// "+avx2,+fma": see Machine.
static std::string getRequiredFeatures(const llvm::MCSubtargetInfo &subtarget) {
  SmallVector<StringRef> names;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures())
    if (isRecorded(feature.Key, subtarget.getTargetTriple()))
      names.push_back(feature.Key);
  llvm::sort(names);
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "+" : ",+") + name.str();
  return text;
}

/// Splits "+a,-b" and checks the names, as LLVM only prints a warning.
static LogicalResult addFeatures(StringRef text,
                                 const llvm::MCSubtargetInfo &subtarget,
                                 llvm::SubtargetFeatures &features,
                                 Location loc) {
  SmallVector<StringRef> entries;
  text.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    entry = entry.trim();
    StringRef name = entry.drop_front();
    if (entry.size() < 2 || (entry[0] != '+' && entry[0] != '-'))
      return emitError(loc, Diag::UnknownFeature)
             << "feature '" << entry << "' begins neither with '+' nor '-'";
    bool isKnown = llvm::any_of(
        subtarget.getAllProcessorFeatures(),
        [&](const llvm::SubtargetFeatureKV &f) { return name == f.Key; });
    if (!isKnown)
      return emitError(loc, Diag::UnknownFeature)
             << "'" << name << "' is not a feature of target '"
             << subtarget.getTargetTriple().str() << "'";
    features.AddFeature(name, entry[0] == '+');
  }
  return success();
}

/// LLVM's target of the triple, if loopc makes code for it.
static FailureOr<const llvm::Target *> lookUpTarget(const Triple &triple,
                                                    Location loc) {
  bool isSupported = (triple.isX86_64() && !triple.isX32()) ||
                     (triple.getArch() == Triple::aarch64);
  if (!isSupported || !triple.isOSBinFormatELF())
    return emitError(loc, Diag::UnknownTarget)
           << "target '" << triple.str()
           << "' is not supported: loopc makes ELF objects for x86_64 and "
              "aarch64";
  // What is compiled for another system could not be linked.
  bool hasRuntime = triple.isOSLinux() || triple.getOS() == Triple::UnknownOS;
  if (!hasRuntime)
    return emitError(loc, Diag::UnknownTarget)
           << "target '" << triple.str() << "' is not supported: there is no "
           << "runtime for " << triple.getOSName()
           << ", which models are linked with; loopc has them for Linux";
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return emitError(loc, Diag::UnknownTarget)
           << "this LLVM has no code generator for target '" << triple.str()
           << "': " << message;
  return target;
}

namespace {
/// The CPU of this machine. It is asked once: where the machine is a virtual
/// one, each of some hundred questions is answered by its host.
struct HostCpu {
  std::string name = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();

  static const HostCpu &get() {
    static const HostCpu host;
    return host;
  }
};
} // namespace

std::string loopc::getPortableCpu(const Triple &triple) {
  if (!triple.isX86())
    return "generic";
  // Of x86-64's levels the third has what makes vectors worth their while;
  // every server and most PCs since 2015 have it. An older machine gets code
  // for itself.
  const llvm::StringMap<bool> &found = HostCpu::get().features;
  auto has = [&](std::initializer_list<StringRef> names) {
    return llvm::all_of(names, [&](StringRef name) {
      auto feature = found.find(name);
      return feature != found.end() && feature->getValue();
    });
  };
  if (has({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
    return "x86-64-v3";
  return has({"popcnt", "sse4.2", "ssse3"}) ? "x86-64-v2" : "x86-64";
}

/// Finds the name of the CPU, and for "native" what the CPU has.
static LogicalResult chooseCpu(const TargetOptions &options,
                               const Triple &triple, std::string &cpu,
                               llvm::SubtargetFeatures &features,
                               Location loc) {
  Triple host(llvm::sys::getProcessTriple());
  bool isHost = triple.getArch() == host.getArch();
  cpu = options.cpu;
  if (cpu.empty())
    cpu = isHost ? "native" : "generic";
  if (cpu == "portable")
    cpu = isHost ? getPortableCpu(triple) : "generic";
  if (cpu == "generic" && triple.isX86())
    cpu = "x86-64";
  if (cpu != "native")
    return success();
  if (!isHost)
    return emitError(loc, Diag::UnknownCpu)
           << "cpu 'native' is this machine's (" << host.getArchName()
           << "), but the target is '" << triple.str() << "'";
  cpu = HostCpu::get().name;
  SmallVector<std::pair<StringRef, bool>> sorted;
  for (const auto &entry : HostCpu::get().features)
    sorted.emplace_back(entry.getKey(), entry.getValue());
  llvm::sort(sorted);
  for (auto [name, isThere] : sorted)
    features.AddFeature(name, isThere);
  return success();
}

/// ": is it 'haswell'?": the name of a CPU of the target that is most like
/// `cpu`; "" where none is.
static std::string suggestCpu(const llvm::MCSubtargetInfo &target,
                              StringRef cpu) {
  unsigned least = cpu.size() / 3 + 1;
  StringRef nearest;
  for (const llvm::SubtargetSubTypeKV &one :
       target.getAllProcessorDescriptions()) {
    unsigned distance = cpu.edit_distance(one.Key, true, least);
    if (distance < least) {
      least = distance;
      nearest = one.Key;
    }
  }
  return nearest.empty() ? "" : (": is it '" + nearest + "'?").str();
}

std::shared_ptr<MachineStore> loopc::createMachineStore() {
  return std::make_shared<MachineStore>();
}

MachineStore::Free MachineStore::take(const Kind &kind) {
  std::scoped_lock lock(mutex);
  auto found = machines.find(kind);
  if (found == machines.end() || found->second.empty())
    return {};
  Free machine = std::move(found->second.back());
  found->second.pop_back();
  return machine;
}

void MachineStore::give(const Kind &kind, Free machine) {
  std::scoped_lock lock(mutex);
  machines[kind].push_back(std::move(machine));
}

/// Makes a machine of `options`, or reports which of them is wrong.
static FailureOr<MachineStore::Free>
describeMachine(const TargetOptions &options, Location loc,
                bool keepsInlineAssembly) {
  initializeTargets();
  Triple triple = getTriple(options);
  FailureOr<const llvm::Target *> target = lookUpTarget(triple, loc);
  if (failed(target))
    return failure();
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      (*target)->createMCSubtargetInfo(triple, "", ""));
  std::string cpu;
  llvm::SubtargetFeatures features;
  if (failed(chooseCpu(options, triple, cpu, features, loc)))
    return failure();
  if (!generic->isCPUStringValid(cpu))
    return emitError(loc, Diag::UnknownCpu)
           << "'" << cpu << "' is not a CPU of target '" << triple.str() << "'"
           << suggestCpu(*generic, cpu);
  if (failed(addFeatures(options.features, *generic, features, loc)))
    return failure();

  llvm::TargetOptions llvmOptions;
  llvmOptions.AllowFPOpFusion =
      options.fpContract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  llvmOptions.NoTrappingFPMath = true;
  llvmOptions.DisableIntegratedAS = keepsInlineAssembly;
  static constexpr llvm::CodeGenOptLevel kLevels[] = {
      llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less,
      llvm::CodeGenOptLevel::Default, llvm::CodeGenOptLevel::Aggressive};
  MachineStore::Free machine;
  machine.llvm.reset((*target)->createTargetMachine(
      triple, cpu, features.getString(), llvmOptions, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, kLevels[std::min(options.getCodeLevel(), 3u)]));
  if (!machine.llvm)
    return emitError(loc, Diag::UnknownTarget)
           << "LLVM makes no code for target '" << triple.str() << "'";
  // Without these LLVM stops the process: they are in the calling convention.
  StringRef needed =
      triple.isX86() ? "+64bit,+cx8,+cmov,+sse2" : "+neon,+fp-armv8";
  if (!machine.llvm->getMCSubtargetInfo()->checkFeatures(needed))
    return emitError(loc, Diag::UnknownFeature)
           << "target '" << triple.str() << "' cannot do without " << needed
           << ", which cpu '" << cpu << "' with features '" << options.features
           << "' lacks";
  machine.requiredFeatures =
      getRequiredFeatures(*machine.llvm->getMCSubtargetInfo());
  return machine;
}

FailureOr<Machine> loopc::createMachine(const TargetOptions &options,
                                        Location loc,
                                        bool keepsInlineAssembly) {
  MachineStore::Kind kind(options.triple, options.cpu, options.features,
                          options.fpContract, options.getCodeLevel(),
                          keepsInlineAssembly);
  MachineStore::Free free;
  if (options.machines)
    free = options.machines->take(kind);
  if (!free.llvm) {
    FailureOr<MachineStore::Free> made =
        describeMachine(options, loc, keepsInlineAssembly);
    if (failed(made))
      return failure();
    free = std::move(*made);
  }
  Machine machine;
  machine.requiredFeatures = free.requiredFeatures;
  if (!options.machines) {
    machine.llvm = std::move(free.llvm);
    return machine;
  }
  auto giveBack = [store = options.machines, kind,
                   features = std::move(free.requiredFeatures)](
                      llvm::TargetMachine *used) {
    store->give(kind, {std::unique_ptr<llvm::TargetMachine>(used), features});
  };
  machine.llvm.reset(free.llvm.release(), std::move(giveBack));
  return machine;
}

bool loopc::isGPUTriple(StringRef triple) {
  return Triple(Triple::normalize(triple)).isNVPTX();
}

VectorUnit loopc::getVectorUnit(const TargetOptions &options) {
  VectorUnit unit;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  // What is wrong is told where code is made.
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  FailureOr<Machine> machine =
      createMachine(options, UnknownLoc::get(&context));
  if (failed(machine))
    return unit;
  const llvm::MCSubtargetInfo &subtarget = *machine->llvm->getMCSubtargetInfo();
  auto has = [&](StringRef features) {
    return subtarget.checkFeatures(features.str());
  };
  if (!machine->llvm->getTargetTriple().isX86()) {
    unit.registers = 32;
    return unit;
  }
  if (has("+avx512f,+avx512vl")) {
    bool hasBytes = has("+avx512bw");
    unsigned dotBits = has("+avx512vnni") ? 8 : hasBytes ? 16 : 0;
    return {512, 32, hasBytes ? 8u : 32u, /*scales=*/true, dotBits};
  }
  unit.dotBits = 16;
  if (has("+avx2"))
    return {256, 16, 32, /*scales=*/false, has("+avxvnni") ? 8u : 16u};
  return unit;
}
