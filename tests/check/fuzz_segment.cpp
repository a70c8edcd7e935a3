// Fuzzed segment ops: splits that fit the values, and splits that are wrong in every way.
#include "check/fuzz_table.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <limits>

namespace anyshape::check {
namespace {

using In = std::span<const Tensor>;
using Out = std::vector<Tensor>;

// Mostly sorted cuts between 0 and the number of values; sometimes one of them is anything, or the whole is no vector of integers.
Tensor splits_for(FuzzBytes& bytes, int64_t total) {
  std::vector<int64_t> splits = {0, total};
  for (int64_t cuts = bytes.below(6); cuts > 0; --cuts) splits.push_back(total == 0 ? 0 : bytes.below(std::min<int64_t>(total + 1, 256)));
  std::ranges::sort(splits);
  if (bytes.chance(10)) splits = {0};
  if (bytes.chance(20)) {
    const std::vector<int64_t> anything = {
        -1, 1, total + 1, int64_t{1} << 40, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    splits[static_cast<size_t>(bytes.below(static_cast<int64_t>(splits.size())))] = bytes.pick(anything);
  }
  const Tensor result = tensor(splits, {static_cast<int64_t>(splits.size())});
  bytes.say("splits " + to_string(result));
  if (bytes.chance(80)) return result;
  return bytes.chance(50) ? cast(result, i32) : bytes.tensor();
}

int64_t total_of(const Tensor& x) { return x.defined() && x.rank() > 0 ? x.shape()[0].value() : 0; }

template <Tensor (*op)(const Tensor&, const Tensor&)>
FuzzCall rows(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  return {{x, splits_for(bytes, total_of(x))}, [](In in) { return Out{op(in[0], in[1])}; }};
}

template <Tensor (*op)(const Tensor&, const Tensor&, segment::CumulateOptions)>
FuzzCall running(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const segment::CumulateOptions options{.reverse = bytes.chance(50), .exclusive = bytes.chance(50)};
  return {{x, splits_for(bytes, total_of(x))}, [options](In in) { return Out{op(in[0], in[1], options)}; }};
}

template <Tensor (*op)(const Tensor&, const Tensor&, segment::SortOptions)>
FuzzCall ordered(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const segment::SortOptions options{.descending = bytes.chance(50)};
  return {{x, splits_for(bytes, total_of(x))}, [options](In in) { return Out{op(in[0], in[1], options)}; }};
}

// One element per row, mostly; the total fits the splits, mostly.
template <Tensor (*op)(const Tensor&, const Tensor&, const Dim&)>
FuzzCall spread(FuzzBytes& bytes) {
  const int64_t total = bytes.below(20), wanted = bytes.chance(80) ? total : std::min<int64_t>(bytes.number(), 1 << 20);
  const Tensor splits = splits_for(bytes, total);
  Tensor x = bytes.tensor(256);
  if (x.defined() && x.rank() > 0 && splits.defined() && splits.rank() == 1 && bytes.chance(80)) {
    const Shape shape = x.shape();
    Sizes sizes;
    for (const Dim& size : shape) sizes.push_back(size.value());
    sizes[0] = splits.shape()[0].value() - 1;
    x = cast(zeros(Shape(std::vector<Dim>(sizes.begin(), sizes.end()))), x.dtype());
  }
  return {{x, splits}, [wanted](In in) { return Out{op(in[0], in[1], wanted)}; }};
}

FuzzCall decode_to_padded(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const int64_t length = std::min<int64_t>(bytes.number(), 1 << 10);
  return {{x, splits_for(bytes, total_of(x))}, [length](In in) { return Out{segment::to_padded(in[0], in[1], length)}; }};
}

FuzzCall decode_gather_runs(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256);
  const int64_t total = bytes.below(20);
  const Tensor splits = splits_for(bytes, total);
  const int64_t count = splits.defined() && splits.rank() == 1 ? std::max<int64_t>(splits.shape()[0].value() - 1, 0) : 1;
  const Tensor starts = bytes.indices_below(total_of(x), {count});
  return {{x, starts, splits}, [total](In in) { return Out{segment::gather_runs(in[0], in[1], in[2], total)}; }};
}

FuzzCall decode_gather_rows(FuzzBytes& bytes) {
  const Tensor x = bytes.tensor(256), splits = splits_for(bytes, total_of(x));
  const Tensor indices = bytes.indices_below(splits.defined() && splits.rank() == 1 ? splits.shape()[0].value() - 1 : 1, {bytes.below(4)});
  const int64_t total = bytes.chance(50) ? total_of(x) : bytes.below(20);
  return {{x, splits, indices}, [total](In in) { return Out{segment::gather_rows({in[0], in[1]}, in[2], total).values}; }};
}

template <segment::Rows (*op)(const std::vector<segment::Rows>&)>
FuzzCall joined(FuzzBytes& bytes) {
  const Tensor a = bytes.tensor(256), b = bytes.chance(60) ? a : bytes.like(a);
  return {{a, splits_for(bytes, total_of(a)), b, splits_for(bytes, total_of(b))}, [](In in) {
            const segment::Rows rows = op({{in[0], in[1]}, {in[2], in[3]}});
            return Out{rows.values, rows.splits};
          }};
}

}  // namespace

std::vector<FuzzOp> segment_fuzz_ops() {
  return {
      {"segment::sum", rows<segment::sum>},
      {"segment::prod", rows<segment::prod>},
      {"segment::max", rows<segment::max>},
      {"segment::min", rows<segment::min>},
      {"segment::mean", rows<segment::mean>},
      {"segment::any", rows<segment::any>},
      {"segment::all", rows<segment::all>},
      {"segment::logsumexp", rows<segment::logsumexp>},
      {"segment::argmax", rows<segment::argmax>},
      {"segment::argmin", rows<segment::argmin>},
      {"segment::softmax", rows<segment::softmax>},
      {"segment::log_softmax", rows<segment::log_softmax>},
      {"segment::flip", rows<segment::flip>},
      {"segment::cumsum", running<segment::cumsum>},
      {"segment::cumprod", running<segment::cumprod>},
      {"segment::sort", ordered<segment::sort>},
      {"segment::argsort", ordered<segment::argsort>},
      {"segment::repeat", spread<segment::repeat>},
      {"segment::from_padded", spread<segment::from_padded>},
      {"segment::to_padded", decode_to_padded},
      {"segment::gather_runs", decode_gather_runs},
      {"segment::gather_rows", decode_gather_rows},
      {"segment::concat", joined<segment::concat>},
      {"segment::concat_each_row", joined<segment::concat_each_row>},
  };
}

}  // namespace anyshape::check
