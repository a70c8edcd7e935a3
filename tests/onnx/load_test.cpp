// ONNX files as models: names and sizes of inputs, weights that are trained and saved, and what is told of files that cannot be read.
#include "onnx/make_model.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>
#include <anyshape/onnx.h>

#include <gtest/gtest.h>

namespace anyshape::onnx::test {
namespace {

using anyshape::test::text_of;
using Folder = anyshape::test::TemporaryFolder;

// y = relu(x w + b), flattened by sizes that the graph computes.
GraphParts dense_parts() {
  return {
      .nodes = {node("MatMul", {"x", "w"}, {"product"}), node("Add", {"product", "b"}, {"sum"}), node("Relu", {"sum"}, {"active"}),
                node("Shape", {"x"}, {"sizes"}), node("Gather", {"sizes", "zero"}, {"rows"}),
                node("Concat", {"rows", "rest"}, {"wanted"}, {.integer = {{"axis", 0}}}), node("Reshape", {"active", "wanted"}, {"y"})},
      .initializers = {tensor_proto("w", {3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}), tensor_proto("b", {2}, std::vector<float>{-1, 1}),
                       tensor_proto("zero", {1}, std::vector<int64_t>{0}), tensor_proto("rest", {1}, std::vector<int64_t>{-1})},
      .inputs = {value_info("x", {"batch", "3"})},
      .outputs = {value_info("y", {"batch", "2"})}};
}

TEST(OnnxLoad, inputs_and_outputs_have_the_names_of_the_file) {
  const Folder folder;
  const Model model = load(written(folder.path() / "dense.onnx", model_bytes(dense_parts())));
  EXPECT_EQ(to_string(inputs(model)[0]), "f32[batch, 3]");
  EXPECT_EQ(inputs(model)[0].name, "x");
  EXPECT_EQ(model.outputs(ones({1, 3})).names(), std::vector<std::string>{"y"});
  EXPECT_EQ(model.name(), "dense");
  const Tensor x = tensor({{1.F, 0.F, 0.F}, {0.F, 0.F, -1.F}});
  EXPECT_TRUE(all_equal(model(x), tensor({{0.F, 3.F}, {0.F, 0.F}})));
  EXPECT_TRUE(all_equal(model.predict(x), model(x)));
  EXPECT_NE(model.summary().find("dense"), std::string::npos);
}

TEST(OnnxLoad, one_trace_runs_any_size_and_sizes_are_not_computed) {
  const Folder folder;
  const Model model = load(written(folder.path() / "dense.onnx", model_bytes(dense_parts())));
  auto call = function([&](const Tensor& x) { return model(x); }, {.name = "call", .signature = inputs(model)});
  for (const int64_t rows : {1, 2, 7, 64}) EXPECT_EQ(call(ones({rows, 3})).shape(), (Shape{rows, 2}));
  EXPECT_EQ(call.stats().traces, 1);
  EXPECT_EQ(call.explain({.detail = Detail::Full}).find("gather"), std::string::npos);
}

TEST(OnnxLoad, sizes_can_be_fixed_and_renamed) {
  const Folder folder;
  const auto file = written(folder.path() / "dense.onnx", model_bytes(dense_parts()));
  EXPECT_EQ(to_string(inputs(load(file, {.dims = {{"batch", 4}}}))[0]), "f32[4, 3]");
  EXPECT_EQ(to_string(inputs(load(file, {.dims = {{"batch", dim("rows")}}}))[0]), "f32[rows, 3]");
  EXPECT_EQ(text_of<ArgumentError>([&] { load(file, {.dims = {{"rows", 4}}}); }),
            "onnx: .dims names \"rows\", which is no open size of the model; expected one of batch.");
  const Model fixed = load(file, {.dims = {{"batch", 4}}});
  EXPECT_EQ(text_of<ShapeError>([&] { fixed(ones({3, 3})); }),
            "model \"dense\": input \"x\" is f32[3, 3]; expected f32[4, 3], as the file declares it.");
}

TEST(OnnxLoad, equal_names_are_one_size) {
  const Folder folder;
  const Model model =
      load(written(folder.path() / "pair.onnx", model_bytes({.nodes = {node("Add", {"a", "b"}, {"c"})},
                                                             .inputs = {value_info("a", {"n", ""}), value_info("b", {"n", ""})},
                                                             .outputs = {value_info("c", {"n", ""})}})));
  EXPECT_EQ(to_string(inputs(model)[0]), "f32[n, a.1]");
  EXPECT_EQ(to_string(inputs(model)[1]), "f32[n, b.1]");
  EXPECT_THROW(model({ones({2, 3}), ones({1, 3})}), ShapeError);
  EXPECT_EQ(text_of<ArgumentError>([&] { model(ones({2, 3})); }), "model \"pair\": got 1 inputs; expected 2: a, b.");
}

TEST(OnnxLoad, a_model_is_trained_and_its_weights_are_saved) {
  const Folder folder;
  const auto file = written(folder.path() / "dense.onnx", model_bytes(dense_parts()));
  EXPECT_TRUE(load(file).trainable_variables().empty());
  Model model = load(file, {.trainable = true});
  EXPECT_EQ(model.trainable_variables().size(), 2U);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = ones({8, 3}), y = ones({8, 2}) * 3;
  const double before = model.evaluate(x, y, {.verbose = Verbose::Silent})["loss"];
  model.fit(x, y, {.epochs = 5, .verbose = Verbose::Silent});
  const double after = model.evaluate(x, y, {.verbose = Verbose::Silent})["loss"];
  EXPECT_LT(after, before);
  model.save_weights(folder.path() / "weights.safetensors");
  Model other = load(file, {.trainable = true});
  other.load_weights(folder.path() / "weights.safetensors");
  EXPECT_TRUE(all_equal(other(x), model(x)));
}

TEST(OnnxLoad, a_clone_has_weights_of_its_own) {
  const Folder folder;
  const Model model = load(written(folder.path() / "dense.onnx", model_bytes(dense_parts())), {.trainable = true});
  Model clone = model.clone();
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(all_equal(clone(x), model(x)));
  std::vector<Tensor> zeroed;
  for (const Tensor& weight : clone.weights()) zeroed.push_back(zeros_like(weight));
  clone.set_weights(zeroed);
  EXPECT_FALSE(all_equal(clone(x), model(x)));
  EXPECT_EQ(inputs(clone).size(), 1U);
}

TEST(OnnxLoad, an_input_can_be_fixed) {
  const Folder folder;
  const GraphParts then{.nodes = {node("Relu", {"x"}, {"a"})}, .outputs = {value_info("a", {"n"})}};
  const GraphParts otherwise{.nodes = {node("Neg", {"x"}, {"b"})}, .outputs = {value_info("b", {"n"})}};
  const auto file =
      written(folder.path() / "branch.onnx",
              model_bytes({.nodes = {node("If", {"which"}, {"y"},
                                          {.graphs = {{"then_branch", graph_proto(then)}, {"else_branch", graph_proto(otherwise)}}})},
                           .inputs = {value_info("x", {"n"}), value_info("which", {}, 9)},
                           .outputs = {value_info("y", {"n"})}}));
  const Tensor x = tensor({-1.F, 2.F});
  const Model open = load(file), fixed = load(file, {.values = {{"which", full({}, true)}}});
  auto call = function([&](const Tensor& given, const Tensor& which) { return open({given, which}); });
  EXPECT_TRUE(all_equal(call(x, full({}, true)), tensor({0.F, 2.F})));
  EXPECT_TRUE(all_equal(call(x, full({}, false)), tensor({1.F, -2.F})));
  EXPECT_EQ(call.stats().traces, 1);
  EXPECT_EQ(inputs(fixed).size(), 1U);
  EXPECT_TRUE(all_equal(fixed(x), tensor({0.F, 2.F})));
}

TEST(OnnxLoad, all_missing_ops_are_told_at_once_with_their_counts) {
  const Folder folder;
  const auto file =
      written(folder.path() / "strange.onnx",
              model_bytes({.nodes = {node("Fly", {"x"}, {"a"}), node("Fly", {"a"}, {"b"}), node("Swim", {"b"}, {"y"}, {.domain = "sea"})},
                           .inputs = {value_info("x", {"n"})},
                           .outputs = {value_info("y", {"n"})}}));
  const std::string text = text_of<FormatError>([&] { load(file); });
  EXPECT_NE(text.find("2 ops that are not supported: Fly (opset 17) 2 times, sea.Swim (opset 1)"), std::string::npos) << text;
}

TEST(OnnxLoad, elements_are_read_from_files_in_the_models_folder_and_from_no_others) {
  const Folder folder;
  const std::vector<float> numbers = {9, 1, 2, 3};
  written(folder.path() / "data.bin", std::string(reinterpret_cast<const char*>(numbers.data()), 16));
  const auto model_with = [&](const std::string& location) {
    return written(folder.path() / "outside.onnx", model_bytes({.nodes = {node("Add", {"x", "w"}, {"y"})},
                                                                .initializers = {external_proto("w", {3}, location, 4)},
                                                                .inputs = {value_info("x", {"n", "3"})},
                                                                .outputs = {value_info("y", {"n", "3"})}}));
  };
  EXPECT_TRUE(all_equal(load(model_with("data.bin"))(zeros({1, 3})), tensor({{1.F, 2.F, 3.F}})));
  for (const char* location : {"../data.bin", "/etc/passwd", "a/../../data.bin", ""}) {
    EXPECT_THROW(load(model_with(location)), FormatError) << location;
  }
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "link");
  EXPECT_NE(text_of<FormatError>([&] { load(model_with("link")); }).find("a file in the model's folder"), std::string::npos);
}

TEST(OnnxLoad, errors_name_the_node) {
  const Folder folder;
  const Model model = load(written(
      folder.path() / "bad.onnx", model_bytes({.nodes = {node("Transpose", {"x"}, {"y"}, {.integers = {{"perm", {0, 7}}}, .name = "turn"})},
                                               .inputs = {value_info("x", {"n", "3"})},
                                               .outputs = {value_info("y", {"3", "n"})}})));
  std::string text;
  try {
    model(ones({2, 3}));
  } catch (const Error& problem) {
    text = problem.what();
  }
  EXPECT_NE(text.find("turn"), std::string::npos) << text;
  EXPECT_THROW(load(folder.path() / "nothing.onnx"), FormatError);
  EXPECT_THROW(load(written(folder.path() / "empty.onnx", "")), FormatError);
}

}  // namespace
}  // namespace anyshape::onnx::test
