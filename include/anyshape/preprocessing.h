// Data before it reaches a model: padding, one-hot targets, splits.
#pragma once
#include <anyshape/tensor.h>

#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// The beginning of a row; its end.
enum class Side { Pre, Post };
/// Rows are padded and cut at their beginning unless told otherwise, as in Keras.
struct PadSequencesOptions {
  std::optional<int64_t> max_length = {};  ///< none: the longest row
  Side padding = Side::Pre;
  Side truncating = Side::Pre;
  double value = 0;
};
/// Rows of unequal length as one dense tensor; the rows' dtype stays.
///@{
Tensor pad_sequences(const std::vector<Tensor>& rows, PadSequencesOptions options = {});
Tensor pad_sequences(const Tensor& ragged, PadSequencesOptions options = {});
///@}

Tensor to_categorical(const Tensor& labels, int64_t classes = -1);  ///< f32 one-hot; -1: the largest label and one more

/// test_size is a share between 0 and 1; their number is rounded up. Without shuffle the last rows are those of the test.
struct TrainTestSplitOptions {
  double test_size = 0.25;
  bool shuffle = true;
  std::optional<int64_t> seed = {};
};
/// Rows for training and for the test.
struct Split {
  Tensor x_train, x_test, y_train, y_test;
};
/// Rows of x and y stay together; DataError where one has more.
Split train_test_split(const Tensor& x, const Tensor& y, TrainTestSplitOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop
