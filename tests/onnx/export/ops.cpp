// Every sample of every op.
#include "check/sample_calls.h"
#include "onnx/export/case_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::test {
namespace {

constexpr int most_cases = 3, calls_each = 5, tries = 12;

// Without what runtimes differ in: numbers that are not finite, so small that we take them for 0, or beyond the range of an integer that they are cast to.
Tensor plain(const Tensor& x) {
  if (!is_floating(x.dtype())) return x;
  const Tensor size = abs(x), is_plain = logical_and(is_finite(x), size < 1000.0f);
  return row_major(where(is_plain, where(size < 1e-4f, zeros_like(x), x), full(x.shape(), 1.5f, {.dtype = x.dtype()})));
}

void write(CaseWriter& writer, const check::OpSample& sample, Dtype dtype, int number) {
  check::Random random(1000 + static_cast<uint64_t>(number));
  std::vector<std::vector<Tensor>> calls;
  std::vector<int> ranks;
  for (int attempt = 0; attempt < tries && static_cast<int>(calls.size()) < calls_each; ++attempt) {
    std::vector<Tensor> inputs = check::draw_inputs(sample, random, dtype, number, false);
    std::ranges::transform(inputs, inputs.begin(), plain);
    std::vector<int> own;
    for (const Tensor& input : inputs) own.push_back(input.rank());
    if (calls.empty()) ranks = own;
    if (own == ranks) calls.push_back(std::move(inputs));
  }
  const std::string name = fmt::format("op {} {} {}", sample.name, to_string(dtype), number);
  writer.write(
      name,
      [&](const std::vector<Tensor>& inputs) {
        std::vector<Tensor> results = sample.call(inputs, number);
        for (Tensor& result : results) result = result.dtype() == Dtype::bf16 ? cast(result, Dtype::f32) : result;  // Python has no bf16
        return results;
      },
      calls);
}

}  // namespace

void write_ops(CaseWriter& writer) {
  for (const check::OpSample& sample : check::all_samples()) {
    for (const Dtype dtype : sample.dtypes) {
      if (dtype == Dtype::f64 && sample.dtypes.size() > 1) continue;  // as f32
      const int cases = dtype == sample.dtypes.front() ? std::min(sample.cases, most_cases) : 1;
      for (int number = 0; number < cases; ++number) write(writer, sample, dtype, number);
    }
  }
}

}  // namespace anyshape::test
