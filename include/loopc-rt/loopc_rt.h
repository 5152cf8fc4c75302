//===- loopc_rt.h - Running compiled models ---------------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C ABI between a program and the models that loopc compiled. A model
// `NAME` comes as an object file that defines
//
//   const loopc_model *NAME_model(void);
//   int NAME_run(const loopc_run_options *options,
//                const loopc_value *inputs, size_t num_inputs,
//                loopc_value *outputs, size_t num_outputs,
//                loopc_error *error);
//
// and needs libloopc_rt, libc and libm. Every function is thread-safe: a model
// is constant data, and whatever a run allocates belongs to that run.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_LOOPC_RT_H
#define LOOPC_RT_LOOPC_RT_H

#include "loopc-rt/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the ABI of this header. A model carries the version that it was
/// compiled for; loopc_rt refuses to run another one (LOOPC_ERROR_ABI).
#define LOOPC_ABI_VERSION 1

/// Results of a run. 0 is success; the values are fixed.
typedef enum {
  LOOPC_OK = 0,
  LOOPC_ERROR_INPUT = 1,     ///< wrong number, kind, dtype, rank or dimension
  LOOPC_ERROR_OUTPUT = 2,    ///< a buffer of the caller is too small or unfit
  LOOPC_ERROR_RUNTIME = 3,   ///< the model's computation failed (a check)
  LOOPC_ERROR_MEMORY = 4,    ///< out of memory
  LOOPC_ERROR_CANCELLED = 5, ///< cancelled by the caller
  LOOPC_ERROR_TIMEOUT = 6,   ///< the deadline passed
  LOOPC_ERROR_CPU = 7,       ///< compiled for features that this CPU lacks
  LOOPC_ERROR_ABI = 8,       ///< model and runtime do not fit each other
  LOOPC_ERROR_DEVICE = 9,    ///< a GPU or its driver failed, or is missing
  LOOPC_ERROR_DIM_NAME = 10  ///< two extents for one name of a dimension
} loopc_status;

/// The message of a failed run; always terminated, cut where it is too long.
/// Messages name the node (`main/Loop 'decode'/body/Gather 'g'`) and the
/// iteration where there is one.
typedef struct {
  int32_t status; ///< a loopc_status
  char message[1020];
} loopc_error;

/// What a value is.
typedef enum {
  LOOPC_TENSOR = 1,
  LOOPC_STRINGS = 2,
  LOOPC_SEQUENCE = 3,
  LOOPC_OPTIONAL = 4
} loopc_kind;

/// A string: `size` bytes of UTF-8, not terminated.
typedef struct {
  const char *data;
  size_t size;
} loopc_string;

/// A tensor of strings in C order.
typedef struct {
  loopc_string *data;
  int64_t *shape;
  int32_t ndim;
} loopc_strings;

struct loopc_value;

/// Values in order, all of one kind and element type; tensors may differ in
/// shape and rank.
typedef struct {
  struct loopc_value *items;
  size_t count;
} loopc_sequence;

/// Nothing (`value` is null), or one tensor or sequence.
typedef struct {
  struct loopc_value *value;
} loopc_optional;

/// A value at the border of a model.
///
/// Inputs are only read. One that the model has a default for may be absent:
/// kind 0. An output may come in two ways:
///  - all zero: the runtime allocates data, shape and whatever else is needed
///    with the allocator of the run options and sets `release`;
///  - tensors only: kind and `tensor.data`, `tensor.shape`, `tensor.ndim` (the
///    capacity as a shape) and dtype set by the caller: the result is written
///    there, in C order, and `tensor.shape` becomes the actual shape. If the
///    result has another rank or more elements than the capacity, the run fails
///    with LOOPC_ERROR_OUTPUT and a message that holds the needed shape. A run
///    that fails may have written to the data.
/// Tensors of a model for GPUs may lie on the GPU of the run (DLPack's kDLCUDA
/// and kDLCUDAManaged): inputs, whose elements must be there for work of the
/// run's stream, or of CUDA's default stream where the options name none;
/// buffers for outputs; and what the run allocates if the options say so, which
/// `release` frees. All outputs are there when the run returns.
/// One buffer may serve an input and an output: what another output needs of
/// the input is saved before it is overwritten.
/// After a failed run no output holds anything that must be released.
typedef struct loopc_value {
  /// A loopc_kind; 0 for an output that is to be allocated and for an input
  /// that is absent.
  int32_t kind;
  int32_t flags; ///< 0
  union {
    DLTensor tensor;
    loopc_strings strings;
    loopc_sequence sequence;
    loopc_optional optional;
    uint64_t reserved[8];
  } as;
  /// Frees what the runtime allocated for this value (nested values too) and
  /// zeroes it; null where the caller owns the memory.
  void (*release)(struct loopc_value *self);
  void *context; ///< for `release`
} loopc_value;

