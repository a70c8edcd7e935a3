// Listing, in an order that does not depend on the file system.
#include "data/image_files.h"

#include "base/cut_text.h"
#include "base/near_names.h"

#include <algorithm>
#include <limits>
#include <set>
#include <system_error>

namespace anyshape::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* what = "Dataset::from_image_folder";

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

std::string in_small_letters(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

class Listing {
 public:
  Listing(const fs::path& folder, const ImageFolderOptions& options) : folder_(folder) {
    for (const std::string& extension : options.extensions) extensions_.push_back(extension.starts_with('.') ? extension : "." + extension);
  }

  std::vector<std::string> folders() const {
    std::vector<std::string> names;
    std::error_code fault;
    for (fs::directory_iterator entries(folder_, fault), end; !fault && entries != end; entries.increment(fault)) {
      std::error_code unknown;
      if (entries->is_directory(unknown) && !is_hidden(entries->path())) names.push_back(entries->path().filename().string());
    }
    require(fault, folder_);
    std::ranges::sort(names);
    return names;
  }

  // Links to folders are not followed: they may lead in a circle.
  void add_files(const fs::path& folder, int32_t label, std::vector<ImageFile>& files) const {
    std::vector<fs::path> found;
    std::error_code fault;
    for (fs::recursive_directory_iterator entries(folder, fault), end; !fault && entries != end; entries.increment(fault)) {
      std::error_code unknown;
      const bool is_folder = entries->is_directory(unknown);
      if (is_hidden(entries->path())) {
        if (is_folder) entries.disable_recursion_pending();
        continue;
      }
      const std::string extension = in_small_letters(entries->path().extension().string());
      if (!is_folder && std::ranges::find(extensions_, extension) != extensions_.end()) found.push_back(entries->path());
    }
    require(fault, folder);
    std::ranges::sort(found);
    for (fs::path& path : found) files.push_back({std::move(path), label});
  }

 private:
  static void require(const std::error_code& fault, const fs::path& folder) {
    if (!fault) return;
    throw ArgumentError(
        fmt::format("{}: {} cannot be listed: {}; expected a folder.", what, whole_in_quotes(folder.string()), fault.message()));
  }

  const fs::path& folder_;
  std::vector<std::string> extensions_;
};

std::vector<std::string> classes_of(const std::vector<std::string>& wanted, const std::vector<std::string>& folders,
                                    const fs::path& folder) {
  if (folders.empty()) {
    throw ArgumentError(fmt::format("{}: {} has no folders; expected one for each class. Say .labels = false for images without classes.",
                                    what, whole_in_quotes(folder.string())));
  }
  if (wanted.empty()) return folders;
  for (const std::string& name : wanted) {
    if (std::ranges::find(folders, name) == folders.end())
      throw ArgumentError(fmt::format("{}: {}", what, unknown_name("class", name, folders)));
    if (std::ranges::count(wanted, name) > 1) {
      throw ArgumentError(fmt::format("{}: the class {} is listed twice; expected each once.", what, in_quotes(name)));
    }
  }
  return wanted;
}

}  // namespace

ImageFiles list_images(const fs::path& folder, const ImageFolderOptions& options) {
  const Listing listing(folder, options);
  ImageFiles images;
  if (options.labels) {
    images.class_names = classes_of(options.classes, listing.folders(), folder);
    for (size_t label = 0; label < images.class_names.size(); ++label) {
      listing.add_files(folder / images.class_names[label], static_cast<int32_t>(label), images.files);
    }
  } else {
    listing.add_files(folder, 0, images.files);
  }
  if (images.files.empty()) {
    throw ArgumentError(fmt::format("{}: {} has no file that ends in {}; expected at least one.", what, whole_in_quotes(folder.string()),
                                    listed(options.extensions)));
  }
  return images;
}

}  // namespace anyshape::data
