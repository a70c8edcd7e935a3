// Every node test case of ONNX and the cases of its test data: none is wrong, and as many pass as docs/onnx.md says.
#include "onnx/case.h"
#include "onnx/proto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>

namespace anyshape::onnx::test {
namespace {

struct Count {
  int passed = 0, eagerly = 0, unsupported = 0, wrong = 0;
  std::map<std::string, int> reasons = {};
};

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& root) {
  const char* const part = std::getenv("ANYSHAPE_ONNX_CASE");  // only those whose names hold it
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (part == nullptr || entry.path().filename().string().find(part) != std::string::npos) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

// Under a sanitizer a part of the cases, evenly: ANYSHAPE_TEST_PERCENT of them.
int64_t share() {
  const char* const percent = std::getenv("ANYSHAPE_TEST_PERCENT");
  return percent != nullptr ? std::clamp<int64_t>(std::atoll(percent), 1, 100) : 100;
}
bool is_in_share(int64_t number) { return (number + 1) * share() / 100 > number * share() / 100; }

Count run_all(const std::string& kind) {
  Count count;
  const bool tells = std::getenv("ANYSHAPE_ONNX_TELL") != nullptr;  // every outcome, as tools/onnx_table reads them
  const auto root = cases_folder();
  if (!root) return count;
  int64_t number = 0;
  for (const auto& folder : folders_in(*root / kind)) {
    if (!std::filesystem::exists(folder / "model.onnx")) continue;
    if (!is_in_share(number++)) continue;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run_case(folder);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (taken.count() > 1) std::cout << "slow " << folder.filename().string() << ": " << taken.count() << " s\n";
    switch (outcome.kind) {
      case Outcome::Kind::Passed:
        ++count.passed;
        if (tells) std::cout << "passed " << folder.filename().string() << "\n";
        break;
      case Outcome::Kind::PassedEagerly:
        ++count.eagerly;
        if (tells) std::cout << "eagerly " << folder.filename().string() << "\n";
        break;
      case Outcome::Kind::Unsupported:
        ++count.unsupported;
        if (tells) std::cout << "unsupported " << folder.filename().string() << ": " << outcome.reason << "\n";
        break;
      case Outcome::Kind::Wrong: ++count.wrong; std::cout << "wrong " << folder.filename().string() << ": " << outcome.reason << "\n";
    }
  }
  std::cout << kind << ": " << count.passed << " passed, " << count.eagerly << " passed eagerly, " << count.unsupported
            << " not supported, " << count.wrong << " wrong\n";
  return count;
}

#define SKIP_WITHOUT_CASES() \
  if (!cases_folder()) GTEST_SKIP() << "the cases are not here: run tools/setup_onnx build/onnx, or name their folder by ANYSHAPE_ONNX"

TEST(OnnxCases, no_node_case_is_wrong) {
  SKIP_WITHOUT_CASES();
  const Count count = run_all("node");
  EXPECT_EQ(count.wrong, 0);
  if (share() == 100 && std::getenv("ANYSHAPE_ONNX_CASE") == nullptr) {
    EXPECT_GE(count.passed, 1300) << "of those that are traced";
    EXPECT_GE(count.passed + count.eagerly, 1700);
  }
}

TEST(OnnxCases, no_case_of_the_test_data_is_wrong) {
  SKIP_WITHOUT_CASES();
  for (const char* kind : {"pytorch-converted", "pytorch-operator", "simple"}) EXPECT_EQ(run_all(kind).wrong, 0) << kind;
}

TEST(OnnxCases, older_forms_and_ops_of_onnx_runtime_agree_with_it) {
  SKIP_WITHOUT_CASES();
  const Count count = run_all("forms");
  EXPECT_EQ(count.wrong, 0);
  EXPECT_EQ(count.unsupported, 0);
}

TEST(OnnxCases, light_models_agree_with_onnx_runtime) {
  SKIP_WITHOUT_CASES();
  EXPECT_EQ(run_all("light").wrong, 0);
}

}  // namespace
}  // namespace anyshape::onnx::test
