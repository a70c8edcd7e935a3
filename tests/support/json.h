// A strict JSON reader for the golden files: objects keep their order, numbers written without fraction or exponent are integers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace anyshape::support {

struct JsonMember;

class Json {
 public:
  using Items = std::vector<Json>;
  using Members = std::vector<JsonMember>;
  using Value = std::variant<std::nullptr_t, bool, int64_t, double, std::string, Items, Members>;

  Json();  // null
  explicit Json(Value value);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Items>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }

  // Each throws std::runtime_error where the value is of another kind.
  bool boolean() const;
  int64_t integer() const;
  double number() const;
  const std::string& string() const;
  const Items& items() const;
  const Members& members() const;
  std::vector<int64_t> integers() const;  // an array of integers
  std::vector<std::string> strings() const;

  const Json* find(std::string_view key) const;        // null where an object lacks the key; any other value, null included, has none
  const Json& operator[](std::string_view key) const;  // throws where the key is missing

 private:
  Value value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

// Throws std::runtime_error with line and column where the text is not one JSON value (RFC 8259), or an object has a key twice.
Json parse_json(std::string_view text);

}  // namespace anyshape::support
