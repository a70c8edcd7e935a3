// The golden curves: whole training runs, step by step the same numbers as Keras.
#include "nn/notes.h"
#include "support/golden_values.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

Optimizer optimizer_of(const Json& attrs) {
  const std::string name = attrs["optimizer"]["class"].string();
  const Json& config = attrs["optimizer"]["config"];
  const double rate = config["learning_rate"].number();
  if (name == "SGD") return sgd({.learning_rate = rate});
  if (name == "Adam") return adam({.learning_rate = rate});
  return adamw({.learning_rate = rate, .weight_decay = config["weight_decay"].number()});
}

void expect_tensor(const GoldenCase& golden, const Tensor& got, const std::string& output) {
  EXPECT_EQ(support::difference(to_golden(cast(got, f32)), golden.outputs[output], golden.rtol, golden.atol), "") << output;
}

void expect_curve(const GoldenCase& golden, const std::vector<double>& got, const std::string& output) {
  const std::vector<float> values(got.begin(), got.end());
  expect_tensor(golden, tensor(values, {static_cast<int64_t>(values.size())}), output);
}

std::vector<Tensor> start_weights(const GoldenCase& golden) {
  std::vector<Tensor> weights;
  for (const auto& [name, value] : golden.weights) weights.push_back(cast(to_tensor(value), default_dtype()));
  return weights;
}

// The model's weights stand in the order of the golden ones.
void expect_weights(const GoldenCase& golden, const Model& model) {
  const std::vector<Tensor> weights = model.weights();
  ASSERT_EQ(weights.size(), golden.after.size());
  size_t next = 0;
  for (const auto& [name, wanted] : golden.after) {
    const Tensor& got = weights[next++];
    if (!golden.is_compared("after/" + name)) continue;
    EXPECT_EQ(support::difference(to_golden(cast(got, f32)), wanted, golden.rtol, golden.atol), "") << name;
  }
}

// One update per batch x0, y0, x1, ...; what each gives is the loss before it.
std::vector<double> train_on_batches(const GoldenCase& golden, Model model) {
  std::vector<double> losses;
  for (int step = 0; golden.inputs.find("x" + std::to_string(step)) != nullptr; ++step) {
    const std::string number = std::to_string(step);
    losses.push_back(model.train_on_batch(to_tensor(golden.inputs["x" + number]), to_tensor(golden.inputs["y" + number]))["loss"]);
  }
  return losses;
}

void run_mlp(const GoldenCase& golden, bool run_eagerly) {
  std::vector<AnyLayer> layers;
  for (size_t i = 0; i < golden.attrs["units"].items().size(); ++i) {
    const std::string activation = golden.attrs["activations"].items()[i].string();
    layers.push_back(Dense(golden.attrs["units"].items()[i].integer(), {.activation = activation}));
  }
  Model model = Sequential(layers);
  model(zeros({1, golden.attrs["features"].integer()}));
  model.set_weights(start_weights(golden));
  model.compile({.optimizer = optimizer_of(golden.attrs), .loss = "sparse_categorical_crossentropy", .run_eagerly = run_eagerly});
  expect_curve(golden, train_on_batches(golden, model), "loss");
  expect_weights(golden, model);
  expect_tensor(golden, model.predict(to_tensor(golden.inputs["x0"])), "prediction");
  if (!run_eagerly) {
    EXPECT_EQ(model.train_step().stats().traces, 1);
  }
}

void run_branch(const GoldenCase& golden, bool run_eagerly) {
  auto activation = [](const Tensor& x) {
    if (mean(x) > 0.5) return relu(x);
    return sigmoid(x);
  };
  Model model = Sequential(Dense(golden.attrs["hidden"].integer(), {.activation = activation}), Dense(golden.attrs["outputs"].integer()));
  model(zeros({1, 3}));
  model.set_weights(start_weights(golden));
  model.compile({.optimizer = optimizer_of(golden.attrs), .loss = "mse", .run_eagerly = run_eagerly});
  expect_curve(golden, train_on_batches(golden, model), "loss");
  expect_weights(golden, model);
  if (!run_eagerly) {
    EXPECT_EQ(model.train_step().stats().traces, 1);
  }
}

