// Recurrent layers over ragged rows: the same outputs, states and gradients as padded and masked, and as every row alone.
#include "nn/notes.h"
#include "nn/recurrent_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace anyshape::test {
namespace {

const std::vector<std::vector<int64_t>> all_lengths = {{3, 0, 5, 1, 3}, {1}, {0}, {2, 2, 2}, {0, 0, 0}, {4, 1}, {1, 1, 7}, {}};

// Rows of random numbers [length, 4].
struct Rows {
  explicit Rows(const std::vector<int64_t>& rows)
      : lengths(rows), total(std::accumulate(rows.begin(), rows.end(), int64_t{0})), values(f64_normal({total, 4})) {}
  std::vector<int64_t> lengths;
  int64_t total;
  Tensor values;

  int64_t count() const { return static_cast<int64_t>(lengths.size()); }
  Tensor lengths_tensor() const { return tensor(lengths, {count()}); }
};

std::string text_of(const std::string& kind, const WalkOptions& walk, const Rows& rows) {
  return kind + (walk.return_sequences ? ", sequences" : "") + (walk.go_backwards ? ", backwards" : "") + ", lengths " +
         to_string(rows.lengths_tensor());
}

Pulled pull_ragged(const RecurrentLayer& layer, const Rows& rows, const std::vector<Tensor>& states) {
  return pull(layer, rows.values, states, [&](const Tensor& values) { return ragged_from_lengths(values, rows.lengths_tensor()); });
}

// Two steps longer than the longest row. A sequence is given back as the values of its real steps.
Pulled pull_padded(const RecurrentLayer& layer, const Rows& rows, const std::vector<Tensor>& states) {
  const int64_t time = rows.lengths.empty() ? 2 : std::ranges::max(rows.lengths) + 2;
  const Tensor real = expand_dims(arange(time), 0) < expand_dims(cast(rows.lengths_tensor(), Dtype::i32), 1);
  Pulled found = pull(layer, rows.values, states, [&](const Tensor& values) {
    return nn::with_mask(to_padded(ragged_from_lengths(values, rows.lengths_tensor()), {.length = time}), real);
  });
  if (found.output.rank() == 3) found.output = boolean_mask(found.output, nn::mask_of(found.output));
  return found;
}

Tensor joined(const std::vector<Tensor>& parts, const Shape& none) {
  return parts.empty() ? zeros(none, {.dtype = Dtype::f64}) : concat(parts);
}

// Gradients of inputs and results stand below each other, those of weights add up.
Pulled pull_row_by_row(const RecurrentLayer& layer, const Rows& rows, const std::vector<Tensor>& states, bool sequences) {
  std::vector<Tensor> outputs, weight_gradients;
  std::vector<std::vector<Tensor>> last(states.size()), inputs(states.size() + 1);
  for (const Variable& variable : layer.trainable_variables()) weight_gradients.push_back(zeros_like(variable.read()));
  int64_t begin = 0;
  for (int64_t r = 0; r < rows.count(); ++r) {
    const int64_t end = begin + rows.lengths[static_cast<size_t>(r)];
    std::vector<Tensor> own;
    for (const Tensor& state : states) own.push_back(slice(state, {{.begin = r, .end = r + 1}}));
    const Pulled one =
        pull(layer, slice(rows.values, {{.begin = begin, .end = end}}), own, [](const Tensor& row) { return expand_dims(row, 0); });
    outputs.push_back(sequences ? reshape(one.output, {end - begin, one.output.shape()[2]}) : one.output);
    for (size_t i = 0; i < states.size(); ++i) last[i].push_back(one.states[i]);
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i].push_back(one.input_gradients[i]);
    for (size_t i = 0; i < weight_gradients.size(); ++i) weight_gradients[i] = weight_gradients[i] + one.weight_gradients[i];
    begin = end;
  }
  const int64_t width = layer.type() == "Bidirectional" ? 6 : 3;
  Pulled found{.output = joined(outputs, {0, width}), .states = {}, .input_gradients = {}, .weight_gradients = weight_gradients};
  for (const std::vector<Tensor>& each : last) found.states.push_back(joined(each, {0, 3}));
  for (size_t i = 0; i < inputs.size(); ++i) found.input_gradients.push_back(joined(inputs[i], {0, i == 0 ? 4 : 3}));
  return found;
}

class RecurrentRagged : public testing::TestWithParam<std::string> {};

