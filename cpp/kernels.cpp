// Fills one kernel table; compiled once per instruction set with ISPCA_KERNELS set to its name.
#include "kernels.hpp"

#include "kernels_cholesky.hpp"
#include "kernels_classes.hpp"
#include "kernels_counts.hpp"
#include "kernels_design.hpp"
#include "kernels_lasso.hpp"
#include "kernels_leapfrog.hpp"
#include "kernels_likelihood.hpp"
#include "kernels_prior.hpp"

#define ISPCA_JOIN_(a, b) a##b
#define ISPCA_JOIN(a, b) ISPCA_JOIN_(a, b)
#define ISPCA_TEXT_(a) #a
#define ISPCA_TEXT(a) ISPCA_TEXT_(a)

namespace ispca {

template <class Real>
static constexpr GlmKernels<Real> kGlm = {predict<Real>, project<Real>,      gather<Real>,
                                          along<Real>,   logistic<Real>,     weighted_logistic<Real>,
                                          softmax<Real>, poisson<Real>,      negative_binomial<Real>,
                                          ordinal<Real>, weighted_gram<Real>};

extern const Kernels ISPCA_JOIN(kernels_, ISPCA_KERNELS);
const Kernels ISPCA_JOIN(kernels_, ISPCA_KERNELS) = {
    ISPCA_TEXT(ISPCA_KERNELS),
    kGlm<float>,
    kGlm<double>,
    prior_forward,
    prior_backward,
    kick_drift,
    kick,
    keeps_going,
    multiply,
    scale_terms,
    cholesky,
    solve_lower,
    solve_upper,
    {column_dots, lasso_dot, lasso_axpy, weighted_axpy, weighted_moments},
    {class_sums<float>, class_sums<double>}};

}  // namespace ispca
