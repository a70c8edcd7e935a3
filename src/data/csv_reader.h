// Comma-separated values as RFC 4180 has them: records of fields, quoted where they hold separators, quotes or line ends. A line ends in LF,
// CR LF or CR alone.
#pragma once
#include "io/read_file.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::data {

class CsvReader {
 public:
  CsvReader(const std::filesystem::path& file, char separator);  // DataError where it cannot be read

  // The next record; none at the end. Empty lines are no records. FormatError for a quote that is not closed or not alone in its field,
  // DataError "more than <most> fields; expected <expected>." before more are kept.
  std::optional<std::vector<std::string>> next(size_t most, std::string_view expected);
  int64_t line() const { return record_line_; }  // where the last record begins, from 1

 private:
  static constexpr int end_of_file = -1;
  int peek() { return offset_ < end_ || fill() ? static_cast<unsigned char>(buffer_[offset_]) : end_of_file; }
  int get() {
    const int character = peek();
    if (character != end_of_file) ++offset_;
    return character;
  }
  bool fill();  // DataError where it cannot be read on
  bool take_line_end();
  std::string quoted_field();
  [[noreturn]] void fail_to_read(const std::string& problem) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  ReadFile in_;
  char separator_;
  std::vector<char> buffer_;
  size_t offset_ = 0, end_ = 0;
  int64_t line_ = 1, record_line_ = 1;
};

}  // namespace anyshape::data
