// A chain of the No-U-Turn sampler: start, warm-up, draws.
#include <algorithm>
#include <cmath>

#include "adaptation.hpp"
#include "chain.hpp"
#include "nuts.hpp"

namespace ispca {
namespace {

// Tries random points ever closer to the origin; the origin itself has a finite density for any data.
void find_start(const Density& density, Random& random, Nuts& nuts) {
  std::vector<double> q(density.size());
  double spread = 1;
  for (int attempt = 0; attempt < 50; ++attempt, spread *= 0.7) {
    density.start(random, spread, q.data());
    if (nuts.set_position(q.data())) return;
  }
  density.start(random, 0, q.data());
  nuts.set_position(q.data());
}

double warm_up(Random& random, const Density& density, const Settings& settings, Nuts& nuts) {
  double step = nuts.find_step(random, 0.1);
  if (settings.n_warmup == 0) return step;
  DualAveraging averaging(settings.target_accept, step);
  RunningVariance variance(density.size());
  Windows windows(settings.n_warmup);
  for (std::size_t i = 0; i < settings.n_warmup; ++i) {
    const Transition result = nuts.transition(random, step);
    step = averaging.update(result.accept);
    if (windows.collects(i)) variance.add(nuts.position());
    if (windows.closes(i)) {
      variance.take(nuts.inverse_metric());
      step = nuts.find_step(random, step);
      averaging.restart(step);
    }
  }
  return averaging.average();
}

}  // namespace

void run_nuts(const Problem& problem, const Settings& settings, ChainState& state, const ChainOutput& output,
              const Poll& poll) {
  Density density(problem);
  Nuts nuts(density, *problem.kernels, settings.max_treedepth, poll);
  Random random(state.random);
  if (state.step > 0) {
    std::copy(state.metric.begin(), state.metric.end(), nuts.inverse_metric());
    nuts.set_position(state.position.data());
  } else {
    find_start(density, random, nuts);
    state.step = warm_up(random, density, settings, nuts);
  }
  for (std::size_t d = 0; d < settings.n_draws; ++d) {
    const Transition result = nuts.transition(random, state.step);
    density.write(nuts.position(), output.draw(d, problem));
    output.accept[d] = result.accept;
    output.divergent[d] = result.divergent;
    output.treedepth[d] = result.depth;
    output.n_leapfrog[d] = result.leapfrogs;
  }
  state.random = random.state();
  state.position.assign(nuts.position(), nuts.position() + density.size());
  state.metric.assign(nuts.inverse_metric(), nuts.inverse_metric() + density.size());
}

}  // namespace ispca
