// A registry that is made by the first who asks and never ends: objects of other files, and of other threads at the end, may ask for it.
#pragma once
#include "base/no_fork.h"

#include <anyshape/registry.h>

namespace anyshape {

// `make` gives a new one; a kind has one lambda, so that it has one registry.
template <class Make>
Registry& lasting_registry(const Make& make) {
  const NoFork whole;  // a child would wait for what another thread was making
  static Registry& registry = *make();
  return registry;
}

// How an object was made, where it is known already.
class MadeAs final : public detail::Made {
 public:
  explicit MadeAs(Config config) : config_(std::move(config)) {}
  Config config() const override { return config_; }

 private:
  Config config_;
};

}  // namespace anyshape
