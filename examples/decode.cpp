// A model of letters learns a rhyme by heart and goes on from any beginning: prompts of all lengths and then letter by letter, through one
// trace and one piece of machine code. Usage: decode [a beginning]
#include <anyshape/anyshape.h>

#include <iostream>
#include <string>

namespace as = anyshape;
using as::Tensor;
using Caches = std::vector<as::AttentionCache>;

namespace {

constexpr int64_t letters = 128, longest = 256;
const std::string rhyme =
    "the little boat sails to the sea, the little bird sleeps in the tree, the moon goes up, the sun goes down, "
    "and all the lamps go out in town. ";

class Decoder : public as::Layer {
 public:
  Decoder() {
    for (int block = 0; block < 2; ++block) {
      before_attention_.push_back(child(as::LayerNormalization()));
      attention_.push_back(child(as::MultiHeadAttention(4, 16)));
      before_dense_.push_back(child(as::LayerNormalization()));
      wide_.push_back(child(as::Dense(128, {.activation = "gelu"})));
      narrow_.push_back(child(as::Dense(64)));
    }
  }

  Caches empty(const as::Dim& batch) const {
    Caches caches;
    for (const as::MultiHeadAttention& attention : attention_) caches.push_back(attention.empty_cache(batch));
    return caches;
  }

  // New letters [batch, time] behind those of the caches: logits [batch, time, letters], and the caches with them.
  std::pair<Tensor, Caches> next(const Tensor& text, Caches caches) const {
    const as::Dim before = caches[0].length();
    Tensor x = letter_(text) + position_(as::arange(before, before + text.shape()[1]));
    for (size_t block = 0; block < attention_.size(); ++block) {
      const auto [attended, grown] = attention_[block].run(before_attention_[block](x), caches[block]);
      caches[block] = grown;
      x = x + attended;
      x = x + narrow_[block](wide_[block](before_dense_[block](x)));
    }
    return {logits_(x), caches};
  }

  Tensor call(const Tensor& text, const as::CallContext&) override { return next(text, empty(text.shape()[0])).first; }

 private:
  as::Embedding letter_ = child(as::Embedding(letters, 64)), position_ = child(as::Embedding(longest, 64));
  std::vector<as::LayerNormalization> before_attention_, before_dense_;
  std::vector<as::MultiHeadAttention> attention_;
  std::vector<as::Dense> wide_, narrow_;
  as::Dense logits_ = child(as::Dense(letters));
};

Tensor letters_of(const std::string& text) {
  std::vector<int32_t> ids;
  for (const char letter : text) ids.push_back(letter & 0x7f);
  return as::tensor(ids, {1, static_cast<int64_t>(text.size())});
}

// Pieces of the rhyme, said twice so that its end leads to its beginning, from every letter on.
Tensor pieces(int64_t length) {
  const Tensor all = letters_of(rhyme + rhyme);
  std::vector<Tensor> rows;
  for (size_t begin = 0; begin < rhyme.size(); ++begin) {
    const auto first = static_cast<int64_t>(begin);
    rows.push_back(all.at(as::whole, {first, first + length}));
  }
  return as::concat(rows);
}

}  // namespace

int main(int count, char** arguments) {
  as::random::set_seed(1);
  const auto decoder = std::make_shared<Decoder>();
  as::Model model = as::Sequential(as::AnyLayer(decoder));
  model.compile({.optimizer = as::adam({.learning_rate = 0.003}),
                 .loss = as::sparse_categorical_crossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  const Tensor text = pieces(61);
  model.fit(text.at(as::whole, {0, -1}), text.at(as::whole, {1, {}}), {.epochs = 20});

  auto step = as::function(
      [&](Tensor text_so_far, Caches caches) {
        const auto [logits, grown] = decoder->next(text_so_far, caches);
        return std::pair{as::argmax(logits.at(as::whole, {-1, {}}), {.axis = -1}), grown};
      },
      {.name = "next_letter", .retrace = as::Retrace::Forbid});

  std::vector<std::string> beginnings = {"m", "the moon", "the little bird sleeps in", "and all the lamps"};
  if (count > 1) beginnings = {arguments[1]};
  std::cout << "\n";
  for (const std::string& beginning : beginnings) {
    std::cout << beginning << "|";
    Tensor letter = letters_of(beginning);
    Caches caches = decoder->empty(1);
    for (int i = 0; i < 30; ++i) {
      std::tie(letter, caches) = step(letter, caches);
      std::cout << static_cast<char>(letter.item<int32_t>());
    }
    std::cout << "\n";
  }
  std::cout << "\nThe ledger:\n" << step.report();
  return step.stats().traces == 1 ? 0 : 1;
}
