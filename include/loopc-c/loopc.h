//===- loopc.h - C API of the compiler --------------------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiling models from C, or from any language that calls C: into the process
// (a session that runs at once) or into files (objects, shared libraries, the
// compiler's intermediate stages). Values, runs and their errors are those of
// loopc-rt/loopc_rt.h. The library is libloopc.so; it exports these functions
// and those of loopc_rt.h. The compiler is another one beside it, which is
// loaded only when something is compiled in this process.
//
//   loopc_session *session = NULL;
//   loopc_diagnostics *diagnostics = NULL;
//   if (loopc_session_create_from_file("model.onnx", NULL, &session,
//                                      &diagnostics) != LOOPC_COMPILE_OK) {
//     for (size_t i = 0; i < loopc_diagnostics_count(diagnostics); ++i)
//       puts(loopc_diagnostics_text(diagnostics, i));
//   }
//   loopc_diagnostics_destroy(diagnostics);
//   ...
//   loopc_session_run(session, NULL, inputs, n, outputs, m, &error);
//   loopc_session_destroy(session);
//
// Rules that hold for every function:
//  - No C++ exception leaves the library.
//  - Different objects may be used by different threads at the same time. A
//    session may be used, run included, by any number of threads at once;
//    options and diagnostics may be read by several threads while none changes
//    them.
//  - Strings are UTF-8 and terminated. Those that a function returns belong to
//    the object that they were asked from and live as long as it.
//  - `destroy` functions accept null.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_C_LOOPC_H
#define LOOPC_C_LOOPC_H

#include "loopc-rt/loopc_rt.h"

#if defined(__GNUC__)
#define LOOPC_API __attribute__((visibility("default")))
#else
#define LOOPC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the library: "0.1.0".
LOOPC_API const char *loopc_version(void);

/// What a compilation ended with. The values are fixed.
typedef enum {
  LOOPC_COMPILE_OK = 0,
  LOOPC_COMPILE_ERROR_ARGUMENT = 1,  ///< the call or an option is wrong
  LOOPC_COMPILE_ERROR_FILE = 2,      ///< a file cannot be read or written
  LOOPC_COMPILE_ERROR_MODEL = 3,     ///< the model is invalid or not supported
  LOOPC_COMPILE_ERROR_INTERNAL = 4,  ///< a fault of the compiler
  LOOPC_COMPILE_ERROR_CANCELLED = 5, ///< the caller ended it
  LOOPC_COMPILE_ERROR_TIMEOUT = 6    ///< it took longer than its timeout
} loopc_compile_status;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// What a compilation had to say: errors, warnings and remarks in order.
typedef struct loopc_diagnostics loopc_diagnostics;

typedef enum {
  LOOPC_SEVERITY_ERROR = 1,
  LOOPC_SEVERITY_WARNING = 2,
  LOOPC_SEVERITY_REMARK = 3,
  LOOPC_SEVERITY_NOTE = 4 ///< belongs to the diagnostic before it
} loopc_severity;

/// One diagnostic.
typedef struct {
  int32_t severity;     ///< a loopc_severity
  const char *code;     ///< stable: "LC0123"; "" where there is none
  const char *location; ///< file, graph path, node; "" where there is none
  const char *message;  ///< lower case, without code and location
} loopc_diagnostic;

/// Number of diagnostics; 0 for null.
LOOPC_API size_t loopc_diagnostics_count(const loopc_diagnostics *diagnostics);

/// Diagnostic `index`; all empty where there is none.
LOOPC_API loopc_diagnostic
loopc_diagnostics_get(const loopc_diagnostics *diagnostics, size_t index);

/// Diagnostic `index` as the tools print it, without colour and line end:
/// "model.onnx: main/#3 Gather 'g' (opset 13): error: LC0303: ...".
LOOPC_API const char *
loopc_diagnostics_text(const loopc_diagnostics *diagnostics, size_t index);

LOOPC_API void loopc_diagnostics_destroy(loopc_diagnostics *diagnostics);

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// How to compile. Functions that take options accept null for all defaults;
/// they copy what they need.
typedef struct loopc_compile_options loopc_compile_options;

/// Options with their defaults; null where memory has run out.
LOOPC_API loopc_compile_options *loopc_compile_options_create(void);

LOOPC_API void loopc_compile_options_destroy(loopc_compile_options *options);

// Each setter returns a loopc_compile_status; LOOPC_COMPILE_ERROR_ARGUMENT
// leaves the options as they were.

/// Optimisation from 0 (none) to 3, the default.
LOOPC_API int
loopc_compile_options_set_opt_level(loopc_compile_options *options, int level);

