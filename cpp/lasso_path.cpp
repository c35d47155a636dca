// The path of lasso solutions over a decreasing sequence of penalties.
#include "lasso_path.hpp"

#include <algorithm>
#include <cmath>

#include "lasso_fit.hpp"

namespace ispca {
namespace {

constexpr std::size_t kColumnsPerPoll = 32;

}  // namespace

Standardization::Standardization(const Columns& x, const double* weight, const Poll& poll)
    : mean(x.count), inverse_sd(x.count) {
  for (std::size_t j = 0; j < x.count; ++j) {
    if (j % kColumnsPerPoll == 0) poll();
    double sums[2];
    x.moments(j, weight, sums);
    mean[j] = sums[0];
    double variance = sums[1] - sums[0] * sums[0];
    if (x.is_dense() && variance < 1e-3 * sums[1]) {  // cancellation: take the differences first
      variance = 0;
      for (std::size_t i = 0; i < x.rows; ++i)
        variance += weight[i] * (x.dense[j * x.rows + i] - mean[j]) * (x.dense[j * x.rows + i] - mean[j]);
    }
    // What is left of a constant column is the rounding of its mean.
    inverse_sd[j] =
        variance > 1e-20 * sums[1] && (x.is_dense() || variance > 1e-13 * sums[1]) ? 1 / std::sqrt(variance) : 0.0;
    if (!std::isfinite(inverse_sd[j])) inverse_sd[j] = 0;
  }
}

namespace {

constexpr double kExplainedEnough = 0.999, kLeastGain = 1e-5;
constexpr std::size_t kFewestLambdas = 5;

std::vector<double> penalties(const LassoSettings& settings, double first) {
  if (!settings.lambdas.empty()) return settings.lambdas;
  std::vector<double> lambdas(settings.n_lambdas);
  const double steps = static_cast<double>(std::max<std::size_t>(settings.n_lambdas, 2) - 1);
  for (std::size_t l = 0; l < lambdas.size(); ++l)
    lambdas[l] = first * std::pow(settings.ratio, static_cast<double>(l) / steps);
  return lambdas;
}

void follow(const LassoProblem& problem, const LassoSettings& settings, const Poll& poll, LassoPath& path) {
  LassoFit fit(problem, settings.tolerance, poll);
  path.begin.push_back(0);
  double previous = fit.largest_penalty(), explained = 0;
  const std::vector<double> lambdas = penalties(settings, previous);
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    fit.solve(lambdas[l], std::max(previous, lambdas[l]));
    fit.record(path);
    previous = lambdas[l];
    const double now = fit.explained(), gain = now - explained;
    explained = now;
    path.lambdas.push_back(lambdas[l]);
    path.explained.push_back(now);
    // glmnet's rules: the rest of the path would only follow the noise, or separate the classes.
    const bool enough = now > kExplainedEnough || gain < kLeastGain * now;
    if (settings.lambdas.empty() && l + 1 >= kFewestLambdas && enough) break;
  }
}

}  // namespace

LassoPath lasso_path(const LassoProblem& problem, const LassoSettings& settings,
                     const std::function<bool()>& interrupted) {
  LassoPath path;
  try {
    follow(problem, settings, poll_now_and_then(interrupted), path);
  } catch (const Interrupted&) {
    path.interrupted = true;
  }
  return path;
}

}  // namespace ispca