void run_fit(const GoldenCase& golden, bool run_eagerly) {
  const Json& attrs = golden.attrs;
  Model model =
      Sequential(Dense(attrs["hidden"].integer(), {.activation = "tanh"}), Dense(attrs["classes"].integer(), {.activation = "softmax"}));
  model(zeros({1, attrs["features"].integer()}));
  model.set_weights(start_weights(golden));
  model.compile({.optimizer = optimizer_of(attrs),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"},
                 .weighted_metrics = {"sparse_categorical_accuracy"},
                 .run_eagerly = run_eagerly});
  FitOptions options{.batch_size = attrs["batch_size"].integer(),
                     .epochs = attrs["epochs"].integer(),
                     .verbose = Verbose::Silent,
                     .validation_split = attrs["validation_split"].number(),
                     .shuffle = false};
  if (const Json* weights = attrs.find("class_weight")) {
    options.class_weight = {{0, (*weights)["0"].number()}, {1, (*weights)["1"].number()}};
  }
  if (golden.inputs.find("sample_weight") != nullptr) options.sample_weight = to_tensor(golden.inputs["sample_weight"]);
  const History history = model.fit(to_tensor(golden.inputs["x"]), to_tensor(golden.inputs["y"]), options);
  for (const auto& [name, wanted] : golden.outputs) {
    const std::string own = name == "wacc" ? "sparse_categorical_accuracy" : name == "val_wacc" ? "val_sparse_categorical_accuracy" : name;
    expect_curve(golden, history[own], name);
  }
  expect_weights(golden, model);
  if (!run_eagerly) {
    EXPECT_EQ(model.train_step().stats().traces, 1);
  }
}

// One loss and its gradients where probabilities saturate: the loss is computed from the logits.
void run_saturated(const GoldenCase& golden, bool run_eagerly) {
  const std::string activation = golden.attrs["activation"].string();
  Dense layer(golden.attrs["units"].integer(), {.activation = activation});
  layer.build({dim("batch"), golden.attrs["features"].integer()});
  layer.set_weights(start_weights(golden));
  const Loss loss = activation == "sigmoid" ? binary_crossentropy() : sparse_categorical_crossentropy();
  auto step = [&](Tensor x, Tensor y) {
    GradientTape tape;
    const Tensor prediction = layer(x);
    const Tensor value = loss(y, prediction);
    std::vector<Tensor> results = tape.gradient(value, layer.trainable_variables());
    results.push_back(value);
    results.push_back(prediction);
    return results;
  };
  const Tensor x = to_tensor(golden.inputs["x"]), y = to_tensor(golden.inputs["y"]);
  const std::vector<Tensor> results = run_eagerly ? step(x, y) : function(step, {.name = "step"})(x, y);
  size_t next = 0;
  for (const auto& [name, wanted] : golden.weight_gradients)
    EXPECT_EQ(support::difference(to_golden(results[next++]), wanted, golden.rtol, golden.atol), "") << name;
  expect_tensor(golden, results[next], "loss");
  expect_tensor(golden, results[next + 1], "prediction");
}

// Rows of unequal length: as they are, and padded and masked.
void run_rows(const GoldenCase& golden, bool run_eagerly, const std::function<Model()>& make, const Loss& loss, const std::string& output) {
  const Tensor ragged = ragged_from_splits(to_tensor(golden.inputs["ids.values"]), to_tensor(golden.inputs["ids.splits"]));
  const Tensor labels = to_tensor(golden.inputs["labels"]);
  for (const bool is_padded : {true, false}) {
    SCOPED_TRACE(is_padded ? "padded" : "ragged");
    Model model = make();
    const Tensor ids = is_padded ? to_padded(ragged) : ragged;
    model(ids);
    model.set_weights(start_weights(golden));
    model.compile({.optimizer = optimizer_of(golden.attrs), .loss = loss, .run_eagerly = run_eagerly});
    std::vector<double> losses;
    for (int64_t step = 0; step < golden.attrs["steps"].integer(); ++step) losses.push_back(model.train_on_batch(ids, labels)["loss"]);
    expect_curve(golden, losses, is_padded ? "loss_padded" : "loss_rows");
    expect_weights(golden, model);
    const Tensor result = model.predict(ids);
    expect_tensor(golden, result.shape()[-1].value() == 1 ? squeeze(result, {-1}) : result, output);
    if (!run_eagerly) {
      EXPECT_EQ(model.train_step().stats().traces, 1);
    }
  }
}

void run_lstm(const GoldenCase& golden, bool run_eagerly) {
  const Json& attrs = golden.attrs;
  const auto make = [&]() -> Model {
    return Sequential(Embedding(attrs["vocab"].integer(), attrs["dim"].integer(), {.mask_zero = true}), LSTM(attrs["units"].integer()),
                      Dense(1, {.activation = sigmoid}));
  };
  run_rows(golden, run_eagerly, make, "binary_crossentropy", "probabilities");
}

