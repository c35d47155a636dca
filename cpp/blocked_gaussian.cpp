// The blocked sampler of the Gaussian model: coefficients drawn exactly, scales and noise by slices.
#include "blocked_gaussian.hpp"

#include <algorithm>
#include <cmath>

#include "noise.hpp"
#include "scale_updates.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

constexpr int kScaleRounds = 2;

class GaussianSweep {
 public:
  explicit GaussianSweep(const Problem& problem)
      : problem_(problem),
        data_(problem.gaussian),
        size_(problem.columns + 1),
        scales_(problem),
        factor_(size_ * size_),
        right_(size_),
        white_(size_),
        draw_(size_),
        precision_(problem.columns) {}

  void operator()(Random& random, CentredState& state) {
    joint_scale(random, state);
    draw_global(random, state);  // without the coefficients, so these must be drawn next
    draw_coefficients(random, state);
    for (int round = 0; round < kScaleRounds; ++round) {
      draw_noise(random, state);
      scales_.sweep(random, state);
    }
  }

 private:
  // rss(a) = |yc|^2 - 2 a (Xc^T yc) beta + a^2 beta Xc^T Xc beta + n (mean y - b0 - a mean x beta)^2.
  struct Residual {
    double squares, linear, quadratic, mean, mean_slope, n;
    double operator()(double a) const {
      const double d = mean - a * mean_slope;
      return std::max(squares - 2 * a * linear + a * a * quadratic, 0.0) + n * d * d;
    }
  };

  Residual residual(CentredState& state) {
    const double* beta = state.beta();
    problem_.kernels->multiply(problem_.columns, data_.gram.data(), beta, white_.data());
    Residual rss{data_.y_squares, 0, 0, data_.y_mean - state.intercept()[0], 0, data_.n};
    for (std::size_t j = 0; j < problem_.columns; ++j) {
      rss.linear += data_.cross[j] * beta[j];
      rss.quadratic += white_[j] * beta[j];
      rss.mean_slope += data_.x_mean[j] * beta[j];
    }
    return rss;
  }

  // (tau, c, beta) -> (a tau, a c, a beta), as in the other models.
  void joint_scale(Random& random, CentredState& state) {
    const Residual rss = residual(state);
    const double t = state.t(), g = state.g(), half = 0.5 * noise_precision(state.noise());
    const auto log_density = [&](double log_a) {
      if (!(std::fabs(t + log_a) <= 100 && std::fabs(g + 2 * log_a) <= 200)) return -1e300;
      return half_cauchy(t + log_a) + slab_prior(problem_, g + 2 * log_a) - half * rss(std::exp(log_a));
    };
    const double log_a = slice(random, 0.0, log_density(0.0), 0.7, log_density), a = std::exp(log_a);
    state.t() = t + log_a;
    state.g() = g + 2 * log_a;
    for (std::size_t j = 0; j < problem_.columns; ++j) state.beta()[j] *= a;
  }

  // Precision Q = [1 X]^T [1 X] / sigma^2 + diag(prior) and right-hand side [1 X]^T y / sigma^2, intercept first.
  void assemble(CentredState& state) {
    const double precision = noise_precision(state.noise()), n = data_.n;
    const double intercept_scale = problem_.prior.intercept_scale;
    scales_.precisions(state, precision_.data());
    factor_[0] = precision * n + 1 / (intercept_scale * intercept_scale);
    right_[0] = precision * n * data_.y_mean;
    for (std::size_t j = 0; j < problem_.columns; ++j) {
      double* row = factor_.data() + (j + 1) * size_;
      row[0] = precision * n * data_.x_mean[j];
      for (std::size_t k = 0; k <= j; ++k)
        row[k + 1] = precision * (data_.gram[j * problem_.columns + k] + n * data_.x_mean[j] * data_.x_mean[k]);
      row[j + 1] += precision_[j];
      right_[j + 1] = precision * (data_.cross[j] + n * data_.x_mean[j] * data_.y_mean);
    }
  }

  // log p(y | scales, sigma) without the coefficients, up to what does not depend on tau and c:
  // (sum_j log(1 / sigma_j^2) - log det Q + r^T Q^-1 r) / 2, r the right-hand side.
  double evidence(CentredState& state) {
    assemble(state);
    if (!problem_.kernels->cholesky(size_, factor_.data())) return -1e300;
    problem_.kernels->solve_lower(size_, factor_.data(), right_.data());
    double value = -std::log(factor_[0]) + 0.5 * right_[0] * right_[0];
    for (std::size_t i = 1; i < size_; ++i)
      value += 0.5 * (std::log(precision_[i - 1]) + right_[i] * right_[i]) - std::log(factor_[i * size_ + i]);
    return value;
  }

  // tau with the coefficients integrated out: given them it could only move by small steps.
  void draw_global(Random& random, CentredState& state) {
    const auto log_density = [&](double t) {
      if (!(std::fabs(t) <= 100)) return -1e300;
      state.t() = t;
      return half_cauchy(t) + evidence(state);
    };
    const double t = state.t();
    state.t() = slice(random, t, log_density(t), 1.5, log_density);
  }

  // With Q = L L^T, theta = L^-T (L^-1 r + normal) ~ N(Q^-1 r, Q^-1). If rounding makes Q indefinite (precisions
  // apart by more than 1e16), a little is added to its diagonal; that fails only for data that are not finite.
  void draw_coefficients(Random& random, CentredState& state) {
    double ridge = 0;
    for (int attempt = 0; attempt < 12; ++attempt) {
      assemble(state);
      for (std::size_t i = 0; i < size_; ++i) factor_[i * size_ + i] *= 1 + ridge;
      if (problem_.kernels->cholesky(size_, factor_.data())) break;
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

  // log sigma given tau and beta: -n log sigma - rss / (2 sigma^2) + prior, and log tau = t + log(tau0 sigma).
  void draw_noise(Random& random, CentredState& state) {
    const double rss = residual(state)(1.0), sum = state.t() + state.noise();
    const auto log_density = [&](double x) {
      if (!(std::fabs(sum - x) <= 100)) return -1e300;
      return noise_prior(problem_, x).value + half_cauchy(sum - x) - data_.n * x - 0.5 * rss * noise_precision(x);
    };
    state.log_sigma() = slice(random, state.noise(), log_density(state.noise()), 0.5, log_density);
    state.t() = sum - state.noise();
  }

  const Problem& problem_;
  const GramData& data_;
  const std::size_t size_;
  ScaleUpdates scales_;
  Buffer<double> factor_, right_, white_, draw_, precision_;
};

}  // namespace

void run_blocked_gaussian(const Problem& problem, const Settings& settings, ChainState& chain,
                          const ChainOutput& output, const std::atomic<bool>& stop) {
  Random random(chain.random);
  const bool fresh = !(chain.step > 0);
  CentredState state(problem, fresh ? centred_start(problem, random) : chain.position);
  GaussianSweep sweep(problem);
  for (std::size_t i = 0; fresh && i < settings.n_warmup && !stop; ++i) sweep(random, state);
  for (std::size_t d = 0; d < settings.n_draws && !stop; ++d) {
    sweep(random, state);
    write_centred(problem, state, output.draw(d, problem));
    output.accept[d] = 1;
    output.divergent[d] = false;
    output.treedepth[d] = output.n_leapfrog[d] = 0;
  }
  chain.random = random.state();
  chain.position = state.values;
  chain.step = 1;  // nothing to tune; marks the chain as begun
}

}  // namespace ispca
