// Chooses the kernel table the processor can run.
#pragma once
#include <string>
#include <vector>

#include "kernels.hpp"

namespace ispca {

// The tables this processor supports, slowest first; the first is always "baseline".
std::vector<const Kernels*> available_kernels();

// The table of that name; an empty name means the one named by ISPCA_SIMD, else the fastest.
// Throws std::invalid_argument for a name that is unknown or not supported here.
const Kernels& choose_kernels(const std::string& name);

}  // namespace ispca