/// Releases a value that a run returned. Null and caller-owned are no-ops.
void loopc_value_release(loopc_value *value);

/// Memory for outputs that a run allocates; the default is malloc and free.
/// `alignment` is a power of two.
typedef struct {
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*deallocate)(void *context, void *pointer, size_t bytes);
  void *context;
} loopc_allocator;

/// Flags with which another thread, or a signal handler, ends or interrupts
/// runs. Zero to begin with.
typedef struct {
  volatile int32_t requested;   ///< set by loopc_cancel()
  volatile int32_t interrupted; ///< set by loopc_interrupt()
} loopc_cancel_token;

/// Ends every run that was given `token`, soon. Async-signal-safe.
void loopc_cancel(loopc_cancel_token *token);

/// Lets a run that was given `token` call the function `interrupt` of its
/// options, soon. Async-signal-safe.
void loopc_interrupt(loopc_cancel_token *token);

/// From now on operators that draw random numbers, and have no seed of their
/// own, draw the same in each process that makes the same runs one after the
/// other. Without a call they draw others in each run.
void loopc_seed(uint64_t seed);

/// Counts of a run, for tests and tools.
typedef struct {
  uint64_t allocations; ///< calls of the allocation function by the model
  uint64_t deallocations;
  uint64_t peak_bytes;   ///< most memory held at one time by the model
  uint64_t copied_bytes; ///< bytes moved by buffer copies inside the runtime
} loopc_run_statistics;

/// A part of a model that a profile tells apart: what became of a node, or a
/// loop of the model. What happens in iterations is measured in some of them
/// and extrapolated to all, by the time that the loop took.
typedef struct {
  const char *name;  ///< path of the node in the model, or file:line:column
  int32_t loop;      ///< number of the part that is the loop around it, or -1
  int32_t is_loop;   ///< non-zero: its iterations are told apart
  double seconds;    ///< in it; of a loop with all that is in it
  double calls;      ///< how often it ran; of a loop how often it began
  double iterations; ///< of a loop
} loopc_profile_part;

/// A part, or one iteration of a loop, at one time.
typedef struct {
  int32_t part;
  int64_t iteration;   ///< -1: the whole part
  int64_t begin;       ///< nanoseconds of CLOCK_MONOTONIC
  int64_t nanoseconds; ///< how long it took
} loopc_profile_event;

/// Where the time of one run of a model that was compiled for profiles
/// (LOOPC_MODEL_PROFILED) went. The memory is the run's.
typedef struct {
  size_t size; ///< of this struct
  const char *model;
  int64_t begin; ///< of the model's code, nanoseconds of CLOCK_MONOTONIC
  int64_t nanoseconds;
  size_t num_parts;
  const loopc_profile_part *parts;
  /// In the order in which they ended, 32768 at most: all of the parts outside
  /// of loops, and the first of those in them.
  size_t num_events;
  const loopc_profile_event *events;
  uint64_t num_dropped; ///< events for which there was no room
  /// A hash of the names of the parts and of the loops that they are in: where
  /// it is the one of another run, and not 0, so are those.
  uint64_t key;
} loopc_run_profile;

