// Words of the kernel text: what the parser reads and which names the printer has to quote.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::loop {

struct Token {
  enum class Kind { Name, Number, Symbol, End };
  Kind kind = Kind::End;
  std::string text;  // a quoted name without its quotes
  int line = 1;
  bool quoted = false;  // a name in quotes is never a keyword
};

std::vector<Token> tokenize(std::string_view text);  // FormatError for a character that starts nothing; ends with an End token
bool is_keyword(std::string_view word);
std::string quoted_if_needed(const std::string& name);

}  // namespace anyshape::loop
