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

#include <csignal>
#include <optional>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

mlir::TimingScope capi::reportProgress() {
  if (!isWorker())
    return {};
  static ProgressManager manager([](llvm::StringRef phase, double fraction) {
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

static Reply compile(const Request &request) {
  const CompilerInterface &compiler = *loopc_compiler_interface();
  Source source;
  source.path = request.model;
  if (request.isOpen)
    source.opened = "/proc/self/fd/" + std::to_string(kModelDescriptor);
  Reply reply;
  EntryInfo info;
  loopc_diagnostics said;
  reply.status =
      request.emit
          ? compiler.compileToFile(source, request.emit, request.output,
                                   request.options, said)
          : compiler.compileEntry(source, request.runtime, request.output,
                                  request.options, info, said);
  reply.symbol = std::move(info.symbol);
  reply.files = std::move(info.files);
  reply.diagnostics = std::move(said.entries);
  return reply;
}

/// Nothing of what the program that started this one has open is kept open.
static void closeOthers() {
#ifdef SYS_close_range
  syscall(SYS_close_range, kReplyDescriptor + 1, ~0u, 0);
#endif
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
  Reply reply;
  callWithStack([&] { reply = compile(request); });
  Writer writer;
  Reply::visit(writer, reply);
  send(Message::Done, writer.get());
  // What is in memory need not be taken apart.
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

extern "C" int loopc_command(int argc, char **argv) {
  reserveStandardStreams();
  llvm::setBugReportMsg("This is a fault of loopc. Please report it, with the "
                        "model, and the text below.\n");
  std::optional<KeepIgnoredSignals> ignored(std::in_place);
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGQUIT, onQuit);
  ignored.reset();
  useHugePages();
  // A file that becomes too large is an error of writing it.
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc > 1 && llvm::StringRef(argv[1]) == "--compile-worker")
    return runWorker();
  return runCommand(argc, argv);
}
