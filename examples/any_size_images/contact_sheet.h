// Many images side by side in one, each with a line of text below it.
#pragma once
#include <anyshape/anyshape.h>

#include <string>
#include <vector>

struct Caption {
  std::string text;  // small letters, digits, a percent sign and spaces
  bool is_good = true;
};

// Images u8 [height, width, 3] of any size, in rows of `columns`, twice as large as they are: u8 [height, width, 3] again.
anyshape::Tensor contact_sheet(const std::vector<anyshape::Tensor>& images, const std::vector<Caption>& captions, int64_t columns);
