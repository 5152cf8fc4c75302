//===- Interface.h - What libloopc asks of the compiler's library --*- C++
//-*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libloopc has no compiler in it: libloopc_compiler is opened when a model is
// compiled in this process, or a network wants to know types. Both are of one
// build, which is checked, so that classes may go from one to the other.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_INTERFACE_H
#define LOOPC_LIB_CAPI_INTERFACE_H

#include "Impl.h"

#include <functional>

namespace loopc::capi {

struct Reply;
struct Request;

/// What a library for the cache is made from and has in it.
struct EntryInfo {
  std::string symbol;             ///< NAME of NAME_model
  std::vector<std::string> files; ///< what was read beside the model
};

/// The functions of libloopc_compiler. Each returns a loopc_compile_status.
struct CompilerInterface {
  /// Both libraries know the same structs where these are equal.
  uint32_t version;
  const char *release;

  /// Compiles into the memory of the process.
  int (*compileInProcess)(const Source &source,
                          const loopc_compile_options &options,
                          loopc_session &session,
                          loopc_diagnostics &diagnostics);
  /// Compiles into the file `output`.
  int (*compileToFile)(const Source &source, int emit,
                       const std::string &output,
                       const loopc_compile_options &options,
                       loopc_diagnostics &diagnostics);
  /// Compiles into `output`, a library that is run by the libloopc `runtime`.
  /// With `next`, code that is made quickly may be there first: then `next` is
  /// called with what there is to know, and names the file for optimised code,
  /// or none.
  int (*compileEntry)(const Source &source, const std::string &runtime,
                      const std::string &output,
                      const loopc_compile_options &options, EntryInfo &info,
                      loopc_diagnostics &diagnostics,
                      const std::function<std::string()> &next);
  /// Writes the network that `source` is, with the options that are about its
  /// ports, as MLIR's bytecode.
  int (*writeNetwork)(const Source &source,
                      const loopc_compile_options &options, std::string &bytes,
                      loopc_diagnostics &diagnostics);
  /// What finds the types of a network's tensors.
  std::unique_ptr<network::TypeOracle> (*createOracle)(
      const network::INetworkDefinition &network);
};

/// Changes with Impl.h and this file.
inline constexpr uint32_t kInterfaceVersion = 5;

/// The compiler, which is loaded by the first call. Throws runtime_error where
/// it cannot be.
const CompilerInterface &getCompiler();

} // namespace loopc::capi

/// Of libloopc_compiler.
extern "C" LOOPC_API const loopc::capi::CompilerInterface *
loopc_compiler_interface(void);

/// The program loopc, which is the worker that a libloopc starts, too.
extern "C" LOOPC_API int loopc_command(int argc, char **argv);

/// Of libloopc: the build that it, its compiler and its worker are of.
extern "C" LOOPC_API const char *loopc_build_id(void);

namespace loopc::capi {
/// The work of a process that has its turn to compile in the background: one
/// has for each cache.
class BackgroundWork {
public:
  virtual ~BackgroundWork() = default;
  /// The file to write.
  const std::string &getOutput() const { return output; }
  /// Puts it into the cache, where there is something to; what cannot be kept
  /// is lost.
  virtual void finish(const Reply &reply) = 0;

protected:
  std::string output;
};
} // namespace loopc::capi

/// Of libloopc: begins it for a worker's request, with the lowest priority.
/// Null where another process does the same, or has done it; and, unless it is
/// to wait, where another one has its turn, with `isBusy`.
extern "C" LOOPC_API loopc::capi::BackgroundWork *
loopc_background_begin(const loopc::capi::Request *request, bool waits,
                       bool *isBusy);

/// Of libloopc: `loopc cache ...`. \returns an exit status.
extern "C" LOOPC_API int loopc_cache_command(int argc, char **argv);

#endif // LOOPC_LIB_CAPI_INTERFACE_H
