// Golden cases of a kind as parameters of a test.
#pragma once
#include "support/golden.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::test {

inline std::vector<const support::GoldenCase*> cases_of_kind(std::string_view kind) {
  std::vector<const support::GoldenCase*> found;
  for (const support::GoldenCase& golden : support::golden_cases()) {
    if (golden.kind == kind) found.push_back(&golden);
  }
  return found;
}

inline std::string name_of_case(const testing::TestParamInfo<const support::GoldenCase*>& info) {
  std::string name = info.param->name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

}  // namespace anyshape::test
