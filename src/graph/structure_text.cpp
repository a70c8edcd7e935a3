// Names and texts of the parts of a value.
#include "graph/stateful.h"

#include <anyshape/structure_text.h>

#include <fmt/format.h>

#include <map>

namespace anyshape::structure {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return fmt::to_string(value); }
std::string text_of(uint64_t value) { return fmt::to_string(value); }
std::string text_of(float value) { return fmt::to_string(value); }
std::string text_of(double value) { return fmt::to_string(value); }
std::string text_of(const std::string& value) { return fmt::format("{:?}", value); }
std::string text_of(const Variable& value) {
  return value.name().empty() ? fmt::format("variable #{}", value.id()) : fmt::format("variable \"{}\" #{}", value.name(), value.id());
}
std::string text_of(const Stateful& value) {
  const Identity& identity = value.identity();
  const uint64_t version = identity.version();
  return fmt::format("{} #{}{}", identity.kind(), identity.id(), version == 0 ? "" : fmt::format(" version {}", version));
}

void Describer::enter(std::string_view field) {
  ends_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += field;
}

void Describer::enter_at(const std::string& index) {
  ends_.push_back(path_.size());
  path_ += fmt::format("[{}]", index);
}

void Describer::leave() {
  path_.resize(ends_.back());
  ends_.pop_back();
}

std::string Describer::name(std::string_view kind) const {
  const std::string_view inner = path_.empty() ? kind : std::string_view(path_);
  return inner.empty() ? root_ : fmt::format("{} ({})", root_, inner);
}

void Describer::length(size_t value) { add(fmt::format("{} element{}", value, value == 1 ? "" : "s")); }

std::vector<Change> changes(std::span<const Part> earlier, std::span<const Part> later) {
  std::map<std::string_view, const Part*> known;
  for (const Part& part : earlier) known.emplace(part.name, &part);
  std::vector<Change> found;
  for (const Part& part : later) {
    const auto before = known.find(part.name);
    if (before == known.end() || before->second->value == part.value) continue;
    found.push_back({fmt::format("{}: {} became {}", part.name, before->second->value, part.value), part.role});
  }
  return found;
}

}  // namespace anyshape::structure
