// Changes of files, and what is done with each.
#include "saved/mutated_files.h"

#include "check/corner_box.h"
#include "check/crash_note.h"
#include "function/compile.h"
#include "graph/regions.h"
#include "ops/all_ops.h"
#include "saved/saved_function.h"
#include "shape/evaluate.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>

namespace anyshape::test {
namespace {

using check::CrashNote;
using check::Random;
using function_detail::SavedTrace;
using function_detail::ScopedInterpretation;
using io::Safetensors;

constexpr double most_seconds = 10;
constexpr int64_t most_elements = 1 << 16;  // of a tensor that is run on: what is larger is as large in a function that was traced

int64_t files_wanted() {
  const char* const wanted = std::getenv("ANYSHAPE_FUZZ_FILES");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : 6'000;
}

class Mutation {
 public:
  Mutation(const SavedSeeds& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}

  void write(const std::string& path) {
    const size_t which = below(seeds_.files.size());
    if (below(5) == 0) return write_bytes(path, changed_bytes(seeds_.bytes[which]));
    Safetensors file = seeds_.files[which];
    if (below(3) == 0) change_everywhere(file);
    for (size_t changes = below(3) == 0 ? below(4) : 1; changes > 0; --changes) {
      auto text = file.metadata.begin();
      if (below(20) != 0) {
        do text = std::next(file.metadata.begin(), static_cast<std::ptrdiff_t>(below(file.metadata.size())));
        while (text->first.find("version") != std::string::npos || text->first == "format");
      }
      change(text->second, text->first.starts_with("graph."));
    }
    if (!file.tensors.empty() && below(30) == 0) file.tensors.begin()->second = ones({static_cast<int64_t>(below(5))});
    io::save_safetensors(path, {file.tensors.begin(), file.tensors.end()}, file.metadata);
  }

