// What models take as inputs: declared sizes and dtypes are held, a vector of numbers is a column, no rows give no rows.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using test::text_of;

const FitOptions silent{.verbose = Verbose::Silent};

// x * 2 + scale, where everything broadcasts.
Model declared(Dtype dtype = Dtype::f32) {
  const Tensor numbers = input({3}, {.name = "numbers", .dtype = dtype});
  Model model({.inputs = {numbers}, .outputs = {cast(numbers, Dtype::f32) * 2 + arange(3)}, .name = "plain"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

TEST(Inputs, declared_sizes_are_held) {
  Model model = declared();
  EXPECT_EQ(model.predict(ones({2, 3})).shape(), (Shape{2, 3}));
  const std::string text = "model \"plain\": input \"numbers\" is f32[2, 1]; expected f32[batch, 3], as declared by as::input().";
  EXPECT_EQ(text_of<ShapeError>([&] { model(ones({2, 1})); }), text);
  EXPECT_EQ(text_of<ShapeError>([&] { model.predict(ones({2, 1})); }), text);
  EXPECT_EQ(text_of<ShapeError>([&] { model.evaluate(ones({2, 1}), ones({2, 3})); }), text);
  EXPECT_EQ(text_of<ShapeError>([&] { model.fit(ones({2, 1}), ones({2, 3}), silent); }), text);
  EXPECT_EQ(text_of<ShapeError>([&] { model.fit(Dataset::from(ones({2, 1}), ones({2, 3})).batch(2), silent); }), text);
  EXPECT_NE(text_of<ShapeError>([&] { model(ones({2, 3, 1})); }).find("is f32[2, 3, 1]; expected f32[batch, 3]"), std::string::npos);
}

TEST(Inputs, declared_sizes_are_held_inside_a_trace) {
  const Model model = declared();
  auto call = function([&](Tensor x) { return model(x); }, {.name = "call"});
  EXPECT_EQ(call(ones({2, 3})).shape(), (Shape{2, 3}));
  for (const bool first : {false, true}) {
    auto fresh = function([&](Tensor x) { return model(x); }, {.name = "fresh"});
    const std::string text = text_of<ShapeError>([&] { first ? fresh(ones({2, 1})) : call(ones({2, 1})); });
    EXPECT_NE(text.find("input \"numbers\" of model \"plain\", declared as f32[batch, 3], has the sizes 3 and "), std::string::npos)
        << text;
  }
  EXPECT_EQ(call(ones({7, 3})).shape(), (Shape{7, 3}));
  EXPECT_EQ(call.stats().traces, 1);
}

TEST(Inputs, a_named_size_is_the_same_in_every_input) {
  const Dim width = dim("width");
  const Tensor a = input({width}, {.name = "a"}), b = input({width}, {.name = "b"});
  const Model model({.inputs = {a, b}, .outputs = {a + b}});
  EXPECT_EQ(model({ones({2, 4}), ones({2, 4})}).shape(), (Shape{2, 4}));
  EXPECT_EQ(text_of<ShapeError>([&] { model({ones({2, 4}), ones({2, 1})}); }),
            "model \"model\": input \"b\" is f32[2, 1]; expected f32[batch, width], as declared by as::input().");
}

TEST(Inputs, declared_kinds_of_dtypes_are_held) {
  EXPECT_EQ(text_of<DtypeError>([] { declared()(ones({2, 3}, {.dtype = Dtype::i32})); }),
            "model \"plain\": input \"numbers\" is i32[2, 3]; expected f32[batch, 3], as declared by as::input(). Cast it with as::cast(x, "
            "as::f32), or declare .dtype = as::i32.");
  EXPECT_EQ(text_of<DtypeError>([] { declared(Dtype::i32).predict(ones({2, 3})); }),
            "model \"plain\": input \"numbers\" is f32[2, 3]; expected i32[batch, 3], as declared by as::input(). Cast it with as::cast(x, "
            "as::i32), or declare .dtype = as::f32.");
  EXPECT_EQ(declared()(ones({2, 3}, {.dtype = Dtype::f64})).shape(), (Shape{2, 3}));
  EXPECT_EQ(declared(Dtype::i32)(ones({2, 3}, {.dtype = Dtype::i64})).shape(), (Shape{2, 3}));
}

TEST(Inputs, rows_of_unequal_length_stand_for_an_open_size_only) {
  const Tensor steps = input({dynamic, 2}, {.name = "steps"});
  const Model open({.inputs = {steps}, .outputs = {GlobalAveragePooling1D()(steps)}});
  const Tensor rows = ragged_from_rows({ones({3, 2}), ones({1, 2})}), wide = ragged_from_rows({ones({3, 1}), ones({1, 1})});
  EXPECT_EQ(open(rows).shape(), (Shape{2, 2}));
  EXPECT_NE(text_of<ShapeError>([&] { open(wide); }).find("input \"steps\" is "), std::string::npos);
  const Tensor four = input({4, 2});
  const Model closed({.inputs = {four}, .outputs = {GlobalAveragePooling1D()(four)}});
  EXPECT_NE(text_of<ShapeError>([&] { closed(rows); }).find("input 0 is "), std::string::npos);
}

TEST(Inputs, a_model_inside_a_sequential_holds_its_declaration) {
  const Model model = Sequential(declared(), Dense(1));
  EXPECT_NE(text_of<ShapeError>([&] { model.predict(ones({2, 1})); }).find("expected f32[batch, 3]"), std::string::npos);
  EXPECT_EQ(model.predict(ones({2, 3})).shape(), (Shape{2, 1}));
}

TEST(Inputs, a_vector_of_numbers_is_a_column) {
  const Tensor x = arange(6, {.dtype = Dtype::f32}), y = x * 2;
  Model model = Sequential(Dense(1, {.kernel_initializer = "ones"}));
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse"});
  model.fit(x, y, silent);
  EXPECT_EQ(model.layer("dense").weights()[0].shape(), (Shape{1, 1}));
  EXPECT_TRUE(all_equal(model.predict(x), reshape(x, {6, 1})));
  EXPECT_TRUE(all_equal(model.predict(x, {.batch_size = 4}), reshape(x, {6, 1})));
  EXPECT_EQ(model.evaluate(x, y)["loss"], model.evaluate(reshape(x, {6, 1}), reshape(y, {6, 1}))["loss"]);
  model.fit(Dataset::from(x, y).batch(4), silent);
  const Tensor in = input({1});
  const Model functional({.inputs = {in}, .outputs = {Dense(2)(in)}});
  EXPECT_EQ(functional.predict(x).shape(), (Shape{6, 2}));
  EXPECT_EQ(functional(x).shape(), (Shape{6, 2}));
  const Model ids = Sequential(Embedding(10, 4));  // ids are no numbers
  EXPECT_EQ(ids.predict(arange(6)).shape(), (Shape{6, 4}));
}

TEST(Inputs, no_rows_are_predicted_as_no_rows) {
  const Model fresh = Sequential(Dense(4, {.activation = "relu"}), Dense(2));
  EXPECT_EQ(fresh.predict(zeros({0, 3})).shape(), (Shape{0, 2}));
  EXPECT_EQ(fresh.predict(ones({5, 3})).shape(), (Shape{5, 2}));
  const Model built = Sequential(LSTM(3), Dense(2));
  EXPECT_EQ(built.predict(ones({2, 4, 3})).shape(), (Shape{2, 2}));
  EXPECT_EQ(built.predict(zeros({0, 4, 3}), {.batch_size = 1}).shape(), (Shape{0, 2}));
  EXPECT_EQ(declared().predict(zeros({0, 3})).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace anyshape
