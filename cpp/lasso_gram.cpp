// The Newton model of all outputs together, with the rows of its Hessian made when first needed and then kept.
#include "lasso_gram.hpp"

#include <algorithm>
#include <cmath>

#include "lasso_naive.hpp"

namespace ispca {

namespace {

constexpr int kMostCycles = 2000;
constexpr int kCyclesBeforeJump = 3;
constexpr int kCyclesPerPoll = 8;
constexpr double kNegligible = 1e-12;

// Inverse of a small symmetric matrix by Gauss-Jordan; the matrices here are diagonally dominant or positive.
std::vector<double> inverse(std::vector<double> a, std::size_t size) {
  std::vector<double> out(size * size);
  for (std::size_t k = 0; k < size; ++k) out[k * size + k] = 1;
  for (std::size_t k = 0; k < size; ++k) {
    const double pivot = a[k * size + k] > 1e-300 ? a[k * size + k] : 1e-300;
    for (std::size_t l = 0; l < size; ++l) a[k * size + l] /= pivot, out[k * size + l] /= pivot;
    for (std::size_t i = 0; i < size; ++i) {
      const double factor = a[i * size + k];
      if (i == k || factor == 0) continue;
      for (std::size_t l = 0; l < size; ++l) {
        a[i * size + l] -= factor * a[k * size + l];
        out[i * size + l] -= factor * out[k * size + l];
      }
    }
  }
  return out;
}

}  // namespace

void GramDescent::freeze() {
  const std::size_t n = x_.rows, C = outputs_;
  slots_.clear();
  rows_.clear();
  memory_ = 0;
  for (Slots& slots : by_output_) slots.feature.clear(), slots.slot.clear();
  std::vector<double> hessian(C * C), column(C * n);
  frozen_ = likelihood_.frozen();
  for (std::size_t c = 0; c < C; ++c) {
    weigh(c, nullptr, 1, column.data());
    for (std::size_t d = 0; d < C; ++d)
      for (std::size_t i = 0; i < n; ++i) hessian[c * C + d] += column[d * n + i];
    if (C == 1) break;
    // A common shift of the intercepts changes nothing: this pins it, and is orthogonal to all else.
    for (std::size_t d = 0; d < C; ++d) hessian[c * C + d] += 1.0 / static_cast<double>(C * C);
    hessian[c * C + c] += 1e-10;
  }
  inverse_ = inverse(hessian, C);
}

void GramDescent::add(std::size_t coordinate) {
  Slots& slots = by_output_[coordinate / x_.count];
  slots.feature.push_back(coordinate % x_.count);
  slots.slot.push_back(slots_.size());
  slots_.push_back(coordinate);
  rows_.emplace_back();
}

void GramDescent::start_row(std::size_t k) {
  const std::size_t n = x_.rows, C = outputs_, output = slots_[k] / x_.count, j = slots_[k] % x_.count;
  Row& row = rows_[k];
  row.weighted.resize(C * n);
  row.shift.assign(C, 0.0);
  memory_ += static_cast<double>(C * n);
  if (x_.is_dense()) {
    weigh(output, x_.dense + j * n, standard_.inverse_sd[j], row.weighted.data());
  } else {
    std::vector<double> column(n);
    x_.add(j, 1, column.data());
    weigh(output, column.data(), standard_.inverse_sd[j], row.weighted.data());
  }
  std::vector<double> sums(C), intercept(C * n);
  for (std::size_t d = 0; d < C; ++d)
    for (std::size_t i = 0; i < n; ++i) sums[d] += row.weighted[d * n + i];
  for (std::size_t d = 0; d < C; ++d) {
    for (std::size_t e = 0; e < C; ++e) row.shift[d] += inverse_[d * C + e] * sums[e];
    weigh(d, nullptr, -row.shift[d], intercept.data());
    for (std::size_t i = 0; i < C * n; ++i) row.weighted[i] += intercept[i];
  }
}

const GramDescent::Row& GramDescent::row(std::size_t k) {
  Row& row = rows_[k];
  if (row.weighted.empty()) start_row(k);
  const std::size_t known = row.values.size();
  if (known == slots_.size()) return row;
  poll_();
  memory_ += static_cast<double>(slots_.size() - known);
  row.values.resize(slots_.size());
  for (std::size_t c = 0; c < outputs_; ++c) {
    const Slots& slots = by_output_[c];
    const std::size_t from =
        static_cast<std::size_t>(std::lower_bound(slots.slot.begin(), slots.slot.end(), known) - slots.slot.begin());
    const std::size_t count = slots.slot.size() - from;
    products_.resize(count);
    x_.dots(slots.feature.data() + from, count, &row.weighted[c * x_.rows], products_.data());
    // The weighted column sums to zero, so the centring of the other columns drops out.
    for (std::size_t l = 0; l < count; ++l)
      row.values[slots.slot[from + l]] = products_[l] * standard_.inverse_sd[slots.feature[from + l]];
  }
  return row;
}

void GramDescent::begin(double lambda, const double* b) {
  const std::size_t n = x_.rows, C = outputs_;
  residual_.resize(C * n);
  std::vector<double> sums(C), intercept(C * n);
  for (std::size_t c = 0; c < C; ++c)
    for (std::size_t i = 0; i < n; ++i) sums[c] += residual_[c * n + i] = likelihood_.residual(c)[i];
  start_.assign(C, 0.0);
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t d = 0; d < C; ++d) start_[c] += inverse_[c * C + d] * sums[d];
    weigh(c, nullptr, -start_[c], intercept.data());
    for (std::size_t i = 0; i < C * n; ++i) residual_[i] += intercept[i];
  }
  b_.resize(slots_.size());
  gradient_.resize(slots_.size());
  for (std::size_t c = 0; c < C; ++c) {
    const Slots& slots = by_output_[c];
    products_.resize(slots.slot.size());
    x_.dots(slots.feature.data(), slots.feature.size(), &residual_[c * n], products_.data());
    for (std::size_t l = 0; l < slots.slot.size(); ++l)
      gradient_[slots.slot[l]] = products_[l] * standard_.inverse_sd[slots.feature[l]];
  }
  penalties_.resize(slots_.size());
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    b_[k] = b[slots_[k]];
    penalties_[k] = lambda * factors_[slots_[k] % x_.count];
  }
  before_ = b_;
}