 private:
  size_t below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_.next() >> 16) % limit; }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[below(std::size(items))];
  }

  static void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  std::string changed_bytes(std::string bytes) {
    for (size_t changes = 1 + below(3); changes > 0 && !bytes.empty(); --changes) {
      const size_t at = below(bytes.size());
      switch (below(4)) {
        case 0: bytes[at] = static_cast<char>(below(256)); break;
        case 1: bytes.erase(at, 1 + below(20)); break;
        case 2: bytes.insert(at, bytes.substr(below(bytes.size()), below(40))); break;
        default: below(8) == 0 ? bytes.resize(at) : void(bytes[at] ^= static_cast<char>(1 << below(8))); break;
      }
    }
    return bytes;
  }

  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':'; }
  // The words of a text, as begin and length.
  static std::vector<std::pair<size_t, size_t>> words_of(const std::string& text) {
    std::vector<std::pair<size_t, size_t>> words;
    for (size_t at = 0; at < text.size(); ++at) {
      const size_t begin = at;
      while (at < text.size() && is_word(text[at])) ++at;
      if (at > begin) words.emplace_back(begin, at - begin);
    }
    return words;
  }

  void change(std::string& text, bool is_graph) {
    const auto words = words_of(text);
    if (words.empty()) return;
    const auto [at, length] = one_of(words);
    const bool is_number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    static constexpr const char* numbers[] = {
        "0",     "1",   "2",  "3", "7", "-1", "8", "255", "1000000", "2147483648", "9223372036854775807", "-9223372036854775808",
        "1e300", "nan", "0.5"};
    static constexpr const char* dtypes[] = {"b8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
    switch (below(is_graph ? 9 : 4)) {
      case 0: {  // an attribute
        const size_t open = text.find(" {", line_at(text, at));
        std::vector<std::pair<size_t, size_t>> own;
        for (const auto& word : words) {
          if (is_graph && word.first > open && word.first < text.find('}', open) && text[word.first - 1] != '%') own.push_back(word);
        }
        if (own.empty()) break;
        const auto [begin, size] = one_of(own);
        text.replace(begin, size, replacement(text.substr(begin, size)));
        break;
      }
      case 1: {
        std::vector<std::pair<size_t, size_t>> own;
        for (const auto& word : words) {
          if (std::isdigit(static_cast<unsigned char>(text[word.first])) != 0) own.push_back(word);
        }
        if (own.empty()) break;
        const auto [begin, size] = one_of(own);
        text.replace(begin, size, one_of(numbers));
        break;
      }
      case 2: text.replace(at, length, text.substr(one_of(words).first, 1 + below(12))); break;
      case 3: text.replace(at, length, is_number ? one_of(numbers) : one_of(dtypes)); break;
      case 4: text.replace(at, length, one_of(all_ops())->name); break;
      case 5: text.insert(line_at(text, at), one_of(seeds_.lines)); break;
      case 6: {
        const size_t begin = line_at(text, at);
        text.erase(begin, text.find('\n', begin) + 1 - begin);
        break;
      }
      case 7: {
        const size_t begin = line_at(text, at), end = text.find('\n', begin) + 1;
        text.insert(line_at(text, one_of(words).first), text.substr(begin, end - begin));
        break;
      }
      default: rewire(text); break;
    }
  }

  // A number, dtype or op wherever it stands: what is said twice still agrees.
  void change_everywhere(Safetensors& file) {
    const std::string& graph = file.metadata.at("graph.0");
    const auto words = words_of(graph);
    const auto [at, length] = one_of(words);
    const std::string word = graph.substr(at, length), by = replacement(word);
    for (const char* part : {"graph.0", "trace.0", "function"}) {
      std::string& text = file.metadata.at(part);
      auto own = words_of(text);
      for (auto each = own.rbegin(); each != own.rend(); ++each) {
        const bool is_value = each->first > 0 && text[each->first - 1] == '%';
        if (!is_value && text.compare(each->first, each->second, word) == 0) text.replace(each->first, each->second, by);
      }
    }
  }

  // Another word of its kind.
  std::string replacement(const std::string& word) {
    static constexpr const char* numbers[] = {"0", "1", "2", "3", "4", "5", "7", "-1", "-2", "1000", "9223372036854775807"};
    static constexpr const char* dtypes[] = {"b8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return one_of(numbers);
    if (std::ranges::find(dtypes, word) != std::end(dtypes)) return one_of(dtypes);
    if (word == "true" || word == "false") return word == "true" ? "false" : "true";
    const OpDef* const op = find_op(word);
    if (op == nullptr) return below(2) == 0 ? "batch" : "a0";
    for (int tries = 0; tries < 50; ++tries) {
      const OpDef* const other = one_of(all_ops());
      if (other->inputs == op->inputs && (other->attrs == nullptr) == (op->attrs == nullptr)) return std::string(other->name);
    }
    return std::string(one_of(all_ops())->name);
  }

  static size_t line_at(const std::string& text, size_t at) {
    const size_t end = text.rfind('\n', at);
    return end == std::string::npos ? 0 : end + 1;
  }

  // Another value instead of one that is read.
  void rewire(std::string& text) {
    std::vector<size_t> uses;
    for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) uses.push_back(at + 1);
    if (uses.empty()) return;
    const size_t at = one_of(uses);
    size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    text.replace(at, end - at, std::to_string(below(uses.size())));
  }

  const SavedSeeds& seeds_;
  Random random_;
};

// Whether every tensor of a run, and every trip count, is small at these sizes; loops that may run forever are not run.
bool is_small(const graph::Graph& graph, const Bindings& sizes) {
  const auto fits = [&](const TensorSpec& spec) {
    int64_t count = 1;
    for (const Dim& size : spec.shape) {
      if (!size.is_constant() && depends_on_data(size)) continue;
      const int64_t value = evaluate(size, sizes);
      if (value > most_elements || __builtin_mul_overflow(count, std::max<int64_t>(value, 1), &count) || count > most_elements)
        return false;
    }
    return true;
  };
  for (const graph::Node* node : graph.nodes()) {
    if (node->op == &while_op) return false;
    for (const graph::Value* output : node->outputs) {
      if (!fits(output->spec)) return false;
    }
    for (const graph::NamedRegion& region : graph::regions_of(*node)) {
      if (!is_small(*region.graph, sizes)) return false;
    }
  }
  return std::ranges::all_of(graph.inputs(), [&](const graph::Value* input) { return fits(input->spec); });
}

// The same elements, and behind them little more than kernels may read, and then memory that nobody may.
Tensor guarded(const Tensor& tensor) {
  constexpr size_t page = 4096, room = 512;
  const Tensor dense = contiguous(tensor);
  const auto bytes = static_cast<size_t>(dense.impl()->count() * size_of(dense.dtype()));
  const size_t whole = (bytes + room + page - 1) / page * page;
  void* const memory = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return tensor;
  char* const begin = static_cast<char*>(memory) + (whole - room - bytes) / 64 * 64;
  std::memcpy(begin, host_data(dense), bytes);
  mprotect(static_cast<char*>(memory) + whole, page, PROT_NONE);
  const std::shared_ptr<void> owner(memory, [whole](void* ended) { munmap(ended, whole + page); });
  return from_memory(begin, dense.dtype(), dense.shape(), {.capacity = static_cast<int64_t>(bytes + room), .owner = owner});
}

