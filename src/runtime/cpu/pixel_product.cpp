// A task is a range of pixels and a range of columns of one group. It walks the phases, and in each blocks of taps and of depth: sums go on through
// memory, so that every result is one chain in the order of taps and channels, however it is cut.
#include "runtime/cpu/pixel_product.h"

#include <algorithm>
#include <atomic>

#include "runtime/cpu/pixel_cut.h"
#include "runtime/cpu/pixel_table.h"

namespace anyshape::runtime {
namespace {

using Wanted = ConvolutionWork::Wanted;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// With fewer values a pointer per tap costs more than a copy of all taps of a row.
constexpr int64_t few_values = 16;
constexpr int64_t most_run_values = 2048;

constexpr int64_t most_tiles_in_place = 20;

// Weights of a task that stay in the second cache as a whole, in floats: results are then written in whole rows.
constexpr int64_t few_weights = int64_t{64} * 1024;

class PixelProduct {
 public:
  PixelProduct(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after)
      : kernels_(kernels),
        context_(context),
        call_(call),
        after_(after),
        is_gradient_(call.wanted == Wanted::InputGradient),
        sizes_(call.sizes),
        images_(images_of(sizes_, is_gradient_)),
        phases_(phases_of(sizes_, is_gradient_)),
        columns_((is_gradient_ ? sizes_.channels : sizes_.filters) / sizes_.groups),
        depth_((is_gradient_ ? sizes_.filters : sizes_.channels) / sizes_.groups) {
    tile_size_ = columns_ <= narrow_columns ? narrow_pixels : tile_pixels;
    const int64_t row_taps = sizes_.axes[2].taps, values = row_taps * depth_;
    in_runs_ = depth_ < few_values && row_taps > 1 && values <= most_run_values;
    const int64_t taps = sizes_.axes[0].taps * sizes_.axes[1].taps;
    cut_ = cut_pixels({.pixels = images_.results(),
                       .phases = phases_,
                       .columns = columns_,
                       .depth = in_runs_ ? values : depth_,
                       .taps = in_runs_ ? taps : taps * row_taps,
                       .tile = tile_size_,
                       .copies = in_runs_});
    down_ = divide_up(images_.results(), cut_.pixels);
    across_ = divide_up(columns_, cut_.columns);
  }

  int32_t run() const {
    std::atomic<int32_t> status{0};
    static_cast<Pool*>(context_->pool)->run(down_ * across_ * sizes_.groups, grain(), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        if (const int32_t failed = run_task(task); failed != 0) status.store(failed, std::memory_order_relaxed);
      }
    });
    return status.load(std::memory_order_relaxed);
  }

 private:
  // A task as it runs on a thread.
  struct Task {
    ConvolutionScratch& scratch;
    PixelTable& table;
    const Phase& phase;
    int64_t group, first_pixel, end_pixel, first_column, end_column;  // columns of the group
  };
  // Weights that are walked at once: `count` taps of a phase from `first` on, `depth` values from `value` on.
  struct WeightBlock {
    std::span<const PixelTap> taps;
    int64_t value = 0, depth = 0;
    bool adds = false;  // sums go on
  };
  // Where a strip of them stands: a panel for each tile of columns, or the weights themselves.
  struct Strip {
    const float* weights = nullptr;
    int64_t panel_step = 0, row_step = 0;  // row_step 0: as wide as the panel is
    int64_t tap_rows[PixelTable::most_taps];
  };

  int64_t grain() const {
    constexpr double least_flops = 5e5;
    const double taps =
        static_cast<double>(sizes_.axes[0].taps) * static_cast<double>(sizes_.axes[1].taps) * static_cast<double>(sizes_.axes[2].taps);
    const double flops = 2.0 * static_cast<double>(std::min(cut_.pixels, images_.results())) *
                         static_cast<double>(std::min(cut_.columns, columns_)) * static_cast<double>(depth_) * taps;
    return std::max<int64_t>(static_cast<int64_t>(least_flops / std::max(flops, 1.0)), 1);
  }

  // Neighbouring tasks share weights.
  int32_t run_task(int64_t number) const {
    ConvolutionScratch& scratch = ConvolutionScratch::of_this_thread();
    PixelTable table(scratch, tile_size_);
    const int64_t first_pixel = number % down_ * cut_.pixels, end_pixel = std::min(first_pixel + cut_.pixels, images_.results());
    const int64_t strip = number / down_ % across_, group = number / down_ / across_;
    const int64_t first_column = strip * cut_.columns, end_column = std::min(first_column + cut_.columns, columns_);
    for (int64_t number_of_phase = 0; number_of_phase < phases_; ++number_of_phase) {
      const Phase phase = phase_of(sizes_, is_gradient_, number_of_phase);
      run_phase({scratch, table, phase, group, first_pixel, end_pixel, first_column, end_column});
    }
    if (after_ == nullptr) return 0;
    return after_->run(context_, {first_pixel, end_pixel, group * columns_ + first_column, group * columns_ + end_column});
  }

