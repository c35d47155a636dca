// The weighted least-squares problem with an l1 penalty that each Newton step of the lasso solves.
#include "lasso_quadratic.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {

namespace {

constexpr std::size_t kGramLimit = 1500;  // beyond this many features no Gram matrix is kept
constexpr int kMostCycles = 2000;
constexpr int kCyclesBeforeJump = 4;
// A column that the intercept and the curvature explain to this share cannot move anything: its part is rounding.
constexpr double kNegligible = 1e-12;

double soft(double value, double lambda) {
  return value > lambda ? value - lambda : value < -lambda ? value + lambda : 0.0;
}

}  // namespace

void QuadraticLasso::prepare(const double* residual, const double* curvature) {
  const auto& set = *set_;
  total_ = working_sum_ = 0;
  for (std::size_t i = 0; i < x_.rows; ++i) total_ += curvature[i], working_sum_ += residual[i];
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

double QuadraticLasso::solve(const std::vector<std::size_t>& set, double lambda, double tolerance,
                             const double* residual, const double* curvature, double* b, double* eta) {
  set_ = &set;
  lambda_ = lambda;
  tolerance_ = tolerance;
  prepare(residual, curvature);
  const double initial = working_sum_ / total_;
  b_.resize(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) b_[k] = b[set[k]];
  if (x_.is_dense() && set.size() <= kGramLimit)
    descend_gram(residual, curvature);
  else
    descend_naive(residual, curvature);
  // In terms of raw columns, d_eta = offset + sum_k d_k x_k / sd_k: the weighted mean of the columns drops out.
  double offset = initial, standardised = initial;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double change = b_[k] - b[set[k]];
    if (change == 0) continue;
    const double scale = standard_.inverse_sd[set[k]];
    offset -= change * first_[k] / total_;
    standardised -= change * (first_[k] / total_ - standard_.mean[set[k]] * scale);
    x_.add(set[k], change * scale, eta);
    b[set[k]] = b_[k];
  }
  for (std::size_t i = 0; i < x_.rows; ++i) eta[i] += offset;
  return standardised;
}

// One coordinate with the working residual kept up to date. The constant part of d_eta (intercept and centring)
// is implied: it is whatever makes the working residual sum to zero.
double QuadraticLasso::visit_naive(std::size_t k, const double* curvature) {
  if (diagonal_[k] <= 0) return 0;
  const std::size_t j = (*set_)[k];
  const double scale = standard_.inverse_sd[j];
  const double gradient = x_.dot(j, working_.data()) * scale - working_sum_ / total_ * first_[k];
  const double change = soft(diagonal_[k] * b_[k] + gradient, lambda_) / diagonal_[k] - b_[k];
  if (change == 0) return 0;
  x_.add_weighted(j, -change * scale, curvature, working_.data());
  working_sum_ -= change * first_[k];
  b_[k] += change;
  return diagonal_[k] * change * change;
}

void QuadraticLasso::descend_naive(const double* residual, const double* curvature) {
  working_.assign(residual, residual + x_.rows);
  for (int cycle = 0; cycle < kMostCycles;) {
    double largest = 0;
    for (std::size_t k = 0; k < b_.size(); ++k) largest = std::max(largest, visit_naive(k, curvature));
    ++cycle;
    if (largest <= tolerance_) return;
    for (; cycle < kMostCycles && largest > tolerance_; ++cycle) {
      largest = 0;
      for (std::size_t k = 0; k < b_.size(); ++k)
        if (b_[k] != 0) largest = std::max(largest, visit_naive(k, curvature));
    }
  }
}

