// Histories and scores.
#include "base/json_text.h"
#include "base/near_names.h"

#include <anyshape/error.h>
#include <anyshape/history.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

namespace anyshape {
namespace {

// The entry of a name in a list of pairs.
template <class List>
auto find_name(List& list, const std::string& name) {
  return std::ranges::find_if(list, [&](const auto& each) { return each.first == name; });
}

template <class List>
[[noreturn]] void throw_unknown(const List& list, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& each : list) names.push_back(each.first);
  throw ArgumentError("history: " + unknown_name("recorded value", name, names));
}

// NaN has a sign that says nothing, and would be printed.
double without_sign(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

// As RFC 4180 has it: in quotes where it would be taken for something else.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) result += letter == '"' ? "\"\"" : std::string(1, letter);
  return result + '"';
}

}  // namespace

const std::vector<double>& History::operator[](const std::string& name) const& {
  const auto found = find_name(columns_, name);
  if (found == columns_.end()) throw_unknown(columns_, name);
  return found->second;
}

std::vector<double> History::operator[](const std::string& name) && { return std::as_const(*this)[name]; }

bool History::contains(const std::string& name) const { return find_name(columns_, name) != columns_.end(); }

std::vector<std::string> History::names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.first);
  return names;
}

int64_t History::epochs() const {
  size_t most = 0;
  for (const auto& column : columns_) most = std::max(most, column.second.size());
  return static_cast<int64_t>(most);
}

void History::append(const std::string& name, double given) {
  const double value = without_sign(given);
  const auto found = find_name(columns_, name);
  if (found != columns_.end()) {
    found->second.push_back(value);
  } else {
    columns_.push_back({name, {value}});
  }
}

std::string History::to_csv() const {
  std::string text = "epoch";
  for (const auto& column : columns_) text += "," + csv_field(column.first);
  text += '\n';
  for (int64_t epoch = 0; epoch < epochs(); ++epoch) {
    text += fmt::format("{}", epoch);
    for (const auto& column : columns_) {
      const bool is_there = epoch < static_cast<int64_t>(column.second.size());
      text += "," + (is_there ? fmt::format("{}", column.second[static_cast<size_t>(epoch)]) : std::string());
    }
    text += '\n';
  }
  return text;
}

std::string History::to_json() const {
  std::vector<std::string> columns;
  for (const auto& column : columns_) {
    std::vector<std::string> values;
    for (const double value : column.second) values.push_back(json_number(value));
    columns.push_back(fmt::format("{}: [{}]", json_text(column.first), fmt::join(values, ", ")));
  }
  return fmt::format("{{{}}}", fmt::join(columns, ", "));
}

[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const History& history) { return out << history.to_csv(); }

[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Scores& scores) {
  const char* separator = "{";
  for (const auto& [name, value] : scores.values_) out << std::exchange(separator, ", ") << name << fmt::format(": {}", value);
  return out << (scores.values_.empty() ? "{}" : "}");
}

double Scores::operator[](const std::string& name) const {
  const auto found = find_name(values_, name);
  if (found == values_.end()) throw_unknown(values_, name);
  return found->second;
}

bool Scores::contains(const std::string& name) const { return find_name(values_, name) != values_.end(); }

void Scores::set(const std::string& name, double given) {
  const double value = without_sign(given);
  const auto found = find_name(values_, name);
  if (found != values_.end()) {
    found->second = value;
  } else {
    values_.emplace_back(name, value);
  }
}

}  // namespace anyshape
