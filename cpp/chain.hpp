// One chain: what it is asked for, what it carries from call to call, and where its draws go.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "draws.hpp"
#include "problem.hpp"
#include "random.hpp"

namespace ispca {

enum class Sampler { nuts, blocked };

Sampler parse_sampler(const std::string& name);

struct Settings {
  Sampler sampler = Sampler::nuts;
  std::size_t n_warmup = 1000, n_draws = 1000;
  double target_accept = 0.9;
  int max_treedepth = 10;
  std::uint64_t seed = 0;
};

// All that is needed to go on as if the chain had never stopped.
struct ChainState {
  Random::State random{};
  double step = 0;  // 0: a fresh chain, which warms up first
  std::vector<double> position, metric;
};

// Arrays of one chain, indexed by draw. log_lambda and log_c2 are null for a prior without local scales, extra for a
// family without such parameters.
struct ChainOutput {
  double *intercept, *coef, *log_lambda, *log_tau, *log_c2, *extra, *accept;
  bool* divergent;
  std::int32_t *treedepth, *n_leapfrog;

  DrawView draw(std::size_t d, const Problem& problem) const {
    const std::size_t H = problem.outputs, P = problem.coefficients();
    return {intercept + d * H,
            coef + d * P,
            log_lambda ? log_lambda + d * P : nullptr,
            log_tau + d,
            log_c2 ? log_c2 + d : nullptr,
            extra ? extra + d * problem.extras : nullptr};
  }
};

// Size of ChainState::metric.
std::size_t metric_size(const Problem& problem, Sampler sampler);

// Runs until done, and leaves `state` ready to continue, or until `poll` throws. Family::run_blocked is the other one.
void run_nuts(const Problem&, const Settings&, ChainState&, const ChainOutput&, const Poll& poll);
void run_blocked_gaussian(const Problem&, const Settings&, ChainState&, const ChainOutput&, const Poll& poll);

}  // namespace ispca
