// The path of lasso solutions: Newton steps on a set of features that grows until every feature is optimal.
#include "lasso_path.hpp"

#include <algorithm>
#include <cmath>

#include "lasso_quadratic.hpp"
#include "lasso_screen.hpp"

namespace ispca {

Standardisation::Standardisation(const Columns& x, const double* weight) : mean(x.count), inverse_sd(x.count) {
  for (std::size_t j = 0; j < x.count; ++j) {
    double sums[2];
    x.moments(j, weight, sums);
    mean[j] = sums[0];
    double variance = sums[1] - sums[0] * sums[0];
    if (x.is_dense() && variance < 1e-3 * sums[1]) {  // cancellation: take the differences first
      variance = 0;
      for (std::size_t i = 0; i < x.rows; ++i)
        variance += weight[i] * (x.dense[j * x.rows + i] - mean[j]) * (x.dense[j * x.rows + i] - mean[j]);
    }
    // What is left of a constant column is the rounding of its mean.
    inverse_sd[j] = variance > 1e-20 * sums[1] && (x.is_dense() || variance > 1e-13 * sums[1])
                        ? 1 / std::sqrt(variance) : 0.0;
    if (!std::isfinite(inverse_sd[j])) inverse_sd[j] = 0;
  }
}

namespace {

constexpr int kMostRounds = 100;        // of growing the set
constexpr int kMostNewtonSteps = 300;   // per round; softmax goes through the classes in turn
constexpr double kSmallStep = 2e-3;     // of a predictor: its square is what a Newton step leaves undone
constexpr double kSmallSoftmaxStep = 1e-4;  // classes in turn converge linearly only
constexpr double kOptimal = 1e-6;       // relative excess of a gradient over lambda that is no violation
constexpr double kExplainedEnough = 0.999, kLeastGain = 1e-5;
constexpr std::size_t kFewestLambdas = 5;

// One fit: the state that is carried from penalty to penalty.
class PathFit {
 public:
  PathFit(const LassoProblem& problem, const LassoSettings& settings)
      : problem_(problem), settings_(settings), standard_(problem.x, problem.weight),
        likelihood_(problem.family, problem.outputs, problem.x.rows, problem.y, problem.weight),
        quadratic_(problem.x, standard_), b_(problem.outputs * problem.x.count), b0_(likelihood_.intercepts()),
        sets_(problem.outputs), member_(problem.outputs, std::vector<char>(problem.x.count)),
        before_(problem.x.rows) {
    for (std::size_t c = 0; c < problem.outputs; ++c) {
      screens_.emplace_back(problem.x, standard_, problem.weight);
      screens_[c].refresh(likelihood_.residual(c), 0, member_[c]);
    }
  }

  double largest_gradient() const {
    double largest = 0;
    for (const Screen& screen : screens_)
      for (std::size_t j = 0; j < problem_.x.count; ++j) largest = std::max(largest, std::fabs(screen.gradient(j)));
    return largest;
  }

  void solve(double lambda, double previous) {
    // The sequential strong rule, with the gradients as last seen; what it leaves out is checked below.
    for (std::size_t c = 0; c < problem_.outputs; ++c) choose_set(c, 2 * lambda - previous);
    for (int round = 0; round < kMostRounds; ++round) {
      newton(lambda);
      if (!grow(lambda)) break;
    }
  }

  double explained() {
    const double null_loss = likelihood_.null_loss();
    return null_loss > 0 ? 1 - likelihood_.loss() / null_loss : 1.0;
  }

  void record(LassoPath& path) {
    const std::size_t count = problem_.x.count;
    double mean = 0;
    std::vector<double> raw(problem_.outputs);
    for (std::size_t c = 0; c < problem_.outputs; ++c) {
      raw[c] = b0_[c];
      std::vector<std::size_t> set = sets_[c];
      std::sort(set.begin(), set.end());
      for (std::size_t j : set) {
        const double b = b_[c * count + j];
        if (b == 0) continue;
        raw[c] -= b * standard_.mean[j] * standard_.inverse_sd[j];
        path.index.push_back(static_cast<std::int64_t>(c * count + j));
        path.values.push_back(b * standard_.inverse_sd[j]);
      }
      mean += raw[c] / static_cast<double>(problem_.outputs);
      path.predictors.insert(path.predictors.end(), likelihood_.eta(c), likelihood_.eta(c) + problem_.x.rows);
    }
    for (double value : raw) path.intercepts.push_back(problem_.family == Family::multinomial ? value - mean : value);
    path.begin.push_back(static_cast<std::int64_t>(path.values.size()));
  }

 private:
  void choose_set(std::size_t c, double threshold) {
    auto& set = sets_[c];
    for (std::size_t j : set) member_[c][j] = 0;
    set.clear();
    for (std::size_t j = 0; j < problem_.x.count; ++j)
      if (b_[c * problem_.x.count + j] != 0 ||
          (standard_.inverse_sd[j] != 0 && std::fabs(screens_[c].gradient(j)) >= threshold))
        join(c, j);
  }

  void join(std::size_t c, std::size_t j) {
    member_[c][j] = 1;
    sets_[c].push_back(j);
  }

  void newton(double lambda) {
    const bool softmax = problem_.family == Family::multinomial;
    for (int step = 0; step < kMostNewtonSteps; ++step) {
      double largest = 0;
      for (std::size_t c = 0; c < problem_.outputs; ++c) largest = std::max(largest, newton_step(c, lambda));
      if (softmax) {
        centre();
        likelihood_.update_all();
      }
      if (problem_.family == Family::gaussian || largest < (softmax ? kSmallSoftmaxStep : kSmallStep)) return;
    }
  }

