// Loops of LSTM, GRU and SimpleRNN layers, recognised by what a step computes, as ONNX's own nodes. A layer with other activations, with a mask, or whose
// input is no product of the steps with a weight stays a Scan.
#include "onnx/out/rule.h"

#include <anyshape/ops.h>

#include <array>
#include <optional>

namespace anyshape::onnx::out {
namespace {

using graph::Value;

// A step: its values by what makes them, and what the loop gives it.
class Step {
 public:
  explicit Step(NodeCall& call) : c(call), body(*call.a.region("body")) {}

  NodeCall& c;
  const graph::Graph& body;

  const Tensor* known(const Value* value) const {
    return value->node == nullptr ? c.e.known(c.node.inputs[static_cast<size_t>(value->index)]) : nullptr;
  }
  bool is_input(const Value* value, int number) const { return value->node == nullptr && value->index == number; }

  using Pair = std::array<const Value*, 2>;
  static std::optional<Pair> operands(const Value* value, std::string_view op) {
    if (!is_op(value, op)) return std::nullopt;
    return Pair{value->node->inputs[0], value->node->inputs[1]};
  }
  // The operands in the order in which `fits` takes them, of an op that does not mind.
  template <class Fits>
  static bool either_way(const Value* value, std::string_view op, const Fits& fits) {
    const std::optional<Pair> pair = operands(value, op);
    return pair && (fits((*pair)[0], (*pair)[1]) || fits((*pair)[1], (*pair)[0]));
  }
  static const Value* under(const Value* value, std::string_view op) { return is_op(value, op) ? value->node->inputs[0] : nullptr; }

