// onnx::save: what it refuses and how it says so, and that a file is whole or not there. Numbers are compared in ONNX Runtime by check_export.py.
#include <anyshape/anyshape.h>
#include <anyshape/onnx_export.h>

#include "onnx/out/rule.h"
#include "ops/all_ops.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace anyshape {
namespace {

class OnnxExport : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "model.onnx";

  template <class Save>
  std::string refusal(const Save& save) {
    try {
      save();
    } catch (const ArgumentError& error) {
      EXPECT_FALSE(std::filesystem::exists(file));
      return error.what();
    }
    return "it is saved";
  }
  std::string bytes() const {
    std::ifstream in(file, std::ios::binary);
    return (std::ostringstream() << in.rdbuf()).str();
  }
};

TEST(OnnxExportRules, every_op_has_a_form_or_a_reason) {
  for (const OpDef* op : all_ops()) {
    const onnx::out::Rule* const rule = onnx::out::find_rule(op->name);
    ASSERT_NE(rule, nullptr) << op->name;
    EXPECT_NE(rule->write == nullptr, rule->reason.empty()) << op->name;
  }
}

const TensorSpec rows_of_four = spec(f32, {dim("batch"), 4}, "x");

Sequential built_model() {
  Sequential model(Dense(3, {.activation = "relu", .name = "first"}), Dense(2, {.name = "second"}));
  model(zeros({1, 4}));
  return model;
}

