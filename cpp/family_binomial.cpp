// The binomial family: two classes, y = 0 or 1, with log odds equal to the linear predictor.
#include <algorithm>
#include <cmath>

#include "family_glm.hpp"
#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

class BinomialLasso final : public LassoLikelihood {
 public:
  explicit BinomialLasso(const LassoProblem& problem) : LassoLikelihood(problem) {
    const double p = class_frequency(0);
    start({std::log(p / (1 - p))});
  }

  void update(std::size_t) override {
    for (std::size_t i = 0; i < rows_; ++i) {
      const double tail = std::exp(-std::fabs(eta_[i])), p = (eta_[i] > 0 ? 1.0 : tail) / (1 + tail);
      residual_[i] = weight_[i] * (y_[i] - p);
      curvature_[i] = weight_[i] * std::max(tail / ((1 + tail) * (1 + tail)), kLeastVariance);
    }
  }

  double loss() const override {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i)
      if (weight_[i] != 0) sum += weight_[i] * (log1p_exp(eta_[i]) - y_[i] * eta_[i]);
    return sum;
  }
};

class Binomial final : public GlmFamily {
 public:
  Binomial() : GlmFamily("logistic", "binomial") {}

  void check(const RawData& raw) const override {
    require(raw.classes <= 2, "the logistic model needs exactly two classes");
    check_classes(raw);
  }

  double response(double y, double, std::size_t) const override { return y > 0 ? 1 : -1; }  // the kernel's sign

  double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const override {
    return log_likelihood(kernels, tile);
  }
  double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const override {
    return log_likelihood(kernels, tile);
  }

  std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const override {
    return std::make_unique<BinomialLasso>(problem);
  }

 private:
  template <class Real>
  static double log_likelihood(const GlmKernels<Real>& kernels, const GlmTile<Real>& tile) {
    if (tile.weighted) return kernels.weighted_logistic(tile.rows, tile.response, tile.weight, tile.predictors);
    return kernels.logistic(tile.rows, tile.padding, tile.response, tile.predictors);
  }
};

}  // namespace

const Family& binomial_family() {
  static const Binomial family;
  return family;
}

}  // namespace ispca
