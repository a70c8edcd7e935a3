// Folders of images: classes, order, what is damaged, and threads that decode ahead.
#include "support/temporary_folder.h"
#include "support/text_of.h"
#include "support/warnings.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

// A file for each value: an image of one colour, with as many rows as its value.
class ImageFolder : public testing::Test {
 protected:
  void add(const std::string& name, int value) const {
    fs::create_directories((root() / name).parent_path());
    const Tensor image = full({value, 2, 3}, Tensor(static_cast<float>(value)));
    name.ends_with("g") && name.find(".j") != name.npos ? write_jpeg(root() / name, image) : write_png(root() / name, image);
  }
  void add_bytes(const std::string& name, const std::string& bytes) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name, std::ios::binary) << bytes;
  }
  void add_three_classes() const {
    for (const auto& [name, value] : std::vector<std::pair<std::string, int>>{
             {"dogs/2.png", 2}, {"dogs/1.PNG", 1}, {"cats/b/9.jpg", 9}, {"cats/a.jpeg", 8}, {"birds/5.png", 5}}) {
      add(name, value);
    }
    add_bytes("cats/notes.txt", "no image");
    add_bytes("cats/.hidden.png", "no image");
    add_bytes(".git/x.png", "no image");
    add_bytes("readme.png", "not in a class");
  }
  fs::path root() const { return folder_.path(); }
  std::string place(const std::string& name) const { return "Dataset::from_image_folder: \"" + (root() / name).string() + "\""; }

 private:
  test::TemporaryFolder folder_;
};

using Seen = std::vector<std::pair<int, int>>;  // rows of the image, label
Seen seen_in(const Dataset& data) {
  Seen seen;
  for (const Example& element : data) {
    const Tensor& image = element.x.single();
    seen.emplace_back(image.shape()[0].value(), element.y.defined() ? element.y.single().item<int>() : -1);
    EXPECT_NEAR(mean(cast(image, f32)).item<float>(), static_cast<float>(seen.back().first), 1.5F);
  }
  return seen;
}

TEST_F(ImageFolder, has_a_class_per_folder_and_its_files_in_order) {
  add_three_classes();
  const Dataset data = Dataset::from_image_folder(root());
  EXPECT_EQ(data.class_names(), (std::vector<std::string>{"birds", "cats", "dogs"}));
  const Seen all = {{5, 0}, {8, 1}, {9, 1}, {1, 2}, {2, 2}};
  EXPECT_EQ(seen_in(data), all);
  EXPECT_EQ(seen_in(data), all) << "again";
  EXPECT_EQ(data.size(), 5);
  const Example first = *data.begin();
  EXPECT_EQ(first.x.single().dtype(), f32);
  EXPECT_TRUE(first.y.single().dtype() == i32 && first.y.single().rank() == 0);
  EXPECT_EQ(data.map([](const Example& e) { return e; }).shuffle().group_by_shape(2).class_names(), data.class_names());
  EXPECT_EQ(Dataset::from(ones({2})).class_names(), std::vector<std::string>());
}

TEST_F(ImageFolder, takes_what_its_options_say) {
  add_three_classes();
  const Dataset chosen = Dataset::from_image_folder(root(), {.channels = 1, .dtype = u8, .classes = {"dogs", "birds"}});
  EXPECT_EQ(seen_in(chosen), (Seen{{1, 0}, {2, 0}, {5, 1}}));
  EXPECT_EQ(chosen.begin()->x.single().dtype(), u8);
  EXPECT_TRUE(chosen.begin()->x.single().shape() == (Shape{1, 2, 1}));
  EXPECT_EQ(seen_in(Dataset::from_image_folder(root(), {.extensions = {".jpg"}})), (Seen{{9, 1}}));
  EXPECT_EQ(seen_in(Dataset::from_image_folder(root(), {.extensions = {"jpeg"}})), (Seen{{8, 1}}));
  fs::remove(root() / "readme.png");
  EXPECT_EQ(seen_in(Dataset::from_image_folder(root(), {.labels = false})), (Seen{{5, -1}, {8, -1}, {9, -1}, {1, -1}, {2, -1}}));
}