  // Returns the largest change of a predictor.
  double newton_step(std::size_t c, double lambda) {
    const std::size_t rows = problem_.x.rows;
    double *eta = likelihood_.eta(c), *b = &b_[c * problem_.x.count];
    std::copy(eta, eta + rows, before_.begin());
    kept_.clear();
    for (std::size_t j : sets_[c]) kept_.push_back(b[j]);
    const double intercept = b0_[c];
    const double tolerance = settings_.tolerance * std::max(likelihood_.null_loss(), 1e-300);
    b0_[c] += quadratic_.solve(sets_[c], lambda, tolerance, likelihood_.residual(c), likelihood_.curvature(c), b, eta);
    double largest = largest_change(eta);
    if (problem_.family != Family::gaussian && !(largest < 1)) largest = shorten(c, lambda, intercept);
    likelihood_.update(c);
    return largest;
  }

  double largest_change(const double* eta) const {
    double largest = 0;
    for (std::size_t i = 0; i < problem_.x.rows; ++i)
      if (problem_.weight[i] > 0) largest = std::max(largest, std::fabs(eta[i] - before_[i]));
    return largest;
  }

  // Halves a long Newton step until the penalised loss has not grown.
  double shorten(std::size_t c, double lambda, double intercept) {
    const std::size_t rows = problem_.x.rows;
    double *eta = likelihood_.eta(c), *b = &b_[c * problem_.x.count];
    const std::vector<double> target_eta(eta, eta + rows);
    std::vector<double> target_b;
    for (std::size_t j : sets_[c]) target_b.push_back(b[j]);
    const double target_intercept = b0_[c];
    double reference = 0;
    for (double share = 0; ; share = share == 0 ? 1.0 : share / 2) {
      for (std::size_t i = 0; i < rows; ++i) eta[i] = before_[i] + share * (target_eta[i] - before_[i]);
      double penalty = 0;
      for (std::size_t k = 0; k < kept_.size(); ++k) {
        b[sets_[c][k]] = share == 1 ? target_b[k] : kept_[k] + share * (target_b[k] - kept_[k]);
        penalty += std::fabs(b[sets_[c][k]]);
      }
      b0_[c] = intercept + share * (target_intercept - intercept);
      const double value = likelihood_.loss() + lambda * penalty;
      if (share == 0)
        reference = value;
      else if (value <= reference || share < 1e-6)
        break;
    }
    return largest_change(eta);
  }

  // A shift common to all classes changes no probability; the median makes the penalty least.
  void centre() {
    const std::size_t C = problem_.outputs, count = problem_.x.count;
    std::vector<double> values(C);
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t j : sets_[c]) {
        std::size_t nonzero = 0, first = C;
        for (std::size_t k = 0; k < C; ++k) {
          values[k] = b_[k * count + j];
          if (values[k] != 0) ++nonzero, first = std::min(first, k);
        }
        if (first != c || 2 * nonzero <= C) continue;
        std::sort(values.begin(), values.end());
        const double median = C % 2 ? values[C / 2] : 0.5 * (values[C / 2 - 1] + values[C / 2]);
        if (median == 0) continue;
        for (std::size_t k = 0; k < C; ++k) {
          if (!member_[k][j]) join(k, j);
          b_[k * count + j] -= median;
        }
      }
  }

  // Adds the features that violate their optimality condition; true if the problem must be solved again.
  bool grow(double lambda) {
    bool again = false;
    for (std::size_t c = 0; c < problem_.outputs; ++c) {
      screens_[c].refresh(likelihood_.residual(c), lambda * (1 - kOptimal), member_[c]);
      for (std::size_t j : screens_[c].fresh()) {
        if (member_[c][j] || !(std::fabs(screens_[c].gradient(j)) > lambda * (1 + kOptimal))) continue;
        join(c, j);
        again = true;
      }
    }
    return again;
  }

  const LassoProblem& problem_;
  const LassoSettings& settings_;
  Standardisation standard_;
  LassoLikelihood likelihood_;
  QuadraticLasso quadratic_;
  std::vector<Screen> screens_;
  std::vector<double> b_, b0_;  // standardised units
  std::vector<std::vector<std::size_t>> sets_;
  std::vector<std::vector<char>> member_;
  std::vector<double> before_, kept_;
};

std::vector<double> penalties(const LassoSettings& settings, double first) {
  if (!settings.lambdas.empty()) return settings.lambdas;
  std::vector<double> lambdas(settings.n_lambdas);
  const double steps = static_cast<double>(std::max<std::size_t>(settings.n_lambdas, 2) - 1);
  for (std::size_t l = 0; l < lambdas.size(); ++l)
    lambdas[l] = first * std::pow(settings.ratio, static_cast<double>(l) / steps);
  return lambdas;
}

}  // namespace

LassoPath lasso_path(const LassoProblem& problem, const LassoSettings& settings, const std::function<bool()>& stop) {
  PathFit fit(problem, settings);
  LassoPath path;
  path.begin.push_back(0);
  double previous = fit.largest_gradient(), explained = 0;
  const std::vector<double> lambdas = penalties(settings, previous);
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    if (stop()) {
      path.interrupted = true;
      return path;
    }
    fit.solve(lambdas[l], std::max(previous, lambdas[l]));
    fit.record(path);
    previous = lambdas[l];
    const double now = fit.explained(), gain = now - explained;
    explained = now;
    path.lambdas.push_back(lambdas[l]);
    path.explained.push_back(now);
    // glmnet's rules: the rest of the path would only follow the noise, or separate the classes.
    const bool enough = now > kExplainedEnough || gain < kLeastGain * now;
    if (settings.lambdas.empty() && l + 1 >= kFewestLambdas && enough) break;
  }
  return path;
}

}  // namespace ispca
