// The note that the linker leaves in the file this code was loaded from.
#include "codegen/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

namespace anyshape::codegen {
namespace {

const char here = 0;  // an address inside this file

constexpr size_t aligned(size_t bytes) { return (bytes + 3) / 4 * 4; }

std::string id_in_notes(const char* note, size_t bytes) {
  const char* const end = note + bytes;
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) head;
    std::memcpy(&head, note, sizeof head);
    const char* const name = note + sizeof head;
    const char* const value = name + aligned(head.n_namesz);
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string text;
      for (size_t i = 0; i < head.n_descsz; ++i) text += fmt::format("{:02x}", static_cast<unsigned char>(value[i]));
      return text;
    }
    note = value + aligned(head.n_descsz);
  }
  return {};
}

int look_at(dl_phdr_info* file, size_t /*size*/, void* found) {
  const auto address = reinterpret_cast<ElfW(Addr)>(&here);
  bool is_ours = false;
  std::string id;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file->dlpi_phdr[i];
    const ElfW(Addr) begin = file->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) is_ours = is_ours || (address >= begin && address < begin + part.p_memsz);
    if (part.p_type == PT_NOTE && id.empty()) id = id_in_notes(reinterpret_cast<const char*>(begin), part.p_memsz);
  }
  if (is_ours) *static_cast<std::string*>(found) = id;
  return is_ours ? 1 : 0;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(look_at, &id);
  return id;
}

}  // namespace anyshape::codegen
