//===- runtime.h - What compiled code calls ---------------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that compiled code calls while a model runs, and the layout of
// the descriptors that cross the border. Programs do not need this header.
//
// Descriptors are MLIR's: a memref of rank r is
//   { void *allocated; void *aligned; int64_t offset;
//     int64_t sizes[r]; int64_t strides[r]; }
// A tensor whose rank is known only at run time is a pair of such descriptors:
// its elements in C order (rank 1), then its shape (rank 1, int64). One border
// slot holds them one behind the other.
// Inside a model a bool is one byte that holds 0 or 1, a 4-bit or 2-bit
// element one byte: the border packs, unpacks and normalises. A string is a
// loopc_string, whose text is the caller's, the model's or of the run's arena.
// The slot of a sequence or an optional holds one loopc_rt_list *: that of an
// input is borrowed by the model, that of an output is a count handed over.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_RUNTIME_H
#define LOOPC_RT_RUNTIME_H

#include "loopc-rt/custom.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loopc_run loopc_run;

/// Memory of a run: `bytes` bytes, 64-byte aligned; bytes may be 0 (a valid,
/// unique pointer comes back). Returns null where there is none left, after
/// recording LOOPC_ERROR_MEMORY: the caller returns at once with a non-zero
/// status. A negative or absurd size is the same error.
void *loopc_rt_alloc(loopc_run *run, int64_t bytes);

/// The same for memory that is freed before the run ends and is no output.
/// Pieces of some hundred kilobytes lie in a huge page side by side: what a
/// loop reads again and again then has a place of its own in the caches.
void *loopc_rt_alloc_scratch(loopc_run *run, int64_t bytes);

/// The same as loopc_rt_alloc for what becomes the tensor of output number
/// `number`, whole and in C order, and of this shape unless it has no elements:
/// the caller's memory for it, where it can be computed there. The memory is
/// neither freed by the model nor given another owner, and asked for once a
/// run.
void *loopc_rt_alloc_output(loopc_run *run, int64_t bytes, int64_t number,
                            const int64_t *shape, int64_t rank);

/// Adds an owner to memory of loopc_rt_alloc, which comes with one; null is a
/// no-op.
void loopc_rt_retain(loopc_run *run, void *pointer);

/// Gives up one owner of memory of loopc_rt_alloc, and the memory with the last
/// one; null is a no-op.
void loopc_rt_free(loopc_run *run, void *pointer);

/// Copies between strided memrefs of one shape and element size: what MLIR's
/// memref.copy calls. `src` and `dst` are unranked descriptors
/// { int64_t rank; void *descriptor }.
void loopc_rt_copy(loopc_run *run, int64_t element_bytes, const void *src,
                   const void *dst);

/// Non-zero once the run shall end: cancelled or past its deadline. Records
/// the error. The caller returns at once with a non-zero status.
int32_t loopc_rt_poll(loopc_run *run);

/// Records LOOPC_ERROR_RUNTIME: `message` is a format in which "{}" stands for
/// the next of `values` (int64) and is written once as decimal number, "{*}"
/// for the next 9 of them, a rank and up to 8 extents, written as a shape; the
/// iteration of the innermost loop, where `iteration` >= 0, is appended.
/// Only the first error of a run is kept. Returns a non-zero status.
int32_t loopc_rt_fail(loopc_run *run, const char *message, int64_t iteration,
                      const int64_t *values, int64_t num_values);

/// The same with the path of a node and ": " in front of the message: number
/// `place` of the table `places` (see loopc_rt_locate).
int32_t loopc_rt_fail_at(loopc_run *run, const char *places, int32_t place,
                         const char *message, int64_t iteration,
                         const int64_t *values, int64_t num_values);

/// Puts the path of a node in front of the message of a run that ended with
/// LOOPC_ERROR_MEMORY, where that has none yet: number `place` of a table. A
/// path in it is two bytes, how many bytes it has in common with the beginning
/// and with the end of the one before it, and what lies between, terminated.
/// Not for pieces of parallel loops.
void loopc_rt_locate(loopc_run *run, const char *places, int32_t place);

