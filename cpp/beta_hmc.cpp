// Hamiltonian update of intercepts and coefficients given their scales, for the blocked sampler.
#include "beta_hmc.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {
namespace {
constexpr double kTrajectory = 4.0;  // in whitened units; measured, with jitter it covers half to a whole swing
constexpr int kMostSteps = 256;
}  // namespace

BetaHmc::BetaHmc(const Problem& problem, const Poll& poll)
    : problem_(problem), poll_(poll), outputs_(problem.outputs), columns_(problem.columns), block_(columns_ + 1),
      likelihood_(make_glm_likelihood(problem)), curvature_(outputs_ * block_ * block_), factor_(curvature_.size()),
      squares_(likelihood_->weights()) {
  for (auto* vector : {&theta_, &precision_, &gradient_, &momentum_, &white_, &velocity_})
    vector->resize(outputs_ * block_);
  for (auto* vector : {&intercept_, &slope_intercept_}) vector->resize(outputs_);
  for (auto* vector : {&beta_, &slope_beta_, &beta_precision_}) vector->resize(problem.coefficients());
}

void BetaHmc::collect(CentredState& state) {
  likelihood_->add_weights(state.intercept(), state.beta(), squares_.data());
  collected_ += 1;
}

void BetaHmc::use_collected() {
  if (collected_ == 0) return;
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i] = std::sqrt(squares_[i] / collected_);
  likelihood_->curvature(squares_.data(), curvature_.data(), poll_);
  std::fill_n(squares_.data(), squares_.size(), 0.0);
  collected_ = 0;
}

// Cholesky factors of the metric. Rounding can spoil a factor when precisions differ by many orders of
// magnitude; the diagonal alone is then a valid, if slower, metric.
void BetaHmc::factorise() {
  const std::size_t square = block_ * block_;
  for (std::size_t h = 0; h < outputs_; ++h) {
    const double* curvature = curvature_.data() + h * square;
    double* factor = factor_.data() + h * square;
    std::copy_n(curvature, square, factor);
    for (std::size_t i = 0; i < block_; ++i) factor[i * block_ + i] += precision_[h * block_ + i];
    if (cholesky(*problem_.kernels, block_, factor, poll_)) continue;
    std::fill_n(factor, square, 0.0);
    for (std::size_t i = 0; i < block_; ++i)
      factor[i * block_ + i] = std::sqrt(curvature[i * block_ + i] + precision_[h * block_ + i]);
  }
}

// U = -l + theta^T diag(precision) theta / 2; leaves dU/dtheta in gradient_.
double BetaHmc::potential(const std::vector<double>& theta) {
  poll_();
  for (std::size_t h = 0; h < outputs_; ++h) {
    intercept_[h] = theta[h * block_];
    std::copy_n(theta.data() + h * block_ + 1, columns_, beta_.data() + h * columns_);
  }
  const Slopes slopes{slope_intercept_.data(), slope_beta_.data()};
  double value = -likelihood_->value(intercept_.data(), beta_.data(), nullptr, slopes);
  for (std::size_t h = 0; h < outputs_; ++h) {
    gradient_[h * block_] = -slope_intercept_[h];
    for (std::size_t j = 0; j < columns_; ++j) gradient_[h * block_ + 1 + j] = -slope_beta_[h * columns_ + j];
  }
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const double pull = precision_[i] * theta[i];
    value += 0.5 * pull * theta[i];
    gradient_[i] += pull;
  }
  return value;
}

void BetaHmc::whiten_gradient() {
  white_ = gradient_;
  for (std::size_t h = 0; h < outputs_; ++h)
    problem_.kernels->solve_lower(block_, factor_.data() + h * block_ * block_, white_.data() + h * block_);
}

void BetaHmc::drift(double step) {
  velocity_ = momentum_;
  for (std::size_t h = 0; h < outputs_; ++h)
    problem_.kernels->solve_upper(block_, factor_.data() + h * block_ * block_, velocity_.data() + h * block_);
  for (std::size_t i = 0; i < theta_.size(); ++i) theta_[i] += step * velocity_[i];
}

void BetaHmc::load(CentredState& state, const ScaleUpdates& scales) {
  scales.precisions(state, beta_precision_.data());
  const double flat = 1 / (problem_.prior.intercept_scale * problem_.prior.intercept_scale);
  for (std::size_t h = 0; h < outputs_; ++h) {
    precision_[h * block_] = flat;
    theta_[h * block_] = state.intercept()[h];
    std::copy_n(beta_precision_.data() + h * columns_, columns_, precision_.data() + h * block_ + 1);
    std::copy_n(state.beta() + h * columns_, columns_, theta_.data() + h * block_ + 1);
  }
}

BetaUpdate BetaHmc::update(Random& random, CentredState& state, const ScaleUpdates& scales, double step) {
  load(state, scales);
  factorise();
  const auto kinetic = [this] {
    double sum = 0;
    for (double r : momentum_) sum += 0.5 * r * r;
    return sum;
  };
  const auto kick = [this](double by) {
    for (std::size_t i = 0; i < momentum_.size(); ++i) momentum_[i] -= by * white_[i];
  };
  random.normals(momentum_.size(), momentum_.data());
  const double length = kTrajectory * (0.6 + 0.8 * random.uniform());  // jitter: no resonance with a period
  BetaUpdate result;
  result.leapfrogs = static_cast<int>(std::clamp(length / step + 0.5, 1.0, double(kMostSteps)));
  const double start = potential(theta_) + kinetic();
  double end = start;
  whiten_gradient();
  for (int i = 0; i < result.leapfrogs; ++i) {
    kick(0.5 * step);
    drift(step);
    end = potential(theta_);
    whiten_gradient();
    kick(0.5 * step);
  }
  const double gain = start - end - kinetic();
  result.divergent = !(gain > -1000);
  result.accept = result.divergent ? 0 : std::exp(std::min(gain, 0.0));
  if (random.uniform() < result.accept) {
    for (std::size_t h = 0; h < outputs_; ++h) {
      state.intercept()[h] = theta_[h * block_];
      std::copy_n(theta_.data() + h * block_ + 1, columns_, state.beta() + h * columns_);
    }
  }
  return result;
}

}  // namespace ispca
