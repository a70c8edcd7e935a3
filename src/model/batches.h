// Where batches come from: rows of tensors, in order or shuffled, rows of several shapes, or a dataset. All give them ready for a step: inputs in the model's
// order, NaN refused, targets in their loss's dtype, class weights turned into weights of rows.
#pragma once
#include "function/random_state.h"
#include "model/compiled.h"

#include <anyshape/dataset.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace anyshape::model {

// What an epoch is counted in: steps, or rows where batches are of unequal size.
struct Extent {
  std::optional<int64_t> count = {};  // where it is known
  const char* unit = "step";          // or "row", "image"
  bool is_of_rows = false;
};

class Batches {
 public:
  virtual ~Batches() = default;
  // Inputs of one row or more, to build the model with. DataError where there are none.
  virtual std::vector<Tensor> sample() = 0;
  virtual void restart() = 0;  // the next epoch
  virtual std::optional<Batch> next() = 0;
  virtual Extent extent() const = 0;  // of one epoch
  // Of the last batch: where its rows stand in what was given; empty where batches have them in order.
  virtual std::vector<int64_t> row_numbers() const { return {}; }
  // Holds targets to what the model gives: those of tensors at once, those of a dataset as they come. The model is built.
  virtual void hold_to(const Model& model) = 0;

  // Where a pass stands that is repeated elsewhere.
  struct Place {
    function_detail::RandomPosition opened = {};  // before it began
    int64_t passes = 0;                           // of a dataset, with this one
    bool is_fresh = false;                        // it is the next epoch's, and gave the sample
  };
  virtual Place place() const { return {.opened = opened_}; }
  // After such a place: between epochs the next one goes on there, inside an epoch its batches come again. Draws random numbers.
  virtual void go_to(const Place&) {}
  virtual void reopen(const Place& place) {
    function_detail::set_random_position(place.opened);
    restart();
  }
  virtual bool skip() { return next().has_value(); }  // false: there is no further batch

 protected:
  function_detail::RandomPosition opened_ = {};
};

// What batches are for.
struct Purpose {
  const char* what;          // who asks: "fit"
  const AnyLayer& network;   // its inputs, and whether it takes missing values
  const Compiled* compiled;  // none: no targets are wanted
  std::map<int64_t, double> class_weight = {};
  int64_t first_row = 0;     // the number that the first row has in the user's tensors
  bool any_targets = false;  // a step of the user's own takes some, none, or more than there are outputs
};

struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
};
std::unique_ptr<Batches> array_batches(const Purpose& purpose, const Data& x, const Data& y, const Data& sample_weight,
                                       ArrayOptions options);
// How the images of a folder become batches, where the dataset gives one at a time: grouped by shape. Batches of others are as they are.
struct DatasetOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
  bool in_order = false;  // row_numbers() tells the files' order
};
std::unique_ptr<Batches> dataset_batches(const Purpose& purpose, const Dataset& data, DatasetOptions options);

int64_t row_count(const Tensor& tensor);  // ShapeError for a scalar
int64_t row_count(const char* what, const Data& x);
// DataError for fields and weights of other counts than the first input's.
void require_equal_rows(const char* what, const Data& x, const Data& y, const Data& sample_weight);
void require_rows(const char* what, const Data& x);  // DataError for none
Data rows_between(const Data& data, int64_t begin, int64_t end);

}  // namespace anyshape::model
