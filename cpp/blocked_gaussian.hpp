// The blocked sampler of the Gaussian model, where the coefficients given their scales are exactly normal.
#pragma once
#include "chain.hpp"

namespace ispca {

void run_blocked_gaussian(const Problem&, const Settings&, ChainState&, const ChainOutput&,
                          const std::atomic<bool>& stop);

}  // namespace ispca
