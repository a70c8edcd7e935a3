// How an object that is a callable was made: as it says, or as a registered class of the user's says.
#pragma once
#include <anyshape/registry.h>

#include <functional>
#include <memory>

namespace anyshape {

template <class Signature>
Config config_of_callable(const std::shared_ptr<const detail::Made>& made, Registry& registry, const std::function<Signature>& callable) {
  if (made != nullptr) return made->config();
  const std::shared_ptr<const detail::RegistryEntry> own = registry.table().find(callable.target_type());
  return own == nullptr ? Config::callable(registry.kind()) : own->config_of(&callable);
}

}  // namespace anyshape
