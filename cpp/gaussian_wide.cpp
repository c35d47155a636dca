// Draws of the Gaussian model's coefficients where K > n: one Cholesky factor of n unknowns.
#include <cmath>

#include "gaussian_block.hpp"
#include "noise_prior.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

// In the coordinates of GaussianData::rows, y ~ N(0, M) without intercept and coefficients, where
// M = X D X^T + sigma^2 I + n s0^2 e0 e0^T, D = diag(sigma_j^2) and s0 the intercept's scale.
class WideBlock final : public GaussianBlock {
 public:
  WideBlock(const Problem& problem, const Poll& poll)
      : problem_(problem), data_(problem.gaussian), poll_(poll), n_(problem.n), columns_(problem.columns),
        explained_(n_ * n_), factor_(n_ * n_), right_(n_), fitted_(n_), noise_(n_), variance_(columns_),
        weighted_(columns_), draw_(columns_) {}

  Residual residual(CentredState& state) override {
    data_.predict(*problem_.kernels, state.beta(), fitted_.data());
    const double root = std::sqrt(data_.n);
    Residual rss{data_.y_squares, 0, 0, data_.y_mean - state.intercept()[0], fitted_[0] / root, data_.n};
    for (std::size_t i = 1; i < n_; ++i) {
      rss.linear += data_.response[i] * fitted_[i];
      rss.quadratic += fitted_[i] * fitted_[i];
    }
    if (!problem_.fixed.empty()) set_aside_fixed(state.beta(), rss);
    return rss;
  }

  double evidence(CentredState& state, const ScaleUpdates& scales) override {
    weigh(state, scales);
    return marginal(state.noise());
  }

  // Bhattacharya, Chakraborty and Mallick (2016): with u ~ N(0, D) and e ~ N(0, M - X D X^T),
  // beta = u + D X^T M^-1 (y - X u - e) has the conditional distribution of beta. Then b0 given beta.
  void draw(Random& random, CentredState& state, const ScaleUpdates& scales) override {
    weigh(state, scales);
    draw_noise(random, state);
    if (!factorize(state.noise())) return;
    random.normals(columns_, draw_.data());
    for (std::size_t j = 0; j < columns_; ++j) draw_[j] *= std::sqrt(variance_[j]);
    data_.predict(*problem_.kernels, draw_.data(), fitted_.data());
    random.normals(n_, noise_.data());
    for (std::size_t i = 0; i < n_; ++i)
      right_[i] = data_.response[i] - fitted_[i] - std::sqrt(noise_variance(state.noise(), i)) * noise_[i];
    problem_.kernels->solve_lower(n_, factor_.data(), right_.data());
    problem_.kernels->solve_upper(n_, factor_.data(), right_.data());
    data_.project(*problem_.kernels, right_.data(), weighted_.data());
    for (std::size_t j = 0; j < columns_; ++j) {
      draw_[j] += variance_[j] * weighted_[j];
      if (!std::isfinite(draw_[j])) return;
    }
    std::copy_n(draw_.data(), columns_, state.beta());
    draw_intercept(random, state);
  }

 private:
  // The fixed part of the fit, and the rest: |y - fixed - a rest|^2.
  void set_aside_fixed(const double* beta, Residual& rss) {
    std::fill_n(draw_.data(), columns_, 0.0);
    for (std::size_t j : problem_.fixed) draw_[j] = beta[j];
    data_.predict(*problem_.kernels, draw_.data(), right_.data());
    rss.linear = rss.quadratic = 0;
    for (std::size_t i = 1; i < n_; ++i) {
      const double rest = fitted_[i] - right_[i];
      rss.squares += right_[i] * (right_[i] - 2 * data_.response[i]);
      rss.linear += (data_.response[i] - right_[i]) * rest;
      rss.quadratic += rest * rest;
    }
    rss.mean -= right_[0] / std::sqrt(data_.n);
    rss.mean_slope -= right_[0] / std::sqrt(data_.n);
  }

