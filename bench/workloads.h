// Sizes of the peers' workloads, as bench/peers/workloads.py draws them.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

using Sizes = std::vector<int64_t>;

struct LstmText {  // Embedding(10000, 64), LSTM(128), Dense(1); size = steps
  static constexpr int64_t rows = 32, vocabulary = 10'000, embed = 64, units = 128, steady = 100, longest = 200;
  static inline const Sizes warm = {30, 200, 57, 151};
  static inline const Sizes unseen = {143, 88, 135, 157, 149, 55, 116, 153, 130, 114};
  static inline const Sizes stream = {25,  91, 127, 88, 32,  193, 71,  188, 78,  125, 61,  164, 148, 101, 106, 66,  31,  87, 122, 98,
                                      200, 20, 172, 21, 169, 70,  174, 64,  171, 80,  161, 26,  150, 73,  163, 121, 124, 60, 90,  128};
  static inline const Sizes lengths_50 = {200, 158, 143, 167, 165, 110, 49,  195, 166, 48, 56,  130, 135, 14, 192, 112,
                                          3,   81,  131, 54,  138, 198, 126, 80,  37,  66, 133, 26,  200, 23, 60,  197};
  static inline const Sizes lengths_20 = {200, 20, 19, 32, 62, 9,  18, 37, 17, 29, 24, 5, 3,  7, 46, 69,
                                          65,  48, 64, 31, 38, 45, 28, 19, 49, 21, 39, 6, 15, 4, 43, 56};
};

struct Mlp {  // 784, 512 relu, 512 relu, 10; size = rows
  static constexpr int64_t features = 784, hidden = 512, classes = 10, steady = 64;
  static inline const Sizes warm = {10, 20, 10, 30, 64, 1, 37, 128, 100, 256, 7};
  static inline const Sizes unseen = {65, 81, 206, 177, 214, 141, 109, 9, 142, 6};
  static inline const Sizes stream = {246, 155, 110, 132, 227, 90, 84, 47,  167, 75, 241, 74, 220, 118, 8,  105, 98,  54,  48,  193,
                                      115, 33,  100, 59,  32,  34, 4,  116, 42,  20, 219, 41, 208, 9,   62, 154, 159, 244, 121, 186};
};

struct Encoder {  // two pre-norm blocks (256, 4 heads, 1024, tanh gelu), mean over steps, Dense(1); size = steps
  static constexpr int64_t rows = 16, width = 256, heads = 4, hidden = 1024, blocks = 2, steady = 256;
  static inline const Sizes warm = {64, 200, 97, 31};
  static inline const Sizes unseen = {110, 100, 226, 92, 181, 205, 192, 146, 168, 191};
  static inline const Sizes lengths_steady = {256, 2, 116, 96, 235, 151, 231, 39, 3, 108, 228, 253, 19, 93, 37, 13};
  static inline const Sizes lengths_50 = {256, 10, 32, 218, 142, 71, 191, 229, 71, 233, 39, 9, 65, 102, 36, 61};
  static inline const Sizes lengths_20 = {256, 9, 30, 4, 41, 12, 45, 63, 63, 24, 54, 73, 35, 25, 18, 70};
};

}  // namespace bench
