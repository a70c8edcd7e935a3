// The walk: steps of a batch are one scan over time, whose body is one step of all rows that have it.
#include "nn/layers/recurrent.h"

#include "graph/layer_path.h"
#include "nn/layer_state.h"
#include "nn/notes.h"
#include "ops/control/scan.h"
#include "ops/segment/packed_rows.h"
#include "shape/prove.h"
#include "tensor/view.h"

#include <anyshape/control.h>
#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>
#include <anyshape/ragged.h>
#include <anyshape/random.h>

#include <fmt/format.h>

namespace anyshape {
namespace nn {

// What is the same at every step.
struct SteppedLayer::Loop {
  size_t states;
  bool is_masked;       // slice 1 says which rows have a real step
  bool carries_output;  // behind the states
  Tensor kept;          // of recurrent dropout, per row
  CallContext context;
};

namespace {

// 1 / (1 - rate) for what stays, 0 for what is dropped.
Tensor dropout_factors(const Shape& shape, double rate, Dtype dtype) {
  const Tensor stays = random::uniform(shape, {.dtype = dtype}) >= rate;
  return where(stays, cast(Tensor(1 / (1 - rate)), dtype), 0);
}

void require_steps(const Layer& layer, const Shape& input) {
  if (input.rank() == 3) return;
  throw ShapeError(fmt::format("{}: the input is {}; expected [batch, time, features].{}{}", type_of(layer), to_string(input),
                               input.rank() == 2 ? " Where it comes from a recurrent layer, give that .return_sequences = true." : "",
                               current_place()));
}

}  // namespace

std::vector<Tensor> Recurrent::call_all(std::span<const Tensor> inputs, const CallContext& context) {
  Recurrence found = run(inputs, context);
  if (!returns_state() && !context.return_state) return {found.output};
  found.states.insert(found.states.begin(), std::move(found.output));
  return std::move(found.states);
}

std::vector<std::string> Recurrent::output_names() const {
  if (!returns_state()) return {};
  std::vector<std::string> names{"output"};
  for (size_t i = 0; i < state_count(); ++i) names.push_back(fmt::format("state_{}", i));
  return names;
}

void SteppedLayer::build(const Shape& input) {
  require_steps(*this, input);
  make_weights(input);
}

Tensor SteppedLayer::mask(std::span<const Tensor>, std::span<const Tensor> masks) const {
  if (!walk.return_sequences || !masks[0].defined()) return {};
  return walk.reverses() ? flip(masks[0], {1}) : masks[0];
}

std::vector<Tensor> SteppedLayer::initial_states(std::span<const Tensor> inputs) const {
  const std::vector<int64_t> sizes = state_sizes();
  const Dim rows = inputs[0].shape()[0];
  const std::span<const Tensor> given = inputs.subspan(1);
  if (!given.empty() && given.size() != sizes.size()) {
    throw ArgumentError(fmt::format("{}: got {} initial states; expected {} or none.", type_of(*this), given.size(), sizes.size()));
  }
  std::vector<Tensor> states;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Shape shape{rows, sizes[i]};
    if (given.empty()) {
      states.push_back(zeros(shape, {.dtype = dtype()}));
      continue;
    }
    if (given[i].is_ragged() || given[i].rank() != 2) {
      throw ShapeError(fmt::format("{}: initial state {} is {}; expected [batch, {}].", type_of(*this), i, describe(given[i]), sizes[i]));
    }
    if (proves_equal(given[i].shape()[0], rows) == false || proves_equal(given[i].shape()[1], sizes[i]) == false) {
      throw ShapeError(fmt::format("{}: initial state {} is {}; expected {}.", type_of(*this), i, describe(given[i]), to_string(shape)));
    }
    states.push_back(reshape(given[i], shape));
  }
  return states;
}

// What a cell gives is what it has said of itself.
void SteppedLayer::require_step(const Tensor& output, const std::vector<Tensor>& states) const {
  const std::vector<int64_t> sizes = state_sizes();
  if (states.size() != sizes.size()) {
    throw ArgumentError(
        fmt::format("{}: a step gives {} states; expected {}, as state_sizes() says.", type_of(*this), states.size(), sizes.size()));
  }
  const auto require = [&](const Tensor& tensor, const std::string& what, int64_t size, const char* source) {
    if (tensor.defined() && tensor.rank() == 2 && proves_equal(tensor.shape()[1], size) != false) return;
    throw ShapeError(fmt::format("{}: {} of a step is {}; expected [rows, {}], as {} says.", type_of(*this), what,
                                 tensor.defined() ? describe(tensor) : "an empty tensor handle", size, source));
  };
  require(output, "the output", output_size(), "output_size()");
  for (size_t i = 0; i < sizes.size(); ++i) require(states[i], fmt::format("state {}", i), sizes[i], "state_sizes()");
}

// Carried: the states, then the output where it is none of them. Gives them anew, then one step of the sequence where it is asked for.
std::vector<Tensor> SteppedLayer::one_step(const Loop& loop, const Tensor& kept, std::span<const Tensor> carried,
                                           std::span<const Tensor> slices) {
  const std::vector<Tensor> before(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(loop.states));
  auto [output, after] = step(slices[0], before, kept, loop.context);
  require_step(output, after);
  Tensor shown = output;
  if (loop.is_masked) {
    const Tensor& is_real = slices[1];
    for (size_t i = 0; i < after.size(); ++i) after[i] = where(is_real, after[i], before[i]);
    output = outputs_first_state() ? after[0] : where(is_real, output, carried.back());
    shown = walk.zero_output_for_mask ? where(is_real, shown, 0) : output;
  }
  if (loop.carries_output) after.push_back(output);
  if (walk.return_sequences) after.push_back(shown);
  return after;
}

// Steps of equally long rows: a scan over time.
std::vector<Tensor> SteppedLayer::walk_dense(const Loop& loop, const Tensor& x, const Tensor& is_real, const std::vector<Tensor>& carried) {
  std::vector<Tensor> sequences{project(swapaxes(x, 0, 1))};
  if (loop.is_masked) sequences.push_back(expand_dims(transpose(is_real), -1));
  std::vector<Tensor> results =
      detail::scan_tensors([&](std::span<const Tensor> carry,
                               std::span<const Tensor> slices) { return FunctionResults{one_step(loop, loop.kept, carry, slices)}; },
                           carried, sequences, {.reverse = walk.go_backwards})
          .tensors;
  if (walk.return_sequences) results.back() = swapaxes(results.back(), 0, 1);
  return results;
}

// Ragged rows, the longest first: the rows that still have a step are always the first ones, and no step is made for the others.
std::vector<Tensor> SteppedLayer::walk_packed(const Loop& loop, const Tensor& x, const Tensor& is_real,
                                              const std::vector<Tensor>& carried) {
  const Partition& partition = *as_ragged(x)->partition;
  const PackedRows rows = packed_rows(partition, walk.go_backwards);
  std::vector<Tensor> sequences{project(take(x.values(), rows.positions))};
  if (loop.is_masked) sequences.push_back(expand_dims(take(is_real.values(), rows.positions), -1));
  if (loop.kept.defined()) {
    sequences.push_back(take(loop.kept, take(segment::row_ids(partition.splits, partition.total), rows.positions)));
  }
  std::vector<Tensor> sorted;
  for (const Tensor& each : carried) sorted.push_back(take(each, rows.order));
  std::vector<Tensor> results =
      scan_packed(rows.counts, sorted, sequences, [&](std::span<const Tensor> carry, std::span<const Tensor> slices) {
        return FunctionResults{one_step(loop, loop.kept.defined() ? slices.back() : Tensor(), carry, slices)};
      }).tensors;
  for (size_t i = 0; i < carried.size(); ++i) results[i] = take(results[i], rows.ranks);
  if (walk.return_sequences) results.back() = with_rows_of(take(results.back(), rows.indices), x);
  return results;
}

Recurrence SteppedLayer::run(std::span<const Tensor> inputs, const CallContext& context) {
  require_steps(*this, inputs[0].shape());
  const Tensor is_real = mask_of(inputs[0]);
  std::vector<Tensor> carried = initial_states(inputs);
  Loop loop{.states = carried.size(),
            .is_masked = is_real.defined(),
            .carries_output = !outputs_first_state() && (is_real.defined() || !walk.return_sequences),
            .kept = {},
            .context = context};
  const Dim rows = inputs[0].shape()[0];
  if (loop.carries_output) {
    carried.push_back(output_size() == state_sizes().front() ? carried[0] : zeros({rows, output_size()}, {.dtype = dtype()}));
  }
  Tensor x = inputs[0];
  if (context.training && dropout() > 0) x = x * dropout_factors({rows, 1, x.shape()[2]}, dropout(), x.dtype());
  if (context.training && recurrent_dropout() > 0) {
    loop.kept = dropout_factors({rows, state_sizes().front()}, recurrent_dropout(), dtype());
  }
  const std::vector<Tensor> results = x.is_ragged() ? walk_packed(loop, x, is_real, carried) : walk_dense(loop, x, is_real, carried);
  Recurrence found{.output = results[outputs_first_state() ? 0 : loop.states],
                   .states = {results.begin(), results.begin() + static_cast<std::ptrdiff_t>(loop.states)}};
  if (walk.return_sequences) found.output = walk.reverses() ? flip(results.back(), {1}) : results.back();
  return found;
}

}  // namespace nn

Recurrence RecurrentLayer::run(const Tensor& input, const std::vector<Tensor>& initial_states, LayerCallOptions options) const {
  std::vector<Tensor> inputs{input};
  inputs.insert(inputs.end(), initial_states.begin(), initial_states.end());
  options.return_state = true;
  std::vector<Tensor> all = outputs(inputs, options).tensors();
  Recurrence found{.output = std::move(all[0]), .states = {}};
  all.erase(all.begin());
  found.states = std::move(all);
  return found;
}

}  // namespace anyshape
