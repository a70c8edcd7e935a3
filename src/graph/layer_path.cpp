// Who calls ops on this thread, as the sentence that ends an error.
#include "graph/layer_path.h"

#include "base/thread_context.h"

#include <fmt/format.h>

#include <utility>

namespace anyshape {
namespace {

const std::string nowhere;
constexpr std::string_view layer_start = " In layer \"";
constexpr std::string_view any_start = " In ";
constexpr std::string_view gradient_start = " In the gradient of ";
constexpr std::string_view any_gradient = " In a gradient.";
constexpr std::string_view sentence_end = "\".";

std::string inside(const std::string& name) {
  const std::string& now = current_place();
  if (!now.starts_with(layer_start)) return fmt::format("{}{}{}", layer_start, name, sentence_end);
  return fmt::format("{}/{}{}", now.substr(0, now.size() - sentence_end.size()), name, sentence_end);
}

std::string gradient_of(const std::string& place) {
  if (place.empty()) return std::string(any_gradient);
  return is_in_gradient(place) ? place : fmt::format("{}{}", gradient_start, place.substr(any_start.size()));
}

}  // namespace

ScopedPlace::ScopedPlace(std::string place) : place_(std::move(place)), outer_(std::exchange(this_thread.place, &place_)) {}
ScopedPlace::~ScopedPlace() { this_thread.place = outer_; }

ScopedLayerName::ScopedLayerName(const std::string& name) : ScopedPlace(inside(name)) {}
ScopedLossName::ScopedLossName(const std::string& name) : ScopedPlace(fmt::format(" In loss \"{}\".", name)) {}
ScopedMetricName::ScopedMetricName(const std::string& name) : ScopedPlace(fmt::format(" In metric \"{}\".", name)) {}

ScopedGradientOf::ScopedGradientOf(const std::string& place) : ScopedPlace(gradient_of(place)) {}

bool is_in_gradient(std::string_view place) { return place == any_gradient || place.starts_with(gradient_start); }

std::string owner_at(std::string_view place) {
  const size_t begin = place.find('"'), end = place.rfind('"');
  if (begin == std::string_view::npos) return "";
  const std::string name(place.substr(begin + 1, end - begin - 1));
  const std::string_view kind = place.substr(0, begin);  // " In the gradient of loss "
  return kind.ends_with(" loss ") ? "loss " + name : kind.ends_with(" metric ") ? "metric " + name : name;
}

std::string current_owner() {
  const std::string& now = current_place();
  const size_t begin = now.find('"'), end = now.rfind('"');
  return begin == std::string::npos ? "" : now.substr(begin + 1, end - begin - 1);
}

const std::string& current_place() { return this_thread.place != nullptr ? *this_thread.place : nowhere; }

}  // namespace anyshape
