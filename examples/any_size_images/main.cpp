// Pictures of 100 sizes, trained on as they are: nothing is resized, cropped or padded, and every size runs through one trace.
//
//   any_size_images [SHEET.png [FOLDER]]
//
// Some pictures that the network has never seen go to the contact sheet, with what it says of them. Where a folder is named the pictures are written there
// as PNG files and read from it while training, as you would train on your own.
#include "contact_sheet.h"
#include "pictures.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

namespace as = anyshape;
using as::Tensor;

namespace {

as::Sequential network() {
  const as::ConvolutionOptions same = {.padding = "same", .activation = "relu"};
  return as::Sequential(as::Rescaling(1 / 127.5, -1),  // from 0 to 255 to -1 to 1
                        as::RandomFlip(),              // in training alone: a mirrored triangle is a triangle
                        as::Conv2D(16, 3, same), as::MaxPooling2D(2), as::Conv2D(32, 3, same), as::MaxPooling2D(2), as::Conv2D(64, 3, same),
                        as::GlobalMaxPooling2D(), as::Dense(64, {.activation = "relu"}), as::Dense(5, {.activation = "softmax"}));
}

Tensor in_floats(const Tensor& image) { return as::cast(image, as::f32); }

std::vector<Tensor> in_floats(const std::vector<Tensor>& images) {
  std::vector<Tensor> all;
  for (const Tensor& image : images) all.push_back(in_floats(image));
  return all;
}

Tensor labels_of(const Pictures& pictures) { return as::tensor(pictures.labels, {static_cast<int64_t>(pictures.labels.size())}); }

// What the network says of each picture, and how sure it is; right ones green, wrong ones red.
std::vector<Caption> captions_of(const Pictures& pictures, const Tensor& results) {
  const std::vector<int32_t> found = as::cast(as::argmax(results, {.axis = 1}), as::i32).to_vector<int32_t>();
  const std::vector<float> share = as::max(results, {.axis = 1}).to_vector<float>();
  std::vector<Caption> captions;
  for (size_t i = 0; i < found.size(); ++i) {
    captions.push_back({.text = std::string(kinds[static_cast<size_t>(found[i])]) + " " + std::to_string(std::lround(100 * share[i])) + "%",
                        .is_good = found[i] == pictures.labels[i]});
  }
  return captions;
}

Pictures first_of(const Pictures& pictures, int64_t count) {
  return {{pictures.images.begin(), pictures.images.begin() + count}, {pictures.labels.begin(), pictures.labels.begin() + count}};
}

}  // namespace

int main(int count, char** arguments) {
  const std::string sheet = count > 1 ? arguments[1] : "any_size_images.png", folder = count > 2 ? arguments[2] : "";
  as::random::set_seed(1);
  const Pictures training = draw_pictures(2000, 1), test = draw_pictures(400, 2);

  as::Model model = network();
  model.compile({.optimizer = as::adam({.learning_rate = 0.002}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const as::FitOptions options = {.batch_size = 16, .epochs = 24};
  if (folder.empty()) {
    model.fit(in_floats(training.images), labels_of(training), options);
  } else {
    write_pictures(training, folder);
    model.fit(as::Dataset::from_image_folder(folder), options);
  }

  const double accuracy = model.evaluate(in_floats(test.images), labels_of(test), {.verbose = as::Verbose::Silent})["accuracy"];
  std::printf("accuracy %.3f on %zu pictures that it has never seen\n%s", accuracy, test.images.size(),
              model.train_step().report().c_str());

  const Pictures shown = first_of(test, 40);
  as::write_png(sheet, contact_sheet(shown.images, captions_of(shown, model.predict(in_floats(shown.images))), 8));
  std::printf("%s shows some of them\n", sheet.c_str());
  return accuracy > 0.9 && model.train_step().stats().traces == 1 ? 0 : 1;
}
