// The path of lasso solutions over a decreasing sequence of penalties.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lasso_columns.hpp"

namespace ispca {

class Family;

struct LassoPath {
  std::vector<double> lambdas, explained;       // per penalty: its value, share of the deviance explained
  std::vector<double> intercepts, predictors;   // penalties x outputs, penalties x outputs x rows
  std::vector<std::int64_t> begin, index;       // coefficients of penalty l: begin[l] to begin[l + 1];
  std::vector<double> values;                   // index is output * features + feature
  bool interrupted = false;
};

struct LassoProblem {
  Columns x;
  const Family* family = nullptr;
  std::size_t outputs = 1;
  const double* y = nullptr;       // outputs x rows
  const double* weight = nullptr;  // per row, sum one; rows with weight 0 are predicted only
  const double* offset = nullptr;  // per row, added to the predictors; null: none
  const double* penalty_factors = nullptr;  // per column, multiply its penalty, 0: unpenalized; null: all one
};

struct LassoSettings {
  std::vector<double> lambdas;  // empty: a sequence from the smallest penalty without penalized features
  std::size_t n_lambdas = 100;
  double ratio = 1e-2;          // of the last penalty to the first
  double tolerance = 1e-12;     // of a coordinate's squared step, relative to the null model's loss
};

// `interrupted` is called about 20 times a second; true ends the path with what there is of it.
LassoPath lasso_path(const LassoProblem& problem, const LassoSettings& settings,
                     const std::function<bool()>& interrupted);

}  // namespace ispca
