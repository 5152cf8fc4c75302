//===- CompileThreads.cpp - Many models, compiled at once -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// loopc-compile-threads THREADS FILE...: compiles models into this process, as
// many at once as there are threads, and each sixteenth to a shared library as
// well. For tests that look for faults between threads, and for memory that one
// compilation leaves to the next: test/fuzz/compile_threads.py writes models.
//
// A model that is refused is no failure. Exit status: 0, or what ends the
// process.
//
//===----------------------------------------------------------------------===//

#include "loopc-c/loopc.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
/// What the threads take their work from.
struct Work {
  std::vector<std::string> files;
  std::string folder;
  std::atomic<size_t> next{0}, compiled{0}, refused{0};

  void compileAll() {
    for (size_t k; (k = next++) < files.size();) {
      loopc_diagnostics *diagnostics = nullptr;
      loopc_session *session = nullptr;
      int status = loopc_session_create_from_file(files[k].c_str(), nullptr,
                                                  &session, &diagnostics);
      ++(status == LOOPC_COMPILE_OK ? compiled : refused);
      loopc_session_destroy(session);
      loopc_diagnostics_destroy(diagnostics);
      if (k % 16 == 15)
        link(k);
      if (k % 50 == 49)
        std::printf("%zu of %zu models\n", k + 1, files.size());
    }
  }

  void link(size_t k) {
    std::string library = folder + "/" + std::to_string(k) + ".so";
    loopc_diagnostics *diagnostics = nullptr;
    loopc_compile_file(files[k].c_str(), LOOPC_EMIT_SHARED, library.c_str(),
                       nullptr, &diagnostics);
    loopc_diagnostics_destroy(diagnostics);
  }
};
} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s THREADS FILE...\n", argv[0]);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Work work;
  work.files.assign(argv + 2, argv + argc);
  work.folder = std::filesystem::temp_directory_path() /
                ("loopc-compile-threads-" + std::to_string(getpid()));
  std::filesystem::create_directories(work.folder);
  std::vector<std::thread> threads;
  for (int k = std::atoi(argv[1]); k > 1; --k)
    threads.emplace_back([&] { work.compileAll(); });
  work.compileAll();
  for (std::thread &thread : threads)
    thread.join();
  std::filesystem::remove_all(work.folder);
  std::printf("%zu compiled, %zu refused\n", work.compiled.load(),
              work.refused.load());
  return 0;
}
