// Datasets: lazy streams of elements that can be gone through again and again, with the same result for the same seed.
#pragma once
#include <anyshape/config.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// Inputs, targets or their weights: one tensor, several, or several by name. A plain vector of tensors is the rows of one input.
class Data {
 public:
  Data() = default;
  Data(const Tensor& tensor);
  /// Equal rows: a dense batch. Rows that differ in their first axis: a ragged one. In others, as images of several sizes do: by_shape(rows).
  Data(const std::vector<Tensor>& rows);
  /// A tensor, and the name of the input or output that it belongs to.
  struct Field {
    std::string name;  ///< empty: by position
    Tensor tensor = {};
    bool is_row = false;            ///< of rows of unequal length: a batch of them is ragged even where they happen to be equal
    std::vector<Tensor> rows = {};  ///< of by_shape(): instead of the tensor
  };
  explicit Data(std::vector<Field> fields) : fields_(std::move(fields)) {}
  Data(std::initializer_list<Field> fields) : fields_(fields) {}  ///< {{"price", a}, {"kind", b}}

  bool defined() const { return !fields_.empty(); }                      ///< false: nothing is given
  const std::vector<Field>& fields() const { return fields_; }           ///< in the order in which they are given
  const Tensor& single() const;                                          ///< ArgumentError where there are several
  friend std::ostream& operator<<(std::ostream& out, const Data& data);  ///< a line "price: [1, 2]" for each

 private:
  std::vector<Field> fields_;
};
Data inputs(std::vector<Tensor> tensors);      ///< several inputs, by position
Data inputs(std::vector<Data::Field> fields);  ///< by name
/// Rows that meet rows of their own shape only: their batches are dense, whichever axes differ. Images that differ in height alone want it.
Data by_shape(std::vector<Tensor> rows);

/// What a dataset yields: an input and, unless there is none, a target and a weight, or one for each output.
struct Example {
  Data x;
  Data y = {};
  Data sample_weight = {};
  friend std::ostream& operator<<(std::ostream& out, const Example& example);  ///< a line "x: [1, 2]" for what is there
};

namespace detail {
class DatasetImpl;
class DatasetCursor;
}  // namespace detail

/// Shapes are those of one element, for the inputs and then the targets. drop_remainder leaves out a last batch that is not full.
struct PaddedBatchOptions {
  std::vector<Shape> shapes = {};  ///< per field; as::dynamic: to the longest of the batch
  double value = 0;
  bool drop_remainder = false;
};
/// Boundaries ascend: a bucket holds lengths below its boundary, one more bucket the rest. pad_to_boundary pads the first input to its boundary less
/// one, so that a bucket has one size; an element of the last bucket is a DataError then.
struct BucketOptions {
  std::vector<int64_t> boundaries = {};
  int64_t batch_size = 32;
  std::vector<int64_t> batch_sizes = {};  ///< one per bucket, one more than boundaries
  bool pad_to_boundary = false;
  double value = 0;
  bool drop_remainder = false;
};
/// Elements wait until there are enough of their shape. Where too many wait, the most of one shape become a batch that is not full.
struct GroupByShapeOptions {
  int64_t most_waiting = 10'000;                   ///< elements
  int64_t most_waiting_bytes = int64_t{1} << 30U;  ///< of their tensors
  bool drop_remainder = false;                     ///< leaves out batches that are not full
};
/// Elements are drawn from a buffer of this size. Without a seed as::random gives one; without reshuffle_each_iteration all passes have one order.
struct ShuffleOptions {
  int64_t buffer = 10'000;
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
/// Which columns from_csv() reads, and as what.
struct CsvOptions {
  std::string target = {};                                          ///< the column that is the target; none: no target
  std::vector<std::string> columns = {};                            ///< the inputs; none: all but the target
  std::map<std::string, Dtype> dtypes = {};                         ///< by column; f32 unless given
  std::map<std::string, std::vector<std::string>> categories = {};  ///< columns of text: a value becomes its index in the list, i32
  char separator = ',';
  bool header = true;  ///< the first line has the columns' names; without one they are "0", "1", ...
  std::vector<std::string> missing = {"", "NA", "NaN", "nan", "null"};  ///< become NaN; a DataError in columns of integers
};
/// What becomes of a file that cannot be read: an error when its turn comes, or a warning, and the pass goes on without it.
enum class Corrupt { Error, Skip };
/// Which images from_image_folder() reads, and as what.
struct ImageFolderOptions {
  int channels = 3;          ///< as read_image() has them
  Dtype dtype = Dtype::f32;  ///< of the values 0 to 255
  Corrupt corrupt = Corrupt::Error;
  std::vector<std::string> extensions = {".png", ".jpg", ".jpeg"};  ///< in small letters; a file's may be large
  std::vector<std::string> classes = {};                            ///< folders, in the order of their labels; none: all of them, by name
  bool labels = true;                       ///< false: the images of the folder and of all below it, without targets
  std::optional<int64_t> most_values = {};  ///< of one image, as read_image() has it
  int threads = 0;                          ///< that decode ahead; 0: half as many as there are processors
};
/// drop_remainder leaves out a last batch that is not full.
struct BatchOptions {
  bool drop_remainder = false;
  /// None: fields of unequal rows are ragged, and stay so where a batch has equal ones, also behind a map. false: all are dense, as where
  /// a map makes vectors of one length of unequal rows; DataError for unequal ones.
  std::optional<bool> ragged = {};
};

/// A handle: a stage gives a new dataset, computes nothing before a pass, and leaves this one as it is. Copies count their passes together.
class Dataset : public Stateful, public detail::ShownByConfig<Dataset> {
 public:
  /// One element per row of the tensors, in their order. DataError where they have unequal numbers of rows, ShapeError for a scalar.
  ///@{
  static Dataset from(const Data& x);
  static Dataset from(const Data& x, const Data& y);
  static Dataset from(const Data& x, const Data& y, const Data& sample_weight);
  ///@}
  /// Calls `make` at the start of each pass; the callable it gives yields examples until it gives none, and is not called again then.
  static Dataset from_generator(std::function<std::function<std::optional<Example>()>()> make);
  /// One element per record, read anew in each pass. Inputs of one dtype are one tensor [columns], else a field per column, by name. Lines end
  /// in LF, CR LF or CR; at most 250,000 columns. A number below the range of its column is 0, above it a DataError.
  static Dataset from_csv(const std::filesystem::path& file, CsvOptions options = {});
  /// One element per PNG or JPEG file of the folders in `folder`, each of which is a class: an image [height, width, channels], and its class's number
  /// as an i32. Files are listed here, by folder and name, and decoded in each pass, ahead, on threads. Names that begin with a dot are left out.
  static Dataset from_image_folder(const std::filesystem::path& folder, ImageFolderOptions options = {});

