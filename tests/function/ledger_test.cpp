// The ledger: every number it counts and every reason it gives, by functions made to show them.
#include "function/compile.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

// Warnings while it lives.
class LogLines {
 public:
  LogLines() {
    set_log_sink([this](std::string_view line) { lines.emplace_back(line); });
  }
  ~LogLines() { set_log_sink({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> lines;
};

auto square_with(FunctionOptions options) {
  return function([](Tensor x) { return x * x; }, std::move(options));
}

TEST(Ledger, counts_traces_compiles_calls_hits_and_costs) {
  auto square = square_with({.name = "square"});
  for (const int64_t n : {3, 0, 1, 8}) square(ones({n}));
  square(ones({2, 2}));
  const FunctionStats stats = square.stats();
  EXPECT_EQ(stats.traces, 2);
  EXPECT_EQ(stats.compiles, 2);
  EXPECT_EQ(stats.calls, 5);
  EXPECT_EQ(stats.hits, 3);
  EXPECT_EQ(stats.evictions, 0);
  EXPECT_EQ(stats.interpreted_groups, 0);
  EXPECT_GT(stats.trace_ms, 0);
  EXPECT_GT(stats.compile_ms, 0);
  const std::vector<TraceRecord> traces = square.traces();
  EXPECT_EQ(stats.code_bytes, traces[0].code_bytes + traces[1].code_bytes);
  EXPECT_DOUBLE_EQ(stats.compile_ms, traces[0].compile_ms + traces[1].compile_ms);
  EXPECT_GT(traces[0].code_bytes, 0);
  EXPECT_EQ(traces[0].calls, 4);
  EXPECT_EQ(traces[1].calls, 1);
  EXPECT_EQ(traces[1].number, 1);
}

TEST(Ledger, counts_casts_copies_failed_checks_and_interpreted_groups) {
  auto sum_of = function([](Tensor a, Tensor b) { return a + b; },
                         {.name = "sum_of",
                          .signature = {spec(f32, {dynamic, dynamic}, "a"), spec(f32, {dynamic, dynamic}, "b")},
                          .dtypes = DtypePolicy::Cast});
  sum_of(transpose(ones({4, 2})), ones({2, 4}, {.dtype = f64}));
  EXPECT_THROW(sum_of(ones({2, 4}), ones({2, 5})), ShapeError);
  EXPECT_EQ(sum_of.stats().casts, 1);
  EXPECT_EQ(sum_of.stats().copies, 1);
  EXPECT_EQ(sum_of.stats().failed_checks, 1);
  EXPECT_EQ(sum_of.stats().calls, 1) << "a refused call has not run";
  const std::string report = sum_of.report();
  for (const char* line :
       {"  1 argument cast to the signature's dtype\n", "  1 argument with strides copied at entry\n", "  1 call refused by a size rule\n"})
    EXPECT_NE(report.find(line), std::string::npos) << report;

  const function_detail::ScopedInterpretation interpreted;
  auto square = square_with({.name = "square"});
  square(ones({2}));
  EXPECT_EQ(square.stats().traces, 1);
  EXPECT_EQ(square.stats().compiles, 0);
  EXPECT_EQ(square.stats().interpreted_groups, 1);
  EXPECT_NE(square.report().find("  1 group interpreted instead of compiled\n"), std::string::npos) << square.report();
}

TEST(Ledger, a_record_says_what_a_trace_takes_gives_demands_and_has_seen) {
  auto grow = function(
      [](Tensor x, Tensor y) {
        const int64_t rows = x.shape()[0].specialize();
        return std::tuple(concat({x, y}, {.axis = 0}), x * static_cast<float>(rows));
      },
      {.name = "grow"});
  grow(ones({2, 3}), ones({4, 3}));
  grow(ones({2, 5}), ones({0, 5}));
  const TraceRecord record = grow.traces()[0];
  EXPECT_EQ(record.signature, "(f32[a0, a1], f32[b0, b1])");
  ASSERT_EQ(record.outputs.size(), 2U);
  EXPECT_EQ(to_string(record.outputs[0]), "f32[b0 + 2, a1]");
  EXPECT_EQ(record.specialized, (std::vector<std::string>{"a0 == 2"}));
  EXPECT_EQ(record.checks, (std::vector<std::string>{"concat: a1 == b1"}));
  EXPECT_NE(record.graph.find("concat(%0, %1)"), std::string::npos) << record.graph;
  ASSERT_EQ(record.sizes.size(), 4U);
  EXPECT_EQ(record.sizes[1].name, "a1");
  EXPECT_EQ(record.sizes[1].least, 3);
  EXPECT_EQ(record.sizes[1].most, 5);
  EXPECT_EQ(record.sizes[2].least, 0);
}

TEST(Ledger, reasons_name_the_argument_as_the_signature_does) {
  const Dim rows = dim("rows");
  auto square = square_with({.name = "square", .signature = {spec(f32, {rows}, "features")}, .dtypes = DtypePolicy::Trace});
  square(ones({2}));
  square(ones({2}, {.dtype = i32}));
  EXPECT_EQ(square.traces()[1].reason, "argument 0 (features): f32[rows] became i32[2] (nearest: trace 0)");
  EXPECT_EQ(square.traces()[1].advice, "Another dtype is another trace: cast it with as::cast, or set .dtypes = as::DtypePolicy::Cast.");
}

TEST(Ledger, the_third_trace_is_told_with_what_to_change_and_then_each_doubling) {
  const LogLines log;
  auto square = square_with({.name = "square"});
  square(ones({1}));
  square(ones({1, 1}));
  EXPECT_TRUE(log.lines.empty());
  square(ones({1, 1, 1}));
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_EQ(
      log.lines[0],
      "function \"square\" was traced 3 times in 3 calls; the last because of argument 0: f32[a0] became f32[1, 1, 1] (nearest: trace "
      "0). Another rank is another trace: reshape it to one rank, or make a function for each.");
  square(ones({1, 1, 1, 1}));
  square(ones({1}, {.dtype = f64}));
  EXPECT_EQ(log.lines.size(), 1U);
  square(ones({1}, {.dtype = i32}));
  ASSERT_EQ(log.lines.size(), 2U);
  EXPECT_NE(log.lines[1].find("traced 6 times in 6 calls; the last because of argument 0: f32[a0] became i32[1]"), std::string::npos)
      << log.lines[1];
  auto quiet = square_with({.name = "quiet", .retrace = Retrace::Allow});
  for (int rank = 1; rank < 5; ++rank) quiet(ones(Shape(std::vector<Dim>(static_cast<size_t>(rank), 1))));
  EXPECT_EQ(log.lines.size(), 2U);
}

TEST(Ledger, forbidding_throws_with_the_reason_and_the_cure) {
  auto square = square_with({.name = "square", .retrace = Retrace::Forbid});
  square(ones({2}));
  EXPECT_EQ(
      text_of<TraceError>([&] { square(ones({2}, {.dtype = f64})); }),
      "function \"square\": this call needs a new trace, which Retrace::Forbid rules out: argument 0: f32[a0] became f64[2] (nearest: "
      "trace 0). Another dtype is another trace: cast it with as::cast, or declare a signature with .dtypes = as::DtypePolicy::Cast.");
}

TEST(Ledger, would_retrace_answers_without_running_or_counting) {
  int runs = 0;
  auto scale = function(
      [&](Tensor x, float by) {
        ++runs;
        return x * by;
      },
      {.name = "scale", .check_frozen = false});
  EXPECT_TRUE(scale.would_retrace(ones({2}), 2.0f));
  EXPECT_EQ(scale.would_retrace(ones({2}), 2.0f).reason, "first call");
  EXPECT_EQ(runs, 0);
  scale(ones({2}), 2.0f);
  EXPECT_FALSE(scale.would_retrace(ones({9}), 2.0f));
  EXPECT_EQ(scale.would_retrace(ones({9}), 2.0f).reason, "");
  const RetraceForecast rank = scale.would_retrace(ones({9, 9}), 2.0f);
  EXPECT_TRUE(rank.retraces);
  EXPECT_EQ(
      rank.reason,
      "argument 0: f32[a0] became f32[9, 9] (nearest: trace 0). Another rank is another trace: reshape it to one rank, or make a function "
      "for each.");
  EXPECT_TRUE(scale.would_retrace(ones({2}), 3.0f));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(scale.stats().calls, 1);
  EXPECT_EQ(scale.stats().traces, 1);
}

TEST(Ledger, would_retrace_says_what_a_refused_call_would_throw_and_thinks_of_casts) {
  auto half = function([](Tensor x) { return reshape(x, {x.shape()[0] / 2, 2}); },
                       {.name = "half", .signature = {spec(f32, {dim("n", {.max = 8})}, "x")}, .dtypes = DtypePolicy::Cast});
  half(ones({4}));
  EXPECT_FALSE(half.would_retrace(ones({6}, {.dtype = f64})));
  EXPECT_EQ(half.would_retrace(ones({6}, {.dtype = f64})).reason, "");
  EXPECT_EQ(half.would_retrace(ones({10})).reason.rfind("the call would throw: function \"half\": argument 0 (x) has n = 10", 0), 0U);
  const RetraceForecast odd = half.would_retrace(ones({5}));
  EXPECT_FALSE(odd.retraces);
  EXPECT_EQ(odd.reason.rfind("the call would throw: reshape: ", 0), 0U) << odd.reason;
  EXPECT_EQ(half.stats().casts, 0);
  EXPECT_EQ(half.stats().failed_checks, 0);
}

TEST(Ledger, the_least_recently_used_trace_is_evicted_and_that_is_told) {
  const LogLines log;
  auto square = square_with({.name = "square", .max_traces = 2});
  square(ones({1}));
  square(ones({1, 1}));
  square(ones({5}));  // trace 0 is younger now
  square(ones({1, 1, 1}));
  FunctionStats stats = square.stats();
  EXPECT_EQ(stats.traces, 3);
  EXPECT_EQ(stats.evictions, 1);
  std::vector<TraceRecord> traces = square.traces();
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].number, 0);
  EXPECT_EQ(traces[1].number, 2);
  EXPECT_EQ(stats.code_bytes, traces[0].code_bytes + traces[1].code_bytes);
  EXPECT_EQ(square.ledger().evicted, (std::vector<std::string>{"trace 1: (f32[a0, a1]), 1 call"}));
  EXPECT_NE(square.report().find(
                "  1 trace evicted to stay within max_traces and max_code_bytes; the last:\n    trace 1: (f32[a0, a1]), 1 call\n"),
            std::string::npos)
      << square.report();

  EXPECT_EQ(square(full({2, 2}, 3.0f)).to_vector<float>(), (std::vector<float>{9, 9, 9, 9})) << "an evicted trace is made again";
  EXPECT_EQ(square.traces()[1].cause, Cause::Evicted);
  EXPECT_EQ(square.traces()[1].reason, "trace 1 fits this call but was evicted after 1 call");
  EXPECT_EQ(square.traces()[1].advice, "Raise .max_traces (now 2) or .max_code_bytes (now 268435456).");
}

TEST(Ledger, code_stays_within_its_bytes_and_the_newest_trace_stays_whatever_its_size) {
  auto square = square_with({.name = "square", .retrace = Retrace::Allow, .max_code_bytes = 1});
  for (int i = 0; i < 3; ++i) {
    square(ones({1}));
    square(ones({1, 1}));
  }
  const FunctionStats stats = square.stats();
  EXPECT_EQ(square.traces().size(), 1U);
  EXPECT_EQ(stats.traces, 6);
  EXPECT_EQ(stats.evictions, 5);
  EXPECT_EQ(stats.code_bytes, square.traces()[0].code_bytes);
  EXPECT_EQ(text_of<ArgumentError>([] { square_with({.name = "none", .max_traces = 0}); }),
            "function \"none\": max_traces is 0, max_code_bytes is 268435456; expected at least one trace and no negative size.");
}

TEST(Ledger, clear_forgets_traces_code_and_counts) {
  auto square = square_with({.name = "square", .retrace = Retrace::Forbid});
  square(ones({1}));
  square.clear();
  EXPECT_EQ(square.stats().traces, 0);
  EXPECT_EQ(square.stats().calls, 0);
  EXPECT_EQ(square.stats().code_bytes, 0);
  EXPECT_TRUE(square.traces().empty());
  square(ones({1, 1}));
  EXPECT_EQ(square.traces()[0].reason, "first call");
  EXPECT_EQ(square.traces()[0].number, 0);
}

TEST(Ledger, the_process_lists_its_functions) {
  const size_t before = functions().size();
  auto outer = square_with({.name = "listed outer"});
  {
    auto inner = square_with({.name = "listed inner"});
    const auto copy = inner;
    inner(ones({2}));
    copy(ones({3}));
    const std::vector<Ledger> all = functions();
    ASSERT_EQ(all.size(), before + 2);
    EXPECT_EQ(all[before].name, "listed outer");
    EXPECT_EQ(all[before + 1].name, "listed inner");
    EXPECT_EQ(all[before + 1].stats.calls, 2);
    const std::string text = report();
    EXPECT_EQ(text.rfind("function ", 0), 0U) << text;
    EXPECT_NE(text.find("\nlisted inner  "), std::string::npos) << text;
  }
  EXPECT_EQ(functions().size(), before + 1);
}

}  // namespace
}  // namespace anyshape::test