/// Threads of the run; the same from its beginning to its end. 1 where the
/// library has no threads.
int32_t loopc_rt_num_threads(loopc_run *run);

/// Calls `fn(args, begin, end)` over [0, n) in pieces that end at multiples of
/// `grain`, on the threads of the run; returns when all are done. Called by a
/// piece it computes on that thread alone. A run that failed, or shall end,
/// begins no further pieces: the caller asks loopc_rt_poll() then. Of several
/// errors the one of the first iterations is kept.
void loopc_rt_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                           void (*fn)(void *args, int64_t begin, int64_t end),
                           void *args);

/// What is known of a nest for loopc_rt_try_parallel_for(), put together.
enum loopc_rt_nest {
  /// It is large enough to be shared out wherever it stands. Others wait until
  /// the run has lasted for as long as it takes to have threads.
  LOOPC_RT_NEST_LARGE = 1,
  /// No loop comes to it again and again: it is not timed with and without
  /// threads.
  LOOPC_RT_NEST_ONCE = 2,
  /// Its iterations have nests that are worth threads of their own: where there
  /// are at least twice as many threads as iterations, those are shared out.
  LOOPC_RT_NEST_OF_NESTS = 4
};

/// The same for what a loop comes to again and again, where threads are the
/// faster way, as far as the run has seen, or for what may be small, and 1;
/// else 0, and the caller computes all of it. `nest` is a sum of loopc_rt_nest.
int32_t loopc_rt_try_parallel_for(loopc_run *run, int64_t n, int64_t grain,
                                  void (*fn)(void *args, int64_t begin,
                                             int64_t end),
                                  void *args, int32_t nest);

/// Memory for the text of strings, not aligned, valid until the run ends; bytes
/// may be 0. Null and an error as for loopc_rt_alloc.
char *loopc_rt_string_alloc(loopc_run *run, int64_t bytes);

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//
//
// A model has numbered parts: loops, and what became of nodes. Only the thread
// that began the run calls these functions, and but for the first only where
// that one said so.

/// Begins the profile of a run with `count` parts. `parts` has two numbers for
/// each: the part that is the loop around it, or -1, and where in `names` its
/// name begins, which is terminated. `key` is a hash of both.
/// \returns 0 where nobody wants a profile.
int32_t loopc_rt_profile_begin(loopc_run *run, const char *names,
                               const int32_t *parts, int32_t count,
                               int64_t key);

/// The time since the call before belongs to `part`, which has ended. Where it
/// comes in pieces, `calls` is 1 for the first of them and 0 for the others.
void loopc_rt_profile_mark(loopc_run *run, int32_t part, int32_t calls);

/// Loop `part` begins; what was done since the call before is a part of it.
void loopc_rt_profile_enter(loopc_run *run, int32_t part);

/// An iteration of loop `part` begins. \returns whether it is to be measured:
/// only then are functions called for what is in it.
int32_t loopc_rt_profile_iteration(loopc_run *run, int32_t part);

/// Such an iteration has ended.
void loopc_rt_profile_next(loopc_run *run, int32_t part);

/// Loop `part` has ended.
void loopc_rt_profile_leave(loopc_run *run, int32_t part);

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//
//
// A sequence is a list of tensors (or of lists), an optional a list of no or
// one element. Lists are values: null is the empty list; each handle is a count
// of its list. A function that changes a list consumes the handle that it gets
// and returns another: it works in place where that was the only count, and
// else on a copy that shares the elements. Elements are in C order without
// gaps, as they lie inside a model, and are never written.
// Whatever a failed function consumes is gone. Lists end with their run.

typedef struct loopc_rt_list loopc_rt_list;

/// An element of a list, as two memrefs of rank 1: its elements are
/// {owner, data, 0, [bytes / element size], [1]}, its shape
/// {shape_owner, shape, 0, [rank], [1]}. The owners are counts that the caller
/// gives back by loopc_rt_free(); a null one stands for memory that outlives
/// the run.
typedef struct {
  void *owner;
  void *data;
  int64_t bytes;
  int64_t rank;
  void *shape_owner;
  const int64_t *shape;
} loopc_rt_element_view;

