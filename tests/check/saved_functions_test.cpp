// Every op's samples, and random graphs with their gradients, through a file: the same bits, and the same text.
#include "check/random_graph.h"
#include "check/sample_calls.h"
#include "check/test_share.h"
#include "check/traced.h"
#include "function/compile.h"
#include "graph/text.h"
#include "ops/all_ops.h"
#include "saved/saved.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

std::vector<Tensor> dense_parts(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    parts.push_back(tensor.values());
    if (tensor.is_ragged()) parts.push_back(tensor.row_splits());
  }
  return parts;
}

// Doubles hold every number of the other floating dtypes, and all integers that the samples give.
bool are_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  const std::vector<Tensor> left = dense_parts(a), right = dense_parts(b);
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (describe(left[i]) != describe(right[i])) return false;
    const std::vector<double> x = cast(left[i], f64).to_vector<double>(), y = cast(right[i], f64).to_vector<double>();
    if (!x.empty() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) != 0) return false;
  }
  return true;
}

LoadedFunction through_file(const Traced& traced) {
  for (const TraceRecord& record : traced.traces()) {  // checks more may stand in front
    int64_t bytes = int64_t{1} << 30;
    const std::string text = graph::print(*graph::parse_within(record.graph, find_op, bytes).graph);
    EXPECT_TRUE(text.ends_with(record.graph.substr(std::min(record.graph.find("\n  %"), record.graph.size())))) << text << record.graph;
  }
  return test::saved_and_loaded(traced.function());
}

class SavedSamples : public testing::TestWithParam<const OpSample*> {};

// Interpreted: what is compared is the graph, not the code.
TEST_P(SavedSamples, give_the_same_bits_from_a_file) {
  const OpSample& sample = *GetParam();
  const ScopedInterpretation interpretation;
  for (const Dtype dtype : sample.dtypes) {
    for (int number = 0; number < sample.cases && !HasFailure(); ++number) {
      Random random(77 + static_cast<uint64_t>(number));
      Traced traced(call_of(sample, number));
      std::optional<LoadedFunction> loaded;
      for (int shape = 0; shape < share_of(4, 2); ++shape) {
        const std::vector<Tensor> inputs = draw_inputs(sample, random, dtype, number, shape == 3);
        SCOPED_TRACE(describe(dtype, number, inputs));
        const std::vector<Tensor> wanted = run([&](Tensors in) { return traced({in.begin(), in.end()}); }, inputs);
        if (!loaded) loaded = through_file(traced);
        const std::vector<Tensor> got = run([&](Tensors in) { return (*loaded)({in.begin(), in.end()}); }, inputs);
        EXPECT_TRUE(are_same_bits(got, wanted)) << loaded->ledger().traces.at(0).graph;
      }
      EXPECT_EQ(loaded->stats().traces, 1);
    }
  }
}

std::vector<const OpSample*> samples() {
  std::vector<const OpSample*> all;
  for (const OpSample& sample : all_samples()) all.push_back(&sample);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SavedSamples, testing::ValuesIn(samples()), [](const auto& info) {
  std::string name;
  for (const char c : info.param->name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name + "_" + std::to_string(info.index);
});

TEST(SavedGraphs, give_the_same_bits_from_a_file_with_gradients) {
  const ScopedInterpretation interpretation;
  for (uint64_t seed = 1000; seed < 1000 + static_cast<uint64_t>(share_of(120, 20)) && !HasFailure(); ++seed) {
    const Dtype dtype = seed % 2 == 0 ? Dtype::f64 : Dtype::f32;
    const RandomGraph graph = draw_graph(seed);
    Traced traced([&](std::span<const Tensor> in) { return run_graph(graph, in); });
    std::optional<LoadedFunction> loaded;
    for (int call = 0; call < graph_calls; ++call) {
      const std::vector<Tensor> arguments = draw_arguments(graph, call, dtype);
      const std::vector<Tensor> wanted = traced(arguments);
      if (!loaded) loaded = through_file(traced);
      EXPECT_TRUE(are_same_bits((*loaded)(arguments), wanted)) << to_string(graph);
    }
  }
}

}  // namespace
}  // namespace anyshape::check