/// How to run. Zero-initialise, set `size` to sizeof(loopc_run_options) and
/// whatever is needed. A null pointer means all defaults.
typedef struct {
  size_t size;
  const loopc_allocator *allocator; ///< null: malloc
  loopc_cancel_token *cancel;       ///< null: cannot be cancelled
  double timeout_seconds;           ///< 0: none
  int32_t num_threads;              ///< 0: as many as there are cores
  /// Bytes a run may hold, 64 more for each allocation included; 0: no limit.
  uint64_t memory_limit;
  /// Filled when the run ends, by an error, too; null: not wanted.
  loopc_run_statistics *statistics;
  // Of models that were compiled for GPUs; 0 for others.
  int32_t device;         ///< number of the GPU
  int32_t device_results; ///< non-zero: allocated tensors stay on the GPU
  void *stream;           ///< CUstream that the run works on; null: its own
  /// Filled when the run ends: seconds from its first work on the GPU until the
  /// last was done, by the GPU's clock, 0 where there was none; null: not
  /// wanted.
  double *device_seconds;
  /// Called with `interrupt_context`, on one of the run's threads, after
  /// loopc_interrupt(cancel). The run goes on where it returns 0, and ends as a
  /// cancelled one where it returns more; less: this is not the thread that can
  /// tell, and another one calls it. For programs that have to look after
  /// something in the middle of a run, as interpreters after signals. Null:
  /// none.
  int (*interrupt)(void *context);
  void *interrupt_context;
  /// Asked once, with `place_context`, where the tensor of output number
  /// `output` shall lie that came all zero: when its shape is known, in most
  /// cases before it is computed, else when it has been. The result is computed
  /// there, or copied there where it was computed elsewhere (the memory is not
  /// aligned to 64 bytes, or shared with an input; the shape was not known).
  /// The memory has room for the tensor in C order, and is the caller's:
  /// `loopc_value_release` leaves it alone. Null: the run allocates the output.
  /// Called on the thread that the run began on; not for states, and not where
  /// outputs stay on a GPU. Null: nobody is asked.
  void *(*place_output)(void *context, size_t output, const int64_t *shape,
                        int32_t ndim);
  void *place_context;
  /// Called with `profile_context` when the run ends, by an error, too, on the
  /// thread that began it. The model must have been compiled for profiles
  /// (LOOPC_MODEL_PROFILED). Null: none is made.
  void (*profile)(void *context, const loopc_run_profile *profile);
  void *profile_context;
  /// Threads of the caller, in place of the run's own: calls `work(argument,
  /// k)` for each k below `count`, at most `num_threads`, on any threads and in
  /// any order, and returns when all calls have. Called with
  /// `parallel_context`, by the thread that the run began on, for each parallel
  /// loop. Null: the run has threads of its own.
  void (*parallel_for)(void *context, void (*work)(void *argument, size_t k),
                       void *argument, size_t count);
  void *parallel_context;
  uint64_t reserved[2]; ///< zero
} loopc_run_options;

//===----------------------------------------------------------------------===//
// Description of a model
//===----------------------------------------------------------------------===//

/// A dimension of a port: a fixed extent, or -1 with an optional name. Equal
/// names within a model are equal extents (checked on entry).
typedef struct {
  int64_t extent;
  const char *name; ///< null where it has none
} loopc_dim;

/// Type of an input or output. `element` is used by LOOPC_SEQUENCE and
/// LOOPC_OPTIONAL, dtype and dims by LOOPC_TENSOR and (dims) LOOPC_STRINGS.
typedef struct loopc_type {
  int32_t kind;
  int32_t rank; ///< -1: not known before the run
  DLDataType dtype;
  int32_t onnx_type; ///< TensorProto.DataType; 0 where there is none
  const loopc_dim *dims;
  const struct loopc_type *element;
} loopc_type;

typedef struct {
  const char *name;
  const loopc_type *type;
} loopc_port;

/// What an input is where the caller leaves it out: a tensor in C order. Bool
/// and elements of less than a byte have a byte each; strings are
/// loopc_strings. Of a state null data are zeros, or empty texts.
typedef struct {
  const void *data;
  const int64_t *shape;
  int32_t ndim; ///< -1: the input has no default, it must be given
} loopc_default;

