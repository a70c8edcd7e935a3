// ONNX's RNN, LSTM and GRU: [time, batch, features] in each direction, one scan over time, inputs multiplied before it in one product.
#include "onnx/rule.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

namespace anyshape::onnx {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

// An activation by its name; those with parameters take the next ones that are listed.
struct Parameters {
  std::vector<double> alphas, betas;
  size_t alpha_place = 0, beta_place = 0;
  double alpha(double otherwise) { return alpha_place < alphas.size() ? alphas[alpha_place++] : otherwise; }
  double beta(double otherwise) { return beta_place < betas.size() ? betas[beta_place++] : otherwise; }
};
Function activation(NodeCall& call, std::string name, Parameters& parameters) {
  std::ranges::transform(name, name.begin(), [](char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); });
  if (name == "sigmoid") return [](const Tensor& x) { return sigmoid(x); };
  if (name == "tanh") return [](const Tensor& x) { return tanh(x); };
  if (name == "relu") return [](const Tensor& x) { return relu(x); };
  if (name == "softplus") return [](const Tensor& x) { return softplus(x); };
  if (name == "softsign") return [](const Tensor& x) { return softsign(x); };
  if (name == "elu") return [alpha = parameters.alpha(1)](const Tensor& x) { return elu(x, {.alpha = alpha}); };
  if (name == "leakyrelu") return [alpha = parameters.alpha(0.01)](const Tensor& x) { return leaky_relu(x, {.negative_slope = alpha}); };
  if (name == "thresholdedrelu") return [alpha = parameters.alpha(1)](const Tensor& x) { return where(x < alpha, 0, x); };
  if (name == "affine") return [alpha = parameters.alpha(1), beta = parameters.beta(0)](const Tensor& x) { return alpha * x + beta; };
  if (name == "scaledtanh") return [alpha = parameters.alpha(1), beta = parameters.beta(1)](const Tensor& x) { return alpha * tanh(beta * x); };
  if (name == "hardsigmoid") {
    return [alpha = parameters.alpha(0.2), beta = parameters.beta(0.5)](const Tensor& x) { return clip(alpha * x + beta, 0, 1); };
  }
  call.unsupported(fmt::format("the activation \"{}\"", name));
}

// What all three read of a node.
struct Recurrent {
  explicit Recurrent(NodeCall& call, int64_t gates, const std::vector<std::string>& standard) : call(call), gates(gates) {
    const std::string direction = call.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      call.fail(fmt::format("direction is \"{}\"", direction), "forward, reverse or bidirectional");
    }
    directions = direction == "bidirectional" ? 2 : 1;
    begins_reversed = direction == "reverse";
    is_batch_first = call.flag("layout");
    x = is_batch_first ? swapaxes(call.tensor(0), 0, 1) : call.tensor(0);
    if (x.rank() != 3) call.fail(fmt::format("its input has rank {}", x.rank()), "[time, batch, features]");
    if (call.rank(1) != 3 || call.rank(2) != 3) call.fail("weights are no [directions, gates * hidden, ...]", "rank 3");
    hidden = call.shape(2)[2];
    std::vector<std::string> names = call.texts("activations");
    if (names.empty()) {
      for (int64_t each = 0; each < directions; ++each) names.insert(names.end(), standard.begin(), standard.end());
    }
    if (names.size() != standard.size() * static_cast<size_t>(directions)) call.fail(fmt::format("{} activations", names.size()), fmt::format("{} per direction", standard.size()));
    Parameters parameters{call.numbers("activation_alpha"), call.numbers("activation_beta")};
    for (const std::string& name : names) {
      activations.push_back([function = activation(call, name, parameters), limit = call.number("clip", 0)](const Tensor& value) {
        return function(limit > 0 ? clip(value, -limit, limit) : value);
      });
    }
  }

  Tensor of_direction(size_t input, int64_t direction) const { return call.tensor(input)[direction]; }
  // [time, batch, gates * hidden]: all inputs at once, with the input's bias.
  Tensor projected(int64_t direction, const Tensor& bias) const {
    const Tensor product = matmul(x, of_direction(1, direction), {.transpose_b = true});
    return bias.defined() ? product + bias : product;
  }
  // The two halves of a direction's bias: of the input's weights, of the state's; undefined where there is none.
  std::vector<Tensor> biases(int64_t direction) const { return call.has(3) ? split(of_direction(3, direction), 2) : std::vector<Tensor>(2); }
  Tensor initial(size_t input, int64_t direction) const {
    if (!call.has(input)) return zeros({x.shape()[1], hidden}, {.dtype = x.dtype()});
    return is_batch_first ? call.tensor(input).at(whole, direction) : of_direction(input, direction);
  }
  const Function& function(int64_t direction, size_t which, size_t each) const { return activations[static_cast<size_t>(direction) * each + which]; }

  // One direction: `step` gives the next states of the states and a step's projected input. Behind a row's length its states stay and its outputs are 0.
  using Step = std::function<std::vector<Tensor>(const std::vector<Tensor>& states, const Tensor& input)>;
  std::pair<std::vector<Tensor>, Tensor> run(int64_t direction, const Tensor& inputs, const std::vector<Tensor>& states, const Step& step) const {
    const ScanOptions options{.reverse = begins_reversed || direction == 1};
    const Tensor lengths = call.has(4) ? expand_dims(cast(call.tensor(4), i64), 1) : Tensor();
    std::vector<Tensor> sequences{inputs};
    if (lengths.defined()) sequences.push_back(arange(x.shape()[0], {.dtype = i64}));
    return scan(
        [&](const std::vector<Tensor>& carried, const std::vector<Tensor>& slices) {
          std::vector<Tensor> next = step(carried, slices[0]);
          Tensor output = next[0];
          if (lengths.defined()) {
            const Tensor is_inside = slices[1] < lengths;
            for (size_t i = 0; i < next.size(); ++i) next[i] = where(is_inside, next[i], carried[i]);
            output = where(is_inside, output, 0);
          }
          return std::pair(next, output);
        },
        states, sequences, options);
  }

  // Y [time, directions, batch, hidden], then the last states [directions, batch, hidden].
  Results results(const std::vector<Tensor>& outputs, const std::vector<std::vector<Tensor>>& last) const {
    std::vector<Value> all;
    const Tensor y = stack(outputs, {.axis = 1});
    all.emplace_back(is_batch_first ? transpose(y, {2, 0, 1, 3}) : y);
    for (size_t state = 0; state < last[0].size(); ++state) {
      std::vector<Tensor> each;
      for (const std::vector<Tensor>& states : last) each.push_back(states[state]);
      all.emplace_back(stack(each, {.axis = is_batch_first ? 1 : 0}));
    }
    return Results(std::move(all));
  }

  NodeCall& call;
  int64_t gates, directions = 1;
  bool begins_reversed = false, is_batch_first = false;
  Tensor x;
  Dim hidden;
  std::vector<Function> activations;
};

