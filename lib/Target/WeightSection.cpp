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
// Nor do they go through the linker, which would read and write them once more.
// In an object that is linked at once the section takes room, and has no bytes
// (SHT_NOBITS). In the output it shares a section with some that has bytes, so
// that it has a place in the file, which the linker leaves alone; the weights
// are written there.
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace loopc;

using Elf = llvm::object::ELF64LEFile;

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
           const WeightSet &weights, WeightBytes bytes,
           llvm::function_ref<void(const WeightSet::Weight &, uint64_t offset,
                                   llvm::raw_ostream &)>
               define) {
  if (weights.getWeights().empty())
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  const llvm::Triple &triple = module.getTargetTriple();
  std::string name = getSectionName(triple, info, weights);
  StringRef flags = weights.isLarge(triple) ? "al" : "a";
  bool isReserved = bytes == WeightBytes::Reserved;
  // With this the section of the output has bytes. Nobody refers to it: R keeps
  // it.
  if (isReserved)
    os << ".section " << name << ".begin,\"" << flags << "R\",@progbits\n.zero "
       << kWeightAlignment << '\n';
  os << ".section " << name << ",\"" << flags << "\","
     << (isReserved ? "@nobits" : "@progbits") << "\n.balign "
     << kWeightAlignment << "\n.Lweights:\n";
  if (isReserved)
    os << ".zero " << weights.getTotalSize() << '\n';
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
  addSection(module, info, weights, WeightBytes::Appended,
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
                                  const WeightSet &weights, WeightBytes bytes,
                                  bool isShared) {
  addSection(module, info, weights, bytes,
             [&](const WeightSet::Weight &weight, uint64_t offset,
                 llvm::raw_ostream &os) {
               if (isShared)
                 os << ".globl \"" << weight.symbol << "\"\n.hidden \""
                    << weight.symbol << "\"\n";
               os << '"' << weight.symbol << "\" = .Lweights + " << offset
                  << '\n';
             });
}

LogicalResult loopc::appendWeights(llvm::MutableArrayRef<char> object,
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

/// Where the symbols of `names` are in the ELF file `bytes`; those that are not
/// in it are not in the result.
static llvm::Expected<llvm::StringMap<uint64_t>>
findInFile(StringRef bytes, const llvm::StringSet<> &names) {
  auto file = Elf::create(bytes);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  llvm::StringMap<uint64_t> found;
  for (const Elf::Elf_Shdr &table : *sections) {
    if (table.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto strings = file->getStringTableForSymtab(table);
    if (!strings)
      return strings.takeError();
    auto symbols = file->symbols(&table);
    if (!symbols)
      return symbols.takeError();
    for (const Elf::Elf_Sym &symbol : *symbols) {
      auto name = symbol.getName(*strings);
      if (!name)
        return name.takeError();
      if (!names.contains(*name))
        continue;
      auto section = file->getSection(symbol.st_shndx);
      if (!section)
        return section.takeError();
      if ((*section)->sh_type != llvm::ELF::SHT_PROGBITS)
        return llvm::createStringError("section of '%s' has no bytes",
                                       name->str().c_str());
      found[*name] =
          symbol.st_value - (*section)->sh_addr + (*section)->sh_offset;
    }
  }
  return found;
}

LogicalResult loopc::fillWeights(StringRef path, const WeightSet &weights,
                                 Location loc) {
  if (weights.getWeights().empty())
    return success();
  auto fail = [&](Diag code, const llvm::Twine &problem) {
    return emitError(loc, code)
           << "cannot write the weights to '" << path << "': " << problem;
  };
  llvm::StringSet<> names;
  for (const WeightSet::Weight &weight : weights.getWeights())
    names.insert(weight.symbol);
  llvm::StringMap<uint64_t> offsets;
  {
    auto linked = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!linked)
      return fail(Diag::CannotRead, linked.getError().message());
    auto found = findInFile((*linked)->getBuffer(), names);
    if (!found)
      return fail(Diag::Internal, llvm::toString(found.takeError()));
    offsets = std::move(*found);
  }
  // The linker drops the section as a whole, where no code needs it after all.
  if (offsets.empty())
    return success();
  int descriptor = -1;
  if (std::error_code error = llvm::sys::fs::openFileForWrite(
          path, descriptor, llvm::sys::fs::CD_OpenExisting))
    return fail(Diag::CannotWrite, error.message());
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true,
                          /*unbuffered=*/true);
  for (const WeightSet::Weight &weight : weights.getWeights()) {
    auto offset = offsets.find(weight.symbol);
    if (offset == offsets.end())
      return fail(Diag::Internal,
                  "there is no symbol '" + llvm::Twine(weight.symbol) + "'");
    os.seek(offset->second);
    os.write(weight.data, weight.size);
  }
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error)
    return fail(Diag::CannotWrite, error.message());
  return success();
}
