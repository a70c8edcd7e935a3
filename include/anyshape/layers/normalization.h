// Layers that normalise: by row, by batch, by what they were adapted to; and those that fill gaps.
#pragma once
#include <anyshape/layer.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The axes are those over which mean and variance are taken. center adds beta, scale multiplies by gamma.
struct LayerNormalizationOptions {
  std::vector<int> axes = {-1};
  std::optional<int> axis = {};  ///< one axis; an ArgumentError beside other `axes` than the default
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each row by itself: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
class LayerNormalization : public AnyLayer {
 public:
  explicit LayerNormalization(LayerNormalizationOptions options = {});
};

/// The axis is that of the channels. A step keeps the share `momentum` of the moving mean and variance, which are used outside training.
struct BatchNormalizationOptions {
  int axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each channel by the mean and variance of a batch, of real elements only: a mask's, a ragged batch's.
class BatchNormalization : public AnyLayer {
 public:
  explicit BatchNormalization(BatchNormalizationOptions options = {});
};

/// The axis is that of the channels; groups -1: as many as there are channels.
struct GroupNormalizationOptions {
  int64_t groups = 32;
  int axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each row and each group of neighbouring channels by itself; what a mask leaves out does not count.
class GroupNormalization : public AnyLayer {
 public:
  explicit GroupNormalization(GroupNormalizationOptions options = {});
};

/// The axis is -1, the columns; ArgumentError for another.
struct NormalizationOptions {
  int axis = -1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Each column by what adapt() saw: (x - mean) / deviation; NaN is left out there.
class Normalization : public AnyLayer {
 public:
  explicit Normalization(NormalizationOptions options = {});
  void adapt(const Tensor& data);  ///< rows [rows, ..., columns], ragged too; builds the layer; what it saw before is forgotten
};

/// What a missing value becomes; Constant needs no adapt().
enum class Missing { Mean, Median, Constant };
/// What a missing value becomes.
struct FillMissingOptions {
  Missing strategy = Missing::Mean;
  double value = 0;            ///< Missing::Constant
  bool add_indicator = false;  ///< columns that say where something was missing are appended
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Puts the column's mean, its median or a constant where NaN is.
class FillMissing : public AnyLayer {
 public:
  explicit FillMissing(FillMissingOptions options = {});
  void adapt(const Tensor& data);  ///< rows [rows, ..., columns], ragged too; builds the layer; what it saw before is forgotten
};

}  // namespace anyshape
#pragma GCC visibility pop