/// LLVM's target triple, "aarch64-linux-gnu"; the default, "", is the host.
/// Sessions accept the host's only.
LOOPC_API int loopc_compile_options_set_target(loopc_compile_options *options,
                                               const char *triple);

/// LLVM's name of the CPU, "x86-64-v3"; "native" is this machine's with all its
/// features; "portable" is one that most machines have (x86-64-v3, or what this
/// machine has of it). The default, "", is "native" for sessions, "portable"
/// for what is written to files, and for another target its baseline.
LOOPC_API int loopc_compile_options_set_cpu(loopc_compile_options *options,
                                            const char *cpu);

/// Features beside the CPU's own, "+avx2,-fma"; the default is "".
LOOPC_API int loopc_compile_options_set_features(loopc_compile_options *options,
                                                 const char *features);

/// The GPU whose kernels run loops and tensors, "sm_90": the code runs on this
/// chip and on later ones. The default, "", is none: everything runs on the
/// CPU.
LOOPC_API int loopc_compile_options_set_chip(loopc_compile_options *options,
                                             const char *chip);

/// For a chip: nests of up to `work` operations (at least 0; the default is
/// 2048) stay on the CPU where no kernel works on what they work on.
LOOPC_API int
loopc_compile_options_set_min_kernel_work(loopc_compile_options *options,
                                          int work);

/// Non-zero, for a chip: large products of float32 matrices may round what they
/// multiply to tf32, 10 bits behind the point, for tensor cores. The default is
/// 0.
LOOPC_API int
loopc_compile_options_set_allow_tf32(loopc_compile_options *options,
                                     int enabled);

/// For a chip: what becomes of loops that need nothing of the host: "kernel",
/// one kernel each; "cluster", the same, and its blocks are one cluster from
/// sm_90 on; "graph", CUDA graphs of kernels, which take a driver of CUDA 12.4;
/// "host", the host drives them; "auto" or "", the default: a kernel or a
/// graph.
LOOPC_API int
loopc_compile_options_set_device_loops(loopc_compile_options *options,
                                       const char *form);

/// For a chip: products of matrices, outside of loops that are one kernel or
/// graph, that cuBLAS computes where a run finds it: "on", all that it can;
/// "off", none; "auto" or "", the default: those that are known to be large.
LOOPC_API int loopc_compile_options_set_cublas(loopc_compile_options *options,
                                               const char *which);

/// The model's name, a C identifier, the prefix of what its object defines.
/// The default, "", is made from the file's name ("model" for bytes).
LOOPC_API int loopc_compile_options_set_name(loopc_compile_options *options,
                                             const char *name);

/// The folder that external data of a model given as bytes lies in. The
/// default, "", means that such a model may have none.
LOOPC_API int
loopc_compile_options_set_base_directory(loopc_compile_options *options,
                                         const char *directory);

/// Non-zero: where ONNX Runtime differs from the ONNX specification, do what
/// ONNX Runtime does (the condition of a Loop without `cond` counts).
LOOPC_API int
loopc_compile_options_set_ort_compat(loopc_compile_options *options,
                                     int enabled);

/// Non-zero: a product and the sum that it goes into are rounded once, by an
/// FMA where the CPU has one, as C++ compilers do. The default is 0: each is
/// rounded, as by ONNX's operators one after the other (docs/Numerics.md).
LOOPC_API int
loopc_compile_options_set_fp_contract(loopc_compile_options *options,
                                      int enabled);

/// What constant float weights of products of matrices (MatMul, Gemm, LSTM,
/// GRU, RNN, in loops or not) of more than 16 KiB are rounded to: "bf16",
/// "f16", "int8" (with a scale for each output channel), or "model", the
/// default, for nothing. They take so much less memory, and results change
/// (docs/Numerics.md).
LOOPC_API int loopc_compile_options_set_weights(loopc_compile_options *options,
                                                const char *type);

/// Non-zero: verify the IR after every pass. The default is 0 (the IR is
/// verified where a stage ends).
LOOPC_API int loopc_compile_options_set_verify(loopc_compile_options *options,
                                               int enabled);

/// Non-zero: the model checks each access to a buffer against its extents (a
/// run that would reach beyond one fails with LOOPC_ERROR_RUNTIME), and runs
/// with guarded memory (LOOPC_MODEL_GUARDED in loopc_rt.h). For finding faults
/// of the compiler: such a model is many times slower. The default is 0.
LOOPC_API int
loopc_compile_options_set_check_accesses(loopc_compile_options *options,
                                         int enabled);

