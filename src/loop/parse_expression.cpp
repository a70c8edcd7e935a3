// Parses the expressions of kernel text straight into instructions.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "loop/math.h"
#include "loop/parser.h"

namespace anyshape::loop {
namespace {

struct Infix {
  std::string_view symbol;
  int level;
  Op op;
  bool swapped = false;  // a > b is b < a
};

constexpr std::array<Infix, 17> infixes = {{{"==", 1, Op::Equal},
                                            {"!=", 1, Op::NotEqual},
                                            {"<", 1, Op::Less},
                                            {"<=", 1, Op::LessEqual},
                                            {">", 1, Op::Less, true},
                                            {">=", 1, Op::LessEqual, true},
                                            {"|", 2, Op::Or},
                                            {"^", 3, Op::Xor},
                                            {"&", 4, Op::And},
                                            {"<<", 5, Op::ShiftLeft},
                                            {">>", 5, Op::ShiftRight},
                                            {">>>", 5, Op::ShiftRightLogical},
                                            {"+", 6, Op::Add},
                                            {"-", 6, Op::Subtract},
                                            {"*", 7, Op::Multiply},
                                            {"//", 7, Op::FloorDivide},
                                            {"%", 7, Op::Modulo}}};
constexpr Infix division = {"/", 7, Op::Divide};
constexpr int unary_level = 8;

struct UnaryFunction {
  std::string_view name;
  Op op;
};
constexpr std::array<UnaryFunction, 6> unary_functions = {{{"abs", Op::Absolute},
                                                           {"sqrt", Op::SquareRoot},
                                                           {"floor", Op::Floor},
                                                           {"ceil", Op::Ceil},
                                                           {"trunc", Op::Truncate},
                                                           {"round", Op::Round}}};

std::optional<Dtype> dtype_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Dtype::f64); ++i) {
    if (name == to_string(static_cast<Dtype>(i))) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

}  // namespace

Value Parser::settle(const Term& term, std::optional<Dtype> type) {
  if (const Value* value = std::get_if<Value>(&term)) return *value;
  return constant_from(builder_, std::get<Literal>(term), type);
}

std::vector<Value> Parser::settle_together(const std::vector<Term>& terms) {
  std::optional<Dtype> type;
  for (const Term& term : terms) {
    if (const Value* value = std::get_if<Value>(&term); value != nullptr && !type) type = builder_.type(*value);
  }
  std::vector<Value> values;
  for (const Term& term : terms) values.push_back(settle(term, type));
  return values;
}

Value Parser::expression() { return settle(parse_level(1)); }

Value Parser::integer_expression(std::string_view what) {
  const int line = peek().line;
  const Value value = expression();
  if (builder_.type(value) != Dtype::i64) fail_at(line, fmt::format("{} of type {}; expected i64", what, to_string(builder_.type(value))));
  return value;
}

std::vector<Value> Parser::expressions() {
  std::vector<Value> values;
  do values.push_back(expression());
  while (accept(","));
  return values;
}

Parser::Term Parser::parse_level(int level) {
  if (level == unary_level) return parse_unary();
  Term left = parse_level(level + 1);
  while (true) {
    const Infix* found = is(division.symbol) && level == division.level ? &division : nullptr;
    for (const Infix& infix : infixes) {
      if (infix.level == level && is(infix.symbol)) found = &infix;
    }
    if (found == nullptr) return left;
    ++position_;
    const Term right = parse_level(level + 1);
    const std::vector<Value> both = settle_together({left, right});
    left = builder_.binary(found->op, both[found->swapped ? 1 : 0], both[found->swapped ? 0 : 1]);
    if (level == 1 &&
        std::any_of(infixes.begin(), infixes.end(), [&](const Infix& infix) { return infix.level == 1 && is(infix.symbol); })) {
      fail("no second comparison; write parentheses");
    }
  }
}

