// Weights of PyTorch's modules in our layers (tests/goldens/pytorch): every layer gives what the module gave.
#include "io/safetensors.h"
#include "support/golden.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace anyshape::test {
namespace {

namespace fs = std::filesystem;

fs::path weights(const std::string& name) { return support::goldens_folder() / "pytorch" / (name + ".safetensors"); }

Tensor value(const std::string& name) {
  static const StoredTensors values = load_tensors(weights("values"));
  return values[name];
}

// Empty where the network gives the module's result.
std::string difference(const Model& network, const std::string& name, const std::vector<Tensor>& inputs) {
  const Tensor got = network(inputs), want = value(name + "/y");
  if (!got.shape().same_as(want.shape())) return name + ": " + to_string(got.shape()) + " for " + to_string(want.shape());
  const double distance = max(abs(got - want)).item<double>();
  return distance <= 1e-5 ? "" : name + " differs by " + std::to_string(distance);
}

std::string loaded(const std::string& name, Model network, LoadOptions options = {}) {
  std::vector<Tensor> inputs{value(name + "/x")};
  if (name == "attention_cross") inputs = {value(name + "/x"), value(name + "/x1"), value(name + "/x2")};
  network(inputs);  // makes the weights
  options.layout = WeightLayout::PyTorch;
  const LoadReport report = network.load_weights(weights(name), options);
  if (report.matched.size() != network.variables().size()) return name + ": " + std::to_string(report.matched.size()) + " weights are told";
  return difference(network, name, inputs);
}

// A layer of the user's own, as PyTorch's RMSNorm.
class Rms : public Layer {
 public:
  using Layer::build;
  void build(const Shape& input) override { scale_ = weight("scale", {input[-1]}, {.initializer = "ones"}); }
  using Layer::call;
  Tensor call(const Tensor& x, const CallContext&) override {
    return x * rsqrt(mean(square(x), {.axis = -1, .keep_dims = true}) + 1e-5) * scale_;
  }

