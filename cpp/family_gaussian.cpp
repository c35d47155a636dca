// The Gaussian family: y is normal around the linear predictor. Its likelihood is computed from the Gram matrix or, for
// wide data, from the rows, so that a gradient costs K min(K, 2 n) products.
#include <algorithm>
#include <cmath>

#include "family.hpp"
#include "lasso_likelihood.hpp"
#include "likelihood.hpp"
#include "noise_prior.hpp"

namespace ispca {
namespace {

double mean(const RawData& raw, const GaussianData& data, const double* values, std::size_t stride) {
  double sum = 0;
  for (std::size_t i = 0; i < raw.n; ++i) sum += raw.weight_of(i) * values[i * stride];
  return sum / data.n;
}

// Sums over samples; K^2 numbers each.
void fill_gram(const RawData& raw, const double* y, const Poll& poll, GaussianData& data) {
  const std::size_t K = raw.columns;
  data.gram = Buffer<double>(K * K);
  data.cross = Buffer<double>(K);
  data.x_mean = Buffer<double>(K);
  for (std::size_t j = 0; j < K; ++j) data.x_mean[j] = mean(raw, data, raw.x + j, K);
  Buffer<double> row(K), weighted(K);
  for (std::size_t i = 0; i < raw.n; ++i) {
    poll();
    const double left = y[i] - data.y_mean;
    for (std::size_t j = 0; j < K; ++j) {
      row[j] = raw.x[i * K + j] - data.x_mean[j];
      weighted[j] = raw.weight_of(i) * row[j];
    }
    for (std::size_t j = 0; j < K; ++j) {
      data.cross[j] += weighted[j] * left;
      for (std::size_t k = 0; k < K; ++k) data.gram[j * K + k] += weighted[j] * row[k];
    }
  }
}

// A Householder reflection of each column takes the unit vector of means to the first axis: what is left of a centered
// column c is c_i - c_0 / (1 + sqrt(n)), i > 0. With weights, the columns are first multiplied by r_i = sqrt(w_i): the
// unit vector is r / sqrt(n), and what is left is r_i (c_i - r_0 c_0 / (r_0 + sqrt(n))).
void fill_rows(const RawData& raw, const double* y, GaussianData& data) {
  const std::size_t n = raw.n, K = raw.columns;
  const double root = std::sqrt(data.n);
  data.rows = Buffer<double>(n * K);
  data.response = Buffer<double>(n);
  data.numbers.resize(n);
  const auto rotate = [&](const double* from, std::size_t stride, double center, double* to) {
    const double r0 = std::sqrt(raw.weight_of(0)), first = r0 * (from[0] - center) / (r0 + root);
    to[0] = root * center;
    for (std::size_t i = 1; i < n; ++i)
      to[i * stride] = std::sqrt(raw.weight_of(i)) * (from[i * stride] - center - first);
  };
  for (std::size_t j = 0; j < K; ++j) rotate(raw.x + j, K, mean(raw, data, raw.x + j, K), data.rows.data() + j);
  rotate(y, 1, data.y_mean, data.response.data());
  for (std::size_t i = 0; i < n; ++i) data.numbers[i] = i;
}

class GramLikelihood final : public Likelihood {
 public:
  explicit GramLikelihood(const Problem& problem)
      : problem_(problem), data_(problem.gaussian), product_(problem.columns) {}

  // With centered X, y and the mean residual d = mean(y) - b0 - mean(x) beta:
  // rss = |yc|^2 - 2 (Xc^T yc) beta + beta Xc^T Xc beta + n d^2, log p = -n log sigma - rss / (2 sigma^2).
  double value(const double* intercept, const double* beta, const double* extra, const Slopes& slopes) override {
    const double log_sigma = extra[0];
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
    slopes.extra[0] = precision * rss - data_.n + prior.slope;
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

  double value(const double* intercept, const double* beta, const double* extra, const Slopes& slopes) override {
    const double log_sigma = extra[0], precision = noise_precision(log_sigma), root = std::sqrt(data_.n);
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
    slopes.extra[0] = precision * rss - data_.n + prior.slope;
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
  Gaussian() : Family("gaussian", "gaussian") {
    noise = quadratic = true;
    extra_name = "sigma";
  }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    GaussianData& data = problem.gaussian;
    std::vector<double> y(raw.y, raw.y + raw.n);
    for (std::size_t i = 0; i < raw.n; ++i) {
      y[i] -= raw.offset_of(i);
      data.n += raw.weight_of(i);
    }
    data.y_mean = mean(raw, data, y.data(), 1);
    for (std::size_t i = 0; i < raw.n; ++i)
      data.y_squares += raw.weight_of(i) * (y[i] - data.y_mean) * (y[i] - data.y_mean);
    const double spread = std::sqrt(data.y_squares / data.n);
    data.sigma_floor = 1e-6 * std::fmax(spread, std::fmax(1e-8 * std::fabs(data.y_mean), 1e-90));
    problem.y_center = data.y_mean;
    problem.y_scale = std::max(spread, 10 * data.sigma_floor);
    problem.extras = 1;
    if (problem.wide()) fill_rows(raw, y.data(), data);
    else fill_gram(raw, y.data(), poll, data);
  }

  std::unique_ptr<Likelihood> likelihood(const Problem& problem) const override {
    if (problem.wide()) return std::make_unique<WideLikelihood>(problem);
    return std::make_unique<GramLikelihood>(problem);
  }

  void write_extras(const Problem&, const double* log_sigma, double* sigma) const override {
    *sigma = std::exp(std::clamp(*log_sigma, -230.0, 230.0));
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
