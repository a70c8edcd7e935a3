// A line-by-line reader of graph text. Its input may be hostile: every number is bounded, every name is looked up, and a node enters the
// graph only as its op's rules say.
#include "shape/parse.h"
#include "graph/text.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace anyshape::graph {
namespace {

constexpr size_t max_length = size_t{1} << 24;
constexpr size_t max_checks = 1024;
constexpr size_t max_work = size_t{1} << 22;  // every check is weighed for every node
constexpr int64_t max_id = 1 << 30;

[[noreturn]] void fail(const std::string& what) { throw FormatError(what); }

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Dtype dtype_in(std::string_view text) {
  for (Dtype dtype = Dtype::b8; dtype <= Dtype::f64; dtype = static_cast<Dtype>(static_cast<int>(dtype) + 1)) {
    if (to_string(dtype) == text) return dtype;
  }
  fail(fmt::format("expected a dtype, found \"{}\"", text));
}

// One line, read from left to right.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail_here(fmt::format("\"{}\"", token));
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  void expect_end() {
    if (!at_end()) fail_here("the end of the line");
  }

  std::string_view word(std::string_view what) {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ == begin) fail_here(what);
    return text_.substr(begin, at_ - begin);
  }
  std::string name(std::string_view what) {
    if (!accept("\"")) return std::string(word(what));
    std::string result;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escaped) ++at_;
      result += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
    }
    expect("\"");
    return result;
  }
  bool at_digit() {
    skip_space();
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }
  int64_t integer(std::string_view what) {
    if (!at_digit()) fail_here(what);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail_here("a number that fits 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  // Everything up to one of `ends` that stands in no bracket, without spaces at its end.
  std::string_view up_to(std::string_view ends) {
    skip_space();
    const size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      depth += c == '[' || c == '(' ? 1 : 0;
      depth -= c == ']' || c == ')' ? 1 : 0;
    }
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
    return found;
  }
  [[noreturn]] void fail_here(std::string_view expected) const {
    fail(fmt::format("expected {} at character {}, found \"{}\"", expected, at_ + 1, text_.substr(at_, 40)));
  }

 private:
  static bool is_word(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c >= 0x80;
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

// Writes fields from the texts given for their names.
class AttrReader final : public AttrVisitor {
 public:
  AttrReader(std::map<std::string_view, std::string_view> given, const SymbolLookup& lookup) : given_(std::move(given)), lookup_(lookup) {}
  void operator()(std::string_view name, bool& field) override {
    read(name, [&](std::string_view text) {
      if (text != "true" && text != "false") fail(fmt::format("expected true or false for {}, found \"{}\"", name, text));
      field = text == "true";
    });
  }
  void operator()(std::string_view name, int64_t& field) override {
    read(name, [&](std::string_view text) { field = number<int64_t>(name, text); });
  }
  void operator()(std::string_view name, double& field) override {
    read(name, [&](std::string_view text) { field = number<double>(name, text); });
  }
  void operator()(std::string_view name, Dtype& field) override {
    read(name, [&](std::string_view text) { field = dtype_in(text); });
  }
  void operator()(std::string_view name, Dim& field) override {
    read(name, [&](std::string_view text) { field = parse_dim(text, lookup_); });
  }
  void operator()(std::string_view name, Shape& field) override {
    read(name, [&](std::string_view text) { field = parse_shape(text, lookup_); });
  }
  void operator()(std::string_view name, std::vector<int64_t>& field) override {
    field.clear();
    for_each(name, [&](std::string_view text) { field.push_back(number<int64_t>(name, text)); });
  }
  void operator()(std::string_view name, std::vector<Dim>& field) override {
    field.clear();
    for_each(name, [&](std::string_view text) { field.push_back(parse_dim(text, lookup_)); });
  }
  void expect_all_used(std::string_view op) const {
    if (!given_.empty()) fail(fmt::format("{} has no attribute \"{}\"", op, given_.begin()->first));
  }

 private:
  template <class T>
  static T number(std::string_view name, std::string_view text) {
    const std::optional<T> value = number_in<T>(text);
    if (!value) fail(fmt::format("expected a number for {}, found \"{}\"", name, text));
    return *value;
  }
  template <class Body>
  void read(std::string_view name, const Body& body) {
    const auto found = given_.find(name);
    if (found == given_.end()) return;
    body(found->second);
    given_.erase(found);
  }
  template <class Body>
  void for_each(std::string_view name, const Body& body) {
    read(name, [&](std::string_view text) {
      Line line(text);
      line.expect("[");
      if (!line.accept("]")) {
        do body(line.up_to(",]"));
        while (line.accept(","));
        line.expect("]");
      }
      line.expect_end();
    });
  }
  std::map<std::string_view, std::string_view> given_;
  const SymbolLookup& lookup_;
};

class Parser {
 public:
  Parser(std::string_view text, FindOp find_op) : rest_(text), find_op_(find_op) {}

  std::unique_ptr<Graph> run() {
    try {
      if (rest_.size() > max_length) fail(fmt::format("{} characters, more than {}", rest_.size(), max_length));
      read_graph();
    } catch (const Error& error) {
      throw FormatError(fmt::format("graph text, line {}: {}", line_number_, error.what()));
    }
    return std::move(graph_);
  }

 private:
  void read_graph() {
    Line line = next_line("a graph");
    for (; line.accept("size "); line = next_line("a graph")) read_size(line);
    read_header(line);
    for (line = next_line("a node");; line = next_line("a node")) {
      const bool is_guard = line.accept("guard ");
      if (!is_guard && !line.accept("check ")) break;
      read_check(line, is_guard);
    }
    makes_symbols_ = false;
    for (; !line.accept("return"); line = next_line("\"return\"")) read_node(line);
    if (!line.at_end()) graph_->outputs = values(line);
    line.expect_end();
    line = next_line("\"}\"");
    line.expect("}");
    line.expect_end();
    if (rest_.find_first_not_of(" \t\r\n") != std::string_view::npos) fail("expected nothing after the graph");
  }

  // The next line that is not empty.
  Line next_line(std::string_view expected) {
    while (!rest_.empty()) {
      const std::string_view text = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(text.size() + 1, rest_.size()));
      ++line_number_;
      if (Line line(text); !line.at_end()) return line;
    }
    fail(fmt::format("expected {}, found the end of the text", expected));
  }

  void read_size(Line& line) {
    const std::string name(line.word("the name of a size"));
    DimOptions options;
    if (line.accept(":")) {
      options.min = line.integer("the least size");
      line.expect("..");
      if (line.at_digit()) options.max = line.integer("the largest size");
      if (line.accept("multiple of")) options.multiple_of = line.integer("a number");
    }
    line.expect_end();
    if (!symbols_.emplace(name, make_symbol(name, options)).second) fail(fmt::format("size {} is there twice", name));
  }

  void read_header(Line& line) {
    line.expect("graph ");
    graph_->name = line.name("the name of the graph");
    line.expect("(");
    while (!line.accept(")")) {
      if (!graph_->inputs().empty()) line.expect(",");
      const int id = value_id(line);
      std::string name;
      if (!line.accept(":")) name = line.name("the name of the input"), line.expect(":");
      TensorSpec input = spec(line);
      input.name = std::move(name);
      define(id, graph_->add_input(std::move(input)));
    }
    line.expect("{");
    line.expect_end();
  }

  void read_check(Line& line, bool is_guard) {
    if (graph_->checks.size() == max_checks) fail(fmt::format("more than {} checks", max_checks));
    Check check;
    check.retrace = is_guard;
    const std::string_view whole = line.up_to("");
    const size_t colon = std::min(whole.rfind(": "), whole.size());  // sizes have none, names of ops may
    check.op = std::string(whole.substr(0, colon));
    const std::string_view text = whole.substr(std::min(colon + 2, whole.size()));
    for (Relation relation : {Relation::Equal, Relation::NotEqual, Relation::LessEqual, Relation::Less, Relation::Broadcastable}) {
      const std::string sign = fmt::format(" {} ", to_string(relation));
      const size_t at = text.find(sign);
      if (at == std::string_view::npos) continue;
      check.check = {relation, parse_dim(text.substr(0, at), lookup_), parse_dim(text.substr(at + sign.size()), lookup_)};
      check.what = "a size rule does not hold";
      check.expected = to_string(check.check);
      facts_.assume(check.check);
      graph_->checks.push_back(std::move(check));
      return;
    }
    fail(fmt::format("expected two sizes and their relation, found \"{}\"", text));
  }

  void read_node(Line& line) {
    if (graph_->nodes().size() * (graph_->checks.size() + 1) > max_work) fail("too many nodes for so many checks");
    std::vector<int> ids;
    do ids.push_back(value_id(line));
    while (line.accept(","));
    line.expect("=");
    const std::string_view name = line.up_to("(");
    const OpDef* op = find_op_(name);
    if (op == nullptr) fail(fmt::format("\"{}\" is no op", name));
    line.expect("(");
    std::vector<Value*> inputs;
    if (!line.accept(")")) inputs = values(line), line.expect(")");
    Attrs attrs = read_attrs(line, *op);
    line.expect(":");
    std::vector<TensorSpec> outputs;
    do outputs.push_back(spec(line));
    while (line.accept(","));
    line.expect_end();
    if (ids.size() != outputs.size()) fail(fmt::format("{} values but {} specs", ids.size(), outputs.size()));
    require_rules(*op, inputs, attrs, outputs);
    const Node* node = graph_->add_node(*op, std::move(inputs), std::move(attrs), outputs);
    for (size_t i = 0; i < ids.size(); ++i) define(ids[i], node->outputs[i]);
  }

  Attrs read_attrs(Line& line, const OpDef& op) {
    std::map<std::string_view, std::string_view> given;
    if (line.accept("{")) {
      do {
        const std::string_view name = line.word("the name of an attribute");
        line.expect("=");
        if (!given.emplace(name, line.up_to(",}")).second) fail(fmt::format("attribute \"{}\" is there twice", name));
      } while (line.accept(","));
      line.expect("}");
    }
    AttrReader reader(std::move(given), lookup_);
    Attrs attrs = op.attrs != nullptr ? op.attrs().rewritten(reader) : Attrs();
    reader.expect_all_used(op.name);
    return attrs;
  }

  void require_rules(const OpDef& op, std::span<Value* const> inputs, const Attrs& attrs, std::span<const TensorSpec> outputs) const {
    std::vector<TensorSpec> specs;
    for (const Value* input : inputs) specs.push_back(input->spec);
    std::vector<OpCheck> open;
    const Specs expected = specs_by_rules(op, specs, attrs, &facts_, &open);
    if (!open.empty()) fail(fmt::format("{} needs a check: {}", op.name, to_string(open[0].check)));
    if (expected.size() != outputs.size()) fail(fmt::format("{} gives {} values, not {}", op.name, expected.size(), outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Shape &shape = outputs[i].shape, &rule = expected[i].shape;
      bool same = outputs[i].dtype == expected[i].dtype && shape.rank() == rule.rank();
      for (int axis = 0; same && axis < shape.rank(); ++axis) same = facts_.proves_equal(shape[axis], rule[axis]).value_or(false);
      if (!same) fail(fmt::format("{} gives {}, not {}", op.name, to_string(expected[i]), to_string(outputs[i])));
    }
  }

  int value_id(Line& line) const {
    line.expect("%");
    const int64_t id = line.integer("the number of a value");
    if (id >= max_id) fail(fmt::format("%{} is beyond %{}", id, max_id - 1));
    return static_cast<int>(id);
  }

  std::vector<Value*> values(Line& line) const {
    std::vector<Value*> found;
    do {
      const int id = value_id(line);
      const auto known = values_.find(id);
      if (known == values_.end()) fail(fmt::format("%{} is used before it is made", id));
      found.push_back(known->second);
    } while (line.accept(","));
    return found;
  }

  void define(int id, Value* value) {
    if (!values_.emplace(id, value).second) fail(fmt::format("%{} is made twice", id));
    graph_->number(value, id);
  }

  TensorSpec spec(Line& line) const {
    const Dtype dtype = dtype_in(line.word("a dtype"));
    const std::string_view shape = line.up_to(",){");
    return {dtype, parse_shape(shape, lookup_), {}};
  }

  Dim symbol(std::string_view name) {
    if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
    if (!makes_symbols_) fail(fmt::format("size {} is in no input and no check", name));
    return symbols_.emplace(name, make_symbol(std::string(name))).first->second;
  }

  std::string_view rest_;
  FindOp find_op_;
  int line_number_ = 0;
  bool makes_symbols_ = true;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  Facts facts_;
  std::map<std::string, Dim, std::less<>> symbols_;
  const SymbolLookup lookup_ = [this](std::string_view name) { return symbol(name); };
  std::unordered_map<int, Value*> values_;
};

}  // namespace

std::unique_ptr<Graph> parse(std::string_view text, FindOp find_op) { return Parser(text, find_op).run(); }

}  // namespace anyshape::graph
