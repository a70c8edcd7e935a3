// The files of a folder of images, and their classes.
#pragma once
#include "data/dataset_impl.h"

#include <filesystem>
#include <string>
#include <vector>

namespace anyshape::data {

struct ImageFile {
  std::filesystem::path path;
  int32_t label = 0;
};

struct ImageFiles {
  std::vector<ImageFile> files;  // by class and name, with those of folders inside
  std::vector<std::string> class_names;
};

// ArgumentError for a folder that is none, for classes that it does not have, and where no file has one of the extensions.
ImageFiles list_images(const std::filesystem::path& folder, const ImageFolderOptions& options);

}  // namespace anyshape::data
