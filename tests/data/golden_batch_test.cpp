// The golden padded batches and buckets, as tf.data makes them.
#include "support/golden_values.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

std::vector<const GoldenCase*> batch_cases() {
  std::vector<const GoldenCase*> cases;
  for (const GoldenCase* golden : cases_of_kind("preprocess")) {
    if (golden->op == "padded_batch" || golden->op == "bucket_by_sequence_length") cases.push_back(golden);
  }
  return cases;
}

bool flag(const Json& attrs, const char* name) { return attrs.find(name) != nullptr && attrs[name].boolean(); }

Dataset batches_of(const GoldenCase& golden, const Dataset& data) {
  const Json& attrs = golden.attrs;
  if (golden.op != "padded_batch") {
    return data.bucket({.boundaries = attrs["boundaries"].integers(),
                        .batch_sizes = attrs["batch_sizes"].integers(),
                        .pad_to_boundary = flag(attrs, "pad_to_bucket_boundary")});
  }
  Shape shape;
  for (const Json& size : attrs["padded_shapes"].items()) shape.push_back(size.is_null() ? dynamic : Dim(size.integer()));
  const double value = attrs.find("padding_value") == nullptr ? 0 : attrs["padding_value"].number();
  return data.padded_batch(attrs["batch_size"].integer(),
                           {.shapes = {shape}, .value = value, .drop_remainder = flag(attrs, "drop_remainder")});
}

class GoldenBatch : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenBatch, agrees) {
  const GoldenCase& golden = *GetParam();
  const Tensor rows = ragged_from_splits(to_tensor(golden.inputs["x.values"]), to_tensor(golden.inputs["x.splits"]));
  size_t number = 0;
  for (const Example& batch : batches_of(golden, Dataset::from(rows))) {
    ASSERT_LT(number, golden.outputs.size());
    EXPECT_EQ(support::difference(to_golden(batch.x.single()), golden.outputs[std::to_string(number)], 0, 0), "") << "batch " << number;
    ++number;
  }
  EXPECT_EQ(number, golden.outputs.size());
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenBatch, testing::ValuesIn(batch_cases()), name_of_case);

}  // namespace
}  // namespace anyshape::test