  // value = state @ weight
  bool is_recurrent(const Value* value, int state, const Tensor*& weight) const {
    const std::optional<Pair> pair = operands(value, "matmul");
    if (!pair || !is_input((*pair)[0], state)) return false;
    const AttributeTable a(value->node->attrs);
    weight = known((*pair)[1]);
    return weight != nullptr && !a.flag("transpose_a") && !a.flag("transpose_b");
  }
  // value = inner, or inner + bias
  template <class Fits>
  bool with_bias(const Value* value, const Tensor*& bias, const Fits& fits) const {
    bias = nullptr;
    if (fits(value)) return true;
    return either_way(value, "add", [&](const Value* inner, const Value* added) {
      bias = known(added);
      return bias != nullptr && fits(inner);
    });
  }
  // The part number `number`, of `units` columns, of a value.
  static const Value* part(const Value* value, int64_t number, int64_t units) {
    if (!is_op(value, "slice")) return nullptr;
    const AttributeTable a(value->node->attrs);
    const std::vector<Dim>&begins = a.sizes("begins"), &sizes = a.sizes("sizes");
    const bool is_it = begins.size() == 2 && begins[0].same_as(0) && begins[1].same_as(number * units) && sizes[1].same_as(units) &&
                       sizes[0].same_as(value->node->inputs[0]->spec.shape[0]) && a.list("steps") == std::vector<int64_t>{1, 1};
    return is_it ? value->node->inputs[0] : nullptr;
  }
};

// What ONNX's node takes: weights of the input [input, gates * units], of the state [units, gates * units], and biases of both, in our order of gates.
struct Weights {
  const Tensor *recurrent = nullptr, *bias = nullptr, *recurrent_bias = nullptr, *candidate = nullptr;
};

// gates i, f, g, o from x + h @ R + b; c' = f * c + i * tanh(g); h' = o * tanh(c').
bool is_lstm(const Step& s, int64_t units, Weights& found) {
  const Value *const h = s.body.outputs[0], *const c = s.body.outputs[1];
  const Value* gates = nullptr;
  const auto gate = [&](const Value* value, std::string_view activation, int64_t number) {
    const Value* const inner = Step::under(value, activation);
    const Value* const all = inner == nullptr ? nullptr : Step::part(inner, number, units);
    if (all == nullptr || (gates != nullptr && gates != all)) return false;
    gates = all;
    return true;
  };
  const auto is_cell = [&](const Value* kept, const Value* added) {
    return Step::either_way(
               kept, "multiply",
               [&](const Value* forget, const Value* before) { return s.is_input(before, 1) && gate(forget, "sigmoid", 1); }) &&
           Step::either_way(added, "multiply", [&](const Value* input, const Value* candidate) {
             return gate(input, "sigmoid", 0) && gate(candidate, "tanh", 2);
           });
  };
  const bool is_step = Step::either_way(c, "add", is_cell) && Step::either_way(h, "multiply", [&](const Value* shown, const Value* cell) {
                         return Step::under(cell, "tanh") == c && gate(shown, "sigmoid", 3);
                       });
  return is_step && s.with_bias(gates, found.bias, [&](const Value* inner) {
    return Step::either_way(inner, "add", [&](const Value* x, const Value* product) {
      return s.is_input(x, 2) && s.is_recurrent(product, 0, found.recurrent);
    });
  });
}

// h' = z * h + (1 - z) * tanh(candidate)
bool is_mixed(const Step& s, const Value*& z, const Value*& candidate) {
  const auto fits = [&](const Value* kept, const Value* made) {
    return Step::either_way(kept, "multiply",
                            [&](const Value* share, const Value* before) {
                              z = share;
                              return s.is_input(before, 0) && Step::under(share, "sigmoid") != nullptr;
                            }) &&
           Step::either_way(made, "multiply", [&](const Value* rest, const Value* bent) {
             const std::optional<Step::Pair> pair = Step::operands(rest, "subtract");
             candidate = Step::under(bent, "tanh");
             if (!pair || candidate == nullptr || (*pair)[1] != z) return false;
             const Tensor* one = s.known((*pair)[0]);
             if (one != nullptr) return one->shape().count().same_as(1) && one->item<double>() == 1;
             if (!is_op((*pair)[0], "constant")) return false;
             return AttributeTable((*pair)[0]->node->attrs).number("number") == 1;
           });
  };
  return Step::either_way(s.body.outputs[0], "add", fits);
}

// GRU whose candidate sees the state through r behind the recurrent product: gates z, r, n of x + b and of h @ R + c.
bool is_gru(const Step& s, int64_t units, Weights& found) {
  const Value *z = nullptr, *candidate = nullptr, *given = nullptr, *product = nullptr;
  if (!is_mixed(s, z, candidate)) return false;
  const auto parts = [&](const Value* x, const Value* h, int64_t number) {
    const Value *const all_x = Step::part(x, number, units), *const all_h = Step::part(h, number, units);
    if (all_x == nullptr || all_h == nullptr || (given != nullptr && (given != all_x || product != all_h))) return false;
    given = all_x;
    product = all_h;
    return true;
  };
  const auto gate = [&](const Value* value, int64_t number) {
    const Value* const inner = Step::under(value, "sigmoid");
    return inner != nullptr && Step::either_way(inner, "add", [&](const Value* x, const Value* h) {
             const Value *const all_x = Step::part(x, number, units), *const all_h = Step::part(h, number, units);
             if (all_x == nullptr || all_h == nullptr || is_op(all_h, "slice")) return false;
             const Tensor *weight = nullptr, *bias = nullptr;
             const bool is_product = s.with_bias(all_h, bias, [&](const Value* inside) { return s.is_recurrent(inside, 0, weight); });
             return is_product && parts(x, h, number);
           });
  };
  const bool is_step =
      gate(z, 0) && Step::either_way(candidate, "add", [&](const Value* x, const Value* reset) {
        return Step::either_way(reset, "multiply", [&](const Value* r, const Value* h) { return gate(r, 1) && parts(x, h, 2); });
      });
  return is_step && s.with_bias(given, found.bias, [&](const Value* inner) { return s.is_input(inner, 1); }) &&
         s.with_bias(product, found.recurrent_bias, [&](const Value* inner) { return s.is_recurrent(inner, 0, found.recurrent); });
}

// h' = tanh(x + h @ R + b)
bool is_simple(const Step& s, int64_t, Weights& found) {
  const Value* const inner = Step::under(s.body.outputs[0], "tanh");
  if (inner == nullptr) return false;
  const auto sum = [&](const Value* value) {
    return Step::either_way(value, "add", [&](const Value* x, const Value* product) {
      return s.is_input(x, 1) && s.is_recurrent(product, 0, found.recurrent);
    });
  };
  if (s.with_bias(inner, found.bias, sum)) return true;
  return Step::either_way(inner, "add", [&](const Value* x, const Value* product) {
    return s.with_bias(x, found.bias, [&](const Value* given) { return s.is_input(given, 1); }) &&
           s.is_recurrent(product, 0, found.recurrent);
  });
}

// Gates side by side in another order, then gates first: [rows, gates * units] -> [1, gates * units, rows].
Tensor turned(const Tensor& weight, const std::vector<int64_t>& order, int64_t units) {
  std::vector<Tensor> parts;
  const Tensor flat =
      reshape(weight, {weight.shape().count() / (units * static_cast<int64_t>(order.size())), units * static_cast<int64_t>(order.size())});
  for (const int64_t gate : order) parts.push_back(slice(flat, {{}, {.begin = gate * units, .end = (gate + 1) * units}}));
  return expand_dims(transpose(concat(parts, {.axis = -1})), 0);
}

struct Kind {
  std::string_view op;
  size_t states;
  std::vector<int64_t> order;  // ONNX's gates among ours
  bool (*fits)(const Step& step, int64_t units, Weights& found);
};

std::string state_before(NodeCall& c, size_t number) {
  const Value* const start = c.node.inputs[number];
  const bool is_zero = is_op(start, "full") && is_number(c.e, start->node->inputs[0], 0);
  return is_zero ? std::string() : c.add("Unsqueeze", {c.in(number), c.e.integers({0})});
}

void write(NodeCall& c, const Kind& kind, int64_t units, const graph::Node& product, const Weights& found) {
  const Tensor& kernel = *c.e.known(product.inputs[1]);
  const std::string name = c.e.known_name(product.inputs[1]);
  const auto wide = static_cast<int64_t>(kind.order.size()) * units;
  const auto bias_of = [&](const Tensor* bias) {
    const Tensor own = bias == nullptr ? zeros({wide}, {.dtype = kernel.dtype()}) : *bias;
    return reshape(turned(own, kind.order, units), {1, wide});
  };
  Names inputs{c.e.ours(product.inputs[0]),
               c.e.constant(turned(kernel, kind.order, units), name),
               c.e.constant(turned(*found.recurrent, kind.order, units), {}),
               {},
               {}};
  if (found.bias != nullptr || found.recurrent_bias != nullptr)
    inputs[3] = c.e.constant(concat({bias_of(found.bias), bias_of(found.recurrent_bias)}, {.axis = 1}), {});
  for (size_t state = 0; state < kind.states; ++state) inputs.push_back(state_before(c, state));
  while (inputs.back().empty()) inputs.pop_back();
  Attributes attributes{{"hidden_size", units}, {"direction", std::string(c.a.flag("reverse") ? "reverse" : "forward")}};
  if (kind.op == "GRU") attributes.push_back({"linear_before_reset", int64_t{1}});
  const Names results = c.e.add_all(kind.op, inputs, kind.states + 1, attributes);
  for (size_t i = 0; i < c.node.outputs.size(); ++i) {
    const bool is_state = i < kind.states;  // the last one, or all of them
    c.out(i, c.add("Squeeze", {results[is_state ? i + 1 : 0], c.e.integers({is_state ? 0 : 1})}));
  }
}

}  // namespace

bool write_recurrent(NodeCall& c) {
  static const auto& kinds =
      *new std::vector<Kind>{{"LSTM", 2, {0, 3, 1, 2}, is_lstm}, {"GRU", 1, {0, 1, 2}, is_gru}, {"RNN", 1, {0}, is_simple}};
  const auto carried = static_cast<size_t>(c.a.integer("carried"));
  if (c.a.integer("sequences") != 1 || c.node.outputs.size() > carried + 1) return false;
  // x @ kernel, and the bias where it is added to all steps at once.
  const Value* given = c.node.inputs[carried];
  const Tensor* bias = nullptr;
  Step::either_way(given, "add", [&](const Value* inner, const Value* added) {
    bias = c.e.known(added);
    if (bias != nullptr) given = inner;
    return bias != nullptr;
  });
  if (!is_op(given, "matmul") || given->spec.shape.rank() != 3 || c.e.known(given->node->inputs[1]) == nullptr) return false;
  const AttributeTable product(given->node->attrs);
  if (product.flag("transpose_a") || product.flag("transpose_b") || given->spec.dtype == Dtype::bf16) return false;
  const Step step(c);
  if (c.node.outputs.size() == carried + 1 && step.body.outputs[carried] != step.body.outputs[0]) return false;
  for (const Kind& kind : kinds) {
    const Dim& size = c.shape(0)[-1];
    if (kind.states != carried || c.rank(0) != 2 || !size.is_constant()) continue;
    Weights found;
    if (!kind.fits(step, size.value(), found) || (bias != nullptr && found.bias != nullptr)) continue;
    if (bias != nullptr) found.bias = bias;
    write(c, kind, size.value(), *given->node, found);
    return true;
  }
  return false;
}

}  // namespace anyshape::onnx::out
