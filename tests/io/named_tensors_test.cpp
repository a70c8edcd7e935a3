// Named tensors in files: what is saved comes back with its texts and rows; other programs' files are read; mutated files load or are refused.
#include "support/golden.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/io.h>
#include <anyshape/ragged.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

namespace anyshape::test {
namespace {

namespace fs = std::filesystem;

class NamedTensorFiles : public testing::Test {
 protected:
  std::string bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string refusal() const {
    return text_of<FormatError>([&] { load_tensors(file_); });
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "tensors.safetensors";
};

TEST_F(NamedTensorFiles, tensors_come_back_with_their_names_and_texts) {
  const Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}});
  save_tensors(file_, {{"x", x}, {"turned", transpose_view(x, std::vector<int>{1, 0})}, {"none", tensor(std::vector<int64_t>(), {0, 2})}},
               {.metadata = {{"author", "größer"}, {"quoted \"key\"", "two\nlines"}}});
  const StoredTensors loaded = load_tensors(file_);
  EXPECT_EQ(loaded.tensors.size(), 3U);
  EXPECT_TRUE(all_equal(loaded["x"], x));
  EXPECT_EQ(loaded["turned"].to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(loaded["none"].dtype(), Dtype::i64);
  EXPECT_EQ(loaded.metadata.at("author"), "größer");
  EXPECT_EQ(loaded.metadata.at("quoted \"key\""), "two\nlines");
  save_tensors(file_, loaded.tensors);  // a map, and nothing beside it
  EXPECT_EQ(load_tensors(file_).tensors.size(), 3U);
  EXPECT_TRUE(load_tensors(file_).metadata.empty());
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(loaded["turnde"]); }),
            "load_tensors: \"turnde\" is no tensor of the file; expected \"turned\".");
}

TEST_F(NamedTensorFiles, ragged_tensors_come_back_in_their_rows) {
  const Tensor rows = ragged<int32_t>({{1, 2, 3}, {}, {4}});
  save_tensors(file_, {{"rows", rows}, {"dense", tensor<float>({1})}}, {.metadata = {{"a", "b"}}});
  const StoredTensors loaded = load_tensors(file_);
  ASSERT_TRUE(loaded["rows"].is_ragged());
  EXPECT_TRUE(all_equal(loaded["rows"].values(), rows.values()));
  EXPECT_TRUE(all_equal(loaded["rows"].row_splits(), rows.row_splits()));
  EXPECT_EQ(loaded.tensors.size(), 2U);
  EXPECT_EQ(loaded.metadata, (std::map<std::string, std::string>{{"a", "b"}}));
}

TEST_F(NamedTensorFiles, rows_that_are_no_rows_are_refused) {
  const auto with = [&](const Tensor& values, const Tensor& splits, const std::string& note) {
    save_tensors(file_, {{"x.values", values}, {"x.splits", splits}}, {.metadata = {{"anyshape.raggee", note}}});
    std::string whole = bytes();
    const size_t at = whole.find("anyshape.raggee");
    whole[at + 14] = 'd';
    write(whole);
    return refusal();
  };
  const Tensor values = tensor<float>({1, 2, 3});
  const std::string begin = "load_tensors: \"" + file_.string() + "\" has ";
  EXPECT_EQ(with(values, tensor<int64_t>({0, 2}), "[\"x\"]"),
            begin + "rows of \"x\" that are no rows (3 values for splits up to 2); expected a whole safetensors file.");
  EXPECT_NE(with(values, tensor<int64_t>({0, 2, 1, 3}), "[\"x\"]").find("the splits decrease"), std::string::npos);
  EXPECT_NE(with(values, tensor<int32_t>({0, 3}), "[\"x\"]").find("expected i64[rows + 1]"), std::string::npos);
  EXPECT_NE(with(values, tensor(std::vector<int64_t>(), {0}), "[\"x\"]").find("expected i64[rows + 1]"), std::string::npos);
  EXPECT_NE(with(tensor(std::vector<float>{1}, {}), tensor<int64_t>({0, 1}), "[\"x\"]").find("that are no rows"), std::string::npos);
  EXPECT_EQ(with(values, tensor<int64_t>({0, 3}), "[\"y\"]"),
            begin + "no \"y.values\", a part of a ragged tensor; expected a whole safetensors file.");
  EXPECT_NE(with(values, tensor<int64_t>({0, 3}), "[\"x\", \"x\"]").find("has no \"x.values\""), std::string::npos);
  EXPECT_NE(with(values, tensor<int64_t>({0, 3}), "{}").find("has no '['"), std::string::npos);
  EXPECT_EQ(with(values, tensor<int64_t>({0, 3}), "[\"x\"]"), "nothing was thrown");
}