TEST_P(RecurrentRagged, equals_padded_and_masked_and_row_by_row) {
  const std::string kind = GetParam();
  for (const bool sequences : {false, true}) {
    for (const bool backwards : {false, true}) {
      const WalkOptions walk{.return_sequences = sequences, .go_backwards = backwards, .zero_output_for_mask = true};
      const RecurrentLayer layer = make_recurrent(kind, walk);
      layer.build({1, 1, 4});
      for (const std::vector<int64_t>& lengths : all_lengths) {
        const Rows rows(lengths);
        const std::vector<Tensor> states = random_states(kind, rows.count());
        const std::string what = text_of(kind, walk, rows);
        const Pulled got = pull_ragged(layer, rows, states);
        EXPECT_EQ(got.output.is_ragged(), sequences);
        expect_close(got.all(), pull_row_by_row(layer, rows, states, sequences).all(), "row by row: " + what);
        expect_close(got.all(), pull_padded(layer, rows, states).all(), "padded: " + what);
      }
    }
  }
}

TEST_P(RecurrentRagged, one_trace_serves_all_rows_with_their_gradients) {
  const std::string kind = GetParam();
  for (const bool sequences : {false, true}) {
    const RecurrentLayer layer = make_recurrent(kind, {.return_sequences = sequences});
    layer.build({1, 1, 4});
    auto traced = function(
        [&](Tensor x, std::vector<Tensor> states) {
          return pull(layer, x.values(), states, [&](const Tensor& values) { return with_rows_of(values, x); }).all();
        },
        {.name = kind, .check_frozen = false});
    for (const std::vector<int64_t>& lengths : all_lengths) {
      const Rows rows(lengths);
      const std::vector<Tensor> states = random_states(kind, rows.count());
      const Tensor x = ragged_from_lengths(rows.values, rows.lengths_tensor());
      expect_close(traced(x, states), pull_ragged(layer, rows, states).all(), text_of(kind, {sequences}, rows));
    }
    EXPECT_EQ(traced.stats().traces, 1);
    EXPECT_EQ(traced.stats().compiles, 1);
    EXPECT_EQ(traced.stats().interpreted_groups, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, RecurrentRagged, testing::ValuesIn(recurrent_layers), [](const auto& info) { return info.param; });

TEST(RecurrentRaggedRows, made_inside_a_trace_are_walked_as_far_as_the_longest_reaches) {
  const RecurrentLayer layer = make_recurrent("LSTM", {.return_sequences = true});
  layer.build({1, 1, 4});
  auto traced = function(
      [&](Tensor values, Tensor lengths) {
        return pull(layer, values, {}, [&](const Tensor& x) { return ragged_from_lengths(x, lengths); }).all();
      },
      {.name = "made_inside", .check_frozen = false});
  for (const std::vector<int64_t>& lengths : all_lengths) {
    const Rows rows(lengths);
    expect_close(traced(rows.values, rows.lengths_tensor()), pull_ragged(layer, rows, {}).all(), text_of("LSTM", {true}, rows));
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(RecurrentRaggedRows, may_have_masked_steps) {
  for (const std::string& kind : recurrent_layers) {
    const RecurrentLayer layer = make_recurrent(kind, {.return_sequences = true});
    const Rows rows({3, 0, 5, 1});
    const Tensor x = ragged_from_lengths(rows.values, rows.lengths_tensor());
    const Tensor real = ragged_from_lengths(tensor({true, false, true, false, true, true, false, true, false}), rows.lengths_tensor());
    const Tensor got = layer(nn::with_mask(x, real));
    EXPECT_TRUE(nn::mask_of(got).is_ragged()) << kind;
    const Tensor padded = layer(nn::with_mask(to_padded(x), to_padded(real)));
    expect_close({got.values()}, {from_padded(padded, rows.lengths_tensor()).values()}, kind);
  }
}

TEST(RecurrentRaggedRows, drop_the_same_features_at_every_step) {
  const SimpleRNN layer(20, {.activation = {},
                             .kernel_initializer = identity_matrix(),
                             .recurrent_initializer = identity_matrix(),
                             .dropout = 0.5,
                             .recurrent_dropout = 0.5,
                             .return_sequences = true});
  const Tensor x = ragged_from_lengths(ones({6, 20}), tensor({1, 3, 2}));
  const Tensor got = layer(x, {.training = true});
  for (const Tensor& one : to_rows(got)) {
    const std::vector<float> values = one.to_vector<float>();
    for (size_t i = 0; i < 20; ++i) {
      const float first = values[i];
      EXPECT_TRUE(first == 0 || first == 2) << first;
      if (values.size() < 40) continue;
      const bool keeps_state = values[20 + i] == 3 * first;
      EXPECT_TRUE(keeps_state || values[20 + i] == first) << values[20 + i];
      if (values.size() == 60) {
        EXPECT_EQ(values[40 + i], keeps_state ? 7 * first : first);
      }
    }
  }
  EXPECT_TRUE(all_equal(layer.run(x).states[0].values(), concat({ones({1, 20}), full({1, 20}, 3.0F), full({1, 20}, 2.0F)})));
}

}  // namespace
}  // namespace anyshape::test
