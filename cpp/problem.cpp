// Checks the arguments and prepares the data.
#include "problem.hpp"

#include <cmath>
#include <stdexcept>

#include "family.hpp"

namespace ispca {
namespace {

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check(const RawData& raw, const Prior& prior) {
  require(raw.n >= 2, "at least two samples are needed");
  require(raw.columns >= 1, "at least one feature is needed");
  require(positive(prior.tau0) && prior.tau0 >= 1e-30 && prior.tau0 <= 1e30, "tau0 must lie in [1e-30, 1e30]");
  require(positive(prior.slab_df) && prior.slab_df <= 1e6, "slab_df must be positive and at most 1e6");
  require(positive(prior.slab_scale) && prior.slab_scale >= 1e-30 && prior.slab_scale <= 1e30,
          "slab_scale must lie in [1e-30, 1e30]");
  require(positive(prior.intercept_scale), "intercept_scale must be positive");
  require(std::isfinite(prior.sigma_scale) && prior.sigma_scale >= 0, "sigma_scale must be 0 or positive");
  for (std::size_t i = 0; i < raw.n * raw.columns; ++i)
    require(std::fabs(raw.x[i]) <= 1e30, "X has entries that are not finite or beyond 1e30");  // so float32 holds them
  for (std::size_t i = 0; i < raw.n; ++i) require(std::fabs(raw.y[i]) <= 1e100, "y has entries that are not finite");
}

}  // namespace

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

void check_classes(const RawData& raw) {
  require(raw.classes >= 2, "at least two classes are needed");
  const double classes = static_cast<double>(raw.classes);
  for (std::size_t i = 0; i < raw.n; ++i)
    require(raw.y[i] >= 0 && raw.y[i] < classes && raw.y[i] == std::floor(raw.y[i]),
            "y must hold the class numbers 0, 1, ..., n_classes - 1");
}

Problem make_problem(const Family& family, const RawData& raw, const Prior& prior, const Kernels& kernels,
                     bool double_precision, const Poll& poll) {
  check(raw, prior);
  Problem problem;
  problem.family = &family;
  problem.double_precision = double_precision;
  problem.n = raw.n;
  problem.columns = raw.columns;
  problem.outputs = family.per_class ? raw.classes : 1;
  problem.prior = prior;
  problem.log_tau0 = std::log(prior.tau0);
  problem.log_slab2 = 2 * std::log(prior.slab_scale);
  problem.kernels = &kernels;
  family.prepare(raw, poll, problem);
  return problem;
}

}  // namespace ispca
