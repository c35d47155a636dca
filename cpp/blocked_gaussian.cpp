// The blocked sampler of the Gaussian model: coefficients drawn exactly, scales and noise by slices.
#include <cmath>

#include "chain.hpp"
#include "gaussian_block.hpp"
#include "noise_prior.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

constexpr int kScaleRounds = 2;

class GaussianSweep {
 public:
  GaussianSweep(const Problem& problem, const Poll& poll)
      : problem_(problem), data_(problem.gaussian), scales_(problem.prior.kind->updates(problem)),
        block_(make_gaussian_block(problem, poll)) {}

  void operator()(Random& random, CentredState& state) {
    joint_scale(random, state);
    draw_global(random, state);  // without the coefficients, so these must be drawn next
    block_->draw(random, state, *scales_);
    for (int round = 0; round < kScaleRounds; ++round) {
      draw_noise(random, state);
      scales_->sweep(random, state);
    }
  }

 private:
  // (tau, c, beta) -> (a tau, a c, a beta), as in the other models.
  void joint_scale(Random& random, CentredState& state) {
    const Residual rss = block_->residual(state);
    const double half = 0.5 * noise_precision(state.noise());
    const auto log_density = [&](double log_a) { return scales_->scaled(state, log_a) - half * rss(std::exp(log_a)); };
    scales_->scale(state, slice(random, 0.0, log_density(0.0), 0.7, log_density));
  }

  // tau with the coefficients integrated out: given them it could only move by small steps.
  void draw_global(Random& random, CentredState& state) {
    const auto log_density = [&](double t) {
      if (!(std::fabs(t) <= 100)) return -1e300;
      state.t() = t;
      return half_cauchy(t) + block_->evidence(state, *scales_);
    };
    const double t = state.t();
    state.t() = slice(random, t, log_density(t), 1.5, log_density);
  }

  // log sigma given tau and beta: -n log sigma - rss / (2 sigma^2) + prior, and log tau = t + log(tau0 sigma).
  void draw_noise(Random& random, CentredState& state) {
    const double rss = block_->residual(state)(1.0), sum = state.t() + state.noise();
    const auto log_density = [&](double x) {
      if (!(std::fabs(sum - x) <= 100)) return -1e300;
      return noise_prior(problem_, x).value + half_cauchy(sum - x) - data_.n * x - 0.5 * rss * noise_precision(x);
    };
    state.log_sigma() = slice(random, state.noise(), log_density(state.noise()), 0.5, log_density);
    state.t() = sum - state.noise();
  }

  const Problem& problem_;
  const GaussianData& data_;
  std::unique_ptr<ScaleUpdates> scales_;
  std::unique_ptr<GaussianBlock> block_;
};

}  // namespace

void run_blocked_gaussian(const Problem& problem, const Settings& settings, ChainState& chain,
                          const ChainOutput& output, const Poll& poll) {
  Random random(chain.random);
  const bool fresh = !(chain.step > 0);
  CentredState state(problem, fresh ? centered_start(problem, random) : chain.position);
  GaussianSweep sweep(problem, poll);
  for (std::size_t i = 0; fresh && i < settings.n_warmup; ++i) {
    poll();
    sweep(random, state);
  }
  for (std::size_t d = 0; d < settings.n_draws; ++d) {
    poll();
    sweep(random, state);
    write_centered(problem, state, output.draw(d, problem));
    output.accept[d] = 1;
    output.divergent[d] = false;
    output.treedepth[d] = output.n_leapfrog[d] = 0;
  }
  chain.random = random.state();
  chain.position = state.values;
  chain.step = 1;  // nothing to tune; marks the chain as begun
}

}  // namespace ispca
