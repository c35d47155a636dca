// One fit of the lasso: Newton steps on a set of features that grows until every feature is optimal.
#include "lasso_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ispca {

namespace {

constexpr int kMostRounds = 100;            // of growing the set
constexpr int kMostNewtonSteps = 300;       // per round
constexpr int kMostHalvings = 20;           // of a Newton step
constexpr double kSmallSteps = 4e-7;  // product of the last step and the drift of the curvature: the error left
constexpr double kSmallSoftmaxStep = 1e-4;  // of a predictor; classes in turn converge linearly only
constexpr double kSmallBoundStep = 1e-5;    // the same for curvatures that are upper bounds
constexpr double kFarDrift = 0.5;  // of a predictor, after which the curvature is taken anew
constexpr double kOptimal = 1e-6;  // relative excess of a gradient over lambda that is no violation
constexpr double kGramTolerance = 1e-1;  // relative to the naive one: the last digits cost one factorization
constexpr std::size_t kGramFeatures = 2000;
constexpr std::size_t kGramSparse = 150;  // the same for sparse columns and one output
constexpr double kGramNumbers = 3e7;  // held by the rows of the Hessian

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

LassoFit::LassoFit(const LassoProblem& problem, double tolerance, const Poll& poll)
    : problem_(problem), family_(*problem.family), poll_(poll), rows_(problem.x.rows), count_(problem.x.count),
      outputs_(problem.outputs), standard_(problem.x, problem.weight, poll),
      factors_(problem.penalty_factors ? std::vector<double>(problem.penalty_factors, problem.penalty_factors + count_)
                                       : std::vector<double>(count_, 1.0)),
      likelihood_(family_.lasso_likelihood(problem)), naive_(problem.x, standard_, factors_, poll),
      gram_(problem.x, standard_, factors_, *likelihood_, poll), b_(problem.outputs * problem.x.count),
      b0_(likelihood_->intercepts()), member_(problem.outputs * problem.x.count) {
  tolerance_ = tolerance * std::max(likelihood_->null_loss(), 1e-300);
  screens_.reserve(outputs_);
  for (std::size_t c = 0; c < outputs_; ++c) {
    poll();
    screens_.emplace_back(problem.x, standard_, factors_, problem.weight);
    screens_[c].refresh(likelihood_->residual(c), 0, &member_[c * count_]);
  }
  fit_unpenalized();
}

void LassoFit::fit_unpenalized() {
  for (std::size_t k = 0; k < b_.size(); ++k)
    if (factor(k) == 0 && !constant(k)) join(k);
  if (set_.empty()) return;
  newton(0);
  for (std::size_t c = 0; c < outputs_; ++c) screens_[c].refresh(likelihood_->residual(c), 0, &member_[c * count_]);
}

double LassoFit::gradient(std::size_t coordinate) const {
  return screens_[coordinate / count_].gradient(coordinate % count_);
}

double LassoFit::largest_penalty() const {
  double largest = 0;
  for (std::size_t k = 0; k < b_.size(); ++k)
    if (factor(k) > 0) largest = std::max(largest, std::fabs(gradient(k)) / factor(k));
  return largest;
}

// Sparse columns make a cycle of descent cheaper than their part of a Hessian, unless outputs or penalties share it.
bool LassoFit::use_gram() const {
  return set_.size() <= kGramFeatures && gram_.memory() < kGramNumbers &&
         (problem_.x.is_dense() || family_.quadratic || family_.per_class || !family_.separate ||
          set_.size() <= kGramSparse);
}

void LassoFit::join(std::size_t coordinate) {
  member_[coordinate] = 1;
  set_.push_back(coordinate);
  if (!frozen_eta_.empty()) gram_.add(coordinate);
}

void LassoFit::solve(double lambda, double previous) {
  // The sequential strong rule, with the gradients as last seen; what it leaves out is checked below.
  threshold_ = 2 * lambda - previous;
  extrapolate(lambda, previous);
  if (frozen_eta_.empty()) choose_set(threshold_);
  for (std::size_t c = 0; c < outputs_; ++c) {
    // No division per coordinate: this loop runs over all features at every penalty.
    const double* gradients = screens_[c].gradients();
    for (std::size_t j = 0; j < count_; ++j)
      if (std::fabs(gradients[j]) >= threshold_ * factors_[j] && !member_[c * count_ + j] && !constant(j))
        join(c * count_ + j);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    newton(lambda);
    if (!grow(lambda)) break;
  }
}

// Solutions are nearly linear in lambda from one penalty to the next: goes on from the last two of them. A
// coefficient that would change its sign stops at zero.
void LassoFit::extrapolate(double lambda, double previous) {
  const double share = last_lambda_ > previous ? std::min((previous - lambda) / (last_lambda_ - previous), 1.0) : 0.0;
  last_lambda_ = previous;
  last_eta_.resize(outputs_ * rows_);
  last_b_.resize(b_.size());
  last_b0_.resize(outputs_);
  for (std::size_t i = 0; i < last_eta_.size(); ++i) {
    const double now = likelihood_->eta(0)[i];
    likelihood_->eta(0)[i] += share * (now - last_eta_[i]);
    last_eta_[i] = now;
  }
  for (std::size_t c = 0; c < outputs_; ++c) {
    const double now = b0_[c];
    b0_[c] += share * (now - last_b0_[c]);
    last_b0_[c] = now;
  }
  const auto go_on = [&](std::size_t k) {
    const double now = b_[k], next = now + share * (now - last_b_[k]);
    const std::size_t j = k % count_;
    last_b_[k] = now;
    b_[k] = now * next > 0 ? next : 0.0;
    if (b_[k] == next) return;
    double* eta = likelihood_->eta(k / count_);
    const double change = (b_[k] - next) * standard_.inverse_sd[j];
    problem_.x.add(j, change, eta);
    for (std::size_t i = 0; i < rows_; ++i) eta[i] -= change * standard_.mean[j];
  };
  for (std::size_t k : last_set_)
    if (!member_[k]) go_on(k);  // it has left the set, so it is zero
  for (std::size_t k : set_) go_on(k);
  last_set_ = set_;
  likelihood_->update_all();
}

void LassoFit::choose_set(double threshold) {
  std::size_t kept = 0;
  for (std::size_t k : set_) {
    if (b_[k] != 0 || std::fabs(gradient(k)) >= threshold * factor(k)) set_[kept++] = k;
    else member_[k] = 0;
  }
  set_.resize(kept);
}

void LassoFit::freeze() {
  frozen_eta_.clear();
  choose_set(threshold_);
  gram_.freeze();
  frozen_eta_.assign(likelihood_->eta(0), likelihood_->eta(0) + outputs_ * rows_);
  for (std::size_t k : set_) gram_.add(k);
}

void LassoFit::newton(double lambda) {
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    poll_();
    const bool gram = use_gram() || (!frozen_eta_.empty() && gram_.memory() >= kGramNumbers);
    const double undone = gram ? gram_step(lambda) : naive_step(lambda);
    likelihood_->update_all();
    if (family_.per_class) center();
    if (family_.quadratic || undone < kSmallSteps) return;
  }
}

