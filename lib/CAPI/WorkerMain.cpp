//===- WorkerMain.cpp - The process that libloopc starts to compile -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that it is given are open by the numbers of Protocol.h; nothing is read
// from the command line or standard input. It ends with the process that
// started it.
//
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "Protocol.h"
#include "Watch.h"
#include "WorkerProgress.h"

#include "loopc/Compiler.h"
#include "loopc/Driver/Driver.h"
#include "loopc/Driver/Progress.h"
#include "loopc/Support/CompilerThread.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/HugePages.h"
#include "loopc/Support/StandardStreams.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <optional>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace loopc;
using namespace loopc::capi;

static bool isInWorker = false;

bool capi::isWorker() { return isInWorker; }

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Sends a message; the process ends where nobody is there to read it.
static void send(Message kind, const std::string &bytes) {
  MessageHead head = {};
  head.kind = kind;
  head.size = bytes.size();
  std::string all(reinterpret_cast<const char *>(&head), sizeof(head));
  all += bytes;
  for (llvm::StringRef rest = all; !rest.empty();) {
    ssize_t count = write(kReplyDescriptor, rest.data(), rest.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(ExitFile);
    rest = rest.drop_front(static_cast<size_t>(count));
  }
}

using Clock = std::chrono::steady_clock;

mlir::TimingScope capi::reportProgress() {
  if (!isWorker())
    return {};
  static ProgressManager manager([](llvm::StringRef phase, double fraction) {
    // A message wakes who waits for it. They look as often as that by
    // themselves; but what comes behind the last of a burst may take long.
    static std::string said;
    static double told = 0;
    static Clock::time_point next;
    constexpr double kNoticeable = 0.02;
    Clock::time_point now = Clock::now();
    if (said == phase && fraction - told < kNoticeable && now < next)
      return;
    said = phase.str();
    told = fraction;
    next = now + std::chrono::milliseconds(kPollMilliseconds);
    Writer writer;
    writer(fraction, phase.str());
    send(Message::Progress, writer.get());
  });
  return manager.getRootScope();
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

static bool readRequest(Request &request) {
  struct stat status;
  if (fstat(kRequestDescriptor, &status) != 0)
    return false;
  std::string bytes(static_cast<size_t>(status.st_size), 0);
  if (pread(kRequestDescriptor, bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size()))
    return false;
  Reader reader(bytes);
  Request::visit(reader, request);
  return reader.isGood();
}

/// What is said of a library; copies, since more may come.
static Reply makeReply(int status, const EntryInfo &info,
                       const loopc_diagnostics &said) {
  Reply reply;
  reply.status = status;
  reply.symbol = info.symbol;
  reply.files = info.files;
  reply.diagnostics = said.entries;
  return reply;
}

/// Compiles into `output`. With `onQuick`, which is told of code that was made
/// quickly, and names the file for optimised code.
static Reply compile(const Request &request, const std::string &output,
                     std::function<std::string(Reply)> onQuick = nullptr) {
  const CompilerInterface &compiler = *loopc_compiler_interface();
  Source source;
  source.path = request.model;
  if (request.isOpen)
    source.opened = "/proc/self/fd/" + std::to_string(kModelDescriptor);
  EntryInfo info;
  loopc_diagnostics said;
  std::function<std::string()> next;
  if (onQuick)
    next = [&] { return onQuick(makeReply(LOOPC_COMPILE_OK, info, said)); };
  int status = request.emit
                   ? compiler.compileToFile(source, request.emit, output,
                                            request.options, said)
                   : compiler.compileEntry(source, request.runtime, output,
                                           request.options, info, said, next);
  return makeReply(status, info, said);
}

/// Nothing of what the program that started this one has open is kept open.
static void closeOthers() {
#ifdef SYS_close_range
  syscall(SYS_close_range, kReplyDescriptor + 1, ~0u, 0);
#endif
}

/// This process is none of the caller's any more: what is sent to its group, or
/// waits for the end of its output, is not about it.
static void leaveCaller() {
  prctl(PR_SET_PDEATHSIG, 0);
  setsid();
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int number :
       {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kReplyDescriptor})
    dup2(nothing, number);
  close(nothing);
}

static void sendReply(const Reply &reply) {
  Writer writer;
  Reply::visit(writer, reply);
  send(Message::Done, writer.get());
}

static pid_t separated = -1;

static void forwardSignal(int signal) { kill(separated, signal); }

/// Ends as process `separated` does, or well when it says through the pipe that
/// it goes on by itself.
[[noreturn]] static void waitForSeparated(int pipe) {
  std::signal(SIGTERM, forwardSignal);
  for (int number : {kModelDescriptor, kRequestDescriptor, kReplyDescriptor})
    close(number);
  char byte;
  ssize_t count;
  while ((count = read(pipe, &byte, 1)) < 0 && errno == EINTR)
    ;
  if (count == 1)
    _exit(ExitOk);
  int status = 0;
  while (waitpid(separated, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status)) {
    // Its core, where there is one, is what is to be looked at.
    prctl(PR_SET_DUMPABLE, 0);
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : ExitCompileError);
}

namespace {
/// A worker that answers when code that was made quickly is there, and then
/// makes optimised code of the same model. What its caller waits for is another
/// process, which ends with the answer.
class Tiers {
public:
  /// Makes that process; the work is done in a new one, which this returns in.
  /// False where there is none.
  bool separate();
  bool hasAnswered() const { return answered; }
  /// Answers. \returns the file for optimised code, "" for none.
  std::string answer(const Request &request, const Reply &reply);
  /// Takes the optimised code.
  void finish(const Reply &reply);

private:
  int pipe = -1;
  bool answered = false;
  std::unique_ptr<BackgroundWork> work;
};
} // namespace

bool Tiers::separate() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  pid_t caller = getpid();
  separated = fork();
  if (separated > 0) {
    close(ends[1]);
    waitForSeparated(ends[0]);
  }
  close(ends[0]);
  if (separated < 0) {
    close(ends[1]);
    return false;
  }
  pipe = ends[1];
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != caller)
    _exit(ExitFile);
  return true;
}

