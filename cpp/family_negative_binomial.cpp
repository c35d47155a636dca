// The negative-binomial family: y is a count of mean mu = exp(f) and variance mu + mu^2 / phi, with the linear
// predictor f and a dispersion phi that is sampled as log phi ~ N(0, 2^2). With x = f - log phi, s(x) = 1 / (1 +
// exp(-x)):
//   log p(y) = log Gamma(y + phi) - log Gamma(phi) - y log(1 + exp(-x)) - phi log(1 + exp(x)) - log y!,
//   d log p / d f = y - (y + phi) s(x),
//   d log p / d log phi = phi (psi(y + phi) - psi(phi) - log(1 + exp(x)) + s(x)) - y (1 - s(x)).
// The constant log y! is left out, and the gamma functions are taken once per distinct count.
#include <algorithm>
#include <cmath>

#include "family_counts.hpp"
#include "gamma_ratio.hpp"

namespace ispca {
namespace {

constexpr double kPriorDeviation = 2, kLargestLogPhi = 50;

double clamped(double log_phi) { return std::clamp(log_phi, -kLargestLogPhi, kLargestLogPhi); }

class NegativeBinomial final : public GlmFamily {
 public:
  NegativeBinomial() : GlmFamily("negative_binomial", nullptr) {
    blocked = false;
    extra_name = "dispersion";
  }

  void check(const RawData& raw) const override { check_counts(raw); }

  double response(double y, double, std::size_t) const override { return y; }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    GlmFamily::prepare(raw, poll, problem);
    problem.y_center = log_mean_count(raw);
    problem.extras = 1;
    problem.extra_start = {0};
    fill_levels(raw, problem);
  }

  void write_extras(const Problem&, const double* log_phi, double* phi) const override {
    *phi = std::exp(clamped(*log_phi));
  }

  double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const override {
    return log_likelihood(kernels, tile);
  }
  double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const override {
    return log_likelihood(kernels, tile);
  }

  double finish(const Problem& problem, const double* log_phi, double* slope) const override {
    const double phi = std::exp(clamped(*log_phi)), scaled = *log_phi / kPriorDeviation;
    double value = 0, by_phi = 0;
    for (std::size_t i = 0; i < problem.levels.size(); ++i) {
      const GammaRatio ratio = gamma_ratio(phi, problem.levels[i]);
      value += problem.level_weights[i] * ratio.value;
      by_phi += problem.level_weights[i] * ratio.slope;
    }
    *slope += phi * by_phi;
    if (!(std::fabs(*log_phi) < kLargestLogPhi)) *slope = 0;
    *slope -= scaled / kPriorDeviation;
    return value - 0.5 * scaled * scaled;
  }

 private:
  template <class Real>
  static double log_likelihood(const GlmKernels<Real>& kernels, const GlmTile<Real>& tile) {
    return kernels.negative_binomial(tile.rows, clamped(*tile.extra), tile.response, tile.weight, tile.predictors,
                                     tile.extra_slopes);
  }
};

}  // namespace

const Family& negative_binomial_family() {
  static const NegativeBinomial family;
  return family;
}

}  // namespace ispca
