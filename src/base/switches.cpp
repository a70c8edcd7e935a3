// Names that are off: those of the process, then those of the scopes open on this thread.
#include "base/switches.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace anyshape {
namespace {

std::vector<std::string> from_environment() {
  std::vector<std::string> names;
  const char* const given = std::getenv("ANYSHAPE_WITHOUT");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

thread_local std::vector<std::string> scopes;

}  // namespace

bool is_switched_off(std::string_view name) {
  static const std::vector<std::string> whole_process = from_environment();
  return std::ranges::find(whole_process, name) != whole_process.end() || std::ranges::find(scopes, name) != scopes.end();
}

ScopedWithout::ScopedWithout(std::string name) { scopes.push_back(std::move(name)); }
ScopedWithout::~ScopedWithout() { scopes.pop_back(); }

}  // namespace anyshape
