// Model files with bytes that are flipped, ends that are cut off, and metadata that say something else: each loads, or is a FormatError, and none asks for
// more memory than its size allows. ANYSHAPE_FUZZ_FILES says how many are tried; a failure tells the seed, which ANYSHAPE_FUZZ_FILE tries alone.
#include "support/peak_memory.h"
#include "support/temporary_folder.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

namespace anyshape {
namespace {

using Random = std::mt19937_64;

int64_t files_wanted() {
  const char* const wanted = std::getenv("ANYSHAPE_FUZZ_FILES");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : 3000;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Parts {
  std::string header, rest;
};
Parts parts_of(const std::string& bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return {bytes.substr(8, length), bytes.substr(8 + length)};
}
std::string joined(const Parts& parts) {
  const uint64_t length = parts.header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + parts.header + parts.rest;
}

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"0",
                                               "1",
                                               "-1",
                                               "2",
                                               "3",
                                               "7",
                                               "64",
                                               "1000000",
                                               "4000000000",
                                               "9223372036854775807",
                                               "-9223372036854775808",
                                               "1e308",
                                               "1.5",
                                               "NaN",
                                               "Infinity",
                                               "null",
                                               "true",
                                               "false",
                                               "[]",
                                               "{}",
                                               "[null]",
                                               "[[]]",
                                               "\\\"\\\"",
                                               "\\\"relu\\\"",
                                               "\\\"f64\\\"",
                                               "\\\"i32\\\"",
                                               "\\\"LSTM\\\"",
                                               "\\\"Dense\\\"",
                                               "\\\"Functional\\\"",
                                               "\\\"concat\\\"",
                                               "\\\"reshape\\\"",
                                               "\\\"same\\\"",
                                               "\\\"ragged\\\"",
                                               "\\\"adam\\\"",
                                               "\\\"auc\\\""};
  return all;
}

// Another value instead of one: between ": " or ", " or "[" and what ends it.
void change_value(std::string& header, Random& random) {
  const std::vector<std::string>& all = words();
  for (int attempt = 0; attempt < 50; ++attempt) {
    const size_t from = random() % header.size();
    const size_t begin = header.find_first_of(":,[", from);
    if (begin == std::string::npos) continue;
    const size_t value = header.find_first_not_of(" ", begin + 1);
    if (value == std::string::npos) continue;
    const size_t end = header.find_first_of(",]}", value);
    if (end == std::string::npos || end - value > 60) continue;
    header.replace(value, end - value, all[random() % all.size()]);
    return;
  }
}

// A part of the header once more, or without it, or another part in its place.
void move_part(std::string& header, Random& random) {
  const auto place = [&] { return random() % header.size(); };
  const size_t from = place(), length = 1 + random() % 80;
  const std::string part = header.substr(from, length);
  switch (random() % 3) {
    case 0: header.insert(place(), part); break;
    case 1: header.erase(from, length); break;
    default: header.replace(place(), length, part); break;
  }
}

std::string mutated(const std::vector<std::string>& samples, uint64_t seed) {
  Random random(seed);
  std::string bytes = samples[random() % samples.size()];
  const int changes = 1 + static_cast<int>(random() % 3);
  const auto kind = random() % 10;
  if (kind == 0) return bytes.substr(0, random() % bytes.size());
  if (kind <= 2) {
    for (int i = 0; i < changes; ++i) bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    return bytes;
  }
  Parts parts = parts_of(bytes);
  for (int i = 0; i < changes; ++i) {
    if (kind == 3) {
      parts.header[random() % parts.header.size()] = static_cast<char>(32 + random() % 95);
    } else if (kind == 4) {
      move_part(parts.header, random);
    } else {
      change_value(parts.header, random);
    }
  }
  return joined(parts);
}

class FuzzModelFiles : public ::testing::Test {
 protected:
  FuzzModelFiles() {
    Model first = plain();
    EarlyStopping stopping({.monitor = "loss", .patience = 3, .restore_best_weights = true});
    first.fit(x_, y_,
              {.batch_size = 3,
               .epochs = 2,
               .verbose = Verbose::Silent,
               .callbacks = {stopping, ModelCheckpoint(file_.string(), {.save_freq = 4})}});
    samples_.push_back(bytes_of(file_));
    const Tensor words = input({dim("length", {.min = 1, .max = 50})}, {.name = "words", .dtype = i32}),
                 other = input({2}, {.name = "other"});
    const Tensor body = Bidirectional(LSTM(3, {.return_sequences = true}))(Embedding(9, 4)(words));
    const Tensor both =
        concat({MultiHeadAttention(2, 2)({body, body, body}), body * 2 + tensor({1.0f, 2.5f, 0.0f, 0.0f, 0.0f, 0.0f})}, {.axis = -1});
    Model functional(
        {.inputs = {words, other}, .outputs = {{"a", Dense(2)(mean(both, {.axes = {1}}))}, {"b", reshape(Dense(6)(other), {-1, 2, 3})}}});
    functional.compile({.optimizer = "sgd", .metrics = {{"a", "mse"}}, .losses = {{"a", "mse"}, {"b", {}}}});
    functional.save(file_);
    samples_.push_back(bytes_of(file_));
    const Tensor picture = input({as_open_, as_open_, 3});
    const Tensor edges =
        Conv2D(4, 3, {.strides = 2, .padding = "same"})(ZeroPadding2D(1)(RandomFlip(FlipMode::Horizontal, {.seed = 1})(picture)));
    const Tensor pooled = AdaptiveAveragePooling2D(2)(MaxPooling2D(2)(UpSampling2D(2)(SeparableConv2D(4, 3)(Resizing(16, 12)(edges)))));
    Model images({.inputs = {picture}, .outputs = {Dense(2)(Flatten()(GroupNormalization({.groups = 2})(pooled)))}});
    images.save(file_);
    samples_.push_back(bytes_of(file_));
  }

