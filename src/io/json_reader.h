// JSON (RFC 8259), read from left to right: what is not JSON, or more deeply nested than it may be, is refused.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::io {

struct JsonRules {
  std::string_view part = "its header";  // what the text is of what is refused
  int depth = 8;                         // of objects and lists
};

class JsonReader {
 public:
  // `refuse` is told what is wrong, "has ...", and throws.
  JsonReader(std::string_view text, std::function<void(std::string_view)> refuse, JsonRules rules = {})
      : text_(text), refuse_(std::move(refuse)), rules_(rules) {}

  // A whole number has no point and no exponent, and is kept exactly; one beyond 64 bits is refused, and so is one beyond a double. Beside
  // RFC 8259 there are NaN, Infinity and -Infinity, as Python writes them.
  struct Number {
    bool is_whole = false;
    int64_t whole = 0;
    double value = 0;
  };

  char peek();  // how the next value begins; 0 at the end
  // Calls `member` behind every key of an object; it reads the value.
  void members(const std::function<void(const std::string& key)>& member);
  void elements(const std::function<void()>& element);  // of a list; it reads the value
  std::string string();
  Number number();
  bool truth();
  void null();
  std::vector<int64_t> integers(size_t most);  // refused where there are more, before they are kept
  void end();                                  // nothing but space is left
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void skip_space();
  bool accept(char wanted);
  bool accept(std::string_view wanted);
  void expect(char wanted);
  void enter();
  int64_t integer();
  unsigned code_unit();
  void append_escape(std::string& result);

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::function<void(std::string_view)> refuse_;
  JsonRules rules_;
};

}  // namespace anyshape::io
