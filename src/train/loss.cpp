// The loss's handle, and losses by name.
#include "base/near_names.h"
#include "graph/layer_path.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>

#include <map>

namespace anyshape {
namespace {

const std::map<std::string, Loss (*)()>& named() {
  static const std::map<std::string, Loss (*)()> table = {
      {"mse", [] { return mean_squared_error(); }},
      {"mean_squared_error", [] { return mean_squared_error(); }},
      {"mae", [] { return mean_absolute_error(); }},
      {"mean_absolute_error", [] { return mean_absolute_error(); }},
      {"mape", [] { return mean_absolute_percentage_error(); }},
      {"mean_absolute_percentage_error", [] { return mean_absolute_percentage_error(); }},
      {"msle", [] { return mean_squared_logarithmic_error(); }},
      {"mean_squared_logarithmic_error", [] { return mean_squared_logarithmic_error(); }},
      {"huber", [] { return huber(); }},
      {"log_cosh", [] { return log_cosh(); }},
      {"hinge", [] { return hinge(); }},
      {"squared_hinge", [] { return squared_hinge(); }},
      {"poisson", [] { return poisson(); }},
      {"kl_divergence", [] { return kl_divergence(); }},
      {"cosine_similarity", [] { return cosine_similarity(); }},
      {"binary_crossentropy", [] { return binary_crossentropy(); }},
      {"categorical_crossentropy", [] { return categorical_crossentropy(); }},
      {"sparse_categorical_crossentropy", [] { return sparse_categorical_crossentropy(); }},
      {"binary_focal_crossentropy", [] { return binary_focal_crossentropy(); }},
  };
  return table;
}

}  // namespace

std::vector<std::string> train::loss_names() {
  std::vector<std::string> names;
  for (const auto& each : named()) names.push_back(each.first);
  return names;
}

Loss::Loss(std::function<Tensor(const Tensor&, const Tensor&)> callable)
    : Loss(train::make_loss({.name = "loss", .callable = std::move(callable)})) {}

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction) const { return (*this)(target, prediction, {}); }

Tensor Loss::operator()(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) const {
  if (impl_ == nullptr) throw ArgumentError("loss: the handle is empty; expected a loss, its name or a callable.");
  const ScopedLossName place(impl_->name);
  return train::reduce(train::loss_values(*impl_, target, prediction, sample_weight), impl_->reduction);
}

const std::string& Loss::name() const {
  static const std::string none;
  return impl_ == nullptr ? none : impl_->name;
}

Loss::Loss(const char* name) : Loss(std::string(name)) {}

Loss::Loss(const std::string& name) {
  const auto found = named().find(name);
  if (found == named().end()) throw ArgumentError("loss: " + unknown_name("loss", name, train::loss_names()));
  *this = found->second();
}

}  // namespace anyshape
