// oneDNN destroys the code that it generated for products when the process ends, while threads and destructors of static objects may still
// multiply. It asks for that with __cxa_atexit at its first products; here, when the library is loaded, it gets another function for this one name.
// The module is found by its file's name: the address of one of its functions may be that of an entry in the program. Where the entry is not found, all is as it would be without this file.
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace anyshape::runtime {
namespace {

using AtExit = int (*)(void (*)(void*), void*, void*);

int never_destroy(void (*)(void*), void*, void*) { return 0; }

struct Module {
  uintptr_t base = 0;
  const ElfW(Dyn) * entries = nullptr;
  uintptr_t relro_begin = 0, relro_end = 0;  // what the loader made read-only

  uintptr_t value(ElfW(Sxword) tag) const {
    for (const ElfW(Dyn)* entry = entries; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) return entry->d_un.d_ptr;
    }
    return 0;
  }

  // The address through which the module calls the function of this name; null where it does not.
  std::atomic<AtExit>* slot_of(std::string_view name) const {
    const auto* const calls = reinterpret_cast<const ElfW(Rela)*>(value(DT_JMPREL));
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(value(DT_SYMTAB));
    const auto* const names = reinterpret_cast<const char*>(value(DT_STRTAB));
    if (calls == nullptr || symbols == nullptr || names == nullptr || value(DT_PLTREL) != DT_RELA) return nullptr;
    for (size_t i = 0; i < value(DT_PLTRELSZ) / sizeof *calls; ++i) {
      if (names + symbols[calls[i].r_info >> 32U].st_name == name) return reinterpret_cast<std::atomic<AtExit>*>(base + calls[i].r_offset);
    }
    return nullptr;
  }
};

int look_at(dl_phdr_info* info, size_t /*bytes*/, void* found) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with("libdnnl.so")) return 0;
  Module module{.base = info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC) module.entries = reinterpret_cast<const ElfW(Dyn)*>(module.base + part.p_vaddr);
    if (part.p_type == PT_GNU_RELRO) {
      module.relro_begin = module.base + part.p_vaddr;
      module.relro_end = module.relro_begin + part.p_memsz;
    }
  }
  *static_cast<Module*>(found) = module;
  return 1;
}

bool keep_onednn() {
  Module module;
  if (dl_iterate_phdr(look_at, &module) == 0 || module.entries == nullptr) return false;
  std::atomic<AtExit>* const slot = module.slot_of("__cxa_atexit");
  if (slot == nullptr) return false;
  const auto address = reinterpret_cast<uintptr_t>(slot);
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
  if (::mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  slot->store(never_destroy);
  const uintptr_t relro_end = module.relro_end / page_bytes * page_bytes;  // as the loader rounds it
  if (address >= module.relro_begin && address < relro_end) ::mprotect(page, page_bytes, PROT_READ);
  return true;
}

[[maybe_unused]] const bool is_kept = keep_onednn();

}  // namespace
}  // namespace anyshape::runtime
