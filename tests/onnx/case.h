// A test case of ONNX as tools/setup_onnx writes it: a model, inputs, and what it must give.
#pragma once
#include "onnx/network.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace anyshape::onnx::test {

// Where the cases are: $ANYSHAPE_ONNX, or build/onnx of the tree. None where they have not been fetched.
std::optional<std::filesystem::path> cases_folder();

struct Outcome {
  enum class Kind : uint8_t { Passed, PassedEagerly, Unsupported, Wrong };
  Kind kind = Kind::Passed;
  std::string reason;  // of the last two
};

std::string bytes_of(const std::filesystem::path& file);
Value read_value(const std::filesystem::path& file, const TypeProto& type);
// Empty where they agree.
std::string difference(const Value& got, const Value& expected, double relative, double absolute);

// Runs the case in this folder through function(); eagerly where sizes are data.
Outcome run_case(const std::filesystem::path& folder);

}  // namespace anyshape::onnx::test
