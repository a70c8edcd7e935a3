// Every sample of every layer through the universal tester.
#include "nn/check_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace anyshape::test {
namespace {

// The layers that the public headers declare.
std::set<std::string> declared_layers() {
  const std::regex declaration("class (\\w+) : public (AnyLayer|RecurrentLayer) ");
  std::set<std::string> found;
  for (const auto& header : std::filesystem::directory_iterator(ANYSHAPE_LAYER_HEADERS)) {
    std::ifstream file(header.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, declaration)) found.insert(match[1]);
    }
  }
  found.erase("RecurrentLayer");  // what recurrent layers have in common
  return found;
}

TEST(LayerSamples, every_layer_has_one) {
  const std::set<std::string> layers = declared_layers();
  EXPECT_GE(layers.size(), 20U);
  for (const std::string& layer : layers) {
    const bool has_sample = std::ranges::any_of(layer_samples(), [&](const LayerSample& sample) { return sample.layer == layer; });
    EXPECT_TRUE(has_sample) << layer;
  }
}

class CheckLayer : public testing::TestWithParam<LayerSample> {};

TEST_P(CheckLayer, tells_its_shapes) { check_shapes(GetParam()); }
TEST_P(CheckLayer, has_right_gradients) { check_gradients(GetParam()); }
TEST_P(CheckLayer, treats_masks_as_keras_does) { check_mask(GetParam()); }
TEST_P(CheckLayer, is_saved_loaded_and_cloned) { check_saving(GetParam()); }
TEST_P(CheckLayer, learns_in_a_step) { check_training(GetParam()); }
TEST_P(CheckLayer, runs_all_sizes_with_one_trace) { check_one_trace(GetParam()); }
TEST_P(CheckLayer, gives_ragged_padded_and_single_rows_the_same) { check_rows(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Samples, CheckLayer, testing::ValuesIn(layer_samples()), [](const testing::TestParamInfo<LayerSample>& info) {
  return info.param.layer + (info.param.label.empty() ? "" : "_" + info.param.label);
});

}  // namespace
}  // namespace anyshape::test
