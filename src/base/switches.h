// What the compiler does beyond what it must (passes, fusions, reuse of memory) can be switched off by name: to find which one is at fault, and
// to prove in tests that none of them changes a result. ANYSHAPE_WITHOUT=deduplicate,merge does it for a whole process; a name that is
// none is a warning that lists them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

// Stands where what it switches stands, at namespace scope: whoever makes one is in the list.
class Switch {
 public:
  // `what` is done where it is not switched off.
  Switch(std::string_view name, std::string_view what);
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;
  bool is_off() const;

  const std::string_view name, what;

 private:
  friend std::vector<const Switch*> all_switches();
  const Switch* next_;
};

std::vector<const Switch*> all_switches();  // by name

bool is_switched_off(std::string_view name);

// Off on this thread as long as it lives. What has been compiled stays as it is.
class ScopedWithout {
 public:
  explicit ScopedWithout(std::string name);
  ~ScopedWithout();
  ScopedWithout(const ScopedWithout&) = delete;
  ScopedWithout& operator=(const ScopedWithout&) = delete;

 private:
  friend bool is_switched_off(std::string_view name);
  std::string name_;
  const ScopedWithout* outer_;
};

}  // namespace anyshape