/// Non-zero: the model can say where the time of a run goes, by node and by
/// iterations of loops, where the options of a run ask for it
/// (loopc_run_options::profile, loopc_profile_add()). For the CPU. The default
/// is 0: the code measures nothing.
LOOPC_API int loopc_compile_options_set_profile(loopc_compile_options *options,
                                                int enabled);

/// Leaves out the pass `name`, which must be one that only optimises, else the
/// compilation fails with LOOPC_COMPILE_ERROR_ARGUMENT and a message that lists
/// them (docs/Driver.md). For finding faults of the compiler; once for each
/// pass.
LOOPC_API int loopc_compile_options_disable_pass(loopc_compile_options *options,
                                                 const char *name);

/// Gives the model the operators of the shared library `path`, which describes
/// them as loopc-rt/custom.h has it; once for each library. A session calls
/// them there, and the library stays in the process. An object that is written
/// refers to the variables that LOOPC_CUSTOM_OP defines: the program links
/// them.
LOOPC_API int
loopc_compile_options_add_custom_ops(loopc_compile_options *options,
                                     const char *path);

/// Loads the shared library `path` and checks what it says about its custom
/// operators, as a compilation does; a diagnostic says what is wrong.
LOOPC_API int loopc_check_custom_ops(const char *path,
                                     loopc_diagnostics **diagnostics);

/// The folder that compiled models are kept in, for the next session of the
/// same model with the same options: a path, "" for the environment's
/// LOOPC_CACHE_DIR or the user's own (~/.cache/loopc), or "off", the default,
/// for none. A model is recognised by what it and the files beside it hold.
/// A folder that others can write to is not used (docs/Driver.md).
LOOPC_API int loopc_compile_options_set_cache(loopc_compile_options *options,
                                              const char *folder);

/// Non-zero: large files of models, and of the cache, are read whenever they
/// are to be recognised. The default is 0: of one that has the size and the
/// times that it had when it was read, it is believed that it holds the same.
LOOPC_API int
loopc_compile_options_set_strict_cache(loopc_compile_options *options,
                                       int enabled);

/// What a session begins with:
/// - "off": optimised code;
/// - "background": code that is made quickly and runs slower; the process that
///   has made it goes on, with a low priority and after this process has ended,
///   too, and leaves optimised code in the cache, which runs of the session
///   take when it is there. Outputs have the same bits, but for those of NaN
///   and, without mask registers, for which of two zeros a minimum is. Where
///   there is no cache, no process to compile in, a model for GPUs, a small
///   model, or an optimisation level below 2, it begins with optimised code;
/// - "auto": "background" where there are two cores and optimised code takes
///   about a second and more, else "off";
/// - "quick": code that is made quickly, for good;
/// - "", the default: what the environment's LOOPC_TIER says, or "off".
LOOPC_API int loopc_compile_options_set_tier(loopc_compile_options *options,
                                             const char *tier);

/// Ends a compilation that takes longer, with LOOPC_COMPILE_ERROR_TIMEOUT; the
/// default, 0, is no limit.
LOOPC_API int loopc_compile_options_set_timeout(loopc_compile_options *options,
                                                double seconds);

/// Ends a compilation, with LOOPC_COMPILE_ERROR_CANCELLED, when loopc_cancel()
/// was called for `token`, which must live as long; null for none.
LOOPC_API int loopc_compile_options_set_cancel(loopc_compile_options *options,
                                               const loopc_cancel_token *token);

/// How far a compilation is.
typedef struct {
  size_t size;       ///< of this struct
  const char *phase; ///< in words: "optimising"
  double fraction; ///< of the work, from 0 to 1, as far as that can be guessed
  double seconds;  ///< since it began
} loopc_progress;

/// Returns non-zero to end the compilation.
typedef int (*loopc_progress_function)(void *context,
                                       const loopc_progress *progress);

/// Calls `function` (null: none) many times a second while a model is compiled,
/// on the thread that asked for it. Where that is done in this process and not
/// in one of its own (networks, models for GPUs), only before it begins; then a
/// timeout and a token count only then, too.
LOOPC_API int
loopc_compile_options_set_progress(loopc_compile_options *options,
                                   loopc_progress_function function,
                                   void *context);

/// Fixes the symbolic dimension `name` of the model's inputs to `extent` >= 0.
/// -1 says that `name` is no name: extents that the model gives it to are
/// unrelated, and a run in which they differ is no error by itself.
LOOPC_API int loopc_compile_options_add_dim(loopc_compile_options *options,
                                            const char *name, int64_t extent);

/// Fixes the shape of the input `name`: `rank` extents, -1 where one stays
/// open.
LOOPC_API int loopc_compile_options_add_shape(loopc_compile_options *options,
                                              const char *name,
                                              const int64_t *extents,
                                              size_t rank);

