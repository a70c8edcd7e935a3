// Rules meet attributes and constants that make no sense: each case, damaged, runs or is refused.
#include "onnx/case.h"
#include "onnx/make_model.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

namespace anyshape::onnx::test {
namespace {

// One field changed: sizes, axes and element types are small numbers, which stand in single bytes.
std::string damaged(std::string bytes, std::mt19937_64& random) {
  for (uint64_t changes = 1 + random() % 2; changes > 0 && !bytes.empty(); --changes) {
    char& byte = bytes[random() % bytes.size()];
    byte = random() % 2 == 0 ? static_cast<char>(random() % 32) : static_cast<char>(byte ^ (1 << (random() % 8)));
  }
  return bytes;
}

TEST(OnnxHostile, damaged_cases_run_or_are_refused) {
  const auto root = cases_folder();
  if (!root) GTEST_SKIP() << "the cases are not here: run tools/setup_onnx build/onnx, or name their folder by ANYSHAPE_ONNX";
  const char* const told = std::getenv("ANYSHAPE_DAMAGED_CASES");
  const int64_t wanted = told != nullptr ? std::atoll(told) : 400;
  const char* const only = std::getenv("ANYSHAPE_DAMAGED_CASE");  // one of them, by its number
  std::vector<std::filesystem::path> folders;
  for (const char* kind : {"node", "forms"}) {
    if (!std::filesystem::exists(*root / kind)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(*root / kind)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::mt19937_64 random(18);
  int64_t ran = 0, refused = 0;
  for (int64_t i = 0; i < wanted; ++i) {
    const std::filesystem::path& folder = folders[random() % folders.size()];
    const std::string bytes = damaged(bytes_of(folder / "model.onnx"), random);
    if (only != nullptr && i != std::atoll(only)) continue;
    if (std::getenv("ANYSHAPE_ONNX_TELL") != nullptr) std::cout << i << " " << folder.filename().string() << std::endl;
    try {
      const Network network(parse_model(bytes, "damaged.onnx"), "damaged.onnx", {}, {});
      std::vector<Value> inputs;
      for (size_t k = 0; k < network.inputs().size(); ++k) {
        const std::filesystem::path file = folder / fmt::format("input_{}.pb", k);
        inputs.push_back(std::filesystem::exists(file) ? read_value(file, network.inputs()[k].type) : Value());
      }
      static_cast<void>(network.run(inputs));
      ++ran;
    } catch (const InternalError& problem) {
      ADD_FAILURE() << folder.filename().string() << ", damaged as number " << i << ": " << problem.what();
    } catch (const Error&) {
      ++refused;
    }
  }
  if (only != nullptr) return;
  EXPECT_GT(ran, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace anyshape::onnx::test
