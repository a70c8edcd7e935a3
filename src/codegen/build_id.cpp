// The note that the linker leaves in the file this code was loaded from.
#include "codegen/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

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
  const std::span<const ElfW(Phdr)> parts(file->dlpi_phdr, file->dlpi_phnum);
  const auto begin_of = [&](const ElfW(Phdr) & part) { return file->dlpi_addr + part.p_vaddr; };
  const bool is_ours = std::ranges::any_of(parts, [&](const ElfW(Phdr) & part) {
    return part.p_type == PT_LOAD && address >= begin_of(part) && address - begin_of(part) < part.p_memsz;
  });
  if (!is_ours) return 0;
  std::string& id = *static_cast<std::string*>(found);
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_type == PT_NOTE && id.empty()) id = id_in_notes(reinterpret_cast<const char*>(begin_of(part)), part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(look_at, &id);
  return id;
}

}  // namespace anyshape::codegen
