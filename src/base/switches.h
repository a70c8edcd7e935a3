// What the compiler does beyond what it must (passes, fusions, reuse of memory) can be switched off by name: to find which one is at fault, and
// to prove in tests that none of them changes a result. ANYSHAPE_WITHOUT=deduplicate,merge does it for a whole process; a name that is
// none is a warning that lists them.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

struct Switch {
  std::string_view name;
  std::string_view what;  // it does where it is not switched off
};
std::span<const Switch> all_switches();

bool is_switched_off(std::string_view name);

// Off on this thread as long as it lives. What has been compiled stays as it is.
class ScopedWithout {
 public:
  explicit ScopedWithout(std::string name);
  ~ScopedWithout();
  ScopedWithout(const ScopedWithout&) = delete;
  ScopedWithout& operator=(const ScopedWithout&) = delete;
};

}  // namespace anyshape
