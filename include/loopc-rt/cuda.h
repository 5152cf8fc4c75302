//===- cuda.h - What compiled code calls on a GPU ---------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of libloopc_rt_cuda, which the host code of a model compiled
// for a GPU calls while it runs, and what they share with the device code.
// Programs do not need this header.
//
// The library opens the CUDA driver when the first run needs it; nothing is
// linked against. All work of a run goes to one stream, in order: what is
// freed is free after the work before it. A function that fails records the
// error in the run and returns a non-zero status (or null).
//
// Memory is of one of three kinds. Host memory is that of loopc_rt_alloc.
// Device memory is reached by kernels only. Shared memory is reached by both,
// by the host when loopc_rt_cuda_sync() returned after the last launch; it is
// a block of the run as that of loopc_rt_alloc, and loopc_rt_retain() and
// loopc_rt_free() take it.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_CUDA_H
#define LOOPC_RT_CUDA_H

#include "loopc-rt/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Version of loopc_cuda_program, of loopc_cuda_control and of the functions.
#define LOOPC_CUDA_VERSION 1

/// Values that a failed check can name; see loopc_rt_fail().
#define LOOPC_CUDA_MAX_VALUES 32

/// Flag of a program: its code takes a driver with conditional nodes of graphs.
#define LOOPC_CUDA_HAS_GRAPHS 1

/// Device code of a model: a variable of the model's object. All but `state`
/// is constant.
typedef struct {
  uint32_t version; ///< LOOPC_CUDA_VERSION
  uint32_t num_kernels;
  const char *const *kernels; ///< their names in the code
  /// PTX, terminated by a zero byte that `ptx_bytes` counts.
  const char *ptx;
  uint64_t ptx_bytes;
  const void *cubin; ///< the same for `chip` alone; null where there is none
  uint64_t cubin_bytes;
  const char *chip; ///< "sm_90": what the PTX asks for at least
  uint32_t num_messages;
  uint32_t flags; ///< LOOPC_CUDA_HAS_GRAPHS
  /// What failed checks say, a format of loopc_rt_fail() each.
  const char *const *messages;
  /// For messages: the nodes that kernels come from, "main/#3 Loop (opset 21)"
  /// or "" each; null where none is known.
  const char *const *nodes;
  void *state; ///< of the runtime; null to begin with
} loopc_cuda_program;

/// In device memory, one for each run: the first argument of every kernel.
typedef struct {
  int32_t failed;     ///< 0, or 1 after the first check that failed
  int32_t message;    ///< then: its number among the program's messages,
  int64_t iteration;  ///< the iteration or -1,
  int64_t num_values; ///< and the values that the message names
  int64_t values[LOOPC_CUDA_MAX_VALUES];
  /// Arrivals at the barrier of the grid; 0 when a cooperative kernel begins.
  uint64_t arrived;
  /// Where one thread leaves a word for all of them.
  int32_t word;
  int32_t reserved;
  /// In the host's memory, 4-byte aligned: not 0 once the run shall end.
  /// Kernels that ask return soon after; so do all that begin when `failed` is
  /// set.
  const volatile int32_t *cancel;
} loopc_cuda_control;

/// Where memory of loopc_rt_cuda_alloc() and loopc_rt_cuda_input() lies.
enum { LOOPC_CUDA_DEVICE = 1, LOOPC_CUDA_SHARED = 2 };

/// Flag of a launch: its blocks wait for one another, so that no more of them
/// are begun than the device holds at a time.
#define LOOPC_CUDA_COOPERATIVE 1
/// Flag of a cooperative launch: the kernel can wait as a cluster. The blocks
/// are one where they are at most LOOPC_CUDA_MAX_CLUSTER and the device, its
/// driver and the kernel's needs allow it.
#define LOOPC_CUDA_CLUSTER 2

/// Blocks of a cluster that every device with clusters has.
#define LOOPC_CUDA_MAX_CLUSTER 8

/// Called before all else by a run: opens the device that the run's options
/// name and loads the code. Fails (LOOPC_ERROR_DEVICE) where there is no
/// driver, no such device, or one that cannot run the code.
int32_t loopc_rt_cuda_begin(loopc_run *run, loopc_cuda_program *program);

/// Memory in `space`, 256-byte aligned; as loopc_rt_alloc() else. It belongs
/// to the run.
void *loopc_rt_cuda_alloc(loopc_run *run, int64_t bytes, int32_t space);

/// Frees memory of LOOPC_CUDA_DEVICE; null is a no-op.
void loopc_rt_cuda_free(loopc_run *run, void *pointer);

/// The `bytes` bytes at `host` where kernels can read them: a copy that lives
/// until the run ends, one for all calls with the same arguments; `host` is
/// neither written nor freed before. Where the caller's input lies on the
/// device the run was told so, and its address there comes back. `is_constant`:
/// the bytes are a weight of the model; its copy is made once for a program and
/// device, and never written.
void *loopc_rt_cuda_input(loopc_run *run, loopc_cuda_program *program,
                          const void *host, int64_t bytes, int32_t space,
                          int32_t is_constant);

/// Begins `program->kernels[kernel]` with `blocks` blocks (at least 1; with
/// LOOPC_CUDA_COOPERATIVE: at most) of `threads` threads.
/// arguments[0] is set to the run's control by this function.
int32_t loopc_rt_cuda_launch(loopc_run *run, loopc_cuda_program *program,
                             int32_t kernel, int64_t blocks, int32_t threads,
                             int32_t flags, void **arguments);