TEST_F(ImageFolder, is_shuffled_by_its_files_without_decoding_all_of_them_first) {
  for (int i = 1; i <= 40; ++i) add((i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".png", i);
  const Dataset data = Dataset::from_image_folder(root()).shuffle({.seed = 1});
  const Seen first = seen_in(data), second = seen_in(data);
  EXPECT_NE(first, second);
  EXPECT_EQ(seen_in(Dataset::from_image_folder(root()).shuffle({.seed = 1})), first);
  Seen sorted = first, in_order = seen_in(Dataset::from_image_folder(root()));
  std::ranges::sort(sorted);
  std::ranges::sort(in_order);
  EXPECT_EQ(sorted, in_order);
  for (const auto& [value, label] : first) EXPECT_EQ(label, value % 2);
}

TEST_F(ImageFolder, refuses_a_damaged_file_when_its_turn_comes) {
  add_three_classes();
  add_bytes("cats/z.png", "no image");
  const Dataset data = Dataset::from_image_folder(root());
  Dataset::Iterator iterator = data.begin();
  ++iterator;
  ++iterator;
  EXPECT_EQ(test::text_of<FormatError>([&] { ++iterator; }), place("cats/z.png") + " is neither PNG nor JPEG; expected one of them.");
}

TEST_F(ImageFolder, leaves_out_damaged_files_and_names_each_once_where_it_is_asked) {
  add_three_classes();
  add_bytes("cats/z.png", "no image");
  ASSERT_EQ(::mkfifo((root() / "birds" / "pipe.png").c_str(), 0600), 0);
  const test::Warnings warnings;
  const Dataset data = Dataset::from_image_folder(root(), {.corrupt = Corrupt::Skip});
  for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(seen_in(data), (Seen{{5, 0}, {8, 1}, {9, 1}, {1, 2}, {2, 2}}));
  EXPECT_EQ(warnings.texts(),
            (std::vector<std::string>{place("birds/pipe.png") + " is a pipe; expected a PNG or JPEG file. The file is left out.",
                                      place("cats/z.png") + " is neither PNG nor JPEG; expected one of them. The file is left out."}));
  EXPECT_EQ(data.size(), std::nullopt);
  EXPECT_EQ(seen_in(data.shuffle({.seed = 1})).size(), 5U);
}

TEST_F(ImageFolder, tells_the_files_number_where_a_map_fails) {
  add_three_classes();
  const Dataset data = Dataset::from_image_folder(root()).map([](const Example& e) {
    if (e.x.single().shape()[0].value() == 9) throw std::runtime_error("boom");
    return e;
  });
  EXPECT_EQ(test::text_of<DataError>([&] { seen_in(data); }), "Dataset::map: element 2: boom");
  EXPECT_EQ(test::text_of<DataError>([&] { seen_in(data.shuffle({.seed = 5})); }), "Dataset::map: element 2: boom");
}

TEST_F(ImageFolder, refuses_what_makes_no_sense) {
  using test::text_of;
  const std::string folder = "\"" + root().string() + "\"";
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_image_folder(root()); }),
            "Dataset::from_image_folder: " + folder +
                " has no folders; expected one for each class. Say .labels = false for images without "
                "classes.");
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_image_folder(root(), {.labels = false}); }),
            "Dataset::from_image_folder: " + folder + " has no file that ends in .png, .jpg, .jpeg; expected at least one.");
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_image_folder(root() / "nowhere"); }),
            place("nowhere") + " cannot be listed: No such file or directory; expected a folder.");
  add_three_classes();
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_image_folder(root(), {.classes = {"cat"}}); }),
            "Dataset::from_image_folder: \"cat\" is no class; expected \"cats\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_image_folder(root(), {.classes = {"cats", "cats"}}); }),
            "Dataset::from_image_folder: the class \"cats\" is listed twice; expected each once.");
  EXPECT_THROW(Dataset::from_image_folder(root(), {.channels = 2}), ArgumentError);
  EXPECT_THROW(Dataset::from_image_folder(root(), {.dtype = b8}), ArgumentError);
  EXPECT_THROW(Dataset::from_image_folder(root(), {.threads = -1}), ArgumentError);
}

TEST_F(ImageFolder, has_a_config) {
  add_three_classes();
  const Dataset data = Dataset::from_image_folder(root(), {.channels = 1, .corrupt = Corrupt::Skip, .classes = {"cats"}}).group_by_shape(2);
  const Dataset again = make<Dataset>(Config::from_json(data.config().to_json()));
  EXPECT_EQ(again, data);
  EXPECT_EQ(again.class_names(), data.class_names());
  EXPECT_NE(to_string(data.config()).find("corrupt=\"skip\""), std::string::npos) << data.config();
}

TEST_F(ImageFolder, gives_the_same_elements_for_any_number_of_threads) {
  for (int i = 1; i <= 30; ++i) add((i % 3 == 0 ? "a/" : "b/") + std::to_string(100 + i) + ".png", i);
  const Seen wanted = seen_in(Dataset::from_image_folder(root(), {.threads = 1}));
  EXPECT_EQ(wanted.size(), 30U);
  for (const int threads : {2, 3, 8, 50}) EXPECT_EQ(seen_in(Dataset::from_image_folder(root(), {.threads = threads})), wanted);
}

TEST_F(ImageFolder, ends_its_threads_where_an_iterator_is_dropped) {
  for (int i = 1; i <= 30; ++i) add("a/" + std::to_string(i) + ".png", i);
  const Dataset data = Dataset::from_image_folder(root(), {.threads = 4});
  for (int given = 0; given < 20; ++given) {
    Dataset::Iterator iterator = data.begin();
    for (int i = 0; i < given; ++i) ++iterator;
  }
}

TEST_F(ImageFolder, begun_before_a_fork_says_so_in_the_child) {
  for (int i = 1; i <= 30; ++i) add("a/" + std::to_string(i) + ".png", i);
  const Dataset data = Dataset::from_image_folder(root(), {.threads = 1});
  Dataset::Iterator iterator = data.begin();
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      for (int i = 0; i < 30; ++i) ++iterator;
    } catch (const DataError& error) {
      text = error.what();
    }
    const bool is_told = text.starts_with("Dataset::from_image_folder: the process has forked since this pass began");
    ::_exit(is_told && seen_in(data).size() == 30 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen_in(data).size(), 30U);
}

}  // namespace
}  // namespace anyshape
