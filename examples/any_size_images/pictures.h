// Pictures of shapes at any size: what the example trains on.
#pragma once
#include <anyshape/anyshape.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

constexpr std::array<const char*, 5> kinds = {"circle", "cross", "ring", "square", "triangle"};  // in the order of their labels

// Images u8 [height, width, 3], each of its own size, and what they show.
struct Pictures {
  std::vector<anyshape::Tensor> images;
  std::vector<int32_t> labels;
};

// One shape each, turned, at a random place, in random colours, with noise. Sides are 24, 28, ..., 60 pixels: 100 sizes.
Pictures draw_pictures(int64_t count, uint64_t seed);

// A folder for each kind, a PNG file for each picture.
void write_pictures(const Pictures& pictures, const std::filesystem::path& folder);
