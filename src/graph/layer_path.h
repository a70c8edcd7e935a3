// Where in a model an op is called: the end of an error's text, and what nodes of a trace remember.
#pragma once
#include <string>
#include <string_view>

namespace anyshape {

// While it lives, ops of this thread are called by a layer (inside the layers around it), by a loss or a metric.
class ScopedPlace {
 public:
  explicit ScopedPlace(std::string place);  // as current_place() said it
  ~ScopedPlace();
  ScopedPlace(const ScopedPlace&) = delete;
  ScopedPlace& operator=(const ScopedPlace&) = delete;

 private:
  std::string place_;
  const std::string* outer_;
};
class ScopedLayerName : public ScopedPlace {
 public:
  explicit ScopedLayerName(const std::string& name);
};
class ScopedLossName : public ScopedPlace {
 public:
  explicit ScopedLossName(const std::string& name);
};
class ScopedMetricName : public ScopedPlace {
 public:
  explicit ScopedMetricName(const std::string& name);
};

// While it lives, ops of this thread are the gradient of what was called at that place.
class ScopedGradientOf : public ScopedPlace {
 public:
  explicit ScopedGradientOf(const std::string& place);
};

std::string current_owner();         // `encoder/dense_1`: the path of the layer, the name of the loss or metric; or nothing
const std::string& current_place();  // ` In layer "encoder/dense_1".`, or nothing

// Of a place: whether it is in a gradient, and `encoder/dense_1`, `loss mse`, `metric accuracy`, or nothing.
bool is_in_gradient(std::string_view place);
std::string owner_at(std::string_view place);

}  // namespace anyshape
