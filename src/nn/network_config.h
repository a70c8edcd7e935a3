// Networks by name: their layers, and what is called in which order.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/registry.h>

#include <string>
#include <typeinfo>
#include <utility>

namespace anyshape::nn {

// A network of ours, whose config is asked of what it is now: layers are added to it.
template <class Network, class Arguments, class Options>
detail::RegistryEntry network_entry(std::string name, AnyLayer (*make)(Arguments, Options), Config (*config_of)(const void*)) {
  detail::RegistryEntry entry = detail::registered(std::move(name), make);
  entry.type = &typeid(Network);
  entry.config_of = config_of;
  return entry;
}

detail::RegistryEntry sequential_entry();
detail::RegistryEntry functional_entry();

}  // namespace anyshape::nn
