// Where in a model an op is called: the end of an error's text, and what nodes of a trace remember.
#pragma once
#include <string>

namespace anyshape {

// While it lives, ops of this thread are called by a layer (inside the layers around it), by a loss or a metric.
class ScopedPlace {
 public:
  ~ScopedPlace();
  ScopedPlace(const ScopedPlace&) = delete;
  ScopedPlace& operator=(const ScopedPlace&) = delete;

 protected:
  explicit ScopedPlace(std::string place);

 private:
  std::string outer_;
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

const std::string& current_place();  // ` In layer "encoder/dense_1".`, or nothing

}  // namespace anyshape
