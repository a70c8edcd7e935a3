// l1, l2 and both.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/registry.h>
#include <anyshape/regularizer.h>

namespace anyshape {

void Regularizer::require_callable() const { require::callable("regularizer", "the callable", callable_); }

namespace {

struct L1Options {
  double strength = 0.01;
};
struct L2Options {
  double strength = 0.01;
};
struct L1L2Options {
  double l1 = 0.01;
  double l2 = 0.01;
};

}  // namespace

template <>
Registry& registry_of<Regularizer>() {
  return lasting_registry([] {
    auto* const made = new Registry("regularizer", {.make = [](const Config& config, void* none) {
                                      if (config.is_null()) static_cast<std::optional<Regularizer>*>(none)->emplace();
                                      return config.is_null();
                                    }});
    made->table().add(detail::registered("l1", +[](L1Options options) { return l1(options.strength); }));
    made->table().add(detail::registered("l2", +[](L2Options options) { return l2(options.strength); }));
    made->table().add(detail::registered("l1_l2", +[](L1L2Options options) { return l1_l2(options.l1, options.l2); }));
    return made;
  });
}

Regularizer l1(double strength) {
  require::not_negative("l1", "strength", strength);
  return with_config(Regularizer([strength](const Tensor& weight) { return sum(abs(weight)) * strength; }), "l1", L1Options{strength});
}
Regularizer l2(double strength) {
  require::not_negative("l2", "strength", strength);
  return with_config(Regularizer([strength](const Tensor& weight) { return sum(square(weight)) * strength; }), "l2", L2Options{strength});
}
Regularizer l1_l2(double first, double second) {
  require::not_negative("l1_l2", "l1", first);
  require::not_negative("l1_l2", "l2", second);
  const auto penalty = [first, second](const Tensor& weight) { return sum(abs(weight)) * first + sum(square(weight)) * second; };
  return with_config(Regularizer(penalty), "l1_l2", L1L2Options{first, second});
}

Regularizer::Regularizer(const char* name) : Regularizer(std::string(name)) {}
Regularizer::Regularizer(const std::string& name) : Regularizer(make<Regularizer>(name)) {}
void Regularizer::set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }
Config Regularizer::config() const {
  return callable_ == nullptr ? Config() : config_of_callable(made_, registry_of<Regularizer>(), callable_);
}

}  // namespace anyshape
