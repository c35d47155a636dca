// The blocked sampler of the families in glm.hpp: coefficients by HMC, scales by slices.
#include <algorithm>
#include <cmath>

#include "adaptation.hpp"
#include "beta_hmc.hpp"
#include "family_glm.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

constexpr int kScaleRounds = 2;

// (tau, c, beta) -> (a tau, a c, a beta) leaves beta_j / sigma_j unchanged, so only the likelihood and the priors
// of tau and c enter: the volume change a^P cancels against the normal densities of beta.
// Returns the size of the move of log a.
double joint_scale(Random& random, GlmLikelihood& likelihood, const ScaleUpdates& scales, CentredState& state,
                   double width) {
  likelihood.set_direction(state.beta());
  const auto log_density = [&](double log_a) {
    return scales.scaled(state, log_a) + likelihood.value_along(state.intercept(), std::exp(log_a));
  };
  const double log_a = slice(random, 0.0, log_density(0.0), width, log_density);
  scales.scale(state, log_a);
  return std::fabs(log_a);
}

// What warm-up learns besides the curvature: step of the HMC, width of the joint scale move.
struct Tuning {
  double step = 0.3, width = 0.7, last_move = 0;
};

BetaUpdate sweep(Random& random, BetaHmc& hmc, ScaleUpdates& scales, CentredState& state, Tuning& tuning) {
  tuning.last_move = joint_scale(random, hmc.likelihood(), scales, state, tuning.width);
  const BetaUpdate result = hmc.update(random, state, scales, tuning.step);
  for (int round = 0; round < kScaleRounds; ++round) scales.sweep(random, state);
  return result;
}

// The metric is learnt in windows that grow by 1.8 and end at 80 % of the warm-up.
Tuning warm_up(Random& random, const Settings& settings, BetaHmc& hmc, ScaleUpdates& scales, CentredState& state) {
  Tuning tuning;
  DualAveraging averaging(std::clamp(settings.target_accept, 0.5, 0.99), tuning.step, 0.7);
  hmc.collect(state);
  hmc.use_collected();
  std::size_t closes = 25;
  for (std::size_t i = 0; i < settings.n_warmup; ++i) {
    tuning.step = averaging.update(sweep(random, hmc, scales, state, tuning).accept);
    tuning.width = std::clamp(0.95 * tuning.width + 0.15 * tuning.last_move, 0.01, 2.0);  // three mean moves wide
    if (static_cast<double>(closes) >= 0.8 * static_cast<double>(settings.n_warmup)) continue;
    hmc.collect(state);
    if (i + 1 != closes) continue;
    hmc.use_collected();
    averaging.restart(averaging.average());
    closes = closes * 9 / 5 + 1;
  }
  if (settings.n_warmup > 0) tuning.step = averaging.average();
  return tuning;
}

}  // namespace

// The curvature of each output, and the width of the scale move.
std::size_t GlmFamily::blocked_metric_size(const Problem& problem) const {
  return problem.outputs * (problem.columns + 1) * (problem.columns + 1) + 1;
}

void GlmFamily::run_blocked(const Problem& problem, const Settings& settings, ChainState& chain,
                            const ChainOutput& output, const Poll& poll) const {
  Random random(chain.random);
  const bool fresh = !(chain.step > 0);
  CentredState state(problem, fresh ? centered_start(problem, random) : chain.position);
  BetaHmc hmc(problem, poll);
  const std::unique_ptr<ScaleUpdates> scales = problem.prior.kind->updates(problem);
  Tuning tuning;
  if (fresh) {
    tuning = warm_up(random, settings, hmc, *scales, state);
  } else {
    std::copy_n(chain.metric.begin(), hmc.curvature().size(), hmc.curvature().data());
    tuning.width = chain.metric.back();
    tuning.step = chain.step;
  }
  for (std::size_t d = 0; d < settings.n_draws; ++d) {
    const BetaUpdate result = sweep(random, hmc, *scales, state, tuning);
    write_centered(problem, state, output.draw(d, problem));
    output.accept[d] = result.accept;
    output.divergent[d] = result.divergent;
    output.treedepth[d] = static_cast<std::int32_t>(std::ceil(std::log2(result.leapfrogs + 1)));
    output.n_leapfrog[d] = result.leapfrogs;
  }
  chain.random = random.state();
  chain.position = state.values;
  chain.metric.assign(hmc.curvature().data(), hmc.curvature().data() + hmc.curvature().size());
  chain.metric.push_back(tuning.width);
  chain.step = tuning.step;
}

}  // namespace ispca
