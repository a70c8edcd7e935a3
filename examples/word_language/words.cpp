// Reads and draws the words.
#include "words.h"

#include <clocale>
#include <cwchar>
#include <cwctype>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>

namespace {

const std::vector<std::string> files = {"american-english", "french", "ngerman", "spanish", "italian", "dutch"};

// How many lists each word stands in is known when all are read: a word maps to its language, or to `several`.
constexpr int32_t several = -1;
using Owners = std::map<std::u32string, int32_t>;

void read_list(const std::filesystem::path& file, int32_t language, Owners& owners) {
  std::ifstream lines(file);
  if (!lines) throw std::runtime_error("cannot read " + file.string() + "; the word lists are Debian's packages wamerican, wfrench, ...");
  for (std::string line; std::getline(lines, line);) {
    const std::u32string word = to_letters(line);
    if (word.size() < 3) continue;
    const auto [found, is_new] = owners.emplace(word, language);
    if (!is_new && found->second != language) found->second = several;
  }
}

// Moves `count` of the words, drawn at random, to the front.
void draw(std::vector<std::u32string>& words, size_t count, std::mt19937& random) {
  for (size_t i = 0; i < count; ++i) std::swap(words[i], words[i + random() % (words.size() - i)]);
}

}  // namespace

std::u32string to_letters(const std::string& utf8) {
  static const bool knows_letters = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  if (!knows_letters) throw std::runtime_error("the locale C.UTF-8 is not there");
  std::u32string letters;
  std::mbstate_t state{};
  for (size_t at = 0; at < utf8.size();) {
    wchar_t sign = 0;
    const size_t length = std::mbrtowc(&sign, utf8.data() + at, utf8.size() - at, &state);
    if (length == 0 || length > utf8.size() || !std::iswalpha(static_cast<wint_t>(sign))) return {};
    letters.push_back(static_cast<char32_t>(std::towlower(static_cast<wint_t>(sign))));
    at += length;
  }
  return letters;
}

WordSplit split_words(const std::filesystem::path& folder, SplitOptions options) {
  Owners owners;
  for (size_t i = 0; i < files.size(); ++i) read_list(folder / files[i], static_cast<int32_t>(i), owners);

  std::vector<std::vector<std::u32string>> of_language(files.size());
  for (const auto& [word, language] : owners) {
    if (language != several) of_language[static_cast<size_t>(language)].push_back(word);
  }

  WordSplit split;
  std::mt19937 random(options.seed);
  for (size_t language = 0; language < files.size(); ++language) {
    std::vector<std::u32string>& words = of_language[language];
    const size_t wanted = options.train + options.test;
    if (words.size() < wanted) throw std::runtime_error(files[language] + " has too few words of its own");
    draw(words, wanted, random);
    for (size_t i = 0; i < wanted; ++i) {
      Words& part = i < options.train ? split.train : split.test;
      part.texts.push_back(words[i]);
      part.languages.push_back(static_cast<int32_t>(language));
    }
  }
  return split;
}
