// A few containers per thread that have memory from an earlier use, for what every call fills and empties again.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

namespace anyshape {

template <class Container>
class Spares {
 public:
  static Container take() {
    Spares* const own = of_thread();
    return own == nullptr || own->count_ == 0 ? Container() : std::exchange(own->kept_[--own->count_], Container());
  }
  static void give(Container&& used) noexcept {
    used.clear();
    Spares* const own = of_thread();
    if (own != nullptr && own->count_ < own->kept_.size() && used.capacity() > 0) own->kept_[own->count_++] = std::move(used);
  }

  ~Spares() { ended = true; }

 private:
  // Null when the thread is about to end: calls may come from the destructors of its other objects.
  static Spares* of_thread() {
    if (ended) return nullptr;
    static thread_local Spares own;
    return &own;
  }

  static inline constinit thread_local bool ended = false;
  std::array<Container, 8> kept_;  // calls nest no deeper than functions that are traced inside each other
  size_t count_ = 0;
};

}  // namespace anyshape
