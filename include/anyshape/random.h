// Random numbers: counter-based, the same for any number of threads, eagerly and compiled.
#pragma once
#include <anyshape/tensor.h>

#pragma GCC visibility push(default)
namespace anyshape {
namespace random {

void set_seed(uint64_t seed);  ///< numbers from here on depend on the seed and the order of calls alone

/// While it lives, what this thread draws depends on the given seed alone; afterwards the numbers go on as if nothing had been drawn.
class SeedScope {
 public:
  explicit SeedScope(uint64_t seed);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;
  struct Access;

 private:
  uint64_t key_;
  uint64_t next_call_ = 0;
  SeedScope* outer_;
};

/// Mean and standard deviation; ArgumentError for a deviation below 0, DtypeError for other dtypes than f32 and f64.
struct NormalOptions {
  double mean = 0;
  double deviation = 1;
  Dtype dtype = Dtype::f32;
};
Tensor normal(const Shape& shape, NormalOptions options = {});  ///< from the normal distribution

/// The normal distribution cut at two deviations from the mean. What is left varies less: divide the deviation by 0.87962566103423978 for
/// results that have it, as Keras's initializers do.
Tensor truncated_normal(const Shape& shape, NormalOptions options = {});

/// The interval; ArgumentError unless low <= high and their distance is finite, DtypeError for other dtypes than f32 and f64.
struct UniformOptions {
  double low = 0;
  double high = 1;
  Dtype dtype = Dtype::f32;
};
Tensor uniform(const Shape& shape, UniformOptions options = {});  ///< low <= number < high, all equally likely

/// The range of integers.
struct IntegersOptions {
  Dim low = 0;
  Dim high = 0;              ///< must be given: the first number that is not drawn
  Dtype dtype = Dtype::i32;  ///< u8, i32 or i64
};
/// low, low + 1, ..., high - 1, all equally likely.
Tensor integers(const Shape& shape, IntegersOptions options);

/// The probability of true.
struct BernoulliOptions {
  double probability = 0.5;
  Dtype dtype = Dtype::b8;
};
/// True with the given probability.
Tensor bernoulli(const Shape& shape, BernoulliOptions options = {});

/// Classes drawn with the chances softmax(logits): logits [..., classes] give i32[..., count].
Tensor categorical(const Tensor& logits, const Dim& count);

/// 0, 1, ..., n - 1 in random order, as i32.
Tensor permutation(const Dim& n);

/// The axis of shuffle.
struct ShuffleOptions {
  int64_t axis = 0;
};
/// x with its slices along an axis in random order.
Tensor shuffle(const Tensor& x, ShuffleOptions options = {});

}  // namespace random
}  // namespace anyshape
#pragma GCC visibility pop