/// A map of the model: two ports next to each other. The keys have rank 1,
/// int64 or texts, each another one. The values are in the order of the keys:
/// of rank 1, or, where it is a sequence of maps with the same keys, a row for
/// each.
typedef struct {
  const char *name;    ///< in the model; null: there are no more maps
  int32_t is_output;   ///< non-zero: of outputs
  int32_t is_sequence; ///< non-zero: the values have rank 2
  uint64_t keys;       ///< number of the port of the keys
} loopc_map;

/// Flag of a model that has states: a runtime that knows no states refuses it.
#define LOOPC_MODEL_STATES 1u

/// Flag of a model that was compiled to watch its accesses (`loopc
/// --check-accesses`). A run gives each of its buffers pages of its own, behind
/// which memory is unreadable, and a freed buffer stays unreadable for a while:
/// a wrong access ends the program by a signal where it happens. Slow.
#define LOOPC_MODEL_GUARDED 2u

/// Flag of a model that was compiled to measure its parts (`loopc --profile`),
/// where the options of a run ask for a profile.
#define LOOPC_MODEL_PROFILED 4u

/// A compiled model. Constant; made by the compiler. `entry` is internal: use
/// loopc_model_run().
///
/// A model with states reads some values of the run before: the last
/// `num_states` inputs are what they were, the last `num_states` outputs, in
/// the same order, what they become. All of these inputs may be absent (kind
/// 0), which means the state's initial value. A program hands the outputs of a
/// run to the next; nothing is kept between runs by the model itself.
typedef struct loopc_model {
  uint32_t abi_version; ///< LOOPC_ABI_VERSION of the compiler
  uint32_t flags;       ///< LOOPC_MODEL_STATES, ...
  const char *name;
  const char *producer;     ///< "loopc 0.1.0"
  const char *cpu_features; ///< "+avx2,+fma": what the code needs; may be ""
  size_t num_inputs;
  const loopc_port *inputs;
  size_t num_outputs;
  const loopc_port *outputs;
  /// `inputs[k]` points to the descriptor of input k, `outputs[k]` to room for
  /// the descriptor of output k (MLIR's memref descriptors; see runtime.h).
  int32_t (*entry)(void *run, void **inputs, void **outputs);
  /// One for each input; null where no input has a default.
  const loopc_default *defaults;
  /// Of the inputs, and of the outputs, the last that are states. For each,
  /// `entry` gets a scalar of bool behind the inputs: whether it was given.
  uint64_t num_states;
  /// The code for GPUs, a loopc_cuda_program (cuda.h); null: there is none.
  void *device_program;
  /// For each input 1 where the code of the host does not read its elements, of
  /// which a run then needs no copy in the host's memory; may be null.
  const uint8_t *device_inputs;
  /// The outputs as people are shown them: with ranks, extents and names that
  /// the model declares and the compiler could not tell. Hints, which a run
  /// need not keep to; null: the model declares no more than `outputs` says.
  const loopc_port *declared_outputs;
  /// The maps, and behind them one without a name; null: there are none.
  const loopc_map *maps;
  uint64_t reserved[2];
} loopc_model;

/// Runs `model`. Checks inputs (number, kind, dtype, rank, dimensions; strides
/// are honoured, nothing is cast) before anything is computed. Inputs that are
/// absent (kind 0) take their default.
/// \returns a loopc_status; `error` may be null.
int loopc_model_run(const loopc_model *model, const loopc_run_options *options,
                    const loopc_value *inputs, size_t num_inputs,
                    loopc_value *outputs, size_t num_outputs,
                    loopc_error *error);

/// LOOPC_OK if this CPU and this runtime can run `model`; otherwise the status
/// and message that a run would give. Programs call it once after loading.
int loopc_model_check(const loopc_model *model, loopc_error *error);

/// LOOPC_OK if `value` fits input `number` of `model`: kind, dtype, rank and
/// the extents that its type gives; otherwise the status and message of a run.
int loopc_model_check_input(const loopc_model *model, size_t number,
                            const loopc_value *value, loopc_error *error);

/// A name for a status: "ok", "input error", ...
const char *loopc_status_name(int status);

/// Version of the library: "0.1.0".
const char *loopc_rt_version(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_RT_LOOPC_RT_H
