// Every layer in a file of a whole model: each sample of the universal tester is saved and loaded, and gives the same bits, in training and out of it.
#include "nn/check_layer.h"
#include "support/temporary_folder.h"

#include <anyshape/model.h>
#include <anyshape/random.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace anyshape::test {
namespace {

class SavedLayer : public testing::TestWithParam<LayerSample> {};

void expect_equal(const Outputs& got, const Outputs& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got.tensors()[i], want.tensors()[i], 0), "") << "output " << i;
}

TEST_P(SavedLayer, gives_the_same_bits) {
  const LayerSample& sample = GetParam();
  const std::vector<Tensor> inputs = sample.inputs(3, 5, 1);
  const AnyLayer layer = built(sample, inputs);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.safetensors";
  const auto is_untold = [](const Config& config) {
    const std::string text = config.to_json();
    return text.find("\"callable\"") != std::string::npos || text.find("\"unregistered\"") != std::string::npos;
  };
  if (is_untold(layer.config())) {  // a callable, or a class that is not registered, of the sample's
    EXPECT_THROW(Model(layer).save(file), ArgumentError);
    return;
  }
  Model(layer).save(file);
  const Model loaded = load_model(file);
  EXPECT_EQ(loaded.config().to_json(), layer.config().to_json());
  expect_equal(loaded.outputs(inputs), layer.outputs(inputs));
  random::set_seed(3);
  const Outputs want = layer.outputs(inputs, {.training = true});
  random::set_seed(3);
  expect_equal(loaded.outputs(inputs, {.training = true}), want);
  const std::vector<Tensor> others = sample.inputs(2, 7, 2);
  if (sample.over_time) expect_equal(loaded.outputs(others), layer.outputs(others));
}

INSTANTIATE_TEST_SUITE_P(Samples, SavedLayer, testing::ValuesIn(layer_samples()), [](const testing::TestParamInfo<LayerSample>& info) {
  return info.param.layer + (info.param.label.empty() ? "" : "_" + info.param.label);
});

// What a registry knows has a sample; networks, which are made of the others, are tried with whole models.
TEST(SavedLayers, are_all_that_are_registered) {
  std::set<std::string> tried = {"Functional", "Sequential"};
  for (const LayerSample& sample : layer_samples()) tried.insert(sample.layer);
  for (const RegisteredName& entry : registry_of<AnyLayer>().entries()) {
    EXPECT_TRUE(tried.contains(entry.name) || entry.name.starts_with("test_")) << entry.name;
  }
}

}  // namespace
}  // namespace anyshape::test