  int64_t taps_in(const Phase& phase) const {
    const int64_t lines = phase[0].taps * phase[1].taps;
    return in_runs_ ? (phase[2].taps > 0 ? lines : 0) : lines * phase[2].taps;
  }

  PixelTap tap_of(const Phase& phase, int64_t number) const {
    std::array<int64_t, 3> j{};
    if (!in_runs_) {
      j[2] = number % phase[2].taps;
      number /= phase[2].taps;
    }
    j[1] = number % phase[1].taps;
    j[0] = number / phase[1].taps;
    PixelTap result;
    for (size_t axis = 0; axis < 3; ++axis) {
      result.offset[axis] = j[axis] * phase[axis].offset_step;
      result.tap = result.tap * sizes_.axes[axis].taps + phase[axis].tap + j[axis] * phase[axis].tap_step;
    }
    return result;
  }

  void run_phase(const Task& task) const {
    const int64_t source_channels = is_gradient_ ? sizes_.filters : sizes_.channels;
    const PixelSources sources{
        .first = call_.first + task.group * depth_, .channels = source_channels, .depth = depth_, .in_runs = in_runs_};
    const int64_t taps = taps_in(task.phase), depth = sources.values(task.phase);
    PixelTap some[PixelTable::most_taps];
    for (int64_t first = 0; first < std::max<int64_t>(taps, 1); first += cut_.taps) {
      const int64_t count = std::min(cut_.taps, taps - first);
      for (int64_t tap = 0; tap < count; ++tap) some[tap] = tap_of(task.phase, first + tap);
      WeightBlock block{.taps = {some, static_cast<size_t>(count)}};
      task.table.fill(images_, task.phase, task.first_pixel, task.end_pixel, block.taps, sources);
      if (task.table.pixels() == 0) return;
      do {
        block.depth = std::min(cut_.depth, depth - block.value);
        block.adds = first > 0 || block.value > 0;
        run_block(task, block);
        block.value += cut_.depth;
      } while (block.value < depth);
    }
  }

  void run_block(const Task& task, const WeightBlock& block) const {
    const int64_t rows = static_cast<int64_t>(block.taps.size()) * block.depth, columns = task.end_column - task.first_column;
    const int64_t strips = divide_up(columns, strip_columns);
    const bool few = columns * rows <= few_weights && strips <= most_strips;
    float* const panels = task.scratch.panels.at_least(rows * strip_columns * (few ? strips : 1) + 16);
    Strip strip[most_strips];
    if (few) {
      for (int64_t i = 0; i < strips; ++i)
        set_strip(task, block, task.first_column + i * strip_columns, panels + i * strip_columns * rows, strip[i]);
      for (int64_t tile = 0; tile < task.table.tiles(); ++tile)
        for (int64_t i = 0; i < strips; ++i) run_tiles(task, block, task.first_column + i * strip_columns, strip[i], tile, tile + 1);
      return;
    }
    for (int64_t column = task.first_column; column < task.end_column; column += strip_columns) {
      set_strip(task, block, column, panels, strip[0]);
      run_tiles(task, block, column, strip[0], 0, task.table.tiles());
    }
  }

  // Copying weights costs more than it saves where few tiles read them, unless their rows are so far apart that each is on a page of its own.
  bool reads_in_place(const Task& task, int64_t columns) const {
    const bool is_near = sizes_.filters < 1024 || kernels_.tile_columns == strip_columns;
    return !is_gradient_ && columns % kernels_.lanes == 0 && is_near && task.table.tiles() <= most_tiles_in_place;
  }

  // Columns from `column` on: read in place, or copied to panels.
  void set_strip(const Task& task, const WeightBlock& block, int64_t column, float* panels, Strip& strip) const {
    const int64_t columns = std::min(strip_columns, task.end_column - column), taps = static_cast<int64_t>(block.taps.size());
    const int64_t channels = sizes_.channels / sizes_.groups, filters = sizes_.filters, tap_step = channels * filters;
    const float* const from = call_.second + task.group * (filters / sizes_.groups) + (is_gradient_ ? column * filters : column);
    if (reads_in_place(task, columns)) {
      strip.weights = from + block.value * filters;
      strip.panel_step = kernels_.tile_columns;
      strip.row_step = filters;
      for (int64_t tap = 0; tap < taps; ++tap) strip.tap_rows[tap] = block.taps[static_cast<size_t>(tap)].tap * channels;
      return;
    }
    strip.weights = panels;
    strip.panel_step = taps * block.depth * kernels_.tile_columns;
    strip.row_step = 0;
    PanelCopy copy{.row_step = is_gradient_ ? 1 : filters, .column_step = is_gradient_ ? filters : 1};
    for (int64_t tap = 0; tap < taps; ++tap) {
      strip.tap_rows[tap] = tap * block.depth;
      const int64_t first_tap = block.taps[static_cast<size_t>(tap)].tap;
      // Of a run, rows of several taps follow each other.
      for (int64_t value = block.value; value < block.value + block.depth; value += copy.rows) {
        const int64_t tap_of_run = in_runs_ ? value / depth_ : 0, within = value - tap_of_run * depth_;
        copy.rows = std::min(block.value + block.depth - value, depth_ - within);
        copy.from = from + (first_tap + tap_of_run * task.phase[2].tap_step) * tap_step + within * copy.row_step;
        copy_rows(copy, columns, panels, strip, tap * block.depth + value - block.value);
      }
    }
  }

