// Starts and draws of the blocked sampler.
#include "scale_updates.hpp"

#include <algorithm>
#include <cmath>

#include "prior_horseshoe.hpp"

namespace ispca {

std::vector<double> centered_start(const Problem& problem, Random& random) {
  const Layout layout(problem);
  std::vector<double> values(layout.size());
  for (double& value : values) value = 2 * random.uniform() - 1;
  for (std::size_t j = 0; j < layout.coefficients; ++j) values[layout.z() + j] *= 1e-2;
  if (layout.noise) values[layout.log_sigma()] += std::log(problem.y_scale);
  return values;
}

void write_centered(const Problem& problem, CentredState& state, const DrawView& draw) {
  std::copy_n(state.intercept(), state.layout.outputs, draw.intercept);
  std::copy_n(state.beta(), state.layout.coefficients, draw.coef);
  *draw.log_tau = log_global_scale(problem, state.t(), state.noise());
  if (state.layout.local) {
    std::copy_n(state.eta(), state.layout.coefficients, draw.log_lambda);
    *draw.log_c2 = scales(problem, state.t(), state.g(), state.noise()).log_c2;
  }
  if (draw.sigma != nullptr) *draw.sigma = std::exp(std::clamp(state.noise(), -230.0, 230.0));
}

}  // namespace ispca
