// Files that ask for more than they are: refused before much memory or time is taken.
#include "io/safetensors.h"
#include "saved/saved.h"
#include "support/peak_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

namespace anyshape::test {
namespace {

constexpr int64_t room = int64_t{64} << 20;

class LargeFiles : public testing::Test {
 protected:
  LargeFiles() {
    auto identity = function([](Tensor x) { return tanh(x); }, {.name = "identity", .signature = {spec(f32, {dim("n")}, "x")}});
    save(identity, file_.path());
    content_ = io::load_safetensors_with_metadata(file_.path());
  }

  // Loads the file with another text; what is read is at most four times the file and the room beside it, and takes at most ten seconds.
  void expect_small(const std::string& key, std::string text) {
    io::Safetensors content = content_;
    content.metadata[key] = std::move(text);
    io::save_safetensors(file_.path(), {content.tensors.begin(), content.tensors.end()}, content.metadata);
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(file_.path()));
    content = {};
    const auto start = std::chrono::steady_clock::now();
    std::string outcome;
    const std::optional<int64_t> growth = peak_growth([&] { outcome = message_of([&] { load_function(file_.path()); }); });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(elapsed.count(), 10) << outcome.substr(0, 300);
    EXPECT_LE(growth.value_or(0), 4 * bytes + room) << bytes << " bytes: " << outcome.substr(0, 300);
    EXPECT_NE(outcome, "nothing was thrown");
  }

  static std::string repeated(size_t times, const std::function<std::string(size_t)>& line) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += line(i);
    return text;
  }
  static std::string graph(const std::string& lines) { return "graph f(%0 x: f32[n]) {\n" + lines + "return %0\n}\n"; }

  SavedFile file_;
  io::Safetensors content_;
};

TEST_F(LargeFiles, many_nodes) {
  expect_small("graph.0", graph(repeated(400'000, [](size_t i) { return fmt::format("%{}=tanh(%0):f32[n]\n", i + 1); })));
  expect_small("graph.0", graph(repeated(60'000, [](size_t i) { return fmt::format("%{}=tanh(%{}):f32[n]\n", i + 1, i); })));
  expect_small("graph.0", graph(repeated(5'000, [](size_t i) {
                 return fmt::format("%{}=concat(%0{}) {{axis=0}}:f32[n]\n", i + 1, repeated(500, [](size_t) { return ",%0"; }));
               })));
}

TEST_F(LargeFiles, of_a_long_chain_run) {
  constexpr size_t count = 20'000;
  io::Safetensors content = content_;
  std::string& text = content.metadata["graph.0"];
  text = "graph f(%0 x: f32[n]) {\n" + repeated(count, [](size_t i) { return fmt::format("%{}=tanh(%{}):f32[n]\n", i + 1, i); }) +
         fmt::format("return %{}\n}}\n", count);
  text = "size n\n" + text;
  content.metadata["trace.0"].replace(content.metadata["trace.0"].find("\"nodes\": ["), 10, "\"nodes\": [], \"other\": [");
  io::save_safetensors(file_.path(), {}, content.metadata);
  const LoadedFunction loaded = load_function(file_.path());
  EXPECT_GT(loaded({ones({2})}).at(0).to_vector<float>()[0], 0);
}

TEST_F(LargeFiles, many_sizes_and_checks) {
  expect_small("graph.0", repeated(500'000, [](size_t i) { return fmt::format("size s{}\n", i); }) + graph(""));
  expect_small("graph.0", graph(repeated(1'000, [](size_t i) { return fmt::format("check a: n <= {}\n", i + 5); }) +
                                repeated(50'000, [](size_t i) { return fmt::format("%{}=tanh(%0):f32[n]\n", i + 1); })));
  expect_small("graph.0", repeated(4'000, [](size_t i) { return fmt::format("size s{}\n", i); }) +
                              graph(repeated(1'000, [](size_t i) { return fmt::format("check a: s{} == s{} * s{}\n", i, i + 1, i + 2); })));
  expect_small("graph.0", graph(repeated(200, [](size_t i) {
                 return fmt::format("check a: n <= {}n\n", repeated(i, [](size_t) { return "min(n, "; })) +
                        repeated(i, [](size_t) { return ")"; });
               })));
}

TEST_F(LargeFiles, long_sizes_and_lists) {
  const std::string sum = repeated(1'500, [](size_t i) { return fmt::format("n*{}+", i + 1); }) + "1";
  expect_small("graph.0",
               graph(repeated(2'000, [&](size_t i) { return fmt::format("%{}=reshape(%0) {{shape=[{}]}}:f32[n]\n", i + 1, sum); })));
  expect_small("graph.0", graph("%1=sum(%0) {axes=[" + repeated(4'000'000, [](size_t) { return "0,"; }) + "0]}:f32[]\n"));
  const std::string product = repeated(200, [](size_t) { return "(n+1)*"; }) + "1";
  expect_small("graph.0", graph(fmt::format("%1=reshape(%0) {{shape=[{}]}}:f32[n]\n", product)));
  expect_small("graph.0", "size a\nsize b\nsize c\n" +
                              graph("%1=reshape(%0) {shape=[" + repeated(90, [](size_t) { return "(a+b+c+n+1)*"; }) + "1]}:f32[n]\n"));
}

TEST_F(LargeFiles, deep_regions) {
  for (const size_t depth : {40, 100'000}) {
    expect_small("graph.0", graph("%1=constant() {dtype=b8}:b8[]\n" + repeated(depth, [](size_t) {
                                    return "%9=cond(%1,%0) {then_inputs=1}:f32[n]\nthen(%0:f32[n],%1:b8[]) {\n";
                                  })));
  }
}

TEST_F(LargeFiles, long_structures) {
  const std::string list = repeated(250'000, [](size_t) { return "0,"; });
  expect_small("trace.0", "{\"wide\":[" + list + "0]}");
  expect_small("trace.0", "{\"wide\":[" + list + list + list + list + "0]}");
  expect_small("function", repeated(200'000, [](size_t) { return "["; }));
  expect_small("function", "{" + repeated(40'000, [](size_t i) { return fmt::format("\"{}\":1,", i); }) + "\"a\":1}");
}

}  // namespace
}  // namespace anyshape::test
