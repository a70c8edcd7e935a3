// How an object of a class of the user's was made: its class, where that is registered, says it.
#pragma once
#include "base/class_name.h"

#include <anyshape/registry.h>

#include <typeinfo>

namespace anyshape {

template <class Base>
Config config_of_own(Registry& registry, const Base& object) {
  const std::shared_ptr<const detail::RegistryEntry> own = registry.table().find(typeid(object));
  return own == nullptr ? Config::unregistered(class_name(typeid(object))) : own->config_of(&object);
}

}  // namespace anyshape
