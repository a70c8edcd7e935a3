// Names and texts of the parts of a value.
#include "graph/stateful.h"

#include <anyshape/structure_text.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace anyshape::detail::structure {

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
  const std::string title = identity.title().empty() ? "" : fmt::format(" \"{}\"", identity.title());
  return fmt::format("{}{} #{}{}", identity.kind(), title, identity.id(), version == 0 ? "" : fmt::format(" version {}", version));
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

namespace {

// What is another thing in the same object, in words; empty where nothing is known of it.
std::string changed_facts(const Identity::Facts& earlier, const Identity::Facts& later) {
  constexpr size_t most = 3;
  const std::map<std::string_view, std::string_view> before(earlier.begin(), earlier.end()), after(later.begin(), later.end());
  std::vector<std::string> found;
  for (const auto& [name, value] : later) {
    const auto known = before.find(name);
    if (known == before.end()) {
      found.push_back(fmt::format("{} is new: {}", name, value));
    } else if (known->second != value) {
      found.push_back(fmt::format("{}: {} became {}", name, known->second, value));
    }
  }
  for (const auto& each : earlier) {
    if (!after.contains(each.first)) found.push_back(fmt::format("{} is gone", each.first));
  }
  const size_t shown = std::min(found.size(), most);
  std::string text = fmt::format("{}", fmt::join(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (found.size() > shown) text += fmt::format(" and {} more", found.size() - shown);
  return text;
}

std::string text_of_change(const Part& before, const Part& after) {
  const auto number = [](const Part& part) { return std::string_view(part.value).substr(0, part.value.find(" version ")); };
  const std::string facts = number(before) == number(after) ? changed_facts(before.facts, after.facts) : "";
  return facts.empty() ? fmt::format("{}: {} became {}", after.name, before.value, after.value)
                       : fmt::format("{}: {}: {}", after.name, number(after), facts);
}

}  // namespace

std::vector<Change> changes(std::span<const Part> earlier, std::span<const Part> later) {
  std::map<std::string_view, const Part*> known;
  for (const Part& part : earlier) known.emplace(part.name, &part);
  std::vector<Change> found;
  for (const Part& part : later) {
    const auto before = known.find(part.name);
    if (before == known.end() || before->second->value == part.value) continue;
    found.push_back({text_of_change(*before->second, part), part.role});
  }
  return found;
}

}  // namespace anyshape::detail::structure
