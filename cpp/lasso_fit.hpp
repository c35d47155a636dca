// One fit of the lasso: the state that is carried from penalty to penalty.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "family.hpp"
#include "lasso_gram.hpp"
#include "lasso_naive.hpp"
#include "lasso_path.hpp"
#include "lasso_screen.hpp"

namespace ispca {

// Coefficients, sets and gradients are indexed by coordinate = output * features + feature.
class LassoFit {
 public:
  LassoFit(const LassoProblem& problem, double tolerance, const Poll& poll);
  // The smallest penalty without penalized features.
  double largest_penalty() const;
  // Goes from the solution at the penalty `previous` to that at `lambda`.
  void solve(double lambda, double previous);
  double explained();  // share of the null model's deviance
  void record(LassoPath& path);

 private:
  double gradient(std::size_t coordinate) const;
  double factor(std::size_t coordinate) const { return factors_[coordinate % count_]; }
  bool constant(std::size_t coordinate) const { return standard_.inverse_sd[coordinate % count_] == 0; }
  bool use_gram() const;
  void fit_unpenalized();
  void extrapolate(double lambda, double previous);
  void join(std::size_t coordinate);
  void choose_set(double threshold);
  void freeze();
  bool grow(double lambda);
  void newton(double lambda);
  double gram_step(double lambda);
  double naive_step(double lambda);
  double shorten(double lambda);
  double move_to(double share, const std::vector<double>& eta, const std::vector<double>& b,
                 const std::vector<double>& b0);
  void remember();
  double largest_change(const std::vector<double>& since);
  void center();

  const LassoProblem& problem_;
  const Family& family_;
  const Poll& poll_;
  const std::size_t rows_, count_, outputs_;
  double tolerance_, threshold_ = 0;
  Standardization standard_;
  std::vector<double> factors_;  // of the features' penalties
  const std::unique_ptr<LassoLikelihood> likelihood_;
  NaiveDescent naive_;
  GramDescent gram_;
  std::vector<Screen> screens_;
  std::vector<double> b_, b0_;  // standardized units
  std::vector<std::size_t> set_;
  std::vector<char> member_;
  double last_lambda_ = 0;                            // the penalty before the previous one, and its solution
  std::vector<double> last_eta_, last_b_, last_b0_;
  std::vector<std::size_t> last_set_;
  std::vector<double> frozen_eta_;                    // empty: no curvature has been frozen
  std::vector<double> old_eta_, old_b_, old_b0_;      // before the present Newton step; old_b_ per entry of set_
};

}  // namespace ispca
