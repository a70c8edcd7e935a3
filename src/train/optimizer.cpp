// The optimizer's handle.
#include "train/optimizer_impl.h"

#include <anyshape/error.h>

namespace anyshape {
namespace {

OptimizerImpl& required(const std::shared_ptr<OptimizerImpl>& impl) {
  if (impl == nullptr) throw ArgumentError("optimizer: the handle is empty; expected an optimizer or its name.");
  return *impl;
}

}  // namespace

Optimizer::Optimizer() : Stateful("optimizer") {}
Optimizer::Optimizer(std::shared_ptr<OptimizerImpl> impl) : Stateful(impl), impl_(std::move(impl)) {}

void Optimizer::apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  required(impl_).apply(gradients, variables);
}
void Optimizer::build(const std::vector<Variable>& variables) { required(impl_).build(variables); }
Variable Optimizer::iterations() const { return required(impl_).iterations(); }
double Optimizer::learning_rate() const { return required(impl_).rate().item<double>(); }
void Optimizer::set_learning_rate(double rate) { required(impl_).set_rate(rate); }
std::vector<Variable> Optimizer::variables() const { return required(impl_).variables(); }
const std::string& Optimizer::name() const { return required(impl_).name(); }
Optimizer Optimizer::clone() const { return Optimizer(required(impl_).clone()); }
Config Optimizer::config() const { return impl_ == nullptr || impl_->made() == nullptr ? Config() : impl_->made()->config(); }
void Optimizer::set_made(std::shared_ptr<const detail::Made> made) { required(impl_).set_made(std::move(made)); }

}  // namespace anyshape