// Row k of the Gram matrix of the standardised, curvature-centred columns, made when first needed.
const double* QuadraticLasso::gram_row(std::size_t k, const double* curvature) {
  const std::size_t size = set_->size();
  if (row_of_[k] < 0) {
    row_of_[k] = static_cast<std::ptrdiff_t>(gram_.size() / size);
    gram_.resize(gram_.size() + size);
    double* row = &gram_[gram_.size() - size];
    const double scale = standard_.inverse_sd[(*set_)[k]], mean = first_[k] / total_;
    centred_.resize(x_.rows);
    for (std::size_t i = 0; i < x_.rows; ++i) centred_[i] = -mean * curvature[i];
    x_.add_weighted((*set_)[k], scale, curvature, centred_.data());
    x_.dots(*set_, centred_.data(), row);
    for (std::size_t l = 0; l < size; ++l) row[l] *= standard_.inverse_sd[(*set_)[l]];
  }
  return &gram_[static_cast<std::size_t>(row_of_[k]) * size];
}

double QuadraticLasso::visit_gram(std::size_t k, const double* curvature) {
  if (diagonal_[k] <= 0) return 0;
  const double change = soft(diagonal_[k] * b_[k] + gradient_[k], lambda_) / diagonal_[k] - b_[k];
  if (change == 0) return 0;
  x_.kernels->lasso.axpy(b_.size(), -change, gram_row(k, curvature), gradient_.data());
  b_[k] += change;
  return diagonal_[k] * change * change;
}

void QuadraticLasso::descend_gram(const double* residual, const double* curvature) {
  const std::size_t size = b_.size();
  gradient_.resize(size);
  x_.dots(*set_, residual, gradient_.data());
  for (std::size_t k = 0; k < size; ++k)
    gradient_[k] = gradient_[k] * standard_.inverse_sd[(*set_)[k]] - working_sum_ / total_ * first_[k];
  row_of_.assign(size, -1);
  gram_.clear();
  gram_.reserve(size * std::min<std::size_t>(size, 64));
  for (int cycle = 0; cycle < kMostCycles;) {
    double largest = 0;
    for (std::size_t k = 0; k < size; ++k) largest = std::max(largest, visit_gram(k, curvature));
    ++cycle;
    if (largest <= tolerance_) return;
    for (int inner = 1; cycle < kMostCycles && largest > tolerance_; ++cycle, ++inner) {
      largest = 0;
      for (std::size_t k = 0; k < size; ++k)
        if (b_[k] != 0) largest = std::max(largest, visit_gram(k, curvature));
      if (largest > tolerance_ && inner % kCyclesBeforeJump == 0 && jump_to_support(curvature)) break;
    }
  }
}

// Goes to the minimum for the present signs, or as far towards it as they hold: descent slows down when the
// columns are correlated, a Cholesky factor does not. True if the minimum was reached.
bool QuadraticLasso::jump_to_support(const double* curvature) {
  support_.clear();
  for (std::size_t k = 0; k < b_.size(); ++k)
    if (b_[k] != 0) support_.push_back(k);
  const std::size_t size = support_.size(), stride = b_.size();
  if (size == 0) return false;
  factor_.resize(size * size);
  step_.resize(size);
  for (std::size_t k = 0; k < size; ++k) {
    const double* row = gram_row(support_[k], curvature);
    for (std::size_t l = 0; l < size; ++l) factor_[k * size + l] = row[support_[l]];
    factor_[k * size + k] = diagonal_[support_[k]] * (1 + 1e-10);
    step_[k] = gradient_[support_[k]] - std::copysign(lambda_, b_[support_[k]]);
  }
  if (!x_.kernels->cholesky(size, factor_.data())) return false;
  x_.kernels->solve_lower(size, factor_.data(), step_.data());
  x_.kernels->solve_upper(size, factor_.data(), step_.data());
  double share = 1;
  std::size_t stopped = size;
  for (std::size_t k = 0; k < size; ++k) {
    const double from = b_[support_[k]], to = from + step_[k];
    if (!std::isfinite(to)) return false;
    if (from * to < 0 && -from / step_[k] < share) share = -from / step_[k], stopped = k;
  }
  for (std::size_t k = 0; k < size; ++k) {
    const double change = k == stopped ? -b_[support_[k]] : share * step_[k];
    x_.kernels->lasso.axpy(stride, -change, gram_row(support_[k], curvature), gradient_.data());
    b_[support_[k]] = k == stopped ? 0.0 : b_[support_[k]] + change;
  }
  return share == 1;
}

}  // namespace ispca
