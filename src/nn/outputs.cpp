// Results by position and by name.
#include "base/near_names.h"

#include <anyshape/error.h>
#include <anyshape/outputs.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

namespace anyshape {

std::vector<std::string> Outputs::names() const {
  std::vector<std::string> all;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const bool is_named = i < names_.size() && !names_[i].empty();
    all.push_back(is_named ? names_[i] : fmt::format("output{}", i));
  }
  return all;
}

Tensor Outputs::operator[](size_t position) const {
  if (position < tensors_.size()) return tensors_[position];
  throw ArgumentError(fmt::format("outputs: [{}] of {} output{}; expected an index from 0 on that is there.", position, tensors_.size(),
                                  tensors_.size() == 1 ? "" : "s"));
}

Tensor Outputs::operator[](const std::string& name) const {
  const std::vector<std::string> all = names();
  const auto found = std::ranges::find(all, name);
  if (found == all.end()) throw ArgumentError("outputs: " + unknown_name("output", name, all));
  return tensors_[static_cast<size_t>(found - all.begin())];
}

Outputs::operator Tensor() const {
  if (tensors_.size() == 1) return tensors_[0];
  throw ArgumentError(fmt::format("outputs: {} are taken for one tensor: {}; expected one. Choose by name or index.", tensors_.size(),
                                  fmt::join(names(), ", ")));
}

void Outputs::require_count(size_t count) const {
  if (tensors_.size() == count) return;
  throw ArgumentError(fmt::format("outputs: array<{}>() of {}: {}; expected array<{}>().", count, tensors_.size(), fmt::join(names(), ", "),
                                  tensors_.size()));
}

// A friend that its class declares does not take the visibility of its namespace.
[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Outputs& outputs) {
  const std::vector<std::string> names = outputs.names();
  for (size_t i = 0; i < names.size(); ++i) out << (i == 0 ? "" : "\n") << names[i] << ": " << outputs.tensors_[i];
  return out;
}

}  // namespace anyshape