// Small arguments for a trace; none where it has sizes that no small argument has.
std::optional<std::vector<Tensor>> arguments_of(const SavedTrace& saved, Random& random) {
  std::vector<Tensor> arguments;
  std::map<uint64_t, int64_t> sizes;
  const auto size_of_axis = [&](const Dim& size) -> int64_t {
    if (size.is_constant()) return size.value();
    if (const Symbol* const symbol = as_symbol(size)) return sizes.try_emplace(symbol->id, random.between(0, 4)).first->second;
    return 2;
  };
  for (const TensorSpec& spec : saved.signature.specs()) {
    std::vector<int64_t> shape;
    bool is_ragged = false;
    int64_t count = 1;
    for (const Dim& size : spec.shape) {
      is_ragged = is_ragged || size.is_ragged();
      shape.push_back(size.is_ragged() ? 1 : size_of_axis(size));
      if (shape.back() < 0 || shape.back() > 64) return std::nullopt;
      count *= shape.back();
    }
    if (count > most_elements) return std::nullopt;
    if (is_ragged) {
      const std::vector<int64_t> tail(shape.begin() + 2, shape.end());
      std::vector<int64_t> splits{0}, values{0};
      for (int64_t row = 0; row < shape[0]; ++row) splits.push_back(splits.back() + row % 3);
      values[0] = splits.back();
      values.insert(values.end(), tail.begin(), tail.end());
      arguments.push_back(ragged_from_splits(cast(random::normal(Shape(values)) * 2.0f, spec.dtype), tensor(splits)));
    } else {
      arguments.push_back(guarded(cast(random::normal(Shape(shape)) * 2.0f, spec.dtype)));
    }
  }
  return arguments;
}

void run(const LoadedFunction& loaded, Random& random) {
  const detail::SavedFunction& function = *loaded.state();
  for (const SavedTrace& saved : *function.traces) {
    for (int call = 0; call < 2; ++call) {
      try {
        const auto arguments = arguments_of(saved, random);
        if (!arguments || !saved.signature.fits_kinds(*arguments)) continue;
        std::vector<int64_t> values;
        saved.signature.bind(*arguments, values);
        if (is_small(*saved.trace.graph, saved.signature.bindings(values))) loaded(*arguments);
      } catch (const InternalError&) {
        throw;
      } catch (const Error&) {  // its own exceptions
      }
    }
  }
}

struct Tally {
  int64_t loaded = 0, refused = 0;
};

void try_file(const SavedSeeds& seeds, uint64_t seed, const std::string& path, Tally& tally) {
  const CrashNote note("ANYSHAPE_FUZZ_SEED=" + std::to_string(seed));
  const auto start = std::chrono::steady_clock::now();
  Mutation(seeds, seed).write(path);
  try {
    std::optional<ScopedInterpretation> interpretation;
    if (seed % 100 != 0) interpretation.emplace();
    const LoadedFunction loaded = load_function(path);
    ++tally.loaded;
    Random random(seed);
    run(loaded, random);
  } catch (const FormatError&) {
    ++tally.refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "ANYSHAPE_FUZZ_SEED=" << seed << ": " << error.what();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(elapsed.count(), most_seconds) << "ANYSHAPE_FUZZ_SEED=" << seed;
}

}  // namespace

void fuzz_files(const SavedSeeds& seeds, uint64_t part) {
  const SavedFile file;
  Tally tally;
  if (const char* const seed = std::getenv("ANYSHAPE_FUZZ_SEED")) {
    try_file(seeds, std::strtoull(seed, nullptr, 10), file.path(), tally);
    if (const char* const kept = std::getenv("ANYSHAPE_FUZZ_KEEP")) std::filesystem::copy_file(file.path(), kept);
    return;
  }
  const auto files = static_cast<uint64_t>(files_wanted() / 4);
  for (uint64_t i = 0; i < files && !testing::Test::HasFailure(); ++i) try_file(seeds, part + 4 * i, file.path(), tally);
  EXPECT_GT(tally.loaded, tally.refused / 50) << "mutations that load";
  std::cout << tally.loaded << " files loaded, " << tally.refused << " were refused\n";
}

}  // namespace anyshape::test
