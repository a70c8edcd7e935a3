// As much JSON as file headers have: objects, strings and arrays of integers, read from left to right.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::io {

class JsonReader {
 public:
  // `refuse` is told what is wrong, "has ...", and throws.
  JsonReader(std::string_view text, std::function<void(std::string_view)> refuse) : text_(text), refuse_(std::move(refuse)) {}

  // Calls `member` behind every key of an object; it reads the value.
  void members(const std::function<void(const std::string& key)>& member);
  std::string string();
  std::vector<int64_t> integers(size_t most);  // refused where there are more, before they are kept
  void end();                                  // nothing but space is left
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void skip_space();
  bool accept(char wanted);
  void expect(char wanted);
  int64_t integer();
  void append_escape(std::string& result);

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::function<void(std::string_view)> refuse_;
};

}  // namespace anyshape::io
