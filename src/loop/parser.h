// The parser of kernel text: statements in parse.cpp, expressions in parse_expression.cpp. Private to those two.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loop/build.h"
#include "loop/literal.h"
#include "loop/tokens.h"

namespace anyshape::loop {

class Parser {
 public:
  explicit Parser(std::string_view text);
  Kernel run();

 private:
  // An operand: a value, or a number that waits for its type.
  using Term = std::variant<Value, Literal>;

  // tokens
  const Token& peek(size_t ahead = 0) const;
  bool is(std::string_view symbol, size_t ahead = 0) const;  // a symbol or keyword
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol, std::string_view where);
  std::string expect_name(std::string_view what);
  Dtype expect_dtype();
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail_at(int line, std::string_view what) const;

  // statements
  void declarations();
  void statement();
  void statement_checked();
  void block();
  void assignment();
  void store();
  void loop(LoopKind kind);
  void ranges();
  void runs();
  Walk walk();
  void with_names(std::initializer_list<std::pair<std::string, Value>> names, int line, const std::function<void()>& body);
  void bind_carry(const std::vector<std::string>& names, int line);
  void bind_reduce(const std::vector<std::string>& names, int line);
  void branch();
  void call();
  std::vector<std::string> name_list();
  std::vector<Value> body_with(std::string_view last_keyword);  // "{" statements keyword values "}"
  std::pair<Value, Value> range();
  void bind(const std::string& name, Value value, int line);
  int32_t buffer(const std::string& name, int line) const;

  // expressions
  Value expression();
  Value integer_expression(std::string_view what);
  std::vector<Value> expressions();
  Term parse_level(int level);
  Term parse_unary();
  Term parse_primary();
  Term parse_function(const std::string& name, int line);
  Value settle(const Term& term, std::optional<Dtype> type = std::nullopt);
  std::vector<Value> settle_together(const std::vector<Term>& terms);
  std::vector<Term> arguments(const std::string& function, size_t count);

  std::vector<Token> tokens_;
  size_t position_ = 0;
  int depth_ = 0;  // of nested blocks and expressions: deep text must not overflow the stack
  Builder builder_;
  std::map<std::string, Value> values_;  // visible names
  std::vector<std::string> scope_;       // names in the order they were bound
  std::map<std::string, int32_t> buffers_;
  std::vector<Dtype> buffer_types_;
};

}  // namespace anyshape::loop
