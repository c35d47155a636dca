// Coordinate descent on the weighted least-squares problem of one output, with a running residual.
#include "lasso_naive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ispca {

namespace {

constexpr int kMostCycles = 2000;
constexpr std::size_t kIterates = 5;  // combined by the acceleration
constexpr std::size_t kVisitsPerPoll = 256;  // of coordinates
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
    if (k % kVisitsPerPoll == 0) poll_();
    double sums[2];
    x_.moments(set[k], curvature, sums);
    const double scale = standard_.inverse_sd[set[k]];
    first_[k] = sums[0] * scale;
    diagonal_[k] = sums[1] * scale * scale - first_[k] * first_[k] / total_;
    if (diagonal_[k] < kNegligible * sums[1] * scale * scale) diagonal_[k] = 0;
  }
}

double NaiveDescent::solve(const std::vector<std::size_t>& set, double lambda, double tolerance, const double* residual,
                           const double* curvature, double* b, double* eta) {
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
  double offset = initial_, standardized = initial_;
  for (std::size_t k = 0; k < b_.size(); ++k) {
    const std::size_t j = (*set_)[k];
    const double change = b_[k] - b[j];
    if (change == 0) continue;
    const double scale = standard_.inverse_sd[j];
    offset -= change * first_[k] / total_;
    standardized -= change * (first_[k] / total_ - standard_.mean[j] * scale);
    x_.add(j, change * scale, eta);
    b[j] = b_[k];
  }
  for (std::size_t i = 0; i < x_.rows; ++i) eta[i] += offset;
  return standardized;
}

// The constant part of d_eta (intercept and centring) is implied: it makes the working residual sum to zero.
double NaiveDescent::visit(std::size_t k, const double* curvature) {
  if (++visits_ % kVisitsPerPoll == 0) poll_();
  if (diagonal_[k] <= 0) return 0;
  const std::size_t j = (*set_)[k];
  const double scale = standard_.inverse_sd[j];
  const double gradient = x_.dot(j, working_.data()) * scale - working_sum_ / total_ * first_[k];
  const double change = soft_threshold(diagonal_[k] * b_[k] + gradient, lambda_ * factors_[j]) / diagonal_[k] - b_[k];
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
    keep(0);
    for (std::size_t inner = 1; cycle < kMostCycles && largest > tolerance; ++cycle) {
      largest = 0;
      for (std::size_t k = 0; k < b_.size(); ++k)
        if (b_[k] != 0) largest = std::max(largest, visit(k, curvature));
      keep(inner);
      if (++inner <= kIterates) continue;
      if (largest > tolerance) accelerate(curvature);
      keep(0);
      inner = 1;
    }
  }
}

void NaiveDescent::keep(std::size_t position) {
  kept_b_.resize(kIterates + 1);
  kept_working_.resize(kIterates + 1);
  kept_sum_.resize(kIterates + 1);
  kept_b_[position] = b_;
  kept_working_[position] = working_;
  kept_sum_[position] = working_sum_;
}

// Up to a constant; the constant part of d_eta is profiled out.
double NaiveDescent::objective(const std::vector<double>& b, const std::vector<double>& working, double sum,
                               const double* curvature) const {
  double squares = -sum * sum / total_, penalty = 0;
  for (std::size_t i = 0; i < working.size(); ++i)
    if (curvature[i] > 0) squares += working[i] * working[i] / curvature[i];
  for (std::size_t k = 0; k < b.size(); ++k) penalty += factors_[(*set_)[k]] * std::fabs(b[k]);
  return 0.5 * squares + lambda_ * penalty;
}

// Anderson acceleration (Bertrand and Massias, 2021): the affine combination of the last iterates whose steps
// nearly cancel. The working residual is linear in b, so it is combined likewise. Taken if it lowers the objective.
void NaiveDescent::accelerate(const double* curvature) {
  constexpr std::size_t K = kIterates;
  std::vector<double> gram(K * K);
  double trace = 0, total = 0;
  for (std::size_t p = 0; p < K; ++p)
    for (std::size_t q = 0; q <= p; ++q) {
      double sum = 0;
      for (std::size_t k = 0; k < b_.size(); ++k)
        sum += diagonal_[k] * (kept_b_[p + 1][k] - kept_b_[p][k]) * (kept_b_[q + 1][k] - kept_b_[q][k]);
      gram[p * K + q] = gram[q * K + p] = sum;
      if (p == q) trace += sum;
    }
  std::vector<double> share(K, 1.0);
  for (std::size_t p = 0; p < K; ++p) gram[p * K + p] += 1e-12 * trace;
  if (!cholesky(*x_.kernels, K, gram.data(), poll_)) return;
  x_.kernels->solve_lower(K, gram.data(), share.data());
  x_.kernels->solve_upper(K, gram.data(), share.data());
  for (double value : share) total += value;
  std::vector<double> b(b_.size()), working(working_.size());
  double sum = 0;
  for (std::size_t p = 0; p < K; ++p) {
    const double weight = share[p] / total;
    for (std::size_t k = 0; k < b.size(); ++k) b[k] += weight * kept_b_[p + 1][k];
    for (std::size_t i = 0; i < working.size(); ++i) working[i] += weight * kept_working_[p + 1][i];
    sum += weight * kept_sum_[p + 1];
  }
  if (!(objective(b, working, sum, curvature) < objective(b_, working_, working_sum_, curvature))) return;
  b_ = std::move(b);
  working_ = std::move(working);
  working_sum_ = sum;
}

}  // namespace ispca