  // To row `row` of the panels and those behind it.
  void copy_rows(PanelCopy copy, int64_t columns, float* panels, const Strip& strip, int64_t row) const {
    const int64_t whole = columns / kernels_.tile_columns * kernels_.tile_columns;
    copy.panel_step = strip.panel_step;
    copy.to = panels + row * kernels_.tile_columns;
    copy.columns = whole;
    if (whole > 0) kernels_.copy_panels(copy);
    if (whole == columns) return;
    copy.to = panels + whole / kernels_.tile_columns * strip.panel_step + row * width_of(columns - whole);
    copy.from += whole * copy.column_step;
    copy.columns = columns - whole;
    kernels_.copy_panels(copy);
  }

  int64_t width_of(int64_t columns) const { return divide_up(columns, kernels_.lanes) * kernels_.lanes; }

  // Tiles of pixels [first, end), with all columns of a strip.
  void run_tiles(const Task& task, const WeightBlock& block, int64_t column, const Strip& strip, int64_t first, int64_t end) const {
    const int64_t end_column = std::min(column + strip_columns, task.end_column);
    const float* weights = strip.weights;
    for (; column < end_column; column += kernels_.tile_columns, weights += strip.panel_step) {
      PixelTile tile{
          .columns = std::min(kernels_.tile_columns, end_column - column), .depth = block.depth, .weights = weights, .adds = block.adds};
      tile.weight_step = strip.row_step == 0 ? width_of(tile.columns) : strip.row_step;
      int64_t tap_weights[PixelTable::most_taps];
      for (size_t tap = 0; tap < block.taps.size(); ++tap) tap_weights[tap] = strip.tap_rows[tap] * tile.weight_step;
      for (int64_t number = first; number < end; ++number) run_tile(task, block, column, tap_weights, number, tile);
    }
  }

  void run_tile(const Task& task, const WeightBlock& block, int64_t column, const int64_t* tap_weights, int64_t number,
                PixelTile tile) const {
    const int64_t result_channels = is_gradient_ ? sizes_.channels : sizes_.filters;
    tile.pixels = task.table.pixels_of(number);
    tile.taps = static_cast<int64_t>(block.taps.size());
    tile.sources = task.table.sources(number);
    tile.tap_weights = tap_weights;
    float* results[narrow_pixels];
    const int64_t* const pixels = task.table.results(number);
    for (int64_t pixel = 0; pixel < tile.pixels; ++pixel)
      results[pixel] = call_.result + pixels[pixel] * result_channels + task.group * columns_ + column;
    tile.results = results;
    const bool is_narrow = tile_size_ == narrow_pixels, is_partial = is_narrow && tile.pixels < tile_size_;
    const auto run = is_narrow ? kernels_.narrow_tile : kernels_.pixel_tile;
    if (task.table.uses_all(number) && block.value == 0 && !is_partial) return run(tile);
    // Taps that meet padding only are left out; others are further along the same pixels, or stay with the zeros.
    const float* sources[PixelTable::most_taps * narrow_pixels];
    int64_t used_weights[PixelTable::most_taps], used = 0;
    for (int64_t tap = 0; tap < tile.taps; ++tap) {
      if (!task.table.uses_all(number) && !task.table.uses(number, tap)) continue;
      const float** const to = sources + used * tile_size_;
      for (int64_t pixel = 0; pixel < tile.pixels; ++pixel) {
        const float* const source = tile.sources[tap * tile_size_ + pixel];
        to[pixel] = source == zero_pixel ? source : source + block.value;
      }
      if (is_partial) std::fill(to + tile.pixels, to + tile_size_, zero_pixel);
      used_weights[used++] = tap_weights[tap];
    }
    tile.taps = used;
    tile.sources = sources;
    tile.tap_weights = used_weights;
    run(tile);
  }

  static constexpr int64_t most_strips = 16;

  const ConvolutionKernels& kernels_;
  AsContext* context_;
  const ConvolutionCall& call_;
  const BlockRun* after_;
  bool is_gradient_;
  const ConvolutionSizes<int64_t>& sizes_;
  Images images_;
  int64_t phases_;
  int64_t columns_, depth_;  // of a group: what a result has, and what a tap meets
  int64_t tile_size_;
  bool in_runs_;
  PixelCut cut_;
  int64_t down_, across_;  // tasks of a group
};

}  // namespace

int32_t run_pixel_product(const ConvolutionKernels& kernels, AsContext* context, const ConvolutionCall& call, const BlockRun* after) {
  return PixelProduct(kernels, context, call, after).run();
}

}  // namespace anyshape::runtime
