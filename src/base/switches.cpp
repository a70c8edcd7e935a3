// The switches there are, and which are off: those of the process, then those of the scopes open on this thread.
#include "base/switches.h"

#include "base/log.h"
#include "base/near_names.h"
#include "base/no_fork.h"
#include "base/thread_context.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace anyshape {
namespace {

constinit const Switch* last_made = nullptr;  // all of them are made before main, by one thread

void warn_of_unknown(const std::string& name) {
  const std::vector<const Switch*> all = all_switches();
  if (std::ranges::find(all, name, &Switch::name) != all.end()) return;
  std::vector<std::string> names;
  for (const Switch* each : all) names.emplace_back(each->name);
  log_warning("ANYSHAPE_WITHOUT: " + unknown_name("switch", name, names) + " Several are separated by commas.");
}

std::vector<std::string> from_environment() {
  std::vector<std::string> names;
  const char* const given = std::getenv("ANYSHAPE_WITHOUT");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string name; std::getline(list, name, ',');) {
    std::erase_if(name, [](char c) { return c == ' ' || c == '\t'; });
    if (name.empty()) continue;
    warn_of_unknown(name);
    names.push_back(name);
  }
  return names;
}

}  // namespace

Switch::Switch(std::string_view given, std::string_view does) : name(given), what(does), next_(std::exchange(last_made, this)) {}
bool Switch::is_off() const { return is_switched_off(name); }

std::vector<const Switch*> all_switches() {
  std::vector<const Switch*> all;
  for (const Switch* each = last_made; each != nullptr; each = each->next_) all.push_back(each);
  std::ranges::sort(all, {}, &Switch::name);
  return all;
}

bool is_switched_off(std::string_view name) {
  const NoFork whole;  // so that no child waits for another thread to read it
  static const std::vector<std::string> whole_process = from_environment();
  for (const ScopedWithout* scope = this_thread.without; scope != nullptr; scope = scope->outer_) {
    if (scope->name_ == name) return true;
  }
  return std::ranges::find(whole_process, name) != whole_process.end();
}

ScopedWithout::ScopedWithout(std::string name) : name_(std::move(name)), outer_(std::exchange(this_thread.without, this)) {}
ScopedWithout::~ScopedWithout() { this_thread.without = outer_; }

}  // namespace anyshape
