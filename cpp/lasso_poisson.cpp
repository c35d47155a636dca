// The lasso of Poisson regression: half the deviance, sum_i w_i (y_i log(y_i / mu_i) - y_i + mu_i), mu = exp(eta).
#include <algorithm>
#include <cmath>

#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

constexpr double kLargestLogMean = 50;  // larger means are of no use, and their sums overflow

class PoissonLasso final : public LassoLikelihood {
 public:
  explicit PoissonLasso(const LassoProblem& problem) : LassoLikelihood(problem) {
    double counts = 0, exposure = 0, top = offset(0);
    for (std::size_t i = 1; i < rows_; ++i) top = std::max(top, offset(i));
    for (std::size_t i = 0; i < rows_; ++i) {
      counts += weight_[i] * y_[i];
      exposure += weight_[i] * std::exp(offset(i) - top);
      if (y_[i] > 0) saturated_ += weight_[i] * y_[i] * (std::log(y_[i]) - 1);
    }
    start({std::log(std::max(counts, 1e-8) / exposure) - top});
  }

  void update(std::size_t) override {
    for (std::size_t i = 0; i < rows_; ++i) {
      const double mean = std::exp(std::min(eta_[i], kLargestLogMean));
      residual_[i] = weight_[i] * (y_[i] - mean);
      curvature_[i] = weight_[i] * std::max(mean, kLeastVariance);
    }
  }

  double loss() const override {
    double sum = saturated_;
    for (std::size_t i = 0; i < rows_; ++i)
      if (weight_[i] != 0) sum += weight_[i] * (std::exp(std::min(eta_[i], kLargestLogMean)) - y_[i] * eta_[i]);
    return std::max(sum, 0.0);
  }

 private:
  double saturated_ = 0;
};

}  // namespace

std::unique_ptr<LassoLikelihood> poisson_lasso(const LassoProblem& problem) {
  return std::make_unique<PoissonLasso>(problem);
}

}  // namespace ispca
