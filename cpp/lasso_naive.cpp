// Coordinate descent on the weighted least-squares problem of one output, with a running residual.
#include "lasso_naive.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {

namespace {

constexpr int kMostCycles = 2000;
// A column that the intercept explains to all but this share cannot move anything: the rest is rounding.
constexpr double kNegligible = 1e-12;

}  // namespace

void NaiveDescent::prepare(const double* residual, const double* curvature) {
  const auto& set = *set_;
  working_.assign(residual, residual + x_.rows);
  total_ = working_sum_ = 0;
  for (std::size_t i = 0; i < x_.rows; ++i) total_ += curvature[i], working_sum_ += residual[i];
  initial_ = working_sum_ / total_;
  first_.resize(set.size());
  diagonal_.resize(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) {
    double sums[2];
    x_.moments(set[k], curvature, sums);
    const double scale = standard_.inverse_sd[set[k]];
    first_[k] = sums[0] * scale;
    diagonal_[k] = sums[1] * scale * scale - first_[k] * first_[k] / total_;
    if (diagonal_[k] < kNegligible * sums[1] * scale * scale) diagonal_[k] = 0;
  }
}

double NaiveDescent::solve(const std::vector<std::size_t>& set, double lambda, double tolerance,
                           const double* residual, const double* curvature, double* b, double* eta) {
  set_ = &set;
  lambda_ = lambda;
  prepare(residual, curvature);
  b_.resize(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) b_[k] = b[set[k]];
  descend(tolerance, curvature);
  return finish(b, eta);
}

// In terms of raw columns, d_eta = offset + sum_k d_k x_k / sd_k: the mean of the columns drops out.
double NaiveDescent::finish(double* b, double* eta) const {
  double offset = initial_, standardised = initial_;
  for (std::size_t k = 0; k < b_.size(); ++k) {
    const std::size_t j = (*set_)[k];
    const double change = b_[k] - b[j];
    if (change == 0) continue;
    const double scale = standard_.inverse_sd[j];
    offset -= change * first_[k] / total_;
    standardised -= change * (first_[k] / total_ - standard_.mean[j] * scale);
    x_.add(j, change * scale, eta);
    b[j] = b_[k];
  }
  for (std::size_t i = 0; i < x_.rows; ++i) eta[i] += offset;
  return standardised;
}

// The constant part of d_eta (intercept and centring) is implied: it makes the working residual sum to zero.
double NaiveDescent::visit(std::size_t k, const double* curvature) {
  if (diagonal_[k] <= 0) return 0;
  const std::size_t j = (*set_)[k];
  const double scale = standard_.inverse_sd[j];
  const double gradient = x_.dot(j, working_.data()) * scale - working_sum_ / total_ * first_[k];
  const double change = soft_threshold(diagonal_[k] * b_[k] + gradient, lambda_) / diagonal_[k] - b_[k];
  if (change == 0) return 0;
  x_.add_weighted(j, -change * scale, curvature, working_.data());
  working_sum_ -= change * first_[k];
  b_[k] += change;
  return diagonal_[k] * change * change;
}

void NaiveDescent::descend(double tolerance, const double* curvature) {
  for (int cycle = 0; cycle < kMostCycles;) {
    double largest = 0;
    for (std::size_t k = 0; k < b_.size(); ++k) largest = std::max(largest, visit(k, curvature));
    ++cycle;
    if (largest <= tolerance) return;
    for (; cycle < kMostCycles && largest > tolerance; ++cycle) {
      largest = 0;
      for (std::size_t k = 0; k < b_.size(); ++k)
        if (b_[k] != 0) largest = std::max(largest, visit(k, curvature));
    }
  }
}

}  // namespace ispca
