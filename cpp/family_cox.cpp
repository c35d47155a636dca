// The Cox model: proportional hazards exp(f), by the partial likelihood with Efron's handling of ties. y is the time of
// an event, or minus the time of censoring (0 has a sign, too); only the order of the times matters. There is no
// intercept.
//
// At each time with events, let R be the sum of w exp(f) over the samples still at risk (those of that time included),
// D the sum over the events at that time, and m their total weight. With integer m, the log likelihood gains
//   sum_events w f - sum_{l=0}^{m-1} log(R - l D / m),
// so that a weight of 2 equals a duplicated sample. With r = D / R the second sum is m log R + h(r), where
//   h(r) = sum_{l=0}^{m-1} log(1 - l r / m) = m log(r / m) + log Gamma(m / r + 1) - log Gamma(m / r - m + 1),
// and the right-hand side is taken for any m > 0. The slopes are
//   dl/dR = (h' r - m) / R, dl/dD = -h' / R, and dl/df_i = w_i [event] + w_i exp(f_i) (dl/dD [event] + sum dl/dR),
// with the last sum over the times up to that of i. Rows are sorted by decreasing time, so that one pass forward gives
// every R and one pass backward every slope.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "family_glm.hpp"
#include "gamma_ratio.hpp"
#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

bool censored(double y) { return std::signbit(y); }

struct Ties {
  double value, slope;  // h and h'
};

// The power sums of l up to m - 1: h(r) = -sum_p (r / m)^p S_p / p.
Ties few_ties(double r, double m) {
  const double x = r / m, n = m - 1, s1 = m * n / 2, s2 = s1 * (2 * m - 1) / 3, s3 = s1 * s1;
  const double s4 = s2 * (3 * m * n - 1) / 5;
  return {-x * (s1 + x * (s2 / 2 + x * (s3 / 3 + x * s4 / 4))), -(s1 + x * (s2 + x * (s3 + x * s4))) / m};
}

Ties ties(double r, double m) {
  if (m == 1) return {0, 0};
  if (r < 1e-3 * std::min(m, 1.0)) return few_ties(r, m);
  if (m <= 16 && m == std::floor(m)) {
    double product = 1, slope = 0;
    for (int l = 1; l < static_cast<int>(m); ++l) {
      const double left = 1 - l * r / m;
      product *= left;
      slope -= l / m / left;
    }
    return {std::log(product), slope};
  }
  const double low = m * (1 - r) / r + 1;
  const GammaRatio ratio = gamma_ratio(low, m);
  return {m * std::log(r / m) + ratio.value, m / r - m / (r * r) * ratio.slope};
}

class Cox final : public GlmFamily {
 public:
  Cox() : GlmFamily("cox", "cox") {
    intercept = blocked = separate = false;
    one_tile = true;
  }

  void check(const RawData& raw) const override {
    require(!std::all_of(raw.y, raw.y + raw.n, censored), "the Cox model needs at least one event");
  }

  double response(double y, double, std::size_t) const override { return censored(y) ? 0 : 1; }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    std::vector<std::size_t> order(raw.n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::fabs(raw.y[a]) > std::fabs(raw.y[b]); });
    std::vector<double> x, y, weight, offset;
    for (std::size_t i : order) {
      x.insert(x.end(), raw.x + i * raw.columns, raw.x + (i + 1) * raw.columns);
      y.push_back(raw.y[i]);
      weight.push_back(raw.weight_of(i));
      offset.push_back(raw.offset_of(i));
    }
    for (std::size_t i = 0; i < raw.n; ++i) {
      if (i == 0 || std::fabs(y[i]) != std::fabs(y[i - 1])) problem.risk_sets.push_back({i, 0});
      problem.risk_sets.back().end = i + 1;
      if (!censored(y[i])) problem.risk_sets.back().events += weight[i];
    }
    RawData sorted = raw;
    sorted.x = x.data();
    sorted.y = y.data();
    if (raw.weight) sorted.weight = weight.data();
    if (raw.offset) sorted.offset = offset.data();
    GlmFamily::prepare(sorted, poll, problem);
  }

  std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const override {
    return cox_lasso(problem);
  }

  std::size_t scratch(const Problem& problem, std::size_t) const override {
    return problem.n + 3 * problem.risk_sets.size();
  }

  double residuals(const GlmKernels<float>&, const GlmTile<float>& tile) const override { return partial(tile); }
  double residuals(const GlmKernels<double>&, const GlmTile<double>& tile) const override { return partial(tile); }

 private:
  // Exponentials are taken relative to the largest predictor so far, `top`, so that they neither overflow nor vanish.
  template <class Real>
  static double partial(const GlmTile<Real>& tile) {
    const std::vector<RiskSet>& sets = tile.problem->risk_sets;
    double *risk = tile.scratch, *tops = risk + tile.problem->n, *by_total = tops + sets.size();
    double* by_events = by_total + sets.size();
    double value = 0, total = 0, top = -HUGE_VAL;
    std::size_t begin = 0;
    for (std::size_t g = 0; g < sets.size(); begin = sets[g++].end) {
      double largest = top, events = 0;
      for (std::size_t i = begin; i < sets[g].end; ++i)
        largest = std::max(largest, static_cast<double>(tile.predictors[i]));
      if (largest > top) total = total > 0 ? total * std::exp(top - largest) : 0;
      top = tops[g] = largest;
      for (std::size_t i = begin; i < sets[g].end; ++i) {
        const double below = static_cast<double>(tile.predictors[i]) - top, w = static_cast<double>(tile.weight[i]);
        risk[i] = w * std::exp(below);
        total += risk[i];
        if (!(tile.response[i] > 0)) continue;
        events += risk[i];
        value += w * below;
      }
      by_total[g] = by_events[g] = 0;
      if (!(sets[g].events > 0)) continue;
      const double r = std::min(events / total, 1.0), m = sets[g].events;
      const Ties tied = ties(r, m);
      value -= m * std::log(total) + tied.value;
      by_total[g] = (tied.slope * r - m) / total;
      by_events[g] = -tied.slope / total;
    }
    double sum = 0;
    for (std::size_t g = sets.size(); g-- > 0;) {
      if (g + 1 < sets.size() && tops[g] < tops[g + 1]) sum *= std::exp(tops[g] - tops[g + 1]);
      sum += by_total[g];
      for (std::size_t i = g ? sets[g - 1].end : 0; i < sets[g].end; ++i) {
        const bool event = tile.response[i] > 0;
        const double slope = risk[i] * (event ? sum + by_events[g] : sum);
        tile.predictors[i] = static_cast<Real>(event ? slope + static_cast<double>(tile.weight[i]) : slope);
      }
    }
    std::fill(tile.predictors + tile.problem->n, tile.predictors + tile.rows, Real(0));
    return value;
  }
};

}  // namespace

const Family& cox_family() {
  static const Cox family;
  return family;
}

}  // namespace ispca
