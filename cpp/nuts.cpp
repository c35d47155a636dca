// The No-U-Turn sampler with multinomial sampling along the trajectory and a diagonal metric.
#include "nuts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ispca {
namespace {
constexpr double kDivergence = 1000;  // an energy error of that size means the integrator has failed
constexpr double kLargestGain = 600;  // keeps exp(H0 - H) finite; a gain like that occurs in warm-up only
}  // namespace

// Vectors are padded to whole registers; the padding is zero and stays zero (zero momentum and gradient).
Nuts::Nuts(Density& density, const Kernels& kernels, int max_depth, const Poll& poll)
    : density_(density), kernels_(kernels), poll_(poll), max_depth_(max_depth), size_(density.size()),
      padded_(round_up(size_, kWideBlock)), pool_(padded_ * (12 + 5 * (static_cast<std::size_t>(max_depth) + 1))) {
  position_ = take();
  gradient_ = take();
  inverse_metric_ = take();
  std::fill_n(inverse_metric_, padded_, 1.0);
  for (Frontier& frontier : frontier_) frontier = {take(), take(), take()};
  edge_[0] = take();
  edge_[1] = take();
  sum_ = take();
  for (int depth = 0; depth <= max_depth; ++depth) stretches_.push_back({take(), take(), take(), take(), take()});
}

double* Nuts::take(std::size_t count) {
  double* start = pool_.data() + used_ * padded_;
  used_ += count;
  return start;
}

bool Nuts::set_position(const double* q) {
  std::copy_n(q, size_, position_);
  log_density_ = density_(position_, gradient_);
  bool finite = std::isfinite(log_density_);
  for (std::size_t i = 0; i < size_; ++i) finite = finite && std::isfinite(gradient_[i]);
  return finite;
}

// p ~ N(0, M); returns the kinetic energy p M^-1 p / 2.
double Nuts::draw_momentum(Random& random, double* momentum) {
  random.normals(size_, momentum);
  double energy = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    energy += 0.5 * momentum[i] * momentum[i];
    momentum[i] /= std::sqrt(inverse_metric_[i]);
  }
  return energy;
}

// One leapfrog step; returns the energy H = -log p + kinetic energy, and keeps log p in last_density_.
double Nuts::leapfrog(Frontier& at, double step) {
  poll_();
  kernels_.kick_drift(padded_, step, inverse_metric_, at.gradient, at.momentum, at.position);
  last_density_ = density_(at.position, at.gradient);
  return kernels_.kick(padded_, step, inverse_metric_, at.gradient, at.momentum) - last_density_;
}

double Nuts::find_step(Random& random, double step) {
  Frontier& at = frontier_[0];
  int direction = 0;
  for (int round = 0; round < 60; ++round) {
    const double start = draw_momentum(random, at.momentum) - log_density_;
    std::copy_n(position_, padded_, at.position);
    std::copy_n(gradient_, padded_, at.gradient);
    const double gain = start - leapfrog(at, step);
    const int wanted = gain > std::log(0.8) ? 1 : -1;  // a NaN asks for a smaller step
    if (direction != 0 && wanted != direction) break;
    direction = wanted;
    step *= direction > 0 ? 2 : 0.5;
    if (step > 1e3 || step < 1e-12) break;
  }
  return std::clamp(step, 1e-12, 1e3);
}

bool Nuts::leaf(Frontier& from, double step, Stretch& out) {
  const double gain = energy_ - leapfrog(from, step);
  statistics_.leapfrogs += 1;
  if (!(gain > -kDivergence)) {
    statistics_.divergent = true;
    return false;
  }
  out.weight = std::exp(std::min(gain, kLargestGain));
  statistics_.accept += std::min(out.weight, 1.0);
  std::copy_n(from.momentum, padded_, out.begin);
  std::copy_n(from.momentum, padded_, out.end);
  std::copy_n(from.momentum, padded_, out.sum);
  std::copy_n(from.position, padded_, out.sample);
  std::copy_n(from.gradient, padded_, out.sample_gradient);
  out.sample_density = last_density_;
  return true;
}

// Builds 2^depth points; false if they turn back on themselves or diverge. The depth bounds the recursion.
bool Nuts::extend(Random& random, Frontier& from, double step, int depth, Stretch& out) {
  if (depth == 0) return leaf(from, step, out);
  if (!extend(random, from, step, depth - 1, out)) return false;
  Stretch& second = stretches_[static_cast<std::size_t>(depth) - 1];
  if (!extend(random, from, step, depth - 1, second)) return false;
  return merge(random, out, second);
}

// Appends the second stretch to the first; within a subtree every point is drawn by its weight.
bool Nuts::merge(Random& random, Stretch& first, Stretch& second) {
  const double* momenta[4] = {first.begin, first.end, second.begin, second.end};
  const bool going = kernels_.keeps_going(padded_, inverse_metric_, momenta, first.sum, second.sum);
  first.weight += second.weight;
  if (random.uniform() * first.weight < second.weight) {
    std::swap(first.sample, second.sample);
    std::swap(first.sample_gradient, second.sample_gradient);
    first.sample_density = second.sample_density;
  }
  std::swap(first.end, second.end);
  return going;
}

// Appends a finished stretch to the whole trajectory. The new half is preferred (biased progressive sampling).
bool Nuts::join(Random& random, int direction, Stretch& fresh) {
  const double* momenta[4] = {edge_[1 - direction], edge_[direction], fresh.begin, fresh.end};
  const bool going = kernels_.keeps_going(padded_, inverse_metric_, momenta, sum_, fresh.sum);
  if (random.uniform() * weight_ < fresh.weight) {
    std::swap(position_, fresh.sample);
    std::swap(gradient_, fresh.sample_gradient);
    log_density_ = fresh.sample_density;
  }
  weight_ += fresh.weight;
  std::swap(edge_[direction], fresh.end);
  return going;
}

Transition Nuts::transition(Random& random, double step) {
  statistics_ = Transition();
  energy_ = draw_momentum(random, frontier_[0].momentum) - log_density_;
  std::copy_n(frontier_[0].momentum, padded_, frontier_[1].momentum);
  for (Frontier& frontier : frontier_) {
    std::copy_n(position_, padded_, frontier.position);
    std::copy_n(gradient_, padded_, frontier.gradient);
  }
  for (double* copy : {edge_[0], edge_[1], sum_}) std::copy_n(frontier_[0].momentum, padded_, copy);
  weight_ = 1;
  Stretch& fresh = stretches_.back();
  while (statistics_.depth < max_depth_) {
    const int direction = random.uniform() < 0.5 ? 0 : 1;
    const double signed_step = direction == 1 ? step : -step;
    if (!extend(random, frontier_[direction], signed_step, statistics_.depth, fresh)) break;
    statistics_.depth += 1;
    if (!join(random, direction, fresh)) break;
  }
  statistics_.accept /= std::max(statistics_.leapfrogs, 1);
  return statistics_;
}

}  // namespace ispca
