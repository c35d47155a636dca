// What the samplers and the lasso ask of a family. Each family is one file, family_NAME.cpp, listed in family.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chain.hpp"

namespace ispca {

class LassoLikelihood;
class Likelihood;
struct LassoProblem;

class Family {
 public:
  const char* const model;  // its name in sample and log_density
  const char* const name;   // its name in lasso_path; null if it has no lasso
  bool per_class = false;   // one linear predictor per class, of which only differences count; otherwise one in all
  bool intercept = true;    // has intercepts; otherwise they are 0
  bool noise = false;       // has a noise standard deviation sigma, which multiplies tau: its log is the first extra
  const char* extra_name = nullptr;  // what the extra parameters are called in the draws
  bool extra_vector = false;         // they have an axis in the draws; otherwise there is one at most
  bool blocked = true;      // has a blocked sampler
  bool quadratic = false;   // the lasso's loss is quadratic in the predictor: one Newton step solves it
  bool separate = true;     // a sample's loss depends on its own predictor only: the lasso's curvature is diagonal

  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // For the samplers: checks y and stores the data in the form that the likelihood needs.
  virtual void prepare(const RawData& raw, const Poll& poll, Problem& problem) const = 0;
  virtual std::unique_ptr<Likelihood> likelihood(const Problem& problem) const = 0;
  // The extra parameters as users know them, from those that are sampled.
  virtual void write_extras(const Problem&, const double*, double*) const {}
  // Runs a chain of the blocked sampler, as run_nuts does for NUTS; its ChainState::metric has the given size.
  virtual void run_blocked(const Problem& problem, const Settings& settings, ChainState& chain,
                           const ChainOutput& output, const Poll& poll) const = 0;
  virtual std::size_t blocked_metric_size(const Problem& problem) const = 0;

  // For the lasso: the null model's state. Only families with a name for it are asked.
  virtual std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const;

 protected:
  Family(const char* in_samplers, const char* in_lasso) : model(in_samplers), name(in_lasso) {}
};

// The families, each defined in its file.
const Family& binomial_family();
const Family& multinomial_family();
const Family& gaussian_family();
const Family& poisson_family();
const Family& cox_family();
const Family& ordinal_family();
const Family& negative_binomial_family();

// All families. Packed chain states store positions in this list.
const std::vector<const Family*>& families();

// The family of that name; throws std::invalid_argument if there is none.
const Family& find_model(const std::string& name);
const Family& find_family(const std::string& name);

}  // namespace ispca
