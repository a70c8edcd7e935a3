// A line-by-line reader of graph text. Its input may be hostile: every number is bounded, every name is looked up, and a node enters the
// graph only as its op's rules say.
#include "shape/parse.h"
#include "graph/attr_reader.h"
#include "graph/regions.h"
#include "graph/text.h"
#include "graph/text_line.h"
#include "shape/dim_node.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace anyshape::graph {
namespace {

constexpr size_t max_length = size_t{1} << 24;
constexpr size_t max_checks = 1024, max_sizes = 4096;
constexpr size_t max_work = size_t{1} << 22;  // every check is weighed for every node
constexpr int64_t max_bytes = int64_t{1} << 30;
constexpr int64_t max_id = 1 << 30;
constexpr int max_depth = 32;  // of regions in regions

class RegionWriter final : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  explicit RegionWriter(std::map<std::string_view, RegionGraph>& regions) : regions_(regions) {}
  void operator()(std::string_view name, RegionGraph& field) override { field = std::move(regions_.at(name)); }

 private:
  std::map<std::string_view, RegionGraph>& regions_;
};

class Parser {
 public:
  Parser(std::string_view text, FindOp find_op, int64_t& bytes_left, bool adds_checks)
      : rest_(text), find_op_(find_op), bytes_left_(bytes_left), adds_checks_(adds_checks) {}

  Parsed run() {
    try {
      if (rest_.size() > max_length) fail(fmt::format("{} characters, more than {}", rest_.size(), max_length));
      read_graph();
    } catch (const Error& error) {
      throw FormatError(fmt::format("graph text, line {}: {}", line_number_, error.what()));
    }
    return {std::move(level_.graph), std::move(symbols_)};
  }

 private:
  void read_graph() {
    Line line = next_line("a graph");
    for (; line.accept("size "); line = next_line("a graph")) read_size(line);
    line.expect("graph ");
    level_.graph->name = line.name("the name of the graph");
    read_inputs(line);
    read_body();
    if (rest_.find_first_not_of(" \t\r\n") != std::string_view::npos) fail("expected nothing after the graph");
  }

  // Checks, nodes and what is returned, up to the closing brace.
  void read_body() {
    Line line = next_line("a node");
    for (;; line = next_line("a node")) {
      const bool is_guard = line.accept("guard ");
      if (!is_guard && !line.accept("check ")) break;
      read_check(line, is_guard);
    }
    makes_symbols_ = false;
    for (; !line.accept("return"); line = next_line("\"return\"")) {
      const bool is_guard = line.accept("guard ");
      is_guard || line.accept("check ") ? read_check(line, is_guard) : read_node(line);
    }
    if (!line.at_end()) level_.graph->outputs = values(line);
    line.expect_end();
    std::ranges::move(level_.added, std::back_inserter(level_.graph->checks));
    line = next_line("\"}\"");
    line.expect("}");
    line.expect_end();
  }

  // A graph inside a node: values of its own, sizes and what is known of them from around it.
  RegionGraph read_region(std::string_view name) {
    if (++depth_ > max_depth) fail(fmt::format("regions stand more than {} deep in each other", max_depth));
    spend(1, region_bytes);
    count_work();
    const size_t checks_around = std::exchange(checks_around_, checks_around_ + level_.graph->checks.size());
    Level outer = std::exchange(level_, Level{std::make_unique<Graph>(), level_.facts, level_.checks});
    level_.graph->name = outer.graph->name;
    Line line = next_line(fmt::format("the region \"{}\"", name));
    line.expect(name);
    read_inputs(line);
    read_body();
    --depth_;
    checks_around_ = checks_around;
    return std::exchange(level_, std::move(outer)).graph;
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
    count_size();
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

  void read_inputs(Line& line) {
    line.expect("(");
    while (!line.accept(")")) {
      if (!level_.graph->inputs().empty()) line.expect(",");
      const int id = value_id(line);
      std::string name;
      if (!line.accept(":")) name = line.name("the name of the input"), line.expect(":");
      TensorSpec input = spec(line);
      input.name = std::move(name);
      define(id, level_.graph->add_input(std::move(input)));
    }
    line.expect("{");
    line.expect_end();
  }

  void read_check(Line& line, bool is_guard) {
    if (level_.graph->checks.size() == max_checks) fail(fmt::format("more than {} checks", max_checks));
    spend(1, check_bytes);
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
      check.after = level_.graph->maker_of(check.check);
      if (check.after == nullptr && !level_.graph->nodes().empty()) fail("a check without sizes that depend on data stands behind a node");
      level_.facts.assume(check.check);
      level_.checks.push_back(check.check);
      level_.graph->checks.push_back(std::move(check));
      return;
    }
    fail(fmt::format("expected two sizes and their relation, found \"{}\"", text));
  }

