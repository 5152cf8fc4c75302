//===- Error.cpp - Messages and ends of a run -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

using namespace loopc::rt;

namespace {

/// Writes a text of any length into a buffer of fixed size, cut where it is too
/// long, always terminated. A null buffer swallows everything.
class TextBuffer {
public:
  TextBuffer(char *data, size_t capacity) : data(data), capacity(capacity) {
    if (data)
      data[0] = 0;
  }

  void append(const char *text, size_t size) {
    if (!data)
      return;
    size_t room = capacity - 1 - length;
    if (size > room) {
      size = room;
      cut = true;
    }
    memcpy(data + length, text, size);
    length += size;
    data[length] = 0;
  }

  void append(const char *text) { append(text, strlen(text)); }

  void append(int64_t value) {
    char digits[24];
    int size =
        snprintf(digits, sizeof(digits), "%lld", static_cast<long long>(value));
    append(digits, static_cast<size_t>(size));
  }

  /// Drops a UTF-8 character that was cut in the middle: readers of messages
  /// may decode strictly.
  void finish() {
    if (!data || !cut)
      return;
    size_t begin = length;
    while (begin > 0 && (data[begin - 1] & 0xC0) == 0x80)
      --begin;
    if (begin == 0)
      return;
    unsigned char lead = static_cast<unsigned char>(data[begin - 1]);
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (begin - 1) < need)
      data[begin - 1] = 0;
  }

private:
  char *data;
  size_t capacity;
  size_t length = 0;
  bool cut = false;
};

} // namespace

