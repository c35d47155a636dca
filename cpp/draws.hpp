// Where the draws of a chain go: views into arrays the caller owns.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ispca {

struct DrawView {
  double *intercept, *coef, *log_lambda;  // H, H x K, H x K; log_lambda is null without local scales
  double *log_tau, *log_c2;               // one number each; log_c2 is null without local scales
  double* extra;                          // parameters of the family; null if it has none
};

}  // namespace ispca
