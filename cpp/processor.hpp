// Which vector instructions an x86-64 processor and its operating system support; the same code for every compiler.
#pragma once
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif

#include <array>
#include <cstdint>

namespace ispca {

struct Processor {
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, DQ, BW and VL, with AVX2
};

// The registers eax, ebx, ecx and edx after the instruction cpuid.
inline std::array<std::uint32_t, 4> ask_processor(std::uint32_t leaf) {
  std::array<std::uint32_t, 4> found = {};
#if defined(_MSC_VER)
  std::array<int, 4> registers = {};
  __cpuidex(registers.data(), static_cast<int>(leaf), 0);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = static_cast<std::uint32_t>(registers[i]);
#else
  __cpuid_count(leaf, 0, found[0], found[1], found[2], found[3]);
#endif
  return found;
}

// Which registers the operating system saves when it switches between programs; needs the instruction xgetbv.
inline std::uint32_t saved_registers() {
#if defined(_MSC_VER)
  return static_cast<std::uint32_t>(_xgetbv(0));
#else
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
#endif
}

inline Processor inspect_processor() {
  const auto has = [](std::uint32_t bits, std::uint32_t wanted) { return (bits & wanted) == wanted; };
  constexpr std::uint32_t kFma = 1U << 12, kXgetbv = 1U << 27, kAvx = 1U << 28;  // ecx of leaf 1
  constexpr std::uint32_t kAvx2 = 1U << 5;                                       // ebx of leaf 7
  constexpr std::uint32_t kAvx512 = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;   // F, DQ, BW, VL
  constexpr std::uint32_t kYmm = 0x6, kZmm = 0xe6;
  Processor processor;
  if (ask_processor(0)[0] < 7 || !has(ask_processor(1)[2], kFma | kXgetbv | kAvx)) return processor;
  const std::uint32_t extended = ask_processor(7)[1], saved = saved_registers();
  processor.avx2 = has(extended, kAvx2) && has(saved, kYmm);
  processor.avx512 = processor.avx2 && has(extended, kAvx512) && has(saved, kZmm);
  return processor;
}

}  // namespace ispca
