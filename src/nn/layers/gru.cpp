// GRU: gates z, r from x and h; the candidate sees h through r, after the recurrent product (reset_after) or before it;
// h' = z * h + (1 - z) * candidate.
#include "nn/layers/gated.h"

namespace anyshape {
namespace {

class GruLayer final : public nn::GatedLayer<GruOptions> {
 public:
  GruLayer(int64_t units, GruOptions options) : GatedLayer("GRU", 3, units, std::move(options)) {}

 protected:
  // Of the two products, where each has its own.
  Shape bias_shape() const override { return options_.reset_after ? Shape{2, Dim(3) * units_} : Shape{Dim(3) * units_}; }

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
};

}  // namespace

GRU::GRU(int64_t units, GruOptions options) : RecurrentLayer(nn::make_layer<GruLayer>(options, nn::UnitsArguments{units}).layer()) {}

}  // namespace anyshape
