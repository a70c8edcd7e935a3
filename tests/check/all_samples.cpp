// The samples of all families.
#include "check/op_samples.h"

namespace anyshape::check {

const std::vector<OpSample>& all_samples() {
  static const std::vector<OpSample> all = [] {
    std::vector<OpSample> joined;
    for (const auto family : {elementwise_samples,
                              function_samples,
                              reduce_samples,
                              extreme_samples,
                              along_samples,
                              movement_samples,
                              arrange_samples,
                              index_samples,
                              order_samples,
                              data_samples,
                              segment_reduce_samples,
                              segment_row_samples,
                              segment_partition_samples,
                              contraction_samples,
                              attention_samples,
                              convolution_samples,
                              pooling_samples,
                              resize_samples,
                              make_samples,
                              loss_samples,
                              bitwise_samples,
                              scatter_samples}) {
      for (OpSample& sample : family()) joined.push_back(std::move(sample));
    }
    return joined;
  }();
  return all;
}

}  // namespace anyshape::check
