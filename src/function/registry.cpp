// Functions enter the list when they are made and leave it when their last handle goes.
#include "function/registry.h"

#include "base/fork_mutex.h"

#include <map>
#include <mutex>

namespace anyshape {
namespace {

struct Registry {
  ForkMutex mutex;  // held while a ledger is read: a function cannot end meanwhile
  uint64_t next = 0;
  std::map<uint64_t, const FunctionCore*> functions;
};

// Never destroyed: functions may be static objects.
Registry& registry() {
  const NoFork whole;  // so that no child waits for another thread to make it
  static Registry& list = *new Registry;
  return list;
}

}  // namespace

FunctionCore::Registration::Registration(const FunctionCore& core) {
  const std::scoped_lock lock(registry().mutex);
  number_ = registry().next++;
  registry().functions.emplace(number_, &core);
}

FunctionCore::Registration::~Registration() {
  const std::scoped_lock lock(registry().mutex);
  registry().functions.erase(number_);
}

std::vector<Ledger> functions() {
  const std::scoped_lock lock(registry().mutex);
  std::vector<Ledger> ledgers;
  for (const auto& [number, core] : registry().functions) ledgers.push_back(core->ledger());
  return ledgers;
}

}  // namespace anyshape
