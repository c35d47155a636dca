// The lasso of Cox regression: the partial likelihood with Breslow's handling of ties,
//   loss = sum_i w_i d_i (log(n R_i) - eta_i),   R_i = sum of w_l exp(eta_l) over the samples at risk at time t_i,
// with events d and n samples: the weights sum to one, and n keeps the loss positive. Its slopes are
//   -w_i (d_i - exp(eta_i) H_i),   H_i = sum of w_j d_j / R_j over the events up to t_i,
// and its second derivatives
//   diag(w_i exp(eta_i) H_i) - sum_j w_j d_j p_j p_j^T,   p_j: w_l exp(eta_l) / R_j of the samples at risk at t_j.
// Products with them cost a pass over the samples in each direction. The diagonal alone is an upper bound: coordinate
// descent without a Hessian uses it, never overshoots, and converges linearly.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

// y holds the times, negative if censored.
class CoxLasso final : public LassoLikelihood {
 public:
  explicit CoxLasso(const LassoProblem& problem) : LassoLikelihood(problem), order_(rows_), total_(rows_) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const double s = std::fabs(y_[a]), t = std::fabs(y_[b]);
      return s < t || (s == t && a < b);
    });
    for (std::size_t i = 0; i < rows_; ++i) used_ += weight_[i] > 0 ? 1 : 0;
    start({0.0});
  }

  void update(std::size_t) override {
    const double largest = sum_risks();
    double hazard = 0;
    for (std::size_t first = 0, last = 0; first < rows_; first = last) {
      double events = 0;
      for (last = first; last < rows_ && same_time(first, last); ++last) events += event(order_[last]);
      if (events > 0) hazard += events / total_[first];
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t i = order_[k];
        // Samples of weight 0 are only predicted.
        const double expected = weight_[i] == 0 ? 0.0 : weight_[i] * std::exp(eta_[i] - largest) * hazard;
        residual_[i] = event(i) - expected;
        curvature_[i] = std::max(expected, weight_[i] * kLeastVariance);
      }
    }
  }

  // Expected events, weighted risks and their sums over the samples at risk, in the order of the times.
  std::vector<double> frozen() const override {
    const double largest = sum_risks();
    std::vector<double> parts(3 * rows_);
    for (std::size_t first = 0, last = 0; first < rows_; first = last)
      for (last = first; last < rows_ && same_time(first, last); ++last) {
        const std::size_t i = order_[last];
        parts[last] = event(i) - residual_[i];
        parts[rows_ + last] = weight_[i] > 0 ? weight_[i] * std::exp(eta_[i] - largest) : 0.0;
        parts[2 * rows_ + last] = total_[first];
      }
    return parts;
  }

  void weigh(const std::vector<double>& frozen, std::size_t, const double* column, double scale,
             double* out) const override {
    if (!column) {  // a constant has no curvature; this keeps the intercept, which changes nothing, where it is
      for (std::size_t i = 0; i < rows_; ++i) out[i] = scale * weight_[i];
      return;
    }
    const double *expected = frozen.data(), *risk = expected + rows_, *total = risk + rows_;
    // The sum of risk times column over the samples at risk, then its events' terms up to each time.
    double at_risk = 0, past = 0;
    for (std::size_t k = rows_; k-- > 0;) total_[k] = at_risk += risk[k] * column[order_[k]];
    for (std::size_t first = 0, last = 0; first < rows_; first = last) {
      double events = 0;
      for (last = first; last < rows_ && same_time(first, last); ++last) events += event(order_[last]);
      if (events > 0) past += events * (total_[first] / total[first]) / total[first];
      for (std::size_t k = first; k < last; ++k)
        out[order_[k]] = scale * (expected[k] * column[order_[k]] - risk[k] * past);
    }
  }

  double loss() const override {
    const double largest = sum_risks();
    double sum = 0;
    for (std::size_t first = 0, last = 0; first < rows_; first = last)
      for (last = first; last < rows_ && same_time(first, last); ++last) {
        const std::size_t i = order_[last];
        if (event(i) > 0) sum += event(i) * (std::log(used_ * total_[first]) + largest - eta_[i]);
      }
    return std::max(sum, 0.0);
  }

 private:
  double event(std::size_t i) const { return y_[i] > 0 ? weight_[i] : 0.0; }
  bool same_time(std::size_t j, std::size_t k) const { return std::fabs(y_[order_[j]]) == std::fabs(y_[order_[k]]); }

  // Fills the sums of exp(eta - largest) from each place in the order on; returns the largest predictor.
  double sum_risks() const {
    double largest = -1e300, sum = 0;
    for (std::size_t i = 0; i < rows_; ++i)
      if (weight_[i] > 0) largest = std::max(largest, eta_[i]);
    for (std::size_t k = rows_; k-- > 0;) {
      const std::size_t i = order_[k];
      if (weight_[i] > 0) sum += weight_[i] * std::exp(eta_[i] - largest);
      // Those at risk may all have vanished beside the largest.
      total_[k] = std::max(sum, 1e-300);
    }
    return largest;
  }

  double used_ = 0;  // samples with a weight
  std::vector<std::size_t> order_;
  mutable std::vector<double> total_;  // scratch
};

}  // namespace

std::unique_ptr<LassoLikelihood> cox_lasso(const LassoProblem& problem) { return std::make_unique<CoxLasso>(problem); }

}  // namespace ispca
