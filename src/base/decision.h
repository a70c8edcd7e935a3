// A yes or no of the compiler, with its reason: explain() shows them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

struct Decision {
  std::string_view stage;  // that decided; lives for ever
  std::string subject;     // what it was about: "%12 multiply"
  bool yes = false;
  std::string reason;  // "its one consumer walks the same elements"
};
using Decisions = std::vector<Decision>;

}  // namespace anyshape
