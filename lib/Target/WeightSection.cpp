//===- WeightSection.cpp - Weights in objects -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights never go through LLVM: its assembler would hold them in memory four
// times (measured: 1.16 GB for 256 MB by .incbin). The object that LLVM makes
// has an empty section and symbols that point behind its end; the bytes are
// appended to the file and the section's header is told where they are.
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"

using namespace mlir;
using namespace loopc;

static std::string getSectionName(const llvm::Triple &triple,
                                  const ModelInfo &info,
                                  const WeightSet &weights) {
  return ((weights.isLarge(triple) ? ".lrodata.loopc." : ".rodata.loopc.") +
          info.symbol);
}

/// A string of the assembler: octal codes for what is not plain.
static std::string quoteForAssembler(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (llvm::isPrint(c) && c != '"' && c != '\\') {
      result += c;
      continue;
    }
    result += '\\';
    for (int shift : {6, 3, 0})
      result += static_cast<char>('0' + (c >> shift & 7));
  }
  return result + '"';
}

/// Adds the section, with what `define` writes for each weight and its offset.
static void
addSection(llvm::Module &module, const ModelInfo &info,
           const WeightSet &weights,
           llvm::function_ref<void(const WeightSet::Weight &, uint64_t offset,
                                   llvm::raw_ostream &)>
               define) {
  if (weights.getWeights().empty())
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  const llvm::Triple &triple = module.getTargetTriple();
  os << ".section " << getSectionName(triple, info, weights)
     << (weights.isLarge(triple) ? ",\"al\"" : ",\"a\"") << ",@progbits\n"
     << ".balign " << kWeightAlignment << "\n.Lweights:\n";
  uint64_t offset = 0;
  for (const WeightSet::Weight &weight : weights.getWeights()) {
    offset = llvm::alignTo(offset, kWeightAlignment);
    os << ".type \"" << weight.symbol << "\",@object\n.size \"" << weight.symbol
       << "\"," << weight.size << '\n';
    define(weight, offset, os);
    offset += weight.size;
  }
  os << ".text\n";
  module.appendModuleInlineAsm(text);
}

void loopc::addWeightSection(llvm::Module &module, const ModelInfo &info,
                             const WeightSet &weights, StringRef file) {
  std::string quoted = quoteForAssembler(file);
  addSection(module, info, weights,
             [&](const WeightSet::Weight &weight, uint64_t offset,
                 llvm::raw_ostream &os) {
               os << ".balign " << kWeightAlignment << "\n\"" << weight.symbol
                  << "\":\n";
               if (weight.size)
                 os << ".incbin " << quoted << ',' << offset << ','
                    << weight.size << '\n';
             });
}

void loopc::addEmptyWeightSection(llvm::Module &module, const ModelInfo &info,
                                  const WeightSet &weights, bool isShared) {
  addSection(module, info, weights,
             [&](const WeightSet::Weight &weight, uint64_t offset,
                 llvm::raw_ostream &os) {
               if (isShared)
                 os << ".globl \"" << weight.symbol << "\"\n.hidden \""
                    << weight.symbol << "\"\n";
               os << '"' << weight.symbol << "\" = .Lweights + " << offset
                  << '\n';
             });
}

LogicalResult loopc::writeObject(llvm::MutableArrayRef<char> object,
                                 const ModelInfo &info,
                                 const WeightSet &weights,
                                 llvm::raw_ostream &os, Location loc) {
  if (weights.getWeights().empty()) {
    os.write(object.data(), object.size());
    return success();
  }
  uint64_t end = llvm::alignTo(object.size(), kWeightAlignment);
  auto fail = [&](llvm::Error error) {
    return emitError(loc, Diag::Internal)
           << "LLVM's object has no section for the weights: "
           << llvm::toString(std::move(error));
  };
  using Elf = llvm::object::ELF64LEFile;
  auto file = Elf::create(StringRef(object.data(), object.size()));
  if (!file)
    return fail(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return fail(sections.takeError());
  bool isFound = false;
  for (const Elf::Elf_Shdr &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name)
      return fail(name.takeError());
    if (!name->starts_with(".rodata.loopc.") &&
        !name->starts_with(".lrodata.loopc."))
      continue;
    size_t position = reinterpret_cast<const char *>(&section) - object.data();
    auto *header = reinterpret_cast<Elf::Elf_Shdr *>(object.data() + position);
    header->sh_offset = end;
    header->sh_size = weights.getTotalSize();
    isFound = true;
  }
  if (!isFound)
    return fail(llvm::createStringError("it is missing"));
  os.write(object.data(), object.size());
  os.write_zeros(end - object.size());
  weights.write(os);
  return success();
}