/// What the elements of a product's factors and of its result are, and its
/// sums: f32 (rounded to tf32 or not), f64, 16 bits summed up in f32 and
/// rounded or left as they are, signed bytes summed up in 32 bits.
enum {
  LOOPC_CUDA_PRODUCT_F32,
  LOOPC_CUDA_PRODUCT_TF32,
  LOOPC_CUDA_PRODUCT_F64,
  LOOPC_CUDA_PRODUCT_F16,
  LOOPC_CUDA_PRODUCT_F16_F32,
  LOOPC_CUDA_PRODUCT_BF16,
  LOOPC_CUDA_PRODUCT_BF16_F32,
  LOOPC_CUDA_PRODUCT_I8
};

/// What a loop of a product counts.
enum { LOOPC_CUDA_BATCH, LOOPC_CUDA_ROWS, LOOPC_CUDA_COLUMNS, LOOPC_CUDA_SUM };

#define LOOPC_CUDA_MAX_PRODUCT_LOOPS 12

/// A product of matrices: loops, those of each kind outermost first, and how
/// many elements further each step of one is in either factor and the result.
typedef struct {
  int64_t kernel; ///< number in the program of the one that does the same
  int64_t left, right, result; ///< addresses, which kernels reach
  int64_t kind;                ///< LOOPC_CUDA_PRODUCT_...
  int64_t num_loops;
  struct {
    int64_t role, trips, left, right, result;
  } loops[LOOPC_CUDA_MAX_PRODUCT_LOOPS];
} loopc_cuda_product;

/// What loopc_rt_cuda_product() returns where the kernel is to be launched.
#define LOOPC_CUDA_NOT_DONE (-1)

/// Begins the product by cuBLAS. \returns LOOPC_OK; LOOPC_CUDA_NOT_DONE where
/// there is no cuBLAS, or none that can do this one; else a failure's status.
int32_t loopc_rt_cuda_product(loopc_run *run, loopc_cuda_program *program,
                              const loopc_cuda_product *product);

/// A node of a graph: a kernel, or a condition with a body of nodes.
typedef struct {
  int32_t body;    ///< the condition in whose body it is; -1: in none
  int32_t handle;  ///< the condition that it is; -1: a kernel
  int32_t kernel;  ///< number in the program; of a condition: 1 for a loop
  int32_t threads; ///< of a block of the kernel
} loopc_cuda_node;

/// A loop as a graph: constant, with its nodes right behind it. Nodes of one
/// body follow one another in this order; a condition comes in front of what is
/// in its body. A body is executed where its condition holds when the work in
/// front of it is done, that of a loop for as long as it does.
///
/// Kernels have two arguments: the run's control, and the graph's state in
/// device memory, 8-byte words: the handles of the conditions, which
/// cudaGraphSetConditional() takes, the arguments, and what kernels leave for
/// one another.
typedef struct {
  uint32_t num_nodes;
  uint32_t num_handles; ///< conditions: their numbers are below
  uint32_t num_arguments;
  uint32_t num_words; ///< of the state
} loopc_cuda_graph;

/// Begins `graph`, with `num_arguments` words at `arguments`, and about
/// `blocks[k]` blocks for the kernel that is node k. Its nodes are made by the
/// first call on a device, and again where the blocks are very different ones.
int32_t loopc_rt_cuda_graph(loopc_run *run, loopc_cuda_program *program,
                            const loopc_cuda_graph *graph,
                            const int64_t *blocks, const int64_t *arguments);

/// Returns when all that was begun is done: then the host reads and writes
/// shared memory. Fails where a kernel failed, a check in one did not hold, or
/// the run shall end. Costs nothing where nothing was begun since the last.
int32_t loopc_rt_cuda_sync(loopc_run *run);

/// Copies `bytes` bytes between any two kinds of memory, in the order of the
/// stream; complete for the host after loopc_rt_cuda_sync().
int32_t loopc_rt_cuda_copy(loopc_run *run, void *dst, const void *src,
                           int64_t bytes);

/// A result of the run, `bytes` bytes in C order at `device` in memory of
/// LOOPC_CUDA_DEVICE, as memory that the run can return: a host copy (a block
/// of the run, complete after loopc_rt_cuda_sync()), or where the caller wants
/// results on the device memory there (the block itself where `device` is its
/// beginning and nothing was returned of it before, else a copy). `device` may
/// lie inside a block or be an input's.
void *loopc_rt_cuda_output(loopc_run *run, void *device, int64_t bytes);

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

/// Frees what runs of `program` left on devices for the next: its code and its
/// constants. No run of it may be under way; the next one loads it again.
/// Called before the program's memory goes.
void loopc_rt_cuda_unload(loopc_cuda_program *program);

/// A GPU.
typedef struct {
  char name[128];
  char chip[16]; ///< "sm_90": what to compile for
  int32_t multiprocessors;
} loopc_cuda_device;

/// Number of GPUs; 0, with the reason in `error`, which may be null, where the
/// driver cannot be opened or has none.
int32_t loopc_rt_cuda_num_devices(loopc_error *error);

/// Describes GPU `device`. \returns a loopc_status; `error` may be null.
int32_t loopc_rt_cuda_describe(int32_t device, loopc_cuda_device *result,
                               loopc_error *error);

/// Makes `result`, all zero, a tensor on GPU `device` with the elements of the
/// host's tensor `value` in C order; `release` frees it. \returns a
/// loopc_status; `error` may be null.
int32_t loopc_rt_cuda_upload(int32_t device, const loopc_value *value,
                             loopc_value *result, loopc_error *error);

/// Copies the elements of a tensor on a GPU, in C order, to `bytes` bytes of
/// the host at `data`, when CUDA's default stream is done with what was begun
/// before. \returns a loopc_status; `error` may be null.
int32_t loopc_rt_cuda_download(const loopc_value *value, void *data,
                               uint64_t bytes, loopc_error *error);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_RT_CUDA_H
