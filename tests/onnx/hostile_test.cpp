// Damaged ONNX files: each is read or refused, and none asks for much more memory than it has.
#include "onnx/case.h"
#include "onnx/make_model.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace anyshape::onnx::test {
namespace {

int64_t files_to_try() {
  const char* const told = std::getenv("ANYSHAPE_FUZZ_FILES");
  return told != nullptr ? std::atoll(told) : 3000;
}

std::vector<std::string> samples() {
  const GraphParts body{.nodes = {node("Relu", {"a"}, {"b"})}, .outputs = {value_info("b", {"n"})}};
  std::vector<std::string> all = {
      model_bytes(
          {.nodes = {node("Conv", {"x", "w"}, {"c"}, {.integers = {{"pads", {1, 1, 1, 1}}}}),
                     node("BatchNormalization", {"c", "s", "s", "s", "s"}, {"n"}),
                     node("Transpose", {"n"}, {"t"}, {.integers = {{"perm", {0, 2, 3, 1}}}}), node("Shape", {"t"}, {"sizes"}),
                     node("Slice", {"sizes", "zero", "two"}, {"some"}), node("ReduceProd", {"some"}, {"p"}),
                     node("Reshape", {"t", "p"}, {"y"})},
           .initializers = {tensor_proto("w", {2, 1, 3, 3}, std::vector<float>(18, 0.5F)), tensor_proto("s", {2}, std::vector<float>{1, 2}),
                            tensor_proto("zero", {1}, std::vector<int64_t>{0}), tensor_proto("two", {1}, std::vector<int64_t>{2})},
           .inputs = {value_info("x", {"n", "1", "h", "w"})},
           .outputs = {value_info("y", {"m"})}}),
      model_bytes(
          {.nodes = {node("If", {"which"}, {"y"}, {.graphs = {{"then_branch", graph_proto(body)}, {"else_branch", graph_proto(body)}}}),
                     node("Expand", {"one", "big"}, {"z"}), node("ConstantOfShape", {"big"}, {"q"}), node("Add", {"z", "q"}, {"a"})},
           .initializers = {tensor_proto("big", {2}, std::vector<int64_t>{30, 40}), tensor_proto("one", {1}, std::vector<float>{1})},
           .inputs = {value_info("which", {}, 9)},
           .outputs = {value_info("y", {"n"}), value_info("a", {"n"})}})};
  if (const auto folder = cases_folder()) {
    for (const char* name : {"test_lstm_defaults", "test_loop13_seq", "test_scan9_sum", "test_if_opt", "test_resize_upsample_scales_linear",
                             "test_gelu_default_1_expanded", "test_quantizelinear_axis", "test_sequence_map_add_1_sequence_1_tensor"}) {
      std::string bytes = bytes_of(*folder / "node" / name / "model.onnx");
      if (!bytes.empty()) all.push_back(std::move(bytes));
    }
  }
  return all;
}

std::string damaged(std::string bytes, const std::vector<std::string>& others, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % std::max<size_t>(n, 1)); };
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.insert(at, 1 + below(9), static_cast<char>(below(2) == 0 ? 0xFF : random())); break;
      case 4: bytes.erase(at, 1 + below(8)); break;
      default: {
        const std::string& other = others[below(others.size())];
        const size_t from = below(other.size());
        bytes.replace(at, below(32), other.substr(from, below(64)));
      }
    }
  }
  return bytes;
}

TEST(OnnxHostile, damaged_files_are_read_or_refused) {
  const std::vector<std::string> whole = samples();
  std::mt19937_64 random(20261120);
  int64_t loaded = 0, refused = 0;
  for (int64_t i = 0; i < files_to_try(); ++i) {
    const std::string bytes = damaged(whole[static_cast<size_t>(i) % whole.size()], whole, random);
    try {
      const Network network(parse_model(bytes, "damaged.onnx"), "damaged.onnx", {}, {});
      ++loaded;
    } catch (const InternalError& problem) {
      ADD_FAILURE() << "file " << i << ": " << problem.what();
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(loaded, 0);
  EXPECT_GT(refused, 0);
}

TEST(OnnxHostile, constants_that_are_far_larger_than_the_file_are_not_made) {
  const std::string bytes = model_bytes({.nodes = {node("ConstantOfShape", {"big"}, {"q"}), node("Add", {"q", "x"}, {"y"})},
                                         .initializers = {tensor_proto("big", {2}, std::vector<int64_t>{1 << 20, 1 << 20})},
                                         .inputs = {value_info("x", {"n"})},
                                         .outputs = {value_info("y", {"n", "m"})}});
  EXPECT_NO_THROW(Network(parse_model(bytes, "big.onnx"), "big.onnx", {}, {}));
}

TEST(OnnxHostile, graphs_inside_graphs_have_an_end) {
  WireWriter graph = graph_proto({.nodes = {node("Relu", {"x"}, {"y"})}, .outputs = {value_info("y", {"n"})}});
  for (int i = 0; i < 200; ++i) {
    graph =
        graph_proto({.nodes = {node("If", {"x"}, {"y"}, {.graphs = {{"then_branch", graph}, {"else_branch", graph_proto({.nodes = {}})}}})},
                     .outputs = {value_info("y", {"n"})}});
  }
  WireWriter model;
  model.message(7, graph);
  EXPECT_THROW(parse_model(model.bytes(), "deep.onnx"), FormatError);
}

}  // namespace
}  // namespace anyshape::onnx::test