/// Number of elements; 0 for null.
int64_t loopc_rt_list_length(const loopc_rt_list *list);

/// Inserts a tensor of `bytes` bytes in front of element `position`, 0 to the
/// length (checked by the caller). Consumes `list` and, unless it is null,
/// `owner`: a count of the memory of loopc_rt_alloc in which `data` lies. Where
/// it is null `data` is copied. `shape` is copied. Appending costs amortised
/// constant time. Returns null where there is no memory or the run shall end,
/// after recording it.
loopc_rt_list *loopc_rt_list_insert(loopc_run *run, loopc_rt_list *list,
                                    int64_t position, void *owner,
                                    const void *data, int64_t bytes,
                                    const int64_t *shape, int64_t rank);

/// The same for a nested list, which is consumed.
loopc_rt_list *loopc_rt_list_insert_list(loopc_run *run, loopc_rt_list *list,
                                         int64_t position,
                                         loopc_rt_list *inner);

/// Removes element `position` (in range: checked by the caller). Consumes
/// `list`. Sets `*status` to LOOPC_OK, or to LOOPC_ERROR_MEMORY after recording
/// it; null is the empty list.
loopc_rt_list *loopc_rt_list_erase(loopc_run *run, loopc_rt_list *list,
                                   int64_t position, int32_t *status);

/// Element `position` (in range) of a list of tensors; its owners are counts
/// for the caller.
void loopc_rt_list_at(loopc_run *run, const loopc_rt_list *list,
                      int64_t position, loopc_rt_element_view *view);

/// Element `position` (in range) of a list of lists, a count for the caller.
loopc_rt_list *loopc_rt_list_at_list(loopc_run *run, const loopc_rt_list *list,
                                     int64_t position);

/// One more count of `list`, which is returned; null is a no-op.
loopc_rt_list *loopc_rt_list_retain(loopc_run *run, loopc_rt_list *list);

/// Gives up one count of `list`; null is a no-op.
void loopc_rt_list_release(loopc_run *run, loopc_rt_list *list);

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//
//
// A string that comes as an argument is an address and a number of bytes; it
// may be null where it has no bytes. Strings that are returned are pieces of
// arguments, or in the run's arena. `where` begins the message of an error,
// after which the function returns something harmless.

/// Negative, 0 or positive as `a` comes before, is or comes after `b`, byte by
/// byte (for UTF-8 that is the order of code points).
int64_t loopc_rt_string_compare(loopc_run *run, const char *a, int64_t a_bytes,
                                const char *b, int64_t b_bytes);

loopc_string loopc_rt_string_concat(loopc_run *run, const char *a,
                                    int64_t a_bytes, const char *b,
                                    int64_t b_bytes);

/// Number of pieces that `text` is split into at `delimiter` (empty: at runs of
/// white space) with at most `splits` splits; negative: no limit.
int64_t loopc_rt_string_split_count(loopc_run *run, const char *text,
                                    int64_t bytes, const char *delimiter,
                                    int64_t delimiter_bytes, int64_t splits);

/// The first piece of `text`, which has one; with `splits` 0 all of it.
loopc_string loopc_rt_string_split_first(loopc_run *run, const char *text,
                                         int64_t bytes, const char *delimiter,
                                         int64_t delimiter_bytes,
                                         int64_t splits);

/// What follows the first piece and its delimiter; empty at the end.
loopc_string loopc_rt_string_split_rest(loopc_run *run, const char *text,
                                        int64_t bytes, const char *delimiter,
                                        int64_t delimiter_bytes);

/// The text in lower or upper case, by Unicode's rules for all languages.
loopc_string loopc_rt_string_lower(loopc_run *run, const char *text,
                                   int64_t bytes);
loopc_string loopc_rt_string_upper(loopc_run *run, const char *text,
                                   int64_t bytes);

/// The position in a table of `count` strings, ascending and different, that
/// begin at offsets[k] of `texts` and end at offsets[k + 1]; -1 where `text` is
/// not there.
int64_t loopc_rt_string_find(loopc_run *run, const char *text, int64_t bytes,
                             int64_t texts, int64_t offsets, int64_t count);

