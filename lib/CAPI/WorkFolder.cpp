//===- WorkFolder.cpp - Folders of what is being made ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <unistd.h>

using namespace loopc::capi;

static constexpr std::string_view kPrefix = "new-";

/// Removes a folder and the files in it.
static void removeFolder(const std::string &path) {
  if (DIR *folder = opendir(path.c_str())) {
    while (const dirent *entry = readdir(folder))
      unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
  }
  rmdir(path.c_str());
}

/// Opens a folder and locks it; none where another has it, or it is gone.
static Descriptor lockFolder(const std::string &path) {
  Descriptor folder(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    folder.reset();
  return folder;
}

WorkFolder WorkFolder::create(const std::string &parent) {
  // Between its making and its lock another process may take it for abandoned.
  constexpr int kTries = 3;
  WorkFolder made;
  for (int k = 0; k < kTries && !made.lock; ++k) {
    std::string path = parent + "/" + std::string(kPrefix) + "XXXXXX";
    if (!mkdtemp(path.data()))
      return WorkFolder();
    made.lock = lockFolder(path);
    made.path = path;
    struct stat held, named;
    bool isThere = made.lock && fstat(made.lock.get(), &held) == 0 &&
                   stat(path.c_str(), &named) == 0 &&
                   held.st_ino == named.st_ino;
    if (!isThere)
      made.lock.reset();
  }
  if (!made.lock && !made.path.empty()) {
    // A file system without locks; it is removed at the end all the same.
    struct stat status;
    if (stat(made.path.c_str(), &status) != 0)
      made.path.clear();
  }
  return made;
}

WorkFolder::~WorkFolder() {
  if (!path.empty())
    removeFolder(path);
}

void WorkFolder::removeAbandoned(const std::string &parent) {
  DIR *folder = opendir(parent.c_str());
  if (!folder)
    return;
  while (const dirent *entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix))
      continue;
    std::string path = parent + "/" + entry->d_name;
    if (Descriptor lock = lockFolder(path))
      removeFolder(path);
  }
  closedir(folder);
}
