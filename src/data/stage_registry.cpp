// Stages of datasets by name.
#include "config/lasting_registry.h"
#include "data/stage_arguments.h"

#include <anyshape/error.h>

namespace anyshape {
namespace {

using namespace data;

bool refuse_data(const Config& config, void*) {
  if (!config.is_data_in_memory()) return false;
  throw ArgumentError(
      "dataset: the config stands for data in memory, which is no part of it; expected a source that can be read again, as from_csv. Make "
      "a "
      "dataset of the data, and call the stages on it.");
}

}  // namespace

template <>
Registry& registry_of<Dataset>() {
  return lasting_registry([] {
    auto* const made = new Registry("dataset", {.make = refuse_data});
    made->table().add(detail::registered("batch", +[](BatchArguments a, BatchOptions o) { return a.dataset.batch(a.size, o); }));
    made->table().add(detail::registered("bucket", +[](DatasetArguments a, BucketOptions o) { return a.dataset.bucket(std::move(o)); }));
    made->table().add(detail::registered("cache", +[](DatasetArguments a, NoOptions) { return a.dataset.cache(); }));
    made->table().add(detail::registered("filter", +[](FilterArguments a, NoOptions) { return a.dataset.filter(std::move(a.callable)); }));
    made->table().add(
        detail::registered("from_csv", +[](FileArguments a, CsvOptions o) { return Dataset::from_csv(a.file, std::move(o)); }));
    made->table().add(detail::registered(
        "from_image_folder", +[](FolderArguments a, ImageFolderOptions o) { return Dataset::from_image_folder(a.folder, std::move(o)); }));
    made->table().add(
        detail::registered("group_by_shape", +[](BatchArguments a, GroupByShapeOptions o) { return a.dataset.group_by_shape(a.size, o); }));
    made->table().add(
        detail::registered("from_generator", +[](GeneratorArguments a, NoOptions) { return Dataset::from_generator(std::move(a.make)); }));
    made->table().add(detail::registered("map", +[](MapArguments a, NoOptions) { return a.dataset.map(std::move(a.callable)); }));
    made->table().add(detail::registered(
        "padded_batch", +[](BatchArguments a, PaddedBatchOptions o) { return a.dataset.padded_batch(a.size, std::move(o)); }));
    made->table().add(detail::registered("prefetch", +[](DatasetArguments a, PrefetchOptions o) { return a.dataset.prefetch(o.count); }));
    made->table().add(detail::registered("repeat", +[](DatasetArguments a, PassesOptions o) { return a.dataset.repeat(o.times); }));
    made->table().add(detail::registered("shuffle", +[](DatasetArguments a, ShuffleOptions o) { return a.dataset.shuffle(o); }));
    made->table().add(detail::registered("skip", +[](CountArguments a, NoOptions) { return a.dataset.skip(a.count); }));
    made->table().add(detail::registered("take", +[](CountArguments a, NoOptions) { return a.dataset.take(a.count); }));
    made->table().add(detail::registered("zip", +[](ZipArguments a, NoOptions) { return Dataset::zip(a.x, a.y); }));
    return made;
  });
}

Config Dataset::config() const { return made_ == nullptr ? Config::data_in_memory() : made_->config(); }
void Dataset::set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }

}  // namespace anyshape
