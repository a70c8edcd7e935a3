// Functions enter the list when they are made and leave it when their last handle goes.
#include "function/registry.h"

#include "base/fork_mutex.h"
#include "function/function_state.h"

#include <anyshape/error.h>

#include <map>
#include <mutex>

namespace anyshape {
namespace {

struct FunctionList {
  ForkMutex mutex;  // held while a ledger is read: a function cannot end meanwhile
  uint64_t next = 0;
  struct Entry {
    const FunctionCore* core;
    const FunctionOptions* options;
  };
  std::map<uint64_t, Entry> functions;
};

// Never destroyed: functions may be static objects.
FunctionList& registry() {
  const NoFork whole;  // so that no child waits for another thread to make it
  static FunctionList& list = *new FunctionList;
  return list;
}

}  // namespace

FunctionCore::Registration::Registration(const FunctionCore& core) {
  const std::scoped_lock lock(registry().mutex);
  number_ = registry().next++;
  registry().functions.emplace(number_, FunctionList::Entry{&core, &core.state_->options});
}

FunctionCore::Registration::~Registration() {
  const std::scoped_lock lock(registry().mutex);
  registry().functions.erase(number_);
}

std::vector<Ledger> functions() {
  const std::scoped_lock lock(registry().mutex);
  std::vector<Ledger> ledgers;
  for (const auto& [number, entry] : registry().functions) ledgers.push_back(entry.core->ledger());
  return ledgers;
}

const FunctionOptions& function_detail::options_of(const FunctionCore& core) {
  const std::scoped_lock lock(registry().mutex);
  for (const auto& [number, entry] : registry().functions) {
    if (entry.core == &core) return *entry.options;
  }
  throw InternalError("function: it is not on the list of functions");
}

}  // namespace anyshape