/// The number that `text` says: "1e-5", "INF", "nan"; white space around it is
/// skipped. Fails for anything else.
double loopc_rt_string_to_float(loopc_run *run, const char *text, int64_t bytes,
                                const char *where);

/// The integer that `text` says; a fraction is cut off. Out of the range of 64
/// bits is a failure. The second is for unsigned ones, as their bits.
int64_t loopc_rt_string_to_int(loopc_run *run, const char *text, int64_t bytes,
                               const char *where);
int64_t loopc_rt_string_to_uint(loopc_run *run, const char *text, int64_t bytes,
                                const char *where);

/// The shortest text that reads as `value` again among floats of `precision`
/// significant bits (53: float64) whose smallest one above zero is
/// 2^`min_exponent`; with an exponent from 10^`digits` on.
loopc_string loopc_rt_string_from_float(loopc_run *run, double value,
                                        int32_t precision, int32_t min_exponent,
                                        int32_t digits);

loopc_string loopc_rt_string_from_int(loopc_run *run, int64_t value);
loopc_string loopc_rt_string_from_uint(loopc_run *run, int64_t value);

/// 1 where all of `text` matches the regular expression at address `program`,
/// else 0. A program is 32-bit words: their number, the number of instructions,
/// the first instruction; then the instructions, four words each, and the
/// ranges of characters (first and last) that they name:
///   {LOOPC_REGEX_MATCH}               the end
///   {LOOPC_REGEX_SPLIT, next, next}   go on at both
///   {LOOPC_REGEX_ASSERT, next, what}  go on where a LOOPC_REGEX_AT_ holds
///   {LOOPC_REGEX_RANGES, next, word, count}  read a character of the `count`
///                                     ascending ranges that begin at `word`
enum {
  LOOPC_REGEX_MATCH = 0,
  LOOPC_REGEX_SPLIT = 1,
  LOOPC_REGEX_ASSERT = 2,
  LOOPC_REGEX_RANGES = 3
};
enum {
  LOOPC_REGEX_AT_BEGIN = 0,
  LOOPC_REGEX_AT_END = 1,
  LOOPC_REGEX_AT_LINE_BEGIN = 2,
  LOOPC_REGEX_AT_LINE_END = 3,
  LOOPC_REGEX_AT_WORD = 4,
  LOOPC_REGEX_AT_NO_WORD = 5
};
int32_t loopc_rt_regex_full_match(loopc_run *run, const char *text,
                                  int64_t bytes, int64_t program);

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Replaces each of `count` runs of `n` complex numbers, real and imaginary
/// part one behind the other, by its discrete Fourier transform
///   y[k] = sum of x[m] e^(-2 pi i k m / n),
/// with e^(2 pi i k m / n) where `is_inverse` (nothing is divided by n). In
/// O(n log n) for every n. Returns non-zero, after recording it, where there is
/// no memory for 2 to 17 n numbers or the run shall end.
int32_t loopc_rt_fourier(loopc_run *run, double *numbers, int64_t count,
                         int64_t n, int32_t is_inverse);

//===----------------------------------------------------------------------===//
// Custom operators
//===----------------------------------------------------------------------===//

/// Calls `op`, with inputs whose `count` is filled in here. Of outputs come in:
/// the type, whether one is wanted, and null in `shape` and `data`, which are
/// then memory of loopc_rt_alloc. `ranks` has for each output the rank that it
/// must have, or -1. `where` begins the message of an error. Returns non-zero
/// after recording one.
int32_t loopc_rt_custom(loopc_run *run, const loopc_custom_op *op,
                        const loopc_custom_attribute *attributes,
                        int64_t num_attributes, loopc_custom_tensor *inputs,
                        int64_t num_inputs, loopc_custom_tensor *outputs,
                        int64_t num_outputs, const int64_t *ranks,
                        const char *where);

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// A number for a stream of random numbers: another one on each call; those of
/// calls with a seed depend on nothing but the seed and how many calls of the
/// run came before.
int64_t loopc_rt_random_stream(loopc_run *run, int32_t has_seed, int64_t seed);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_RT_RUNTIME_H
