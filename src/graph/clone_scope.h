// Cloning: while a scope lives, copying a handle gives a handle on a clone, the same one for the same original. So a user's layer is
// cloned by its own copy constructor, whatever members it has.
#pragma once
#include <memory>
#include <unordered_map>

namespace anyshape {

class CloneScope {
 public:
  CloneScope();
  ~CloneScope();
  CloneScope(const CloneScope&) = delete;
  CloneScope& operator=(const CloneScope&) = delete;

  static CloneScope* current();  // on this thread; null outside

  // The clone of what a handle holds, made by `make` when it is first asked for.
  template <class T, class Make>
  std::shared_ptr<T> clone_of(const std::shared_ptr<T>& original, const Make& make) {
    const auto found = clones_.find(original.get());
    if (found != clones_.end()) return std::static_pointer_cast<T>(found->second);
    std::shared_ptr<T> clone = make();
    clones_.emplace(original.get(), clone);
    return clone;
  }

 private:
  std::unordered_map<const void*, std::shared_ptr<void>> clones_;
  CloneScope* outer_;
};

}  // namespace anyshape
