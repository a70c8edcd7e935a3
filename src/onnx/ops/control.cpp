// ONNX's branches and loops. What is known while a graph is traced is decided then; the rest becomes cond, scan and while_loop.
#include "onnx/proto.h"
#include "onnx/rule.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace anyshape::onnx {
namespace {

constexpr int64_t most_unrolled = 1024;  // steps of a loop whose carried values change their shapes or are sequences

Tensor scalar(const Tensor& x) { return x.rank() == 0 ? x : reshape(x, {}); }

std::optional<bool> known_truth(const Value& value) {
  if (value.is_sizes()) return value.numbers().at(0).is_constant() ? std::optional(value.numbers()[0].value() != 0) : std::nullopt;
  if (value.kind() != Value::Kind::Tensor || is_traced(value.held())) return std::nullopt;
  return static_cast<bool>(scalar(value.held()));
}

// What leaves a branch or a loop as tensors, and how it stood.
struct Flat {
  std::vector<Tensor> tensors;
  std::vector<ElementType> types;
};

Flat flat_of(const NodeCall& call, const std::vector<Value>& values) {
  Flat flat;
  for (const Value& value : values) {
    if (value.kind() != Value::Kind::Tensor && !value.is_sizes())
      call.unsupported("a sequence or an optional out of a branch or loop that data decide");
    flat.tensors.push_back(value.tensor());
    flat.types.push_back(value.type());
  }
  return flat;
}
std::vector<Value> values_of(std::vector<Tensor> tensors, const std::vector<ElementType>& types) {
  std::vector<Value> values;
  for (size_t i = 0; i < tensors.size(); ++i)
    values.emplace_back(std::move(tensors[i]), i < types.size() ? types[i] : ElementType::Undefined);
  return values;
}

Results if_rule(NodeCall& call) {
  const GraphProto &then = call.graph("then_branch"), &otherwise = call.graph("else_branch");
  if (const std::optional<bool> known = known_truth(call.value(0))) return Results(call.run(*known ? then : otherwise, {}));
  std::vector<ElementType> types;
  const auto branch = [&](const GraphProto& graph) {
    return [&] {
      Flat flat = flat_of(call, call.run(graph, {}));
      types = flat.types;
      return flat.tensors;
    };
  };
  std::vector<Tensor> results = cond(scalar(call.tensor(0)), branch(then), branch(otherwise));
  return Results(values_of(std::move(results), types));
}

struct Loop {
  NodeCall& call;
  const GraphProto& body;
  size_t carried;  // values that go from step to step
  size_t stacked;  // outputs of which every step gives one