Parser::Term Parser::parse_unary() {
  if (++depth_ > 400) fail("less nesting");
  const bool minus = accept("-");
  const bool complement = !minus && (accept("!") || accept("~"));
  Term term = minus || complement ? parse_unary() : parse_primary();
  --depth_;
  if (minus) {
    if (Literal* literal = std::get_if<Literal>(&term)) {
      literal->negative = !literal->negative;
      return term;
    }
    return builder_.unary(Op::Negate, std::get<Value>(term));
  }
  return complement ? Term(builder_.unary(Op::Not, settle(term))) : term;
}

Parser::Term Parser::parse_primary() {
  const Token& token = peek();
  const int line = token.line;
  if (token.kind == Token::Kind::Number || is("inf") || is("nan")) {
    ++position_;
    return read_literal(token.text, line);
  }
  if (accept("true")) return builder_.constant(Dtype::b8, int64_t{1});
  if (accept("false")) return builder_.constant(Dtype::b8, int64_t{0});
  if (accept("(")) {
    const Term inner = parse_level(1);
    expect(")", "after an expression in parentheses");
    return inner;
  }
  const std::string name = expect_name("an expression");
  if (accept("(")) return parse_function(name, line);
  if (accept("[")) {
    const int32_t from = buffer(name, line);
    const Value offset = integer_expression("an offset");
    expect("]", "after the offset");
    return builder_.load_bits(from, offset);
  }
  const auto found = values_.find(name);
  if (found == values_.end())
    fail_at(line, fmt::format("{} has no value here; expected a dim, a loop variable or a name bound before", name));
  return found->second;
}

std::vector<Parser::Term> Parser::arguments(const std::string& function, size_t count) {
  std::vector<Term> terms;
  do terms.push_back(parse_level(1));
  while (accept(","));
  expect(")", "after the arguments");
  if (terms.size() != count) fail_at(peek().line, fmt::format("{} has {} arguments; expected {}", function, terms.size(), count));
  return terms;
}

Parser::Term Parser::parse_function(const std::string& name, int line) {
  if (const auto type = dtype_named(name)) {
    const Term term = arguments(name, 1)[0];
    // A number in a cast is written at the precision of its target: f64(0.1) is the f64 nearest to 0.1.
    if (std::holds_alternative<Literal>(term)) return settle(term, type);
    return builder_.cast(std::get<Value>(term), *type);
  }
  if (name.starts_with("bitcast_")) {
    const auto type = dtype_named(std::string_view(name).substr(8));
    if (!type) fail_at(line, fmt::format("{} is no function; expected bitcast_ and a dtype", name));
    return builder_.bitcast(settle(arguments(name, 1)[0]), *type);
  }
  for (const UnaryFunction& function : unary_functions) {
    if (name == function.name) return builder_.unary(function.op, settle(arguments(name, 1)[0]));
  }
  if (name == "exp") return exp(builder_, settle(arguments(name, 1)[0]));
  if (name == "log") return log(builder_, settle(arguments(name, 1)[0]));
  if (name == "tanh") return tanh(builder_, settle(arguments(name, 1)[0]));
  if (name == "sigmoid") return sigmoid(builder_, settle(arguments(name, 1)[0]));
  if (name == "min" || name == "max") {
    const std::vector<Value> both = settle_together(arguments(name, 2));
    return builder_.binary(name == "min" ? Op::Minimum : Op::Maximum, both[0], both[1]);
  }
  if (name == "fma") {
    const std::vector<Value> all = settle_together(arguments(name, 3));
    return builder_.fma(all[0], all[1], all[2]);
  }
  if (name == "select") {
    const std::vector<Term> terms = arguments(name, 3);
    const Value condition = settle(terms[0]);
    const std::vector<Value> both = settle_together({terms[1], terms[2]});
    return builder_.select(condition, both[0], both[1]);
  }
  fail_at(line,
          fmt::format("{} is no function; expected one of min max fma select abs sqrt floor ceil trunc round exp log tanh sigmoid, a dtype "
                      "or bitcast_ and a dtype",
                      name));
}

}  // namespace anyshape::loop
