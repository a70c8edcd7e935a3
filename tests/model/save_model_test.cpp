// Whole models in a file: what is saved is what is loaded, and what is wrong with a file is said.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <regex>

namespace anyshape {
namespace {

class Scale : public Layer {
 public:
  struct Options {
    double factor = 2;
    std::string name = {};
  };
  explicit Scale(Options options) : options_(std::move(options)) {}
  const Options& options() const { return options_; }
  void build(const Shape& input) override { offset_ = weight("offset", {input[-1]}, {.initializer = "random_normal"}); }
  Tensor call(const Tensor& x, const CallContext&) override { return x * options_.factor + offset_; }

 private:
  Options options_;
  Variable offset_;
};

// Layers inside, one of them made in build().
class Block : public Layer {
 public:
  void build(const Shape&) override { last_ = child(Dense(3, {.kernel_regularizer = l2(0.1)})); }
  Tensor call(const Tensor& x, const CallContext&) override { return (*last_)(first_(x)) + first_(x); }

 private:
  Dense first_ = child(Dense(3, {.activation = "tanh", .name = "first"}));
  std::optional<Dense> last_;
};

// A cell with weights.
class Adder : public Cell {
 public:
  std::vector<int64_t> state_sizes() const override { return {2}; }
  void build(const Shape& input) override { kernel_ = weight("kernel", {input[-1], 2}); }
  std::pair<Tensor, std::vector<Tensor>> step(const Tensor& x, const std::vector<Tensor>& states, const CallContext&) override {
    const Tensor next = states[0] * 0.5 + matmul(x, kernel_);
    return {next, {next}};
  }

 private:
  Variable kernel_;
};

class Nameless : public Layer {
 public:
  Tensor call(const Tensor& x, const CallContext&) override { return x; }
};

class SaveModel : public ::testing::Test {
 protected:
  SaveModel() {
    register_layer<Scale>("test_Scale");
    register_layer<Block>("test_Block");
    register_layer<Adder>("test_Adder");
  }

