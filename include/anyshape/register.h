// Names for your own classes and functions: their objects then have configs and can be made from them, as the library's can.
//   class Scale : public as::Layer {
//    public:
//     struct Options {
//       double factor = 2;
//     };
//     explicit Scale(Options options) : options_(options) {}
//     const Options& options() const { return options_; }
//     ...
//   };
//   as::register_layer<Scale>("Scale");
// A class has a plain struct Options, a constructor from it and options(), which gives it back; or neither, and a constructor without arguments. The
// same name for another class is refused; registering a class again changes nothing.
#pragma once
#include <anyshape/callback.h>
#include <anyshape/layer.h>
#include <anyshape/loss.h>
#include <anyshape/metric.h>
#include <anyshape/optimizer.h>
#include <anyshape/registry.h>

#include <concepts>
#include <functional>
#include <string>
#include <typeinfo>
#include <utility>

#pragma GCC visibility push(default)
namespace anyshape {
namespace detail {

template <class Own>
concept WithOptions =
    requires { typename Own::Options; } && std::constructible_from<Own, typename Own::Options> && requires(const Own& own) {
      { own.options() } -> std::convertible_to<typename Own::Options>;
    };

template <class Kind, class Own>
Kind as_kind(Own own) {
  if constexpr (std::derived_from<Own, Layer>) {
    return layer(std::move(own));
  } else {
    return Kind(std::move(own));
  }
}

/// `find` gives the object of the class from what the kind holds.
template <class Kind, class Own, class Find>
RegistryEntry entry_of_class(std::string name, Find find) {
  static_assert(WithOptions<Own> || std::default_initializable<Own>,
                "anyshape: a class is registered that no config can make; expected a struct Options in it, a constructor from that and "
                "options(), which gives it back; or a constructor without arguments");
  RegistryEntry entry;
  if constexpr (WithOptions<Own>) {
    entry = registered(name, +[](typename Own::Options options) { return as_kind<Kind>(Own(std::move(options))); });
    entry.config_of = [name, find](const void* object) {
      return made_from(name, typename Own::Options(find(object)->options()))->config();
    };
  } else {
    entry = registered(name, +[] { return as_kind<Kind>(Own()); });
    entry.config_of = [name](const void*) { return Config::object(name); };
  }
  entry.type = &typeid(Own);
  entry.origin = &typeid(Own);
  return entry;
}

template <class Kind, class Own, class Base>
RegistryEntry class_entry(std::string name) {
  static_assert(std::derived_from<Own, Base>, "anyshape: a class is registered that does not derive from the base of its kind");
  return entry_of_class<Kind, Own>(std::move(name),
                                   [](const void* object) { return static_cast<const Own*>(static_cast<const Base*>(object)); });
}
template <class Kind, class Own, class Signature>
RegistryEntry callable_entry(std::string name) {
  return entry_of_class<Kind, Own>(
      std::move(name), [](const void* object) { return static_cast<const std::function<Signature>*>(object)->template target<Own>(); });
}

}  // namespace detail

/// Classes that derive from Layer, cells included.
template <class Own>
void register_layer(std::string name) {
  registry_of<AnyLayer>().table().add(detail::class_entry<AnyLayer, Own, Layer>(std::move(name)));
}
/// Classes that derive from StreamingMetric.
template <class Own>
void register_metric(std::string name) {
  registry_of<Metric>().table().add(detail::class_entry<Metric, Own, StreamingMetric>(std::move(name)));
}
/// Classes that derive from Callback.
template <class Own>
void register_callback(std::string name) {
  registry_of<AnyCallback>().table().add(detail::class_entry<AnyCallback, Own, Callback>(std::move(name)));
}
/// Classes with operator() const, by the kind that they are used as.
///@{
template <class Own>
void register_loss(std::string name) {
  registry_of<Loss>().table().add(detail::callable_entry<Loss, Own, Tensor(const Tensor&, const Tensor&)>(std::move(name)));
}
template <class Own>
void register_activation(std::string name) {
  registry_of<ActivationFunction>().table().add(detail::callable_entry<ActivationFunction, Own, Tensor(const Tensor&)>(std::move(name)));
}
template <class Own>
void register_regularizer(std::string name) {
  registry_of<Regularizer>().table().add(detail::callable_entry<Regularizer, Own, Tensor(const Tensor&)>(std::move(name)));
}
template <class Own>
void register_schedule(std::string name) {
  registry_of<Schedule>().table().add(detail::callable_entry<Schedule, Own, Tensor(const Tensor&)>(std::move(name)));
}
template <class Own>
void register_initializer(std::string name) {
  registry_of<Initializer>().table().add(detail::callable_entry<Initializer, Own, Tensor(const Shape&, Dtype)>(std::move(name)));
}
///@}

/// A function that makes an object of any kind from a plain struct of options: as::register_function("lion", lion), of Optimizer lion(LionOptions).
/// What it gives knows its config by as::optimizer(), or by with_config().
template <class Kind, class... Parts>
void register_function(std::string name, Kind (*make)(Parts...)) {
  registry_of<Kind>().table().add(detail::registered(std::move(name), make));
}

}  // namespace anyshape
#pragma GCC visibility pop
