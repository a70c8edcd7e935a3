// A call: sizes and memory, the backend runs the items, results are tensors over the memory that was laid out for them.
#include "runtime/executable.h"

#include "base/thread_object.h"
#include "runtime/enter_block.h"
#include "runtime/record.h"
#include "tensor/make_impl.h"
#include "tensor/memory.h"

#include <anyshape/tensor_list.h>

namespace anyshape::runtime {

Executable::Executable(lower::Program program, std::vector<Dim> symbols, Backend& backend, std::shared_ptr<const Code> code)
    : program_(std::move(program)),
      sizes_(program_, std::move(symbols)),
      backend_(backend),
      memory_(backend.memory()),
      code_(std::move(code)),
      times_(program_.launches.size() + program_.library_calls.size()) {}

std::vector<Tensor> Executable::run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random,
                                    VariableWriter* variables) const {
  backend_.throw_failure();
  Record& record = ThreadObject<Record, Executable>::get();
  const Record::Release release{record};
  record.arguments = arguments;
  const int64_t* const symbols = symbols_of_run(symbol_values, random, record);
  if (record.blocks.size() < sizes_.blocks.size()) record.blocks.resize(sizes_.blocks.size());
  record.pointers.resize(program_.buffers.size());
  record.results.assign(program_.buffers.size(), nullptr);
  enter_block(*this, 0, record, symbols, arguments);
  const size_t items = program_.blocks[0].items.size();
  const size_t first_update = program_.updates.empty() ? items : static_cast<size_t>(program_.first_update);
  backend_.run(*this, record, {.first = 0, .last = first_update});
  place_updates(record, arguments, variables);
  std::vector<Tensor> results = wrap_results(record, arguments);
  if (first_update < items) backend_.run(*this, record, {.first = first_update, .last = items});
  return results;
}

const int64_t* Executable::symbols_of_run(std::span<const int64_t> given, RandomState random, Record& record) const {
  if (!program_.uses_random && program_.scan_sizes.empty()) return given.data();
  record.symbols.assign(given.begin(), given.end());
  if (program_.uses_random) record.symbols.push_back(random.key), record.symbols.push_back(random.counter);
  record.symbols.resize(record.symbols.size() + program_.scan_sizes.size());  // nothing outside the loops depends on them
  return record.symbols.data();
}

// Over the old value where nobody else can see it, else beside it: what may fail for lack of memory fails before the first is written.
void Executable::place_updates(Record& record, std::span<const Tensor> arguments, VariableWriter* variables) const {
  if (program_.updates.empty()) return;
  if (variables != nullptr) variables->begin();
  for (const lower::Update& update : program_.updates) {
    const int number = program_.results[static_cast<size_t>(update.result)].buffer;
    const std::shared_ptr<Buffer>& old = arguments[static_cast<size_t>(update.argument)].impl()->buffer();
    const bool in_place = variables != nullptr && old->device == memory_.device() && variables->may_write_over(update.argument);
    std::shared_ptr<Buffer>& result = record.results[static_cast<size_t>(number)];
    result = in_place ? old : allocate(bytes_of(*this, number, record), memory_);
    record.pointer(number) = result->pointer;
  }
}

std::vector<Tensor> Executable::wrap_results(const Record& record, std::span<const Tensor> arguments) const {
  std::vector<Tensor> results = detail::take_tensor_list();
  results.reserve(program_.results.size());
  for (size_t i = 0; i < program_.results.size(); ++i) {
    const lower::ProgramResult& result = program_.results[i];
    const lower::ProgramBuffer& buffer = program_.buffers[result.buffer];
    auto impl = make_impl();
    impl->dtype = result.spec.dtype;
    impl->rank = static_cast<int8_t>(sizes_.results[i].size());
    int64_t stride = 1;
    for (int axis = impl->rank - 1; axis >= 0; --axis) {
      impl->sizes[axis] = record.table(0)[sizes_.results[i][axis]];
      impl->strides[axis] = stride;
      // Only the strides of an empty tensor can overflow, and nobody walks along those.
      if (int64_t next; !__builtin_mul_overflow(stride, std::max<int64_t>(impl->sizes[axis], 1), &next)) stride = next;
    }
    if (buffer.kind == lower::BufferKind::Argument) {  // an argument handed through, perhaps under another shape
      impl->set_buffer(arguments[buffer.argument].impl()->buffer());
      impl->offset = arguments[buffer.argument].impl()->offset;
    } else {
      impl->set_buffer(record.results[result.buffer]);
    }
    results.push_back(Tensor(std::move(impl)));
  }
  return results;
}

}  // namespace anyshape::runtime
