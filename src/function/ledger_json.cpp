// The ledger as JSON (RFC 8259): one object, keys in the order of the structs.
#include "base/json_text.h"

#include <anyshape/ledger.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {
namespace {

// `"key": value` members with commas and line ends between them.
class Object {
 public:
  explicit Object(int depth) : indent_(static_cast<size_t>(depth) * 2, ' ') {}
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}\n{}  \"{}\": {}", text_.empty() ? "" : ",", indent_, key, value);
  }
  void add(std::string_view key, int64_t value) { add(key, fmt::to_string(value)); }
  void add(std::string_view key, double value) { add(key, fmt::format("{}", value)); }
  void add_text(std::string_view key, std::string_view value) { add(key, json_text(value)); }
  template <class Items, class Text>
  void add_list(std::string_view key, const Items& items, const Text& text) {
    std::vector<std::string> texts;
    for (const auto& item : items) texts.push_back(text(item));
    add(key, fmt::format("[{}]", fmt::join(texts, ", ")));
  }
  std::string end() const { return fmt::format("{{{}\n{}}}", text_, indent_); }

 private:
  std::string indent_, text_;
};

std::string stats_object(const FunctionStats& stats) {
  Object object(1);
  object.add("traces", stats.traces);
  object.add("compiles", stats.compiles);
  object.add("calls", stats.calls);
  object.add("hits", stats.hits);
  object.add("casts", stats.casts);
  object.add("copies", stats.copies);
  object.add("evictions", stats.evictions);
  object.add("failed_checks", stats.failed_checks);
  object.add("interpreted_groups", stats.interpreted_groups);
  object.add("trace_ms", stats.trace_ms);
  object.add("compile_ms", stats.compile_ms);
  object.add("code_bytes", stats.code_bytes);
  return object.end();
}

std::string trace_object(const TraceRecord& record) {
  Object object(2);
  object.add("number", record.number);
  object.add_text("signature", record.signature);
  object.add_text("cause", to_string(record.cause));
  object.add_text("reason", record.reason);
  object.add_text("advice", record.advice);
  object.add_list("values", record.values, [](const detail::structure::Part& part) {
    return fmt::format("{{\"name\": {}, \"value\": {}}}", json_text(part.name), json_text(part.value));
  });
  object.add_list("outputs", record.outputs, [](const TensorSpec& spec) { return json_text(to_string(spec)); });
  object.add_list("checks", record.checks, json_text);
  object.add_list("data_sizes", record.data_sizes, json_text);
  object.add_list("specialized", record.specialized, json_text);
  object.add_list("frozen", record.frozen, [](const FrozenValue& each) {
    return fmt::format("{{\"text\": {}, \"op\": {}}}", json_text(each.text), json_text(each.op));
  });
  object.add_list("captured", record.captured, json_text);
  object.add_text("graph", record.graph);
  object.add("calls", record.calls);
  object.add_list("sizes", record.sizes, [](const SizesSeen& each) {
    return fmt::format("{{\"name\": {}, \"least\": {}, \"most\": {}}}", json_text(each.name), each.least, each.most);
  });
  object.add("trace_ms", record.trace_ms);
  object.add("compile_ms", record.compile_ms);
  object.add("code_bytes", record.code_bytes);
  return object.end();
}

}  // namespace

std::string to_string(Cause cause) {
  switch (cause) {
    case Cause::FirstCall: return "first call";
    case Cause::Structure: return "structure";
    case Cause::Rank: return "rank";
    case Cause::Dtype: return "dtype";
    case Cause::HostValue: return "host value";
    case Cause::Object: return "object";
    case Cause::Comparison: return "comparison";
    case Cause::Specialize: return "specialize";
    case Cause::Size: return "size";
    case Cause::Evicted: return "evicted";
  }
  return "unknown";
}

std::string to_json(const Ledger& ledger) {
  Object object(0);
  object.add_text("name", ledger.name);
  object.add("stats", stats_object(ledger.stats));
  object.add_list("traces", ledger.traces, trace_object);
  object.add_list("evicted", ledger.evicted, json_text);
  return object.end() + "\n";
}

}  // namespace anyshape
