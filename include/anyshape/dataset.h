// Datasets: lazy streams of elements that can be gone through again and again, with the same result for the same seed.
#pragma once
#include <anyshape/tensor.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

// Inputs or targets: one tensor, several, or several by name. A plain vector of tensors is the rows of one input.
class Data {
 public:
  Data() = default;
  Data(const Tensor& tensor);
  Data(const std::vector<Tensor>& rows);  // unequal rows: a ragged batch
  struct Field {
    std::string name;  // empty: by position
    Tensor tensor;
    bool is_row = false;  // of rows of unequal length: a batch of them is ragged even where they happen to be equal
  };
  explicit Data(std::vector<Field> fields) : fields_(std::move(fields)) {}

  bool defined() const { return !fields_.empty(); }
  const std::vector<Field>& fields() const { return fields_; }
  const Tensor& single() const;  // ArgumentError where there are several

 private:
  std::vector<Field> fields_;
};
Data inputs(std::vector<Tensor> tensors);
Data inputs(std::vector<Data::Field> fields);  // by name

// What a dataset yields: an input and, unless there is none, a target and a weight.
struct Example {
  Data x;
  Data y = {};
  Tensor sample_weight = {};
};

class DatasetImpl;
class DatasetCursor;

struct PaddedBatchOptions {
  std::vector<Shape> shapes = {};  // per field; as::dynamic: to the longest of the batch
  double value = 0;
  bool drop_remainder = false;
};
struct BucketOptions {
  std::vector<int64_t> boundaries = {};
  int64_t batch_size = 32;
  std::vector<int64_t> batch_sizes = {};  // one per bucket, one more than boundaries
  bool pad_to_boundary = false;
  double value = 0;
  bool drop_remainder = false;
};
struct ShuffleOptions {
  int64_t buffer = 10'000;
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct CsvOptions {
  std::string target = {};                                          // the column that is the target; none: no target
  std::vector<std::string> columns = {};                            // the inputs; none: all but the target
  std::map<std::string, Dtype> dtypes = {};                         // by column; f32 unless given
  std::map<std::string, std::vector<std::string>> categories = {};  // columns of text: a value becomes its place in the list, i32
  char separator = ',';
  bool header = true;  // the first line has the columns' names; without one they are "0", "1", ...
  std::vector<std::string> missing = {"", "NA", "NaN", "nan", "null"};  // become NaN; a DataError in columns of integers
};
struct BatchOptions {
  bool drop_remainder = false;
  // None: fields of unequal rows are ragged, and stay so where a batch has equal ones, also behind a map. false: all are dense, as where
  // a map makes vectors of one length of unequal rows; DataError for unequal ones.
  std::optional<bool> ragged = {};
};

class Dataset {
 public:
  static Dataset from(const Data& x);
  static Dataset from(const Data& x, const Data& y);
  static Dataset from(const Data& x, const Data& y, const Tensor& sample_weight);
  // Calls `make` at the start of each pass; the callable it gives yields examples until it gives none.
  static Dataset from_generator(std::function<std::function<std::optional<Example>()>()> make);
  // One element per record, read anew in each pass. Inputs of one dtype are one tensor [columns], else a field per column, by name.
  static Dataset from_csv(const std::filesystem::path& file, CsvOptions options = {});

  Dataset map(std::function<Example(const Example&)> callable) const;
  Dataset filter(std::function<bool(const Example&)> callable) const;
  Dataset batch(int64_t size, BatchOptions options = {}) const;  // unequal rows become a ragged batch
  Dataset padded_batch(int64_t size, PaddedBatchOptions options = {}) const;
  Dataset bucket(BucketOptions options) const;
  Dataset shuffle(ShuffleOptions options = {}) const;
  Dataset repeat(int64_t times = -1) const;  // -1: without end
  Dataset take(int64_t count) const;
  Dataset skip(int64_t count) const;
  Dataset cache() const;
  Dataset prefetch(int64_t count = 2) const;  // made ahead on a thread of its own
  static Dataset zip(const Dataset& x, const Dataset& y);

  std::optional<int64_t> size() const;  // elements, where known
  bool is_batched() const;
  bool is_endless() const;       // a pass has no end: repeat() without take()
  double padding_waste() const;  // the share of padded elements in one pass; ArgumentError where it has no end

  // for (const Example& example : dataset)
  class Iterator {
   public:
    explicit Iterator(std::shared_ptr<DatasetCursor> cursor);
    const Example& operator*() const { return *current_; }
    const Example* operator->() const { return &*current_; }
    Iterator& operator++();
    bool operator!=(std::default_sentinel_t) const { return current_.has_value(); }

   private:
    std::shared_ptr<DatasetCursor> cursor_;
    std::optional<Example> current_;
  };
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

  explicit Dataset(std::shared_ptr<const DatasetImpl> impl);
  const std::shared_ptr<const DatasetImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const DatasetImpl> impl_;
  std::shared_ptr<std::atomic<int64_t>> passes_;  // begun so far
};

}  // namespace anyshape
#pragma GCC visibility pop
