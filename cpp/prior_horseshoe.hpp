// The scales of the regularized horseshoe, for NUTS and for the blocked sampler.
#pragma once
#include "prior.hpp"

namespace ispca {

// log tau and log c2 of given t, g and log sigma (0 without noise), clamped so that no power of them overflows.
struct Scales {
  double log_tau, log_c2;
};
Scales scales(const Problem& problem, double t, double g, double log_sigma);

// -(nu/2) (g + exp(-g)): c2 is inverse-gamma(nu/2, nu s^2 / 2).
double slab_prior(const Problem& problem, double g);

std::unique_ptr<ScaleUpdates> make_horseshoe_updates(const Problem& problem);

}  // namespace ispca
