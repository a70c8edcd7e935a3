// Elements from the images of a folder: files are decoded ahead on threads, and given in order.
#include "base/log.h"
#include "data/dataset_impl.h"
#include "data/image_files.h"
#include "data/made_ahead.h"
#include "data/stage_arguments.h"
#include "io/image_codec.h"
#include "tensor/view.h"

#include <anyshape/registry.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace anyshape {
namespace {

constexpr const char* what = "Dataset::from_image_folder";

// What all passes share.
struct Folder final : FolderFacts {
  std::vector<std::string> file_names() const override { return names(false); }
  std::vector<std::string> left_out() const override { return names(true); }
  bool is_news(size_t left_out) const override { return told.exchange(left_out) != left_out; }

  data::ImageFiles images;
  ImageFolderOptions options;
  int threads = 1;
  std::vector<std::atomic<bool>> is_left_out;  // of files that cannot be read: a warning for each is enough
  mutable std::atomic<size_t> told = 0;

 private:
  std::vector<std::string> names(bool are_left_out) const {
    std::vector<std::string> chosen;
    for (size_t i = 0; i < images.files.size(); ++i) {
      if (is_left_out[i] == are_left_out) chosen.push_back(images.files[i].path.string());
    }
    return chosen;
  }
};

struct Decoded {
  Tensor image;         // none where there is a problem
  std::string problem;  // as a whole sentence with the file's name
};

Decoded decode(const Folder& folder, int64_t index) {
  const ImageFolderOptions& options = folder.options;
  try {
    return {io::read_image_file(what, folder.images.files[static_cast<size_t>(index)].path, {options.channels, options.dtype},
                                options.most_values),
            {}};
  } catch (const FormatError& error) {
    return {{}, error.what()};
  }
}

// Files in the order given, or without one from the first to the last.
class ImageCursor final : public DatasetCursor {
 public:
  ImageCursor(std::shared_ptr<Folder> folder, std::vector<int64_t> order)
      : folder_(std::move(folder)),
        order_(std::move(order)),
        decoded_(count(), folder_->threads, int64_t{4} * folder_->threads,
                 [this](int64_t turn) { return decode(*folder_, index_at(turn)); }) {}

  std::optional<Example> next() override {
    for (;;) {
      std::optional<Decoded> decoded = decoded_.next(
          "Dataset::from_image_folder: the process has forked since this pass began, and the threads that decode did not come along; "
          "expected a pass that begins in the child. Begin another one.");
      if (!decoded) return std::nullopt;
      number_ = index_at(turn_++);
      std::atomic<bool>& is_left_out = folder_->is_left_out[static_cast<size_t>(number_)];
      if (decoded->problem.empty()) {
        is_left_out = false;  // it may have been mended since
        return element(decoded->image);
      }
      if (folder_->options.corrupt == Corrupt::Error) throw FormatError(decoded->problem);
      if (!is_left_out.exchange(true)) log_warning(decoded->problem + " The file is left out.");
    }
  }
  std::optional<int64_t> number() const override { return number_; }

 private:
  int64_t count() const { return static_cast<int64_t>(order_.empty() ? folder_->images.files.size() : order_.size()); }
  int64_t index_at(int64_t turn) const { return order_.empty() ? turn : order_[static_cast<size_t>(turn)]; }
  Example element(const Tensor& image) const {
    Example example{.x = image};
    if (folder_->options.labels) example.y = make_scalar(Dtype::i32, int64_t{folder_->images.files[static_cast<size_t>(number_)].label});
    return example;
  }

  std::shared_ptr<Folder> folder_;
  std::vector<int64_t> order_;
  int64_t turn_ = 0, number_ = 0;
  data::MadeAhead<Decoded> decoded_;  // last: its threads use the others
};

class FromImageFolder final : public DatasetImpl {
 public:
  explicit FromImageFolder(std::shared_ptr<Folder> folder) : folder_(std::move(folder)) {}
  std::unique_ptr<DatasetCursor> open(int64_t) const override { return open_in_order({}); }
  std::unique_ptr<DatasetCursor> open_in_order(const std::vector<int64_t>& order) const override {
    return std::make_unique<ImageCursor>(folder_, order);
  }
  int64_t row_count() const override { return static_cast<int64_t>(folder_->images.files.size()); }
  std::optional<int64_t> size() const override {
    return folder_->options.corrupt == Corrupt::Error ? std::optional(row_count()) : std::nullopt;
  }
  const FolderFacts* folder() const override { return folder_.get(); }

 private:
  std::shared_ptr<Folder> folder_;
};

}  // namespace

Dataset Dataset::from_image_folder(const std::filesystem::path& folder, ImageFolderOptions options) {
  io::require_image_form(what, {options.channels, options.dtype}, options.most_values);
  if (options.threads < 0) throw ArgumentError(fmt::format("{}: .threads is {}; expected 0 or more.", what, options.threads));
  auto made = std::make_shared<Folder>();
  made->images = data::list_images(folder, options);
  made->options = options;
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  made->threads = options.threads > 0 ? options.threads : std::max(1, processors / 2);
  made->class_names = made->images.class_names;
  made->is_left_out = std::vector<std::atomic<bool>>(made->images.files.size());
  return with_config(Dataset(std::make_shared<FromImageFolder>(std::move(made))), "from_image_folder", data::FolderArguments{folder},
                     options);
}

}  // namespace anyshape
