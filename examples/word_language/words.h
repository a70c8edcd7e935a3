// Words of six languages, from Debian's word lists.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

inline const std::vector<std::string> languages = {"English", "French", "German", "Spanish", "Italian", "Dutch"};

struct Words {
  std::vector<std::u32string> texts;
  std::vector<int32_t> languages;  // of each text
};
struct WordSplit {
  Words train, test;
};
struct SplitOptions {
  size_t train = 10'000;  // of each language
  size_t test = 1'000;
  uint32_t seed = 0;
};

// Lower-cased words of three letters or more, without other signs, that stand in one list only; drawn by the seed.
WordSplit split_words(const std::filesystem::path& folder, SplitOptions options = {});

std::u32string to_letters(const std::string& utf8);  // lower-cased; empty where a sign is not a letter
