// The ledger's texts against files: what a person reads and what a program parses. Times and bytes are those of no machine.
#include <anyshape/anyshape.h>

#include "support/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace anyshape::test {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(ANYSHAPE_LEDGER_GOLDENS "/" + name);
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A function with everything a ledger tells of: causes, checks, specialised sizes, captured objects, frozen values, evictions, copies.
Ledger example() {
  int host = 0;
  const Variable bias(ones({3}), {.name = "bias"});
  const Tensor table = ones({2, 3});
  auto score = function(
      [&](Tensor x, Tensor y, float rate) {
        const int64_t rows = y.shape()[0].specialize();
        const Tensor sums = x.shape()[0] > 4 ? sum(table, {.axes = {0}}) : sum(table, {.axes = {0}}) * 2.0f;
        // One after the other: arguments are evaluated in any order, and the graph's text is compared.
        const Tensor scaled = x * bias + sums, rated = y * static_cast<float>(rows) + rate, frozen = sum(x) * static_cast<float>(++host);
        return std::tuple(scaled, rated, frozen);
      },
      {.name = "score", .retrace = Retrace::Allow, .check_frozen = true, .max_traces = 4});
  const Tensor x = ones({5, 3}), y = ones({2});
  score(x, y, 0.5f);
  score(transpose(ones({3, 9})), y, 0.5f);
  score(ones({5, 3}, {.dtype = f64}), y, 0.5f);
  score(x, ones({3}), 0.5f);
  score(x, y, 0.25f);
  score(ones({2, 3}), y, 0.25f);
  Ledger ledger = score.ledger();
  ledger.stats.trace_ms = 1.25;
  ledger.stats.compile_ms = 40.5;
  ledger.stats.code_bytes = 20'480;
  for (TraceRecord& record : ledger.traces) {
    record.trace_ms = 0.25;
    record.compile_ms = 8.125;
    record.code_bytes = 5120;
  }
  return ledger;
}

TEST(LedgerGolden, the_report_is_what_people_were_shown) { EXPECT_EQ(to_text(example()), golden("report.txt")); }

TEST(LedgerGolden, the_json_is_what_programs_parse) {
  const std::string text = to_json(example());
  EXPECT_EQ(text, golden("ledger.json"));
  const support::Json json = support::parse_json(text);
  EXPECT_EQ(json["name"].string(), "score");
  EXPECT_EQ(json["stats"]["evictions"].integer(), 1);
  EXPECT_EQ(json["traces"].items().size(), 4U);
}

TEST(LedgerGolden, json_escapes_what_names_hold) {
  const Ledger ledger{.name = "a \"quoted\" \\ name\n\x01", .stats = {}, .traces = {}, .evicted = {}};
  EXPECT_EQ(support::parse_json(to_json(ledger))["name"].string(), ledger.name);
}

}  // namespace
}  // namespace anyshape::test