  // The network of the first sample, as the program makes it that goes on from the file.
  static Model plain() {
    Sequential model(Dense(4, {.activation = "relu"}), BatchNormalization(), Dropout(0.25, {.seed = 3}),
                     Dense(1, {.kernel_regularizer = l2(0.1)}));
    model.compile({.optimizer = adam({.learning_rate = cosine_decay(0.1, 100)}), .loss = huber(), .metrics = {"mae", "auc"}});
    return model;
  }
  void go_on() {
    static Model model = plain();
    const EarlyStopping stopping({.monitor = "loss", .patience = 3, .restore_best_weights = true});
    model.fit(x_, y_,
              {.batch_size = 3,
               .epochs = 2,
               .verbose = Verbose::Silent,
               .callbacks = {stopping, ModelCheckpoint((folder_.path() / "next").string(), {.save_freq = 4})},
               .resume_from = file_});
  }

  // What is wrong, or nothing.
  std::string problem_of(uint64_t seed) {
    const bool goes_on = seed % 16 == 5;
    const std::string bytes = mutated(goes_on ? std::vector<std::string>{samples_[0]} : samples_, seed);
    std::ofstream(file_, std::ios::binary) << bytes;
    const auto begin = std::chrono::steady_clock::now();
    std::string problem;
    const std::optional<int64_t> taken = test::peak_growth([&] {
      try {
        if (goes_on) {
          go_on();
        } else {
          const Model model = load_model(file_);
        }
      } catch (const FormatError&) {
      } catch (const std::exception& error) {
        problem = std::string("throws ") + error.what();
      }
    });
    const int64_t most = 4 * static_cast<int64_t>(bytes.size()) + (int64_t{64} << 20);
    if (taken && *taken > most) problem = "takes " + std::to_string(*taken) + " bytes";
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (seconds > 10) problem = "takes " + std::to_string(seconds) + " s";
    return problem;
  }

  void try_all(uint64_t part) {
    set_log_sink([](std::string_view) {});
    if (const char* const alone = std::getenv("ANYSHAPE_FUZZ_FILE")) {
      EXPECT_EQ(problem_of(std::strtoull(alone, nullptr, 10)), "");
      return;
    }
    int failures = 0;
    const auto wanted = static_cast<uint64_t>(files_wanted());
    for (uint64_t seed = part; seed < wanted && failures < 5; seed += 4) {
      const std::string problem = problem_of(seed);
      if (problem.empty()) continue;
      ++failures;
      ADD_FAILURE() << problem << "\n  again with ANYSHAPE_FUZZ_FILE=" << seed;
    }
    set_log_sink({});
  }

  Dim as_open_ = dynamic;
  Tensor x_ = reshape(sin(cast(arange(48), f32)), {8, 6}), y_ = sum(x_, {.axis = 1, .keep_dims = true});
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "model.safetensors";
  std::vector<std::string> samples_;
};

TEST_F(FuzzModelFiles, load_or_are_refused_1_of_4) { try_all(0); }
TEST_F(FuzzModelFiles, load_or_are_refused_2_of_4) { try_all(1); }
TEST_F(FuzzModelFiles, load_or_are_refused_3_of_4) { try_all(2); }
TEST_F(FuzzModelFiles, load_or_are_refused_4_of_4) { try_all(3); }

}  // namespace
}  // namespace anyshape