 private:
  Variable scale_;
};

TEST(TorchWeights, modules_give_what_they_gave) {
  const std::vector<std::pair<const char*, AnyLayer>> layers = {{"linear", Dense(3)},
                                                                {"conv1d", Conv1D(6, 3, {.strides = 2, .groups = 2})},
                                                                {"conv2d", Conv2D(6, {3, 2}, {.groups = 2})},
                                                                {"conv3d", Conv3D(3, {2, 3, 1})},
                                                                {"conv1d_transpose", Conv1DTranspose(4, 3, {.strides = 2})},
                                                                {"conv2d_transpose", Conv2DTranspose(4, {3, 2}, {.strides = 2})},
                                                                {"conv3d_transpose", Conv3DTranspose(3, {2, 3, 2})},
                                                                {"depthwise1d", DepthwiseConv1D(3, {.depth_multiplier = 2})},
                                                                {"depthwise2d", DepthwiseConv2D({3, 2}, {.depth_multiplier = 2})},
                                                                {"separable2d", SeparableConv2D(5, 3, {.depth_multiplier = 2})},
                                                                {"embedding", Embedding(11, 4)},
                                                                {"layer_norm", LayerNormalization({.epsilon = 1e-5})},
                                                                {"layer_norm2", LayerNormalization({.axes = {-2, -1}, .epsilon = 1e-5})},
                                                                {"batch_norm", BatchNormalization({.epsilon = 1e-5})},
                                                                {"group_norm", GroupNormalization({.groups = 2, .epsilon = 1e-5})},
                                                                {"lstm", LSTM(3, {.return_sequences = true})},
                                                                {"lstm_no_bias", LSTM(3, {.use_bias = false, .return_sequences = true})},
                                                                {"gru", GRU(3, {.return_sequences = true})},
                                                                {"rnn", SimpleRNN(3, {.return_sequences = true})},
                                                                {"attention", MultiHeadAttention(2, 4)},
                                                                {"attention_cross", MultiHeadAttention(2, 4)},
                                                                {"attention_no_bias", MultiHeadAttention(2, 4, {.use_bias = false})}};
  for (const auto& [name, layer] : layers) EXPECT_EQ(loaded(name, Model(layer)), "");
}

TEST(TorchWeights, levels_and_directions_of_recurrent_modules_are_found) {
  const auto deep = [](const auto& make) {
    return Sequential(Bidirectional(make("first")), Bidirectional(make("second"), {.name = "upper"}));
  };
  const auto lstm = [](const char* name) { return LSTM(3, {.return_sequences = true, .name = name}); };
  const auto gru = [](const char* name) { return GRU(3, {.return_sequences = true, .name = name}); };
  const WeightNames names{{"bidirectional", ""}, {"upper", "*_l1"}};
  EXPECT_EQ(loaded("lstm_deep", deep(lstm), {.names = names}), "");
  EXPECT_EQ(loaded("gru_deep", deep(gru), {.names = names}), "");
  EXPECT_EQ(loaded("lstm_deep", deep(lstm), {.match_by_order = true}), "");
  // A cell's tensors have no level.
  Model cell = Sequential(LSTM(3));
  const Tensor x = value("lstm_cell/x");
  cell(expand_dims(x, 1));
  cell.load_weights(weights("lstm_cell"), {.layout = WeightLayout::PyTorch, .names = {{"lstm", "*"}}});
  EXPECT_LT(max(abs(cell(expand_dims(x, 1)) - value("lstm_cell/y"))).item<double>(), 1e-5);
}

TEST(TorchWeights, weights_of_an_own_layer_are_taken_as_they_are) {
  Model network = Sequential(layer(Rms()));
  EXPECT_EQ(loaded("rms_norm", network, {.names = {{"rms/scale", "weight"}}}), "");
}

TEST(TorchWeights, other_floats_are_converted_and_told) {
  for (const std::string dtype : {"f16", "bf16", "f64"}) {
    Model network = Sequential(Dense(3, {.name = "out"}));
    EXPECT_EQ(loaded("linear_" + dtype, network, {.names = {{"out", ""}}}), "");
    const LoadReport report = network.load_weights(weights("linear_" + dtype), {.layout = WeightLayout::PyTorch, .names = {{"out", ""}}});
    EXPECT_EQ(report.converted, (std::vector<std::string>{"out/kernel from " + dtype, "out/bias from " + dtype}));
    EXPECT_EQ(report.matched, (std::vector<std::string>{"out/kernel from weight", "out/bias from bias"}));
  }
}

// torch.nn.TransformerEncoder with two layers, in the functional spelling.
Model encoder() {
  const Tensor x = input({dynamic, 8});
  Tensor steps = x;
  for (int level = 0; level < 2; ++level) {
    const std::string number = "_" + std::to_string(level);
    const Tensor met = MultiHeadAttention(2, 4, {.name = "self_attn" + number})(steps, steps);
    steps = LayerNormalization({.epsilon = 1e-5, .name = "norm1" + number})(steps + met);
    const Tensor hidden = Dense(12, {.activation = "relu", .name = "linear1" + number})(steps);
    steps = LayerNormalization({.epsilon = 1e-5, .name = "norm2" + number})(steps + Dense(8, {.name = "linear2" + number})(hidden));
  }
  return Model({.inputs = {x}, .outputs = {steps}});
}

std::string theirs(const std::string& layer) {  // "norm1_0": "layers.0.norm1"
  const size_t at = layer.rfind('_');
  return at == std::string::npos ? "" : "layers." + layer.substr(at + 1) + "." + layer.substr(0, at);
}

TEST(TorchWeights, a_function_names_the_modules_of_an_encoder) { EXPECT_EQ(loaded("encoder", encoder(), {.names = theirs}), ""); }

Model picture(const std::string& first = "dense") {
  return Sequential(Conv2D(4, 3), BatchNormalization({.epsilon = 1e-5}), Activation("relu"), Conv2D(4, 3, {.activation = "relu"}),
                    Flatten(), Dense(6, {.activation = "relu", .name = first}), Dense(6, {.activation = "relu"}), Dense(6));
}

TEST(TorchWeights, an_image_that_is_flattened_has_its_channels_last) {
  const WeightNames names{{"conv2d", "features.0"},   {"batch_normalization", "features.1"},
                          {"conv2d_1", "features.3"}, {"first", "head.0"},
                          {"dense", "head.2"},        {"dense_1", "head.4"}};
  EXPECT_EQ(loaded("picture", picture("first"), {.names = names, .flattened = {{"first", {4, 2, 3}}}}), "");
  EXPECT_NE(loaded("picture", picture("first"), {.names = names, .flattened = {{"first", {}}}}), "");  // other rows meet other numbers
  Model network = picture("first");
  network(value("picture/x"));
  const std::string problem =
      "first/kernel stands behind an image [2, 2, 3, 4] that is flattened, and PyTorch flattens one with the channels "
      "first: say .flattened = {{\"first\", {4, 2, 3}}}, or {} for rows as they are";
  const LoadReport report = network.load_weights(weights("picture"), {.strict = false, .layout = WeightLayout::PyTorch, .names = names});
  EXPECT_EQ(report.mismatched, std::vector<std::string>{problem});
  EXPECT_NE(text_of<FormatError>([&] {
              network.load_weights(weights("picture"), {.layout = WeightLayout::PyTorch, .names = names});
            }).find("mismatched [" + problem + "]"),
            std::string::npos);
  // In the functional spelling, and behind layers that leave elements where they are.
  const Tensor x = input({2, 3, 4});
  const Tensor flat = Dropout(0.5)(Flatten()(x));
  Model branches({.inputs = {x}, .outputs = {Dense(2, {.name = "a"})(flat) + Dense(2, {.name = "b"})(flat)}});
  branches(ones({1, 2, 3, 4}));
  TemporaryFolder folder;
  const fs::path file = folder.path() / "branches.safetensors";
  const Tensor w = ones({2, 24}), b = ones({2});
  save_tensors(file, {{"a.weight", w}, {"a.bias", b}, {"b.weight", w}, {"b.bias", b}});
  EXPECT_EQ(branches.load_weights(file, {.strict = false, .layout = WeightLayout::PyTorch}).mismatched.size(), 2U);
}

TEST(TorchWeights, modules_are_found_by_kind_and_number) {
  // Two convolutions that differ in size, and two Dense layers that are alike: "head.2" stands before "head.4".
  EXPECT_EQ(loaded("picture", picture(), {.match_by_order = true, .flattened = {{"dense", {4, 2, 3}}}}), "");
}

// Errors.
class TorchErrors : public testing::Test {
 protected:
  std::string refusal(Model network, const Tensor& x, const fs::path& file, const LoadOptions& options) const {
    network(x);
    const std::vector<Tensor> before = network.weights();
    std::string text = text_of<FormatError>([&] { network.load_weights(file, options); });
    if (text == "nothing was thrown") return text;
    const std::vector<Tensor> after = network.weights();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(all_equal(before[i], after[i]));
    return text.substr(text.find("does not fit"));
  }
  std::string argument(Model network, const Tensor& x, const fs::path& file, const LoadOptions& options) const {
    network(x);
    return text_of<ArgumentError>([&] { network.load_weights(file, options); });
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "weights.safetensors";
};

TEST_F(TorchErrors, say_our_weight_their_tensor_both_shapes_and_the_rule) {
  const Tensor x = ones({2, 5});
  EXPECT_EQ(
      refusal(Sequential(Dense(4)), x, weights("linear"), {.layout = WeightLayout::PyTorch, .names = {{"dense", ""}}}),
      "does not fit the model: missing [], unexpected [], mismatched [dense/kernel is f32[5, 4] in the model, and weight is f32[3, 5] in "
      "the file where [4, 5] is expected, as a Linear keeps its weight [out, in]; dense/bias is f32[4] in the model, and bias is f32[3] "
      "in the file where [4] is expected, as a Linear keeps its bias [out]]; expected the same weights. Load with .strict = false to "
      "take what fits.");
  EXPECT_EQ(refusal(Sequential(Dense(3)), x, weights("linear"), {.layout = WeightLayout::PyTorch}),
            "does not fit the model: missing [dense/kernel (as dense.weight), dense/bias (as dense.bias)], unexpected [bias, weight], "
            "mismatched []; expected the same weights. Load with .strict = false to take what fits. Say which module is which layer with "
            ".names, as {{\"encoder/dense\", \"encoder.fc1\"}}.");
  EXPECT_NE(refusal(Sequential(Dense(3)), x, weights("picture"), {}).find("load with .layout = as::WeightLayout::PyTorch."),
            std::string::npos);
  // Half of a bias that is made of two.
  save_tensors(file_, {{"lstm.weight_ih_l0", ones({12, 5})}, {"lstm.weight_hh_l0", ones({12, 3})}, {"lstm.bias_ih_l0", ones({12})}});
  EXPECT_EQ(
      refusal(Sequential(LSTM(3)), ones({2, 4, 5}), file_, {.layout = WeightLayout::PyTorch}),
      "does not fit the model: missing [lstm/bias (as lstm.bias_hh_l0)], unexpected [], mismatched []; expected the same weights. Load "
      "with .strict = false to take what fits.");
}

TEST_F(TorchErrors, numbers_that_do_not_fit_are_not_made_infinite) {
  save_tensors(file_, {{"dense.weight", tensor(std::vector<double>{1e300}, {1, 1})}, {"dense.bias", zeros({1})}});
  EXPECT_NE(refusal(Sequential(Dense(1)), ones({1, 1}), file_, {.layout = WeightLayout::PyTorch})
                .find("dense/kernel is f32[1, 1] in the model, and the file's f64[1, 1] has numbers beyond what f32 holds"),
            std::string::npos);
}

TEST_F(TorchErrors, names_that_are_not_the_models_are_refused) {
  const Tensor x = ones({2, 5});
  const auto with = [&](WeightNames names) {
    return argument(Sequential(Dense(3)), x, weights("linear"), {.layout = WeightLayout::PyTorch, .names = std::move(names)});
  };
  EXPECT_EQ(with({{"dens", ""}}).substr(0, 74), "load_weights: .names: \"dens\" is no layer or weight of the model; expected ");
  EXPECT_NE(with({{"dens", ""}}).find("\"dense\""), std::string::npos);
  EXPECT_EQ(with({{"dense", "a"}, {"dense", "b"}}), "load_weights: .names has \"dense\" twice; expected each of our names once.");
  EXPECT_EQ(with({{"dense", "*.*"}}),
            "load_weights: .names gives \"*.*\" for \"dense\"; expected one star, where the tensors' own names go.");
  EXPECT_NE(argument(Sequential(Dense(3)), x, weights("linear"), {.layout = WeightLayout::PyTorch, .flattened = {{"dense", {2, 2}}}})
                .find(".flattened gives [2, 2] for \"dense\", which takes 5 numbers"),
            std::string::npos);
  EXPECT_NE(argument(Sequential(LSTM(3)), ones({2, 4, 5}), weights("lstm"),
                     {.layout = WeightLayout::PyTorch, .names = {{"lstm/bias", "bias_ih_l0"}}})
                .find("which is made of bias_ih and bias_hh"),
            std::string::npos);
  EXPECT_NE(argument(Sequential(GRU(3, {.reset_after = false})), ones({2, 4, 5}), weights("gru"), {.layout = WeightLayout::PyTorch})
                .find("layer \"gru\" is a GRU with reset_after = false"),
            std::string::npos);
}

TEST_F(TorchErrors, modules_without_an_order_are_not_guessed) {
  const Tensor w = ones({3, 3}), b = ones({3});
  const LoadOptions by_order{.layout = WeightLayout::PyTorch, .match_by_order = true};
  save_tensors(file_, {{"query.weight", w}, {"query.bias", b}, {"value.weight", w}, {"value.bias", b}});
  Model alike = Sequential(Dense(3), Dense(3));
  alike(ones({1, 3}));
  EXPECT_EQ(text_of<FormatError>([&] { alike.load_weights(file_, by_order); }),
            "load_weights: .match_by_order: the modules \"query\" and \"value\" fit dense, dense_1 alike, and their names have no order; "
            "expected names that differ in a number. Say which is which with .names.");
  save_tensors(file_, {{"0.weight", w}, {"0.bias", b}});
  EXPECT_NE(text_of<FormatError>([&] {
              alike.load_weights(file_, by_order);
            }).find("2 layers take bias [3], weight [3, 3] (dense, dense_1), and the file has 1 such modules (0)"),
            std::string::npos);
  EXPECT_NE(argument(Sequential(Dense(3)), ones({1, 3}), file_, {.match_by_order = true}).find("expected WeightLayout::PyTorch"),
            std::string::npos);
}

// ANYSHAPE_FUZZ_FILES says how many mutated files are read. A file that is refused changes nothing.
TEST_F(TorchErrors, mutated_files_load_or_are_refused) {
  const char* const wanted = std::getenv("ANYSHAPE_FUZZ_FILES");
  const long count = wanted != nullptr ? std::strtol(wanted, nullptr, 10) : 300;
  std::ifstream in(weights("picture"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  Model network = picture();
  network(value("picture/x"));
  std::mt19937 random(18);
  const auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  const size_t header = whole.find("}}") + 2;
  int64_t loaded = 0, refused = 0;
  for (long i = 0; i < count; ++i) {
    std::string damaged = whole;
    for (size_t change = 0, changes = below(4); change < changes; ++change) {
      const size_t at = 8 + below(header - 8);
      if (damaged[at] >= '0' && damaged[at] <= '9') {
        damaged[at] = static_cast<char>('0' + below(10));
      } else if (damaged[at] >= 'a' && damaged[at] <= 'z') {
        damaged[at] = "abdeghinorstuw._0123"[below(20)];
      }
    }
    std::ofstream(file_, std::ios::binary) << damaged;
    const LoadOptions options{
        .strict = below(2) == 0, .layout = WeightLayout::PyTorch, .match_by_order = true, .flattened = {{"dense", {4, 2, 3}}}};
    const std::vector<Tensor> before = network.weights();
    try {
      network.load_weights(file_, options);
      ++loaded;
    } catch (const FormatError&) {
      ++refused;
      const std::vector<Tensor> after = network.weights();
      for (size_t weight = 0; weight < before.size(); ++weight) {
        ASSERT_EQ(after[weight].data<float>().data(), before[weight].data<float>().data());
      }
    }
  }
  EXPECT_GT(loaded, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(TorchErrors, parts_of_attention_may_be_modules_of_their_own) {
  Model packed = Sequential(MultiHeadAttention(2, 4, {.name = "a"})), apart = Sequential(MultiHeadAttention(2, 4, {.name = "a"}));
  const Tensor x = value("attention/x");
  packed(x);
  apart(x);
  packed.load_weights(weights("attention"), {.layout = WeightLayout::PyTorch, .names = {{"a", ""}}});
  const StoredTensors stored = load_tensors(weights("attention"));
  std::vector<NamedTensors::Entry> parts;
  const std::vector<Tensor> kernels = split(stored["in_proj_weight"], 3), biases = split(stored["in_proj_bias"], 3);
  const char* const names[] = {"self.query", "self.key", "self.value"};
  for (size_t i = 0; i < 3; ++i) {
    parts.emplace_back(std::string(names[i]) + ".weight", kernels[i]);
    parts.emplace_back(std::string(names[i]) + ".bias", biases[i]);
  }
  parts.emplace_back("output.dense.weight", stored["out_proj.weight"]);
  parts.emplace_back("output.dense.bias", stored["out_proj.bias"]);
  save_tensors(file_, parts);
  apart.load_weights(
      file_,
      {.layout = WeightLayout::PyTorch,
       .names = {{"a/query", "self.query"}, {"a/key", "self.key"}, {"a/value", "self.value"}, {"a/attention_output", "output.dense"}}});
  EXPECT_TRUE(all_equal(packed(x), apart(x)));
}

TEST_F(TorchErrors, layers_inside_a_layer_that_is_named_follow_it) {
  Model inner = Sequential(Dense(3), TimeDistributed(Dense(2)));  // around one layer stands no module
  Model outer = Sequential(inner, Dense(1));
  outer(ones({1, 4, 5}));
  const Tensor w = random::normal({3, 5});
  save_tensors(file_, {{"net.body.dense.weight", w},
                       {"net.body.dense.bias", ones({3})},
                       {"net.body.time_distributed.weight", ones({2, 3})},
                       {"net.body.time_distributed.bias", ones({2})},
                       {"head.weight", ones({1, 2})},
                       {"head.bias", ones({1})}});
  const LoadReport report =
      outer.load_weights(file_, {.layout = WeightLayout::PyTorch, .names = {{"sequential", "net.body"}, {"dense", "head"}}});
  EXPECT_EQ(report.matched[2], "sequential/time_distributed/dense/kernel from net.body.time_distributed.weight");
  EXPECT_TRUE(all_equal(outer.weights()[0], transpose(w)));
}

TEST_F(TorchErrors, our_own_files_take_names_too) {
  Model whole = Sequential(Dense(4, {.name = "base"}), Dense(2)), part = Sequential(Dense(4, {.name = "trunk"}));
  whole(ones({1, 3}));
  part(ones({1, 3}));
  whole.save_weights(file_);
  const LoadReport report = part.load_weights(file_, {.strict = false, .names = {{"trunk", "base"}}});
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"dense/bias", "dense/kernel"}));
  EXPECT_TRUE(all_equal(part.weights()[0], whole.weights()[0]));
}

}  // namespace
}  // namespace anyshape::test
