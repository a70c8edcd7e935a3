// RNN: a user's cell, walked.
#include "nn/first_call.h"
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

class RnnLayer final : public nn::SteppedLayer {
 public:
  RnnLayer(const AnyLayer& cell, const RnnOptions& options) : SteppedLayer("RNN", nn::walk_of(options)) {
    if (!cell.defined() || dynamic_cast<const Cell*>(cell.layer().get()) == nullptr) {
      throw ArgumentError(
          fmt::format("RNN: the cell is {}; expected a class that derives from Cell.", cell.defined() ? cell.type() : "none"));
    }
    nn::share_dtype(*this, cell, options.dtype);
    cell_ = child(cell);
    if (own_cell().state_sizes().empty())
      throw ArgumentError(fmt::format("RNN: the cell {} has no state; expected at least one.", cell.type()));
    for (const int64_t size : own_cell().state_sizes()) nn::require_positive("RNN", "the size of a state", size);
    nn::require_positive("RNN", "the size of the output", own_cell().output_size());
  }

 protected:
  void make_weights(const Shape& input) override {
    if (!cell_.is_built()) nn::make_weights(own_cell(), {{dtype(), {input[0], input[2]}, {}}});
  }

  std::vector<int64_t> state_sizes() const override { return own_cell().state_sizes(); }
  int64_t output_size() const override { return own_cell().output_size(); }
  bool outputs_first_state() const override { return false; }

  Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor&, const CallContext& context) override {
    return own_cell().step(x, states, context);
  }

 private:
  Cell& own_cell() const { return static_cast<Cell&>(*cell_.layer()); }

  AnyLayer cell_;
};

}  // namespace

RNN::RNN(const AnyLayer& cell, RnnOptions options) : RecurrentLayer(nn::make_wrapper<RnnLayer>(options, cell, "cell").layer()) {}

}  // namespace anyshape
