// Chooses the kernel table the processor can run.
#include "dispatch.hpp"

#include <cstdlib>
#include <stdexcept>

#ifdef ISPCA_X86_KERNELS
#include "processor.hpp"
#endif

namespace ispca {

extern const Kernels kernels_baseline;
#ifdef ISPCA_X86_KERNELS
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> tables = {&kernels_baseline};
#ifdef ISPCA_X86_KERNELS
  const Processor processor = inspect_processor();
  if (processor.avx2) tables.push_back(&kernels_avx2);
  if (processor.avx512) tables.push_back(&kernels_avx512);
#endif
  return tables;
}

const Kernels& choose_kernels(const std::string& name) {
  const auto tables = available_kernels();
  std::string wanted = name;
  if (wanted.empty()) {
    const char* forced = std::getenv("ISPCA_SIMD");
    if (forced != nullptr) wanted = forced;
  }
  if (wanted.empty()) return *tables.back();
  std::string known;
  for (const Kernels* table : tables) {
    if (wanted == table->name) return *table;
    known += std::string(known.empty() ? "" : ", ") + table->name;
  }
  throw std::invalid_argument("kernel '" + wanted + "' is not available here; choose one of: " + known);
}

}  // namespace ispca
