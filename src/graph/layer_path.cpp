// The place of this thread, as the sentence that ends an error.
#include "graph/layer_path.h"

#include <fmt/format.h>

#include <utility>

namespace anyshape {
namespace {

thread_local std::string sentence;

constexpr std::string_view layer_start = " In layer \"";
constexpr std::string_view sentence_end = "\".";

std::string inside(const std::string& name) {
  if (!sentence.starts_with(layer_start)) return fmt::format("{}{}{}", layer_start, name, sentence_end);
  return fmt::format("{}/{}{}", sentence.substr(0, sentence.size() - sentence_end.size()), name, sentence_end);
}

}  // namespace

ScopedPlace::ScopedPlace(std::string place) : outer_(std::exchange(sentence, std::move(place))) {}
ScopedPlace::~ScopedPlace() { sentence = std::move(outer_); }

ScopedLayerName::ScopedLayerName(const std::string& name) : ScopedPlace(inside(name)) {}
ScopedLossName::ScopedLossName(const std::string& name) : ScopedPlace(fmt::format(" In loss \"{}\".", name)) {}
ScopedMetricName::ScopedMetricName(const std::string& name) : ScopedPlace(fmt::format(" In metric \"{}\".", name)) {}

const std::string& current_place() { return sentence; }

}  // namespace anyshape
