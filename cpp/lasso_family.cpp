// The three likelihoods of the lasso path: their residuals, curvatures and deviance.
#include "lasso_family.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ispca {

namespace {

// Keeps the quadratic approximation positive definite where a class is all but certain.
constexpr double kLeastVariance = 1e-9;
constexpr double kLeastProbability = 1e-300;

double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

}  // namespace

Family parse_family(const std::string& name) {
  if (name == "gaussian") return Family::gaussian;
  if (name == "binomial") return Family::binomial;
  if (name == "multinomial") return Family::multinomial;
  throw std::invalid_argument("family is gaussian, binomial or multinomial");
}

LassoLikelihood::LassoLikelihood(Family family, std::size_t outputs, std::size_t rows, const double* y,
                                 const double* weight)
    : family_(family), outputs_(outputs), rows_(rows), y_(y), weight_(weight), eta_(outputs * rows),
      residual_(outputs * rows), curvature_(outputs * rows), shift_(rows), null_(outputs) {
  if (family == Family::multinomial) exponential_.resize(outputs * rows);
  double mean_log = 0;
  for (std::size_t c = 0; c < outputs; ++c) {
    double mean = 0;
    for (std::size_t i = 0; i < rows; ++i) mean += weight[i] * y[c * rows + i];
    if (family == Family::gaussian) {
      null_[c] = mean;
      continue;
    }
    // A class that is missing among these rows gets a probability of one in a hundred million, not of zero.
    mean = std::min(std::max(mean, 1e-8), 1 - 1e-8);
    null_[c] = family == Family::binomial ? std::log(mean / (1 - mean)) : std::log(mean);
    mean_log += null_[c] / static_cast<double>(outputs);
  }
  for (std::size_t c = 0; c < outputs; ++c) {
    if (family == Family::multinomial) null_[c] -= mean_log;
    std::fill_n(eta(c), rows, null_[c]);
  }
  update_all();
  null_loss_ = loss();
}

void LassoLikelihood::update(std::size_t c) {
  const double *y = y_ + c * rows_, *e = eta(c);
  double *r = &residual_[c * rows_], *v = &curvature_[c * rows_];
  if (family_ == Family::gaussian) {
    for (std::size_t i = 0; i < rows_; ++i) r[i] = weight_[i] * (y[i] - e[i]), v[i] = weight_[i];
    return;
  }
  if (family_ == Family::multinomial) {
    for (std::size_t i = 0; i < rows_; ++i) exponential_[c * rows_ + i] = std::exp(std::min(e[i] - shift_[i], 600.0));
    fill_softmax(c);
    return;
  }
  for (std::size_t i = 0; i < rows_; ++i) {
    const double tail = std::exp(-std::fabs(e[i])), p = (e[i] > 0 ? 1.0 : tail) / (1 + tail);
    r[i] = weight_[i] * (y[i] - p);
    v[i] = weight_[i] * std::max(tail / ((1 + tail) * (1 + tail)), kLeastVariance);
  }
}

void LassoLikelihood::fill_softmax(std::size_t c) {
  double *r = &residual_[c * rows_], *v = &curvature_[c * rows_];
  for (std::size_t i = 0; i < rows_; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < outputs_; ++k) sum += exponential_[k * rows_ + i];
    const double p = exponential_[c * rows_ + i] / std::max(sum, kLeastProbability);
    r[i] = weight_[i] * (y_[c * rows_ + i] - p);
    v[i] = weight_[i] * std::max(p * (1 - p), kLeastVariance);
  }
}

void LassoLikelihood::update_all() {
  if (family_ != Family::multinomial) return update(0);
  for (std::size_t i = 0; i < rows_; ++i) {
    shift_[i] = eta_[i];
    for (std::size_t c = 1; c < outputs_; ++c) shift_[i] = std::max(shift_[i], eta_[c * rows_ + i]);
  }
  for (std::size_t c = 0; c < outputs_; ++c)
    for (std::size_t i = 0; i < rows_; ++i) exponential_[c * rows_ + i] = std::exp(eta_[c * rows_ + i] - shift_[i]);
  for (std::size_t c = 0; c < outputs_; ++c) fill_softmax(c);
}

std::vector<double> LassoLikelihood::means() const {
  std::vector<double> p = exponential_;
  for (std::size_t i = 0; i < rows_; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < outputs_; ++c) sum += p[c * rows_ + i];
    for (std::size_t c = 0; c < outputs_; ++c) p[c * rows_ + i] /= std::max(sum, kLeastProbability);
  }
  return p;
}

double LassoLikelihood::loss() {
  double sum = 0;
  for (std::size_t i = 0; i < rows_; ++i) {
    if (weight_[i] == 0) continue;
    if (family_ == Family::gaussian) {
      sum += 0.5 * weight_[i] * (y_[i] - eta_[i]) * (y_[i] - eta_[i]);
    } else if (family_ == Family::binomial) {
      sum += weight_[i] * (log1p_exp(eta_[i]) - y_[i] * eta_[i]);
    } else {
      double top = eta_[i], total = 0, linear = 0;
      for (std::size_t c = 1; c < outputs_; ++c) top = std::max(top, eta_[c * rows_ + i]);
      for (std::size_t c = 0; c < outputs_; ++c) {
        total += std::exp(eta_[c * rows_ + i] - top);
        linear += y_[c * rows_ + i] * eta_[c * rows_ + i];
      }
      sum += weight_[i] * (top + std::log(total) - linear);
    }
  }
  return sum;
}

}  // namespace ispca
