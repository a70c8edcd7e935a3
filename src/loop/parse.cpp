// Parses kernel text: header, buffers and statements. The grammar stands in loop/text.h.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "loop/parser.h"
#include "loop/rules.h"
#include "loop/text.h"

namespace anyshape::loop {

static std::string kernel_name(const std::vector<Token>& tokens) { return tokens.size() > 1 ? tokens[1].text : ""; }

Parser::Parser(std::string_view text) : tokens_(tokenize(text)), builder_(kernel_name(tokens_)) {}

const Token& Parser::peek(size_t ahead) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }

bool Parser::is(std::string_view symbol, size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind != Token::Kind::End && token.kind != Token::Kind::Number && !token.quoted && token.text == symbol;
}

bool Parser::accept(std::string_view symbol) {
  if (!is(symbol)) return false;
  ++position_;
  return true;
}

void Parser::fail_at(int line, std::string_view what) const { throw FormatError(fmt::format("kernel text, line {}: {}.", line, what)); }

void Parser::fail(std::string_view expected) const {
  fail_at(peek().line, fmt::format("{} stands where it cannot; expected {}", peek().text, expected));
}

void Parser::expect(std::string_view symbol, std::string_view where) {
  if (!accept(symbol)) fail(fmt::format("{} {}", symbol, where));
}

std::string Parser::expect_name(std::string_view what) {
  if (peek().kind != Token::Kind::Name || (!peek().quoted && is_keyword(peek().text))) fail(what);
  return tokens_[position_++].text;
}

Dtype Parser::expect_dtype() {
  const std::string name = expect_name("a dtype");
  for (int i = 0; i <= static_cast<int>(Dtype::f64); ++i) {
    if (name == to_string(static_cast<Dtype>(i))) return static_cast<Dtype>(i);
  }
  --position_;
  fail("a dtype: b8, u8, i32, i64, f32 or f64");
}

Kernel Parser::run() {
  declarations();
  while (!is("}")) statement();
  expect("}", "after the last statement");
  if (peek().kind != Token::Kind::End) fail("nothing after the kernel");
  try {
    return builder_.finish();
  } catch (const InternalError& error) {
    throw FormatError(fmt::format("kernel text: {}", error.what()));
  }
}

void Parser::declarations() {
  expect("kernel", "at the beginning");
  expect_name("the kernel's name");
  expect("(", "before the dims");
  while (!is(")")) {
    const int line = peek().line;
    const std::string name = expect_name("a dim's name");
    bind(name, builder_.size(name), line);
    if (!accept(",")) break;
  }
  expect(")", "after the dims");
  expect("{", "before the kernel's body");
  while (is("in") || is("out") || is("inout") || is("own")) {
    const Access access = is("in") ? Access::In : is("out") ? Access::Out : is("own") ? Access::Own : Access::InOut;
    ++position_;
    const int line = peek().line;
    const std::string name = expect_name("a buffer's name");
    expect(":", "before the buffer's dtype");
    const Dtype type = expect_dtype();
    if (buffers_.contains(name)) fail_at(line, fmt::format("buffer {} is declared a second time", name));
    buffers_[name] = builder_.buffer(name, type, access);
    buffer_types_.push_back(type);
  }
}

void Parser::bind(const std::string& name, Value value, int line) {
  if (!values_.try_emplace(name, value).second) {
    fail_at(line, fmt::format("{} has a value already; expected a new name (or carry, to pass values between iterations)", name));
  }
  scope_.push_back(name);
}

int32_t Parser::buffer(const std::string& name, int line) const {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) fail_at(line, fmt::format("no buffer is named {}; expected one declared with in, out or inout", name));
  return found->second;
}

void Parser::statement() {
  if (++depth_ > 400) fail("less nesting");
  const int line = peek().line;
  try {
    statement_checked();
  } catch (const InternalError& error) {
    throw FormatError(fmt::format("kernel text, line {}: {}", line, error.what()));
  }
  while (accept(";")) {
  }
  --depth_;
}

void Parser::statement_checked() {
  if (accept("for")) return loop(LoopKind::Serial);
  if (accept("each")) return loop(LoopKind::Each);
  if (accept("ranges")) return ranges();
  if (accept("runs")) return runs();
  if (accept("elements")) return loop(LoopKind::Elements);
  if (accept("parallel")) return loop(LoopKind::Parallel);
  if (accept("vector")) return loop(LoopKind::Vector);
  if (accept("if")) return branch();
  if (accept("call")) return call();
  if (peek().kind != Token::Kind::Name || (!peek().quoted && is_keyword(peek().text))) fail("a statement");
  if (is("[", 1)) return store();
  assignment();
}

