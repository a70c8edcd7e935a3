// Errors name the layer they come from: where a call fails at once, where a later call fails a check, and in the middle of a run.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

struct Encoder : Layer {
  AnyLayer inner = child(Dense(3, {.name = "inner"}));
  Tensor call(const Tensor& x, const CallContext&) override { return inner(x); }
};

TEST(Place, a_refused_op_names_the_layer) {
  const Dense layer(3, {.name = "head"});
  layer.build({1, 4});
  const std::string text = text_of<ShapeError>([&] { layer(ones({2, 5})); });
  EXPECT_NE(text.find("matmul: inner sizes differ"), std::string::npos) << text;
  EXPECT_NE(text.find(R"( In layer "head".)"), std::string::npos) << text;
}

TEST(Place, layers_inside_layers_are_a_path) {
  const AnyLayer encoder = layer(Encoder());
  encoder(ones({2, 4}));
  const std::string text = text_of<ShapeError>([&] { encoder(ones({2, 5})); });
  EXPECT_NE(text.find(R"(In layer "encoder/inner".)"), std::string::npos) << text;
}

TEST(Place, a_check_that_a_later_call_fails_remembers_it) {
  const Dense layer(3, {.name = "head"});
  layer.build({1, 4});
  auto traced = function([&](Tensor x) { return layer(x); }, {.name = "score"});
  traced(ones({2, 4}));
  const std::string text = text_of<ShapeError>([&] { traced(ones({2, 5})); });
  EXPECT_NE(text.find(R"(In layer "head". In function "score".)"), std::string::npos) << text;
  const std::string first = text_of<ShapeError>([&] {
    auto other = function([&](Tensor x) { return layer(x); }, {.name = "score"});
    other(ones({2, 5}));
  });
  EXPECT_NE(first.find(R"(In layer "head".)"), std::string::npos) << first;
}

TEST(Place, outside_layers_nothing_is_said) {
  const Tensor a = ones({2, 5}), b = ones({4, 3});
  const std::string text = text_of<ShapeError>([&] { matmul(a, b); });
  EXPECT_EQ(text.find("In layer"), std::string::npos) << text;
}

TEST(Place, an_id_outside_the_vocabulary_names_the_layer_eagerly_and_traced) {
  const Embedding layer(10, 2, {.name = "words"});
  auto traced = function([&](Tensor ids) { return layer(ids); }, {.name = "look_up"});
  traced(tensor({{1, 2}}));
  for (const int32_t id : {10, -1, 1 << 30}) {
    const Tensor wrong = tensor({{0, id, 0}}), rows = ragged<int32_t>({{1}, {2, id}});
    for (const Tensor& ids : {wrong, rows}) {
      const std::string number = std::to_string(id);
      for (const std::string& text : {text_of<DataError>([&] { layer(ids); }), text_of<DataError>([&] { traced(ids); })}) {
        EXPECT_NE(text.find("index " + number + " at position"), std::string::npos) << text;
        EXPECT_NE(text.find("expected 0 <= index < 10."), std::string::npos) << text;
        EXPECT_NE(text.find(R"(In layer "words".)"), std::string::npos) << text;
      }
    }
  }
}

TEST(Place, ragged_rows_that_a_layer_cannot_take_name_it) {
  const std::string text = text_of<ShapeError>([] { Flatten({.name = "flat"})(ragged<float>({{1, 2}, {3}})); });
  EXPECT_NE(text.find(R"(Flatten: x is f32[2, (1..2)]; expected a dense tensor.)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(In layer "flat".)"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyshape::test
