// The loss's handle, and losses by name.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"
#include "graph/layer_path.h"
#include "graph/named_identity.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>

namespace anyshape {

template <>
Registry& registry_of<Loss>() {
  return lasting_registry([] {
    auto* const made = new Registry("loss");
    made->table().add(detail::registered("mean_squared_error", mean_squared_error, {"mse"}));
    made->table().add(detail::registered("mean_absolute_error", mean_absolute_error, {"mae"}));
    made->table().add(detail::registered("mean_absolute_percentage_error", mean_absolute_percentage_error, {"mape"}));
    made->table().add(detail::registered("mean_squared_logarithmic_error", mean_squared_logarithmic_error, {"msle"}));
    made->table().add(detail::registered("huber", huber));
    made->table().add(detail::registered("log_cosh", log_cosh));
    made->table().add(detail::registered("hinge", hinge));
    made->table().add(detail::registered("squared_hinge", squared_hinge));
    made->table().add(detail::registered("poisson", poisson));
    made->table().add(detail::registered("kl_divergence", kl_divergence, {"kld"}));
    made->table().add(detail::registered("cosine_similarity", cosine_similarity));
    made->table().add(detail::registered("binary_crossentropy", binary_crossentropy, {"bce"}));
    made->table().add(detail::registered("categorical_crossentropy", categorical_crossentropy));
    made->table().add(detail::registered("sparse_categorical_crossentropy", sparse_categorical_crossentropy));
    made->table().add(detail::registered("binary_focal_crossentropy", binary_focal_crossentropy));
    return made;
  });
}

Loss::Loss() : Stateful("loss") {}
Loss::Loss(std::shared_ptr<const LossImpl> impl) : Stateful(std::make_shared<NamedIdentity>("loss", impl->name)), impl_(std::move(impl)) {}

Loss::Loss(std::function<Tensor(const Tensor&, const Tensor&)> callable)
    : Loss(train::make_loss({.name = "loss", .callable = require::callable("loss", "the callable", std::move(callable))})) {}

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction) const { return (*this)(target, prediction, {}); }

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const {
  if (impl_ == nullptr) throw ArgumentError("loss: the handle is empty; expected a loss, its name or a callable.");
  const ScopedLossName caller(impl_->name);
  return train::reduce(train::loss_values(*impl_, target, prediction, sample_weight), impl_->reduction);
}

const std::string& Loss::name() const {
  static const std::string none;
  return impl_ == nullptr ? none : impl_->name;
}

Loss::Loss(const char* name) : Loss(std::string(name)) {}

Loss::Loss(const std::string& name) : Loss(make<Loss>(name)) {}

void Loss::set_made(std::shared_ptr<const detail::Made> made) {
  if (impl_ == nullptr) throw ArgumentError("loss: the handle is empty; expected a loss, its name or a callable.");
  LossImpl copy = *impl_;
  copy.made = std::move(made);
  *this = train::make_loss(std::move(copy));
}

Config Loss::config() const { return impl_ == nullptr ? Config() : config_of_callable(impl_->made, registry_of<Loss>(), impl_->callable); }

}  // namespace anyshape
