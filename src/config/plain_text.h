// What JSON and the text for people write alike: numbers, texts and lists, and commas between parts.
#pragma once
#include <anyshape/config.h>

#include <string>
#include <string_view>

namespace anyshape {

// begin, the parts with ", " between them, end.
template <class Parts, class Append>
void append_joined(std::string& text, char begin, const Parts& parts, char end, const Append& append) {
  text += begin;
  bool is_first = true;
  for (const auto& each : parts) {
    if (!is_first) text += ", ";
    is_first = false;
    append(each);
  }
  text += end;
}

// Anything but a map or an object; `append` writes the items of a list. A number is the shortest text that reads as the same bits: "0.1", "1.0",
// "1e-07"; "NaN", "Infinity", "-Infinity".
void append_plain(std::string& text, const Config& config, std::string_view nothing, void (*append)(std::string&, const Config&));

}  // namespace anyshape
