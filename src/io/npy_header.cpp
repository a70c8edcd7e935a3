// Reading and writing the header's dictionary. Only the literals that NumPy writes are understood.
#include "io/npy_header.h"

#include "base/cut_text.h"

#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace anyshape {
namespace {

struct NpyName {
  Dtype dtype;
  std::string_view name;  // without the byte order
};
constexpr std::array names{NpyName{Dtype::b8, "b1"},  NpyName{Dtype::u8, "u1"},  NpyName{Dtype::i32, "i4"}, NpyName{Dtype::i64, "i8"},
                           NpyName{Dtype::f16, "f2"}, NpyName{Dtype::f32, "f4"}, NpyName{Dtype::f64, "f8"}};

Dtype dtype_named(std::string_view descr) {
  const auto found = std::ranges::find(names, descr.empty() ? descr : descr.substr(1), &NpyName::name);
  const bool single_byte = found != names.end() && size_of(found->dtype) == 1;
  const bool little = !descr.empty() && (descr[0] == '<' || descr[0] == '=');
  if (found != names.end() && (little || (single_byte && (descr[0] == '|' || descr[0] == '>')))) return found->dtype;
  throw FormatError(fmt::format("npy: dtype {} is not supported; expected one of |b1, |u1, <i4, <i8, <f2, <f4, <f8 (little endian).",
                                in_quotes(descr, '\'')));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyHeader run() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true)) {
        header.dtype = dtype_named(quoted());
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        header.shape = sizes();
      } else {
        refuse("a key that is unknown or there twice");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) refuse("text behind the dictionary");
    if (!has_descr || !has_order || !has_shape) refuse("a dictionary without all its keys");
    return header;
  }

 private:
  [[noreturn]] static void refuse(std::string_view what) {
    throw FormatError(fmt::format("npy: the header has {}; expected a dictionary with the keys descr, fortran_order and shape.", what));
  }
  void skip_space() {
    const size_t end = text_.find_first_not_of(" \n\t\r");
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }
  bool take(char letter) {
    skip_space();
    if (text_.empty() || text_[0] != letter) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char letter) {
    if (!take(letter)) refuse(fmt::format("no '{}' where one must stand", letter));
  }
  std::string_view quoted() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) refuse("no text in quotes where one must stand");
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) refuse("a quote that does not end");
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.starts_with(name)) continue;
      text_.remove_prefix(name.size());
      return value;
    }
    refuse("neither True nor False for fortran_order");
  }
  std::vector<int64_t> sizes() {
    std::vector<int64_t> found;
    expect('(');
    while (!take(')')) {
      skip_space();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) refuse("a shape that is not made of sizes");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      if (text_.starts_with('L')) text_.remove_prefix(1);  // written by Python 2
      found.push_back(size);
      if (found.size() > static_cast<size_t>(max_rank)) refuse(fmt::format("more than {} axes", max_rank));
      if (!take(',')) {
        expect(')');
        if (found.size() == 1) refuse("a number instead of a shape");
        break;
      }
    }
    return found;
  }

  std::string_view text_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).run(); }

std::string print_npy_header(const NpyHeader& header) {
  const auto found = std::ranges::find(names, header.dtype, &NpyName::dtype);
  if (found == names.end()) {
    throw DtypeError(fmt::format("save_npy: the tensor is {}; expected a dtype that NumPy has. Use cast(tensor, as::f32) first.",
                                 to_string(header.dtype)));
  }
  std::string shape;
  for (const int64_t size : header.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  return fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}{}), }}", size_of(header.dtype) == 1 ? '|' : '<', found->name,
                     header.fortran_order ? "True" : "False", shape, header.shape.size() == 1 ? "," : "");
}

}  // namespace anyshape
