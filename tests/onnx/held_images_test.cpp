// Ops that leave images channels last give what they give for the same tensor in ONNX's order: x, and a convolution of it that changes nothing.
#include "onnx/make_model.h"
#include "support/temporary_folder.h"

#include <anyshape/anyshape.h>
#include <anyshape/onnx.h>

#include <gtest/gtest.h>

namespace anyshape::onnx::test {
namespace {

using Folder = anyshape::test::TemporaryFolder;
using Integers = std::vector<int64_t>;

struct Case {
  std::string name, op;
  std::vector<Integers> inputs = {};  // behind the first
  NodeOptions options = {};
  size_t outputs = 1;
  int64_t opset = 13;
};

class HeldImages : public testing::TestWithParam<Case> {};

TEST_P(HeldImages, give_the_same_as_plain_tensors) {
  const Case& given = GetParam();
  GraphParts parts{.nodes = {}, .inputs = {value_info("x", {"n", "3", "h", "w"})}};
  parts.initializers.push_back(tensor_proto("identity", {3, 3, 1, 1}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  parts.nodes.push_back(node("Conv", {"x", "identity"}, {"image"}));
  std::vector<std::string> further;
  for (size_t i = 0; i < given.inputs.size(); ++i) {
    further.push_back("input" + std::to_string(i));
    parts.initializers.push_back(tensor_proto(further.back(), {static_cast<int64_t>(given.inputs[i].size())}, given.inputs[i]));
  }
  for (const std::string from : {"image", "x"}) {
    std::vector<std::string> names{from}, results;
    if (given.op == "Concat") names.push_back(from);
    names.insert(names.end(), further.begin(), further.end());
    for (size_t i = 0; i < given.outputs; ++i) {
      results.push_back(from + "_result" + std::to_string(i));
      parts.outputs.push_back(value_info(results.back(), {}));
    }
    parts.nodes.push_back(node(given.op, names, results, given.options));
  }
  const Folder folder;
  const Model model = load(written(folder.path() / "held.onnx", model_bytes(parts, given.opset)));
  auto call = function([&](const Tensor& x) { return model.outputs(x); }, {.name = "held", .signature = inputs(model)});
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{1, 3, 7, 6}, Shape{3, 3, 6, 4}}) {
    const auto results = call(random::normal(shape));
    for (size_t i = 0; i < given.outputs; ++i) {
      const Tensor held = results["image_result" + std::to_string(i)], plain = results["x_result" + std::to_string(i)];
      EXPECT_EQ(held.shape(), plain.shape());
      EXPECT_TRUE(all_close(held, plain, {.relative = 1e-5, .absolute = 1e-6}));
    }
  }
  EXPECT_EQ(call.stats().traces, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Onnx, HeldImages,
    testing::Values(
        Case{"concat_channels", "Concat", {}, {.integer = {{"axis", 1}}}}, Case{"concat_rows", "Concat", {}, {.integer = {{"axis", -2}}}},
        Case{"concat_batch", "Concat", {}, {.integer = {{"axis", 0}}}}, Case{"slice", "Slice", {{1, 2}, {3, 1000}, {1, 3}}},
        Case{"slice_backwards", "Slice", {{-1}, {-1000}, {2}, {-1}}}, Case{"split", "Split", {{1, 2}}, {.integer = {{"axis", 1}}}, 2},
        Case{"pad", "Pad", {{0, 1, 2, 0, 0, 0, 1, 3}}}, Case{"transpose", "Transpose", {}, {.integers = {{"perm", {0, 2, 3, 1}}}}},
        Case{"transpose_all", "Transpose", {}, {.integers = {{"perm", {3, 1, 0, 2}}}}}, Case{"transpose_reversed", "Transpose"},
        Case{"softmax", "Softmax", {}, {.integer = {{"axis", 1}}}}, Case{"log_softmax", "LogSoftmax", {}, {.integer = {{"axis", 3}}}},
        Case{"hardmax", "Hardmax", {}, {.integer = {{"axis", 1}}}},
        Case{"mean_of_space", "ReduceMean", {}, {.integers = {{"axes", {2, 3}}}}},
        Case{"mean_of_space_gone", "ReduceMean", {}, {.integers = {{"axes", {-1, -2}}}, .integer = {{"keepdims", 0}}}},
        Case{"norm_of_channels", "ReduceL2", {}, {.integers = {{"axes", {1}}}}},
        Case{"norm_of_channels_gone", "ReduceL2", {}, {.integers = {{"axes", {1}}}, .integer = {{"keepdims", 0}}}},
        Case{"sum_of_batch", "ReduceSum", {{0}}}, Case{"greatest", "ReduceMax", {}, {.integers = {{"axes", {1, 2}}}}},
        Case{"flatten", "Flatten"}, Case{"reshape", "Reshape", {{0, -1}}}, Case{"relu", "Relu"},
        Case{"gather", "Gather", {{2, 0}}, {.integer = {{"axis", 1}}}}),
    [](const auto& each) { return each.param.name; });

TEST(HeldImagesOfOnePlace, lose_axes_in_either_order) {
  for (const Integers& axes : {Integers{2}, Integers{3}, Integers{2, 3}}) {
    GraphParts parts{.nodes = {node("GlobalAveragePool", {"x"}, {"image"}), node("Squeeze", {"image", "axes"}, {"y"}),
                               node("Flatten", {"image"}, {"z"})},
                     .initializers = {tensor_proto("axes", {static_cast<int64_t>(axes.size())}, axes)},
                     .inputs = {value_info("x", {"n", "3", "h", "w"})},
                     .outputs = {value_info("y", {}), value_info("z", {})}};
    const Folder folder;
    const Model model = load(written(folder.path() / "place.onnx", model_bytes(parts, 13)));
    const Tensor x = random::normal({2, 3, 4, 5}), expected = mean(x, {.axes = {2, 3}});
    const auto results = model.outputs(x);
    EXPECT_TRUE(all_close(results["z"], expected, {.relative = 1e-5, .absolute = 1e-6}));
    EXPECT_TRUE(all_close(reshape(results["y"], {2, 3}), expected, {.relative = 1e-5, .absolute = 1e-6}));
    EXPECT_EQ(results["y"].rank(), 4 - static_cast<int>(axes.size()));
  }
}

}  // namespace
}  // namespace anyshape::onnx::test