// Returns an estimate of the error that is left: the curvature was wrong by about the drift, relatively.
double LassoFit::gram_step(double lambda) {
  if (frozen_eta_.empty() || gram_.memory() >= kGramNumbers ||
      (!family_.quadratic && largest_change(frozen_eta_) > kFarDrift))
    freeze();
  remember();
  gram_.solve(lambda, kGramTolerance * tolerance_, b_.data(), b0_.data());
  double step = largest_change(old_eta_);
  if (!family_.quadratic && !(step < 1)) step = shorten(lambda);
  return step * largest_change(frozen_eta_);
}

double LassoFit::naive_step(double lambda) {
  frozen_eta_.clear();
  remember();
  std::vector<std::size_t> features;
  for (std::size_t c = 0; c < outputs_; ++c) {
    features.clear();
    for (std::size_t k : set_)
      if (k / count_ == c) features.push_back(k % count_);
    b0_[c] += naive_.solve(features, lambda, tolerance_, likelihood_->residual(c), likelihood_->curvature(c),
                           &b_[c * count_], likelihood_->eta(c));
    if (outputs_ > 1) likelihood_->update(c);
  }
  double step = largest_change(old_eta_);
  if (!family_.quadratic && !(step < 1)) step = shorten(lambda);
  if (!family_.separate) return step * kSmallSteps / kSmallBoundStep;
  return outputs_ == 1 ? step * step : step * kSmallSteps / kSmallSoftmaxStep;
}

void LassoFit::remember() {
  old_eta_.assign(likelihood_->eta(0), likelihood_->eta(0) + outputs_ * rows_);
  old_b_.clear();
  for (std::size_t k : set_) old_b_.push_back(b_[k]);
  old_b0_ = b0_;
}

double LassoFit::largest_change(const std::vector<double>& since) {
  double largest = 0;
  for (std::size_t c = 0; c < outputs_; ++c)
    for (std::size_t i = 0; i < rows_; ++i)
      if (problem_.weight[i] > 0) largest = std::max(largest, std::fabs(likelihood_->eta(c)[i] - since[c * rows_ + i]));
  return largest;
}

