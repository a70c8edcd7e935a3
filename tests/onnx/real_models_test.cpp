// Models that people use, over many sizes: they agree with ONNX Runtime by one trace and one compile, in any order and from several threads.
#include "onnx/case.h"

#include <anyshape/anyshape.h>
#include <anyshape/onnx.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace anyshape::onnx::test {
namespace {

struct Example {
  std::vector<Tensor> inputs, expected;
};

std::vector<Tensor> read_all(const std::filesystem::path& folder, size_t k, const char* kind) {
  std::vector<Tensor> tensors;
  for (size_t i = 0;; ++i) {
    const std::filesystem::path file = folder / fmt::format("{}_{}_{}.pb", k, kind, i);
    if (!std::filesystem::exists(file)) return tensors;
    tensors.push_back(read_value(file, {}).tensor());
  }
}

std::vector<Example> examples_in(const std::filesystem::path& folder) {
  std::vector<Example> examples;
  for (size_t k = 0;; ++k) {
    Example example{read_all(folder, k, "input"), read_all(folder, k, "output")};
    if (example.inputs.empty()) return examples;
    examples.push_back(std::move(example));
  }
}

// The sample rate decides a branch whose other side is not made for these lengths: it is fixed. At 8 kHz it stays an input.
LoadOptions options_for(const std::string& name) {
  if (name != "silero") return {};
  return {.values = {{"sr", full({}, int64_t{16000}, {.dtype = Dtype::i64})}}};
}
void fix_inputs(const std::string& name, std::vector<Example>& examples) {
  if (name != "silero") return;
  for (Example& example : examples) example.inputs.pop_back();
}

std::string difference(const std::vector<Tensor>& got, const Example& example) {
  if (got.size() != example.expected.size()) return "another number of outputs";
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string told = test::difference(Value(got[i]), Value(example.expected[i]), 1e-4, 1e-5);
    if (!told.empty()) return fmt::format("output {}: {}", i, told);
  }
  return "";
}

class RealModels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cases_folder()) GTEST_SKIP() << "the models are not here: run tools/setup_onnx build/onnx, or name their folder by ANYSHAPE_ONNX";
    folder_ = *cases_folder() / "real" / GetParam();
    ASSERT_TRUE(std::filesystem::exists(folder_ / "model.onnx")) << folder_;
  }
  std::filesystem::path folder_;
};

TEST_P(RealModels, agree_over_many_sizes_by_one_trace_and_one_compile) {
  const Model model = load(folder_ / "model.onnx", options_for(GetParam()));
  std::vector<Example> examples = examples_in(folder_);
  fix_inputs(GetParam(), examples);
  ASSERT_GE(examples.size(), 20U);
  auto call = function([&](const std::vector<Tensor>& inputs) { return model.outputs(inputs).tensors(); },
                       {.name = GetParam(), .signature = inputs(model), .check_frozen = false});
  std::vector<size_t> order(examples.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::shuffle(order, std::mt19937(17));
  for (const size_t k : order) EXPECT_EQ(difference(call(examples[k].inputs), examples[k]), "") << k;
  EXPECT_EQ(call.stats().traces, 1);
  EXPECT_EQ(call.stats().compiles, 1);
}

TEST_P(RealModels, agree_from_four_threads) {
  const Model model = load(folder_ / "model.onnx", options_for(GetParam()));
  std::vector<Example> examples = examples_in(folder_);
  fix_inputs(GetParam(), examples);
  auto call = function([&](const std::vector<Tensor>& inputs) { return model.outputs(inputs).tensors(); },
                       {.name = GetParam(), .signature = inputs(model), .check_frozen = false});
  std::vector<std::string> told(examples.size());
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t k = thread; k < examples.size(); k += 4) told[k] = difference(call(examples[k].inputs), examples[k]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < told.size(); ++k) EXPECT_EQ(told[k], "") << k;
  EXPECT_EQ(call.stats().traces, 1);
  EXPECT_EQ(call.stats().compiles, 1);
}

INSTANTIATE_TEST_SUITE_P(Onnx, RealModels,
                         testing::Values("detect", "recognise", "direction", "silero", "silero_8k", "silero_op15", "silero_half",
                                         "silero_ifless", "silero_sequence", "magika"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace anyshape::onnx::test
