// The universal tester of layers. A file in samples/ registers samples of a layer, and check_layer_test.cpp tries each of them: shapes,
// gradients, masks, saving, training, one trace for all sizes, and rows of unequal length three ways. A layer without a sample fails.
#pragma once
#include <anyshape/anyshape.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace anyshape::test {

enum class MaskFate { Passes, Drops, Makes };

struct LayerSample {
  std::string layer;               // its name in the public header
  std::string label = {};          // of several samples of one layer
  std::function<AnyLayer()> make;  // in f64, so that differences are exact enough; not built
  // Inputs of so many rows and steps; other seeds give other numbers. Floating ones are f64.
  std::function<std::vector<Tensor>(int64_t rows, int64_t time, int seed)> inputs;
  bool over_time = true;  // axis 1 of every input is time, or `time` is not used
  MaskFate mask = MaskFate::Passes;
  int64_t least_rows = 0;      // the smallest number of rows it takes
  int64_t least_time = 0;      // likewise of steps
  std::string no_ragged = {};  // why ragged rows, padded rows and single rows are not the same, or not taken
};

inline void PrintTo(const LayerSample& sample, std::ostream* out) { *out << sample.layer << ' ' << sample.label; }

bool register_layer_samples(std::vector<LayerSample> samples);  // true, to be called where a static object is made
const std::vector<LayerSample>& layer_samples();

// f64 numbers between -1.5 and 1.5, all different and none near 0.
Tensor numbers(const Shape& shape, int seed);
// i32 from 0 to count - 1.
Tensor ids(const Shape& shape, int64_t count, int seed);
// One input [rows, time, features] of numbers, as most samples want it.
std::function<std::vector<Tensor>(int64_t, int64_t, int)> steps_of(int64_t features);

void check_shapes(const LayerSample& sample);     // what is told without data is what comes out
void check_gradients(const LayerSample& sample);  // of inputs and weights, against finite differences
void check_mask(const LayerSample& sample);
void check_saving(const LayerSample& sample);    // weights saved and loaded, and a clone, give the same numbers
void check_training(const LayerSample& sample);  // a step makes the loss smaller
void check_one_trace(const LayerSample& sample);
void check_rows(const LayerSample& sample);  // ragged = padded and masked = row by row

// Equal element by element, NaN to NaN; else a text that names the first difference.
std::string difference(const Tensor& got, const Tensor& want, double tolerance = 1e-10);

// The layer with the numbers of `seed` as weights, the positive ones where it needs them (variances); built on these inputs.
AnyLayer built(const LayerSample& sample, const std::vector<Tensor>& inputs);
bool is_real(const Tensor& tensor);  // of a floating dtype: something to differentiate

}  // namespace anyshape::test
