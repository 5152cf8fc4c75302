//===- Elf.cpp - What ELF files say about themselves ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of this machine's kind alone: such files are read here that this process is
// to load, or has loaded.
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>

using namespace loopc::capi;

std::string loopc::capi::findLibraryOf(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return "";
  // Of a program itself it is what the program was started as.
  char path[PATH_MAX];
  return realpath(info.dli_fname, path) ? path : "";
}

/// The header, if the file is of 64 bits and this machine's order of bytes.
static bool readHeader(int descriptor, Elf64_Ehdr &header) {
  constexpr unsigned char kOrder =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  return readAt(descriptor, 0, &header, sizeof(header)) &&
         std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == kOrder;
}

/// Reads a table of `count` rows at `offset`.
template <typename Row>
static bool readTable(int descriptor, uint64_t offset, uint64_t count,
                      std::vector<Row> &rows) {
  // No library has so many; what says so is damaged.
  constexpr uint64_t kMaxRows = 1 << 24;
  if (count > kMaxRows)
    return false;
  rows.resize(count);
  return readAt(descriptor, offset, rows.data(), count * sizeof(Row));
}

/// The build id within notes; "" where they have none.
static std::string findBuildId(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    auto round = [](uint64_t size) { return (size + 3) / 4 * 4; };
    uint64_t nameSize = round(note.n_namesz), size = round(note.n_descsz);
    if (nameSize > notes.size() || size > notes.size() - nameSize)
      return "";
    bool isBuildId = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                     notes.starts_with(std::string_view("GNU\0", 4));
    if (isBuildId)
      return std::string(notes.substr(nameSize, note.n_descsz));
    notes.remove_prefix(nameSize + size);
  }
  return "";
}

std::string loopc::capi::readBuildId(const std::string &path) {
  constexpr uint64_t kMaxNotes = 1 << 16;
  Descriptor file = openToRead(path);
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> segments;
  if (!file || !readHeader(file.get(), header) ||
      !readTable(file.get(), header.e_phoff, header.e_phnum, segments))
    return "";
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNotes)
      continue;
    std::string notes(segment.p_filesz, 0);
    if (!readAt(file.get(), segment.p_offset, notes.data(), notes.size()))
      continue;
    if (std::string id = findBuildId(notes); !id.empty())
      return id;
  }
  return "";
}

bool loopc::capi::readDefinedNames(int descriptor,
                                   std::vector<std::string> &names,
                                   std::string &problem) {
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
  if (!readHeader(descriptor, header)) {
    problem = "this is no ELF shared library";
    return false;
  }
  problem = "the file is damaged";
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !readTable(descriptor, header.e_shoff, header.e_shnum, sections))
    return false;
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_DYNSYM)
      continue;
    std::vector<Elf64_Sym> symbols;
    std::vector<char> texts;
    if (section.sh_link >= sections.size() ||
        !readTable(descriptor, section.sh_offset,
                   section.sh_size / sizeof(Elf64_Sym), symbols) ||
        !readTable(descriptor, sections[section.sh_link].sh_offset,
                   sections[section.sh_link].sh_size, texts))
      return false;
    for (const Elf64_Sym &symbol : symbols) {
      if (symbol.st_shndx == SHN_UNDEF)
        continue;
      if (symbol.st_name >= texts.size())
        return false;
      const char *text = texts.data() + symbol.st_name;
      names.emplace_back(text, strnlen(text, texts.size() - symbol.st_name));
    }
  }
  return true;
}
