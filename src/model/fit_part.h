// How far a fit is, as a file has it.
#pragma once
#include "model/batches.h"
#include "model/epoch_scores.h"
#include "model/model_file.h"

#include <anyshape/callback.h>

#include <optional>
#include <string>
#include <vector>

namespace anyshape::model {

// Equal numbers in a row are kept once: before each batch of an epoch as many calls drew random numbers as before the last one, mostly.
class Runs {
 public:
  Runs() = default;
  explicit Runs(std::vector<int64_t> pairs) : pairs_(std::move(pairs)) {}
  void add(int64_t number);
  const std::vector<int64_t>& pairs() const { return pairs_; }  // a number, and how often it stands there

 private:
  std::vector<int64_t> pairs_;
};

struct ColumnPart {
  std::string name = {};
  std::vector<double> values = {};
};
struct CallbackPart {
  std::string type = {};
  Config values = {};
};
struct PlacePart {
  RandomPart opened = {};
  int64_t passes = 0;
  bool fresh = false;
};
struct FitPart {
  int64_t epoch = 0;      // in progress, or the next one
  bool begun = false;     // it is in progress
  bool stopped = false;   // by a callback: there is no further step
  int64_t steps = 0;      // of the epoch so far
  int64_t rows = 0;       // likewise
  RandomPart began = {};  // when the fit began
  PlacePart data = {};
  PlacePart validation = {};
  std::vector<int64_t> calls = {};     // that drew random numbers between the batches of the epoch: Runs
  std::optional<int64_t> extent = {};  // of an epoch, in `unit`
  std::string unit = {};
  EpochScores::Sums sums = {};
  std::vector<ColumnPart> history = {};
  std::vector<CallbackPart> callbacks = {};
};

PlacePart to_part(const Batches::Place& place);
Batches::Place from_part(const PlacePart& part);

// Tensors stand under the number of their callback.
void add_callbacks(const std::vector<AnyCallback>& callbacks, FitPart& part, NamedTensors& tensors);
void add_history(const History& history, FitPart& part);

}  // namespace anyshape::model
