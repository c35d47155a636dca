// Ratios of gamma functions, without the cancellation of two large logarithms.
#pragma once
#include <cmath>

namespace ispca {

// log(Gamma(low + s) / Gamma(low)) and its slope psi(low + s) - psi(low), for low > 0 and s >= -low.
struct GammaRatio {
  double value, slope;
};

// Gamma(z + 1) = z Gamma(z) brings both arguments above 12, where Stirling's series has an error of 1e-16.
inline GammaRatio gamma_ratio(double low, double s) {
  double high = low + s, product = 1, slope = 0;
  while (low < 12 || high < 12) {
    product *= low / high;
    slope += s / (low * high);
    low += 1;
    high += 1;
  }
  const auto log_gamma_tail = [](double z) {
    const double r = 1 / z, r2 = r * r;
    return r * (1.0 / 12 -
                r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 * (1.0 / 1188 - r2 * 691 / 360360)))));
  };
  const auto digamma_tail = [](double z) {
    const double r = 1 / z, r2 = r * r;
    return -0.5 * r -
           r2 * (1.0 / 12 -
                 r2 * (1.0 / 120 - r2 * (1.0 / 252 - r2 * (1.0 / 240 - r2 * (1.0 / 132 - r2 * 691 / 32760)))));
  };
  const double log_ratio = std::log1p(s / low);
  return {std::log(product) + (low - 0.5) * log_ratio + s * (std::log(high) - 1) + log_gamma_tail(high) -
              log_gamma_tail(low),
          slope + log_ratio + digamma_tail(high) - digamma_tail(low)};
}

}  // namespace ispca
