// Ctrl-C during fit: the first one ends training after the step in progress, the second ends the program.
#pragma once

namespace anyshape::model {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  static bool is_requested();
};

}  // namespace anyshape::model