TEST_F(OnnxExport, holds_the_names_of_weights_inputs_and_sizes) {
  onnx::save(built_model(), file, {.inputs = {rows_of_four}, .outputs = {"score"}});
  const std::string text = bytes();
  for (const char* name : {"first/kernel", "second/bias", "batch", "score", "anyshape", "Relu"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST_F(OnnxExport, writes_the_same_bytes_again) {
  const Sequential model = built_model();
  onnx::save(model, file, {.inputs = {rows_of_four}});
  const std::string first = bytes();
  onnx::save(model, file, {.inputs = {rows_of_four}});
  EXPECT_EQ(bytes(), first);
}

TEST_F(OnnxExport, takes_a_function_by_its_signature_and_leaves_its_ledger_alone) {
  const auto twice = function([](Tensor x) { return x * 2; }, {.name = "twice", .signature = {rows_of_four}});
  onnx::save(twice, file);
  EXPECT_EQ(twice.stats().traces, 0);
  EXPECT_NE(bytes().find("batch"), std::string::npos);
}

TEST_F(OnnxExport, writes_recurrent_layers_as_onnx_has_them) {
  Sequential model(LSTM(3, {.return_sequences = true}), GRU(3, {.return_sequences = true}), SimpleRNN(3), Dense(1));
  model(zeros({1, 2, 4}));
  onnx::save(model, file, {.inputs = {spec(f32, {dim("batch"), dim("time"), 4}, "x")}});
  const std::string text = bytes();
  for (const std::string op : {"LSTM", "GRU", "RNN"})
    EXPECT_NE(text.find('"' + std::string(1, static_cast<char>(op.size())) + op), std::string::npos) << op;  // field 4 of a node: its op
  EXPECT_EQ(text.find("Scan"), std::string::npos);
}

TEST_F(OnnxExport, names_every_op_without_a_form_at_once) {
  const auto noisy = function(
      [](Tensor x) {
        const Tensor drawn = x + random::normal(x.shape()) + random::normal(x.shape());
        return drawn * random::uniform(x.shape());
      },
      {.name = "noisy", .signature = {rows_of_four}});
  EXPECT_EQ(refusal([&] { onnx::save(noisy, file); }),
            "onnx::save: function \"noisy\": some of its ops have no form in ONNX: random::normal (2 times): it draws random numbers, and "
            "ONNX's would be others; random::uniform "
            "(once): it draws random numbers, and ONNX's would be others. docs/guide/onnx_export.md lists what has; save the part of the "
            "model before these, or "
            "compute them behind it.");
}

TEST_F(OnnxExport, refuses_a_training_step) {
  const Variable weight(zeros({4}), {.name = "weight"});
  const auto step = function(
      [&](Tensor x) {
        weight.assign_add(sum(x, {.axis = 0}));
        return sum(x);
      },
      {.name = "step", .signature = {rows_of_four}});
  EXPECT_EQ(refusal([&] { onnx::save(step, file); }),
            "onnx::save: function \"step\": it assigns variable \"weight\"; expected what gives results and changes nothing: an ONNX file "
            "holds no training step. "
            "Save the model that it trains.");
}

TEST_F(OnnxExport, refuses_a_model_that_is_not_built) {
  EXPECT_EQ(refusal([&] { onnx::save(Sequential(Dense(2, {.name = "d"})), file, {.inputs = {rows_of_four}}); }).substr(0, 12),
            "onnx::save: ");
  EXPECT_NE(refusal([&] {
              onnx::save(Dense(2, {.name = "d"}), file, {.inputs = {rows_of_four}});
            }).find("\"d\": it is not built; expected one that has its weights. Call it once on data, or its build()."),
            std::string::npos);
  EXPECT_EQ(refusal([&] { onnx::save(AnyLayer(), file); }), "onnx::save: the model is an empty handle; expected a model or layer.");
}

TEST_F(OnnxExport, asks_what_a_model_takes) {
  EXPECT_NE(refusal([&] {
              onnx::save(built_model(), file);
            }).find("nothing says what it takes; expected a model with as::input(), or .inputs = "),
            std::string::npos);
  const auto open = function([](Tensor x) { return x; }, {.name = "open"});
  EXPECT_EQ(refusal([&] { onnx::save(open, file); }),
            "onnx::save: function \"open\": it has no signature; expected one, .inputs in the options, or examples of the arguments behind "
            "the options.");
}

TEST_F(OnnxExport, tells_the_sizes_that_it_tried) {
  EXPECT_EQ(refusal([&] { onnx::save(built_model(), file, {.inputs = {spec(f32, {dim("batch"), dim("features")}, "x")}}); }),
            "onnx::save: Sequential \"sequential\": it was tried with batch = 64, features = 64, and refuses that: matmul: inner sizes "
            "differ: a is f32[batch, features], b is f32[4, 3] with features = 64; expected a.shape[-1] == b.shape[-2]. In layer "
            "\"sequential/first\". In function \"sequential\". Write sizes that are fixed as numbers, and give a range to those that have "
            "one: as::dim(\"time\", {.max = 32}).");
}

TEST_F(OnnxExport, refuses_names_and_opsets_that_do_not_fit) {
  const auto pair = function([](Tensor x) { return std::vector{x, x + 1}; }, {.name = "pair", .signature = {rows_of_four}});
  const auto with = [&](onnx::SaveOptions options) { return refusal([&] { onnx::save(pair, file, options); }); };
  EXPECT_EQ(with({.outputs = {"one"}}), "onnx::save: function \"pair\": it has 2 results and .outputs 1 name; expected one for each.");
  EXPECT_EQ(with({.outputs = {"a", "a"}}),
            "onnx::save: function \"pair\": two results are called \"a\"; expected a name of its own for each.");
  EXPECT_EQ(
      with({.outputs = {"a", "x"}}),
      "onnx::save: function \"pair\": \"x\" is the name of two inputs, or of an input and a result; expected a name of its own for each.");
  EXPECT_EQ(with({.outputs = {"a", ""}}),
            "onnx::save: function \"pair\": the name of a result is empty; expected one that a runtime can ask for.");
  EXPECT_EQ(with({.opset = 17}), "onnx::save: function \"pair\": the opset is 17; expected 18 to 21.");
  EXPECT_EQ(with({.inputs = {rows_of_four, rows_of_four}}),
            "onnx::save: function \"pair\": it takes 1 tensors, and 2 are described; expected one spec for each.");
}

TEST_F(OnnxExport, leaves_what_was_there_where_it_refuses) {
  const std::filesystem::path before = folder.path() / "before.onnx";
  std::ofstream(before) << "kept";
  const auto noisy = function([](Tensor x) { return x + random::normal(x.shape()); }, {.name = "noisy", .signature = {rows_of_four}});
  EXPECT_THROW(onnx::save(noisy, before), ArgumentError);
  std::ifstream in(before);
  EXPECT_EQ((std::ostringstream() << in.rdbuf()).str(), "kept");
  EXPECT_THROW(onnx::save(built_model(), folder.path() / "nowhere" / "model.onnx", {.inputs = {rows_of_four}}), ArgumentError);
}

}  // namespace
}  // namespace anyshape