TEST_F(NamedTensorFiles, what_cannot_be_read_again_is_refused_and_the_old_file_stays) {
  save_tensors(file_, {{"x", tensor<float>({1})}});
  const std::string before = bytes();
  const auto refused = [&](const NamedTensors& tensors, const SaveTensorsOptions& options = {}) {
    return text_of<ArgumentError>([&] { save_tensors(file_, tensors, options); });
  };
  const Tensor one = tensor<float>({1});
  EXPECT_NE(refused({{"x", one}, {"x", one}}).find("two tensors for"), std::string::npos);
  EXPECT_NE(refused({{"x", ragged<int32_t>({{1}})}, {"x.values", one}}).find("are named \"x.values\""), std::string::npos);
  EXPECT_NE(refused({{"x", Tensor()}}).find("save_tensors: \"x\""), std::string::npos);
  EXPECT_NE(refused({{"x\xff", one}}).find("is not UTF-8"), std::string::npos);
  EXPECT_NE(refused({{"x", one}}, {.metadata = {{"a", "\xff"}}}).find("the text \"a\""), std::string::npos);
  EXPECT_NE(refused({{"x", one}}, {.metadata = {{"anyshape.ragged", "[]"}}}).find("which says what is ragged"), std::string::npos);
  EXPECT_EQ(bytes(), before);
}

TEST_F(NamedTensorFiles, files_of_the_safetensors_package_are_read) {
  const StoredTensors loaded = load_tensors(support::goldens_folder() / "pytorch" / "dtypes.safetensors");
  EXPECT_EQ(loaded.metadata, (std::map<std::string, std::string>{{"made by", "safetensors"}, {"words", "größer \"quoted\"\n"}}));
  EXPECT_EQ(loaded["b8"].to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(loaded["u8"].to_vector<uint8_t>(), (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(loaded["i32"].to_vector<int32_t>(), (std::vector<int32_t>{-1, 2147483647}));
  EXPECT_EQ(loaded["i64"].item<int64_t>(), -(int64_t{1} << 40));
  EXPECT_EQ(loaded["f16"].to_vector<float>(), (std::vector<float>{0.5F, -2}));
  EXPECT_EQ(loaded["bf16"].to_vector<float>(), (std::vector<float>{1.5F, 3}));
  EXPECT_TRUE(loaded["f32"].shape().same_as(Shape{0, 3}));
  EXPECT_EQ(loaded["f64"].item<double>(), 1.0 / 3);
}

TEST_F(NamedTensorFiles, texts_take_no_more_memory_than_they_may) {
  std::string header = "{\"__metadata__\":{";
  for (int i = 0; i <= 10'000; ++i) header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  header += "}}";
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  write(length + header);
  EXPECT_NE(refusal().find("has more than 10000 texts in its metadata"), std::string::npos) << refusal();
  std::map<std::string, std::string> many;
  for (int i = 0; i <= 10'000; ++i) many[std::to_string(i)] = "";
  const std::string before = bytes();
  EXPECT_EQ(text_of<ArgumentError>([&] { save_tensors(file_, {}, {.metadata = many}); }),
            "safetensors: 10001 texts for \"" + file_.string() + "\"; expected at most 10000.");
  EXPECT_EQ(bytes(), before);
  header = "{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}";
  length[0] = static_cast<char>(header.size());
  length[1] = length[2] = '\0';
  write(length + header);
  EXPECT_NE(refusal().find("has \"a\" twice in its metadata"), std::string::npos) << refusal();
}

// ANYSHAPE_FUZZ_FILES says how many mutated files are read.
TEST_F(NamedTensorFiles, mutated_files_load_or_are_refused) {
  const char* const wanted = std::getenv("ANYSHAPE_FUZZ_FILES");
  const long count = wanted != nullptr ? std::strtol(wanted, nullptr, 10) : 2000;
  save_tensors(file_,
               {{"x", tensor<float>({{1, 2}, {3, 4}})}, {"rows", ragged<int32_t>({{1, 2, 3}, {}, {4}})}, {"flag", tensor<bool>({true})}},
               {.metadata = {{"text", "words"}}});
  const std::string whole = bytes();
  const char* const pieces[] = {"\"", "{",       "}",       "[",    "]",   ",",     ":", "-", "9999999999999999999",
                                "0",  "\\u0000", "\\ud800", "null", "F64", "[[[[[["};
  std::mt19937 random(18);
  const auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  int64_t loaded = 0;
  for (long i = 0; i < count; ++i) {
    std::string damaged = whole;
    for (size_t change = 0, changes = 1 + below(3); change < changes && !damaged.empty(); ++change) {
      const size_t at = below(damaged.size());
      switch (below(6)) {
        case 0: damaged[at] = static_cast<char>(below(256)); break;
        case 1: damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << below(8))); break;
        case 2: damaged.erase(at, 1 + below(8)); break;
        case 3: damaged.insert(at, pieces[below(std::size(pieces))]); break;
        case 4: damaged.insert(at, damaged.substr(below(damaged.size()), below(40))); break;
        default: damaged.resize(std::max<size_t>(at, 1)); break;
      }
    }
    // Half of them keep an honest length, so that the header is read.
    if (below(2) == 0 && damaged.size() > 16) {
      const size_t header = damaged.find("}}", 8);
      const uint64_t length = header == std::string::npos ? damaged.size() - 8 : std::min(header + 2, damaged.size()) - 8;
      for (size_t byte = 0; byte < 8; ++byte) damaged[byte] = static_cast<char>(length >> (8 * byte));
    }
    write(damaged);
    try {
      load_tensors(file_);
      ++loaded;
    } catch (const FormatError&) {
      continue;
    }
  }
  EXPECT_GT(loaded, 0);  // changes of elements and texts are no damage
}

}  // namespace
}  // namespace anyshape::test
