//===- Worker.cpp - Compiling in a process of its own ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM stays in the process that has used it, takes a hundred megabytes of it,
// cannot be interrupted and ends it where it crashes. So the program loopc,
// which lies beside this library, is started as a worker.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "CompilerFiles.h"
#include "Key.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace loopc::capi;

extern char **environ;

bool loopc::capi::wantsWorker() {
  const char *mode = std::getenv("LOOPC_COMPILE");
  return !mode || std::string_view(mode) != "inprocess";
}

namespace {
/// What posix_spawn() is given; freed at the end.
class SpawnSettings {
public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // A terminal sends it to both of us, and it is for this process to say what
    // becomes of the worker.
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings &) = delete;
  SpawnSettings &operator=(const SpawnSettings &) = delete;

  void pass(const Descriptor &descriptor, int number) {
    posix_spawn_file_actions_adddup2(&actions, descriptor.get(), number);
  }
  /// \returns the process, or -1.
  pid_t start(const std::string &program, std::string mode) {
    char name[] = "loopc";
    char *arguments[] = {name, mode.data(), nullptr};
    pid_t process = -1;
    if (posix_spawn(&process, program.c_str(), &actions, &attributes, arguments,
                    environ))
      return -1;
    return process;
  }

private:
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// The worker's messages, as they come.
class Inbox {
public:
  Inbox(Descriptor pipe, Watch &watch) : pipe(std::move(pipe)), watch(watch) {}

  /// Until the worker is done or gone, or the watch says that it is enough.
  /// \returns LOOPC_COMPILE_OK, or what the watch said.
  int receive();

  const std::optional<Reply> &getReply() const { return reply; }

private:
  void readMessages();

  Descriptor pipe;
  Watch &watch;
  std::string bytes;
  std::optional<Reply> reply;
};
} // namespace

WorkerProcess::~WorkerProcess() {
  // One that has been stopped would be waited for until it goes on.
  constexpr int kMilliseconds = 2000;
  if (isLeaving && id >= 0 && !endsWithin(kMilliseconds))
    ::kill(id, SIGKILL);
  wait(/*kill=*/!isLeaving);
}

int WorkerProcess::wait(bool kill) {
  if (id < 0)
    return status;
  if (kill)
    stop();
  // Somebody else's wait() may have taken it.
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  id = -1;
  return status;
}

/// Gives it a moment to remove what it has begun to write.
void WorkerProcess::stop() {
  constexpr int kMilliseconds = 60;
  ::kill(id, SIGTERM);
  if (!endsWithin(kMilliseconds))
    ::kill(id, SIGKILL);
}

/// True if it has ended by then, or is not there to be waited for.
bool WorkerProcess::endsWithin(int milliseconds) const {
  constexpr int kQuestions = 4; // a millisecond
  for (int k = 0; k < milliseconds * kQuestions; ++k) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(id), &info,
               WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != 0)
      return true;
    usleep(1000 / kQuestions);
  }
  return false;
}

void Inbox::readMessages() {
  MessageHead head;
  while (bytes.size() >= sizeof(head)) {
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (bytes.size() - sizeof(head) < head.size)
      return;
    Reader reader(std::string_view(bytes).substr(sizeof(head), head.size));
    if (head.kind == Message::Progress) {
      double fraction = 0;
      std::string phase;
      reader(fraction, phase);
      watch.setProgress(std::move(phase), fraction);
    } else if (head.kind == Message::Done) {
      Reply one;
      Reply::visit(reader, one);
      if (reader.isGood())
        reply = std::move(one);
    }
    bytes.erase(0, sizeof(head) + head.size);
  }
}

int Inbox::receive() {
  std::vector<char> buffer(1 << 16);
  while (!reply) {
    if (int verdict = watch.poll())
      return verdict;
    pollfd ready = {pipe.get(), POLLIN, 0};
    int count = ::poll(&ready, 1, kPollMilliseconds);
    if (count == 0 || (count < 0 && errno == EINTR))
      continue;
    ssize_t size = read(pipe.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      break;
    bytes.append(buffer.data(), static_cast<size_t>(size));
    readMessages();
  }
  return LOOPC_COMPILE_OK;
}

/// The same file by a number above those that the worker gets its files by.
static Descriptor moveUp(const Descriptor &descriptor) {
  constexpr int kAbove = 10;
  return Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kAbove));
}

static Reply failed(int status, std::string_view code,
                    const std::string &message) {
  Reply reply;
  reply.status = status;
  loopc_diagnostics said;
  said.addError(code, message);
  reply.diagnostics = std::move(said.entries);
  return reply;
}

/// What is said of a worker that has ended without an answer.
static std::optional<Reply> explainEnd(int status) {
  // So it ends where it cannot begin: it is no worker, or of another build.
  if (WIFEXITED(status))
    return std::nullopt;
  int signal = WTERMSIG(status);
  return failed(LOOPC_COMPILE_ERROR_INTERNAL, kInternalCode,
                "the compiler was ended by signal " + std::to_string(signal) +
                    " (" + strsignal(signal) + ")");
}

std::optional<Reply>
loopc::capi::runWorker(const Request &request, const Descriptor &model,
                       Watch &watch, std::unique_ptr<WorkerProcess> &process) {
  const std::string &program = getCompilerFiles().program;
  if (program.empty())
    return std::nullopt;
  Writer writer;
  Request::visit(writer, request);
  Descriptor asked = moveUp(makeMemoryFile(writer.get()));
  Descriptor given = model ? moveUp(model) : Descriptor();
  int ends[2];
  if (!asked || (model && !given) || pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  Descriptor ours(ends[0]), theirs = moveUp(Descriptor(ends[1]));
  if (!theirs)
    return std::nullopt;
  SpawnSettings settings;
  if (given)
    settings.pass(given, kModelDescriptor);
  settings.pass(asked, kRequestDescriptor);
  settings.pass(theirs, kReplyDescriptor);
  pid_t id = settings.start(program, "--compile-worker");
  if (id < 0)
    return std::nullopt;
  process = std::make_unique<WorkerProcess>(id);
  // The pipe is to end with the worker.
  theirs.reset();
  Inbox inbox(std::move(ours), watch);
  if (int verdict = inbox.receive()) {
    process->wait(/*kill=*/true);
    Reply reply;
    loopc_diagnostics said;
    reply.status = Watch::explain(verdict, said);
    reply.diagnostics = std::move(said.entries);
    return reply;
  }
  if (inbox.getReply()) {
    process->leave();
    return inbox.getReply();
  }
  return explainEnd(process->wait(/*kill=*/false));
}

void loopc::capi::startLater(const Request &request, const Descriptor &model) {
  const std::string &program = getCompilerFiles().program;
  Writer writer;
  Request::visit(writer, request);
  Descriptor asked = moveUp(makeMemoryFile(writer.get()));
  Descriptor given = model ? moveUp(model) : Descriptor();
  if (program.empty() || !asked || !given)
    return;
  SpawnSettings settings;
  settings.pass(given, kModelDescriptor);
  settings.pass(asked, kRequestDescriptor);
  // It leaves the work to a process of its own and ends, so that this one has
  // no child that it does not know of.
  WorkerProcess(settings.start(program, "--compile-later"))
      .wait(/*kill=*/false);
}