/// Makes a state of an input and an output: the input is what the output was in
/// the run before, and a session keeps it, as loopc_session_run() has it. It is
/// called as the input, and is no input and no output any more. Until it is
/// set, it is the input's default, or zeros; extents that are open are those of
/// other inputs' dimensions of the same name, else 0.
LOOPC_API int loopc_compile_options_add_state(loopc_compile_options *options,
                                              const char *input,
                                              const char *output);

//===----------------------------------------------------------------------===//
// Sessions: models in this process
//===----------------------------------------------------------------------===//

/// A model that is ready to run.
typedef struct loopc_session loopc_session;

/// Makes the model in file `path` (ONNX, binary or text by its content) ready
/// to run: from the cache, or compiled by the program loopc beside this
/// library, in a process of its own, or else in this one. `session` receives
/// the session, or null; `diagnostics`, which may be null, receives what there
/// is to say, also after success, or null where there is nothing. The caller
/// destroys both.
/// \returns a loopc_compile_status.
LOOPC_API int loopc_session_create_from_file(
    const char *path, const loopc_compile_options *options,
    loopc_session **session, loopc_diagnostics **diagnostics);

/// The same for a serialised model in memory. The bytes are not kept.
LOOPC_API int loopc_session_create_from_bytes(
    const void *data, size_t size, const loopc_compile_options *options,
    loopc_session **session, loopc_diagnostics **diagnostics);

/// Loads a model from a shared library that loopc (or a linker, from loopc's
/// object) made. `name` is the model's name; null finds it where the library
/// holds one model. The library stays loaded until the session is destroyed.
LOOPC_API int loopc_session_load_shared(const char *path, const char *name,
                                        loopc_session **session,
                                        loopc_diagnostics **diagnostics);

/// The model's description; lives as long as the session.
LOOPC_API const loopc_model *loopc_session_model(const loopc_session *session);

/// Runs the model, as loopc_model_run() does. A model of a shared library is
/// run by the runtime that was linked into it.
///
/// A model with states (see loopc_model) may be given its inputs and outputs
/// without them: `num_inputs` and `num_outputs` are then those of the model
/// less its `num_states`. The session keeps the states from one such run to the
/// next, and these runs take turns; one that fails leaves the states as they
/// were. Given the states too, a run neither reads nor changes those of the
/// session.
/// \returns a loopc_status.
LOOPC_API int loopc_session_run(const loopc_session *session,
                                const loopc_run_options *options,
                                const loopc_value *inputs, size_t num_inputs,
                                loopc_value *outputs, size_t num_outputs,
                                loopc_error *error);

/// Zero while a session of two tiers (loopc_compile_options_set_tier) runs
/// code that was made quickly; it looks for optimised code.
LOOPC_API int loopc_session_is_optimized(const loopc_session *session);

/// Number of states that the session keeps.
LOOPC_API size_t loopc_session_num_states(const loopc_session *session);

/// Name and type of state `index`; null where there is none.
LOOPC_API const loopc_port *loopc_session_state(const loopc_session *session,
                                                size_t index);

/// A copy of state `index`, which the caller releases by loopc_value_release().
/// Its kind is 0 where no run and no call set the state: the next run begins
/// with its initial value. Waits for a run that is under way, as the two
/// functions below do.
/// \returns a loopc_status.
LOOPC_API int loopc_session_get_state(const loopc_session *session,
                                      size_t index, loopc_value *value,
                                      loopc_error *error);

/// Sets state `index` to a copy of `value`, which must fit its type; of kind 0
/// it sets the state back.
/// \returns a loopc_status.
LOOPC_API int loopc_session_set_state(loopc_session *session, size_t index,
                                      const loopc_value *value,
                                      loopc_error *error);

/// Sets all states back: the next run begins with their initial values.
LOOPC_API void loopc_session_reset_states(loopc_session *session);

/// Frees the session and its code. No run may be under way, and outputs that
/// runs of a loaded shared library allocated must have been released.
LOOPC_API void loopc_session_destroy(loopc_session *session);

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

/// Where the time of runs went, summed up. Runs of any number of threads may be
/// added at the same time:
///
///   loopc_profile *profile = loopc_profile_create();
///   options.profile = loopc_profile_add;
///   options.profile_context = profile;
///   loopc_session_run(session, &options, ...);
///   loopc_profile_write(profile, "profile.json");
///   fputs(loopc_profile_table(profile), stdout);
///   loopc_profile_destroy(profile);
typedef struct loopc_profile loopc_profile;

/// A profile of no runs; null where memory has run out.
LOOPC_API loopc_profile *loopc_profile_create(void);