/// True for a caller that may write the run's error, and ends with
/// finishError(): the first one. In a parallel loop, too, it is the first one
/// in the order of the iterations (loop_order): an error of an earlier piece
/// takes the place of one that came before it in time.
static bool claimError(loopc_run &run) {
  if (!run.findPiece) {
    int32_t expected = 0;
    return __atomic_compare_exchange_n(&run.errorClaimed, &expected, 1, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
  int64_t piece = run.findPiece(run);
  while (__atomic_exchange_n(&run.errorLock, 1, __ATOMIC_ACQUIRE) != 0)
    sched_yield();
  if (run.errorClaimed && run.errorPiece <= piece) {
    __atomic_store_n(&run.errorLock, 0, __ATOMIC_RELEASE);
    return false;
  }
  run.errorClaimed = 1;
  __atomic_store_n(&run.errorPiece, piece, __ATOMIC_RELAXED);
  return true;
}

/// True where a parallel loop failed in a piece behind that of the calling
/// thread, whose own piece goes on: it may fail as well.
static bool precedesError(const loopc_run &run) {
  return run.findPiece && getStatus(run) == LOOPC_ERROR_RUNTIME &&
         run.findPiece(run) <
             __atomic_load_n(&run.errorPiece, __ATOMIC_RELAXED);
}

/// The text buffer of the run's error; swallows where the caller wants none.
static TextBuffer beginError(loopc_run &run) {
  if (!run.error)
    return TextBuffer(nullptr, 0);
  return TextBuffer(run.error->message, sizeof(run.error->message));
}

static void finishError(loopc_run &run, int32_t status, TextBuffer &text) {
  text.finish();
  if (run.error)
    run.error->status = status;
  __atomic_store_n(&run.status, status, __ATOMIC_RELEASE);
  if (run.findPiece)
    __atomic_store_n(&run.errorLock, 0, __ATOMIC_RELEASE);
}

/// The status of a run in which another thread claimed the error; it may not
/// have written it yet.
static int32_t getOtherStatus(const loopc_run &run, int32_t status) {
  int32_t recorded = getStatus(run);
  return recorded ? recorded : status;
}

static void appendFormatted(TextBuffer &text, const char *format,
                            va_list arguments) {
  // One byte more than a message holds: a text that is cut here is cut there.
  char line[sizeof(loopc_error::message) + 1];
  int size = vsnprintf(line, sizeof(line), format, arguments);
  if (size < 0)
    return;
  size_t length = static_cast<size_t>(size);
  text.append(line, length < sizeof(line) ? length : sizeof(line) - 1);
}

int32_t loopc::rt::recordError(loopc_run &run, int32_t status,
                               const char *format, ...) {
  if (!claimError(run))
    return getOtherStatus(run, status);
  TextBuffer text = beginError(run);
  va_list arguments;
  va_start(arguments, format);
  appendFormatted(text, format, arguments);
  va_end(arguments);
  finishError(run, status, text);
  return status;
}

/// "element 2: element 0: ", the outermost first.
static void appendElement(TextBuffer &text, const ElementPath *element) {
  if (!element)
    return;
  appendElement(text, element->outer);
  text.append("element ");
  text.append(static_cast<int64_t>(element->index));
  text.append(": ");
}

int32_t loopc::rt::recordPortError(loopc_run &run, int32_t status,
                                   const PortName &port, const char *format,
                                   ...) {
  if (!claimError(run))
    return getOtherStatus(run, status);
  TextBuffer text = beginError(run);
  text.append(port.direction);
  text.append(" '");
  text.append(port.name ? port.name : "");
  text.append("' (#");
  text.append(static_cast<int64_t>(port.index));
  text.append("): ");
  appendElement(text, port.element);
  va_list arguments;
  va_start(arguments, format);
  appendFormatted(text, format, arguments);
  va_end(arguments);
  finishError(run, status, text);
  return status;
}

/// Extents that stand for a shape in the values of a message.
static constexpr int64_t kMaxShownRank = 8;

/// The first "{}" or "{*}"; null without one.
static const char *findHole(const char *text) {
  for (; (text = strchr(text, '{')); ++text)
    if (text[1] == '}' || (text[1] == '*' && text[2] == '}'))
      return text;
  return nullptr;
}

/// "[2, 3]", with dots for what is beyond the extents that are shown.
static void appendShape(TextBuffer &text, int64_t rank,
                        const int64_t *extents) {
  text.append("[");
  for (int64_t k = 0; k < rank && k < kMaxShownRank; ++k) {
    if (k > 0)
      text.append(", ");
    text.append(extents[k]);
  }
  text.append(rank > kMaxShownRank ? ", ...]" : "]");
}

/// Appends `message` with `values` in its holes.
static void appendMessage(TextBuffer &text, const char *message,
                          const int64_t *values, int64_t numValues) {
  int64_t next = 0;
  const char *begin = message ? message : "";
  while (const char *hole = next < numValues ? findHole(begin) : nullptr) {
    text.append(begin, static_cast<size_t>(hole - begin));
    if (hole[1] == '}') {
      text.append(values[next++]);
      begin = hole + 2;
      continue;
    }
    if (numValues - next < 1 + kMaxShownRank) {
      begin = hole;
      break;
    }
    appendShape(text, values[next], values + next + 1);
    next += 1 + kMaxShownRank;
    begin = hole + 3;
  }
  text.append(begin);
}

/// loopc_rt_fail() with a path of `length` bytes in front of the message, if
/// there is one.
static int32_t fail(loopc_run &run, const char *path, size_t length,
                    const char *message, int64_t iteration,
                    const int64_t *values, int64_t numValues) {
  if (!claimError(run))
    return getOtherStatus(run, LOOPC_ERROR_RUNTIME);
  TextBuffer text = beginError(run);
  if (length != 0) {
    text.append(path, length);
    text.append(": ");
  }
  appendMessage(text, message, values, numValues);
  if (iteration >= 0) {
    text.append(" (iteration ");
    text.append(iteration);
    text.append(")");
  }
  finishError(run, LOOPC_ERROR_RUNTIME, text);
  return LOOPC_ERROR_RUNTIME;
}

extern "C" int32_t loopc_rt_fail(loopc_run *run, const char *message,
                                 int64_t iteration, const int64_t *values,
                                 int64_t numValues) {
  return fail(*run, nullptr, 0, message, iteration, values, numValues);
}

/// Reads path number `place` of a table (see loopc_rt_locate) into `path`;
/// \returns its length, 0 where it is longer than a message. Each path is made
/// of the one before it, back to the first.
static size_t readPlace(const char *places, int32_t place,
                        char (&path)[sizeof(loopc_error::message)]) {
  size_t length = 0;
  for (;; --place) {
    size_t begin = static_cast<unsigned char>(places[0]);
    size_t end = static_cast<unsigned char>(places[1]);
    places += 2;
    size_t size = strlen(places);
    if (begin > length || end > length || begin + size + end > sizeof(path)) {
      length = 0;
    } else {
      memmove(path + begin + size, path + length - end, end);
      memcpy(path + begin, places, size);
      length = begin + size + end;
    }
    if (place == 0)
      return length;
    places += size + 1;
  }
}

extern "C" int32_t loopc_rt_fail_at(loopc_run *run, const char *places,
                                    int32_t place, const char *message,
                                    int64_t iteration, const int64_t *values,
                                    int64_t numValues) {
  char path[sizeof(loopc_error::message)];
  size_t length = readPlace(places, place, path);
  return fail(*run, path, length, message, iteration, values, numValues);
}

extern "C" void loopc_rt_locate(loopc_run *run, const char *places,
                                int32_t place) {
  // Within a parallel loop the error may be that of another thread.
  if (!run->error || getStatus(*run) != LOOPC_ERROR_MEMORY || run->isLocated ||
      run->findPiece)
    return;
  run->isLocated = true;
  char path[sizeof(loopc_error::message)], message[sizeof(path)];
  size_t length = readPlace(places, place, path);
  if (length == 0)
    return;
  memcpy(message, run->error->message, sizeof(message));
  TextBuffer text = beginError(*run);
  text.append(path, length);
  text.append(": ");
  text.append(message);
  text.finish();
}

int64_t loopc::rt::readClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

/// Like readClock(), but as of the last tick of the kernel: four times cheaper,
/// up to some milliseconds late, never early.
static int64_t readCoarseClock() {
#ifdef CLOCK_MONOTONIC_COARSE
  timespec now;
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0)
    return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
  return readClock();
}

/// True if the function that is to be called after an interruption ends the
/// run.
static bool endsByInterrupt(loopc_run &run) {
  if (!run.interrupt ||
      __atomic_load_n(&run.cancel->interrupted, __ATOMIC_RELAXED) == 0)
    return false;
  // Taken back first: what interrupts while the function runs counts anew.
  __atomic_store_n(&run.cancel->interrupted, 0, __ATOMIC_SEQ_CST);
  int answer = run.interrupt(run.interruptContext);
  if (answer < 0)
    __atomic_store_n(&run.cancel->interrupted, 1, __ATOMIC_RELAXED);
  return answer > 0;
}

// loop_cancel
extern "C" int32_t loopc_rt_poll(loopc_run *run) {
  if (int32_t status = getStatus(*run))
    return precedesError(*run) ? static_cast<int32_t>(LOOPC_OK) : status;
  if (run->cancel &&
      (__atomic_load_n(&run->cancel->requested, __ATOMIC_RELAXED) != 0 ||
       endsByInterrupt(*run)))
    return recordError(*run, LOOPC_ERROR_CANCELLED, "the run was cancelled");
  if (run->deadline != kNever && readCoarseClock() >= run->deadline)
    return recordError(*run, LOOPC_ERROR_TIMEOUT,
                       "the run took longer than its timeout");
  return LOOPC_OK;
}

extern "C" void loopc_cancel(loopc_cancel_token *token) {
  if (token)
    __atomic_store_n(&token->requested, 1, __ATOMIC_RELAXED);
}

extern "C" void loopc_interrupt(loopc_cancel_token *token) {
  if (token)
    __atomic_store_n(&token->interrupted, 1, __ATOMIC_RELAXED);
}

extern "C" const char *loopc_status_name(int status) {
  switch (status) {
  case LOOPC_OK:
    return "ok";
  case LOOPC_ERROR_INPUT:
    return "input error";
  case LOOPC_ERROR_OUTPUT:
    return "output error";
  case LOOPC_ERROR_RUNTIME:
    return "runtime error";
  case LOOPC_ERROR_MEMORY:
    return "out of memory";
  case LOOPC_ERROR_CANCELLED:
    return "cancelled";
  case LOOPC_ERROR_TIMEOUT:
    return "timeout";
  case LOOPC_ERROR_CPU:
    return "CPU error";
  case LOOPC_ERROR_ABI:
    return "ABI error";
  case LOOPC_ERROR_DEVICE:
    return "device error";
  case LOOPC_ERROR_DIM_NAME:
    return "dimension name error";
  }
  return "unknown status";
}

extern "C" const char *loopc_rt_version(void) { return LOOPC_VERSION; }
