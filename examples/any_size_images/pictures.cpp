// Drawing: nine samples for each pixel say how much of it the shape covers.
#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>

namespace as = anyshape;

namespace {

struct Point {
  double x, y;
};
using Colour = std::array<double, 3>;

// Of shapes that just fit into the circle around 0 with radius 1.
bool is_inside(int32_t kind, Point p) {
  const double distance = std::hypot(p.x, p.y), x = std::abs(p.x), y = std::abs(p.y);
  switch (kind) {
    case 0: return distance <= 1;
    case 1: return std::min(x, y) <= 0.28 && std::max(x, y) <= 0.95;
    case 2: return distance <= 1 && distance >= 0.6;
    case 3: return std::max(x, y) <= 0.72;
    default: return p.y <= 0.5 && std::sqrt(3.0) * x - p.y <= 1;
  }
}

class Painter {
 public:
  explicit Painter(uint64_t seed) : random_(seed) {}

  as::Tensor picture(int32_t kind) {
    const int64_t height = side(), width = side();
    const double radius = between(0.25, 0.45) * static_cast<double>(std::min(height, width)), angle = between(0, 2 * std::numbers::pi);
    const Point middle{between(radius, static_cast<double>(width) - radius), between(radius, static_cast<double>(height) - radius)};
    const Colour back = colour();
    Colour front = colour();
    while (distance(front, back) < 200) front = colour();

    std::normal_distribution<double> noise(0, 14);
    std::vector<uint8_t> values;
    for (int64_t row = 0; row < height; ++row) {
      for (int64_t column = 0; column < width; ++column) {
        const double share = covered(kind, {static_cast<double>(column), static_cast<double>(row)}, middle, radius, angle);
        for (size_t channel = 0; channel < 3; ++channel) {
          const double value = share * front[channel] + (1 - share) * back[channel] + noise(random_);
          values.push_back(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
        }
      }
    }
    return as::tensor(values, {height, width, 3});
  }

 private:
  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int64_t side() { return 24 + 4 * std::uniform_int_distribution<int64_t>(0, 9)(random_); }
  Colour colour() { return {between(0, 255), between(0, 255), between(0, 255)}; }
  static double distance(const Colour& a, const Colour& b) { return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]); }

  static double covered(int32_t kind, Point pixel, Point middle, double radius, double angle) {
    int inside = 0;
    for (int sample = 0; sample < 9; ++sample) {
      const double x = (pixel.x + (sample % 3 + 0.5) / 3 - middle.x) / radius, y = (pixel.y + (sample / 3 + 0.5) / 3 - middle.y) / radius;
      inside += is_inside(kind, {x * std::cos(angle) + y * std::sin(angle), y * std::cos(angle) - x * std::sin(angle)}) ? 1 : 0;
    }
    return inside / 9.0;
  }

  std::mt19937_64 random_;
};

}  // namespace

Pictures draw_pictures(int64_t count, uint64_t seed) {
  Painter painter(seed);
  Pictures pictures;
  for (int64_t i = 0; i < count; ++i) {
    pictures.labels.push_back(static_cast<int32_t>(i % static_cast<int64_t>(kinds.size())));
    pictures.images.push_back(painter.picture(pictures.labels.back()));
  }
  return pictures;
}

void write_pictures(const Pictures& pictures, const std::filesystem::path& folder) {
  for (size_t i = 0; i < pictures.images.size(); ++i) {
    const std::filesystem::path own = folder / kinds[static_cast<size_t>(pictures.labels[i])];
    std::filesystem::create_directories(own);
    as::write_png(own / (std::to_string(10'000 + i) + ".png"), pictures.images[i]);
  }
}
