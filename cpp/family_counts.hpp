// What the families of counts share: checks, and where their intercept starts.
#pragma once
#include <algorithm>
#include <cmath>

#include "family_glm.hpp"

namespace ispca {

inline void check_counts(const RawData& raw) {
  for (std::size_t i = 0; i < raw.n; ++i)
    require(raw.y[i] >= 0 && raw.y[i] <= 1e15 && raw.y[i] == std::floor(raw.y[i]),
            "y must hold counts: integers from 0 to 1e15");
}

// The intercept that fits without features, log(sum w y / sum w exp(offset)); counts that are all 0 count as half a
// one.
inline double log_mean_count(const RawData& raw) {
  double top = raw.offset_of(0), counts = 0, exposure = 0;
  for (std::size_t i = 1; i < raw.n; ++i) top = std::max(top, raw.offset_of(i));
  for (std::size_t i = 0; i < raw.n; ++i) {
    counts += raw.weight_of(i) * raw.y[i];
    exposure += raw.weight_of(i) * std::exp(raw.offset_of(i) - top);
  }
  return std::log(std::max(counts, 0.5) / exposure) - top;
}

}  // namespace ispca
