// Gaussian likelihood from the Gram matrix, so that a gradient costs K^2 whatever n is.
#include <cmath>

#include "likelihood.hpp"
#include "noise.hpp"

namespace ispca {
namespace {

class Gaussian final : public Likelihood {
 public:
  explicit Gaussian(const Problem& problem)
      : problem_(problem), data_(problem.gaussian), product_(problem.columns) {}

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
  const GramData& data_;
  Buffer<double> product_;
};

}  // namespace

std::unique_ptr<Likelihood> make_gaussian_likelihood(const Problem& problem) {
  return std::make_unique<Gaussian>(problem);
}

}  // namespace ispca