// Goes a share of the way of the present Newton step; returns the penalty there.
double LassoFit::move_to(double share, const std::vector<double>& eta, const std::vector<double>& b,
                         const std::vector<double>& b0) {
  double penalty = 0;
  for (std::size_t i = 0; i < eta.size(); ++i) likelihood_->eta(0)[i] = old_eta_[i] + share * (eta[i] - old_eta_[i]);
  for (std::size_t k = 0; k < b.size(); ++k) {
    b_[set_[k]] = share == 1 ? b[k] : old_b_[k] + share * (b[k] - old_b_[k]);
    penalty += factor(set_[k]) * std::fabs(b_[set_[k]]);
  }
  for (std::size_t c = 0; c < outputs_; ++c) b0_[c] = old_b0_[c] + share * (b0[c] - old_b0_[c]);
  return penalty;
}

// Halves a long Newton step until the penalized loss has not grown; returns the largest change of a predictor.
double LassoFit::shorten(double lambda) {
  const std::vector<double> eta(likelihood_->eta(0), likelihood_->eta(0) + outputs_ * rows_), b0 = b0_;
  std::vector<double> b;
  b.reserve(set_.size());
  for (std::size_t k : set_) b.push_back(b_[k]);
  double penalty = move_to(0, eta, b, b0);
  const double before = likelihood_->loss() + lambda * penalty;
  double share = 1;
  for (int halvings = 0; halvings < kMostHalvings; ++halvings, share /= 2) {
    poll_();
    penalty = move_to(share, eta, b, b0);
    if (likelihood_->loss() + lambda * penalty <= before) break;
  }
  return largest_change(old_eta_);
}

// A shift common to all classes changes no probability; the median makes the penalty least. Without a penalty, the
// mean is taken off, as from the intercepts.
void LassoFit::center() {
  std::vector<double> values(outputs_);
  const std::size_t size = set_.size();
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t j = set_[k] % count_;
    std::size_t nonzero = 0, first = outputs_;
    for (std::size_t c = 0; c < outputs_; ++c) {
      values[c] = b_[c * count_ + j];
      if (values[c] != 0) ++nonzero, first = std::min(first, c);
    }
    const bool penalized = factors_[j] > 0;
    if (first != set_[k] / count_ || (penalized && 2 * nonzero <= outputs_)) continue;
    const double shift = penalized ? median(values) : mean(values);
    for (std::size_t c = 0; shift != 0 && c < outputs_; ++c) {
      if (!member_[c * count_ + j]) join(c * count_ + j);
      b_[c * count_ + j] -= shift;
    }
  }
}

// Adds the features that violate their optimality condition; true if the problem must be solved again.
bool LassoFit::grow(double lambda) {
  bool again = false;
  for (std::size_t c = 0; c < outputs_; ++c) {
    poll_();
    screens_[c].refresh(likelihood_->residual(c), lambda * (1 - kOptimal), &member_[c * count_]);
    for (std::size_t j : screens_[c].fresh()) {
      if (member_[c * count_ + j] || !(std::fabs(screens_[c].gradient(j)) > lambda * (1 + kOptimal) * factors_[j]))
        continue;
      join(c * count_ + j);
      again = true;
    }
  }
  return again;
}

double LassoFit::explained() {
  const double null_loss = likelihood_->null_loss();
  return null_loss > 0 ? 1 - likelihood_->loss() / null_loss : 1.0;
}

void LassoFit::record(LassoPath& path) {
  std::vector<double> intercepts = b0_;
  std::vector<std::size_t> set = set_;
  std::sort(set.begin(), set.end());
  for (std::size_t k : set) {
    const std::size_t j = k % count_;
    if (b_[k] == 0) continue;
    intercepts[k / count_] -= b_[k] * standard_.mean[j] * standard_.inverse_sd[j];
    path.index.push_back(static_cast<std::int64_t>(k));
    path.values.push_back(b_[k] * standard_.inverse_sd[j]);
  }
  path.begin.push_back(static_cast<std::int64_t>(path.values.size()));
  double mean = 0;
  if (family_.per_class)
    for (double value : intercepts) mean += value / static_cast<double>(outputs_);
  for (double value : intercepts) path.intercepts.push_back(value - mean);
  path.predictors.insert(path.predictors.end(), likelihood_->eta(0), likelihood_->eta(0) + outputs_ * rows_);
}

}  // namespace ispca