  double noise_variance(double log_sigma, std::size_t i) const {
    const double scale = problem_.prior.intercept_scale;
    return 1 / noise_precision(log_sigma) + (i == 0 ? data_.n * scale * scale : 0.0);
  }

  // D and the lower triangle of X D X^T.
  void weigh(CentredState& state, const ScaleUpdates& scales) {
    scales.precisions(state, variance_.data());
    for (std::size_t j = 0; j < columns_; ++j) variance_[j] = 1 / variance_[j];
    for (std::size_t i = 0; i < n_; ++i) {
      poll_();
      const double* row = data_.rows.data() + i * columns_;
      for (std::size_t j = 0; j < columns_; ++j) weighted_[j] = variance_[j] * row[j];
      data_.products(*problem_.kernels, i + 1, weighted_.data(), explained_.data() + i * n_);
    }
  }

  // The Cholesky factor of M, with its diagonal enlarged by a share `ridge`.
  bool factorize_once(double log_sigma, double ridge) {
    for (std::size_t i = 0; i < n_; ++i) {
      std::copy_n(explained_.data() + i * n_, i + 1, factor_.data() + i * n_);
      factor_[i * n_ + i] = (factor_[i * n_ + i] + noise_variance(log_sigma, i)) * (1 + ridge);
    }
    return cholesky(*problem_.kernels, n_, factor_.data(), poll_);
  }

  // What rounding makes indefinite gets a little more on its diagonal.
  bool factorize(double log_sigma) {
    double ridge = 0;
    for (int attempt = 0; attempt < 12; ++attempt) {
      if (factorize_once(log_sigma, ridge)) return true;
      ridge = ridge > 0 ? 10 * ridge : 1e-14;
    }
    return false;
  }

  // log p(y | D, sigma) = -(log det M + y^T M^-1 y) / 2
  double marginal(double log_sigma) {
    if (!factorize_once(log_sigma, 0)) return -1e300;
    std::copy_n(data_.response.data(), n_, right_.data());
    problem_.kernels->solve_lower(n_, factor_.data(), right_.data());
    double value = 0;
    for (std::size_t i = 0; i < n_; ++i) value -= 0.5 * right_[i] * right_[i] + std::log(factor_[i * n_ + i]);
    return value;
  }

  // sigma given tau, without the coefficients: these can fit y so closely that given them sigma hardly moves.
  void draw_noise(Random& random, CentredState& state) {
    const double sum = state.t() + state.noise();
    const double more = data_.n - static_cast<double>(n_);  // what weights add to the number of samples
    const auto log_density = [&](double x) {
      if (!(std::fabs(sum - x) <= 100)) return -1e300;
      return noise_prior(problem_, x).value + half_cauchy(sum - x) + marginal(x) - more * x;
    };
    state.log_sigma() = slice(random, state.noise(), log_density(state.noise()), 1.0, log_density);
    state.t() = sum - state.noise();
  }

  void draw_intercept(Random& random, CentredState& state) {
    data_.predict(*problem_.kernels, state.beta(), fitted_.data());
    const double scale = problem_.prior.intercept_scale, noise = noise_precision(state.noise());
    const double precision = data_.n * noise + 1 / (scale * scale);
    const double left = data_.y_mean - fitted_[0] / std::sqrt(data_.n);
    double normal = 0;
    random.normals(1, &normal);
    const double value = data_.n * noise / precision * left + normal / std::sqrt(precision);
    if (std::isfinite(value)) state.intercept()[0] = value;
  }

  const Problem& problem_;
  const GaussianData& data_;
  const Poll& poll_;
  const std::size_t n_, columns_;
  Buffer<double> explained_, factor_, right_, fitted_, noise_, variance_, weighted_, draw_;
};

}  // namespace

std::unique_ptr<GaussianBlock> make_wide_block(const Problem& problem, const Poll& poll) {
  return std::make_unique<WideBlock>(problem, poll);
}

}  // namespace ispca
