// Vector steps of the leapfrog integrator and of the U-turn criterion.
#pragma once
#include <cstddef>

namespace {
using std::size_t;

void kick_drift(size_t size, double step, const double* inverse_metric, const double* gradient, double* momentum,
                double* position) {
  const double half = 0.5 * step;
#pragma omp simd
  for (size_t i = 0; i < size; ++i) {
    const double p = momentum[i] + half * gradient[i];
    momentum[i] = p;
    position[i] += step * inverse_metric[i] * p;
  }
}

double kick(size_t size, double step, const double* inverse_metric, const double* gradient, double* momentum) {
  const double half = 0.5 * step;
  double energy = 0;
#pragma omp simd reduction(+ : energy)
  for (size_t i = 0; i < size; ++i) {
    const double p = momentum[i] + half * gradient[i];
    momentum[i] = p;
    energy += inverse_metric[i] * p * p;
  }
  return 0.5 * energy;
}

// momenta = first begin, first end, second begin, second end. A trajectory with end momenta a, b and momentum
// sum rho goes on while rho M^-1 a > 0 and rho M^-1 b > 0. Checked for the whole and, as in Stan since 2.21,
// for each half extended by the first point of the other, which catches turns between the halves.
bool keeps_going(size_t size, const double* inverse_metric, const double* const* momenta, double* rho_first,
                 const double* rho_second) {
  const double *a = momenta[0], *b = momenta[1], *c = momenta[2], *d = momenta[3];
  double whole_a = 0, whole_d = 0, left_a = 0, left_c = 0, right_b = 0, right_d = 0;
#pragma omp simd reduction(+ : whole_a, whole_d, left_a, left_c, right_b, right_d)
  for (size_t i = 0; i < size; ++i) {
    const double m = inverse_metric[i], whole = m * (rho_first[i] + rho_second[i]);
    const double left = m * (rho_first[i] + c[i]), right = m * (rho_second[i] + b[i]);
    whole_a += whole * a[i];
    whole_d += whole * d[i];
    left_a += left * a[i];
    left_c += left * c[i];
    right_b += right * b[i];
    right_d += right * d[i];
    rho_first[i] += rho_second[i];
  }
  return whole_a > 0 && whole_d > 0 && left_a > 0 && left_c > 0 && right_b > 0 && right_d > 0;
}

}  // namespace
