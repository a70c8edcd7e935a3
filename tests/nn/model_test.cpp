// Models put together: Sequential, functional, subclassed, nested; names, weights, clones, freezing, files.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace anyshape::test {
namespace {

TEST(Model, names_count_per_model_and_are_looked_up) {
  const Sequential model(Dense(4), Dense(3, {.name = "middle"}), Dense(2), Dropout(0.5));
  std::vector<std::string> names;
  for (const AnyLayer& layer : model.children()) names.push_back(layer.name());
  EXPECT_EQ(names, (std::vector<std::string>{"dense", "middle", "dense_1", "dropout"}));
  EXPECT_EQ(model.layer("middle").type(), "Dense");
  EXPECT_EQ(text_of<ArgumentError>([&] { model.layer("dense_2"); }),
            "layer: \"dense_2\" is no layer of the model; expected one of \"dense_1\", \"dense\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { model.layer("midle"); }), "layer: \"midle\" is no layer of the model; expected \"middle\".");
  const std::string twice = text_of<ArgumentError>([] { Sequential(Dense(1, {.name = "a"}), Dense(1, {.name = "a"})); });
  EXPECT_NE(twice.find("two layers are named \"a\""), std::string::npos) << twice;
}

TEST(Model, is_built_by_a_shape_or_a_call_and_says_so_before) {
  Sequential model(Dense(4), Dense(2));
  EXPECT_FALSE(model.is_built());
  for (const std::string& text :
       {text_of<ArgumentError>([&] { model.parameter_count(); }), text_of<ArgumentError>([&] { model.weights(); }),
        text_of<ArgumentError>([&] { model.variables(); }), text_of<ArgumentError>([&] { model.set_weights({}); }),
        text_of<ArgumentError>([&] { model.save_weights("/never/written"); })}) {
    EXPECT_NE(text.find("is not built"), std::string::npos) << text;
    EXPECT_NE(text.find("Call build(input shape)"), std::string::npos) << text;
  }
  model.build({dynamic, 3});
  EXPECT_EQ(model.parameter_count(), 3 * 4 + 4 + 4 * 2 + 2);
  EXPECT_TRUE(model.layer("dense_1").is_built());
  const std::string open = text_of<ShapeError>([] { Sequential(Dense(4)).build({2, dynamic}); });
  EXPECT_NE(open.find("needs the size"), std::string::npos) << open;
}

TEST(Model, functional_with_two_inputs_two_outputs_a_shared_layer_and_ops_between) {
  const Tensor a = input({3}, {.name = "left"}), b = input({3}, {.name = "right"});
  const Dense shared(4, {.activation = "tanh", .name = "shared"});
  const Tensor left = shared(a), right = shared(b);
  const Tensor joined = Concatenate()({left, right * 2});
  const Model model({.inputs = {a, b}, .outputs = {Dense(2, {.name = "head"})(joined), sum(left - right, {.axes = {-1}})}});
  EXPECT_TRUE(model.is_built());
  EXPECT_EQ(model.parameter_count(), 3 * 4 + 4 + 8 * 2 + 2);  // the shared one counts once
  EXPECT_EQ(model.variables().size(), 4U);

  const Tensor x = random::normal({5, 3}), y = random::normal({5, 3});
  const std::vector<Tensor> kernels = model.weights();
  const auto dense = [&](const Tensor& in) { return tanh(matmul(in, kernels[0]) + kernels[1]); };
  const Model first({.inputs = {a, b}, .outputs = {model.layer("head")(joined)}});
  const Tensor one = dense(x), two = dense(y) * 2;
  const Tensor want = matmul(concat({one, two}, {.axis = 1}), kernels[2]) + kernels[3];
  EXPECT_TRUE(all_close(first({x, y}), want, {.absolute = 1e-6}));
  const Outputs outputs = model.outputs({x, y});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(all_close(outputs[0], want, {.absolute = 1e-6}));
  EXPECT_TRUE(all_close(outputs[1], sum(one - dense(y), {.axes = {-1}}), {.absolute = 1e-5}));
  EXPECT_EQ(
      text_of<ArgumentError>([&] { model({x, y}); }),
      "layer \"model\": it gives 2 results: head, output1; expected one where a single tensor is asked for. Call outputs() for all of "
      "them.");
  EXPECT_THROW(model.outputs({x}), ArgumentError);
  const std::string missing = text_of<ArgumentError>([&] { Model({.inputs = {a}, .outputs = {joined}}); });
  EXPECT_NE(missing.find("right"), std::string::npos) << missing;
}

TEST(Model, functional_layers_get_names_of_their_own) {
  const Tensor in = input({3});
  const Model model({.inputs = {in}, .outputs = {Dense(1)(Dense(2)(Dense(3)(in)))}});
  std::vector<std::string> names;
  for (const AnyLayer& layer : model.children()) names.push_back(layer.name());
  EXPECT_EQ(names, (std::vector<std::string>{"dense", "dense_1", "dense_2"}));
}

struct Block : Layer {
  Dense first = child(Dense(4, {.activation = "relu"}));
  Dense second = child(Dense(3));
  Variable scale;
  void build(const Shape& input) override { scale = weight("scale", {input[-1]}, {.initializer = "ones"}); }
  Tensor call(const Tensor& x, const CallContext&) override { return second(first(x * scale)) + x; }
};

TEST(Model, subclassed_and_nested) {
  const Model model = Sequential(Block(), Sequential(Dense(3), Block()), Dense(1));
  model.build({dynamic, 3});
  const int64_t block = 3 + 3 * 4 + 4 + 4 * 3 + 3;
  EXPECT_EQ(model.parameter_count(), 2 * block + 3 * 3 + 3 + 3 + 1);
  EXPECT_EQ(model(ones({7, 3})).shape(), (Shape{7, 1}));
  EXPECT_EQ(model.layer("block").type(), "Block");
  EXPECT_EQ(model.layer("sequential/block/dense_1").parameter_count(), 4 * 3 + 3);
  EXPECT_THROW(model.layer("sequential/block/dense_2"), ArgumentError);
}

TEST(Model, a_clone_has_weights_of_its_own) {
  const Model model = Sequential(Block(), BatchNormalization(), Dense(1));
  const Tensor x = random::normal({4, 3});
  const Tensor before = model(x);
  Model copy = model.clone();
  EXPECT_TRUE(all_equal(copy(x), before));
  for (const Variable& variable : model.trainable_variables()) variable.assign(variable.read() + 1);
  EXPECT_TRUE(all_equal(copy(x), before));
  EXPECT_FALSE(all_equal(model(x), before));
  copy.set_weights(model.weights());
  EXPECT_TRUE(all_equal(copy(x), model(x)));
  std::vector<Tensor> wrong = model.weights();
  wrong[1] = ones({9});
  const std::vector<Tensor> kept = copy.weights();
  EXPECT_THROW(copy.set_weights(wrong), ShapeError);
  EXPECT_THROW(copy.set_weights({}), ArgumentError);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(all_equal(copy.weights()[i], kept[i]));
}

TEST(Model, a_clone_of_a_functional_model_keeps_what_is_shared) {
  const Tensor in = input({3});
  const Dense shared(3);
  const Model model({.inputs = {in}, .outputs = {shared(shared(in))}}), copy = model.clone();
  const Tensor x = random::normal({2, 3}), before = model(x);
  EXPECT_EQ(copy.variables().size(), 2U);
  for (const Variable& variable : model.variables()) variable.assign(variable.read() * 3);
  EXPECT_TRUE(all_equal(copy(x), before));
}

TEST(Model, freezing_changes_the_step_once_and_keeps_the_weights) {
  Model model = Sequential(Dense(4, {.name = "base"}), Dense(1));
  model.compile({.optimizer = sgd(), .loss = "mse"});
  const Tensor x = random::normal({8, 3}), y = random::normal({8, 1});
  model.fit(x, y, {.verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 1);
  const Tensor kernel = model.layer("base").weights()[0], head = model.layer("dense").weights()[0];
  model.layer("base").set_trainable(false);
  EXPECT_EQ(model.trainable_variables().size(), 2U);
  model.fit(x, y, {.epochs = 2, .verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 2);
  EXPECT_NE(model.train_step().report().find("because     argument 0 (model): model #"), std::string::npos) << model.train_step().report();
  EXPECT_TRUE(all_equal(model.layer("base").weights()[0], kernel));
  EXPECT_FALSE(all_equal(model.layer("dense").weights()[0], head));
  model.layer("base").set_trainable(false);  // no change, no trace
  model.fit(x, y, {.verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 2);
}

class Files : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "weights.safetensors";
};

TEST_F(Files, weights_come_back_under_their_paths) {
  Model model = Sequential(Block(), Dense(1)), other = Sequential(Block(), Dense(1));
  model.build({dynamic, 3});
  other.build({dynamic, 3});
  model.save_weights(file_);
  other.load_weights(file_);
  const Tensor x = random::normal({4, 3});
  EXPECT_TRUE(all_equal(model(x), other(x)));
}

TEST_F(Files, what_does_not_fit_is_refused_or_reported) {
  const Model model = Sequential(Dense(4, {.name = "base"}), Dense(2, {.name = "old_head"}));
  model.build({dynamic, 3});
  model.save_weights(file_);
  Model other = Sequential(Dense(4, {.name = "base"}), Dense(5, {.name = "new_head"}));
  other.build({dynamic, 3});
  const Tensor before = other.layer("base").weights()[0];
  const std::string text = text_of<FormatError>([&] { other.load_weights(file_); });
  EXPECT_NE(text.find("missing [new_head/kernel, new_head/bias]"), std::string::npos) << text;
  EXPECT_NE(text.find("unexpected [old_head/bias, old_head/kernel]"), std::string::npos) << text;
  EXPECT_TRUE(all_equal(other.layer("base").weights()[0], before));

  const LoadReport report = other.load_weights(file_, {.strict = false});
  EXPECT_EQ(report.missing.size(), 2U);
  EXPECT_EQ(report.unexpected.size(), 2U);
  EXPECT_TRUE(all_equal(other.layer("base").weights()[0], model.layer("base").weights()[0]));

  Model wider = Sequential(Dense(4, {.name = "base"}), Dense(2, {.name = "old_head"}));
  wider.build({dynamic, 6});
  const LoadReport sizes = wider.load_weights(file_, {.strict = false});
  ASSERT_EQ(sizes.mismatched.size(), 1U);
  EXPECT_EQ(sizes.mismatched[0], "base/kernel is f32[3, 4] in the file, f32[6, 4] in the model");
}

}  // namespace
}  // namespace anyshape::test
