// Calls of the target's library: the formulas of a program as numbers, its buffers as addresses.
#include "runtime/item_run.h"

#include <optional>
#include <utility>

namespace anyshape::runtime {
namespace {

// The buffers of a library call in one run.
struct Places {
  const lower::LibraryCall& call;
  const std::vector<void*>& pointers;  // per program buffer

  template <class T>
  T* input(size_t k) const {
    return at<T>(call.inputs, k);
  }
  template <class T>
  T* output(size_t k) const {
    return at<T>(call.outputs, k);
  }
  template <class T>
  T* scratch() const {  // null where there is none
    return call.scratch.empty() ? nullptr : at<T>(call.scratch, 0);
  }

 private:
  template <class T>
  T* at(const std::vector<int>& buffers, size_t k) const {
    return static_cast<T*>(pointers[static_cast<size_t>(buffers[k])]);
  }
};

bool run_work(Library& library, const ProductWork& work, const ProductSizes<int64_t>& sizes, const Places& places,
              const std::optional<FilledLaunch>& epilogue) {
  return library.multiply({.transpose_a = work.transpose_a,
                           .transpose_b = work.transpose_b,
                           .sizes = sizes,
                           .a = places.input<const float>(0),
                           .b = places.input<const float>(1),
                           .c = places.output<float>(0),
                           .packed = places.scratch<float>(),
                           .epilogue = epilogue});
}

bool run_work(Library& library, const SortWork& work, const SortSizes<int64_t>& sizes, const Places& places,
              const std::optional<FilledLaunch>& /*nothing follows*/) {
  return library.sort({.dtype = work.dtype,
                       .descending = work.descending,
                       .sizes = sizes,
                       .splits = work.by_splits ? places.input<const int64_t>(1) : nullptr,
                       .x = places.input<const void>(0),
                       .values = places.output<void>(0),
                       .indices = places.output<int32_t>(1),
                       .keys = places.scratch<void>()});
}

bool run_work(Library& library, const ConvolutionWork& work, const ConvolutionSizes<int64_t>& sizes, const Places& places,
              const std::optional<FilledLaunch>& epilogue) {
  return library.convolve({.wanted = work.wanted,
                           .sizes = sizes,
                           .first = places.input<const float>(0),
                           .second = places.input<const float>(1),
                           .result = places.output<float>(0),
                           .partial = places.scratch<float>(),
                           .epilogue = epilogue});
}

template <class Work>
using SlotsOf = decltype(mapped<int>(std::declval<Work>().sizes, [](const Dim&) { return 0; }));

}  // namespace

void ItemRun::run_library(int block, int number) {
  const lower::LibraryCall& call = program_.library_calls[static_cast<size_t>(number)];
  const std::vector<int64_t>& table = record_.table(block);
  std::optional<FilledLaunch> epilogue;
  if (call.epilogue >= 0) epilogue = filled_launch(block, call.epilogue);
  const auto run = [&]<class Work>(const Work& work) {
    const auto& slots = std::get<SlotsOf<Work>>(sizes_.library_calls[static_cast<size_t>(number)]);
    const auto sizes = mapped<int64_t>(slots, [&](int slot) { return table[static_cast<size_t>(slot)]; });
    return run_work(queue_, work, sizes, Places{call, record_.pointers}, epilogue);
  };
  const LaunchTimes& times = executable_.times();
  const int64_t start = times.is_on() ? times.now() : 0;
  const bool is_done = std::visit(run, call.work);
  if (times.is_on()) times.add(program_.launches.size() + static_cast<size_t>(number), start);
  if (!is_done) fail(block);
}

}  // namespace anyshape::runtime
