// The value: its kinds, its fields, and what is said where another kind was expected.
#include "base/cut_text.h"
#include "base/near_names.h"

#include <anyshape/config.h>
#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace anyshape {
namespace {

constexpr const char* callable_class = "callable";
constexpr const char* unregistered_class = "unregistered";
constexpr const char* data_class = "data";

void require_own_names(const std::string& owner, const std::vector<Config::Field>& fields) {
  std::set<std::string_view> names;
  for (const Config::Field& field : fields) {
    if (!names.insert(field.name).second)
      throw ArgumentError(fmt::format("config: {} has two fields {}; expected names that differ.", owner, in_quotes(field.name)));
  }
}

}  // namespace

Config::Config() = default;
Config::Config(Kind kind) : kind_(kind) {}
Config::Config(const char* text) : Config(std::string(text)) {}
Config::Config(std::string text) : kind_(Kind::Text), text_(std::move(text)) {}
Config::Config(std::vector<Config> list) : kind_(Kind::List), items_(std::move(list)) {}
Config::Config(const Config& other) = default;
Config::Config(Config&& other) noexcept = default;
Config& Config::operator=(const Config& other) = default;
Config& Config::operator=(Config&& other) noexcept = default;
Config::~Config() = default;

Config Config::map(std::vector<Field> fields) {
  require_own_names("a map", fields);
  Config config(Kind::Map);
  config.fields_ = std::move(fields);
  return config;
}

Config Config::object(std::string class_name) { return object(std::move(class_name), {}); }
Config Config::object(std::string class_name, std::vector<Field> fields) {
  require_own_names(shortened(class_name), fields);
  Config config(Kind::Object);
  config.text_ = std::move(class_name);
  config.fields_ = std::move(fields);
  return config;
}

Config Config::callable(std::string what) { return object(callable_class, {{"what", std::move(what)}}); }
Config Config::unregistered(std::string class_name) { return object(unregistered_class, {{"class", std::move(class_name)}}); }
Config Config::data_in_memory() { return object(data_class); }
bool Config::is_callable() const { return kind_ == Kind::Object && text_ == callable_class; }
bool Config::is_unregistered() const { return kind_ == Kind::Object && text_ == unregistered_class; }
bool Config::is_data_in_memory() const { return kind_ == Kind::Object && text_ == data_class; }

static bool tells_all(const Config& config) {
  if (config.is_callable() || config.is_unregistered() || config.is_data_in_memory()) return false;
  switch (config.kind()) {
    case Config::Kind::List: return std::ranges::all_of(config.items(), tells_all);
    case Config::Kind::Map:
    case Config::Kind::Object: return std::ranges::all_of(config.fields(), tells_all, &Config::Field::value);
    default: return true;
  }
}
bool detail::tell_the_same(const Config& a, const Config& b) { return a == b && tells_all(a); }

const Config& Config::required(Kind kind, std::string_view words) const {
  if (kind_ == kind) return *this;
  throw ArgumentError(fmt::format("config: the value is {}; expected {}.", shortened(to_string(*this)), words));
}

bool Config::as_bool() const { return required(Kind::Bool, "true or false").integer_ != 0; }
int64_t Config::as_integer() const { return required(Kind::Integer, "a whole number").integer_; }
double Config::as_number() const {
  return kind_ == Kind::Integer ? static_cast<double>(integer_) : required(Kind::Number, "a number").number_;
}
const std::string& Config::as_text() const { return required(Kind::Text, "a text").text_; }
const std::vector<Config>& Config::items() const { return required(Kind::List, "a list").items_; }
const std::string& Config::class_name() const { return required(Kind::Object, "an object").text_; }
const std::vector<Config::Field>& Config::fields() const {
  return kind_ == Kind::Map ? fields_ : required(Kind::Object, "an object or a map").fields_;
}

const Config* Config::find(std::string_view name) const {
  const auto found = std::ranges::find(fields(), name, &Field::name);
  return found == fields().end() ? nullptr : &found->value;
}

const Config& Config::operator[](std::string_view name) const {
  if (const Config* const found = find(name)) return *found;
  const std::string owner = kind_ == Kind::Object ? shortened(text_) : "a map";
  if (fields_.empty()) throw ArgumentError(fmt::format("config: {} has no fields; {} is asked for.", owner, in_quotes(name)));
  std::vector<std::string> names;
  for (const Field& field : fields_) names.push_back(field.name);
  throw ArgumentError(fmt::format("config: {}", unknown_name("field of " + owner, name, names)));
}

void Config::set(std::string_view name, Config value) {
  fields();  // of a map or an object
  const auto found = std::ranges::find(fields_, name, &Field::name);
  if (found == fields_.end()) {
    fields_.push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

bool Config::operator==(const Config& other) const {
  const bool are_numbers_equal = number_ == other.number_ || (std::isnan(number_) && std::isnan(other.number_));
  return kind_ == other.kind_ && integer_ == other.integer_ && are_numbers_equal && text_ == other.text_ && items_ == other.items_ &&
         fields_ == other.fields_;
}

}  // namespace anyshape
