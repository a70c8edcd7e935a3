// Records, one character after the other.
#include "data/csv_reader.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::data {

CsvReader::CsvReader(const std::filesystem::path& file, char separator)
    : name_(file.string()), in_(file), separator_(separator), buffer_(size_t{64} << 10) {
  const auto code = static_cast<unsigned char>(separator);
  if (code > 127 || separator == '"' || separator == '\n' || separator == '\r') {
    throw ArgumentError(
        fmt::format("Dataset::from_csv: the separator is character {}; expected an ASCII one that is no quote and no line end.", code));
  }
  if (!in_.problem().empty()) fail_to_read(in_.problem());
  constexpr std::string_view mark = "\xef\xbb\xbf";  // a byte order mark, which some programs write
  if (peek() >= 0 && std::string_view(buffer_.data(), end_).starts_with(mark)) offset_ = mark.size();
}

bool CsvReader::fill() {
  const int64_t bytes = in_.read(buffer_.data(), static_cast<int64_t>(buffer_.size()));
  if (bytes < 0) fail_to_read("cannot be read on");
  offset_ = 0;
  end_ = static_cast<size_t>(bytes);
  return bytes > 0;
}

void CsvReader::fail_to_read(const std::string& problem) const {
  throw DataError(fmt::format("Dataset::from_csv: \"{}\" {}; expected a file.", name_, problem));
}

void CsvReader::fail(const std::string& what) const {
  throw FormatError(fmt::format("Dataset::from_csv: \"{}\", line {}: {}.", name_, record_line_, what));
}

bool CsvReader::take_line_end() {
  const int character = peek();
  if (character != '\n' && character != '\r') return false;
  get();
  if (character == '\r' && peek() == '\n') get();
  ++line_;
  return true;
}

// After the opening quote, up to what ends the field; "" is a quote.
std::string CsvReader::quoted_field() {
  std::string text;
  for (int c = get(); c != end_of_file; c = get()) {
    if (c == '\n' || (c == '\r' && peek() != '\n')) ++line_;
    if (c != '"') {
      text += static_cast<char>(c);
    } else if (peek() == '"') {
      text += static_cast<char>(get());
    } else {
      const int after = peek();
      if (after != separator_ && after != '\r' && after != '\n' && after != end_of_file) {
        fail("text follows a closing quote; expected the separator or the end of the line");
      }
      return text;
    }
  }
  fail("a quote is not closed; expected one before the end of the file");
}

std::optional<std::vector<std::string>> CsvReader::next(size_t most, std::string_view expected) {
  while (take_line_end()) {
  }
  if (peek() == end_of_file) return std::nullopt;
  record_line_ = line_;
  std::vector<std::string> fields(1);
  bool is_at_start = true;
  for (;;) {
    if (peek() == end_of_file || take_line_end()) return fields;
    const int c = get();
    if (c == separator_) {
      if (fields.size() >= most) {
        throw DataError(fmt::format("Dataset::from_csv: \"{}\", line {}: more than {} field{}; expected {}.", name_, record_line_, most,
                                    most == 1 ? "" : "s", expected));
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
