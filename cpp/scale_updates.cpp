// Starts and draws of the blocked sampler.
#include "scale_updates.hpp"

#include <algorithm>
#include <cmath>

#include "family.hpp"
#include "prior_horseshoe.hpp"

namespace ispca {

void fixed_precisions(const Problem& problem, double* out) {
  for (std::size_t j = 0; j < problem.fixed.size(); ++j)
    out[problem.fixed[j]] = 1 / (problem.fixed_scale[j] * problem.fixed_scale[j]);
}

std::vector<double> centered_start(const Problem& problem, Random& random) {
  const Layout layout(problem);
  std::vector<double> values(layout.size());
  for (double& value : values) value = 2 * random.uniform() - 1;
  for (std::size_t j = 0; j < problem.coefficients(); ++j) values[layout.z() + j] *= 1e-2;
  if (layout.extras) values[layout.extra() + layout.fixed] += std::log(problem.y_scale);
  else
    for (std::size_t h = 0; h < layout.intercepts; ++h) values[h] += problem.y_center;
  return values;
}

void write_centered(const Problem& problem, CentredState& state, const DrawView& draw) {
  std::copy_n(state.intercept(), state.layout.intercepts, draw.intercept);
  std::copy_n(state.beta(), problem.coefficients(), draw.coef);
  *draw.log_tau = log_global_scale(problem, state.t(), state.noise());
  if (state.layout.local) {
    std::copy_n(state.eta(), state.layout.coefficients, draw.log_lambda);
    spread_local(problem, draw.log_lambda);
    *draw.log_c2 = scales(problem, state.t(), state.g(), state.noise()).log_c2;
  }
  if (draw.extra) problem.family->write_extras(problem, &state.log_sigma(), draw.extra);
}

}  // namespace ispca
