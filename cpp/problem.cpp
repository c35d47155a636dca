// Checks the arguments and prepares the data.
#include "problem.hpp"

#include <cmath>
#include <stdexcept>

#include "family.hpp"

namespace ispca {
namespace {

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check(const RawData& raw, const Prior& prior) {
  require(raw.columns >= 1, "at least one feature is needed");
  require(positive(prior.tau0) && prior.tau0 >= 1e-30 && prior.tau0 <= 1e30, "tau0 must lie in [1e-30, 1e30]");
  require(positive(prior.slab_df) && prior.slab_df <= 1e6, "slab_df must be positive and at most 1e6");
  require(positive(prior.slab_scale) && prior.slab_scale >= 1e-30 && prior.slab_scale <= 1e30,
          "slab_scale must lie in [1e-30, 1e30]");
  require(positive(prior.intercept_scale), "intercept_scale must be positive");
  require(std::isfinite(prior.sigma_scale) && prior.sigma_scale >= 0, "sigma_scale must be 0 or positive");
  for (std::size_t i = 0; i < raw.n * raw.columns; ++i)
    require(std::fabs(raw.x[i]) <= 1e30, "X has entries that are not finite or beyond 1e30");  // so float32 holds them
  for (std::size_t i = 0; i < raw.n; ++i) {
    require(std::fabs(raw.y[i]) <= 1e100, "y has entries that are not finite");
    require(std::fabs(raw.offset_of(i)) <= 1e30, "offset has entries that are not finite or beyond 1e30");
  }
  for (std::size_t j = 0; raw.fixed_scale && j < raw.columns; ++j)
    require(raw.fixed_scale[j] == 0 || (raw.fixed_scale[j] >= 1e-30 && raw.fixed_scale[j] <= 1e30),
            "unpenalized must hold 0 or a standard deviation in [1e-30, 1e30] for every column");
}

// The samples that count: those of weight 0 are left out, and weights that are all 1 are no weights.
class Counted {
 public:
  explicit Counted(const RawData& raw) : raw_(raw) {
    if (!raw.weight) return;
    bool ones = true, zeros = false;
    for (std::size_t i = 0; i < raw.n; ++i) {
      const double w = raw.weight[i];
      require(w == 0 || (w >= 1e-6 && w <= 1e6), "weights must be 0 or lie in [1e-6, 1e6]");
      zeros = zeros || w == 0;
      ones = ones && (w == 0 || w == 1);
    }
    if (zeros) copy(raw);
    if (ones) raw_.weight = nullptr;
  }
  const RawData& raw() const { return raw_; }

 private:
  void copy(const RawData& raw) {
    for (std::size_t i = 0; i < raw.n; ++i) {
      if (raw.weight[i] == 0) continue;
      x_.insert(x_.end(), raw.x + i * raw.columns, raw.x + (i + 1) * raw.columns);
      y_.push_back(raw.y[i]);
      weight_.push_back(raw.weight[i]);
      offset_.push_back(raw.offset_of(i));
    }
    require(!y_.empty(), "all weights are 0");
    raw_.n = y_.size();
    raw_.x = x_.data();
    raw_.y = y_.data();
    raw_.weight = weight_.data();
    if (raw.offset) raw_.offset = offset_.data();
  }

  RawData raw_;
  std::vector<double> x_, y_, weight_, offset_;
};

void split_coefficients(const RawData& raw, Problem& problem) {
  for (std::size_t i = 0; i < problem.coefficients(); ++i) {
    const double scale = raw.fixed_scale ? raw.fixed_scale[i % raw.columns] : 0;
    (scale > 0 ? problem.fixed : problem.penalized).push_back(i);
    if (scale > 0) problem.fixed_scale.push_back(scale);
  }
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

Problem make_problem(const Family& family, const RawData& given, const Prior& prior, const Kernels& kernels,
                     bool double_precision, const Poll& poll) {
  check(given, prior);
  const Counted counted(given);
  const RawData& raw = counted.raw();
  require(raw.n >= 2, "at least two samples are needed");
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
  split_coefficients(raw, problem);
  family.prepare(raw, poll, problem);
  return problem;
}

}  // namespace ispca
