// The golden files are there, whole, and read as written; and the comparison can tell.
#include "support/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

namespace anyshape::support {
namespace {

GoldenTensor floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {"F32", std::move(shape), {bytes.begin(), bytes.end()}};
}

GoldenTensor integers(std::vector<int64_t> shape, const std::vector<int32_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {"I32", std::move(shape), {bytes.begin(), bytes.end()}};
}

class Folder {  // a folder for one test, removed at its end
 public:
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const char* name, const std::string& text) const { std::ofstream(path / name, std::ios::binary) << text; }

  std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                               (std::string("anyshape_golden_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string safetensors(const std::string& header, const std::string& data) {
  uint64_t length = header.size();
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  return text + header + data;
}

constexpr const char* one_case = R"({"format": 1, "cases": [{"name": "n", "group": "g", "kind": "op", "file": "g.safetensors", "op": "o",
  "inputs": {"x": "n/in/x"}, "rtol": 1e-5, "atol": 0.0}]})";

TEST(Golden, every_case_of_the_repository_is_read) {
  const std::vector<GoldenCase>& cases = golden_cases();
  EXPECT_EQ(cases.size(), 625u + 31u) << "of the folder and of its corners";
  std::set<std::pair<std::string, std::string>> names;
  for (const GoldenCase& golden : cases) {
    EXPECT_TRUE(names.emplace(golden.group, golden.name).second) << golden.name << " twice";
    EXPECT_GE(golden.atol, 0.0);
    EXPECT_FALSE(golden.op.empty());
    EXPECT_TRUE(golden.kind != "op" || !golden.outputs.empty()) << golden.name;
    for (const auto& [name, gradient] : golden.gradients) {
      const GoldenTensor* input = golden.inputs.find(name);
      EXPECT_TRUE(golden.kind != "op" || (input && input->shape == gradient.shape)) << golden.name << ": gradient of " << name;
    }
  }
}

TEST(Golden, a_known_case_has_its_numbers) {
  const GoldenCase* row = nullptr;
  for (const GoldenCase* golden : golden_cases_of("add")) {
    if (golden->name == "add_row") row = golden;
  }
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inputs.begin()->first, "a");
  const std::vector<float> a = row->inputs["a"].values<float>(), b = row->inputs["b"].values<float>(),
                           out = row->outputs["0"].values<float>();
  ASSERT_EQ(out.size(), a.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], a[i] + b[i % b.size()], 1e-6);
}

TEST(Golden, an_unknown_op_is_an_error) {
  try {
    golden_cases_of("no_such_op");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "golden: no case of kind op for no_such_op");
  }
}

TEST(Golden, unspecified_tensors_are_known) {
  for (const GoldenCase* golden : golden_cases_of("maximum")) {
    EXPECT_EQ(golden->is_compared("grad/a"), golden->name != "maximum_tie") << golden->name;
  }
}

TEST(Golden, missing_or_damaged_files_are_errors) {
  const Folder folder;
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "no index";
  folder.write("index.json", one_case);
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "no tensors";
  folder.write("g.safetensors", safetensors(R"({"n/in/x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "abcd"));
  EXPECT_EQ(read_goldens(folder.path).at(0).inputs["x"].bytes.size(), 4u);
  folder.write("g.safetensors", safetensors(R"({"n/in/x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "abc"));
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "data too short";
  folder.write("g.safetensors", safetensors(R"({"n/in/x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", "abcd"));
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "shape and offsets differ";
  folder.write("g.safetensors", safetensors(R"({"other": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "abcd"));
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "the tensor is not there";
  folder.write("g.safetensors", std::string(4, '\xff'));
  EXPECT_THROW(read_goldens(folder.path), std::runtime_error) << "no header";
}

TEST(Golden, difference_follows_the_tolerances) {
  const GoldenTensor want = floats({2}, {100.0f, 1.0f});
  EXPECT_EQ(difference(floats({2}, {100.0f, 1.0f}), want, 0, 0), "");
  EXPECT_EQ(difference(floats({2}, {100.5f, 1.0f}), want, 0.01, 0), "");
  EXPECT_NE(difference(floats({2}, {100.0f, 1.5f}), want, 0.01, 0), "");
  EXPECT_EQ(difference(floats({2}, {100.0f, 1.5f}), want, 0.01, 0.5), "");
  const std::vector<int64_t> second = {1};
  EXPECT_EQ(difference(floats({2}, {100.0f, 1.5f}), want, 0.01, 0, second), "");
  EXPECT_EQ(difference(floats({2}, {99.0f, 1.0f}), want, 0, 0), "element 0 of F32[2] is 99, expected 100 (rtol 0, atol 0)");
}

TEST(Golden, difference_sees_dtype_shape_and_special_values) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(difference(floats({2}, {1, 2}), floats({1, 2}, {1, 2}), 1, 1), "is F32[2], expected F32[1, 2]");
  EXPECT_NE(difference(floats({1}, {1}), integers({1}, {1}), 1, 1), "");
  EXPECT_NE(difference(integers({1}, {1}), integers({1}, {2}), 1, 1), "") << "integers must be equal";
  EXPECT_EQ(difference(floats({3}, {nan, infinity, -infinity}), floats({3}, {nan, infinity, -infinity}), 0, 0), "");
  EXPECT_NE(difference(floats({1}, {nan}), floats({1}, {1}), 1, 1), "");
  EXPECT_NE(difference(floats({1}, {1}), floats({1}, {nan}), 1, 1), "");
  EXPECT_NE(difference(floats({1}, {-infinity}), floats({1}, {infinity}), 1, 1), "");
  EXPECT_NE(difference(floats({1}, {3e38f}), floats({1}, {infinity}), 1, 1), "");
  EXPECT_EQ(difference(floats({0, 3}, {}), floats({0, 3}, {}), 0, 0), "");
}

}  // namespace
}  // namespace anyshape::support