  void read_node(Line& line) {
    count_work();
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
    std::vector<std::string> own;
    Attrs attrs = read_attrs(line, *op, own);
    std::optional<MadeSize> made;
    if (line.accept("makes ")) made = MadeSize{new_data_symbol(line), {}};
    line.expect(":");
    std::vector<TensorSpec> outputs;
    do outputs.push_back(spec(line));
    while (line.accept(","));
    line.expect_end();
    std::map<std::string_view, RegionGraph> regions;
    for (const NamedRegion& region : regions_of(attrs)) regions[region.name] = read_region(region.name);
    if (regions.empty() && !own.empty()) fail(fmt::format("size {} is in no input and no check", own[0]));
    RegionWriter writer(regions);
    if (!regions.empty()) attrs = attrs.rewritten(writer);
    if (ids.size() != outputs.size()) fail(fmt::format("{} values but {} specs", ids.size(), outputs.size()));
    require_rules(*op, inputs, attrs, outputs, made);
    const Node* node = level_.graph->add_node(*op, std::move(inputs), std::move(attrs), outputs, std::move(made));
    for (size_t i = 0; i < ids.size(); ++i) define(ids[i], node->outputs[i]);
    for (const std::string& name : own) symbols_.erase(name);
  }

  // A node may have a size of its `own`, for its regions.
  Attrs read_attrs(Line& line, const OpDef& op, std::vector<std::string>& own) {
    std::map<std::string_view, std::string_view> given;
    if (line.accept("{")) {
      do {
        const std::string_view name = line.word("the name of an attribute");
        line.expect("=");
        const std::string_view text = line.up_to(",}");
        spend(static_cast<size_t>(std::ranges::count(text, ',')) + 1, element_bytes);
        if (!given.emplace(name, text).second) fail(fmt::format("attribute \"{}\" is there twice", name));
      } while (line.accept(","));
      line.expect("}");
    }
    const auto active = given.find("active");
    const std::string own_name(active == given.end() ? std::string_view() : active->second);
    if (!own_name.empty() && !number_in<int64_t>(own_name) && symbols_.contains(own_name))
      fail(fmt::format("size {} is not the node's own", own_name));
    const SymbolLookup lookup = [&](std::string_view name) {
      if (name != own_name || symbols_.contains(name)) return symbol(name);
      count_size();
      own.emplace_back(name);
      return symbols_.emplace(name, make_data_symbol(std::string(name))).first->second;
    };
    AttrReader reader(std::move(given), lookup);
    Attrs attrs = op.attrs != nullptr ? op.attrs().rewritten(reader) : Attrs();
    reader.expect_all_used(op.name);
    if (own.empty() && !own_name.empty() && !number_in<int64_t>(own_name))
      fail(fmt::format("expected 0 or a size of its own for active, found \"{}\"", own_name));
    return attrs;
  }

  // The name stands before the specs that use it; what the size cannot exceed follows from the op's rule.
  Dim new_data_symbol(Line& line) {
    const std::string name(line.word("the name of a size"));
    count_size();
    if (depth_ > 0) fail(fmt::format("size {} is made inside a region", name));
    const auto [entry, is_new] = symbols_.emplace(name, make_data_symbol(name));
    if (!is_new) fail(fmt::format("size {} is there twice", name));
    return entry->second;
  }