  Dataset map(std::function<Example(const Example&)> callable) const;         ///< changes each element; a batch is one
  Dataset filter(std::function<bool(const Example&)> callable) const;         ///< keeps what gives true; size() is not known then
  Dataset batch(int64_t size, BatchOptions options = {}) const;               ///< unequal rows become a ragged batch
  Dataset padded_batch(int64_t size, PaddedBatchOptions options = {}) const;  ///< rows are padded at their ends; DataError for a longer one
  Dataset bucket(BucketOptions options) const;  ///< padded batches of about equal length: that of the first input's first axis
  /// Batches of elements of one shape, in order; at the end those that are not full, in the order in which their shapes appeared.
  Dataset group_by_shape(int64_t size, GroupByShapeOptions options = {}) const;
  Dataset shuffle(ShuffleOptions options = {}) const;      ///< the next element is drawn from a buffer that is kept full
  Dataset repeat(int64_t times = -1) const;                ///< -1: without end
  Dataset take(int64_t count) const;                       ///< at most the first `count` elements
  Dataset skip(int64_t count) const;                       ///< all but the first `count` elements
  Dataset cache() const;                                   ///< keeps what the first whole pass gives; ArgumentError where it has no end
  Dataset prefetch(int64_t count = 2) const;               ///< made ahead on a thread of its own
  static Dataset zip(const Dataset& x, const Dataset& y);  ///< inputs of y become targets; ends with the shorter one

  std::optional<int64_t> size() const;           ///< elements, where known
  bool is_batched() const;                       ///< elements are batches: of batch(), padded_batch(), bucket() or group_by_shape()
  std::vector<std::string> class_names() const;  ///< of from_image_folder(), by label; none for other sources
  /// Of from_image_folder(): the files, in the order in which predict() has their rows, without those that a pass has left out since they cannot be
  /// read (Corrupt::Skip); none for other sources.
  std::vector<std::string> file_names() const;
  bool is_endless() const;       ///< a pass has no end: repeat() without take()
  double padding_waste() const;  ///< the share of padded elements in one pass; ArgumentError where it has no end

  /// for (const Example& example : dataset)
  class Iterator {
   public:
    explicit Iterator(std::shared_ptr<detail::DatasetCursor> cursor);
    /// The element at hand; ++ goes to the next one, and != end() holds until they are over.
    ///@{
    const Example& operator*() const { return *current_; }
    const Example* operator->() const { return &*current_; }
    Iterator& operator++();
    bool operator!=(std::default_sentinel_t) const { return current_.has_value(); }
    ///@}

   private:
    std::shared_ptr<detail::DatasetCursor> cursor_;
    std::optional<Example> current_;
  };
  Iterator begin() const;                             ///< begins a new pass
  std::default_sentinel_t end() const { return {}; }  ///< of every pass

  explicit Dataset(std::shared_ptr<const detail::DatasetImpl> impl);  ///< ArgumentError for none
  Dataset(const Dataset&) = default;                                  ///< also where one is moved: a dataset is never empty
  Dataset& operator=(const Dataset&) = default;
  const std::shared_ptr<const detail::DatasetImpl>& impl() const { return impl_; }  ///< for the library
  std::atomic<int64_t>& passes() const { return *passes_; }                         ///< likewise: begun so far
  /// The last stage with its options, in whose field "dataset" the one before it stands. Data in memory and callables say that they are such.
  Config config() const;

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  std::shared_ptr<const detail::DatasetImpl> impl_;
  std::shared_ptr<std::atomic<int64_t>> passes_;  ///< begun so far
  std::shared_ptr<const detail::Made> made_;
};
/// The registry of stages of datasets.
template <>
Registry& registry_of<Dataset>();

}  // namespace anyshape
#pragma GCC visibility pop