void Parser::store() {
  const int line = peek().line;
  const int32_t into = buffer(expect_name("a buffer"), line);
  expect("[", "before the offset");
  const Value offset = integer_expression("an offset");
  expect("]", "after the offset");
  expect("=", "before the stored value");
  const Term value = parse_level(1);
  builder_.store_bits(into, offset, settle(value, loaded_as(buffer_types_[static_cast<size_t>(into)])));
}

std::vector<std::string> Parser::name_list() {
  std::vector<std::string> names;
  do names.push_back(expect_name("a name"));
  while (accept(","));
  return names;
}

void Parser::assignment() {
  const int line = peek().line;
  const std::vector<std::string> names = name_list();
  expect("=", "after the names of a statement");
  if (accept("for")) return bind_carry(names, line);
  if (accept("reduce")) return bind_reduce(names, line);
  if (names.size() != 1) fail("for or reduce: an expression has one result");
  bind(names[0], expression(), line);
}

std::pair<Value, Value> Parser::range() {
  const Value begin = integer_expression("the begin of a range");
  expect("..", "between begin and end");
  return {begin, integer_expression("the end of a range")};
}

std::vector<Value> Parser::body_with(std::string_view last_keyword) {
  const size_t before = scope_.size();
  expect("{", "before a body");
  std::vector<Value> values;
  while (!is("}")) {
    if (!last_keyword.empty() && accept(last_keyword)) {
      values = expressions();
      while (accept(";")) {
      }
      if (!is("}")) fail(fmt::format("}} after {}", last_keyword));
      break;
    }
    statement();
  }
  expect("}", "after a body");
  for (size_t i = before; i < scope_.size(); ++i) values_.erase(scope_[i]);
  scope_.resize(before);
  return values;
}

void Parser::block() { body_with(""); }

void Parser::loop(LoopKind kind) {
  const int line = peek().line;
  const std::string name = expect_name("the loop's variable");
  expect("in", "after the loop's variable");
  const bool reverse = kind == LoopKind::Serial && accept("reverse");
  const auto [begin, end] = range();
  const auto body = [&](Value index) {
    bind(name, index, line);
    block();
    values_.erase(name);
    scope_.pop_back();
  };
  if (kind == LoopKind::Vector) return builder_.vector_for(begin, end, body);
  if (kind == LoopKind::Elements) return builder_.elements(begin, end, body);
  if (kind == LoopKind::Each) {
    expect("work", "after the range of a loop over each");
    const Value work = integer_expression("the work of an iteration");
    return builder_.each(begin, end, work, body);
  }
  if (kind == LoopKind::Parallel) {
    expect("grain", "after the range of a parallel loop");
    const Value grain = integer_expression("a grain");
    return builder_.parallel_for(begin, end, grain, body);
  }
  if (is("carry")) fail("a body; a loop that carries values binds its results: a, b = for ...");
  if (!reverse) return builder_.serial_for(begin, end, body);
  builder_.carry_for(begin, end, {}, [&](Value index, std::span<const Value>) { return body(index), std::vector<Value>(); }, true);
}

Walk Parser::walk() {
  for (const Walk each : {Walk::Once, Walk::Lines, Walk::Sums, Walk::Scattered}) {
    if (accept(name_of(each))) return each;
  }
  fail("once, lines, sums or scattered");
}

void Parser::ranges() {
  const int line = peek().line;
  const std::string row = expect_name("the row's variable");
  expect(",", "between the row and its range");
  const std::string first = expect_name("the variable of a range's begin");
  expect("..", "between begin and end");
  const std::string last = expect_name("the variable of a range's end");
  expect("of", "after the variables of ranges");
  const Value rows = integer_expression("how many rows there are");
  expect(",", "between the rows and their length");
  const Value length = integer_expression("the length of a row");
  const Walk how = walk();
  expect("work", "after the walk");
  const Value work = integer_expression("the work of an index");
  builder_.ranges(rows, length, work, how, [&](Value number, Value begin, Value end) {
    with_names({{row, number}, {first, begin}, {last, end}}, line, [&] { block(); });
  });
}

