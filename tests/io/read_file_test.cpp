// Readers of tensors take regular files only, and say in short what else they were given.
#include "io/read_file.h"
#include "io/safetensors.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/error.h>
#include <anyshape/io.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <fstream>

namespace anyshape {
namespace {

using test::text_of;

TEST(ReadFile, reads_to_the_end_and_no_further) {
  const test::TemporaryFolder folder;
  const std::filesystem::path name = folder.path() / "file";
  std::ofstream(name, std::ios::binary) << "abcdef";
  ReadFile file(name);
  EXPECT_EQ(file.problem(), "");
  EXPECT_EQ(file.size(), 6);
  std::array<char, 8> bytes{};
  EXPECT_EQ(file.read(bytes.data(), 4), 4);
  EXPECT_EQ(std::memcmp(bytes.data(), "abcd", 4), 0);
  EXPECT_EQ(file.read(bytes.data(), 4), 2);
  EXPECT_EQ(file.read(bytes.data(), 4), 0);
  EXPECT_EQ(file.read(bytes.data(), 0), 0);
}

TEST(ReadFile, names_what_is_no_regular_file_without_waiting_for_it) {
  const test::TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string(), missing = (folder.path() / "missing").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {pipe, "is a pipe"}, {folder.path().string(), "is a folder"}, {"/dev/null", "is a device"}, {missing, "is no file that can be read"}};
  for (const auto& [name, problem] : kinds) {
    EXPECT_EQ(ReadFile(name).problem(), problem);
    EXPECT_EQ(text_of<FormatError>([&] { load_npy(name); }), "load_npy: \"" + name + "\" " + problem + "; expected a whole .npy file.");
    EXPECT_EQ(text_of<FormatError>([&] { io::load_safetensors(name); }),
              "safetensors: \"" + name + "\" " + problem + "; expected a whole safetensors file.");
  }
}

TEST(ReadFile, a_files_texts_are_cut_in_errors) {
  const test::TemporaryFolder folder;
  const std::filesystem::path name = folder.path() / "weights";
  const std::string endless(5'000'000, 'a');
  auto refusal = [&](const std::string& header) {
    const uint64_t length = header.size();
    std::ofstream(name, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << header;
    return text_of<FormatError>([&] { io::load_safetensors(name); });
  };
  for (const std::string& header :
       {"{\"a\":{\"dtype\":\"" + endless + "\"}}", "{\"a\":{\"" + endless + "\":1}}", "{\"" + endless + "\":{\"dtype\":\"F32\"}}",
        "{\"" + endless + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"}) {
    EXPECT_LT(refusal(header).size(), 400U);
    EXPECT_NE(refusal(header).find("aaa...\" (5000000 bytes)"), std::string::npos) << refusal(header).substr(0, 400);
  }
  std::string header = "{'descr': '" + endless + "', 'fortran_order': False, 'shape': (1,), }\n";
  std::string file("\x93NUMPY\x02\0", 8);
  for (int byte = 0; byte < 4; ++byte) file += static_cast<char>(header.size() >> (8 * byte) & 0xFFU);
  std::ofstream(name, std::ios::binary) << file << header;
  const std::string text = text_of<FormatError>([&] { load_npy(name.string()); });
  EXPECT_LT(text.size(), 400U);
  EXPECT_TRUE(text.starts_with("npy: dtype 'aaa")) << text;
}

}  // namespace
}  // namespace anyshape
