// Rows of unequal length are cut by sizes only: the same bits for any number of threads, compiled and interpreted.
#include "function/compile.h"
#include "function/same_bits.h"
#include "function/small_network.h"
#include "ops/segment_rows.h"
#include "runtime/pool.h"

namespace anyshape::test {
namespace {

std::vector<Tensor> rows_and_gradients(const Tensor& x, const Tensor& splits) {
  GradientTape tape;
  tape.watch(x);
  const Tensor weights = segment::softmax(x, splits), sums = segment::sum(weights * x, splits);
  const Tensor order = segment::sort(segment::cumsum(x, splits), splits);
  const Tensor total = sum(sums * sums) + sum(order * weights);
  return {weights, sums, order, tape.gradient(total, std::vector<Tensor>{x})[0]};
}

TEST(SegmentThreads, change_no_bit) {
  std::mt19937 host(5);
  for (const Lengths& lengths : {Lengths{40000, 0, 3, 20000, 17}, Lengths(3000, 7), Lengths{1, 0, 2}}) {
    for (const int64_t width : {1, 6}) {
      const std::vector<int64_t> shape =
          width == 1 ? std::vector<int64_t>{total_of(lengths)} : std::vector<int64_t>{total_of(lengths), width};
      const Tensor x = random_tensor(host, shape, f32), splits = splits_for(lengths);
      auto compiled = function([](Tensor a, Tensor b) { return rows_and_gradients(a, b); }, {.name = "compiled"});
      std::vector<std::vector<Tensor>> results;
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        results.push_back(compiled(x, splits));
      }
      if (total_of(lengths) < 25000) {
        const function_detail::ScopedInterpretation interpretation;
        auto interpreted = function([](Tensor a, Tensor b) { return rows_and_gradients(a, b); }, {.name = "interpreted"});
        results.push_back(interpreted(x, splits));
      }
      for (const std::vector<Tensor>& result : results) {
        for (size_t i = 0; i < result.size(); ++i) EXPECT_TRUE(same_bits(result[i], results[0][i])) << to_string(x.shape()) << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace anyshape::test