  std::vector<Value> step(Value number, Value condition, const std::vector<Value>& state) const {
    std::vector<Value> inputs = {std::move(number), std::move(condition)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Value> results = call.run(body, std::move(inputs));
    if (results.size() != 1 + carried + stacked)
      call.fail(fmt::format("its body gives {} values", results.size()), fmt::format("{}", 1 + carried + stacked));
    return results;
  }
};

// One step after the other while the graph is traced: the condition is known, and values may change their shapes from step to step.
std::optional<Results> unrolled(const Loop& loop, std::optional<int64_t> trips, std::optional<bool> condition, std::vector<Value> state) {
  std::vector<std::vector<Tensor>> rows(loop.stacked);
  std::vector<ElementType> types(loop.stacked, ElementType::Undefined);
  for (int64_t i = 0; (!trips || i < *trips) && condition.value_or(true); ++i) {
    if (i == most_unrolled)
      loop.call.unsupported(fmt::format("a loop of more than {} steps whose values change their shapes", most_unrolled));
    std::vector<Value> results = loop.step(Value::size(i), Value(full({}, true)).as_constant(), state);
    condition = known_truth(results[0]);
    if (!condition) {
      if (i == 0) return std::nullopt;
      loop.call.unsupported("a loop whose end data decide and whose values change their shapes");
    }
    for (size_t k = 0; k < loop.stacked; ++k) {
      rows[k].push_back(results[1 + loop.carried + k].tensor());
      types[k] = results[1 + loop.carried + k].type();
    }
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(loop.carried));
  }
  for (size_t k = 0; k < loop.stacked; ++k) {
    if (rows[k].empty()) loop.call.unsupported("stacked outputs of a loop without steps");
    state.emplace_back(stack(rows[k]), types[k]);
  }
  return Results(std::move(state));
}

// As many steps as a size says: one node of the trace however many there are.
Results scanned(const Loop& loop, const Dim& trips, const std::vector<Value>& state) {
  const Flat initial = flat_of(loop.call, state);
  std::vector<ElementType> types(loop.carried + loop.stacked, ElementType::Undefined);
  auto [last, rows] = scan(
      [&](const std::vector<Tensor>& carry, const Tensor& number) {
        std::vector<Value> results = loop.step(Value(number), Value(full({}, true)).as_constant(), values_of(carry, initial.types));
        if (const std::optional<bool> goes_on = known_truth(results[0]); !goes_on || !*goes_on)
          loop.call.unsupported("a loop with a trip count that also ends by a condition");
        results.erase(results.begin());
        const Flat flat = flat_of(loop.call, results);
        types = flat.types;
        const auto split = flat.tensors.begin() + static_cast<std::ptrdiff_t>(loop.carried);
        return std::pair(std::vector<Tensor>(flat.tensors.begin(), split), std::vector<Tensor>(split, flat.tensors.end()));
      },
      initial.tensors, arange(trips, {.dtype = Dtype::i64}));
  last.insert(last.end(), rows.begin(), rows.end());
  return Results(values_of(std::move(last), types));
}

// Until data end it: nothing can be stacked, since nobody knows how much there would be.
Results awaited(const Loop& loop, const std::optional<Dim>& trips, const Tensor& condition, const std::vector<Value>& state) {
  if (loop.stacked > 0) loop.call.unsupported("stacked outputs of a loop whose end data decide");
  const Flat initial = flat_of(loop.call, state);
  std::vector<Tensor> carried = initial.tensors;
  carried.insert(carried.begin(), {full({}, int64_t{0}, {.dtype = Dtype::i64}), cast(condition, Dtype::b8)});
  const Tensor limit = trips ? Value::size(*trips).tensor() : Tensor(std::numeric_limits<int64_t>::max());
  const std::vector<Tensor> last = while_loop([&](const std::vector<Tensor>& now) { return logical_and(now[1], now[0] < limit); },
                                              [&](const std::vector<Tensor>& now) {
                                                const std::vector<Value> results = loop.step(
                                                    Value(now[0]), Value(now[1]), values_of({now.begin() + 2, now.end()}, initial.types));
                                                std::vector<Tensor> next = flat_of(loop.call, results).tensors;
                                                next[0] = cast(scalar(next[0]), Dtype::b8);
                                                next.insert(next.begin(), now[0] + 1);
                                                return next;
                                              },
                                              carried);
  return Results(values_of({last.begin() + 2, last.end()}, initial.types));
}

Results loop_rule(NodeCall& call) {
  const GraphProto& body = call.graph("body");
  if (body.inputs.size() < 2 || body.outputs.empty()) call.fail("its body takes no step number and condition", "a loop's body");
  const size_t carried = body.inputs.size() - 2;
  if (body.outputs.size() < 1 + carried) call.fail("its body gives fewer values than it carries", "all that it carries");
  const Loop loop{call, body, carried, body.outputs.size() - 1 - carried};
  std::vector<Value> state;
  for (size_t i = 0; i < carried; ++i) state.push_back(i + 2 < call.inputs() ? call.has(i + 2) ? call.value(i + 2) : Value() : Value());
  std::optional<Dim> trips;
  Tensor counted;
  if (call.has(0)) {
    const std::optional<std::vector<Dim>> known = call.value(0).known_sizes();
    if (known) trips = known->at(0);
    if (!known) counted = call.tensor(0);
  }
  const std::optional<bool> condition = call.has(1) ? known_truth(call.value(1)) : std::optional(true);
  bool has_others = false;  // sequences, which only a loop that is unrolled can carry
  for (const Value& value : state) has_others = has_others || (value.kind() != Value::Kind::Tensor && !value.is_sizes());
  if (counted.defined()) call.unsupported("that the trip count, which sizes depend on, is computed from data,");
  const bool is_short = trips && trips->is_constant() && trips->value() <= 16;
  const bool is_eager = !trips && condition && loop.stacked > 0;
  if (condition && (is_short || has_others || is_eager)) {
    if (trips && !trips->is_constant()) call.unsupported("a loop over sequences whose trip count is an open size");
    const std::optional<int64_t> count = trips ? std::optional(trips->value()) : std::nullopt;
    if (std::optional<Results> results = unrolled(loop, count, condition, state)) return std::move(*results);
  }
  if (condition && !*condition) {
    if (loop.stacked > 0) call.unsupported("stacked outputs of a loop without steps");
    return Results(std::move(state));
  }
  if (trips && condition) {
    try {
      return scanned(loop, *trips, state);
    } catch (const Unsupported&) {
      if (loop.stacked > 0) throw;
    }
  }
  const Tensor going = condition ? Tensor(full({}, true)) : scalar(call.tensor(1));
  return awaited(loop, trips, going, state);
}

// Scan from opset 9 on: no batch axis.
Results scan_rule(NodeCall& call) {
  const GraphProto& body = call.graph("body");
  const auto sequences = static_cast<size_t>(call.integer("num_scan_inputs"));
  if (sequences == 0 || sequences > call.inputs() || body.inputs.size() != call.inputs())
    call.fail("num_scan_inputs does not fit its inputs", "at least one, and as many inputs as the body has");
  const size_t carried = call.inputs() - sequences;
  if (body.outputs.size() < carried) call.fail("its body gives fewer values than it carries", "all that it carries");
  const size_t stacked = body.outputs.size() - carried;
  const std::vector<int64_t> none, axes = call.integers("scan_input_axes", std::vector<int64_t>(sequences, 0)),
                                   out_axes = call.integers("scan_output_axes", std::vector<int64_t>(stacked, 0)),
                                   directions = call.integers("scan_input_directions", std::vector<int64_t>(sequences, 0)),
                                   out_directions = call.integers("scan_output_directions", std::vector<int64_t>(stacked, 0));
  if (axes.size() != sequences || directions.size() != sequences || out_axes.size() != stacked || out_directions.size() != stacked) {
    call.fail("axes and directions do not fit its inputs and outputs", "one for each");
  }
  std::vector<Tensor> state, slices;
  std::vector<ElementType> types;
  for (size_t i = 0; i < call.inputs(); ++i) {
    types.push_back(call.type(i));
    if (i < carried) {
      state.push_back(call.tensor(i));
      continue;
    }
    const size_t k = i - carried;
    Tensor sequence = moveaxis(call.tensor(i), call.axis(axes[k], call.rank(i)), 0);
    slices.push_back(directions[k] == 1 ? flip(sequence, 0) : sequence);
  }
  std::vector<ElementType> result_types;
  auto [last, rows] = scan(
      [&](const std::vector<Tensor>& carry, const std::vector<Tensor>& parts) {
        std::vector<Tensor> all = carry;
        all.insert(all.end(), parts.begin(), parts.end());
        const Flat flat = flat_of(call, call.run(body, values_of(all, types)));
        result_types = flat.types;
        const auto split = flat.tensors.begin() + static_cast<std::ptrdiff_t>(carried);
        return std::pair(std::vector<Tensor>(flat.tensors.begin(), split), std::vector<Tensor>(split, flat.tensors.end()));
      },
      state, slices);
  for (size_t k = 0; k < stacked; ++k) {
    Tensor row = out_directions[k] == 1 ? flip(rows[k], 0) : rows[k];
    last.push_back(moveaxis(row, 0, call.axis(out_axes[k], row.rank())));
  }
  return Results(values_of(std::move(last), result_types));
}

// Opset 8 had a batch axis in front of everything: each row is scanned by itself, which steps do side by side.
Results old_scan_rule(NodeCall& call) { call.unsupported("Scan of opset 8"); }

constexpr RuleEntry entries[] = {{"If", 1, if_rule}, {"Loop", 1, loop_rule}, {"Scan", 8, old_scan_rule}, {"Scan", 9, scan_rule}};

}  // namespace

const RuleTable control_rules = entries;

}  // namespace anyshape::onnx
