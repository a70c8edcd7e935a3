// Files that hold no function, or not a whole one: what is wrong is said, with the part of the file.
#include "io/safetensors.h"
#include "saved/saved.h"

#include <gtest/gtest.h>

#include <functional>

namespace anyshape::test {
namespace {

class RefusedFiles : public testing::Test {
 protected:
  RefusedFiles() {
    const Variable weight(ones({3}), {.name = "weight"});
    auto step = function(
        [&](Tensor x) {
          weight.assign_add(sum(x, {.axes = {0}}));
          return x * weight;
        },
        {.name = "step", .signature = {spec(f32, {dim("batch"), 3}, "x")}});
    save(step, file_.path());
    content_ = io::load_safetensors_with_metadata(file_.path());
  }

  // What loading says to the file with one of its texts changed.
  std::string refusal(const std::string& key, const std::string& part, const std::string& by) {
    io::Safetensors content = content_;
    std::string& text = content.metadata.at(key);
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << text;
    text.replace(at, part.size(), by);
    return refusal_of(content);
  }
  std::string refusal_of(const io::Safetensors& content) {
    io::save_safetensors(file_.path(), {content.tensors.begin(), content.tensors.end()}, content.metadata);
    try {
      load_function(file_.path());
    } catch (const FormatError& error) {
      return error.what();
    }
    return "loaded";
  }

  SavedFile file_;
  io::Safetensors content_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(RefusedFiles, newer_formats_and_other_files) {
  EXPECT_SAYS(refusal("format_version", "1", "2"), "format version 2, written by anyshape 0.1.0; expected version 1");
  EXPECT_SAYS(refusal("format", "anyshape function", "anyshape model"), "it holds no function");
  io::Safetensors empty;
  empty.tensors.emplace("weight", ones({3}));
  EXPECT_SAYS(refusal_of(empty), "it holds no function");
}

TEST_F(RefusedFiles, missing_parts) {
  for (const char* part : {"format_version", "function", "trace.0", "graph.0"}) {
    io::Safetensors content = content_;
    content.metadata.erase(part);
    EXPECT_SAYS(refusal_of(content), std::string("\"") + part + "\" is missing");
  }
  io::Safetensors content = content_;
  content.tensors.erase("weight");
  EXPECT_SAYS(refusal_of(content), "there is no tensor \"weight\"");
}

TEST_F(RefusedFiles, graphs_that_break_rules_with_their_line) {
  EXPECT_SAYS(refusal("graph.0", "sum(", "sun("), "\"graph.0\": graph text, line");
  EXPECT_SAYS(refusal("graph.0", "sum(", "sun("), "\"sun\" is no op");
  EXPECT_SAYS(refusal("graph.0", "axes=[0]", "axes=[7]"), "axis 7 is outside the rank 2");
  EXPECT_SAYS(refusal("graph.0", "return %", "return %9"), "is used before it is made");
  EXPECT_SAYS(refusal("graph.0", "graph step(", "size other\ngraph step("), "loaded");  // nothing has this size
  EXPECT_SAYS(refusal("graph.0", " = sum(", " = size() {dim=other, dtype=f32} : f32[]\n  %90 = sum("), "size other is in no input");
}

TEST_F(RefusedFiles, structures_that_the_graph_has_not) {
  EXPECT_SAYS(refusal("trace.0", "\"wide\": []", "\"wide\": [0]"), "argument 0 has no single number");
  EXPECT_SAYS(refusal("trace.0", "\"results\": 1", "\"results\": 0"), "2 outputs; expected 0 results and 1 variables");
  EXPECT_SAYS(refusal("trace.0", "\"results\": 1", "\"results\": 9"), "the number of results 9 is not below 3");
  EXPECT_SAYS(refusal("trace.0", "\"assigned\": [0]", "\"assigned\": [4]"), "variable 4 is not below 1");
  EXPECT_SAYS(refusal("trace.0", "\"variables\": [0]", "\"variables\": [0, 0]"), "as many owners as variables");
  EXPECT_SAYS(refusal("trace.0", "\"shape\": [\"batch\", \"3\"]", "\"shape\": [\"batch\", \"4\"]"),
              "input 0 of the graph is f32[batch, 3]");
  EXPECT_SAYS(refusal("trace.0", "\"dtype\": \"f32\"", "\"dtype\": \"f33\""), "\"f33\" is no dtype");
  EXPECT_SAYS(refusal("function", "\"traces\": 1", "\"traces\": 2"), "\"graph.1\" is missing");
  EXPECT_SAYS(refusal("function", "\"name\"", "\"nam\""), "name");
  EXPECT_SAYS(refusal("function", "{", "["), "JSON");
}

TEST_F(RefusedFiles, variables_of_another_shape) {
  io::Safetensors content = content_;
  content.tensors.at("weight") = ones({4});
  EXPECT_SAYS(refusal_of(content), "input 1 of the graph is f32[3]; expected f32[4]");
}

}  // namespace
}  // namespace anyshape::test
