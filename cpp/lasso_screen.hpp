// Which features may be active: the gradient of each feature as last seen, and how far it can have moved since.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "lasso_columns.hpp"

namespace ispca {

// A standardized column has norm one under the weights, so by Cauchy-Schwarz its gradient x . residual changes by
// at most the weighted norm of the change of the residual. A feature whose last gradient plus that change stays
// below its penalty satisfies its optimality condition and need not be looked at: most features, most of the time.
class Screen {
 public:
  Screen(const Columns& x, const Standardization& standard, const std::vector<double>& factors, const double* weight)
      : x_(x), standard_(standard), factors_(factors), weight_(weight), gradient_(x.count), seen_(x.count) {
    const double affordable = x.entries() / (8.0 * static_cast<double>(std::max<std::size_t>(x.rows, 1)));
    most_ = static_cast<std::size_t>(std::min(std::max(affordable, 2.0), 60.0));
  }

  double gradient(std::size_t j) const { return gradient_[j]; }
  const double* gradients() const { return gradient_.data(); }

  // Brings the gradients of all features that may exceed `limit` times their factor up to date, and those in `always`.
  void refresh(const double* residual, double limit, const char* always) {
    if (snapshots_.size() >= most_) {
      snapshots_.clear();
      std::fill(seen_.begin(), seen_.end(), 0U);
    }
    const bool all = snapshots_.empty();
    measure(residual);
    const std::size_t now = snapshots_.size() - 1;
    collect(all, limit, always);
    products_.resize(stale_.size());
    x_.dots(stale_.data(), stale_.size(), residual, products_.data());
    double sum = 0;
    for (std::size_t i = 0; i < x_.rows; ++i) sum += residual[i];
    for (std::size_t k = 0; k < stale_.size(); ++k) {
      const std::size_t j = stale_[k];
      gradient_[j] = (products_[k] - standard_.mean[j] * sum) * standard_.inverse_sd[j];
      seen_[j] = static_cast<unsigned>(now);
    }
  }

  // Features whose gradients the last refresh computed.
  const std::vector<std::size_t>& fresh() const { return stale_; }

 private:
  // Lists the features to look at, without branches: this loop runs over all features in every round.
  void collect(bool all, double limit, const char* always) {
    const double *inverse_sd = standard_.inverse_sd.data(), *gradient = gradient_.data(), *moved = moved_.data(),
                 *factors = factors_.data();
    const unsigned* seen = seen_.data();
    stale_.resize(x_.count);
    std::size_t* stale = stale_.data();
    std::size_t size = 0;
    for (std::size_t j = 0; j < x_.count; ++j) {
      const bool moves = std::fabs(gradient[j]) + moved[seen[j]] >= limit * factors[j];
      stale[size] = j;
      size += static_cast<std::size_t>((inverse_sd[j] != 0) & (all | (always[j] != 0) | moves));
    }
    stale_.resize(size);
  }

  // Keeps the residual and measures how far it has moved from each kept one.
  void measure(const double* residual) {
    snapshots_.emplace_back(residual, residual + x_.rows);
    moved_.assign(snapshots_.size(), 0.0);
    for (std::size_t s = 0; s + 1 < snapshots_.size(); ++s) {
      double sum = 0;
      for (std::size_t i = 0; i < x_.rows; ++i) {
        const double change = residual[i] - snapshots_[s][i];
        if (weight_[i] > 0) sum += change * change / weight_[i];
      }
      moved_[s] = std::sqrt(sum) * (1 + 1e-9);
    }
  }

  const Columns& x_;
  const Standardization& standard_;
  const std::vector<double>& factors_;  // of the penalties
  const double* weight_;
  std::size_t most_;
  std::vector<double> gradient_, moved_, products_;
  std::vector<unsigned> seen_;
  std::vector<std::vector<double>> snapshots_;
  std::vector<std::size_t> stale_;
};

}  // namespace ispca
