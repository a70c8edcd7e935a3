// Every op on ragged rows: it works, or its error begins with the name of what was called. Samples are called with their inputs as the
// values of rows.
#include "check/sample_calls.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::check {
namespace {

// The input's first axis cut into rows, some of them empty.
Tensor in_rows(const Tensor& values) {
  const int64_t total = values.shape()[0].value();
  return ragged_from_lengths(values, tensor({total / 2, int64_t{0}, total - total / 2}));
}

// What an error may begin with: the name of the function or of an op of it, `argmax` or `segment_argmax`. Some samples compute with shapes or
// make rows themselves before they come to their op.
bool names_itself(const OpSample& sample, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (name == "Dim") return sample.name == "reshape" || sample.name == "arange" || sample.name == "seeded_uniform";
  if (name == "expand_dims" && sample.name == "scatter_update") return true;
  if (name == "ragged_from_splits") return true;
  return sample.name.find(name) != std::string::npos || name.ends_with("_" + sample.name) ||
         std::ranges::find(sample.ops, name) != sample.ops.end();
}

void call_with_rows(const OpSample& sample, int number, const std::vector<Tensor>& inputs) {
  try {
    static_cast<void>(call_of(sample, number)(inputs));
  } catch (const InternalError& error) {
    ADD_FAILURE() << sample.name << ": " << error.what();
  } catch (const Error& error) {
    EXPECT_TRUE(names_itself(sample, error.what())) << sample.name << " says: " << error.what();
  }
}

// Segment ops take values and splits apart, dense ones; their samples make the splits themselves.
std::vector<std::string> segment_names() {
  std::vector<std::string> names;
  for (const auto& family : {segment_reduce_samples(), segment_row_samples(), segment_partition_samples()}) {
    for (const OpSample& sample : family) names.push_back(sample.name);
  }
  return names;
}

TEST(RaggedCalls, every_op_works_or_names_itself) {
  int calls = 0;
  const std::vector<std::string> segments = segment_names();
  for (const OpSample& sample : all_samples()) {
    if (std::ranges::find(segments, sample.name) != segments.end()) continue;
    for (int number = 0; number < sample.cases; ++number) {
      Random random(77 + static_cast<uint64_t>(number));
      random.elements = 60;
      const std::vector<Tensor> dense = draw_inputs(sample, random, sample.dtypes[0], number, false);
      // i64 inputs are lengths.
      const auto can_be_rows = [](const Tensor& input) { return input.rank() > 0 && input.rank() < max_rank && input.dtype() != i64; };
      std::vector<Tensor> first = dense, all = dense;
      const auto found = std::ranges::find_if(dense, can_be_rows);
      if (found == dense.end()) continue;
      first[static_cast<size_t>(found - dense.begin())] = in_rows(*found);
      for (Tensor& input : all) input = can_be_rows(input) ? in_rows(input) : input;
      call_with_rows(sample, number, first);
      call_with_rows(sample, number, all);
      calls += 2;
    }
  }
  EXPECT_GT(calls, 400);
}

}  // namespace
}  // namespace anyshape::check
