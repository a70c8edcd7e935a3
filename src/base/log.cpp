// The log sink: one per process, replaced as a whole, called without a lock held so that a sink may log or replace itself.
#include "base/log.h"

#include "base/fork_mutex.h"
#include "base/thread_context.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace anyshape {
namespace {

struct SinkSlot {
  ForkMutex mutex;
  std::shared_ptr<const LogSink> sink;  // null: standard error
};

// Never destroyed: other objects may still log while the process ends.
SinkSlot& sink_slot() {
  const NoFork whole;  // so that no child waits for another thread to make it
  static SinkSlot& slot = *new SinkSlot;
  return slot;
}

void tell(std::string_view text) noexcept {
  try {
    std::shared_ptr<const LogSink> sink;
    {
      SinkSlot& slot = sink_slot();
      const std::lock_guard lock(slot.mutex);
      sink = slot.sink;
    }
    if (sink) return (*sink)(text);
    const std::string line = std::string(text) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (...) {  // a warning that cannot be told must not become a failure of what it warns about
  }
}

// Told where the thread is outside of what a fork waits for: a sink is code of the user's.
struct Warning final : EndsOutside {
  explicit Warning(std::string_view given) : text(given) {}
  ~Warning() override { tell(text); }
  std::string text;
};

}  // namespace

QuietLog::QuietLog() { ++this_thread.quiet; }
QuietLog::~QuietLog() { --this_thread.quiet; }

void set_log_sink(LogSink sink) {
  auto replacement = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  SinkSlot& slot = sink_slot();
  const std::lock_guard lock(slot.mutex);
  slot.sink.swap(replacement);
}

void log_warning(std::string_view text) noexcept {
  if (this_thread.quiet > 0) return;
  try {
    NoFork::end_outside(new Warning(text));
  } catch (const std::bad_alloc&) {  // nor one for which there is no memory
  }
}

}  // namespace anyshape
