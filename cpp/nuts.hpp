// The No-U-Turn sampler with multinomial sampling along the trajectory and a diagonal metric.
#pragma once
#include <vector>

#include "density.hpp"

namespace ispca {

struct Transition {
  int depth = 0, leapfrogs = 0;
  double accept = 0;
  bool divergent = false;
};

class Nuts {
 public:
  Nuts(Density& density, const Kernels& kernels, int max_depth, const Poll& poll);

  // Sets the current point; returns whether the density and its gradient are finite there.
  bool set_position(const double* q);
  const double* position() const { return position_; }
  double* inverse_metric() { return inverse_metric_; }

  // Doubles or halves the step until the first leapfrog step is accepted with probability about 0.8.
  double find_step(Random& random, double step);
  Transition transition(Random& random, double step);

 private:
  // One end of the trajectory; integrating from it moves it.
  struct Frontier {
    double *position, *momentum, *gradient;
  };
  // A stretch of trajectory: momenta at its ends in the order built, their sum over its points, one point
  // drawn from it, and the sum of the weights exp(H0 - H), at most e^600 each.
  struct Stretch {
    double *begin = nullptr, *end = nullptr, *sum = nullptr, *sample = nullptr, *sample_gradient = nullptr;
    double sample_density = 0, weight = 0;
  };

  double* take(std::size_t count = 1);
  double draw_momentum(Random& random, double* momentum);
  double leapfrog(Frontier& at, double step);
  bool extend(Random& random, Frontier& from, double step, int depth, Stretch& out);
  bool leaf(Frontier& from, double step, Stretch& out);
  bool merge(Random& random, Stretch& first, Stretch& second);
  bool join(Random& random, int direction, Stretch& fresh);

  Density& density_;
  const Kernels& kernels_;
  const Poll& poll_;  // called before every leapfrog step
  const int max_depth_;
  const std::size_t size_, padded_;
  Buffer<double> pool_;
  std::size_t used_ = 0;
  double *position_, *gradient_, *inverse_metric_;
  double log_density_ = 0, energy_ = 0, last_density_ = 0;
  Frontier frontier_[2]{};
  double *edge_[2]{}, *sum_;  // momenta at the ends of the whole trajectory, and their sum over it
  double weight_ = 0;
  std::vector<Stretch> stretches_;
  Transition statistics_;
};

}  // namespace ispca