std::string Tiers::answer(const Request &request, const Reply &reply) {
  prctl(PR_SET_PDEATHSIG, 0);
  sendReply(reply);
  answered = true;
  leaveCaller();
  char byte = 0;
  if (write(pipe, &byte, 1) != 1)
    _exit(ExitFile);
  close(pipe);
  bool isBusy;
  work.reset(loopc_background_begin(&request, /*waits=*/false, &isBusy));
  if (work)
    return work->getOutput();
  // To wait takes less memory in a process that has compiled nothing yet.
  if (isBusy) {
    char name[] = "loopc", mode[] = "--compile-later";
    char *arguments[] = {name, mode, nullptr};
    execv("/proc/self/exe", arguments);
  }
  _exit(ExitOk);
}

void Tiers::finish(const Reply &reply) {
  work->finish(reply);
  work.reset();
}

static int runWorker() {
  // Where the other process was killed before this, the pipe is closed.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  closeOthers();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  isInWorker = true;
  Request request;
  if (!readRequest(request) || request.build != loopc_build_id())
    return ExitUsage;
  Tiers tiers;
  bool hasTiers = !request.cache.empty() && tiers.separate();
  // Not before: a process that only waits has no use for them.
  useHugePages();
  Reply reply;
  callWithStack([&] {
    if (hasTiers)
      reply = compile(request, request.output, [&](Reply quick) {
        quick.isQuick = true;
        return tiers.answer(request, quick);
      });
    else
      reply = compile(request, request.output);
  });
  if (tiers.hasAnswered())
    tiers.finish(reply);
  else
    sendReply(reply);
  // What is in memory need not be taken apart.
  _exit(ExitOk);
}

/// Compiles in the background from the beginning.
static int runLater() {
  Request request;
  closeOthers();
  if (!readRequest(request) || request.build != loopc_build_id())
    return ExitUsage;
  // Nobody waits for it, nor does a pipe for its end.
  if (fork() != 0)
    _exit(ExitOk);
  leaveCaller();
  isInWorker = true;
  useHugePages();
  bool isBusy;
  std::unique_ptr<BackgroundWork> work(
      loopc_background_begin(&request, /*waits=*/true, &isBusy));
  if (!work)
    return ExitOk;
  callWithStack([&] { work->finish(compile(request, work->getOutput())); });
  work.reset();
  _exit(ExitOk);
}

namespace {
/// Signals of terminals that the caller lets this program ignore (nohup, jobs
/// in the background) stay ignored. LLVM's handlers, which are set while this
/// lives, would remove what is being written, and the program would go on.
class KeepIgnoredSignals {
public:
  KeepIgnoredSignals() {
    for (auto [signal, action] : llvm::zip_equal(kSignals, before))
      sigaction(signal, nullptr, &action);
  }
  ~KeepIgnoredSignals() {
    for (auto [signal, action] : llvm::zip_equal(kSignals, before))
      if (action.sa_handler == SIG_IGN)
        sigaction(signal, &action, nullptr);
  }

private:
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT};
  struct sigaction before[std::size(kSignals)] = {};
};
} // namespace

/// Who ends the program by SIGQUIT wants no report of a fault; nothing half
/// written is left.
static void onQuit(int signal) {
  llvm::sys::RunInterruptHandlers();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What the command line asks for; the exit status.
static int runCommand(int argc, char **argv) {
  if (argc > 1 && llvm::StringRef(argv[1]) == "cache")
    return loopc_cache_command(argc - 1, argv + 1);
  int code = runDriver(argc, argv);
  std::error_code error = finishStandardStreams();
  if (!error)
    return code;
  printError(llvm::errs(), "loopc", Diag::CannotWrite,
             "cannot write '-': " + error.message());
  return code == ExitOk ? ExitFile : code;
}

/// Seconds that what is said of a crash may take.
static constexpr unsigned kCrashSeconds = 10;

static void endAfterCrash(int) {
  std::signal(SIGABRT, SIG_DFL);
  raise(SIGABRT);
}

/// LLVM's handler of crashes allocates memory. It waits for good where the
/// process crashed in the allocator, and whoever waits for the process with it.
static void limitCrash(void *) {
  std::signal(SIGALRM, endAfterCrash);
  alarm(kCrashSeconds);
}

extern "C" int loopc_command(int argc, char **argv) {
  reserveStandardStreams();
  llvm::setBugReportMsg("This is a fault of loopc. Please report it, with the "
                        "model, and the text below.\n");
  std::optional<KeepIgnoredSignals> ignored(std::in_place);
  // They run in order: what prints the program's arguments has a limit of its
  // own, and takes the alarm away; behind it comes what InitLLVM adds.
  llvm::EnablePrettyStackTrace();
  llvm::sys::AddSignalHandler(limitCrash, nullptr);
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGQUIT, onQuit);
  ignored.reset();
  // A file that becomes too large is an error of writing it.
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc > 1 && llvm::StringRef(argv[1]) == "--compile-worker")
    return runWorker();
  if (argc > 1 && llvm::StringRef(argv[1]) == "--compile-later")
    return runLater();
  useHugePages();
  return runCommand(argc, argv);
}
