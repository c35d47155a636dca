// The blocked sampler of the Gaussian model: coefficients drawn exactly, scales and noise by slices.
#pragma once
#include "chain.hpp"

namespace ispca {

void run_blocked_gaussian(const Problem& problem, const Settings& settings, ChainState& chain,
                          const ChainOutput& output, const Poll& poll);

}  // namespace ispca
