// The ordinal family: ordered classes y = 0, ..., C - 1 with cumulative logits. With thresholds c_0 < ... < c_{C-2} and
// the linear predictor f, which has no intercept, P(y <= k) = s(c_k - f), s(x) = 1 / (1 + exp(-x)). For y = k, with
// a = c_k - f and b = c_{k-1} - f (infinite beyond the ends),
//   p = s(a) - s(b) = s(a) s(-b) (1 - exp(b - a)),   log p = -log(1 + exp(-a)) - log(1 + exp(b)) + log(1 - exp(b - a)),
//   d log p / d f = s(b) - s(-a),   d log p / d c_k = s(-a) + e,   d log p / d c_{k-1} = -s(b) - e,
// e = 1 / (exp(a - b) - 1). The terms in a - b = c_k - c_{k-1} are the same for all samples of a class.
// Sampled are c_0 and the logs of the gaps c_k - c_{k-1}. The prior of the thresholds is N(0, intercept_scale^2) each,
// restricted to increasing order; the gaps are the Jacobian.
#include <algorithm>
#include <cmath>

#include "family_glm.hpp"

namespace ispca {
namespace {

constexpr double kLargestLogGap = 100;

// The gap, and its slope with respect to its log: beyond e^-100 and e^100, where no posterior lies, it stays.
double gap(double log_gap) { return std::exp(std::clamp(log_gap, -kLargestLogGap, kLargestLogGap)); }
double gap_slope(double log_gap) { return std::fabs(log_gap) < kLargestLogGap ? gap(log_gap) : 0; }

void fill_thresholds(std::size_t count, const double* extra, double* thresholds) {
  thresholds[0] = extra[0];
  for (std::size_t k = 1; k < count; ++k) thresholds[k] = thresholds[k - 1] + gap(extra[k]);
}

class Ordinal final : public GlmFamily {
 public:
  Ordinal() : GlmFamily("ordinal", nullptr) {
    intercept = blocked = false;
    extra_name = "thresholds";
    extra_vector = true;
  }

  void check(const RawData& raw) const override {
    check_classes(raw);
    std::vector<bool> present(raw.classes);
    for (std::size_t i = 0; i < raw.n; ++i) present[static_cast<std::size_t>(raw.y[i])] = true;
    require(std::find(present.begin(), present.end(), false) == present.end(),
            "every class of an ordinal target needs a sample of positive weight");
  }

  double response(double y, double, std::size_t) const override { return y; }

  // The thresholds start where they fit without features.
  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    GlmFamily::prepare(raw, poll, problem);
    problem.extras = raw.classes - 1;
    fill_levels(raw, problem);
    double all = 0, below = 0, last = 0, offset = 0;
    for (std::size_t i = 0; i < raw.n; ++i) {
      all += raw.weight_of(i);
      offset += raw.weight_of(i) * raw.offset_of(i);
    }
    for (std::size_t k = 0; k < problem.extras; ++k) {
      below += problem.level_weights[k];
      const double logit = std::log(below / std::max(all - below, 1e-6));
      problem.extra_start.push_back(k ? std::log(std::max(logit - last, 1e-3)) : logit + offset / all);
      last = logit;
    }
  }

  void write_extras(const Problem& problem, const double* extra, double* thresholds) const override {
    fill_thresholds(problem.extras, extra, thresholds);
  }

  std::size_t scratch(const Problem& problem, std::size_t rows) const override { return problem.extras + 2 + 2 * rows; }

  double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const override {
    return log_likelihood(kernels, tile);
  }
  double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const override {
    return log_likelihood(kernels, tile);
  }

  // Turns the slopes of the thresholds into those of c_0 and the log gaps: a gap moves all thresholds above it.
  double finish(const Problem& problem, const double* extra, double* slopes) const override {
    const double precision = 1 / (problem.prior.intercept_scale * problem.prior.intercept_scale);
    double value = 0, threshold = extra[0];
    for (std::size_t k = 0; k < problem.extras; ++k) {
      if (k > 0) {
        const double width = gap(extra[k]);
        threshold += width;
        value += problem.level_weights[k] * std::log(-std::expm1(-width));
      }
      value -= 0.5 * precision * threshold * threshold;
      slopes[k] -= precision * threshold;
    }
    for (std::size_t k = problem.extras; k-- > 1;) {
      const double above = slopes[k];
      slopes[k - 1] += above;
      value += extra[k];
      slopes[k] = 1 + gap_slope(extra[k]) * (above + problem.level_weights[k] / std::expm1(gap(extra[k])));
    }
    return value;
  }

 private:
  // The ends are infinite: a class at the end has one threshold.
  template <class Real>
  static double log_likelihood(const GlmKernels<Real>& kernels, const GlmTile<Real>& tile) {
    const std::size_t count = tile.problem->extras;
    double *ends = tile.scratch, *lower = ends + count + 2, *upper = lower + tile.rows;
    ends[0] = -HUGE_VAL;
    fill_thresholds(count, tile.extra, ends + 1);
    ends[count + 1] = HUGE_VAL;
    for (std::size_t i = 0; i < tile.rows; ++i) {
      const auto k = static_cast<std::size_t>(tile.response[i]);
      lower[i] = ends[k];
      upper[i] = ends[k + 1];
    }
    const double value = kernels.ordinal(tile.rows, tile.weight, lower, upper, tile.predictors);
    for (std::size_t i = 0; i < tile.rows; ++i) {
      const auto k = static_cast<std::size_t>(tile.response[i]);
      if (k > 0) tile.extra_slopes[k - 1] += lower[i];
      if (k < count) tile.extra_slopes[k] += upper[i];
    }
    return value;
  }
};

}  // namespace

const Family& ordinal_family() {
  static const Ordinal family;
  return family;
}

}  // namespace ispca
