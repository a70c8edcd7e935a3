// Signals and the sanitizers' end both print the note.
#include "check/crash_note.h"

#include <unistd.h>

#include <csignal>

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace anyshape::check {
namespace {

const std::string* current = nullptr;  // tests that use notes have one thread of their own

void print_note() {
  if (current == nullptr) return;
  const auto say = [](const char* text, size_t length) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, length); };
  say("died in: ", 9);
  say(current->data(), current->size());
  say("\n", 1);
  current = nullptr;
}

void on_signal(int signal) {
  print_note();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool listen() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_note);
  for (const int signal : {SIGABRT, SIGFPE, SIGILL}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback == nullptr) std::signal(SIGSEGV, on_signal);  // else it is the sanitizer's
  return true;
}

}  // namespace

CrashNote::CrashNote(std::string text) : text_(std::move(text)) {
  [[maybe_unused]] static const bool listens = listen();
  current = &text_;
}

CrashNote::~CrashNote() { current = nullptr; }

}  // namespace anyshape::check
