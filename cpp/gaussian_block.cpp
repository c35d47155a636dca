// Draws of the Gaussian model's coefficients from the Gram matrix: one Cholesky factor of K + 1 unknowns.
#include "gaussian_block.hpp"

#include <cmath>

#include "noise_prior.hpp"

namespace ispca {
namespace {

class GramBlock final : public GaussianBlock {
 public:
  GramBlock(const Problem& problem, const Poll& poll)
      : problem_(problem), data_(problem.gaussian), poll_(poll), size_(problem.columns + 1), factor_(size_ * size_),
        right_(size_), white_(size_), draw_(size_), precision_(problem.columns) {}

  Residual residual(CentredState& state) override {
    const double* beta = state.beta();
    problem_.kernels->multiply(problem_.columns, data_.gram.data(), beta, white_.data());
    Residual rss{data_.y_squares, 0, 0, data_.y_mean - state.intercept()[0], 0, data_.n};
    for (std::size_t j = 0; j < problem_.columns; ++j) {
      rss.linear += data_.cross[j] * beta[j];
      rss.quadratic += white_[j] * beta[j];
      rss.mean_slope += data_.x_mean[j] * beta[j];
    }
    if (!problem_.fixed.empty()) set_aside_fixed(beta, rss);
    return rss;
  }

  // (sum_j log(1 / sigma_j^2) - log det Q + r^T Q^-1 r) / 2, r the right-hand side.
  double evidence(CentredState& state, const ScaleUpdates& scales) override {
    assemble(state, scales);
    if (!cholesky(*problem_.kernels, size_, factor_.data(), poll_)) return -1e300;
    problem_.kernels->solve_lower(size_, factor_.data(), right_.data());
    double value = -std::log(factor_[0]) + 0.5 * right_[0] * right_[0];
    for (std::size_t i = 1; i < size_; ++i)
      value += 0.5 * (std::log(precision_[i - 1]) + right_[i] * right_[i]) - std::log(factor_[i * size_ + i]);
    return value;
  }

  // With Q = L L^T, theta = L^-T (L^-1 r + normal) ~ N(Q^-1 r, Q^-1). If rounding makes Q indefinite (precisions
  // apart by more than 1e16), a little is added to its diagonal; that fails only for data that are not finite.
  void draw(Random& random, CentredState& state, const ScaleUpdates& scales) override {
    double ridge = 0;
    for (int attempt = 0; attempt < 12; ++attempt) {
      assemble(state, scales);
      for (std::size_t i = 0; i < size_; ++i) factor_[i * size_ + i] *= 1 + ridge;
      if (cholesky(*problem_.kernels, size_, factor_.data(), poll_)) break;
      if (attempt == 11) return;
      ridge = ridge > 0 ? 10 * ridge : 1e-14;
    }
    random.normals(size_, draw_.data());
    problem_.kernels->solve_lower(size_, factor_.data(), right_.data());
    for (std::size_t i = 0; i < size_; ++i) draw_[i] += right_[i];
    problem_.kernels->solve_upper(size_, factor_.data(), draw_.data());
    for (std::size_t i = 0; i < size_; ++i)
      if (!std::isfinite(draw_[i])) return;
    state.intercept()[0] = draw_[0];
    std::copy_n(draw_.data() + 1, problem_.columns, state.beta());
  }

 private:
  // The fixed part f of beta, of which rss was made, and the rest m: |y - X f - a X m|^2.
  void set_aside_fixed(const double* beta, Residual& rss) {
    std::fill_n(draw_.data(), size_, 0.0);
    for (std::size_t j : problem_.fixed) draw_[j] = beta[j];
    // right_ = G f; white_ is still G beta
    problem_.kernels->multiply(problem_.columns, data_.gram.data(), draw_.data(), right_.data());
    double cross = 0, both = 0, squares = 0, means = 0;
    for (std::size_t j : problem_.fixed) {
      cross += data_.cross[j] * beta[j];
      both += white_[j] * beta[j];
      squares += right_[j] * beta[j];
      means += data_.x_mean[j] * beta[j];
    }
    rss.squares += squares - 2 * cross;
    rss.linear -= cross + (both - squares);
    rss.quadratic += squares - 2 * both;
    rss.mean -= means;
    rss.mean_slope -= means;
  }

  // Precision Q = [1 X]^T [1 X] / sigma^2 + diag(prior) and right-hand side [1 X]^T y / sigma^2, intercept first.
  void assemble(CentredState& state, const ScaleUpdates& scales) {
    const double precision = noise_precision(state.noise()), n = data_.n;
    const double intercept_scale = problem_.prior.intercept_scale;
    scales.precisions(state, precision_.data());
    factor_[0] = precision * n + 1 / (intercept_scale * intercept_scale);
    right_[0] = precision * n * data_.y_mean;
    const double* x_mean = data_.x_mean.data();
    for (std::size_t j = 0; j < problem_.columns; ++j) {
      const double* gram = data_.gram.data() + j * problem_.columns;
      double* row = factor_.data() + (j + 1) * size_;
      const double mean = n * x_mean[j];
      row[0] = precision * n * x_mean[j];
      for (std::size_t k = 0; k <= j; ++k) row[k + 1] = precision * (gram[k] + mean * x_mean[k]);
      row[j + 1] += precision_[j];
      right_[j + 1] = precision * (data_.cross[j] + mean * data_.y_mean);
    }
  }

  const Problem& problem_;
  const GaussianData& data_;
  const Poll& poll_;
  const std::size_t size_;
  Buffer<double> factor_, right_, white_, draw_, precision_;
};

}  // namespace

std::unique_ptr<GaussianBlock> make_gaussian_block(const Problem& problem, const Poll& poll) {
  if (problem.wide()) return make_wide_block(problem, poll);
  return std::make_unique<GramBlock>(problem, poll);
}

}  // namespace ispca
