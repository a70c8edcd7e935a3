// Records, one character after the other.
#include "data/csv_reader.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::data {
namespace {

constexpr int end_of_file = std::char_traits<char>::eof();

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& file, char separator)
    : name_(file.string()), in_(file, std::ios::binary), separator_(separator) {
  const auto code = static_cast<unsigned char>(separator);
  if (code > 127 || separator == '"' || separator == '\n' || separator == '\r') {
    throw ArgumentError(
        fmt::format("Dataset::from_csv: the separator is character {}; expected an ASCII one that is no quote and no line end.", code));
  }
  if (!in_) fail_to_read();
  for (const int mark : {0xef, 0xbb, 0xbf}) {  // a byte order mark, which some programs write
    if (in_.peek() != mark) break;
    in_.get();
  }
}

void CsvReader::fail_to_read() const { throw DataError(fmt::format("Dataset::from_csv: \"{}\" cannot be read; expected a file.", name_)); }

bool CsvReader::is_end(int character) const {
  if (in_.bad()) fail_to_read();
  return character == end_of_file;
}

void CsvReader::fail(const std::string& what) const {
  throw FormatError(fmt::format("Dataset::from_csv: \"{}\", line {}: {}.", name_, record_line_, what));
}

// After the opening quote, up to what ends the field; "" is a quote.
std::string CsvReader::quoted_field() {
  std::string text;
  for (int c = in_.get(); !is_end(c); c = in_.get()) {
    if (c == '\n') ++line_;
    if (c != '"') {
      text += static_cast<char>(c);
    } else if (in_.peek() == '"') {
      text += static_cast<char>(in_.get());
    } else {
      const int after = in_.peek();
      if (after != separator_ && after != '\r' && after != '\n' && !is_end(after)) {
        fail("text follows a closing quote; expected the separator or the end of the line");
      }
      return text;
    }
  }
  fail("a quote is not closed; expected one before the end of the file");
}

std::optional<std::vector<std::string>> CsvReader::next(size_t most) {
  while (in_.peek() == '\r' || in_.peek() == '\n') {
    if (in_.get() == '\n') ++line_;
  }
  if (is_end(in_.peek())) return std::nullopt;
  record_line_ = line_;
  std::vector<std::string> fields(1);
  bool is_at_start = true;
  for (;;) {
    const int c = in_.get();
    if (is_end(c)) return fields;
    if (c == '\n') {
      ++line_;
      return fields;
    }
    if (c == '\r' && (in_.peek() == '\n' || is_end(in_.peek()))) continue;
    if (c == separator_) {
      if (fields.size() >= most) {
        throw DataError(fmt::format("Dataset::from_csv: \"{}\", line {}: more than {} field{}; expected {}, one per column.", name_,
                                    record_line_, most, most == 1 ? "" : "s", most));
      }
      fields.emplace_back();
      is_at_start = true;
    } else if (c == '"' && is_at_start) {
      fields.back() = quoted_field();
      is_at_start = false;
    } else if (c == '"') {
      fail("a quote stands inside a field; expected the whole field in quotes, and two for one");
    } else {
      fields.back() += static_cast<char>(c);
      is_at_start = false;
    }
  }
}

}  // namespace anyshape::data