  void require_rules(const OpDef& op, std::span<Value* const> inputs, const Attrs& attrs, std::span<const TensorSpec> outputs,
                     std::optional<MadeSize>& made) {
    std::vector<TensorSpec> specs;
    for (const Value* input : inputs) specs.push_back(input->spec);
    std::vector<OpCheck> open;
    std::optional<MadeSize> rule_makes;
    Specs expected = specs_by_rules(op, specs, attrs, &level_.facts, &open, &rule_makes);
    if (made.has_value() != rule_makes.has_value()) fail(fmt::format("{} makes {} size", op.name, made ? "no" : "a"));
    if (made) {
      made->bound = rule_makes->bound;
      rename(expected, rule_makes->symbol, made->symbol);
      level_.facts.assume_at_least(made->bound, made->symbol);
      if (const Node* twin = level_.graph->find_size(op, attrs, inputs.back())) level_.facts.assume_equal(made->symbol, twin->made->symbol);
    }
    const auto simplified = [&](const SizeCheck& check) {
      return SizeCheck{check.relation, level_.facts.simplify(check.a), level_.facts.simplify(check.b)};
    };
    for (const OpCheck& needed : open) {
      const auto is_known = [&, wanted = simplified(needed.check)](const SizeCheck& check) {
        return check.same_as(needed.check) || simplified(check).same_as(wanted);
      };
      if (std::ranges::any_of(level_.checks, is_known)) continue;
      if (!adds_checks_ || depends_on_data(needed.check.a) || depends_on_data(needed.check.b))
        fail(fmt::format("{} needs a check: {}", op.name, to_string(needed.check)));
      spend(1, check_bytes);
      if (level_.checks.size() >= max_checks) fail(fmt::format("more than {} checks", max_checks));
      level_.checks.push_back(needed.check);
      level_.added.push_back({.check = needed.check,
                              .op = std::string(op.name),
                              .what = needed.what,
                              .expected = needed.expected,
                              .operands = OpCall(op, specs, attrs).describe_inputs()});
    }
    if (expected.size() != outputs.size()) fail(fmt::format("{} gives {} values, not {}", op.name, expected.size(), outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Shape &shape = outputs[i].shape, &rule = expected[i].shape;
      bool same = outputs[i].dtype == expected[i].dtype && shape.rank() == rule.rank();
      for (int axis = 0; same && axis < shape.rank(); ++axis) same = level_.facts.proves_equal(shape[axis], rule[axis]).value_or(false);
      if (!same) fail(fmt::format("{} gives {}, not {}", op.name, to_string(expected[i]), to_string(outputs[i])));
    }
  }

  int value_id(Line& line) const {
    line.expect("%");
    const int64_t id = line.integer("the number of a value");
    if (id >= max_id) fail(fmt::format("%{} is beyond %{}", id, max_id - 1));
    return static_cast<int>(id);
  }

  std::vector<Value*> values(Line& line) {
    std::vector<Value*> found;
    do {
      const int id = value_id(line);
      const auto known = level_.values.find(id);
      if (known == level_.values.end()) fail(fmt::format("%{} is used before it is made", id));
      spend(1, element_bytes);
      found.push_back(known->second);
    } while (line.accept(","));
    return found;
  }

  void define(int id, Value* value) {
    spend(1, value_bytes);
    if (!level_.values.emplace(id, value).second) fail(fmt::format("%{} is made twice", id));
    level_.graph->number(value, id);
  }

  TensorSpec spec(Line& line) {
    const Dtype dtype = dtype_in(line.word("a dtype"));
    const std::string_view shape = line.up_to(",){");
    spend(shape.size(), element_bytes);
    return {dtype, parse_shape(shape, lookup_), {}};
  }

  Dim symbol(std::string_view name) {
    if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
    if (!makes_symbols_) fail(fmt::format("size {} is in no input and no check", name));
    count_size();
    return symbols_.emplace(name, make_symbol(std::string(name))).first->second;
  }

  // What stands for a few characters of text takes hundreds of bytes as a graph: a text says how much, not the memory of who reads it.
  void spend(size_t things, int64_t bytes_each) {
    if (__builtin_sub_overflow(bytes_left_, static_cast<int64_t>(things) * bytes_each, &bytes_left_) || bytes_left_ < 0)
      fail("the graph is larger than a text may make it");
  }
  void count_size() {
    spend(1, symbol_bytes);
    if (symbols_.size() == max_sizes) fail(fmt::format("more than {} sizes", max_sizes));
  }
  // Every check is weighed for every node, and for every region that begins.
  void count_work() {
    work_ += level_.graph->checks.size() + checks_around_ + 1;
    if (work_ > max_work) fail("too many nodes for so many checks");
  }

  static constexpr int64_t value_bytes = 640, symbol_bytes = 512, check_bytes = 1024, region_bytes = 1024, element_bytes = 64;
  std::string_view rest_;
  FindOp find_op_;
  int64_t& bytes_left_;
  bool adds_checks_;
  size_t work_ = 0, checks_around_ = 0;
  int line_number_ = 0;
  bool makes_symbols_ = true;
  int depth_ = 0;
  struct Level {
    std::unique_ptr<Graph> graph;
    Facts facts;
    std::vector<SizeCheck> checks = {};  // as they are written: of some, facts prove less than they say
    std::vector<Check> added = {};
    std::unordered_map<int, Value*> values = {};
  };
  Level level_{std::make_unique<Graph>(), {}};
  std::map<std::string, Dim, std::less<>> symbols_;
  const SymbolLookup lookup_ = [this](std::string_view name) { return symbol(name); };
};

}  // namespace

std::unique_ptr<Graph> parse(std::string_view text, FindOp find_op) {
  int64_t bytes_left = max_bytes;
  return Parser(text, find_op, bytes_left, false).run().graph;
}
Parsed parse_within(std::string_view text, FindOp find_op, int64_t& bytes_left) { return Parser(text, find_op, bytes_left, true).run(); }

}  // namespace anyshape::graph