  void expect_equal(const Tensor& got, const Tensor& want) {
    ASSERT_EQ(to_string(TensorSpec{got.dtype(), got.shape(), {}}), to_string(TensorSpec{want.dtype(), want.shape(), {}}));
    EXPECT_TRUE(all_equal(got, want));
  }
  Model saved_and_loaded(const Model& model) {
    model.save(file_);
    return load_model(file_);
  }
  // The model that comes back is the one that was saved.
  void check(const Model& model, const Tensor& x) {
    const Model loaded = saved_and_loaded(model);
    expect_equal(loaded.predict(x), model.predict(x));
    EXPECT_EQ(loaded.config().to_json(), model.config().to_json());
    EXPECT_EQ(loaded.name(), model.name());
    EXPECT_EQ(loaded.summary(), model.summary());
    ASSERT_EQ(loaded.variables().size(), model.variables().size());
    EXPECT_EQ(loaded.trainable_variables().size(), model.trainable_variables().size());
    for (size_t i = 0; i < model.variables().size(); ++i) EXPECT_EQ(loaded.variables()[i].name(), model.variables()[i].name());
    const std::filesystem::path again = folder_.path() / "again.safetensors";
    loaded.save(again);
    EXPECT_EQ(bytes_of(again).size(), bytes_of(file_).size());
  }
  static std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The file with a header that is changed.
  void rewrite(const std::function<void(std::string& header)>& change) {
    std::string bytes = bytes_of(file_);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    std::string header = bytes.substr(8, length), rest = bytes.substr(8 + length);
    change(header);
    length = header.size();
    bytes.assign(reinterpret_cast<const char*>(&length), 8);
    std::ofstream(file_, std::ios::binary) << bytes << header << rest;
  }
  std::string refusal() {
    const std::string text = test::text_of<FormatError>([&] { load_model(file_); });
    const std::string begin = "load_model: \"" + file_.string() + "\"";
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "model.safetensors";
  Tensor x_ = reshape(sin(cast(arange(24), f32)), {4, 6});
};

TEST_F(SaveModel, sequential) {
  Sequential model(Dense(5, {.activation = activations::gelu({.approximate = true})}), BatchNormalization(), Dropout(0.5),
                   Dense(2, {.name = "last"}));
  model(x_, {.training = true});
  check(model, x_);
}

TEST_F(SaveModel, functional_with_shared_layers_ops_and_open_sizes) {
  const Tensor words = input({dynamic}, {.name = "words", .dtype = i32});
  const Dense shared(4, {.activation = "tanh"});
  const Tensor body = shared(shared(Embedding(10, 4)(words)) * 2) + tensor({1.0f, 2.0f, 3.0f, 4.0f});
  const Model model({.inputs = {words}, .outputs = {mean(LSTM(3)(body), {.axes = {1}})}, .name = "reader"});
  check(model, tensor({{1, 2, 3}, {4, 5, 6}}));
  expect_equal(load_model(file_).predict(tensor({{1, 2, 3, 4}})), model.predict(tensor({{1, 2, 3, 4}})));
}

TEST_F(SaveModel, registered_classes_with_layers_inside) {
  Sequential model(Scale({.factor = 3}), Block(), Block(), Scale({.name = "end"}));
  model(x_);
  check(model, x_);
  Model own(Block{});
  own(x_);
  check(own, x_);
}

TEST_F(SaveModel, recurrent_layers_over_a_registered_cell) {
  Sequential model(RNN(Adder(), {.return_sequences = true}), TimeDistributed(Dense(3)), Bidirectional(GRU(2)));
  const Tensor x = reshape(x_, {2, 4, 3});
  model(x);
  check(model, x);
}

TEST_F(SaveModel, nested_networks_frozen_layers_and_other_dtypes) {
  Sequential inner(Dense(4, {.dtype = f64}), Dense(3));
  Sequential model(inner, Dense(2), Rescaling(0.5));
  model(x_);
  model.layer("sequential/dense").set_trainable(false);
  check(model, x_);
  const Model loaded = load_model(file_);
  EXPECT_FALSE(loaded.layer("sequential/dense").trainable());
  EXPECT_TRUE(loaded.layer("sequential/dense_1").trainable());
}

TEST_F(SaveModel, built_by_a_shape_by_a_call_and_by_fit) {
  for (int way = 0; way < 3; ++way) {
    Sequential model(Dense(5), LayerNormalization(), Dense(1));
    if (way == 0) model.build({dynamic, 6});
    if (way == 1) model(x_);
    if (way == 2) {
      model.compile({.optimizer = "sgd", .loss = "mse"});
      model.fit(x_, ones({4, 1}), {.verbose = Verbose::Silent});
    }
    check(model, x_);
  }
}

TEST_F(SaveModel, layers_that_had_another_dtype_by_default_keep_it) {
  set_default_dtype(f64);
  Sequential model(Dense(5), Scale({}), Dense(1));
  const Tensor want = model(x_);
  model.save(file_);
  set_default_dtype(f32);
  expect_equal(load_model(file_).predict(x_), want);
}

TEST_F(SaveModel, statistics_that_were_adapted) {
  Normalization normalization;
  normalization.adapt(x_);
  Sequential model(normalization, Dense(2));
  model(x_);
  check(model, x_);
}

TEST_F(SaveModel, how_it_was_compiled_and_the_optimizer) {
  const Tensor in = input({6});
  Model model({.inputs = {in}, .outputs = {{"a", Dense(1)(in)}, {"b", Dense(3, {.activation = "softmax"})(in)}, {"c", Dense(2)(in)}}});
  model.compile({.optimizer = adam({.learning_rate = exponential_decay(0.1, 10, 0.5), .clipnorm = 1}),
                 .metrics = {{"a", "mse"}, {"b", "acc"}, {"b", top_k_categorical_accuracy({.k = 2})}},
                 .losses = {{"a", huber({.delta = 0.5})}, {"b", "categorical_crossentropy"}, {"c", {}}},
                 .loss_weights = {{"b", 0.25}},
                 .weighted_metrics = {{"a", "mse"}}});
  const Data y{{"a", sum(x_, {.axis = 1, .keep_dims = true})}, {"b", one_hot(tensor({0, 1, 2, 1}), 3)}};
  model.fit(x_, y, {.epochs = 3, .verbose = Verbose::Silent});
  Model loaded = saved_and_loaded(model);
  EXPECT_EQ(loaded.optimizer().config().to_json(), model.optimizer().config().to_json());
  EXPECT_EQ(loaded.optimizer().iterations().read().item<int64_t>(), 3);
  EXPECT_EQ(loaded.optimizer().learning_rate(), model.optimizer().learning_rate());
  const FitOptions options{.epochs = 2, .verbose = Verbose::Silent, .shuffle = false};
  const History want = model.fit(x_, y, options), got = loaded.fit(x_, y, options);
  EXPECT_EQ(got.to_csv(), want.to_csv());
  for (size_t i = 0; i < model.weights().size(); ++i) expect_equal(loaded.weights()[i], model.weights()[i]);
}

TEST_F(SaveModel, what_is_a_callable_is_told_and_compiled_anew) {
  Sequential model(Dense(1));
  model.compile({.optimizer = sgd({.learning_rate = [](const Tensor& step) { return 1.0f / cast(step + 1, f32); }}),
                 .loss = [](const Tensor& y, const Tensor& p) { return abs(y - p); },
                 .metrics = {"mae"}});
  model.fit(x_, ones({4, 1}), {.verbose = Verbose::Silent});
  std::vector<std::string> warnings;
  set_log_sink([&](std::string_view line) { warnings.emplace_back(line); });
  Model loaded = saved_and_loaded(model);
  set_log_sink({});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("load_model: the file has not .optimizer \"sgd\" (")) << warnings[0];
  EXPECT_NE(warnings[0].find(", nor .loss ("), std::string::npos) << warnings[0];
  expect_equal(loaded.predict(x_), model.predict(x_));
  const std::string refused = test::text_of<ArgumentError>([&] { loaded.evaluate(x_, ones({4, 1})); });
  EXPECT_TRUE(refused.starts_with("evaluate: the model is not compiled: the file that it was loaded from has not .optimizer \"sgd\" ("))
      << refused;
  loaded.compile({.optimizer = "sgd", .loss = "mae"});
  loaded.evaluate(x_, ones({4, 1}), {.verbose = Verbose::Silent});
}

TEST_F(SaveModel, weights_are_read_by_load_weights_too) {
  Sequential model(Dense(5), Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x_, ones({4, 1}), {.verbose = Verbose::Silent});
  model.save(file_);
  Sequential other(Dense(5), Dense(1));
  other(x_);
  const LoadReport report = other.load_weights(file_);
  EXPECT_TRUE(report.unexpected.empty());
  expect_equal(other(x_), model(x_));
}

TEST_F(SaveModel, loading_draws_no_numbers) {
  Sequential model(Dense(5), Dropout(0.5, {.seed = 3}), Dense(1));
  model(x_);
  model.save(file_);
  random::set_seed(3);
  const Tensor want = random::uniform({4});
  random::set_seed(3);
  load_model(file_);
  model.save(file_);
  expect_equal(random::uniform({4}), want);
}

TEST_F(SaveModel, what_no_file_can_hold_is_refused_before_one_is_written) {
  const auto refusal = [&](Model model) {
    model(x_);
    const std::string text = test::text_of<ArgumentError>([&] { model.save(file_); });
    EXPECT_FALSE(std::filesystem::exists(file_));
    return text;
  };
  EXPECT_EQ(refusal(Sequential(Dense(2), Nameless())),
            "save: model \"sequential\": Sequential: layers[1] is of the class Nameless, which is not registered; expected classes that a "
            "file can "
            "name. Register it (as::register_layer<Nameless>(\"Nameless\"), or the like of its kind) before it is saved and before it is "
            "loaded, or "
            "keep the weights alone by save_weights().");
  EXPECT_TRUE(
      refusal(Sequential(Dense(2, {.activation = [](const Tensor& x) { return x; }})))
          .starts_with("save: model \"sequential\": Sequential: layers[0]: Dense: activation is a callable of the program's, which no file "
                       "can hold; expected classes and functions by name."));
  const Dense both(6);
  EXPECT_EQ(
      refusal(Sequential(Sequential(both), Sequential(both))),
      "save: model \"sequential\": config: layer \"dense\" is inside \"sequential\" and inside \"sequential_1\"; expected each layer to be "
      "in one "
      "other layer, where it may be used often. Share it in one functional model. A file has the config; save_weights() keeps the weights "
      "alone.");
  const std::string unbuilt = test::text_of<ArgumentError>([&] { Sequential(Dense(2)).save(file_); });
  EXPECT_TRUE(unbuilt.starts_with("save: layer \"sequential\" is not built")) << unbuilt;
}

TEST_F(SaveModel, what_is_wrong_with_a_file_is_said) {
  Sequential model(Dense(3), Scale({}));
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x_, ones({4, 3}), {.verbose = Verbose::Silent});
  const auto after = [&](const std::string& part, const std::string& other) {
    model.save(file_);
    rewrite([&](std::string& header) {
      const size_t at = header.find(part);
      ASSERT_NE(at, std::string::npos) << part;
      header.replace(at, part.size(), other);
    });
    return refusal();
  };
  EXPECT_EQ(after(R"("format_version":"1")", R"("format_version":"7")"),
            " is of format 7, written by anyshape 0.1.0; this is 0.1.0, which reads formats up to 1. Load it with a newer library.");
  EXPECT_EQ(after(R"("format_version":"1")", R"("format_version":"one")"),
            " says \"one\" of its format_version; expected a number from 1 on.");
  EXPECT_EQ(
      after(R"("anyshape model")", R"("pt")"),
      " holds no whole model: its metadata has no format \"anyshape model\"; expected a file of Model::save. Weights alone are read by "
      "load_weights().");
  EXPECT_EQ(after(R"(\"Dense\")", R"(\"Dens\")"),
            ": its architecture: Sequential: layers[0]: layer: \"Dens\" is no layer; expected \"Dense\".");
  EXPECT_EQ(
      after(R"("architecture")", R"("architektur")"),
      " has no architecture; expected a file of Model::save. Make the model in the program, and read its weights by load_weights() or its "
      "state by .resume_from of fit.");
  EXPECT_EQ(after(R"("random")", R"("rendom")"), " has no random in its metadata; expected a whole model.");
  EXPECT_EQ(
      after(R"(\"units\": 3)", R"(\"units\": 4)"),
      " has the tensor \"dense/kernel\" as f32[6, 3]; expected f32[6, 4]. The weights of the model and of the file have to be the same.");
  EXPECT_EQ(
      after(R"(\"units\": 3)", R"(\"units\": 4000000000000000000)"),
      ": its layers: number of elements: size overflows: 6 * 4000000000000000000; expected a result that fits 64 bits. Use smaller sizes.");
  EXPECT_EQ(after(R"("dense/bias")", R"("dense/baas")"),
            " has no tensor \"dense/bias\"; expected f32[3]. The weights of the model and of the file have to be the same.");
  EXPECT_EQ(after(R"("/optimizer/dense/bias/velocity")", R"("/optimizer/dense/bias/velociti")"),
            " has no tensor \"/optimizer/dense/bias/velocity\"; expected f32[3]. The optimizer has to be of the same kind as the one that "
            "was saved.");
  EXPECT_EQ(after(R"(\"class_name\": \"adam\")", R"(\"class_name\": \"adan\")"),
            ": its compile: compile: optimizer: optimizer: \"adan\" is no optimizer; expected one of \"adam\", \"adamw\".");
  EXPECT_TRUE(after(R"("compile":"{)", R"("compile":"[)").starts_with(": its compile: config: the text has no"));
  model.save(file_);
  rewrite([](std::string& header) {
    const size_t begin = header.find("\"architecture\""), end = header.find("\"compile\"", begin);
    std::string many;
    for (int i = 0; i < 50'000; ++i) many += ", \\\"Flatten\\\"";
    header.replace(
        begin, end - begin,
        "\"architecture\":\"{\\\"class_name\\\": \\\"Sequential\\\", \\\"config\\\": {\\\"layers\\\": [" + many.substr(2) + "]}}\",");
  });
  EXPECT_NE(refusal().find("layers: there are more than 1"), std::string::npos) << refusal();
  std::ofstream(file_) << "not a file of ours";
  EXPECT_NE(refusal().find("expected a whole safetensors file"), std::string::npos);
  EXPECT_NE(test::text_of<FormatError>([&] { load_model(folder_.path() / "none"); }).find("is no file that can be read"),
            std::string::npos);
}

}  // namespace
}  // namespace anyshape
