// Which language is this word? Its letters, one by one, through an LSTM: rows of unequal length, no padding, one trace.
#include "words.h"

#include <anyshape/anyshape.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>

namespace as = anyshape;
using as::Tensor;

namespace {

// Letters by code point from 1; 0 is a letter that no training word has.
class Alphabet {
 public:
  explicit Alphabet(const Words& words) {
    std::set<char32_t> found;
    for (const std::u32string& text : words.texts) found.insert(text.begin(), text.end());
    letters_.assign(found.begin(), found.end());
  }

  int64_t size() const { return static_cast<int64_t>(letters_.size()); }

  Tensor encode(const std::vector<std::u32string>& texts) const {
    std::vector<std::vector<int32_t>> rows;
    for (const std::u32string& text : texts) {
      std::vector<int32_t>& row = rows.emplace_back();
      for (const char32_t letter : text) row.push_back(id_of(letter));
    }
    return as::ragged(rows);
  }

 private:
  int32_t id_of(char32_t letter) const {
    const auto found = std::ranges::lower_bound(letters_, letter);
    return found != letters_.end() && *found == letter ? static_cast<int32_t>(found - letters_.begin()) + 1 : 0;
  }

  std::vector<char32_t> letters_;
};

Tensor labels(const Words& words) { return as::tensor(words.languages); }

void print_confusion(const Tensor& probabilities, const Words& words) {
  const std::vector<int32_t> guesses = as::argmax(probabilities, {.axis = 1}).to_vector<int32_t>();
  std::vector<std::vector<int>> counts(languages.size(), std::vector<int>(languages.size()));
  for (size_t i = 0; i < guesses.size(); ++i) ++counts[static_cast<size_t>(words.languages[i])][static_cast<size_t>(guesses[i])];
  std::printf("\n%-10s", "is \\ said");
  for (const std::string& language : languages) std::printf("%9s", language.c_str());
  for (size_t is = 0; is < languages.size(); ++is) {
    std::printf("\n%-10s", languages[is].c_str());
    for (const int count : counts[is]) std::printf("%9d", count);
  }
  std::puts("");
}

void print_guesses(const as::Model& model, const Alphabet& alphabet, const std::vector<std::string>& words) {
  std::vector<std::u32string> texts;
  for (const std::string& word : words) texts.push_back(to_letters(word));
  const std::vector<float> probabilities = model.predict(alphabet.encode(texts)).to_vector<float>();
  std::puts("");
  for (size_t word = 0; word < words.size(); ++word) {
    const float* const row = probabilities.data() + word * languages.size();
    std::vector<size_t> order(languages.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, std::greater{}, [&](size_t i) { return row[i]; });
    std::printf("%s", (words[word] + std::string(22 - std::min<size_t>(21, texts[word].size()), ' ')).c_str());
    for (size_t i = 0; i < 3; ++i) std::printf("  %s %.0f %%", languages[order[i]].c_str(), 100.0 * row[order[i]]);
    std::puts("");
  }
}

}  // namespace

int main(int count, char** arguments) try {
  std::string folder = "/usr/share/dict";
  int64_t epochs = 4;
  int64_t seed = 3;
  std::vector<std::string> asked = {"thoughtful", "fenêtre", "geschwindigkeit", "corazón", "bellissimo", "gezelligheid"};
  CLI::App app("Learns which of six languages a word is of.");
  app.add_option("--folder", folder, "where the word lists are")->capture_default_str();
  app.add_option("--epochs", epochs)->capture_default_str();
  app.add_option("--seed", seed)->capture_default_str();
  app.add_option("words", asked, "words to guess at the end");
  CLI11_PARSE(app, count, arguments);

  const WordSplit words = split_words(folder);
  const Alphabet alphabet(words.train);
  const Tensor train = alphabet.encode(words.train.texts), test = alphabet.encode(words.test.texts);
  const Tensor train_language = labels(words.train), test_language = labels(words.test);
  std::cout << "Which language is this word? " << words.train.texts.size() << " words to learn from, " << words.test.texts.size()
            << " to test on, letters " << train.shape() << "\n\n";

  as::random::set_seed(static_cast<uint64_t>(seed));
  as::Sequential model(as::Embedding(alphabet.size() + 1, 32), as::LSTM(128),
                       as::Dense(static_cast<int64_t>(languages.size()), {.activation = "softmax"}));
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});

  const auto start = std::chrono::steady_clock::now();
  model.fit(train, train_language, {.batch_size = 128, .epochs = epochs, .seed = seed});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const as::Scores scores = model.evaluate(test, test_language, {.batch_size = 128, .verbose = as::Verbose::Silent});

  std::printf("\n%lld characters, %lld parameters, %lld epochs in %.1f s, test accuracy %.4f, loss %.4f\n",
              static_cast<long long>(alphabet.size()), static_cast<long long>(model.parameter_count()), static_cast<long long>(epochs),
              seconds, scores["accuracy"], scores["loss"]);
  print_confusion(model.predict(test, {.batch_size = 128}), words.test);
  print_guesses(model, alphabet, asked);
  std::cout << "\nThe ledger:\n" << model.train_step().report();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "word_language: " << error.what() << "\n";
  return 1;
}