void GramDescent::move(std::size_t k, double change) {
  x_.kernels->lasso.axpy(slots_.size(), -change, row(k).values.data(), gradient_.data());
}

double GramDescent::visit(std::size_t k) {
  if (b_[k] == 0 && std::fabs(gradient_[k]) <= penalties_[k]) return 0;
  const double diagonal = row(k).values[k];
  if (!(diagonal > kNegligible)) return 0;
  const double change = soft_threshold(diagonal * b_[k] + gradient_[k], penalties_[k]) / diagonal - b_[k];
  if (change == 0) return 0;
  move(k, change);
  b_[k] += change;
  return diagonal * change * change;
}

void GramDescent::descend(double tolerance) {
  for (int cycle = 0; cycle < kMostCycles;) {
    double largest = 0;
    if (cycle % kCyclesPerPoll == 0) poll_();
    for (std::size_t k = 0; k < b_.size(); ++k) largest = std::max(largest, visit(k));
    ++cycle;
    if (largest <= tolerance) return;
    for (int inner = 1; cycle < kMostCycles && largest > tolerance; ++cycle, ++inner) {
      largest = 0;
      if (cycle % kCyclesPerPoll == 0) poll_();
      for (std::size_t k = 0; k < b_.size(); ++k)
        if (b_[k] != 0) largest = std::max(largest, visit(k));
      if (largest > tolerance && inner % kCyclesBeforeJump == 0 && jump()) break;
    }
  }
}

// Goes to the minimum for the present signs, or as far towards it as they hold: descent slows down when the
// columns are correlated, a Cholesky factor does not. True if the minimum was reached.
bool GramDescent::jump() {
  support_.clear();
  for (std::size_t k = 0; k < b_.size(); ++k)
    if (b_[k] != 0) support_.push_back(k);
  const std::size_t size = support_.size();
  if (size == 0) return false;
  factor_.resize(size * size);
  step_.resize(size);
  for (std::size_t k = 0; k < size; ++k) {
    const std::vector<double>& values = row(support_[k]).values;
    for (std::size_t l = 0; l < size; ++l) factor_[k * size + l] = values[support_[l]];
    factor_[k * size + k] *= 1 + 1e-10;
    step_[k] = gradient_[support_[k]] - std::copysign(penalties_[support_[k]], b_[support_[k]]);
  }
  if (!cholesky(*x_.kernels, size, factor_.data(), poll_)) return false;
  x_.kernels->solve_lower(size, factor_.data(), step_.data());
  x_.kernels->solve_upper(size, factor_.data(), step_.data());
  double share = 1;
  std::size_t stopped = size;
  for (std::size_t k = 0; k < size; ++k) {
    const double from = b_[support_[k]], to = from + step_[k];
    if (!std::isfinite(to)) return false;
    const bool kink = penalties_[support_[k]] > 0;
    if (kink && from * to < 0 && -from / step_[k] < share) share = -from / step_[k], stopped = k;
  }
  for (std::size_t k = 0; k < size; ++k) {
    const double change = k == stopped ? -b_[support_[k]] : share * step_[k];
    move(support_[k], change);
    b_[support_[k]] = k == stopped ? 0.0 : b_[support_[k]] + change;
  }
  return share == 1;
}

void GramDescent::finish(double* b, double* intercepts) {
  std::vector<double> offset = start_;
  for (std::size_t c = 0; c < outputs_; ++c) intercepts[c] += start_[c];
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const double change = b_[k] - before_[k];
    if (change == 0) continue;
    const std::size_t output = slots_[k] / x_.count, j = slots_[k] % x_.count;
    const double scale = standard_.inverse_sd[j], mean = standard_.mean[j] * scale;
    const std::vector<double>& shift = row(k).shift;
    for (std::size_t c = 0; c < outputs_; ++c) {
      offset[c] -= change * shift[c];
      intercepts[c] -= change * shift[c];
    }
    intercepts[output] += change * mean;  // that of standardized columns, though the shift is for raw ones
    x_.add(j, change * scale, likelihood_.eta(output));
    b[slots_[k]] = b_[k];
  }
  for (std::size_t c = 0; c < outputs_; ++c)
    for (std::size_t i = 0; i < x_.rows; ++i) likelihood_.eta(c)[i] += offset[c];
}

void GramDescent::solve(double lambda, double tolerance, double* b, double* intercepts) {
  begin(lambda, b);
  descend(tolerance);
  finish(b, intercepts);
}

}  // namespace ispca
