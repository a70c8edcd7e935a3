// GRU: gates z, r from x and h; the candidate sees h through r, after the recurrent product (reset_after) or before it;
// h' = z * h + (1 - z) * candidate.
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/ops.h>

namespace anyshape {
namespace {

class GruLayer final : public nn::SteppedLayer {
 public:
  GruLayer(int64_t units, GruOptions options) : SteppedLayer("GRU", nn::walk_of(options)), units_(units), options_(std::move(options)) {
    nn::require_positive("GRU", "units", units);
    nn::require_rate("GRU", "dropout", options_.dropout);
    nn::require_rate("GRU", "recurrent_dropout", options_.recurrent_dropout);
  }

 protected:
  void make_weights(const Shape& input) override {
    kernel_ =
        weight("kernel", {input[-1], 3 * units_}, {.initializer = options_.kernel_initializer, .regularizer = options_.kernel_regularizer});
    recurrent_kernel_ = weight("recurrent_kernel", {units_, 3 * units_},
                               {.initializer = options_.recurrent_initializer, .regularizer = options_.recurrent_regularizer});
    if (!options_.use_bias) return;
    const Shape shape = options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_};  // of the two products, where each has its own
    bias_ = weight("bias", shape, {.initializer = options_.bias_initializer, .regularizer = options_.bias_regularizer});
  }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  double dropout() const override { return options_.dropout; }
  double recurrent_dropout() const override { return options_.recurrent_dropout; }

  Tensor project(const Tensor& x) override { return matmul(x, kernel_); }

  Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor& kept, const CallContext&) override {
    const Tensor given = kept.defined() ? states[0] * kept : states[0];
    // In the step it costs nothing; before the loop it would be one more pass over the memory of all steps.
    const std::vector<Tensor> gates =
        split(!options_.use_bias ? x : x + (options_.reset_after ? bias_row(0) : bias_.read()), 3, {.axis = -1});
    return options_.reset_after ? step_after(gates, states[0], given) : step_before(gates, states[0], given);
  }

 private:
  Tensor bias_row(int64_t row) const { return slice(bias_, {{.begin = row, .end = row + 1}}); }

  Step step_after(const std::vector<Tensor>& gates, const Tensor& h, const Tensor& given) const {
    Tensor product = matmul(given, recurrent_kernel_);
    if (options_.use_bias) product = product + bias_row(1);
    const std::vector<Tensor> recurrent = split(product, 3, {.axis = -1});
    const Tensor reset = options_.recurrent_activation(gates[1] + recurrent[1]);
    return mixed(gates[0] + recurrent[0], h, gates[2] + reset * recurrent[2]);
  }

  Step step_before(const std::vector<Tensor>& gates, const Tensor& h, const Tensor& given) const {
    const std::vector<Tensor> kernels = split(recurrent_kernel_, {2 * units_}, {.axis = -1});
    const std::vector<Tensor> recurrent = split(matmul(given, kernels[0]), 2, {.axis = -1});
    const Tensor reset = options_.recurrent_activation(gates[1] + recurrent[1]);
    return mixed(gates[0] + recurrent[0], h, gates[2] + matmul(reset * given, kernels[1]));
  }

  Step mixed(const Tensor& update, const Tensor& h, const Tensor& candidate) const {
    const Tensor z = options_.recurrent_activation(update);
    const Tensor next = z * h + (1 - z) * options_.activation(candidate);
    return {next, {next}};
  }

  int64_t units_;
  GruOptions options_;
  Variable kernel_, recurrent_kernel_, bias_;
};

}  // namespace

GRU::GRU(int64_t units, GruOptions options) : RecurrentLayer(nn::make_layer<GruLayer>(options, units).layer()) {}

}  // namespace anyshape
