// The Gaussian family: y is normal around the linear predictor. Its likelihood is computed from the Gram matrix or, for
// wide data, from the rows, so that a gradient costs K min(K, 2 n) products.
#include <cmath>

#include "family.hpp"
#include "lasso_likelihood.hpp"
#include "likelihood.hpp"
#include "noise_prior.hpp"

namespace ispca {
namespace {

double mean(std::size_t n, const double* values, std::size_t stride) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += values[i * stride];
  return sum / static_cast<double>(n);
}

// Sums over samples; K^2 numbers each.
void fill_gram(const RawData& raw, const Poll& poll, GaussianData& data) {
  const std::size_t K = raw.columns;
  data.gram = Buffer<double>(K * K);
  data.cross = Buffer<double>(K);
  data.x_mean = Buffer<double>(K);
  for (std::size_t j = 0; j < K; ++j) data.x_mean[j] = mean(raw.n, raw.x + j, K);
  Buffer<double> row(K);
  for (std::size_t i = 0; i < raw.n; ++i) {
    poll();
    const double y = raw.y[i] - data.y_mean;
    for (std::size_t j = 0; j < K; ++j) row[j] = raw.x[i * K + j] - data.x_mean[j];
    for (std::size_t j = 0; j < K; ++j) {
      data.cross[j] += row[j] * y;
      for (std::size_t k = 0; k < K; ++k) data.gram[j * K + k] += row[j] * row[k];
    }
  }
}

// A Householder reflection of each column takes the unit vector of means to the first axis: what is left of a centered
// column c is c_i - c_0 / (1 + sqrt(n)), i > 0.
void fill_rows(const RawData& raw, GaussianData& data) {
  const std::size_t n = raw.n, K = raw.columns;
  const double root = std::sqrt(data.n);
  data.rows = Buffer<double>(n * K);
  data.response = Buffer<double>(n);
  data.numbers.resize(n);
  const auto rotate = [&](const double* from, std::size_t stride, double center, double* to) {
    to[0] = root * center;
    const double first = (from[0] - center) / (1 + root);
    for (std::size_t i = 1; i < n; ++i) to[i * stride] = from[i * stride] - center - first;
  };
  for (std::size_t j = 0; j < K; ++j) rotate(raw.x + j, K, mean(n, raw.x + j, K), data.rows.data() + j);
  rotate(raw.y, 1, data.y_mean, data.response.data());
  for (std::size_t i = 0; i < n; ++i) data.numbers[i] = i;
}

class GramLikelihood final : public Likelihood {
 public:
  explicit GramLikelihood(const Problem& problem)
      : problem_(problem), data_(problem.gaussian), product_(problem.columns) {}

  // With centered X, y and the mean residual d = mean(y) - b0 - mean(x) beta:
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
class WideLikelihood final : public Likelihood {
 public:
  explicit WideLikelihood(const Problem& problem) : problem_(problem), data_(problem.gaussian), residual_(problem.n) {}

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

class GaussianLasso final : public LassoLikelihood {
 public:
  explicit GaussianLasso(const LassoProblem& problem) : LassoLikelihood(problem) { start({mean(0)}); }

  void update(std::size_t) override {
    for (std::size_t i = 0; i < rows_; ++i) {
      residual_[i] = weight_[i] * (y_[i] - eta_[i]);
      curvature_[i] = weight_[i];
    }
  }

  double loss() const override {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i)
      if (weight_[i] != 0) sum += 0.5 * weight_[i] * (y_[i] - eta_[i]) * (y_[i] - eta_[i]);
    return sum;
  }
};

class Gaussian final : public Family {
 public:
  Gaussian() : Family("gaussian", "gaussian") { noise = quadratic = true; }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    GaussianData& data = problem.gaussian;
    data.n = static_cast<double>(raw.n);
    data.y_mean = mean(raw.n, raw.y, 1);
    for (std::size_t i = 0; i < raw.n; ++i) data.y_squares += (raw.y[i] - data.y_mean) * (raw.y[i] - data.y_mean);
    const double spread = std::sqrt(data.y_squares / data.n);
    data.sigma_floor = 1e-6 * std::fmax(spread, std::fmax(1e-8 * std::fabs(data.y_mean), 1e-90));
    problem.y_center = data.y_mean;
    problem.y_scale = std::max(spread, 10 * data.sigma_floor);
    if (problem.wide()) fill_rows(raw, data);
    else fill_gram(raw, poll, data);
  }

  std::unique_ptr<Likelihood> likelihood(const Problem& problem) const override {
    if (problem.wide()) return std::make_unique<WideLikelihood>(problem);
    return std::make_unique<GramLikelihood>(problem);
  }

  void run_blocked(const Problem& problem, const Settings& settings, ChainState& chain, const ChainOutput& output,
                   const Poll& poll) const override {
    run_blocked_gaussian(problem, settings, chain, output, poll);
  }
  std::size_t blocked_metric_size(const Problem&) const override { return 0; }  // it tunes nothing

  std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const override {
    return std::make_unique<GaussianLasso>(problem);
  }
};

}  // namespace

const Family& gaussian_family() {
  static const Gaussian family;
  return family;
}

}  // namespace ispca