void Parser::runs() {
  const int line = peek().line;
  const std::string first = expect_name("the variable of a run's begin");
  expect("..", "between begin and end");
  const std::string last = expect_name("the variable of a run's end");
  expect("in", "after the variables of runs");
  const auto [begin, end] = range();
  expect("work", "after the range of runs");
  const Value work = integer_expression("the work of an index");
  builder_.runs(begin, end, work, [&](Value from, Value to) { with_names({{first, from}, {last, to}}, line, [&] { block(); }); });
}

// Names that are visible in a body only.
void Parser::with_names(std::initializer_list<std::pair<std::string, Value>> names, int line, const std::function<void()>& body) {
  for (const auto& [name, value] : names) bind(name, value, line);
  body();
  for (size_t i = 0; i < names.size(); ++i) {
    values_.erase(scope_.back());
    scope_.pop_back();
  }
}

void Parser::bind_carry(const std::vector<std::string>& names, int line) {
  const std::string name = expect_name("the loop's variable");
  expect("in", "after the loop's variable");
  const bool reverse = accept("reverse");
  const auto [begin, end] = range();
  expect("carry", "after the range, with the values that the loop results in");
  expect("(", "after carry");
  std::vector<std::string> carried;
  std::vector<Value> initial;
  do {
    carried.push_back(expect_name("a carried value's name"));
    expect("=", "before an initial value");
    initial.push_back(expression());
  } while (accept(","));
  expect(")", "after the carried values");
  if (carried.size() != names.size()) fail_at(line, fmt::format("{} results of {} carried values", names.size(), carried.size()));
  const auto body = [&](Value index, std::span<const Value> current) {
    bind(name, index, line);
    for (size_t i = 0; i < carried.size(); ++i) bind(carried[i], current[i], line);
    std::vector<Value> next = body_with("next");
    for (size_t i = 0; i <= carried.size(); ++i) {
      values_.erase(scope_.back());
      scope_.pop_back();
    }
    return next;
  };
  const std::vector<Value> results = builder_.carry_for(begin, end, initial, body, reverse);
  for (size_t i = 0; i < names.size(); ++i) bind(names[i], results[i], line);
}

void Parser::bind_reduce(const std::vector<std::string>& names, int line) {
  std::vector<Combine> combine;
  do {
    static constexpr std::array<std::string_view, 7> words = {"sum", "sum_to", "product", "max", "min", "all", "any"};
    const auto found = std::find(words.begin(), words.end(), peek().text);
    if (found == words.end()) fail("sum, sum_to, product, max, min, all or any");
    combine.push_back(static_cast<Combine>(found - words.begin()));
    ++position_;
  } while (accept(","));
  if (combine.size() != names.size()) fail_at(line, fmt::format("{} results of {} combinations", names.size(), combine.size()));
  const std::string name = expect_name("the loop's variable");
  expect("in", "after the loop's variable");
  const auto [begin, end] = range();
  const std::vector<Value> results = builder_.reduce(begin, end, combine, [&](Value index) {
    bind(name, index, line);
    std::vector<Value> values = body_with("yield");
    values_.erase(name);
    scope_.pop_back();
    return values;
  });
  for (size_t i = 0; i < names.size(); ++i) bind(names[i], results[i], line);
}

void Parser::branch() {
  const Value condition = expression();
  // The builder has to know whether there is a second body before the first is read, so the first is built and the second added where it is.
  builder_.if_(
      condition, [&] { block(); },
      [&] {
        if (!accept("else")) return;
        if (is("if")) return statement();
        block();
      });
}

void Parser::call() {
  const std::string name = expect_name("a routine's name");
  expect("(", "after the routine's name");
  std::vector<Builder::Argument> buffers;
  std::vector<Value> integers;
  while (!is(")") && !is(";")) {
    const int line = peek().line;
    const int32_t number = buffer(expect_name("a buffer"), line);
    expect("[", "before the offset");
    buffers.push_back({number, integer_expression("an offset")});
    expect("]", "after the offset");
    if (!accept(",")) break;
  }
  if (accept(";")) {
    do integers.push_back(integer_expression("an integer"));
    while (accept(","));
  }
  expect(")", "after the arguments");
  builder_.call(name, buffers, integers);
}

Kernel parse(std::string_view text) { return Parser(text).run(); }

}  // namespace anyshape::loop
