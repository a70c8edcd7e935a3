// Safetensors: what is saved comes back; a damaged file loads equal or is refused, and never asks for more memory than it has.
#include "io/safetensors.h"

#include "support/temporary_folder.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/tensor.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace anyshape::io {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  void write(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& header, const std::string& data) const {
    const auto length = static_cast<uint64_t>(header.size());
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    write(bytes + header + data);
  }
  std::string refusal() const {
    try {
      load_safetensors(file_);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  }

  test::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "weights.safetensors";
};

const std::vector<std::pair<std::string, Tensor>>& sample() {
  static const std::vector<std::pair<std::string, Tensor>> tensors = {{"dense/kernel", tensor<float>({{1, 2, 3}, {4, 5, 6}})},
                                                                      {"odd \"name\"\\\n", tensor<int64_t>({-1, 1LL << 40})},
                                                                      {"empty", tensor(std::vector<double>(), {0, 3})},
                                                                      {"flags", tensor<bool>({true, false, true})},
                                                                      {"number", tensor(std::vector<double>{2.5}, {})}};
  return tensors;
}

TEST_F(Safetensors, what_is_saved_comes_back) {
  save_safetensors(file_, sample());
  const auto loaded = load_safetensors(file_);
  ASSERT_EQ(loaded.size(), sample().size());
  for (const auto& [name, tensor] : sample()) {
    ASSERT_TRUE(loaded.contains(name)) << name;
    EXPECT_TRUE(all_equal(loaded.at(name), tensor)) << name;
  }
  save_safetensors(file_, {});
  EXPECT_TRUE(load_safetensors(file_).empty());
}

TEST_F(Safetensors, every_truncation_is_refused) {
  save_safetensors(file_, sample());
  const std::string whole = bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_NE(refusal(), "") << length;
  }
  write(whole + '\0');
  EXPECT_NE(refusal().find("bytes behind its last tensor"), std::string::npos);
}

TEST_F(Safetensors, every_changed_byte_loads_or_is_refused) {
  save_safetensors(file_, sample());
  const std::string whole = bytes();
  for (size_t offset = 0; offset < whole.size(); ++offset) {
    for (const int change : {0x01, 0x20, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[offset] = static_cast<char>(static_cast<unsigned char>(damaged[offset]) ^ static_cast<unsigned>(change));
      write(damaged);
      EXPECT_NO_THROW(static_cast<void>(refusal())) << offset;  // nothing but a FormatError
    }
  }
}

TEST_F(Safetensors, bytes_are_read_once) {
  const std::string entry = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  write("{\"a\":" + entry + ",\"b\":" + entry + "}", std::string(8, '\0'));
  EXPECT_NE(refusal().find("does not follow"), std::string::npos) << refusal();
}

TEST_F(Safetensors, bad_headers_are_refused_with_a_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", "unknown dtype"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "says too little"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", "says too little"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "no room"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "too large"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})", "too large"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", "more than 8 numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", "no room"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", "more than 2 numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "no pair"},
      {R"([1])", "no '{'"},
      {R"({"a":1})", "no '{'"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} x)", "behind its header"}};
  for (const auto& [header, wanted] : cases) {
    write(header, std::string(4, '\0'));
    EXPECT_NE(refusal().find(wanted), std::string::npos) << header << "\n" << refusal();
  }
}

TEST_F(Safetensors, a_header_takes_no_more_memory_than_it_may) {
  std::string zeros = "0";
  for (int i = 0; i < 1'000'000; ++i) zeros += ",0";
  write(R"({"a":{"dtype":"F32","shape":[)" + zeros, "");  // the list's end is not reached
  EXPECT_EQ(refusal(),
            "safetensors: \"" + file_.string() + "\" has a list of more than 8 numbers in its header; expected a whole safetensors file.");
  std::string header = "{";
  for (int i = 0; i <= 100'000; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  write(header + "}", "");
  EXPECT_NE(refusal().find("has more than 100000 tensors"), std::string::npos) << refusal();
}

TEST_F(Safetensors, tensors_come_in_any_order) {
  write(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "\x01\x02\x03");
  const auto loaded = load_safetensors(file_);
  EXPECT_EQ(loaded.at("a").to_vector<uint8_t>(), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(loaded.at("b").to_vector<uint8_t>(), std::vector<uint8_t>{3});
}

TEST_F(Safetensors, metadata_is_passed_over) {
  write(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})", std::string("\x05\0\0\0", 4));
  EXPECT_EQ(load_safetensors(file_).at("a").to_vector<int32_t>(), std::vector<int32_t>{5});
}

TEST_F(Safetensors, what_could_not_be_read_again_is_refused_before_the_old_file_is_touched) {
  save_safetensors(file_, sample());
  const std::string before = bytes();
  const Tensor one = tensor<float>({1});
  const auto saving = [&](const std::vector<std::pair<std::string, Tensor>>& tensors) -> std::string {
    try {
      save_safetensors(file_, tensors);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(saving({{"k/kernel", one}, {"other", one}, {"k/kernel", one}}),
            "safetensors: two tensors for \"" + file_.string() + "\" are named \"k/kernel\"; expected names that differ.");
  EXPECT_EQ(saving({{"__metadata__", one}}), "safetensors: a tensor for \"" + file_.string() +
                                                 "\" is named \"__metadata__\", which the format keeps for itself; expected another name.");
  EXPECT_EQ(bytes(), before);
}

TEST_F(Safetensors, a_save_that_fails_leaves_the_old_file) {
  save_safetensors(file_, sample());
  EXPECT_THROW(save_safetensors(file_ / "no_such_folder" / "x", sample()), ArgumentError);
  EXPECT_EQ(load_safetensors(file_).size(), sample().size());
}

}  // namespace
}  // namespace anyshape::io
