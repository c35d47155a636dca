// The list of families, and how they are found by name.
#include "family.hpp"

#include <stdexcept>

#include "lasso_likelihood.hpp"

namespace ispca {

const std::vector<const Family*>& families() {
  static const std::vector<const Family*> all = {&binomial_family(),         &multinomial_family(), &gaussian_family(),
                                                 &poisson_family(),          &cox_family(),         &ordinal_family(),
                                                 &negative_binomial_family()};
  return all;
}

namespace {

const Family& find(const std::string& kind, const std::string& name, const char* const Family::* known_as) {
  std::string known;
  for (const Family* family : families()) {
    if (!(family->*known_as)) continue;
    if (name == family->*known_as) return *family;
    known += std::string(known.empty() ? "" : ", ") + family->*known_as;
  }
  throw std::invalid_argument(kind + " '" + name + "' is unknown; choose one of: " + known);
}

}  // namespace

std::unique_ptr<LassoLikelihood> Family::lasso_likelihood(const LassoProblem&) const {
  throw std::invalid_argument("this family has no lasso");
}

const Family& find_model(const std::string& name) { return find("model", name, &Family::model); }

const Family& find_family(const std::string& name) { return find("family", name, &Family::name); }

}  // namespace ispca