// Token and position embeddings, blocks of attention and two dense layers with the norm behind the sum, the mean over real steps.
class Encoder : public Layer {
 public:
  explicit Encoder(const Json& attrs)
      : token_(child(Embedding(attrs["vocab"].integer(), attrs["dim"].integer(), {.mask_zero = true}))),
        position_(child(Embedding(attrs["max_len"].integer(), attrs["dim"].integer()))) {
    for (int64_t block = 0; block < attrs["layers"].integer(); ++block) {
      attentions_.push_back(child(MultiHeadAttention(attrs["heads"].integer(), attrs["key_dim"].integer())));
      norms_.push_back(child(LayerNormalization()));
      denses_.push_back(child(Dense(attrs["ff"].integer(), {.activation = "gelu"})));
      denses_.push_back(child(Dense(attrs["dim"].integer())));
      norms_.push_back(child(LayerNormalization()));
    }
    denses_.push_back(child(Dense(attrs["classes"].integer())));
  }

  Tensor call(const Tensor& ids, const CallContext&) override {
    const Tensor positions = ids.is_ragged() ? row_positions(ids) : expand_dims(arange(ids.shape()[1]), 0);
    const Tensor token = token_(ids);
    Tensor x = nn::with_mask(token + position_(positions), nn::mask_of(token));
    for (size_t block = 0; block < attentions_.size(); ++block) {
      x = norms_[2 * block](sum_({x, attentions_[block](x)}));
      x = norms_[2 * block + 1](sum_({x, denses_[2 * block + 1](denses_[2 * block](x))}));
    }
    return denses_.back()(mean_(x));
  }

 private:
  Embedding token_, position_;
  std::vector<MultiHeadAttention> attentions_;
  std::vector<LayerNormalization> norms_;
  std::vector<Dense> denses_;
  Add sum_ = child(Add());
  GlobalAveragePooling1D mean_ = child(GlobalAveragePooling1D());
};

// In f64, as the reference ran: AdamW magnifies what rounding makes of a gradient near 0.
void run_transformer(const GoldenCase& golden, bool run_eagerly) {
  struct InDouble {
    InDouble() { set_default_dtype(f64); }
    ~InDouble() { set_default_dtype(f32); }
    InDouble(const InDouble&) = delete;
    InDouble& operator=(const InDouble&) = delete;
  } const in_double;
  const auto make = [&] { return Model(Encoder(golden.attrs)); };
  run_rows(golden, run_eagerly, make, sparse_categorical_crossentropy({.from_logits = true}), "logits");
}

// One block with a shortcut of its own, on batches of images of two sizes.
Model residual_network(const Json& attrs) {
  const int64_t filters = attrs["filters"].integer();
  const auto convolved = [&](const Tensor& x, int64_t factor, int64_t size, int64_t stride, const char* name, const char* norm) {
    const Conv2D layer(filters * factor, size, {.strides = stride, .padding = "same", .use_bias = false, .name = name});
    return BatchNormalization({.name = norm})(layer(x));
  };
  const Tensor image = input({dynamic, dynamic, 3});
  const Tensor stem = Activation("relu")(convolved(image, 1, 3, 1, "stem", "bn0"));
  const Tensor first = Activation("relu")(convolved(stem, 2, 3, 2, "conv1", "bn1"));
  const Tensor second = convolved(first, 2, 3, 1, "conv2", "bn2"), shortcut = convolved(stem, 2, 1, 2, "short", "bn3");
  const Tensor pooled = GlobalAveragePooling2D()(Activation("relu")(Add()({second, shortcut})));
  return Model({.inputs = {image}, .outputs = {Dense(attrs["classes"].integer(), {.name = "head"})(pooled)}});
}

void run_resnet(const GoldenCase& golden, bool run_eagerly) {
  Model model = residual_network(golden.attrs);
  model.set_weights(start_weights(golden));
  model.compile({.optimizer = sgd({.learning_rate = 0.05, .momentum = golden.attrs["optimizer"]["config"]["momentum"].number()}),
                 .loss = sparse_categorical_crossentropy({.from_logits = true}),
                 .run_eagerly = run_eagerly});
  expect_curve(golden, train_on_batches(golden, model), "loss");
  expect_weights(golden, model);
  expect_tensor(golden, model.predict(to_tensor(golden.inputs["x1"])), "logits_inference");
  if (!run_eagerly) {
    EXPECT_EQ(model.train_step().stats().traces, 1);
  }
}

class GoldenCurve : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenCurve, agrees_eagerly_and_compiled) {
  const GoldenCase& golden = *GetParam();
  const std::map<std::string, void (*)(const GoldenCase&, bool)> curves = {{"lstm", run_lstm},           {"mlp", run_mlp},
                                                                           {"branch", run_branch},       {"fit", run_fit},
                                                                           {"saturated", run_saturated}, {"transformer", run_transformer},
                                                                           {"resnet", run_resnet}};
  for (const bool run_eagerly : {false, true}) {
    SCOPED_TRACE(run_eagerly ? "eager" : "compiled");
    curves.at(golden.op)(golden, run_eagerly);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenCurve, testing::ValuesIn(cases_of_kind("curve")), name_of_case);

}  // namespace
}  // namespace anyshape::test