Tensor with(const Tensor& x, const Tensor& bias) { return bias.defined() ? x + bias : x; }
Tensor sum_of(const Tensor& a, const Tensor& b) { return a.defined() ? a + b : Tensor(); }

Results rnn_rule(NodeCall& call) {
  const Recurrent net(call, 1, {"Tanh"});
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last;
  for (int64_t d = 0; d < net.directions; ++d) {
    const std::vector<Tensor> bias = net.biases(d);
    const Tensor weights = net.of_direction(2, d);
    auto [states, y] = net.run(d, net.projected(d, sum_of(bias[0], bias[1])), {net.initial(5, d)}, [&](const std::vector<Tensor>& state, const Tensor& input) {
      return std::vector{net.function(d, 0, 1)(input + matmul(state[0], weights, {.transpose_b = true}))};
    });
    outputs.push_back(y);
    last.push_back(states);
  }
  return net.results(outputs, last);
}

Results lstm_rule(NodeCall& call) {
  const Recurrent net(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  if (call.flag("input_forget")) call.unsupported("input_forget");
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last;
  for (int64_t d = 0; d < net.directions; ++d) {
    const std::vector<Tensor> bias = net.biases(d);
    const Tensor weights = net.of_direction(2, d);
    const std::vector<Tensor> peepholes = call.has(7) ? split(net.of_direction(7, d), 3) : std::vector<Tensor>();
    const Function &f = net.function(d, 0, 3), &g = net.function(d, 1, 3), &h = net.function(d, 2, 3);
    const auto step = [&](const std::vector<Tensor>& state, const Tensor& input) {
      const Tensor& cell = state[1];
      const auto peeped = [&](const Tensor& gate, size_t which, const Tensor& at) { return peepholes.empty() ? gate : gate + peepholes[which] * at; };
      const std::vector<Tensor> gate = split(input + matmul(state[0], weights, {.transpose_b = true}), 4, {.axis = 1});  // in, out, forget, cell
      const Tensor next = f(peeped(gate[2], 2, cell)) * cell + f(peeped(gate[0], 0, cell)) * g(gate[3]);
      return std::vector{f(peeped(gate[1], 1, next)) * h(next), next};
    };
    auto [states, y] = net.run(d, net.projected(d, sum_of(bias[0], bias[1])), {net.initial(5, d), net.initial(6, d)}, step);
    outputs.push_back(y);
    last.push_back(states);
  }
  return net.results(outputs, last);
}

Results gru_rule(NodeCall& call) {
  const Recurrent net(call, 3, {"Sigmoid", "Tanh"});
  const bool resets_product = call.flag("linear_before_reset");
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last;
  for (int64_t d = 0; d < net.directions; ++d) {
    const std::vector<Tensor> bias = net.biases(d);
    const Tensor weights = net.of_direction(2, d);
    const std::vector<Tensor> weight = split(weights, 3), own = bias[1].defined() ? split(bias[1], 3) : std::vector<Tensor>(3);
    const Function &f = net.function(d, 0, 2), &g = net.function(d, 1, 2);
    const auto step = [&](const std::vector<Tensor>& state, const Tensor& input) {
      const Tensor& old = state[0];
      const std::vector<Tensor> in = split(input, 3, {.axis = 1});  // update, reset, candidate
      const Tensor update = f(with(in[0] + matmul(old, weight[0], {.transpose_b = true}), own[0]));
      const Tensor reset = f(with(in[1] + matmul(old, weight[1], {.transpose_b = true}), own[1]));
      const Tensor from_state = resets_product ? reset * with(matmul(old, weight[2], {.transpose_b = true}), own[2])
                                               : with(matmul(reset * old, weight[2], {.transpose_b = true}), own[2]);
      return std::vector{(1 - update) * g(in[2] + from_state) + update * old};
    };
    auto [states, y] = net.run(d, net.projected(d, bias[0]), {net.initial(5, d)}, step);
    outputs.push_back(y);
    last.push_back(states);
  }
  return net.results(outputs, last);
}

constexpr RuleEntry entries[] = {{"RNN", 7, rnn_rule}, {"LSTM", 7, lstm_rule}, {"GRU", 7, gru_rule}};

}  // namespace

const RuleTable recurrent_rules = entries;

}  // namespace anyshape::onnx
