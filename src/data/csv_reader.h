// Comma-separated values as RFC 4180 has them: records of fields, quoted where they hold separators, quotes or line ends.
#pragma once
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace anyshape::data {

class CsvReader {
 public:
  CsvReader(const std::filesystem::path& file, char separator);  // DataError where it cannot be read

  // The next record; none at the end. Empty lines are no records. FormatError for a quote that is not closed or not alone in its field,
  // DataError for more than `most` fields, before they are kept.
  std::optional<std::vector<std::string>> next(size_t most = std::numeric_limits<size_t>::max());
  int64_t line() const { return record_line_; }  // where the last record begins, from 1

 private:
  std::string quoted_field();
  bool is_end(int character) const;  // of the file; DataError where it is a failure to read on
  [[noreturn]] void fail_to_read() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::ifstream in_;
  char separator_;
  int64_t line_ = 1, record_line_ = 1;
};

}  // namespace anyshape::data