LOOPC_API void loopc_profile_destroy(loopc_profile *profile);

/// What loopc_run_options::profile may be; `profile` is a loopc_profile.
LOOPC_API void loopc_profile_add(void *profile, const loopc_run_profile *run);

/// A table of nodes, those with the most time of their own first, and of loops;
/// lives until the next call for `profile`, or its end.
LOOPC_API const char *loopc_profile_table(loopc_profile *profile);

/// Writes a trace of the runs into file `path`: JSON that Perfetto and Chrome's
/// about:tracing show, with the names that onnxruntime has in its own. Of long
/// runs it has the first events. \returns a loopc_compile_status; errno says
/// why a file cannot be written.
LOOPC_API int loopc_profile_write(const loopc_profile *profile,
                                  const char *path);

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// Number of CUDA devices; 0, with the reason in `error`, which may be null,
/// where the driver cannot be opened or has none. The environment variable
/// LOOPC_CUDA_DRIVER names another library than libcuda.so.1.
LOOPC_API int loopc_device_count(loopc_error *error);

/// Writes the chip of device `device`, "sm_90", into the `size` bytes at
/// `chip`: what loopc_compile_options_set_chip() takes. 16 bytes are enough.
/// \returns a loopc_status.
LOOPC_API int loopc_device_chip(int device, char *chip, size_t size,
                                loopc_error *error);

/// The same with the device's name; 128 bytes are enough.
LOOPC_API int loopc_device_name(int device, char *name, size_t size,
                                loopc_error *error);

/// True where the model has code for a GPU.
LOOPC_API int loopc_session_uses_device(const loopc_session *session);

/// Makes `result`, all zero, a tensor on device `device` that has the elements
/// of the host's tensor `value`, in C order; release it by
/// loopc_value_release(). \returns a loopc_status.
LOOPC_API int loopc_value_upload(int device, const loopc_value *value,
                                 loopc_value *result, loopc_error *error);

/// Copies the elements of a tensor on a device, in C order, to the `bytes`
/// bytes of the host at `data`, as many as they have. What was begun before on
/// CUDA's default stream is done then. \returns a loopc_status.
LOOPC_API int loopc_value_download(const loopc_value *value, void *data,
                                   size_t bytes, loopc_error *error);

//===----------------------------------------------------------------------===//
// Files: ahead of time
//===----------------------------------------------------------------------===//

/// What to write. The first group are the compiler's stages, as text.
typedef enum {
  LOOPC_EMIT_ONNX = 1,    ///< `onnx` and `loop` dialects, as imported
  LOOPC_EMIT_LOOP = 2,    ///< after inference and loop optimisation
  LOOPC_EMIT_LINALG = 3,  ///< linalg on tensors in loop bodies
  LOOPC_EMIT_MEMREF = 4,  ///< loops on buffers, with storage assigned
  LOOPC_EMIT_SCF = 5,     ///< loops as scf
  LOOPC_EMIT_LLVM = 6,    ///< MLIR's llvm dialect
  LOOPC_EMIT_LLVM_IR = 7, ///< LLVM IR
  LOOPC_EMIT_ASM = 8,     ///< assembly
  LOOPC_EMIT_PTX = 9,     ///< the code of the GPU; wants a chip
  /// The `onnx` stage with large constants as inputs, which shapes are inferred
  /// from; nothing where no extent of an input is open.
  LOOPC_EMIT_OUTLINE = 10,
  /// JSON: each output's extents by its name, null for one that a run decides
  /// and for an output that is no tensor or may have any rank. Bytes of names
  /// that are not UTF-8 are \udc80 to \udcff.
  LOOPC_EMIT_SHAPES = 11,

  LOOPC_EMIT_OBJ = 16,   ///< an object file, and its C header beside it
  LOOPC_EMIT_SHARED = 17 ///< a shared library, and its C header beside it
} loopc_emit;

/// The stage that the tools call `text` ("obj", "llvm-ir", ...); 0 where no
/// stage is called so.
LOOPC_API int loopc_emit_from_name(const char *text);

/// Compiles the model in file `path` up to `emit` (a loopc_emit) into file
/// `output`. After an error there is no output file.
/// \returns a loopc_compile_status.
LOOPC_API int loopc_compile_file(const char *path, int emit, const char *output,
                                 const loopc_compile_options *options,
                                 loopc_diagnostics **diagnostics);

/// The same for a serialised model in memory.
LOOPC_API int loopc_compile_bytes(const void *data, size_t size, int emit,
                                  const char *output,
                                  const loopc_compile_options *options,
                                  loopc_diagnostics **diagnostics);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_C_LOOPC_H
