// Gaussian likelihood from the Gram matrix or, for wide data, the rows: a gradient costs K min(K, 2 n) products.
#include <cmath>

#include "likelihood.hpp"
#include "noise.hpp"

namespace ispca {
namespace {

class Gaussian final : public Likelihood {
 public:
  explicit Gaussian(const Problem& problem) : problem_(problem), data_(problem.gaussian), product_(problem.columns) {}

  // With centred X, y and the mean residual d = mean(y) - b0 - mean(x) beta:
  // rss = |yc|^2 - 2 (Xc^T yc) beta + beta Xc^T Xc beta + n d^2, log p = -n log sigma - rss / (2 sigma^2).
  double value(const double* intercept, const double* beta, double log_sigma, Slopes& slopes) override {
    const std::size_t K = problem_.columns;
    problem_.kernels->multiply(K, data_.gram.data(), beta, product_.data());
    double d = data_.y_mean - intercept[0], rss = data_.y_squares;
    for (std::size_t j = 0; j < K; ++j) {
      d -= data_.x_mean[j] * beta[j];
      rss += beta[j] * (product_[j] - 2 * data_.cross[j]);
    }
    rss = std::fmax(rss, 0.0) + data_.n * d * d;  // rounding could leave a negative sum of squares
    const double precision = noise_precision(log_sigma);
    for (std::size_t j = 0; j < K; ++j)
      slopes.beta[j] = precision * (data_.cross[j] - product_[j] + data_.n * d * data_.x_mean[j]);
    slopes.intercept[0] = precision * data_.n * d;
    const NoisePrior prior = noise_prior(problem_, log_sigma);
    slopes.log_sigma = precision * rss - data_.n + prior.slope;
    return prior.value - data_.n * log_sigma - 0.5 * precision * rss;
  }

 private:
  const Problem& problem_;
  const GaussianData& data_;
  Buffer<double> product_;
};

// The same from the rotated rows, of which only the first knows the intercept.
class WideGaussian final : public Likelihood {
 public:
  explicit WideGaussian(const Problem& problem) : problem_(problem), data_(problem.gaussian), residual_(problem.n) {}

  double value(const double* intercept, const double* beta, double log_sigma, Slopes& slopes) override {
    const double precision = noise_precision(log_sigma), root = std::sqrt(data_.n);
    data_.predict(*problem_.kernels, beta, residual_.data());
    double rss = 0;
    for (std::size_t i = 0; i < problem_.n; ++i) {
      const double r = data_.response[i] - residual_[i] - (i == 0 ? root * intercept[0] : 0.0);
      rss += r * r;
      residual_[i] = precision * r;
    }
    data_.project(*problem_.kernels, residual_.data(), slopes.beta);
    slopes.intercept[0] = root * residual_[0];
    const NoisePrior prior = noise_prior(problem_, log_sigma);
    slopes.log_sigma = precision * rss - data_.n + prior.slope;
    return prior.value - data_.n * log_sigma - 0.5 * precision * rss;
  }

 private:
  const Problem& problem_;
  const GaussianData& data_;
  Buffer<double> residual_;
};

}  // namespace

std::unique_ptr<Likelihood> make_gaussian_likelihood(const Problem& problem) {
  if (problem.wide()) return std::make_unique<WideGaussian>(problem);
  return std::make_unique<Gaussian>(problem);
}

}  // namespace ispca
